"""The same tables in a terminal, through rich. Names are shown as they are, never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
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
    warned_lists,
)
from dtvqa_plugin.report.layout import chosen_layout, fits, print_grid, print_rows
from dtvqa_plugin.report.rendering import (
    DIFFERENCE_HEADER,
    LEAKAGE_HEADER,
    NO_FIGURE,
    POWER_HEADER,
    comparison_notes,
    difference_cells,
    figure,
    leakage_cells,
    part_heading,
    power_cells,
    power_notes,
    with_bounds,
)
from dtvqa_plugin.utils.text import counted, plain

_RULE_ENDS = 4
_WARNED_SHOWN = 3
"""Runs whose warning audits are shown unasked, and warnings of each kind among the notes."""


def print_tables(
    console: Console,
    tables: Sequence[ResultTable],
    audits: bool | None = None,
    *,
    intervals: bool | None = None,
    metrics: Sequence[str] | None = None,
) -> None:
    """Result tables with notes, signatures and audits.

    Args:
        console: Where to print, of any width.
        tables: The tables.
        audits: Whether to show the audits of each run; None: what warns, of the first few runs.
        intervals: Whether to show intervals; None: in the table of a single run.
        metrics: The metrics to show; None: as many as fit.
    """
    for table in tables:
        _print_title(console, plain(table.title))
        hint = _print_rows(console, table, intervals, metrics)
        shown = (len(table.rows) == 1 and intervals is not False) or bool(intervals)
        notes = table.notes(intervals=shown, warned=None if audits else _WARNED_SHOWN)
        for note in notes + hint:
            console.print(_plain(note))
        for line in table.signatures():
            console.print(Text(line, style="dim"), soft_wrap=True)
        if audits is None:
            _print_warned(console, table)
        elif audits:
            for row, found in zip(table.run_rows, table.audits, strict=True):
                print_audit(console, _audit_title(row), found)


def _print_title(console: Console, title: str) -> None:
    """A line with the title in it; the title alone where the line has no room for it."""
    if cell_len(title) + _RULE_ENDS <= console.width:
        console.rule(Text(title), style="dim")
    else:
        console.print(Text(title))


def _print_rows(
    console: Console, table: ResultTable, intervals: bool | None, metrics: Sequence[str] | None
) -> list[str]:
    """Print the figures; what is not shown for want of room is returned as a note."""
    if len(table.rows) == 1:
        shown = metrics or METRICS
        _print_one_row(console, table.rows[0], table.parts, shown, intervals is not False)
        return []
    layout = chosen_layout(table, console.width, metrics, bool(intervals))
    every = [layout.metrics]
    if metrics and len(metrics) > 1 and not fits(table, layout, console.width):
        every = [(metric,) for metric in metrics]
    for chosen in every:
        one = chosen_layout(table, console.width, chosen, bool(intervals))
        print_rows(console, table, one)
    lacking = [] if metrics or len(layout.metrics) > 1 else ["--metric all adds ANLS and Acc"]
    lacking += [] if intervals else ["--intervals adds the intervals"]
    return [f"{'; '.join(lacking)}."] if lacking else []


def _print_one_row(
    console: Console, row: Row, parts: Sequence[str], metrics: Sequence[str], intervals: bool
) -> None:
    title = f"{row.label} [{row.condition}]" + (" (published)" if row.source else "")
    cell = with_bounds if intervals else figure
    cells = [
        [
            part_heading(part),
            str(row.counts.get(part, NO_FIGURE)),
            *(cell(row, part, metric) for metric in metrics),
        ]
        for part in parts
        if any((part, metric) in row.cells for metric in metrics)
    ]
    print_grid(console, ["Part", "n", *(HEADINGS[metric] for metric in metrics)], cells, 1, title)


def _audit_title(row: Row) -> str:
    return f"Audits: {row.name} [{row.condition}]"


def _print_warned(console: Console, table: ResultTable) -> None:
    """What warns in the audits, of the first few runs in which something does."""
    warned = [
        (row, found)
        for row, found in zip(table.run_rows, table.audits, strict=True)
        if found.verbosity.warn or found.warnings()
    ]
    for row, found in warned[:_WARNED_SHOWN]:
        lists = warned_lists(found)
        if found.verbosity.warn:
            cells = verbosity_cells(found)
            print_grid(console, VERBOSITY_HEADER, cells, 1, _audit_title(row))
        elif lists:
            console.print(_plain(_audit_title(row)), style="bold")
        _print_lists(console, lists)
    more = len(warned) - _WARNED_SHOWN
    rest = f"the audits of {counted(more, 'more run')} warn, " if more > 0 else ""
    rest = rest if warned else "none warns, "
    console.print(_plain(f"Audits: {rest}--audits shows all of them."))


def print_audit(console: Console, title: str, found: Audit) -> None:
    """The verbosity table and the counts of one run."""
    print_grid(console, VERBOSITY_HEADER, verbosity_cells(found), 1, title)
    print_grid(console, FINDING_HEADER, finding_cells(found), 3)
    _print_lists(console, hit_lists(found))


def _print_lists(console: Console, lists: Iterable[tuple[str, list[str]]]) -> None:
    for heading, lines in lists:
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
        print_grid(console, DIFFERENCE_HEADER, cells, 1, HEADINGS[metric])
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
    print_grid(console, LEAKAGE_HEADER, leakage_cells(parts), 1, title)


def print_power(console: Console, rows: Sequence[Detectable], title: str) -> None:
    """Smallest differences that can be shown."""
    print_grid(console, POWER_HEADER, power_cells(rows), 2, title)
    for note in power_notes(rows):
        console.print(_plain(note))


def _plain(text: str) -> Text:
    """One line without control characters: no output or name drives the terminal."""
    return Text(plain(text))
