"""The recognised text that a condition gives to the model: the same in both hosts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.recognised import Line, RecognisedText, recognised_folder, recognised_texts
from dtvqa_plugin.utils.text import counted


@dataclass(frozen=True, slots=True)
class GivenText:
    """Recognised text for some questions.

    Attributes:
        engine: Name and version of what recognised it.
        by_image: The text by the records' ``image``.
    """

    engine: str
    by_image: Mapping[str, str]


def given_text(split: str, records: Iterable[Record]) -> GivenText:
    """Read the text of all images of some questions.

    The engine is the one that knows most of the images; of equal ones the newest version.

    Raises:
        DataError: An image has no recognised text; the message names the command that makes it.
    """
    store = get_split(split).store()
    images = {record.image: store.image_path(record.image) for record in records}
    found = recognised_texts(images)
    if found.missing or found.engine is None:
        missing = found.missing or tuple(images)
        raise DataError(
            f"{recognised_folder()}: no recognised text of {len(missing)} of "
            f"{counted(len(images), 'image')} (first: {next(iter(missing), split)}), which this "
            f"condition gives to the model; run 'dtvqa data recognise --split {split}'"
        )
    return GivenText(found.engine, {image: as_text(found.texts[image]) for image in found.texts})


def as_text(recognised: RecognisedText) -> str:
    """Recognised text as one string: lines in reading order, pieces of one line joined by a tab.

    Control characters become blanks, since prediction files cannot hold them.
    """
    pieces: list[str] = []
    for place, line in enumerate(recognised.lines):
        if place:
            pieces.append("\t" if _continues(recognised.lines[place - 1], line) else "\n")
        pieces.append(_printable(line.text))
    return "".join(pieces)


def _continues(before: Line, line: Line) -> bool:
    """Whether a piece stands right of another, their middles less than half a letter apart."""
    left, top, right, bottom = before.box
    next_left, next_top, next_right, next_bottom = line.box
    height = min(bottom - top, next_bottom - next_top)
    apart = abs(top + bottom - next_top - next_bottom) / 2
    return apart < height / 2 and next_left + next_right > left + right


def _printable(text: str) -> str:
    return "".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text)
