"""What a signature says of the picture, the answers' origin and the reasoning; old lines parse."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from host_files import SAMPLE, lmms_run, vlmevalkit_run, write_lines, wrong

from dtvqa_plugin.analysis.comparison import compare
from dtvqa_plugin.metrics.reasoning import REASONING_VERSION
from dtvqa_plugin.report import parse_signature, read_run
from dtvqa_plugin.runs import remarks

MODEL = "pretrained=Qwen/Qwen2.5-VL-7B-Instruct"
NEW: dict[str, Any] = {"condition": "none", "image": "original", "image_path_to_model": {}}
OLD = {"prompt": "none", "image": "original"}
JPEG = {"encode_format": "JPEG", "encode_quality": "85"}


@pytest.mark.parametrize(
    ("metadata", "arguments", "image"),
    [
        (NEW, "", "original,host-default"),
        (OLD, "", "original,path=unknown"),
        (OLD, "max_pixels=602112", "original,path=unknown,max_pixels=602112"),
        (NEW, "max_pixels=602112", "original,max_pixels=602112"),
        (NEW, "min_pixels=3136,max_pixels=12544", "original,max_pixels=12544,min_pixels=3136"),
        ({**NEW, "image": "plain grey"}, "", "grey,host-default"),
        ({**OLD, "image": "plain grey"}, "", "grey,path=unknown"),
        (
            {**NEW, "image_path_to_model": JPEG},
            "",
            "original,encode_format=JPEG,encode_quality=85",
        ),
        (
            {**NEW, "image_path_to_model": {**JPEG, "max_pixels": "1"}},
            "max_pixels=1",
            "original,encode_format=JPEG,encode_quality=85,max_pixels=1",
        ),
        (NEW, "max_num_frames=8,token_budget=9,image_folder=x", "original,host-default"),
        (NEW, "dynamic_image_size=True,max_image_size=800", None),
    ],
)
def test_lmms_eval(tmp_path: Path, metadata: dict[str, Any], arguments: str, image: Any) -> None:
    model_args = ",".join(filter(None, (MODEL, arguments)))
    signature = read_run(lmms_run(tmp_path, metadata=metadata, model_args=model_args)).signature()
    assert signature.image == (image or f"original,{arguments}")
    assert f"|image:{signature.image}|" in str(signature)
    assert parse_signature(str(signature)) == signature


@pytest.mark.parametrize(
    ("summary", "image"),
    [
        (None, "original,path=unknown"),
        ({}, "original,path=unknown"),
        ({"image_path_to_model": {"encoding": "unknown"}}, "original,encoding=unknown"),
        (
            {
                "image_path_to_model": {
                    "encoding": "JPEG, Pillow's default quality",
                    "img_size": "512",
                    "img_detail": "low",
                }
            },
            "original,encoding=JPEG;Pillow's default quality,img_detail=low,img_size=512",
        ),
    ],
)
def test_vlmevalkit(tmp_path: Path, summary: dict[str, Any] | None, image: str) -> None:
    signature = read_run(vlmevalkit_run(tmp_path, summary=summary)).signature()
    assert signature.image == image
    assert parse_signature(str(signature)) == signature


def test_a_file_from_anywhere_says_nothing_of_the_picture(tmp_path: Path) -> None:
    rows = ({"question_id": r.question_id, "prediction": ""} for r in SAMPLE)
    assert read_run(write_lines(tmp_path / "p.jsonl", rows)).signature().image == "unknown"


def test_compare_remarks_on_another_picture(tmp_path: Path) -> None:
    a = read_run(lmms_run(tmp_path / "a", metadata=NEW))
    b = read_run(lmms_run(tmp_path / "b", metadata={**NEW, "image_path_to_model": JPEG}))
    (said,) = compare(a, b, resamples=200).remarks
    assert "A image:original,host-default, B image:original,encode_format=JPEG" in said
    c = read_run(lmms_run(tmp_path / "c", wrong, metadata=NEW, model_args="pretrained=other"))
    remarks = compare(a, c, resamples=200).remarks
    assert [line for line in remarks if "picture" in line] == []


@pytest.mark.parametrize(
    ("answers", "field", "said"),
    [
        (
            {"total": 64, "reused": 64, "asked": 0, "from": "2026-11-29", "record": "agrees"},
            "reused=64,asked=0,from=2026-11-29,record=agrees",
            "64 of 64 answers are from the run of 2026-11-29; nothing was asked again",
        ),
        (
            {"total": 64, "reused": 40, "asked": 24, "from": "2026-11-29", "record": "agrees"},
            "reused=40,asked=24,from=2026-11-29,record=agrees",
            "40 of 64 answers are from the run of 2026-11-29; 24 were asked for",
        ),
        (
            {"total": 64, "reused": 64, "asked": 0, "from": None, "record": "unknown"},
            "reused=64,asked=0,record=unknown",
            "64 of 64 answers are from the run; nothing was asked again; how they were asked is "
            "unknown",
        ),
        (
            {"total": 64, "reused": 0, "asked": 64, "from": None, "record": "agrees"},
            "reused=0,asked=64,record=agrees",
            None,
        ),
        (None, "", None),
        ({"total": "64"}, "", None),
    ],
)
def test_which_answers_vlmevalkit_reused(
    tmp_path: Path, answers: Any, field: str, said: str | None
) -> None:
    run = read_run(vlmevalkit_run(tmp_path, summary={"answers": answers}))
    signature = run.signature()
    assert signature.answers == field
    assert parse_signature(str(signature)) == signature
    assert ("|answers:" in str(signature)) == bool(field)
    assert [line for line in remarks(run) if "answers are from" in line] == [said] * bool(said)


def test_settings_of_a_vlmevalkit_model_are_in_its_signature(tmp_path: Path) -> None:
    settings = {"model": "gpt-4o", "max_tokens": 4096, "temperature": 0, "key": "sk-1"}
    said = {"model_settings": {"class": "GPT4V", "settings": settings}}
    run = read_run(vlmevalkit_run(tmp_path, summary=said))
    assert run.signature().generation == "max_tokens=4096,temperature=0"
    assert "sk-1" not in str(run)


def test_the_list_of_notations_has_a_version_in_the_signature(tmp_path: Path) -> None:
    signature = read_run(lmms_run(tmp_path)).signature()
    assert signature.reasoning == f"stripped-{REASONING_VERSION}"


LINE_OF_0_1_0 = (
    "DTVQA-SAMPLE|v:0.1.0|split:mini|subsets:MiniScene=16,MiniTabShot=16|n:32|ann:df6498905c82953a"
    "|rev:unknown|prompt:none|image:original|tau:0.5|acc:containment-lower|reasoning:stripped"
    "|host:VLMEvalKit=ms-vlmeval%3D0.0.20|model:m|gen:unknown|failed:0|partial:no"
)


@pytest.mark.parametrize("reasoning", ["stripped", "kept", "stripped-2", "kept-17"])
def test_a_line_of_0_1_0_comes_back_as_it_was(reasoning: str) -> None:
    line = LINE_OF_0_1_0.replace("stripped", reasoning)
    signature = parse_signature(line)
    assert (signature.image, signature.answers, signature.repeats) == ("original", "", 1)
    assert str(signature) == line


def test_a_host_in_a_checkout_is_told_from_an_installed_one(tmp_path: Path) -> None:
    """A package whose folder lies in a git work tree; one that is installed; none at all."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@x", *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    package = tmp_path / "hosted" / "__init__.py"
    package.parent.mkdir()
    package.write_text("")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    git("tag", "v9.9")
    code = (
        "from dtvqa_plugin.utils.checkout import checkout_commit as c;"
        "print(c('hosted'), c('pytest'), c('nothing_of_the_name'))"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = {"capture_output": True, "text": True, "check": True, "env": environment}
    head = git("rev-parse", "--short=12", "HEAD")
    assert subprocess.run(command, **run).stdout.split() == [head, "None", "None"]
    package.write_text("changed = True")
    assert subprocess.run(command, **run).stdout.split()[0] == f"{head}-dirty"
