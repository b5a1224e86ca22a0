"""Where text stands: deskewing, reading order, lines, and the grid of a table."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dtvqa_plugin.ocr.boxes import TextBox

if TYPE_CHECKING:
    from collections.abc import Sequence

Line = list[TextBox]

_MOST_SKEW = math.radians(30)
_LEAST_SKEW = math.radians(0.5)
_LEAST_COLUMNS = 3
_RIM = 0.2
_SLIVER = 0.15
_LEAST_FILLED = 0.6


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

    A box joins the line whose last member covers more than half of the lower of the two.
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
    """All boxes line by line."""
    return [box for line in group_lines(deskew(boxes)) for box in line]


def find_grid(boxes: Sequence[TextBox]) -> Grid | None:
    """The table that the boxes form, or None where they form none.

    Columns are the stretches of x that many lines cover, with next to nothing between them;
    rows are lines, a wrapped cell's lines joined. Three columns under a head make a table.
    """
    lines = group_lines(deskew(boxes))
    columns = _columns(lines)
    if len(columns) < _LEAST_COLUMNS or len(lines) < 2:
        return None
    rows = [_cells(row, columns) for row in _join_wrapped(lines, columns)]
    while rows and sum(map(bool, rows[0])) < _LEAST_FILLED * len(columns):
        rows.pop(0)
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < 2 or filled < _LEAST_FILLED * len(rows) * len(columns):
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
    # The latest member only: a running band would let slanted lines swallow the next one.
    last = line[-1]
    overlap = min(last.bottom, box.bottom) - max(last.top, box.top)
    return overlap > 0.5 * min(last.height, box.height)


def _columns(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Stretches of x covered by more boxes than a stray misreading accounts for.

    A line of one box (a title, a note) says nothing about columns.
    """
    boxes = [box for line in lines if len(line) > 1 for box in line]
    if not boxes:
        return []
    stray = len(lines) // 12
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
