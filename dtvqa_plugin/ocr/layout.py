"""Where text stands: deskewing, reading order, lines, and the grid of a table."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from dtvqa_plugin.ocr.boxes import TextBox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Line = list[TextBox]

_MOST_SKEW = math.radians(30)
_LEAST_SKEW = math.radians(0.5)
_LEAST_COLUMNS = 3
_LEAST_ROWS = 3
_RIM = 0.2
_SLIVER = 0.15
_LEAST_FILLED = 0.7
_LEAST_ALIGNED = 0.7
_SPARSE = 0.4
_MOST_LINES_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: `head` holds the column heads ("" where none), `rows` the cells below, all of
    one width."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def deskew(boxes: Sequence[TextBox]) -> list[TextBox]:
    """The boxes turned so that the median long text runs level; as they are if none slants."""
    slants = [_slant(box) for box in boxes if len(box.text) >= 4]
    angle = statistics.median(slants) if slants else 0.0
    if not _LEAST_SKEW < abs(angle) < _MOST_SKEW:
        return list(boxes)
    cos, sin = math.cos(-angle), math.sin(-angle)
    return [_turned(box, cos, sin) for box in boxes]


def group_lines(boxes: Sequence[TextBox]) -> list[Line]:
    """Boxes grouped into lines, top to bottom, each from left to right.

    A box joins a line whose middle is less than half a letter from its own.
    """
    lines: list[Line] = []
    for box in sorted(boxes, key=lambda b: (b.centre_y, b.left)):
        if lines and _same_line(lines[-1], box):
            lines[-1].append(box)
        else:
            lines.append([box])
    for line in lines:
        line.sort(key=lambda b: (b.left, b.top))
    return lines


def reading_order(boxes: Sequence[TextBox]) -> list[TextBox]:
    """All boxes line by line, as they are: a slant counts for the order only."""
    level = deskew(boxes)
    original = {id(turned): box for turned, box in zip(level, boxes, strict=True)}
    return [original[id(turned)] for line in group_lines(level) for turned in line]


def find_grid(boxes: Sequence[TextBox]) -> Grid | None:
    """The table that level boxes form, or None where they form none.

    Columns are the stretches of x that many lines cover, with next to nothing between them;
    rows are lines, a wrapped cell's lines joined. Three columns and three rows make a table.
    """
    lines = group_lines(boxes)
    # A line of one box (a title, a note) says nothing about columns.
    telling = [box for line in lines if len(line) > 1 for box in line]
    columns = _columns(telling, stray=len(lines) // 12)
    if len(columns) < _LEAST_COLUMNS or _aligned(telling, columns) < _LEAST_ALIGNED:
        return None
    joined = _join_wrapped(lines, columns)
    if len(joined) * _MOST_LINES_A_ROW < len(lines):
        return None
    rows = [_cells(row, columns) for row in joined]
    for end in (0, -1):
        while rows and sum(map(bool, rows[end])) <= _SPARSE * len(columns):
            rows.pop(end)  # a title, a note, prose around the table
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < _LEAST_ROWS or filled < _LEAST_FILLED * len(rows) * len(columns):
        return None
    return Grid(rows[0], tuple(rows[1:]))


def _slant(box: TextBox) -> float:
    x0, y0, x1, y1 = box.quad[:4]
    return math.atan2(y1 - y0, x1 - x0)


def _turned(box: TextBox, cos: float, sin: float) -> TextBox:
    turned: list[float] = []
    for x, y in zip(box.quad[0::2], box.quad[1::2], strict=True):
        turned += (x * cos - y * sin, x * sin + y * cos)
    a, b, c, d, e, f, g, h = turned
    return TextBox(box.text, (a, b, c, d, e, f, g, h), box.score)


def _same_line(line: Line, box: TextBox) -> bool:
    """Whether `box` stands level with `line`: their middles less than half a letter apart."""
    middle = statistics.fmean(other.centre_y for other in line)
    height = min(box.height, min(other.height for other in line))
    return abs(box.centre_y - middle) < 0.5 * height


def _columns(boxes: Sequence[TextBox], stray: int) -> list[tuple[float, float]]:
    """Stretches of x covered by more than `stray` boxes, which misreadings account for."""
    if not boxes:
        return []
    edges = sorted(event for box in boxes for event in _edges(box))
    least = _SLIVER * statistics.median(box.height for box in boxes)
    columns: list[tuple[float, float]] = []
    depth, start = 0, 0.0
    for x, step in edges:
        if depth <= stray < depth + step:
            start = x
        elif depth + step <= stray < depth and x - start > least:
            columns.append((start, x))
        depth += step
    return columns


def _aligned(boxes: Sequence[TextBox], columns: Sequence[tuple[float, float]]) -> float:
    """The share of boxes that stand flush left, centred or flush right in their column, 0-1.

    Each column counts by the one of the three that suits it best.
    """
    members: list[Line] = [[] for _ in columns]
    for box in boxes:
        members[_column_of(box, columns)].append(box)
    flush = sum(
        max(
            _at_median(column, place)
            for place in (attrgetter("left"), attrgetter("centre_x"), attrgetter("right"))
        )
        for column in members
    )
    return flush / len(boxes)


def _at_median(column: Line, place: Callable[[TextBox], float]) -> int:
    middle = statistics.median(map(place, column)) if column else 0.0
    return sum(abs(place(box) - middle) < 0.5 * box.height for box in column)


def _edges(box: TextBox) -> tuple[tuple[float, int], tuple[float, int]]:
    """Where `box` begins and ends on x, less the rim that the detector adds around letters."""
    rim = min(_RIM * box.height, 0.25 * box.width)
    return (box.left + rim, 1), (box.right - rim, -1)


def _column_of(box: TextBox, columns: Sequence[tuple[float, float]]) -> int:
    def closeness(index: int) -> float:
        left, right = columns[index]
        return min(right, box.right) - max(left, box.left)

    return max(range(len(columns)), key=closeness)


def _join_wrapped(lines: Sequence[Line], columns: Sequence[tuple[float, float]]) -> list[Line]:
    """Lines to table rows: a line close to the one above joins it where either is sparse."""
    pitches = [_centre(below) - _centre(above) for above, below in pairwise(lines)]
    limit = _close_pitch(pitches)
    rows: list[Line] = [list(lines[0])]
    previous = lines[0]
    for pitch, line in zip(pitches, lines[1:], strict=True):
        sparse = min(_filled(previous, columns), _filled(line, columns)) <= len(columns) / 2
        if pitch < limit and sparse:
            rows[-1].extend(line)
        else:
            rows.append(list(line))
        previous = line
    return rows


def _close_pitch(pitches: Sequence[float]) -> float:
    """The line distance below which lines belong to one row; 0 where distances are all alike."""
    ordered = sorted(pitches)
    jump, limit = 1.25, 0.0
    for low, high in pairwise(ordered):
        if low > 0 and high / low > jump:
            jump, limit = high / low, (low + high) / 2
    return limit


def _centre(line: Line) -> float:
    return statistics.fmean(box.centre_y for box in line)


def _filled(line: Line, columns: Sequence[tuple[float, float]]) -> int:
    return len({_column_of(box, columns) for box in line})


def _cells(row: Line, columns: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    cells: list[list[str]] = [[] for _ in columns]
    for line in group_lines(row):
        for box in line:
            cells[_column_of(box, columns)].append(box.text.strip())
    return tuple(" ".join(cell) for cell in cells)
