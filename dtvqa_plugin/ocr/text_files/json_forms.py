"""Text files made of JSON: HierText, POIE, LSVT and ArT, PaddleOCR, and a plain form."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.ocr.text_files.parts import (
    Read,
    box,
    file_lines,
    items,
    name_in,
    objects,
    parsed,
    text_in,
)


def read_hiertext(path: Path) -> Iterator[Read]:
    """One object with ``annotations``, or one annotation a line."""
    for place, item in _records(path, "image_id", "annotations", "hiertext"):
        boxes = []
        for paragraph in items(item, "paragraphs", path, place):
            for line in items(paragraph, "lines", path, place):
                if line.get("legible") is False or not isinstance(line.get("text"), str):
                    continue
                boxes += box(line["text"], line.get("vertices"), path, place)
        yield place, name_in(item, "image_id", path, place), boxes


def read_poie(path: Path) -> Iterator[Read]:
    """An object a line: ``file_name`` and ``annotations`` with ``polygon`` and ``text``."""
    for place, line in file_lines(path):
        item = parsed(line, path, place)
        boxes = []
        for part in items(item, "annotations", path, place):
            if isinstance(part.get("text"), str):
                boxes += box(part["text"], part.get("polygon", part.get("box")), path, place)
        yield place, name_in(item, "file_name", path, place), boxes


def read_lsvt(path: Path) -> Iterator[Read]:
    """One object: a list of ``transcription``, ``points`` and ``illegibility`` an image."""
    for name, parts in _object(path).items():
        yield repr(name), name, _transcribed(parts, path, repr(name))


def read_paddleocr(path: Path) -> Iterator[Read]:
    """An image's name, a tab, and a list of ``transcription`` and ``points`` a line."""
    for place, content in file_lines(path):
        try:
            name, tab, rest = content.decode("utf-8").strip().partition("\t")
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: {place}: not UTF-8 text: {error}") from None
        if not tab:
            raise DataError(f"{path}: {place}: expected an image's name, a tab and a JSON list")
        if not rest.startswith("["):
            raise DataError(
                f"{path}: {place}: text without boxes (a list of cropped words, like rec_gt.txt); "
                "use the Label.txt of the whole images"
            )
        yield place, name, _transcribed(parsed(rest, path, place), path, place)


def read_plain(path: Path) -> Iterator[Read]:
    """One object of image names, or an object with ``image`` and ``lines`` a line."""
    lines = file_lines(path)
    head = next(lines)
    if _is_record(head[1], "image"):
        for place, line in itertools.chain([head], lines):
            item = parsed(line, path, place)
            parts = items(item, "lines", path, place)
            yield place, name_in(item, "image", path, place), _plain_boxes(parts, path, place)
        return
    whole = _object(path)
    if "image" in whole and "lines" in whole:
        whole = {whole["image"]: whole["lines"]}
    for name, parts in whole.items():
        if not isinstance(parts, list):
            raise DataError(f"{path}: {name!a}: expected a list of lines")
        yield repr(name), name, _plain_boxes(objects(parts, "it", path, repr(name)), path, name)


def _plain_boxes(parts: list[dict[str, Any]], path: Path, place: str) -> list[TextBox]:
    boxes = []
    for part in parts:
        text = text_in(part, "text", path, place)
        boxes += box(text, part.get("polygon", part.get("box")), path, place)
    return boxes


def _transcribed(parts: Any, path: Path, place: str) -> list[TextBox]:
    if not isinstance(parts, list) or not all(
        isinstance(part, dict) and "transcription" in part for part in parts
    ):
        raise DataError(f"{path}: {place}: expected a list of objects with 'transcription'")
    boxes = []
    for part in parts:
        text = text_in(part, "transcription", path, place)
        if part.get("illegibility") is not True:
            boxes += box(text, part.get("points"), path, place)
    return boxes


def _records(path: Path, name: str, field: str, format: str) -> Iterator[tuple[str, Any]]:
    """The objects of a file that has one a line, or all of them in a field of one object."""
    lines = file_lines(path)
    head = next(lines)
    if _is_record(head[1], name):
        for place, line in itertools.chain([head], lines):
            yield place, parsed(line, path, place)
        return
    whole = _whole(path)
    listed = whole.get(field) if isinstance(whole, dict) else None
    if not isinstance(listed, list):
        raise DataError(
            f"{path}: not a file of format {format!r}: expected an object with {field!r}, "
            f"found {_shape(whole)}"
        )
    for number, item in enumerate(listed, start=1):
        yield f"annotation {number}", item


def _object(path: Path) -> dict[str, Any]:
    whole = _whole(path)
    if not isinstance(whole, dict):
        raise DataError(f"{path}: expected an object of image names, found {_shape(whole)}")
    return whole


def _whole(path: Path) -> Any:
    return parsed(b"".join(line for _, line in file_lines(path)), path, "the file")


def _is_record(line: bytes, field: str) -> bool:
    """Whether a line is a whole object with a name in ``field``."""
    try:
        record = parsed(line, Path(), "")
    except DataError:
        return False
    return isinstance(record, dict) and isinstance(record.get(field), str)


def _shape(value: Any) -> str:
    """What a JSON value is, for messages."""
    if isinstance(value, dict):
        return f"an object with {', '.join(repr(str(key)[:40]) for key in list(value)[:4])}"
    return f"a {type(value).__name__}"
