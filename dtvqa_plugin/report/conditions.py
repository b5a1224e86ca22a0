"""A model under several conditions, for the terminal and Markdown, and as JSON values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.failures.conditions import Conditions
from dtvqa_plugin.metrics.names import HEADINGS
from dtvqa_plugin.report.diagnosis import WIDTH, Grid
from dtvqa_plugin.report.layout import print_grid
from dtvqa_plugin.report.rendering import (
    NO_FIGURE,
    bounds,
    escape_markdown,
    markdown_table,
    p_text,
    signed,
)
from dtvqa_plugin.utils.text import counted, plain

_PLOT = 72
"""Columns of the chart for its axis."""


def grids(found: Conditions) -> list[Grid]:
    """The table of scores, and AccANLS by subset where there are several."""
    header = ("Condition", "AccANLS", f"Minus {found.base}", "ANLS", "Acc")
    rows = tuple(
        (
            score.condition,
            _figure(score.scores["accanls"]),
            NO_FIGURE if score.difference is None else signed(score.difference),
            f"{score.scores['anls'].value:.1f}",
            f"{score.scores['acc'].value:.1f}",
        )
        for score in found.scores
    )
    tables = [Grid("Conditions", header, rows)]
    subsets = list(found.scores[0].by_subset)
    if len(subsets) > 1:
        by_subset = tuple(
            (score.condition, *(f"{score.by_subset[name].value:.1f}" for name in subsets))
            for score in found.scores
        )
        tables.append(Grid(f"{HEADINGS['accanls']} by subset", ("Condition", *subsets), by_subset))
    return tables


def _figure(interval: Interval) -> str:
    return f"{interval.value:.1f} {bounds(interval)}"


def chart_title(found: Conditions) -> str:
    """What the chart shows."""
    return f"{HEADINGS['accanls']} with {found.level:.0%} intervals"


def chart(found: Conditions) -> list[str]:
    """AccANLS of each condition as ``|--o--|`` over one axis: lines of ASCII, 100 columns."""
    scores = [score.scores["accanls"] for score in found.scores]
    low = max(0, math.floor((min(score.low for score in scores) - 2) / 10) * 10)
    high = max(low + 10, min(100, math.ceil((max(score.high for score in scores) + 2) / 10) * 10))
    names = [score.condition for score in found.scores]
    width = min(max(map(len, names)), WIDTH - _PLOT - 4)

    def column(value: float) -> int:
        return round((value - low) / (high - low) * (_PLOT - 1))

    step = 10 if high - low <= 60 else 20
    axis = [" "] * (_PLOT + 2)
    ruler = ["-"] * _PLOT
    for tick in range(low + -low % step, high + 1, step):
        ruler[column(tick)] = "+"
        for place, digit in enumerate(str(tick)):
            axis[column(tick) + place] = digit
    lines = []
    for name, score in zip(names, scores, strict=True):
        plot = [" "] * _PLOT
        first, last = column(score.low), column(score.high)
        plot[first : last + 1] = ["-"] * (last + 1 - first)
        plot[first] = plot[last] = "|"
        plot[column(score.value)] = "o"
        lines.append(f"{plain(name)[:width]:{width}} {''.join(plot)}".rstrip())
    blank = " " * width
    return [*lines, f"{blank} {''.join(ruler)}", f"{blank} {''.join(axis)}".rstrip()]


def heading(found: Conditions) -> str:
    """The model, the split and the number of questions."""
    questions = counted(found.questions, "question")
    return f"{found.model}, {found.split}, {questions} in {len(found.scores)} conditions"


def notes(found: Conditions) -> list[str]:
    """What a reader must know: whose conditions these are, how figures were made, what is out."""
    lines = [
        "These conditions are of this plugin, not of the paper (but none and paper).",
        f"AccANLS times 100, paired over questions, {found.level:.0%} intervals from "
        f"{found.resamples:,} bootstrap resamples of images (seed {found.seed}); each interval "
        "is of one comparison, p-values are corrected over all of them (Holm).",
    ]
    if found.left_out:
        left = counted(found.left_out, "question")
        lines.append(f"{left} left out: not every run answers them.")
    return lines


def sentences(found: Conditions) -> list[str]:
    """One sentence a finding, with its p-value."""
    return [f"{item.sentence} (p = {p_text(item.p_holm)})" for item in found.findings]


def print_conditions(console: Console, found: Conditions) -> None:
    """Everything in the terminal, in at most 100 columns."""
    console.width = min(console.width, WIDTH)
    console.print(plain(heading(found)))
    console.print()
    for grid in grids(found):
        print_grid(console, grid.header, grid.rows, grid.left, grid.title)
    _print_lines(console, chart_title(found), chart(found))
    _print_lines(console, "Findings", sentences(found))
    for line in notes(found):
        console.print(plain(line))
    for line in _signatures(found):
        console.print(plain(line), soft_wrap=True)


def _print_lines(console: Console, title: str, lines: Sequence[str]) -> None:
    console.print(f"{title}:")
    for line in lines:
        console.print(plain(f"  {line}"))
    console.print()


def _signatures(found: Conditions) -> list[str]:
    return [score.signature for score in found.scores]


def to_markdown(found: Conditions) -> str:
    """Everything as Markdown."""
    text = f"### {escape_markdown(heading(found))}\n"
    for grid in grids(found):
        rows = [[escape_markdown(cell) for cell in row] for row in grid.rows]
        table = markdown_table(grid.header, rows, grid.left)
        text += f"\n#### {escape_markdown(grid.title)}\n\n{table}"
    text += f"\n#### {chart_title(found)}\n\n```text\n" + "\n".join(chart(found)) + "\n```\n"
    text += "\n#### Findings\n\n"
    text += "".join(f"- {escape_markdown(line)}\n" for line in sentences(found))
    text += "\n" + "".join(f"- {escape_markdown(line)}\n" for line in notes(found))
    return text + "".join(f"- `{line.replace('`', '')}`\n" for line in _signatures(found))


def conditions_document(found: Conditions) -> dict[str, Any]:
    """Everything as JSON values; scores 0-100."""
    return {**asdict(found), "notes": notes(found)}
