"""The real ``lmms-eval`` command, with our OCR model and with the host's own model runners.

The models have tiny random weights: what is tested is the way from question to score.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

from lmms_host import CommandRun, command, scores_of
from reference_scorer import slow_score

from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.data import records
from dtvqa_plugin.metrics import prepare

MINI = ("dtvqa_mini", "dtvqa_mini_prompted")
KEYS = ("anls", "acc", "accanls")


def raw_output(sample: dict[str, Any]) -> str:
    """What the model said (``resps`` is dropped from the log when nothing was filtered)."""
    raw = sample.get("resps", sample["filtered_resps"])
    return str(raw[0]) if isinstance(raw, list) else str(raw)


def check_run(run: CommandRun, tasks: Sequence[str], count: int | None = None) -> None:
    """Every logged score equals the slow scorer's, the rows are their means, prompts are named."""
    assert run.results, run.output
    known = {record.question_id: record for record in records("mini")}
    for task in tasks:
        prompt = "paper" if task.endswith("_prompted") else "none"
        samples = run.samples[task]
        assert len(samples) == (count or len(known))
        rows = []
        for sample in samples:
            logged = sample["dtvqa"]
            record = known[logged["question_id"]]
            assert sample["input"] == get_prompt(prompt).render(record.question)
            assert (logged["subset"], logged["condition"]) == (record.subset, prompt)
            slow = slow_score(prepare(raw_output(sample)).text, list(record.answers))
            assert (sample["anls"], sample["acc"], sample["accanls"]) == slow
            rows.append(slow)
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        assert scores_of(run.results, task) == dict(zip(KEYS, means, strict=True))


def ids(run: CommandRun, task: str) -> list[str]:
    return [sample["dtvqa"]["question_id"] for sample in run.samples[task]]


@pytest.fixture(scope="session")
def reader_run(tmp_path_factory: pytest.TempPathFactory) -> CommandRun:
    pytest.importorskip("rapidocr", reason="needs the extra: pip install 'dtvqa-plugin[ocr]'")
    out = tmp_path_factory.mktemp("reader")
    return command(
        ["--model", "dtvqa_ocr", "--model_args", "mode=reader", "--tasks", ",".join(MINI)], out
    )


def test_the_ocr_reader_runs_the_sample_in_both_conditions(reader_run: CommandRun) -> None:
    check_run(reader_run, MINI)
    first, second = (reader_run.samples[task] for task in MINI)
    assert [raw_output(s) for s in first] == [raw_output(s) for s in second]
    assert "|dtvqa_mini " in reader_run.output
    assert reader_run.results["results"]["dtvqa_mini"]["accanls,none"] > 0


def test_two_processes_give_the_same_rows_as_one(reader_run: CommandRun, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc_per_node=2",
        f"--master_port={port}",
    ]
    # An odd number of questions: one rank is padded, and the padding must not be counted.
    run = command(
        [
            *("--model", "dtvqa_ocr", "--model_args", "mode=reader,threads=1"),
            *("--tasks", "dtvqa_mini", "--limit", "7"),
        ],
        tmp_path,
        launcher=launcher,
    )
    check_run(run, ["dtvqa_mini"], count=7)
    assert ids(run, "dtvqa_mini") == ids(reader_run, "dtvqa_mini")[:7]
    alone = {s["dtvqa"]["question_id"]: s["dtvqa"] for s in reader_run.samples["dtvqa_mini"]}
    assert all(s["dtvqa"] == alone[s["dtvqa"]["question_id"]] for s in run.samples["dtvqa_mini"])


QWEN = "pretrained={},device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544"
LLAVA = "pretrained={},device=cpu,device_map=cpu"


@pytest.mark.parametrize(
    ("model", "arguments", "weights", "flags"),
    [
        ("qwen2_5_vl", QWEN, "tiny_qwen2_5_vl", []),
        ("llava_hf", LLAVA, "tiny_llava", ["--force_simple"]),
    ],
    ids=["qwen2_5_vl chat", "llava_hf simple"],
)
def test_the_hosts_own_runners_score_both_conditions(
    model: str,
    arguments: str,
    weights: str,
    flags: list[str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    folder = request.getfixturevalue(weights)
    run = command(
        [
            *("--model", model, "--model_args", arguments.format(folder), *flags),
            *("--tasks", ",".join(MINI), "--limit", "6", "--batch_size", "1"),
            *("--gen_kwargs", "max_new_tokens=12"),
        ],
        tmp_path,
    )
    check_run(run, MINI, count=6)
    backend = run.results["config"]["model_backend"]
    assert ("simple" if flags else "chat") in backend
    # Another prompt, another input: the words around the question do reach the weights.
    first, second = ([raw_output(s) for s in run.samples[task]] for task in MINI)
    assert first != second
    assert run.results["configs"]["dtvqa_mini"]["generation_kwargs"]["max_new_tokens"] == 12


def test_the_console_script_lists_the_tasks() -> None:
    script = shutil.which("lmms-eval", path=str(Path(sys.executable).parent))
    assert script is not None
    done = subprocess.run(
        [script, "--tasks", "list"], capture_output=True, text=True, check=False, timeout=300
    )
    listed = {line.removeprefix(" - ") for line in done.stdout.splitlines()}
    assert {"dtvqa", "dtvqa_prompted", "dtvqa_mini", "dtvqa_scene"} <= listed


def test_a_config_file_knows_the_tasks_too(reader_run: CommandRun, tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        f"model: dtvqa_ocr\nmodel_args: mode=reader\ntasks: {','.join(MINI)}\nlimit: 3\n"
    )
    run = command(["--config", str(config)], tmp_path / "out")
    check_run(run, MINI, count=3)
    for task in MINI:
        assert [s["dtvqa"] for s in run.samples[task]] == [
            s["dtvqa"] for s in reader_run.samples[task][:3]
        ]


def test_an_error_ends_with_status_0_and_no_results(dtvqa_home: Path, tmp_path: Path) -> None:
    # lmms-eval's own way: a script must look for the results file, not at the exit status.
    run = command(["--model", "dtvqa_ocr", "--tasks", "dtvqa_scene"], tmp_path)
    assert run.status == 0
    assert run.results == {}
    assert "dtvqa data" in run.output
