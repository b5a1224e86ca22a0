"""Tables: Markdown, HTML (made into bars before), CSV and the like, read by their heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dtvqa_plugin.annotate.answers.labels import Labels
from dtvqa_plugin.annotate.answers.values import Span

Row = tuple[Span, Span]
"""The spans of a row's question and answer."""

_RULE = re.compile(r"[\s|:+=-]+")
_CELLS = {
    "|": re.compile(r"(?:[^|\\]|\\.)*"),
    ",": re.compile(r'[ ]*"(?:[^"]|"")*"[ ]*|[^,"]*'),
    ";": re.compile(r'[ ]*"(?:[^"]|"")*"[ ]*|[^;"]*'),
    "\t": re.compile(r"[^\t]*"),
}


def find_table(
    view: str, lines: Sequence[Span], labels: Labels
) -> tuple[str, int, int, int] | None:
    """``(separator, cells, question's column, answer's column)`` if the first line is a heading."""
    for separator in _CELLS:
        cells = split_row(view, lines[0], separator)
        if cells is None or len(cells) < 2:
            continue
        sides = [labels.side(view[start:end]) for start, end in cells]
        columns = {
            side: [n for n, found in enumerate(sides) if found and found[0] == side]
            for side in "qa"
        }
        if len(columns["q"]) == len(columns["a"]) == 1:
            return separator, len(cells), columns["q"][0], columns["a"][0]
    return None


def table_rows(
    view: str, lines: Sequence[Span], table: tuple[str, int, int, int]
) -> Iterator[Row | Span]:
    """For each line below the heading its row, or its span where it does not fit; ends with the
    first line that is no row at all. Rules count as a span of no length.
    """
    separator, width, question, answer = table
    for line in lines:
        text = view[slice(*line)]
        if not text.strip() or (separator not in text and not _RULE.fullmatch(text)):
            return
        cells = split_row(view, line, separator)
        if _RULE.fullmatch(text):
            yield line[0], line[0]
        elif cells is None or len(cells) != width or _empty(view, cells[question], cells[answer]):
            yield line
        else:
            yield cells[question], cells[answer]


def _empty(view: str, *cells: Span) -> bool:
    return any(not view[start:end].strip() for start, end in cells)


def split_row(view: str, line: Span, separator: str) -> list[Span] | None:
    """Spans of a line's cells, outer bars left out; None where quotation marks do not close."""
    start, end = line
    while start < end and view[start] in " \t>" and separator != "\t":
        start += 1
    while end > start and view[end - 1] in " \r":
        end -= 1
    if separator == "|":
        start += view[start:end].startswith("|")
        end -= view[start:end].endswith("|") and not view[start:end].endswith("\\|")
    cells: list[Span] = []
    place = start
    while True:
        match = _CELLS[separator].match(view, place, end)
        if match is None:
            return None
        cells.append(_trimmed(view, match.start(), match.end()))
        place = match.end()
        if place >= end:
            return cells
        if view[place] != separator:
            return None
        place += 1


def _trimmed(view: str, start: int, end: int) -> Span:
    while start < end and view[start].isspace():
        start += 1
    while end > start and view[end - 1].isspace():
        end -= 1
    return start, end
