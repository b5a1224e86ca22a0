"""A diagnosis as tables of text, for the terminal and Markdown, and as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.failures.curves import Curve
from dtvqa_plugin.analysis.failures.diagnosis import Diagnosis, RunDiagnosis
from dtvqa_plugin.analysis.failures.difficulty import Difficulty
from dtvqa_plugin.analysis.failures.outcomes import OUTCOMES
from dtvqa_plugin.report.layout import print_grid
from dtvqa_plugin.report.rendering import (
    NO_FIGURE,
    bounds,
    escape_markdown,
    markdown_table,
    part_heading,
    signed,
)
from dtvqa_plugin.utils.text import counted, plain

WIDTH = 100
"""Columns that the terminal's text fits into."""

_SIDE_BY_SIDE = 3
"""Maximum number of runs in one table of curves."""

_LISTED = 10
_EXPLAINED = ("hedged", "form", "near", "computed", "other", "invented")
_TEXT = 40


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: its heading, column names, rows, and how many columns are text."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


def letters(number: int) -> str:
    """``A``, ``B``, ... ``Z``, ``A1``, ...: a run's name in the tables."""
    return chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")


def legend(diagnosis: Diagnosis) -> list[str]:
    """Which letter is which run."""
    return [
        f"{letters(number)}: {run.name} [{run.condition}], "
        f"{counted(sum(run.counts['overall'].values()), 'question')}"
        for number, run in enumerate(diagnosis.runs)
    ]


def grids(diagnosis: Diagnosis) -> Iterator[Grid]:
    """All tables, in order: outcomes by part, curves by feature, difficulty."""
    parts = list(dict.fromkeys(part for run in diagnosis.runs for part in run.counts))
    shown = parts if len(parts) > 2 else parts[:1]
    for start in range(0, len(diagnosis.runs), 8):
        chosen = diagnosis.runs[start : start + 8]
        for part in shown:
            yield _outcome_grid(part, chosen, start)
    tables = -(-len(diagnosis.runs) // _SIDE_BY_SIDE)
    together = -(-len(diagnosis.runs) // tables)
    for number in range(len(diagnosis.runs[0].curves)):
        for start in range(0, len(diagnosis.runs), together):
            chosen = diagnosis.runs[start : start + together]
            yield _curve_grid([run.curves[number] for run in chosen], start)
    if diagnosis.difficulty is not None:
        yield _difficulty_grid(diagnosis.difficulty)


def _outcome_grid(part: str, runs: Sequence[RunDiagnosis], first: int) -> Grid:
    names = [name for name in OUTCOMES if any(run.counts.get(part, {}).get(name) for run in runs)]
    rows = tuple(
        (name, *(_share(run.counts.get(part, {}), name) for run in runs)) for name in names
    )
    header = ("Outcome", *(letters(first + place) for place in range(len(runs))))
    return Grid(f"Outcomes: {part_heading(part)}", header, rows)


def _share(counts: dict[str, int] | Any, name: str) -> str:
    total = sum(counts.values())
    return f"{counts[name]} {counts[name] / total:4.0%}" if total else NO_FIGURE


def _curve_grid(curves: Sequence[Curve], first: int) -> Grid:
    labels = list(dict.fromkeys(item.label for curve in curves for item in curve.bins))
    rows: list[tuple[str, ...]] = []
    for label in labels:
        found = [next((b for b in curve.bins if b.label == label), None) for curve in curves]
        there = [item for item in found if item is not None]
        rows.append(
            (
                label + (" (thin)" if any(item.thin for item in there) else ""),
                str(max(item.questions for item in there)),
                str(max(item.images for item in there)),
                *(NO_FIGURE if item is None else _score(item.score) for item in found),
            )
        )
    if any(curve.trend is not None for curve in curves):
        trends = (NO_FIGURE if c.trend is None else signed(c.trend) for c in curves)
        rows.append(("per doubling", "", "", *trends))
    unknown = max(curve.unknown for curve in curves)
    if unknown:
        rows.append(("not known", str(unknown), "", *("" for _ in curves)))
    header = (
        "Bin", "n", "Images", *(f"{letters(first + place)} AccANLS" for place in range(len(curves)))
    )  # fmt: skip
    return Grid(f"By {curves[0].title}", header, tuple(rows))


def _score(interval: Interval | None) -> str:
    return NO_FIGURE if interval is None else f"{interval.value:.1f} {bounds(interval)}"


def _difficulty_grid(found: Difficulty) -> Grid:
    total = sum(found.histogram)
    rows = tuple(
        (f"{number} of {found.runs}", str(count), f"{count / total:.0%}")
        for number, count in enumerate(found.histogram)
    )
    return Grid("Solved by how many runs", ("Solved by", "Questions", "Share"), rows)


# --- lists ------------------------------------------------------------------------------------


def lists(diagnosis: Diagnosis, examples: int) -> list[tuple[str, list[str]]]:
    """Lists with headings: examples of outcomes, unsolved and separating questions, references."""
    found = [
        (f"Examples of {letters(number)}", _examples(run, examples))
        for number, run in enumerate(diagnosis.runs)
    ]
    if diagnosis.difficulty is not None:
        found += _difficulty_lists(diagnosis.difficulty)
    return [(title, lines) for title, lines in found if lines]


def _examples(run: RunDiagnosis, examples: int) -> list[str]:
    lines = []
    for name in _EXPLAINED:
        pairs = [
            (item, text)
            for item, text in zip(run.outcomes, run.texts, strict=True)
            if item.name == name
        ]
        lines += [
            f"{name}: {item.question_id}: {_cut(text)!r} for {_cut(item.answer or '')!r}"
            + (f"; {item.evidence}" if item.evidence else "")
            for item, text in pairs[:examples]
        ]
    return lines


def _difficulty_lists(found: Difficulty) -> list[tuple[str, list[str]]]:
    pairs = [
        f"{pair.a} alone {len(pair.a_only)}, {pair.b} alone {len(pair.b_only)}"
        for pair in found.separating
    ]
    suspected = [
        f"{item.question_id}: {'; '.join(item.reasons)} (references: "
        f"{', '.join(repr(_cut(answer)) for answer in item.answers[:3])})"
        for item in found.suspicions
    ]
    return [
        ("Solved by no run", _first(list(found.unsolved))),
        ("Solved by one run of two", pairs),
        ("References to check, for a person to judge", _first(suspected)),
    ]


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - _LISTED
    return lines[:_LISTED] + [f"and {more} more (JSON lists all)"] * (more > 0)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT else line[: _TEXT - 1] + "…"


# --- output -----------------------------------------------------------------------------------


def print_diagnosis(console: Console, diagnosis: Diagnosis, examples: int) -> None:
    """Everything in the terminal, in at most 100 columns."""
    console.width = min(console.width, WIDTH)
    for line in (*legend(diagnosis), ""):
        console.print(plain(line))
    lacking = diagnosis.lacking_text()
    if lacking:
        console.print(plain(lacking))
        console.print()
    for grid in grids(diagnosis):
        print_grid(console, grid.header, grid.rows, grid.left, grid.title)
    for title, lines in lists(diagnosis, examples):
        console.print(f"{title}:")
        for line in lines:
            console.print(plain(f"  {line}"))
        console.print()
    for note in diagnosis.notes():
        if note != lacking:
            console.print(plain(note))
    for run in diagnosis.runs:
        console.print(plain(run.signature), style="dim", soft_wrap=True)


def to_markdown(diagnosis: Diagnosis, examples: int) -> str:
    """Everything as Markdown."""
    text = f"### Diagnosis, {diagnosis.split}\n\n"
    text += "".join(f"- {escape_markdown(line)}\n" for line in legend(diagnosis))
    for grid in grids(diagnosis):
        rows = [[escape_markdown(cell) for cell in row] for row in grid.rows]
        table = markdown_table(grid.header, rows, grid.left)
        text += f"\n#### {escape_markdown(grid.title)}\n\n{table}"
    meanings = [[name, meaning] for name, meaning in OUTCOMES.items()]
    text += "\n#### Outcomes\n\n" + markdown_table(("Outcome", "Meaning"), meanings, 2)
    for title, lines in lists(diagnosis, examples):
        text += f"\n#### {escape_markdown(title)}\n\n"
        text += "".join(f"- {escape_markdown(line)}\n" for line in lines)
    text += "\n" + "".join(f"- {escape_markdown(note)}\n" for note in diagnosis.notes())
    return text + "".join(f"- `{run.signature.replace('`', '')}`\n" for run in diagnosis.runs)


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """Everything as JSON values; scores 0-100, boxes in pixels of the upright image."""
    document = asdict(diagnosis)
    for name in ("question_ids", "binnings", "sizes"):
        document.pop(name)
    for run, values in zip(diagnosis.runs, document["runs"], strict=True):
        values.pop("texts")
        for item, text in zip(values["outcomes"], run.texts, strict=True):
            item["output"] = text
    return {**document, "meanings": dict(OUTCOMES), "notes": diagnosis.notes()}
