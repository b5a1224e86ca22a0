"""A run that cannot be read leaves no earlier decision behind: every output says "cannot tell"."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_gate import gate, plain_run, wrong

from dtvqa_plugin.cli import gate as gate_module

GREEN = {
    "gate.xml": '<testsuites name="dtvqa gate" tests="1" failures="0" errors="0"/>',
    "gate.json": '{"verdict": "passed", "exit_status": 0}',
    "gate.txt": "passed: complete: all there\ngate: passed\n",
}


def removed(folder: Path) -> list[object]:
    return [folder / "removed.jsonl"]


def several(folder: Path) -> list[object]:
    held = folder / "five"
    held.mkdir()
    for place in range(5):
        plain_run(held / f"{place}.jsonl", wrong(place), model=f"m{place}")
    return [held]


def garbage(folder: Path) -> list[object]:
    path = folder / "garbage.jsonl"
    path.write_bytes(bytes(range(256)))
    return [path]


def empty_file(folder: Path) -> list[object]:
    path = folder / "empty.jsonl"
    path.touch()
    return [path]


def empty_folder(folder: Path) -> list[object]:
    path = folder / "nothing"
    path.mkdir()
    return [path]


def no_baseline(folder: Path) -> list[object]:
    return [plain_run(folder / "run.jsonl"), "--baseline", folder / "removed.jsonl"]


def no_annotations(folder: Path) -> list[object]:
    path = folder / "test.jsonl"
    path.write_text(json.dumps({"question_id": "DTScene/0", "prediction": "x"}))
    (folder / "store").mkdir()
    return [path, "--data", folder / "store"]


def unwritable(folder: Path) -> list[object]:
    return [plain_run(folder / "run.jsonl"), "-o", folder / "nowhere" / "gate.json"]


def shards_that_overlap(folder: Path) -> list[object]:
    return [plain_run(folder / "a.jsonl"), plain_run(folder / "b.jsonl"), "--join"]


UNREADABLE = [
    *(removed, several, garbage, empty_file, empty_folder, no_baseline, no_annotations, unwritable),
    shards_that_overlap,
]


def judged(folder: Path) -> dict[str, str]:
    """The verdict and the reason in each output."""
    (suite,) = ElementTree.fromstring((folder / "gate.xml").read_text())
    (case,) = suite.findall("testcase")
    (error,) = case.findall("error")
    document = json.loads((folder / "gate.json").read_text())
    first, last = (folder / "gate.txt").read_text().splitlines()
    assert suite.get("errors") == "1"
    assert (document["verdict"], document["exit_status"]) == ("cannot tell", 2)
    assert last == "gate: cannot tell"
    return {
        "xml": error.get("message") or "",
        "json": document["reason"],
        "text": first.removeprefix("cannot tell: readable: "),
    }


@pytest.mark.parametrize("before", ["green", "nothing"])
@pytest.mark.parametrize("made", UNREADABLE)
def test_every_output_says_cannot_tell(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: Callable[[Path], list[object]],
    before: str,
) -> None:
    for name, text in GREEN.items():
        if before == "green":
            (tmp_path / name).write_text(text)
    arguments = made(tmp_path)
    outputs = [part for name in GREEN for part in ("-o", tmp_path / name)]
    status, out, err = gate(capsys, *arguments, "--complete", *outputs)
    assert (status, out) == (2, ""), err
    said = judged(tmp_path)
    assert all(text and " ".join(text.split()) in " ".join(err.split()) for text in said.values())


@pytest.mark.parametrize("style", ["json", "junit"])
@pytest.mark.parametrize("made", [removed, several, unwritable])
def test_standard_output_stays_json_and_xml(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    made: Callable[[Path], list[object]],
    style: str,
) -> None:
    status, out, err = gate(capsys, *made(tmp_path), "--complete", "--format", style)
    assert status == 2
    assert "dtvqa: error: " in err
    if style == "json":
        document = json.loads(out)
        assert (document["verdict"], document["run"]) == ("cannot tell", None)
        assert document["reason"]
    else:
        assert ElementTree.fromstring(out).get("errors") == "1"


def test_garbage_on_standard_input(tmp_path: Path) -> None:
    output = tmp_path / "gate.xml"
    output.write_text(GREEN["gate.xml"])
    code = "from dtvqa_plugin.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "gate", "-", "--complete", "-o", str(output)],
        input=b"\x00\xff garbage",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert 'errors="1"' in output.read_text()
    assert "standard input" in output.read_text()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ZeroDivisionError("a fault"), "ZeroDivisionError: a fault"),
        (KeyboardInterrupt(), "the gate was interrupted"),
    ],
)
def test_a_fault_of_the_gate_is_no_failed_check(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
    said: str,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(gate_module, "decide", broken)
    output = tmp_path / "gate.json"
    status, _, err = gate(capsys, plain_run(tmp_path / "r.jsonl"), "--complete", "-o", output)
    assert status == 2
    assert said in err
    assert said in json.loads(output.read_text())["reason"]


def test_no_file_of_a_folder_that_is_read_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder,) = several(tmp_path)
    assert isinstance(folder, Path)
    run, decision = folder / "0.jsonl", folder / "gate.json"
    before = run.read_bytes()
    decision.write_text(GREEN["gate.json"])
    status, _, err = gate(capsys, folder, "--complete", "-o", run, "-o", decision)
    assert status == 2
    assert run.read_bytes() == before
    assert f"{run}: not written" in err
    assert json.loads(decision.read_text())["verdict"] == "cannot tell"


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_the_output_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, link = tmp_path / "target.xml", tmp_path / "gate.xml"
    target.write_text(GREEN["gate.xml"])
    link.symlink_to(target)
    assert gate(capsys, tmp_path / "removed.jsonl", "--complete", "-o", link)[0] == 2
    assert link.is_symlink()
    assert 'errors="1"' in target.read_text()


def test_json_holds_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = plain_run(tmp_path / "run.jsonl")
    options = ("--baseline", run, "--metric", "acc", "--max-drop", "2", "--confidence", "0.9")
    status, out, _ = gate(
        capsys, run, *options, "--min", "acc=3", "--seed", "7", "--format", "json"
    )
    document = json.loads(out)
    assert (status, document["reason"]) == (0, None)
    assert document["rules"] == {
        "minimums": [{"metric": "acc", "value": 3.0, "part": "overall"}],
        "max_drop": 2.0,
        "metric": "acc",
        "confidence": 0.9,
        "complete": False,
        "max_failed": None,
    }
    assert document["bootstrap"] == {
        "resamples": 500,
        "seed": 7,
        "level": 0.8,
        "clustered_by": "image",
    }
