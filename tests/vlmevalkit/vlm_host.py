"""Running the real VLMEvalKit from tests: in this process, or by command as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopback import LoopbackOpenAI

MODULE = ("-m", "dtvqa_plugin.hosts.vlmevalkit")


@dataclass(frozen=True)
class HostRun:
    """What one command left: exit status and all output."""

    status: int
    output: str


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A user's environment with ``home`` as the store; no GPU, no hub, no home folder to litter."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PRED_FORMAT", "RANK")}
    paths = os.pathsep.join([str(Path(__file__).parents[1]), kept.get("PYTHONPATH", "")])
    quiet = {
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": paths,
        "DTVQA_HOME": str(home),
        "LMUData": str(home),
    }
    return {**kept, **quiet, **(extra or {})}


def command(
    arguments: Sequence[str],
    folder: Path,
    home: Path,
    *,
    start: Sequence[str] = (sys.executable, *MODULE),
    extra: Mapping[str, str] | None = None,
) -> HostRun:
    """Run the launcher (or another ``start``) in ``folder``."""
    done = subprocess.run(
        [*start, *arguments],
        cwd=folder,
        env=environment(home, extra),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return HostRun(done.returncode, done.stdout + done.stderr)


def api_model(server: LoopbackOpenAI, **settings: Any) -> dict[str, Any]:
    """A config entry of the host's OpenAI class for the loopback server."""
    return {
        "class": "GPT4V",
        "model": "loopback",
        "api_base": f"{server.url}/chat/completions",
        "key": "none",
        "temperature": 0,
        "max_tokens": 100,
        "retry": 2,
        "wait": 1,
        **settings,
    }


def write_config(path: Path, server: LoopbackOpenAI, *names: str, **settings: Any) -> Path:
    """A config file that asks the loopback model the named datasets."""
    from dtvqa_plugin.hosts.vlmevalkit.names import get_entry

    data = {name: {"class": get_entry(name).class_name, "dataset": name} for name in names}
    model = {"loopback": api_model(server, **settings)}
    path.write_text(json.dumps({"model": model, "data": data}), encoding="utf-8")
    return path


def results(folder: Path, model: str, dataset: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary and the question records of a run, wherever under ``folder`` the host put them.

    Some hosts also leave a link to the newest run; the newest real file counts.
    """
    stem = f"{model}_{dataset}"
    found = [p for p in folder.rglob(f"{stem}_summary.json") if not p.is_symlink()]
    overview = max(found, key=lambda path: path.stat().st_mtime_ns)
    lines = overview.with_name(f"{stem}_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(overview.read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def prediction_file(folder: Path, model: str, dataset: str) -> Path:
    """The prediction file of a run, in any format."""
    stem = f"{model}_{dataset}"
    (found,) = {
        path.resolve()
        for suffix in ("xlsx", "tsv", "json")
        for path in folder.rglob(f"{stem}.{suffix}")
    }
    return found


def infer(dataset: Any, server: LoopbackOpenAI, folder: Path, **settings: Any) -> Path:
    """Let the host ask the loopback model in this process; return the prediction file."""
    from vlmeval.api import GPT4V
    from vlmeval.inference import infer_data_job

    entry = api_model(server, **settings)
    entry.pop("class")
    folder.mkdir(parents=True, exist_ok=True)
    infer_data_job(GPT4V(**entry), str(folder), "loopback", dataset, api_nproc=2)
    return prediction_file(folder, "loopback", dataset.dataset_name)


def wait_for(condition: Any, seconds: float = 120) -> None:
    """Wait until ``condition()`` holds; AssertionError if it does not in time."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.05)
