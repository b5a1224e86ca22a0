"""Recognised text of a project's images, from files and from RapidOCR."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from annotate.annotate_server import Endpoint, prompt_of
from annotate.conftest import ANSWER, MakeProject

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.run import Bounds, run
from dtvqa_plugin.annotate.text.reader import describe
from dtvqa_plugin.ocr import TextBox

QUAD = [[10, 10], [90, 10], [90, 30], [10, 30]]
FLAT = [10, 10, 90, 10, 90, 30, 10, 30]


def hiertext(names: list[str]) -> str:
    line = {"text": "BLUE BIRD", "vertices": QUAD, "legible": True, "words": []}
    bad = {"text": "smudge", "vertices": QUAD, "legible": False, "words": []}
    return json.dumps(
        {
            "info": {},
            "annotations": [
                {
                    "image_id": name.removesuffix(".png"),
                    "image_width": 160,
                    "image_height": 120,
                    "paragraphs": [{"vertices": QUAD, "legible": True, "lines": [line, bad]}],
                }
                for name in names
            ],
        }
    )


def poie(names: list[str]) -> str:
    parts = [{"polygon": FLAT, "text": "BLUE BIRD"}, {"polygon": FLAT, "text": "###"}]
    return "\n".join(
        json.dumps({"file_name": f"images/{n}", "height": 1, "width": 1, "annotations": parts})
        for n in names
    )


def plain(names: list[str]) -> str:
    return json.dumps({name: [{"text": "BLUE BIRD", "polygon": QUAD}] for name in names}, indent=1)


def plain_lines(names: list[str]) -> str:
    line = {"text": "BLUE BIRD", "box": [10, 10, 90, 30]}
    return "\n".join(json.dumps({"image": name, "lines": [line]}) for name in names)


def lsvt(names: list[str]) -> str:
    words = [
        {"transcription": "BLUE BIRD", "points": QUAD, "illegibility": False},
        {"transcription": "smudge", "points": QUAD, "illegibility": True},
    ]
    return json.dumps({name.removesuffix(".png"): words for name in names})


def paddleocr(names: list[str]) -> str:
    words = [{"transcription": text, "points": QUAD} for text in ("BLUE BIRD", "###")]
    return "\n".join(f"images/{name}\t{json.dumps(words)}" for name in names)


FORMS = {
    "hiertext": ("hiertext", hiertext),
    "lsvt": ("lsvt", lsvt),
    "paddleocr": ("paddleocr", paddleocr),
    "poie": ("poie", poie),
    "json": ("json", plain),
    "json lines": ("json", plain_lines),
}
NUMBERS = "10,10,90,10,90,30,10,30"
FOLDERS = {
    "icdar": ("gt_{}.txt", f'\ufeff{NUMBERS},"BLUE BIRD"\n{NUMBERS},###\n'),
    "icdar without gt": ("{}.txt", f"{NUMBERS},BLUE BIRD\n"),
    "icdar 2013 as csv": ("gt_{}.csv", '10, 10, 90, 30, "BLUE BIRD"\r\n'),
    "mlt": ("gt_{}.txt", f"{NUMBERS},Latin,BLUE BIRD\r\n{NUMBERS},None,###\r\n"),
    "rctw": ("{}.txt", f'{NUMBERS},0,"BLUE BIRD"\n{NUMBERS},1,"###"\n'),
}


def write_form(form: str, folder: Path, names: list[str]) -> tuple[str, Path]:
    if form in FOLDERS:
        folder = folder / form
        folder.mkdir()
        file, content = FOLDERS[form]
        for name in names:
            (folder / file.format(name.removesuffix(".png"))).write_text(content, newline="")
        return "icdar", folder
    format, text = FORMS[form]
    path = folder / "text.json"
    path.write_text(text(names))
    return format, path


@pytest.mark.parametrize("form", [*FORMS, *FOLDERS])
def test_text_of_a_file_reaches_the_prompt_with_its_place(
    make: MakeProject, images: Path, tmp_path: Path, form: str
) -> None:
    format, path = write_form(form, tmp_path, [path.name for path in images.iterdir()])

    def with_text(values: dict[str, Any]) -> None:
        values["sources"][0]["ocr"] = {"from": "file", "format": format, "file": str(path)}

    with Endpoint(lambda number, request: ANSWER) as server:
        report = run(make(server.url, config=with_text), Bounds())
    assert report.answered == 4
    assert "text of 4 images" in report.notes[0]
    # 10 of 160 is 62 thousandths, 30 of 120 is 250.
    assert "[62, 83, 562, 250] BLUE BIRD" in prompt_of(server.requests[0])
    assert "smudge" not in prompt_of(server.requests[0])
    assert "###" not in prompt_of(server.requests[0])


def test_text_can_be_kept_out_of_the_prompt(
    make: MakeProject, images: Path, tmp_path: Path
) -> None:
    format, path = write_form("json", tmp_path, [path.name for path in images.iterdir()])
    ocr = {"from": "file", "format": format, "file": str(path), "in_prompt": False}
    with Endpoint(lambda number, request: ANSWER) as server:
        run(make(server.url, config=lambda v: v["sources"][0].update(ocr=ocr)), Bounds())
    assert "BLUE BIRD" not in prompt_of(server.requests[0])


def test_text_of_other_images_is_one_error_before_anything_is_paid(
    make: MakeProject, tmp_path: Path
) -> None:
    format, path = write_form("json", tmp_path, ["other1.png", "other2.png"])
    ocr = {"from": "file", "format": format, "file": str(path)}
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=lambda v: v["sources"][0].update(ocr=ocr))
        with pytest.raises(AnnotateError, match=r"OCR file of other images.*'other1'.*'shop0.png'"):
            run(project, Bounds())
    assert server.count == 0


def test_images_without_text_in_the_file_are_counted(make: MakeProject, tmp_path: Path) -> None:
    format, path = write_form("json", tmp_path, ["shop0.png", "shop1.png"])
    ocr = {"from": "file", "format": format, "file": str(path)}
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=lambda v: v["sources"][0].update(ocr=ocr))
        report = run(project, Bounds())
        assert report.answered == 4
        assert "it lacks 2 images" in report.notes[0]
        path.write_text(plain([f"shop{n}.png" for n in range(4)]))
        again = run(Project.open(project.root), Bounds())
    assert "lacks" not in again.notes[0], "a changed file is read anew"


def test_long_texts_are_shortened_and_say_so() -> None:
    boxes = [TextBox.upright(f"line {n}", 0, n, 10, n + 1) for n in range(5)]
    assert describe(boxes, 10, 10, 2) == (
        "[0, 0, 1000, 100] line 0\n[0, 100, 1000, 200] line 1\n(and 3 more lines)"
    )


def test_text_is_recognised_by_rapidocr(make: MakeProject, images: Path) -> None:
    pytest.importorskip("rapidocr")
    for path in images.iterdir():
        path.unlink()
    from PIL import ImageFont

    font = ImageFont.load_default(36)
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (360, 140), "white")
    ImageDraw.Draw(picture).text((20, 40), "BLUE BIRD", font=font, fill="black")
    picture.save(images / "sign.png")
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(
            server.url, config=lambda v: v["sources"][0].update(ocr={"from": "rapidocr"})
        )
        run(project, Bounds())
    assert "BLUE BIRD" in prompt_of(server.requests[0]).upper()
