"""Folders with a text file an image: ICDAR 2013, ICDAR 2015, ICDAR 2017-2019 MLT, RCTW-17.

The four differ in the columns before the text. One layout has to fit all lines of a folder; where
two fit some lines, the folder is refused and the user names the layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.ocr.text_files.parts import Read, box
from dtvqa_plugin.utils.files import explained

ENDINGS = (".txt", ".csv")

_NUMBER = r"-?\d+(?:\.\d+)?"
_EIGHT = rf"\s*(?P<box>{_NUMBER}(?:\s*,\s*{_NUMBER}){{7}})\s*"
_FOUR = rf"{_NUMBER}(?:\s*,\s*{_NUMBER}){{3}}"
_FOUR_BY_BLANKS = rf"{_NUMBER}(?:\s+{_NUMBER}){{3}}"
_SCRIPTS = (
    "Arabic|Latin|Chinese|Japanese|Korean|Bangla|Hindi|Symbols|Mixed|None|Thai|Cyrillic|Greek|"
    "Hebrew|Devanagari|Tamil|Telugu|Urdu|Vietnamese"
)


@dataclass(frozen=True)
class _Layout:
    """One way to write a line.

    Attributes:
        name: The format's name.
        line: The pattern of a line, with the groups ``box`` and ``text``.
        expected: How a line looks, for messages.
        quotes: Whether quotes around the text belong to the layout in every line.
    """

    name: str
    line: re.Pattern[str]
    expected: str
    quotes: bool = False

    def boxes(self, line: str, path: Path, place: str) -> list[TextBox]:
        """The text of a line. Raises `DataError` where the line is written in another way."""
        match = self.line.fullmatch(line)
        if match is None:
            raise DataError(f"{path}: {place}: expected {self.expected}; found {line[:60]!a}")
        numbers = [float(number) for number in re.findall(_NUMBER, match["box"])]
        return box(self._unquoted(match["text"].strip()), numbers, path, place)

    def _unquoted(self, text: str) -> str:
        """The text without quotes around it; quotes inside that are not doubled stay."""
        if len(text) < 2 or text[0] != '"' or text[-1] != '"':
            return text
        inner = text[1:-1]
        if '"' not in re.sub(r'""|\\"', "", inner):
            return re.sub(r'""|\\"', '"', inner)
        return inner if self.quotes else text


_MLT = _Layout(
    "mlt",
    re.compile(rf"{_EIGHT},\s*(?:{_SCRIPTS})\s*,(?P<text>.*)", re.I),
    "x1,y1,...,x4,y4,script,text",
)
_RCTW = _Layout(
    "rctw",
    re.compile(rf'{_EIGHT},\s*[01]\s*,\s*(?P<text>".*")\s*'),
    'x1,y1,...,x4,y4,0 or 1,"text"',
    quotes=True,
)
_ICDAR_2015 = _Layout("icdar2015", re.compile(rf"{_EIGHT},(?P<text>.*)"), "x1,y1,...,x4,y4,text")
_ICDAR_2013 = _Layout(
    "icdar2013",
    re.compile(rf'\s*(?P<box>{_FOUR}\s*,(?!\s*{_FOUR})|{_FOUR_BY_BLANKS}\s(?=\s*"))(?P<text>.*)'),
    'left,top,right,bottom,"text" (commas or blanks)',
    quotes=True,
)
_LAYOUTS = (_MLT, _RCTW, _ICDAR_2015, _ICDAR_2013)
"""The stricter first: each line of MLT and RCTW would do as one of ICDAR 2015."""


def text_files(folder: Path) -> list[Path]:
    """The files of a folder that hold text, by name."""
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in ENDINGS)


def read_folder(folder: Path, format: str) -> Iterator[Read]:
    """Every image's text. Raises `DataError` naming the file and the line."""
    if not folder.is_dir():
        raise DataError(f"{folder}: {format!r} needs a folder with a .txt or .csv an image")
    files = text_files(folder)
    if not files:
        raise DataError(f"{folder}: no .txt and no .csv file in this folder")
    layout = _named_layout(files, format) if format != "icdar" else _only_layout(files)
    for path in files:
        boxes = []
        for place, line in _lines(path):
            boxes += layout.boxes(line, path, place)
        yield path.name, path.stem, boxes


def layout_of(folder: Path) -> str | None:
    """The name of the format that all files of a folder have."""
    try:
        return _only_layout(text_files(folder)).name
    except DataError:
        return None


def _named_layout(files: list[Path], format: str) -> _Layout:
    layout = next(layout for layout in _LAYOUTS if layout.name == format)
    if layout is _ICDAR_2015:
        lines = [line for path in files for _, line in _lines(path)]
        for special in (_MLT, _RCTW):
            if lines and all(special.line.fullmatch(line) for line in lines):
                raise DataError(f"{files[0].parent}: every line has the form {special.expected}")
    return layout


def _lines(path: Path) -> list[tuple[str, str]]:
    with explained(path, "read", in_store=False):
        content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: {error}") from None
    lines = enumerate(text.split("\n"), start=1)
    return [(f"line {number}", line.rstrip("\r")) for number, line in lines if line.strip()]


def _only_layout(files: list[Path]) -> _Layout:
    """The layout of all lines."""
    counts = dict.fromkeys((layout.name for layout in _LAYOUTS), 0)
    misfit: dict[str, str] = {}
    texts: list[str] = []
    total = 0
    for path in files:
        for place, line in _lines(path):
            total += 1
            for layout in _LAYOUTS:
                match = layout.line.fullmatch(line)
                if match is not None:
                    counts[layout.name] += 1
                    if layout is _ICDAR_2015:
                        texts.append(match["text"])
                elif layout.name not in misfit:
                    misfit[layout.name] = f"{path}: {place}: {_fault(line, layout)}"
    for special in (_MLT, _RCTW):
        if 0 < counts[special.name] < total:
            raise DataError(
                f"{misfit[special.name]} as in {counts[special.name]} of {total} lines; name the "
                f"format: {special.name!r}, or 'icdar2015' where this column is part of the text"
            )
    fitting = [layout for layout in _LAYOUTS if layout.name not in misfit]
    if not fitting:
        likely = max(reversed(_LAYOUTS), key=lambda layout: counts[layout.name])
        raise DataError(misfit[likely.name if counts[likely.name] else _ICDAR_2015.name])
    if fitting[0] is _ICDAR_2015:
        _check_columns(texts, files[0].parent)
    return fitting[0]


def _fault(line: str, layout: _Layout) -> str:
    if re.fullmatch(_EIGHT, line):
        return "a box without text"
    return f"expected {layout.expected}; found {line[:60]!a}"


def _check_columns(texts: list[str], folder: Path) -> None:
    """Refuse what all lines have before the text and ICDAR 2015 has not."""
    said = [text.strip() for text in texts if text.strip() not in ("", "###")]
    more = [re.match(rf"(?:{_NUMBER}\s*,\s*){{2,}}", text) for text in said]
    if said and all(more):
        numbers = min(8 + len(re.findall(_NUMBER, match[0])) for match in more if match)
        raise DataError(
            f"{folder}: every line begins with {numbers} numbers, more than four corners; "
            "polygons are read from 'art' and 'paddleocr' files"
        )
    if len(said) >= 3 and all(re.match(r"[A-Za-z]+\s*,", text) for text in said):
        raise DataError(
            f"{folder}: every line has a word and a comma before the text ({said[0][:30]!a}), a "
            "column that is not known; name the format 'icdar2015' where it is part of the text"
        )
