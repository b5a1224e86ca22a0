"""Recognised text of a project's images: several processes, parts, the checked merge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from annotate.annotate_server import Endpoint, prompt_of
from annotate.conftest import ANSWER, MakeProject
from click.testing import CliRunner
from PIL import Image, ImageDraw, ImageFont

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project import Inventory, Project
from dtvqa_plugin.annotate.recognise import Part, merge, recognise
from dtvqa_plugin.annotate.run import Bounds, run
from dtvqa_plugin.cli import cli

pytest.importorskip("rapidocr", reason="needs the extra ocr")


def rapid(values: dict[str, Any]) -> None:
    values["sources"][0]["ocr"] = {"from": "rapidocr"}


@pytest.fixture
def signs(images: Path) -> Path:
    for path in images.iterdir():
        path.unlink()
    for word in ("BLUE", "RED", "GREEN", "WHITE"):
        picture = Image.new("RGB", (240, 100), "white")
        font = ImageFont.load_default(36)
        ImageDraw.Draw(picture).text((20, 30), word, font=font, fill="black")
        picture.save(images / f"{word.lower()}.png")
    return images


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", ""])
def test_faulty_part_is_one_error(text: str) -> None:
    with pytest.raises(AnnotateError, match="give i/n with 1 <= i <= n"):
        Part.parse(text)


def test_parts_hold_every_image_once(make: MakeProject) -> None:
    images = list(Inventory(make()).scan())
    for count in (1, 2, 3, 7):
        parts = [Part(number, count) for number in range(1, count + 1)]
        assert [sum(part.holds(image) for part in parts) for image in images] == [1] * len(images)


def test_nothing_to_recognise_is_one_error(make: MakeProject) -> None:
    with pytest.raises(AnnotateError, match=r"no source has ocr\.from: rapidocr"):
        recognise(make())


def test_parts_of_copies_merge_into_the_text_that_prompts_hold(
    make: MakeProject, signs: Path, tmp_path: Path
) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=rapid)
        copy = Path(shutil.copytree(project.root, tmp_path / "copy"))
        first = recognise(project, workers=2, part=Part(1, 2))
        second = recognise(Project.open(copy), workers=2, part=Part(2, 2))
        assert first.recognised + second.recognised == 4
        assert recognise(project, workers=1, part=Part(1, 2)).known == first.recognised
        shown = CliRunner().invoke(
            cli, ["annotate", "recognise", str(project.root), "--merge", str(copy)]
        )
        assert shown.exit_code == 0, shown.output
        assert f"{second.recognised} merged" in shown.output
        assert merge(project, [copy]).merged == 0, "a second merge changes nothing"
        run(Project.open(project.root), Bounds())
    prompts = " ".join(prompt_of(request).upper() for request in server.requests)
    assert all(word in prompts for word in ("BLUE", "RED", "GREEN", "WHITE"))
    assert not (project.root / "ocr" / "cache").exists(), "no image was read a second time"
    check_merge_faults(project, copy, second.engine, tmp_path)


def check_merge_faults(project: Project, copy: Path, engine: str, tmp_path: Path) -> None:
    """What a merge refuses, and what it counts as lacking."""
    kept = sorted((copy / "ocr" / "recognised" / engine).glob("*.json"))
    damaged = kept[0]
    (project.root / "ocr" / "recognised" / engine / damaged.name).unlink()
    whole = damaged.read_text()
    damaged.write_text(whole[:20])
    assert merge(project, [copy]).lacking == 1
    shown = CliRunner().invoke(
        cli, ["annotate", "recognise", str(project.root), "--merge", str(copy)]
    )
    assert shown.exit_code == 1
    damaged.write_text(whole)
    merge(project, [copy])
    changed = json.loads(whole)
    changed["width"] += 1
    damaged.write_text(json.dumps(changed))
    with pytest.raises(AnnotateError, match="different text of one image"):
        merge(project, [copy])
    (copy / "ocr" / "recognised" / engine).rename(copy / "ocr" / "recognised" / "other-1")
    with pytest.raises(AnnotateError, match="different engines"):
        merge(project, [copy])
    with pytest.raises(AnnotateError, match="no recognised text there"):
        merge(project, [tmp_path / "nothing"])
