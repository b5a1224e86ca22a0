"""The recognised text of images: what it is, and how it is read back from the store.

The store keeps one small JSON file for each image and engine: ``recognised/ENGINE/SHA256.json``,
where SHA256 is the hash of the image file's bytes. Equal images share one file, and a changed
image has none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.utils.environment import default_home
from dtvqa_plugin.utils.files import explained, file_sha256, whole_file
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

_NUMBER_TYPES = frozenset({int, float})

FOLDER = "recognised"
"""The folder's name in the store and in the portable archive."""


@dataclass(slots=True)
class Line:
    """One recognised piece of text.

    Not frozen: a page of 100,000 lines is read in half the time.

    Attributes:
        text: The text as the engine wrote it.
        box: Left, top, right, bottom in pixels of the upright image (EXIF orientation applied).
        confidence: The engine's confidence, 0-1; None where it gives none.
    """

    text: str
    box: tuple[float, float, float, float]
    confidence: float | None = None

    def as_text_box(self) -> TextBox:
        """The line as the reader's layout rules take it."""
        return TextBox.upright(self.text, *self.box)


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """All text that an engine found on one image.

    Attributes:
        width: Width of the upright image in pixels.
        height: Height of the upright image in pixels.
        lines: The lines in reading order.
    """

    width: int
    height: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RecognisedTexts:
    """The recognised text of several images, by one engine.

    Attributes:
        engine: Name and version of the engine, for signatures; None where the store has no
            recognised text of any of the images.
        texts: The text by image name.
        missing: The images without recognised text, in the order asked for.
    """

    engine: str | None
    texts: dict[str, RecognisedText]
    missing: tuple[str, ...]


def recognised_folder(home: Path | None = None) -> Path:
    """The folder of all engines' recognised text (default: in ``DTVQA_HOME``)."""
    return (home or default_home()) / FOLDER


def engines(home: Path | None = None) -> list[str]:
    """The engines that the store holds recognised text of, the newest version last."""
    folder = recognised_folder(home)
    with explained(folder, "read"):
        found = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted((name for name in found if not name.startswith(".")), key=_natural)


def recognised_texts(
    images: Mapping[str, Path], *, engine: str | None = None, home: Path | None = None
) -> RecognisedTexts:
    """Read the recognised text of images from the store.

    Every image file is hashed (about 1 GB a second); none is decoded.

    Args:
        images: The image files by the names under which the result holds them, for example
            ``{name: store.image_path(name)}``. A file that is not there counts as missing.
        engine: The engine, one of `engines`. Default: the one that knows most of the images; of
            equal ones the newest version.
        home: The store's folder (default: ``DTVQA_HOME``).

    Returns:
        The texts, the engine's name and the names of images without text.

    Raises:
        DataError: The engine is not in the store, or the store cannot be read.
    """
    known = engines(home)
    if engine is not None and engine not in known:
        there = ", ".join(known) or "none"
        raise DataError(
            f"{recognised_folder(home)}: no recognised text of engine {engine!r} (there: {there}); "
            "run 'dtvqa data recognise'"
        )
    if not known:
        return RecognisedTexts(None, {}, tuple(images))
    keys = {name: image_key(path) for name, path in images.items() if path.is_file()}
    best, texts = None, dict[str, RecognisedText]()
    for candidate in [engine] if engine is not None else known:
        found = read_texts(recognised_folder(home) / candidate, keys)
        if found and len(found) >= len(texts):
            best, texts = candidate, found
    missing = tuple(name for name in images if name not in texts)
    return RecognisedTexts(best, texts, missing)


def image_key(path: Path) -> str:
    """SHA-256 (hex) of an image file's bytes. Raises `DataError`."""
    with explained(path, "read", in_store=False):
        return file_sha256(path)


def read_texts(folder: Path, keys: Mapping[str, str]) -> dict[str, RecognisedText]:
    """The texts in one engine's folder by name, of names with their content keys.

    A file that cannot be used counts as missing and is named in a warning.
    """
    texts = {}
    for name, key in keys.items():
        text = read_text(folder / f"{key}.json")
        if text is not None:
            texts[name] = text
    return texts


def read_text(path: Path) -> RecognisedText | None:
    """One image's text; None where there is no usable file (a warning names a damaged one)."""
    try:
        return _parsed(json.loads(path.read_bytes(), parse_constant=_refused))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        logger.warning("%s: recognised text cannot be read (%s) and is ignored", path, error)
        return None


def write_text(path: Path, text: RecognisedText) -> None:
    """Write one image's text, whole or not at all. The same text gives the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    lines = [[line.text, *line.box, line.confidence] for line in text.lines]
    values = {"width": text.width, "height": text.height, "lines": lines}
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        partial.write_text(json.dumps(values, separators=(",", ":")), encoding="utf-8")


def from_boxes(
    boxes: Sequence[TextBox], width: int, height: int, *, confidence: bool = True
) -> RecognisedText:
    """Recognised text of boxes in reading order.

    Args:
        boxes: The boxes, in reading order.
        width: Width of the upright image in pixels.
        height: Height of the upright image in pixels.
        confidence: Whether the boxes' scores are an engine's confidence.
    """
    return RecognisedText(
        width,
        height,
        tuple(
            Line(
                box.text,
                (box.left, box.top, box.right, box.bottom),
                box.score if confidence else None,
            )
            for box in boxes
        ),
    )


def _natural(name: str) -> list[tuple[int, str]]:
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no number here")


def _parsed(value: Any) -> RecognisedText:
    match value:
        case {"width": int(width), "height": int(height), "lines": list(lines)}:
            return RecognisedText(width, height, tuple(map(_line, lines)))
    raise ValueError("not an object with width, height and lines")


def _line(value: Any) -> Line:
    if isinstance(value, list) and len(value) == 6 and isinstance(value[0], str):
        text, left, top, right, bottom, confidence = value
        numbers = value[1:5] if confidence is None else value[1:]
        if _NUMBER_TYPES.issuperset(map(type, numbers)) and math.isfinite(sum(numbers)):
            return Line(text, (left, top, right, bottom), confidence)
    raise ValueError("a line that is not [text, left, top, right, bottom, confidence]")
