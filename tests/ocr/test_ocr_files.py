"""Recognised text from files: every format of data sets of scene text, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ocr.ocr_file_cases import HELD, SEEN, Case

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.text_files import FORMATS, image_name, read_ocr_file


def written(case: Case, folder: Path) -> Path:
    """The path that the user gives: the folder, or the one file whose name begins with '/'."""
    given = folder
    for name, content in case.files.items():
        path = folder / name.lstrip("/")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if name.startswith("/"):
            given = path
    return given


@pytest.mark.parametrize("case", [*SEEN, *HELD], ids=lambda case: case.name)
def test_file_of_a_format_is_read_or_refused(case: Case, tmp_path: Path) -> None:
    path = written(case, tmp_path)
    if case.refused is not None:
        with pytest.raises(DataError) as caught:
            list(read_ocr_file(case.format, path))
        assert re.search(case.refused, str(caught.value)), caught.value
        assert str(tmp_path) in str(caught.value)
        return
    found = {
        image_name(name): [(b.text, (b.left, b.top, b.right, b.bottom)) for b in boxes]
        for name, boxes in read_ocr_file(case.format, path)
    }
    assert found == {image_name(name): texts for name, texts in case.says.items()}


def test_an_unknown_format_is_an_error_that_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"no OCR format 'alto'.*{', '.join(FORMATS)}"):
        list(read_ocr_file("alto", tmp_path))


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
        ("json", '{"a.jpg": [{"box": [1, 2, 3, 4]}]}', "an entry without 'text'"),
        ("json", '{"a.jpg": [{"text": "x", "polygon": "y"}]}', "is not a polygon"),
        ("json", '{"a.jpg": [{"text": "x", "box": [1, 2, NaN, 4, 5, 6]}]}', "is not a polygon"),
    ],
)
def test_faulty_text_file_is_one_error_with_its_place(
    tmp_path: Path, format: str, text: str, said: str
) -> None:
    path = tmp_path / "text.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said) as caught:
        list(read_ocr_file(format, path))
    assert str(path) in str(caught.value)


def test_faulty_icdar_line_is_one_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1,2,3,4,5,6,7,8,fine\nonly words\n")
    with pytest.raises(DataError, match=r"a\.txt: line 2: expected x1,y1"):
        list(read_ocr_file("icdar", tmp_path))
