"""The result table in a terminal: runs below each other, parts side by side, as the width allows.

The layouts are tried from the most to the least detailed one: three metrics, then AccANLS alone;
condition and number of questions in columns of their own, then behind the name; names of parts in
one line, then broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.tables import ResultTable, Row
from dtvqa_plugin.metrics.names import HEADINGS, HEADLINE, METRICS
from dtvqa_plugin.report.rendering import NO_FIGURE, figure, part_heading
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.utils.text import plain

NAME_ROOM = 20
"""A layout fits if this many columns are left for the runs' names, or as many as these need."""

_GAP = 2
_BROKEN = 7
"""Greatest length of a line of a broken name: that of ``Overall`` and ``AccANLS``."""

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|\S")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is laid out.

    Attributes:
        metrics: The metrics shown.
        separate: Whether condition and number of questions have columns of their own.
        broken: Whether names of parts are broken into several lines.
        intervals: Whether an interval stands under each figure.
    """

    metrics: tuple[str, ...]
    separate: bool
    broken: bool
    intervals: bool


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading and a cell a row, each of one line or more."""

    heading: str
    cells: tuple[str, ...]
    right: bool = True

    @property
    def width(self) -> int:
        """Columns of the terminal that its longest line takes."""
        return max(
            cell_len(line) for text in (self.heading, *self.cells) for line in text.split("\n")
        )


def chosen_layout(
    table: ResultTable, width: int, metrics: Sequence[str] | None, intervals: bool
) -> Layout:
    """The most detailed layout that fits into a width.

    Args:
        table: The table.
        width: Columns of the terminal.
        metrics: The metrics to show; None leaves it to the width.
        intervals: Whether an interval stands under each figure.

    Returns:
        The layout; the least detailed one where none fits.
    """
    sets = [tuple(metrics)] if metrics else [METRICS, (HEADLINE,)]
    layouts = [
        Layout(shown, separate, broken, intervals)
        for shown, separate, broken in product(sets, (True, False), (False, True))
    ]
    return next((found for found in layouts if fits(table, found, width)), layouts[-1])


def fits(table: ResultTable, layout: Layout, width: int) -> bool:
    """Whether a layout leaves room for the runs' names."""
    names, *others = _columns(table, layout)
    left = width - 1 - sum(column.width + _GAP for column in others)
    return left >= min(names.width, NAME_ROOM)


def laid_out(table: ResultTable, layout: Layout) -> Table:
    """The table for a terminal.

    Args:
        table: The result table.
        layout: As from `chosen_layout`.

    Returns:
        A table of rich.
    """
    title = HEADINGS[layout.metrics[0]] if len(layout.metrics) == 1 else None
    shown = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    names, *others = _columns(table, layout)
    shown.add_column(Text(names.heading), overflow="fold")
    for column in others:
        heading = Text(column.heading)
        shown.add_column(heading, justify="right" if column.right else "left", no_wrap=True)
    for cells in zip(*(column.cells for column in (names, *others)), strict=True):
        shown.add_row(*(Text(text) for text in cells))
    return shown


def _columns(table: ResultTable, layout: Layout) -> Iterator[_Column]:
    rows = table.rows
    if layout.separate:
        yield _Column("Run", tuple(plain(row.label) for row in rows), right=False)
        yield _Column("Prompt", tuple(plain(row.condition) for row in rows), right=False)
        sizes = (row.counts.get(OVERALL) for row in rows)
        yield _Column("n", tuple(NO_FIGURE if n is None else str(n) for n in sizes))
    else:
        names = (plain(f"{row.label} [{row.condition}]") for row in rows)
        yield _Column("Run", tuple(names), right=False)
    for part in table.parts:
        for metric in layout.metrics:
            cells = tuple(_cell(row, part, metric, layout.intervals) for row in rows)
            yield _Column(_heading(part, metric, layout), cells)


def _heading(part: str, metric: str, layout: Layout) -> str:
    name = plain(part_heading(part))
    name = "\n".join(_broken(name)) if layout.broken else name
    if len(layout.metrics) == 1:
        return name
    # The part's name stands once, over the first of its metrics.
    return f"{name}\n{HEADINGS[metric]}" if metric == layout.metrics[0] else HEADINGS[metric]


def _broken(name: str) -> list[str]:
    """``DTNutrCap`` as ``DTNutr`` and ``Cap``: as few lines of at most `_BROKEN` as words allow."""
    lines = [""]
    for word in _WORDS.findall(name):
        if lines[-1] and len(lines[-1]) + len(word) > _BROKEN:
            lines.append("")
        lines[-1] += word
    return lines


def _cell(row: Row, part: str, metric: str, intervals: bool) -> str:
    cell = row.cells.get((part, metric))
    under = f"\n{_ends(cell[1])}" if intervals and cell and cell[1] else ""
    return f"{figure(row, part, metric)}{under}"


def _ends(interval: Interval) -> str:
    return f"{interval.low:.1f}-{interval.high:.1f}"
