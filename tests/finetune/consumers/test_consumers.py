"""Exports through the trainers' own code, each in a separate environment.

They do not install beside lmms-eval, so these tests run where they are asked for:

    DTVQA_CONSUMER_PYTHON=TRL/bin/python:SWIFT/bin/python python -m pytest tests/finetune/consumers

names one Python or several (separated as in PATH). Each test takes the one whose trainer has a
version that the export is held to, the newest of several; an older trainer is not tried.
``DTVQA_QWEN_FINETUNE`` is the folder ``qwen-vl-finetune`` of a checkout of Qwen3-VL's repository.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from finetune_release import image_of, pairs_of, rows
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from PIL import Image

from dtvqa_plugin.finetune import FORMATS, ExportOptions, export

HERE = Path(__file__).parent
PYTHONS = [p for p in os.environ.get("DTVQA_CONSUMER_PYTHON", "").split(os.pathsep) if p]
QWEN = os.environ.get("DTVQA_QWEN_FINETUNE", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHONS, reason="DTVQA_CONSUMER_PYTHON names no trainer's Python"),
]


WANTED = {
    "trl": ("trl", ">=1.16,<2"),
    "swift": ("ms-swift", ">=4.6,<5"),
    "llamafactory": ("llamafactory", ">=0.9.5,<0.10"),
    "axolotl": ("axolotl", ">=0.19,<0.20"),
    "transformers": ("transformers", ">=4.57"),
}
"""Of each module: its distribution, and the versions that the export is held to."""


@functools.cache
def python_with(module: str) -> str:
    """The Python with the newest wanted version of ``module``."""
    distribution, versions = WANTED[module]
    code = f"from importlib.metadata import version; print(version({distribution!r}))"
    there: list[tuple[Version, str]] = []
    for python in PYTHONS:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            there.append((Version(done.stdout.strip()), python))
    fitting = [found for found in there if found[0] in SpecifierSet(versions, prereleases=True)]
    if not fitting:
        seen = ", ".join(str(found[0]) for found in there) or "none"
        pytest.skip(f"no Python in DTVQA_CONSUMER_PYTHON has {distribution} {versions} ({seen})")
    return max(fitting)[1]


def consume(module: str, script: str, arguments: Sequence[Path], **env: str) -> dict[str, Any]:
    """What a check script printed, run by the Python that has the trainer."""
    done = subprocess.run(
        [python_with(module), str(HERE / f"{script}.py"), *map(str, arguments)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def mini(folder: Path, name: str, **options: Any) -> Path:
    export(folder, ExportOptions(format=name, splits=("mini",), **options))
    return folder / ("train.jsonl" if FORMATS[name].lines else "train.json")


def turns_of(row: dict[str, Any], before: str = "") -> list[list[str]]:
    """The turns of an exported sample, as a trainer should have them."""
    turns: list[list[str]] = []
    for question, answer in pairs_of(row):
        turns += [["user", f"{'' if turns else before}{question}"], ["assistant", answer]]
    return turns


def check_texts(texts: Sequence[str], exported: Sequence[dict[str, Any]]) -> None:
    """Every question and answer is in the tokens, in order."""
    assert len(texts) == len(exported)
    for text, row in zip(texts, exported, strict=True):
        place = 0
        for _, said in turns_of(row):
            place = text.index(said, place) + len(said)


def check_answers(answers: Sequence[str], exported: Sequence[dict[str, Any]]) -> None:
    """The loss is on the answers and on nothing else."""
    bare = [answer.replace("<|im_end|>", "").replace("\n", "") for answer in answers]
    assert bare == ["".join(answer for _, answer in pairs_of(row)) for row in exported]


@pytest.mark.parametrize("turns", ["all", "one"])
@pytest.mark.parametrize("embed", [False, True])
def test_trl_collates_and_trains(
    turns: str, embed: bool, tiny_qwen2_5_vl: Path, tmp_path: Path
) -> None:
    file = mini(tmp_path / "set", "messages", turns=turns, embed=embed)
    found = consume("trl", "trl_check", [file, tiny_qwen2_5_vl, tmp_path / "out"])
    check_texts(found["texts"], rows(file))
    check_answers(found["answers"], rows(file))
    assert min(found["patches"]) > 0
    assert len(found["losses"]) == 2


@pytest.mark.parametrize("turns", ["all", "one"])
@pytest.mark.parametrize("embed", [False, True])
def test_ms_swift_loads_and_encodes(
    turns: str, embed: bool, tiny_qwen2_5_vl: Path, tmp_path: Path
) -> None:
    file = mini(tmp_path / "set", "ms-swift", turns=turns, embed=embed)
    found = consume("swift", "ms_swift_check", [file, tiny_qwen2_5_vl, tmp_path / "out"])
    exported = rows(file)
    assert [row["turns"] for row in found["rows"]] == [turns_of(r, "<image>") for r in exported]
    assert [row["image"] for row in found["rows"]] == [image_of(row) for row in exported]
    check_texts(found["texts"], exported)
    check_answers(found["answers"], exported)


@pytest.mark.parametrize("turns", ["all", "one"])
@pytest.mark.parametrize("shard_size", [None, 7])
def test_llamafactory_loads_and_tokenises(
    turns: str, shard_size: int | None, tiny_qwen2_5_vl: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    file = mini(folder, "llava", turns=turns, shard_size=shard_size)
    arguments = [folder, tiny_qwen2_5_vl, tmp_path / "out"]
    found = consume("llamafactory", "llamafactory_check", arguments)
    shards = sorted((folder / "train").iterdir()) if shard_size else [file]
    exported = [row for shard in shards for row in rows(shard)]
    key = [json.dumps([row["turns"], row["images"]]) for row in found["rows"]]
    want = [json.dumps([turns_of(r, "<image>\n"), [image_of(r)]]) for r in exported]
    # A folder's files are read in no particular order by this trainer.
    assert (sorted(key) == sorted(want)) if shard_size else (key == want)
    if not shard_size:
        check_texts(found["texts"], exported)
        check_answers(found["answers"], exported)


def test_qwen_vl_finetune_reads_and_builds_messages(tiny_qwen2_5_vl: Path, tmp_path: Path) -> None:
    if not QWEN:
        pytest.skip("DTVQA_QWEN_FINETUNE names no checkout's qwen-vl-finetune")
    file = mini(tmp_path / "set", "qwen-vl")
    arguments = [file, tiny_qwen2_5_vl, tmp_path / "out"]
    found = consume("transformers", "qwen_finetune_check", arguments, PYTHONPATH=QWEN)
    exported = rows(file)
    assert [row["turns"] for row in found["rows"]] == [turns_of(row) for row in exported]
    assert [row["images"] for row in found["rows"]] == [[image_of(row)] for row in exported]
    check_texts(found["texts"], exported)


@pytest.mark.parametrize("embed", [False, True])
def test_axolotl_puts_the_image_into_the_messages(
    embed: bool, tiny_qwen2_5_vl: Path, tmp_path: Path
) -> None:
    file = mini(tmp_path / "set", "messages", embed=embed)
    by_path = mini(tmp_path / "paths", "messages")
    found = consume("axolotl", "axolotl_check", [file, tiny_qwen2_5_vl, tmp_path / "out"])
    assert [row["turns"] for row in found["rows"]] == [turns_of(row) for row in rows(file)]
    sizes = [[list(Image.open(image_of(row)).size)] for row in rows(by_path)]
    assert [row["sizes"] for row in found["rows"]] == sizes


def test_the_trl_recipe_trains_evaluates_and_merges(tiny_qwen2_5_vl: Path, tmp_path: Path) -> None:
    python = python_with("trl")
    mini(tmp_path / "set", "messages", held_out=0.2)
    recipe = HERE.parents[2] / "docs" / "recipes" / "trl_lora.py"
    typed = tmp_path / "typed"
    template = "import sys, trl_check; trl_check.save_with_template(*sys.argv[1:])"
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    env["PYTHONPATH"] = os.pathsep.join([str(HERE), str(HERE.parents[2])])
    for arguments in (
        ["-c", template, tiny_qwen2_5_vl, typed],
        [recipe, typed, tmp_path / "set", tmp_path / "out"],
    ):
        done = subprocess.run(
            [python, *map(str, arguments)], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-4000:]
    assert "eval_accanls" in done.stdout
    assert (tmp_path / "out" / "merged" / "model.safetensors").is_file()
