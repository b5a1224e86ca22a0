"""Recognised text that a user already has: HierText, POIE, ICDAR-like files and a plain JSON form.

======== ===================================================================================
hiertext one JSON object with ``annotations``: ``image_id`` and paragraphs, lines, ``vertices``
poie     a JSON object a line: ``file_name`` and ``annotations`` with ``polygon`` and ``text``
icdar    a folder with ``NAME.txt`` or ``gt_NAME.txt`` an image: ``x1,y1,...,x4,y4,text`` a line
json     ``{"NAME.jpg": [{"text": ..., "polygon": [[x, y], ...]}, ...]}``, or the same as
         ``{"image": ..., "lines": [...]}`` a line; ``"box": [left, top, right, bottom]`` will do
======== ===================================================================================

Images are matched by file name without folder and ending. Text marked illegible (``###``, or
``legible: false``) is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.ocr import TextBox
from dtvqa_plugin.ocr.boxes import Quad

ImageText = tuple[str, list[TextBox]]
"""An image's name as the file has it, and its text."""

UNREADABLE_MARK = "###"


def read_ocr_file(format: str, path: Path) -> Iterator[ImageText]:
    """Every image's text in ``path``. Raises `AnnotateError` naming file, place and what is wrong.

    Forms with a line an image are streamed; ``hiertext`` and a single JSON object are read whole.
    """
    if format == "icdar":
        yield from _icdar(path)
        return
    if not path.is_file():
        raise AnnotateError(f"{path}: no such OCR file; set sources[].ocr.file")
    readers: dict[str, Callable[[Path], Iterator[ImageText]]] = {
        "hiertext": _hiertext,
        "poie": _poie,
        "json": _plain,
    }
    yield from readers[format](path)


def image_name(name: str) -> str:
    """What images are matched by: the file's name without folder and ending."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return re.sub(r"\.(?:jpe?g|png|webp|gif|bmp|tiff?|ppm|jp2|avif)$", "", last, flags=re.I)


def _hiertext(path: Path) -> Iterator[ImageText]:
    whole = _parsed(path.read_bytes(), path, "line 1")
    annotations = whole.get("annotations") if isinstance(whole, dict) else None
    if not isinstance(annotations, list):
        raise AnnotateError(f"{path}: not a HierText file: expected an object with 'annotations'")
    for number, item in enumerate(annotations, start=1):
        place = f"annotation {number}"
        boxes = []
        for paragraph in _list(item, "paragraphs", path, place):
            for line in _list(paragraph, "lines", path, place):
                text = line.get("text")
                if line.get("legible") is False or not isinstance(text, str):
                    continue
                boxes += _box(text, line.get("vertices"), path, place)
        yield _name(item, ("image_id",), path, place), boxes


def _poie(path: Path) -> Iterator[ImageText]:
    for place, item in _lines(path):
        boxes = []
        for part in _list(item, "annotations", path, place):
            text = part.get("text")
            if isinstance(text, str):
                boxes += _box(text, part.get("polygon", part.get("box")), path, place)
        yield _name(item, ("file_name",), path, place), boxes


def _plain(path: Path) -> Iterator[ImageText]:
    with path.open("rb") as handle:
        first = handle.readline()
    by_line = _is_line_of(first)
    if by_line:
        for place, item in _lines(path):
            yield (
                _name(item, ("image",), path, place),
                _plain_boxes(_list(item, "lines", path, place), path, place),
            )
        return
    whole = _parsed(path.read_bytes(), path, "the file")
    if isinstance(whole, dict) and "image" in whole and "lines" in whole:
        whole = {whole["image"]: whole["lines"]}
    if not isinstance(whole, dict):
        raise AnnotateError(f"{path}: expected an object of image names, found another type")
    for name, lines in whole.items():
        if not isinstance(lines, list):
            raise AnnotateError(f"{path}: {name!a}: expected a list of lines")
        yield name, _plain_boxes(lines, path, repr(name))


def _is_line_of(first: bytes) -> bool:
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and isinstance(record.get("image"), str)


def _plain_boxes(lines: list[Any], path: Path, place: str) -> list[TextBox]:
    boxes = []
    for line in lines:
        text = line.get("text") if isinstance(line, dict) else None
        if not isinstance(text, str):
            raise AnnotateError(f"{path}: {place}: a line without 'text'")
        boxes += _box(text, line.get("polygon", line.get("box")), path, place)
    return boxes


_ICDAR = re.compile(r"\s*((?:-?\d+(?:\.\d+)?\s*,\s*){8})(.*)")
_ICDAR_BOX = re.compile(r"\s*((?:-?\d+(?:\.\d+)?\s*,\s*){4})(.*)")


def _icdar(folder: Path) -> Iterator[ImageText]:
    if not folder.is_dir():
        raise AnnotateError(f"{folder}: no such folder; 'icdar' wants one with a .txt an image")
    for path in sorted(folder.glob("*.txt")):
        boxes = []
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise AnnotateError(f"{path}: cannot be read: {error}") from None
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            match = _ICDAR.fullmatch(line) or _ICDAR_BOX.fullmatch(line)
            if match is None:
                raise AnnotateError(f"{path}: line {number}: expected x1,y1,...,x4,y4,text")
            numbers = [float(part) for part in match.group(1).split(",") if part.strip()]
            words = match.group(2).strip()
            if len(words) > 1 and words[0] == words[-1] == '"':
                words = words[1:-1].replace('""', '"')
            boxes += _box(words, numbers, path, f"line {number}")
        yield re.sub(r"^gt_", "", path.stem), boxes


# --- parts ---------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if line.strip():
                item = _parsed(line, path, f"line {number}")
                if not isinstance(item, dict):
                    raise AnnotateError(f"{path}: line {number}: expected an object")
                yield f"line {number}", item


def _parsed(content: bytes, path: Path, place: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise AnnotateError(f"{path}: {place}: not JSON: {error}") from None


def _list(item: Any, field: str, path: Path, place: str) -> list[dict[str, Any]]:
    value = item.get(field) if isinstance(item, dict) else None
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise AnnotateError(f"{path}: {place}: expected a list of objects in {field!r}")
    return value


def _name(item: dict[str, Any], fields: tuple[str, ...], path: Path, place: str) -> str:
    for field in fields:
        if isinstance(item.get(field), str):
            return str(item[field])
    raise AnnotateError(f"{path}: {place}: without {fields[0]!r}, the image's name")


def _box(text: str, polygon: Any, path: Path, place: str) -> list[TextBox]:
    """No box for text marked unreadable; `AnnotateError` for a polygon that is none."""
    if not text.strip() or text.strip() == UNREADABLE_MARK:
        return []
    numbers: list[float] = []
    try:
        for part in polygon:
            numbers += [float(n) for n in part] if isinstance(part, list) else [float(part)]
        if len(numbers) == 4 and not isinstance(polygon[0], list):
            left, top, right, bottom = numbers
            return [TextBox.upright(text, left, top, right, bottom)]
        return [TextBox(text, _quad(numbers))]
    except (TypeError, ValueError, IndexError):
        shown = ascii(polygon)[:60]
        raise AnnotateError(
            f"{path}: {place}: {text[:30]!a}: {shown} is not a polygon of x, y points"
        ) from None


def _quad(numbers: list[float]) -> Quad:
    """Four corners unchanged; of more points, the corners of the upright box around them."""
    if len(numbers) < 6 or len(numbers) % 2 or any(n != n or abs(n) > 1e7 for n in numbers):
        raise ValueError("no polygon")
    if len(numbers) == 8:
        a, b, c, d, e, f, g, h = numbers
        return (a, b, c, d, e, f, g, h)
    xs, ys = numbers[0::2], numbers[1::2]
    left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
    return (left, top, right, top, right, bottom, left, bottom)
