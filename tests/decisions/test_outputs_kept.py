"""No command over runs writes over a file that it reads."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import datasets
import pytest
from test_gate import SAMPLE, plain_run, vlmevalkit_run, wrong

from dtvqa_plugin.cli import main
from dtvqa_plugin.data.splits import get_split


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.err


def itself(path: Path) -> Path:
    return path


def linked(path: Path) -> Path:
    link = path.with_name("link.md")
    link.symlink_to(path)
    return link


def hard_linked(path: Path) -> Path:
    link = path.with_name("hard.md")
    link.hardlink_to(path)
    return link


def round_about(path: Path) -> Path:
    return path.parent / ".." / path.parent.name / path.name


COMMANDS: dict[str, Callable[[Path, Path], list[object]]] = {
    "score": lambda run, other: ["score", run, other],
    "score, blank": lambda run, other: ["score", other, "--blank", run],
    "score, published": lambda run, other: ["score", other, "--published-file", run],
    "compare": lambda run, other: ["compare", other, run],
    "power": lambda run, other: ["power", run, other],
    "diagnose": lambda run, other: ["diagnose", run],
    "report": lambda run, other: ["report", run],
    "report, conditions": lambda run, other: ["report", other, "--conditions", run],
    "publish": lambda run, other: ["publish", run],
    "gate": lambda run, other: ["gate", run, "--complete"],
    "gate, baseline": lambda run, other: ["gate", other, "--baseline", run],
    "folder": lambda run, other: ["score", run.parent],
}


@pytest.mark.parametrize("named", [itself, linked, hard_linked, round_about])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_is_an_input_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    named: Callable[[Path], Path],
) -> None:
    run = plain_run(tmp_path / "run.jsonl")
    other = plain_run(tmp_path / "other.jsonl", wrong(1))
    before = run.read_bytes()
    output = named(run)
    status, err = dtvqa(capsys, *COMMANDS[command](run, other), "-o", output)
    assert status == (64 if command.startswith("gate") else 2), err
    assert f"{output}: this command reads it" in err
    assert run.read_bytes() == before


def test_files_beside_the_predictions_and_the_annotations_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = vlmevalkit_run(tmp_path / "v", {"total": len(SAMPLE), "reused": 0, "asked": 64})
    store = get_split("mini").store(None)
    summary = run.with_name(f"{run.stem}_summary.json")
    annotations = next(store.home.rglob("*.json"))
    for output in (summary, annotations, store.image_path(SAMPLE[0].image)):
        before = output.read_bytes()
        assert dtvqa(capsys, "score", run, "-o", output)[0] == 2
        assert output.read_bytes() == before


def test_files_of_packed_and_saved_data_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = plain_run(tmp_path / "run.jsonl")
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    rows = [json.loads(line) for line in plain.read_text().splitlines()]
    saved = tmp_path / "saved"
    datasets.Dataset.from_list(rows).save_to_disk(str(saved))
    for run, output in ((packed, packed), (saved, next(saved.glob("*.arrow")))):
        before = output.read_bytes()
        status, err = dtvqa(capsys, "score", run, "-o", output)
        assert (status, "this command reads it" in err) == (2, True), err
        assert output.read_bytes() == before


def test_an_earlier_output_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = plain_run(tmp_path / "run.jsonl")
    output = tmp_path / "run.json"
    for _ in range(2):
        assert dtvqa(capsys, "score", run, "--resamples", 100, "-o", output)[0] == 0
    assert json.loads(output.read_text())["tables"]


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="no name for standard input here")
def test_a_file_that_is_read_through_standard_input_is_kept(tmp_path: Path) -> None:
    run = plain_run(tmp_path / "run.jsonl")
    before = run.read_bytes()
    code = "from dtvqa_plugin.cli import main; main()"
    command = [sys.executable, "-c", code, "score", "-", "-o", str(run)]
    with run.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert (done.returncode, "this command reads it" in done.stderr) == (2, True), done.stderr
    assert run.read_bytes() == before
