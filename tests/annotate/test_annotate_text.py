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
from dtvqa_plugin.annotate.text.ocr_files import read_ocr_file
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


FORMS = {
    "hiertext": ("hiertext", hiertext),
    "poie": ("poie", poie),
    "json": ("json", plain),
    "json lines": ("json", plain_lines),
}


def write_form(form: str, folder: Path, names: list[str]) -> tuple[str, Path]:
    if form.startswith("icdar"):
        folder = folder / form
        folder.mkdir()
        for name in names:
            stem = name.removesuffix(".png")
            path = folder / (f"gt_{stem}.txt" if form == "icdar" else f"{stem}.txt")
            path.write_text('\ufeff10,10,90,10,90,30,10,30,"BLUE BIRD"\n1,1,2,1,2,2,1,2,###\n')
        return "icdar", folder
    format, text = FORMS[form]
    path = folder / "text.json"
    path.write_text(text(names))
    return format, path


@pytest.mark.parametrize("form", [*FORMS, "icdar", "icdar without gt"])
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


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("hiertext", "{}", "expected an object with 'annotations'"),
        ("hiertext", "{", "not JSON"),
        ("hiertext", '{"annotations": [{"paragraphs": []}]}', "annotation 1: without 'image_id'"),
        ("hiertext", '{"annotations": [{"image_id": "a"}]}', "list of objects in 'paragraphs'"),
        ("poie", '{"file_name": "a.jpg", "annotations": []}\nnonsense', "line 2: not JSON"),
        (
            "poie",
            '{"file_name": "a", "annotations": [{"text": "x", "polygon": [1, 2]}]}',
            "line 1: 'x': .* is not a polygon",
        ),
        ("json", "[]", "expected an object of image names"),
        ("json", '{"a.jpg": [{"box": [1, 2, 3, 4]}]}', "a line without 'text'"),
        ("json", '{"a.jpg": [{"text": "x", "polygon": "y"}]}', "is not a polygon"),
        ("json", '{"a.jpg": [{"text": "x", "box": [1, 2, NaN, 4, 5, 6]}]}', "is not a polygon"),
    ],
)
def test_faulty_text_file_is_one_error_with_its_place(
    tmp_path: Path, format: str, text: str, said: str
) -> None:
    path = tmp_path / "text.json"
    path.write_text(text)
    with pytest.raises(AnnotateError, match=said) as caught:
        list(read_ocr_file(format, path))
    assert str(path) in str(caught.value)


def test_faulty_icdar_line_is_one_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1,2,3,4,5,6,7,8,fine\nonly words\n")
    with pytest.raises(AnnotateError, match=r"a\.txt: line 2: expected x1,y1"):
        list(read_ocr_file("icdar", tmp_path))


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
