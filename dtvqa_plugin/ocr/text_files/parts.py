"""What the readers of text files share: opening, JSON, names, boxes, and messages with a place."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.boxes import Quad, TextBox
from dtvqa_plugin.utils.files import explained

Read = tuple[str, str, list[TextBox]]
"""A place in the file for messages, an image's name, and its text."""

UNREADABLE_MARK = "###"
_GZIP = b"\x1f\x8b"
_LARGEST_NUMBER = 1e7


def file_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that are not blank, unpacked, with their places."""
    if not path.is_file():
        raise DataError(f"{path}: no such OCR file")
    with explained(path, "read", in_store=False):
        with path.open("rb") as handle:
            packed = handle.read(2) == _GZIP
        some = False
        try:
            with gzip.open(path) if packed else path.open("rb") as lines:
                for number, line in enumerate(lines, start=1):
                    content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                    if content.strip():
                        some = True
                        yield f"line {number}", content
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise DataError(f"{path}: the packed file is damaged or cut off") from None
    if not some:
        raise DataError(f"{path}: the file is empty")


def parsed(content: bytes | str, path: Path, place: str) -> Any:
    """The JSON value. Raises `DataError` naming the place."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {place}: not JSON: {error}") from None


def items(value: Any, field: str, path: Path, place: str) -> list[dict[str, Any]]:
    """The list of objects in a field of ``value``."""
    return objects(value.get(field) if isinstance(value, dict) else None, repr(field), path, place)


def objects(value: Any, what: str, path: Path, place: str) -> list[dict[str, Any]]:
    """``value``, if it is a list of objects."""
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise DataError(f"{path}: {place}: expected a list of objects in {what}")
    return value


def name_in(item: dict[str, Any], field: str, path: Path, place: str) -> str:
    """The image's name in a field."""
    if not isinstance(item.get(field), str):
        raise DataError(f"{path}: {place}: without {field!r}, the image's name")
    return str(item[field])


def text_in(item: dict[str, Any], field: str, path: Path, place: str) -> str:
    """The text in a field."""
    if not isinstance(item.get(field), str):
        raise DataError(f"{path}: {place}: an entry without {field!r}")
    return str(item[field])


def box(text: str, polygon: Any, path: Path, place: str) -> list[TextBox]:
    """The text with its place; nothing for text marked unreadable.

    Args:
        text: The text.
        polygon: Points, or their numbers in a row; four numbers are left, top, right, bottom.
        path: The file, for messages.
        place: The place in it, for messages.

    Raises:
        DataError: No polygon.
    """
    if not text.strip() or text.strip() == UNREADABLE_MARK:
        return []
    if polygon is None:
        raise DataError(f"{path}: {place}: {text[:30]!a}: text without boxes cannot be used")
    numbers: list[float] = []
    try:
        for part in polygon:
            numbers += [float(n) for n in part] if isinstance(part, list) else [float(part)]
        if any(not abs(n) <= _LARGEST_NUMBER for n in numbers):
            raise ValueError("no place on an image")
        if len(numbers) == 4 and not isinstance(polygon[0], list):
            left, top, right, bottom = numbers
            return [TextBox.upright(text, left, top, right, bottom)]
        return [TextBox(text, _quad(numbers))]
    except (TypeError, ValueError, IndexError):
        shown = ascii(polygon)[:60]
        raise DataError(
            f"{path}: {place}: {text[:30]!a}: {shown} is not a polygon of x, y points"
        ) from None


def _quad(numbers: list[float]) -> Quad:
    """Four corners unchanged; of more points, the corners of the upright box around them."""
    if len(numbers) < 6 or len(numbers) % 2:
        raise ValueError("no polygon")
    if len(numbers) == 8:
        a, b, c, d, e, f, g, h = numbers
        return (a, b, c, d, e, f, g, h)
    xs, ys = numbers[0::2], numbers[1::2]
    left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
    return (left, top, right, top, right, bottom, left, bottom)
