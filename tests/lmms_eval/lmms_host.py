"""Running the real lmms-eval from tests: in this process, or by its command line."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from loopback import LoopbackOpenAI

Results = dict[str, Any]

ONLY_SIMPLE_OPENAI = version("lmms_eval") == "0.6.0"
"""0.6.0 cannot import its chat class for endpoints: two classes have one name."""


@functools.cache
def task_manager(model: str = "openai") -> Any:
    """The host's index of all tasks, made once a session (it takes seconds)."""
    import lmms_eval.models  # noqa: F401  (loads the entry points, as every command does)
    from lmms_eval.tasks import TaskManager

    return TaskManager(model_name=model)


def evaluate(server: LoopbackOpenAI, tasks: Sequence[str], **options: Any) -> Results:
    """Run ``simple_evaluate`` in this process against the loopback server."""
    from lmms_eval import evaluator

    if ONLY_SIMPLE_OPENAI:
        options["force_simple"] = True
    results = evaluator.simple_evaluate(
        model="openai",
        model_args=f"model_version=loopback,base_url={server.url},api_key=none",
        tasks=list(tasks),
        batch_size=1,
        task_manager=task_manager(),
        **options,
    )
    assert isinstance(results, dict)
    return results


@dataclass(frozen=True)
class CommandRun:
    """What one ``lmms-eval`` command left: exit status, output, results and samples by task.

    ``folder`` is its ``--output_path``.
    """

    status: int
    output: str
    results: Results
    samples: dict[str, list[dict[str, Any]]]
    folder: Path


def command(
    arguments: Sequence[str],
    out: Path,
    env: Mapping[str, str] | None = None,
    launcher: Sequence[str] = (),
    timeout: float = 1800,
) -> CommandRun:
    """Run ``python -m lmms_eval ARGUMENTS --output_path out --log_samples`` as a user would."""
    start = [*launcher, "-m", "lmms_eval"] if launcher else [sys.executable, "-m", "lmms_eval"]
    done = subprocess.run(
        [*start, *arguments, "--output_path", str(out), "--log_samples"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return CommandRun(done.returncode, done.stdout + done.stderr, *read_run(out), out)


def read_run(out: Path) -> tuple[Results, dict[str, list[dict[str, Any]]]]:
    """Read the results file and the sample files of the one run under ``out``."""
    found = sorted(out.rglob("*_results.json"))
    results = json.loads(found[-1].read_text(encoding="utf-8")) if found else {}
    samples: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(out.rglob("*_samples_*.jsonl")):
        task = path.stem.partition("_samples_")[2]
        lines = path.read_text(encoding="utf-8").splitlines()
        samples[task] = sorted((json.loads(line) for line in lines), key=lambda s: s["doc_id"])
    return results, samples


def scores_of(results: Results, task: str) -> dict[str, float]:
    """The paper's three scores (0-1) in a task's or group's row."""
    row = results["results"][task]
    return {key: row[f"{key},none"] for key in ("accanls", "anls", "acc")}
