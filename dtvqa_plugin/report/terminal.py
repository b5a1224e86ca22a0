"""The same tables in a terminal, through rich. Names are shown as they are, never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtvqa_plugin.analysis.audits import Audit, LeakagePart
from dtvqa_plugin.analysis.comparison import Comparison
from dtvqa_plugin.analysis.power import Detectable
from dtvqa_plugin.analysis.tables import ResultTable, Row
from dtvqa_plugin.metrics.names import HEADINGS, METRICS
from dtvqa_plugin.report.audit_cells import (
    FINDING_HEADER,
    VERBOSITY_HEADER,
    finding_cells,
    hit_lists,
    verbosity_cells,
)
from dtvqa_plugin.report.rendering import (
    DIFFERENCE_HEADER,
    LEAKAGE_HEADER,
    NO_FIGURE,
    POWER_HEADER,
    bounds,
    comparison_notes,
    difference_cells,
    figure,
    leakage_cells,
    part_heading,
    power_cells,
    with_bounds,
)
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.utils.text import plain

_FIGURE_WIDTH = 14
_NAME_WIDTH = 34


def print_tables(console: Console, tables: Sequence[ResultTable], audits: bool = True) -> None:
    """The paper's layout where the terminal is wide enough, else one small table a run."""
    for table in tables:
        console.rule(_plain(table.title), style="dim")
        wide = _NAME_WIDTH + _FIGURE_WIDTH * len(table.parts) * len(METRICS)
        if console.width >= wide:
            console.print(_paper_layout(table))
        else:
            for row in table.rows:
                console.print(_one_row(row, table.parts))
        for note in table.notes():
            console.print(_plain(note))
        for line in table.signatures():
            console.print(Text(line, style="dim"), soft_wrap=True)
        if audits:
            for row, found in zip(table.run_rows, table.audits, strict=True):
                print_audit(console, f"Audits: {row.name} [{row.condition}]", found)


def _paper_layout(table: ResultTable) -> Table:
    shown = _grid(["Run", "Prompt", "n"], 2)
    for part in table.parts:
        for metric in METRICS:
            shown.add_column(_lines(f"{part_heading(part)}\n{HEADINGS[metric]}"), justify="right")
    for row in table.rows:
        cells = [_stacked(row, part, metric) for part in table.parts for metric in METRICS]
        size = str(row.counts.get(OVERALL, NO_FIGURE))
        names = (_plain(text) for text in (row.label, row.condition, size))
        shown.add_row(*names, *(_lines(text) for text in cells))
    return shown


def _stacked(row: Row, part: str, metric: str) -> str:
    cell = row.cells.get((part, metric))
    return f"{figure(row, part, metric)}\n{bounds(cell[1]) if cell else ''}".rstrip()


def _one_row(row: Row, parts: Sequence[str]) -> Table:
    title = f"{row.label} [{row.condition}]" + (" (published)" if row.source else "")
    shown = _grid(["Part", "n", *(HEADINGS[metric] for metric in METRICS)], 1, title)
    for part in parts:
        if not any((part, metric) in row.cells for metric in METRICS):
            continue
        cells = [with_bounds(row, part, metric) for metric in METRICS]
        size = str(row.counts.get(part, NO_FIGURE))
        shown.add_row(*(_plain(text) for text in (part_heading(part), size, *cells)))
    return shown


def print_audit(console: Console, title: str, found: Audit) -> None:
    """The verbosity table and the counts of one run."""
    console.print(_table(VERBOSITY_HEADER, verbosity_cells(found), 1, title))
    console.print(_table(FINDING_HEADER, finding_cells(found), 3))
    for heading, lines in hit_lists(found):
        console.print(_plain(f"{heading}:"))
        for line in lines:
            console.print(_plain(f"  {line}"))


def print_comparison(
    console: Console, comparison: Comparison, metrics: Sequence[str], flips: int = 0
) -> None:
    """Differences by part, notes, both signatures, and the first ``flips`` flipped questions."""
    a, b = comparison.a, comparison.b
    console.print(_plain(f"A: {a.name} [{a.condition}]"))
    console.print(_plain(f"B: {b.name} [{b.condition}]"))
    for metric in metrics:
        cells = difference_cells(comparison.rows(metric))
        console.print(_table(DIFFERENCE_HEADER, cells, 1, HEADINGS[metric]))
    for note in comparison_notes(comparison, metrics):
        console.print(_plain(note))
    for metric in metrics:
        found = comparison.flips[metric]
        for flip in found[:flips]:
            side = "A" if flip.gained else "B"
            console.print(_plain(f"  {flip.question_id}: {side} ({flip.a:.2f}, {flip.b:.2f})"))
        if 0 < flips < len(found):
            console.print(_plain(f"  and {len(found) - flips} more (--format json lists all)"))
    for run in (a, b):
        console.print(Text(str(run.signature()), style="dim"), soft_wrap=True)


def print_leakage(console: Console, title: str, parts: Iterable[LeakagePart]) -> None:
    """What a run over blank images scores, and the run itself where that scored nothing."""
    console.print(_table(LEAKAGE_HEADER, leakage_cells(parts), 1, title))


def print_power(console: Console, rows: Iterable[Detectable], title: str) -> None:
    """Smallest differences that can be shown."""
    console.print(_table(POWER_HEADER, power_cells(rows), 2, title))


def print_table(
    console: Console,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: int,
    title: str = "",
) -> None:
    """One table of plain cells; the first ``left`` columns are text."""
    console.print(_table(header, rows, left, title))


def _table(
    header: Sequence[str], rows: Iterable[Sequence[str]], left: int, title: str = ""
) -> Table:
    shown = _grid(header, left, title)
    for row in rows:
        shown.add_row(*(_plain(text) for text in row))
    return shown


def _grid(header: Sequence[str], left: int, title: str = "") -> Table:
    shown = Table(
        title=_plain(title) if title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for place, name in enumerate(header):
        shown.add_column(_plain(name), justify="left" if place < left else "right")
    return shown


def _plain(text: str) -> Text:
    """One line without control characters: no output or name drives the terminal."""
    return Text(plain(text))


def _lines(text: str) -> Text:
    return Text("\n".join(plain(line) for line in text.split("\n")))
