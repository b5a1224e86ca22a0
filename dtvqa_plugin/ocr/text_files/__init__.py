"""Recognised text that a user already has, in the forms that data sets of scene text have.

Contract: `FORMATS` (the names and what they are), `read_ocr_file`, `image_name`. A file that is not
of the named format is refused with what was found; no format is tried in place of another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.ocr.text_files.icdar import layout_of, read_folder
from dtvqa_plugin.ocr.text_files.json_forms import (
    read_hiertext,
    read_lsvt,
    read_paddleocr,
    read_plain,
    read_poie,
)
from dtvqa_plugin.ocr.text_files.parts import Read

__all__ = ["FORMATS", "ImageText", "image_name", "read_ocr_file"]

ImageText = tuple[str, list[TextBox]]
"""An image's name as the file has it, and its text."""

FORMATS = {
    "hiertext": "HierText: a JSON object with 'annotations', or one of them a line; also packed",
    "poie": "POIE: a JSON object a line with 'file_name' and 'annotations'",
    "icdar": "a folder with a .txt or .csv an image, ICDAR 2013, ICDAR 2015, MLT or RCTW",
    "icdar2013": "such a folder: 'left top right bottom \"text\"', or with commas",
    "icdar2015": "such a folder: 'x1,y1,...,x4,y4,text'",
    "mlt": "such a folder: 'x1,y1,...,x4,y4,script,text' (ICDAR 2017-2019 MLT)",
    "rctw": "such a folder: 'x1,y1,...,x4,y4,0 or 1,\"text\"' (RCTW-17)",
    "lsvt": "LSVT: a JSON object with a list of 'transcription' and 'points' an image",
    "art": "ArT: the same form as LSVT",
    "paddleocr": "PaddleOCR: Label.txt, an image's name, a tab and a JSON list a line",
    "json": "a JSON object with a list of 'text' and 'polygon' or 'box' an image",
}
"""The formats by name, and what each is."""

_LARGEST_GUESSED = 64 * 2**20


def read_ocr_file(format: str, path: Path) -> Iterator[ImageText]:
    """Every image's text in ``path``.

    Forms with a line or a file an image are streamed; a single JSON object is read whole. Text
    marked unreadable (``###``, ``legible: false``, ``illegibility: true``) is left out.

    Args:
        format: One of `FORMATS`.
        path: The file, or the folder of the ICDAR family. Files may be packed with gzip.

    Raises:
        DataError: Another format, or a fault, with file, place and what is wrong.
    """
    seen: set[str] = set()
    try:
        for place, name, boxes in _reader(format)(path):
            key = image_name(name)
            if key in seen:
                raise DataError(f"{path}: {place}: image {key!r} occurs twice; keep one of them")
            seen.add(key)
            yield name, boxes
    except DataError as error:
        other = None if seen else _looks_like(path, format)
        if other is None:
            raise
        raise DataError(f"{error}; it looks like {other!r}") from None


def image_name(name: str) -> str:
    """What images are matched by: the file's name without folder, ending and ``gt_``."""
    last = name.replace("\\", "/").rpartition("/")[2].removeprefix("gt_")
    return re.sub(r"\.(?:jpe?g|png|webp|gif|bmp|tiff?|ppm|jp2|avif)$", "", last, flags=re.I)


def _reader(format: str) -> Callable[[Path], Iterator[Read]]:
    readers: dict[str, Callable[[Path], Iterator[Read]]] = {
        "hiertext": read_hiertext,
        "poie": read_poie,
        "lsvt": read_lsvt,
        "art": read_lsvt,
        "paddleocr": read_paddleocr,
        "json": read_plain,
    }
    if format not in FORMATS:
        raise DataError(f"no OCR format {format!r} (known: {', '.join(FORMATS)})")
    return readers.get(format) or (lambda path: read_folder(path, format))


def _looks_like(path: Path, format: str) -> str | None:
    """Another format whose reader can read the file, for the message."""
    if path.is_dir():
        found = layout_of(path)
        return None if found in (None, format) or format == "icdar" else found
    if not path.is_file() or path.stat().st_size > _LARGEST_GUESSED:
        return None
    for other in ("hiertext", "poie", "lsvt", "paddleocr", "json"):
        try:
            if _reader(other) is not _reader(format) and any(
                boxes for _, _, boxes in _reader(other)(path)
            ):
                return other
        except DataError:
            continue
    return None
