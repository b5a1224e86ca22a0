"""Runs of one name are told apart by what differs between them, in score, compare and power."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from host_files import SAMPLE, lmms_run, right, write_lines, wrong
from runs_command import dtvqa

from dtvqa_plugin.analysis.comparison import compare
from dtvqa_plugin.report import Run, read_run, read_runs
from dtvqa_plugin.runs import distinct_names, remarks

MODEL = "pretrained=Qwen/Qwen2.5-VL-7B-Instruct"
NAME = "qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)"
CHAT = "lmms_eval.models.chat.qwen2_5_vl.Qwen2_5_VL (chat)"
SIMPLE = "lmms_eval.models.simple.qwen2_5_vl.Qwen2_5_VL (simple)"

PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "revision": (
        {"model_args": f"{MODEL},revision=abc"},
        {"model_args": f"{MODEL},revision=def"},
        [NAME.replace("uct)", "uct@abc)"), NAME.replace("uct)", "uct@def)")],
    ),
    "revision or none": (
        {"model_args": f"{MODEL},revision=abc"},
        {"model_args": MODEL},
        [NAME.replace("uct)", "uct@abc)"), NAME],
    ),
    "pixels": (
        {"model_args": f"{MODEL},max_pixels=12544"},
        {"model_args": f"{MODEL},max_pixels=602112"},
        [f"{NAME} (max_pixels=12544)", f"{NAME} (max_pixels=602112)"],
    ),
    "pixels or none": (
        {"model_args": f"{MODEL},max_pixels=12544"},
        {"model_args": MODEL},
        [f"{NAME} (max_pixels=12544)", f"{NAME} (no max_pixels)"],
    ),
    "generation": (
        {},
        {"config": {"gen_kwargs": {"max_new_tokens": 4096}}},
        [f"{NAME} (max_new_tokens=100)", f"{NAME} (max_new_tokens=4096)"],
    ),
    "runner": (
        {"config": {"model_backend": CHAT}},
        {"config": {"model_backend": SIMPLE}},
        [f"{NAME} (chat runner)", f"{NAME} (simple runner)"],
    ),
    "weights": (
        {"model_args": "pretrained=/models/a/ckpt"},
        {"model_args": "pretrained=/models/b/ckpt"},
        ["qwen2_5_vl(ckpt) (weights=a/ckpt)", "qwen2_5_vl(ckpt) (weights=b/ckpt)"],
    ),
    "path": ({}, {}, [f"{NAME} (a)", f"{NAME} (b)"]),
}


def two(tmp_path: Path, name: str) -> tuple[Path, Path]:
    first, second, _ = PAIRS[name]
    lmms_run(tmp_path / "a", right, stamp="20261130_100000", **first)
    lmms_run(tmp_path / "b", wrong, stamp="20261130_110000", **second)
    return tmp_path / "a", tmp_path / "b"


def both(tmp_path: Path, name: str) -> list[Run]:
    return distinct_names([read_run(path) for path in two(tmp_path, name)])


@pytest.mark.parametrize("name", PAIRS)
def test_the_name_states_what_differs(tmp_path: Path, name: str) -> None:
    runs = both(tmp_path, name)
    assert [run.name for run in runs] == PAIRS[name][2]
    assert [run.name for run in read_runs(tmp_path)] == PAIRS[name][2]
    assert [run.name for run in distinct_names(runs)] == PAIRS[name][2], "named twice, named once"


@pytest.mark.parametrize("name", ["pixels", "generation", "path"])
@pytest.mark.parametrize("command", ["score", "compare", "power"])
def test_every_command_uses_these_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, command: str
) -> None:
    paths = [str(path) for path in two(tmp_path, name)]
    said = dtvqa(capsys, command, *paths, "--format", "json")
    for expected in PAIRS[name][2]:
        assert json.dumps(expected)[1:-1] in said


def test_three_runs_two_of_which_only_their_folders_tell_apart(tmp_path: Path) -> None:
    for folder, tokens in (("a", 100), ("b", 200), ("c", 200)):
        lmms_run(tmp_path / folder, generation={"max_new_tokens": tokens}, stamp=f"s{folder}")
    assert [run.name.removeprefix(NAME) for run in read_runs(tmp_path)] == [
        " (max_new_tokens=100)",
        " (max_new_tokens=200, b)",
        " (max_new_tokens=200, c)",
    ]


def test_secrets_and_addresses_name_no_run(tmp_path: Path) -> None:
    lmms_run(tmp_path / "a", model_args=f"{MODEL},api_key=sk-1,base_url=http://h1,x=1")
    lmms_run(tmp_path / "b", model_args=f"{MODEL},api_key=sk-2,base_url=http://h2,x=2")
    runs = read_runs(tmp_path)
    assert [run.name for run in runs] == [f"{NAME} (x=1)", f"{NAME} (x=2)"]
    assert not any("sk-" in str(run) for run in runs)


def test_equal_signatures_with_other_answers_are_a_remark(tmp_path: Path) -> None:
    a, b = both(tmp_path, "path")
    assert str(a.signature()) == str(b.signature())
    (said,) = [line for line in remarks(a) if "same signature" in line]
    assert f"other answers to {len(SAMPLE)} of {len(SAMPLE)} questions" in said
    assert str(b.paths[0]) in said
    assert any("same signature and different scores" in said for said in compare(a, b).remarks)


def test_the_same_file_twice_is_a_remark(tmp_path: Path) -> None:
    path = lmms_run(tmp_path / "a")
    a, _ = distinct_names([read_run(path), read_run(path)])
    assert any("the same signature and the same answers as" in said for said in remarks(a))


def test_runs_that_differ_in_a_setting_have_no_such_remark(tmp_path: Path) -> None:
    for run in both(tmp_path, "pixels"):
        assert not any("same signature" in said for said in remarks(run))


def test_a_model_named_in_the_records_of_two_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rows = ({"question_id": r.question_id, "prediction": "", "model": "m"} for r in SAMPLE)
        write_lines(tmp_path / f"{name}.jsonl", rows)
    assert [run.name for run in read_runs(tmp_path)] == ["m (a)", "m (b)"]
