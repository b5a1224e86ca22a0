"""Tables in a terminal of any width: no name and no digit is lost.

The layouts of the result table (runs below each other, parts side by side) are tried from the most
to the least detailed one: three metrics, then AccANLS alone; condition and number of questions in
columns of their own, then behind the name; names of parts in one line, then broken. Where none
fits, and where another table does not fit, each row is a block of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
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

LEAST_ROOM = 12
"""Room for a name, or text in another table, below which each row is a block of lines."""

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


def fits(table: ResultTable, layout: Layout, width: int, room: int = NAME_ROOM) -> bool:
    """Whether a layout leaves room for the runs' names."""
    names, *others = _columns(table, layout)
    left = width - 1 - sum(column.width + _GAP for column in others)
    return left >= min(names.width, room)


def print_rows(console: Console, table: ResultTable, layout: Layout) -> None:
    """Print the result table.

    Args:
        console: Where to print.
        table: The result table.
        layout: As from `chosen_layout`. Where it does not fit, each run is a block of lines.
    """
    title = HEADINGS[layout.metrics[0]] if len(layout.metrics) == 1 else ""
    if not fits(table, layout, console.width, LEAST_ROOM):
        layout = replace(layout, separate=False, broken=False)
        _print_blocks(console, list(_columns(table, layout)), title)
        return
    names, *others = _columns(table, layout)
    shown = _table(title)
    shown.add_column(Text(names.heading), overflow="fold")
    _add(shown, others)
    _fill(console, shown, [names, *others])


def print_grid(
    console: Console,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: int,
    title: str = "",
) -> None:
    """Print cells below their headings; where they do not fit, each row as a block of lines.

    Args:
        console: Where to print.
        header: The headings.
        rows: A cell a heading.
        left: How many columns, from the first on, hold text that may be broken into lines.
        title: Stands above.
    """
    cells = list(zip(*([plain(text) for text in row] for row in rows), strict=True))
    columns = [
        _Column(plain(name), tuple(texts), right=place >= left)
        for place, (name, texts) in enumerate(zip(header, cells or [()] * len(header), strict=True))
    ]
    broken = [replace(column, heading=column.heading.replace(" ", "\n")) for column in columns]
    for tried in (columns, [*columns[:left], *broken[left:]], broken):
        room = console.width - 1 - _GAP * (len(tried) - 1)
        room -= sum(column.width for column in tried[left:])
        if room >= sum(min(column.width, LEAST_ROOM) for column in tried[:left]):
            break
    else:
        _print_blocks(console, columns, plain(title))
        return
    shown = _table(plain(title))
    for column in tried[:left]:
        shown.add_column(Text(column.heading), overflow="fold")
    _add(shown, tried[left:])
    _fill(console, shown, tried)


def _table(title: str) -> Table:
    return Table(
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )


def _add(shown: Table, columns: Iterable[_Column]) -> None:
    """Add columns whose lines are never broken."""
    for column in columns:
        side: JustifyMethod = "right" if column.right else "left"
        shown.add_column(Text(column.heading), justify=side, no_wrap=True)


def _fill(console: Console, shown: Table, columns: Sequence[_Column]) -> None:
    for cells in zip(*(column.cells for column in columns), strict=True):
        shown.add_row(*(Text(text) for text in cells))
    console.print(shown)


def _print_blocks(console: Console, columns: Sequence[_Column], title: str) -> None:
    """A block a row: its name, then a line for each further heading. Long lines run over."""
    if title:
        console.print(Text(title, style="bold"), soft_wrap=True)
    names, *others = columns
    headings = [column.heading.replace("\n", " ") for column in others]
    wide = max((cell_len(heading) for heading in headings), default=0)
    for place, name in enumerate(names.cells):
        console.print(Text(name or NO_FIGURE), soft_wrap=True)
        for heading, column in zip(headings, others, strict=True):
            said = column.cells[place].replace("\n", " ")
            pad = " " * (wide - cell_len(heading))
            console.print(Text(f"  {heading}{pad}  {said}".rstrip()), soft_wrap=True)
    console.print()


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
