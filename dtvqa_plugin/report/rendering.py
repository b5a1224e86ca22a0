"""Tables as Markdown, CSV and JSON. Every name is escaped for its format."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import stdev
from typing import Any

from dtvqa_plugin.analysis.audits import LeakagePart
from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.comparison import Comparison, PartDifference
from dtvqa_plugin.analysis.power import Detectable
from dtvqa_plugin.analysis.tables import FEW_IMAGES, ResultTable, Row
from dtvqa_plugin.metrics.names import HEADINGS, METRICS
from dtvqa_plugin.report.audit_cells import (
    FINDING_HEADER,
    VERBOSITY_HEADER,
    finding_cells,
    hit_lists,
    verbosity_cells,
)
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.text import counted, plain

NO_FIGURE = "–"


def figure(row: Row, part: str, metric: str) -> str:
    """A cell's figure with one decimal, as the paper prints it; a dash where there is none."""
    cell = row.cells.get((part, metric))
    return NO_FIGURE if cell is None else f"{cell[0]:.1f}"


def bounds(interval: Interval | None) -> str:
    """``[73.5, 78.4]``, "" where there is no interval."""
    return "" if interval is None else f"[{interval.low:.1f}, {interval.high:.1f}]"


def with_bounds(row: Row, part: str, metric: str) -> str:
    """A cell's figure and its interval on one line."""
    cell = row.cells.get((part, metric))
    return NO_FIGURE if cell is None else f"{cell[0]:.1f} {bounds(cell[1])}".rstrip()


def part_heading(part: str) -> str:
    """``Overall`` or the subset's name."""
    return "Overall" if part == OVERALL else part


# --- Markdown ---------------------------------------------------------------------------------


def escape_markdown(text: str) -> str:
    """Make text inert inside a Markdown table cell."""
    text = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#!$~])", r"\\\1", text)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table of cells that are escaped already; the first ``left`` columns ragged."""
    rule = [":--" if place < left else "--:" for place in range(len(header))]
    lines = [header, rule, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def to_markdown(tables: Sequence[ResultTable], audits: bool = True) -> str:
    """Result tables with notes, audits and signatures."""
    return "\n".join(_markdown(table, audits) for table in tables)


def _markdown(table: ResultTable, audits: bool) -> str:
    columns = [(part, metric) for part in table.parts for metric in METRICS]
    header = ["Run", "Prompt", "n", *(f"{part_heading(p)} {HEADINGS[m]}" for p, m in columns)]
    rows = [
        [
            escape_markdown(row.label),
            escape_markdown(row.condition),
            str(row.counts.get(OVERALL, NO_FIGURE)),
            *(with_bounds(row, part, metric) for part, metric in columns),
        ]
        for row in table.rows
    ]
    text = f"### {escape_markdown(table.title)}\n\n{markdown_table(header, rows, left=2)}\n"
    text += "".join(f"- {escape_markdown(note)}\n" for note in table.notes())
    text += "".join(f"- `{line.replace('`', '')}`\n" for line in table.signatures())
    if audits:
        for row, found in zip(table.run_rows, table.audits, strict=True):
            text += (
                f"\n#### Audits: {escape_markdown(row.name)} [{escape_markdown(row.condition)}]\n"
            )
            text += "\n" + markdown_table(VERBOSITY_HEADER, verbosity_cells(found)) + "\n"
            cells = [
                [name, count, escape_markdown(why)] for name, count, why in finding_cells(found)
            ]
            text += markdown_table(FINDING_HEADER, cells)
            for title, lines in hit_lists(found):
                text += f"\n{title}:\n\n" + "".join(f"- {escape_markdown(x)}\n" for x in lines)
    return text


# --- comparisons as cells ---------------------------------------------------------------------

DIFFERENCE_HEADER = ("Part", "n", "Images", "A", "B", "A - B", "p", "p (Holm)")


def difference_cells(rows: Iterable[PartDifference]) -> list[list[str]]:
    """Rows of a comparison, scores times 100."""
    return [
        [
            part_heading(row.part),
            str(row.n),
            str(row.images),
            f"{row.a * 100:.1f}",
            f"{row.b * 100:.1f}",
            signed(row.difference.scaled(100.0)),
            p_text(row.p_value),
            "" if row.p_holm is None else p_text(row.p_holm),
        ]
        for row in rows
    ]


def signed(interval: Interval) -> str:
    """``+1.2 [-0.3, +2.7]``."""
    return f"{interval.value:+.1f} [{interval.low:+.1f}, {interval.high:+.1f}]"


def p_text(value: float) -> str:
    """A p-value with as many digits as 10,000 permutations carry."""
    if value < 0.0001:
        return "<0.0001"
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def comparison_markdown(comparison: Comparison, metrics: Sequence[str]) -> str:
    """A comparison with its counts of flips and both signatures."""
    a, b = comparison.a, comparison.b
    title = f"A: {a.name} [{a.condition}], B: {b.name} [{b.condition}]"
    text = f"### {escape_markdown(title)}\n"
    for metric in metrics:
        cells = difference_cells(comparison.rows(metric))
        text += f"\n{HEADINGS[metric]}\n\n" + markdown_table(DIFFERENCE_HEADER, cells)
    text += "".join(
        f"\n- {escape_markdown(note)}" for note in comparison_notes(comparison, metrics)
    )
    for run in (comparison.a, comparison.b):
        text += f"\n- `{run.signature()}`"
    return text + "\n"


def comparison_notes(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """How the figures were made, and how many questions flipped."""
    level = f"{comparison.level:.0%}"
    notes = [
        f"Figures times 100; {level} interval from {comparison.resamples:,} paired bootstrap "
        f"resamples of images, two-sided mid-p from {comparison.resamples:,} sign flips of images "
        f"(seed {comparison.seed}); Holm over the subsets."
    ]
    few = [row for row in comparison.rows(metrics[0]) if row.images < FEW_IMAGES]
    if few:
        parts = ", ".join(row.part for row in few)
        notes.append(f"Fewer than {FEW_IMAGES} images in {parts}: intervals there are rough.")
    left_out = len(comparison.only_a) + len(comparison.only_b)
    if left_out:
        notes.append(
            f"Common questions only: {len(comparison.only_a)} of A and {len(comparison.only_b)} "
            "of B left out."
        )
    for metric in metrics:
        overall = comparison.rows(metric)[0].difference.scaled(100.0)
        notes.append(
            f"{HEADINGS[metric]}: the difference lies within "
            f"{_up(max(abs(overall.low), abs(overall.high)))} points at {level}."
        )
        flips = comparison.flips[metric]
        gained = sum(flip.gained for flip in flips)
        notes.append(
            f"{HEADINGS[metric]}: {counted(len(flips), 'question')} flipped, "
            f"{gained} credited to A only, {len(flips) - gained} to B only."
        )
    return notes + [f"Note: {remark}." for remark in comparison.remarks]


def _up(points: float) -> str:
    """One decimal, never below the figure itself."""
    return f"{math.ceil(round(points * 10, 6)) / 10:.1f}"


LEAKAGE_HEADER = ("Part", "n", "Blank AccANLS", "AccANLS", "Needs reading", "AccANLS there")


def leakage_cells(parts: Iterable[LeakagePart]) -> list[list[str]]:
    """Rows of the text-only leakage table, scores times 100."""
    return [
        [
            part_heading(part.part),
            str(part.n),
            f"{part.blank_accanls * 100:.1f}",
            f"{part.accanls * 100:.1f}",
            str(part.needs_reading),
            NO_FIGURE
            if part.accanls_needs_reading is None
            else f"{part.accanls_needs_reading * 100:.1f}",
        ]
        for part in parts
    ]


POWER_HEADER = ("Part", "Basis", "n", "Images", "Std. error", "Smallest shown")


def power_cells(rows: Iterable[Detectable]) -> list[list[str]]:
    """Rows of the power table, in points (times 100)."""
    return [
        [
            part_heading(row.part),
            row.basis,
            str(row.questions),
            str(row.images),
            NO_FIGURE if row.standard_error is None else f"{row.standard_error * 100:.2f}",
            NO_FIGURE if row.difference is None else f"{row.difference * 100:.1f}",
        ]
        for row in rows
    ]


def power_notes(rows: Iterable[Detectable]) -> list[str]:
    """What a dash in the table means, where there is one."""
    if all(row.difference is not None for row in rows):
        return []
    return [
        f"{NO_FIGURE} in Smallest shown: even the largest difference possible on these questions "
        "is found less often than the power asks."
    ]


# --- CSV and JSON -----------------------------------------------------------------------------

CSV_HEADER = (
    "run",
    "condition",
    "split",
    "part",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "failed",
    "missing",
    "partial",
    "source",
    "signature",
)


def to_csv(tables: Sequence[ResultTable]) -> str:
    """One line a figure (times 100, all digits), with its interval and signature."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for table in tables:
        for row in table.rows:
            for (part, metric), (value, interval) in row.cells.items():
                writer.writerow(
                    [
                        spreadsheet_safe(row.name),
                        spreadsheet_safe(row.condition),
                        table.split,
                        part,
                        metric,
                        value,
                        "" if interval is None else interval.low,
                        "" if interval is None else interval.high,
                        row.counts.get(part, ""),
                        row.failed if row.source is None else "",
                        row.missing if row.source is None else "",
                        "" if row.source is not None else str(row.partial).lower(),
                        spreadsheet_safe(row.source or ""),
                        row.signature or "",
                    ]
                )
    return out.getvalue()


_FORMULA_SIGNS = ("=", "+", "-", "@", "\N{FULLWIDTH EQUALS SIGN}")
_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def spreadsheet_safe(text: str) -> str:
    """Text without control characters, an apostrophe before what would run as a formula."""
    text = plain(text)
    return f"'{text}" if text.lstrip()[:1] in _FORMULA_SIGNS else text


def to_json(document: object) -> str:
    """A document as JSON text, with escapes for what a terminal or an encoder would trip over."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def tables_document(tables: Sequence[ResultTable]) -> dict[str, Any]:
    """Everything about some tables as JSON values; figures times 100, shares 0-1."""
    return {"tables": [_table_document(table) for table in tables]}


def _table_document(table: ResultTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "split": table.split,
        "bootstrap": {
            "resamples": table.resamples,
            "seed": table.seed,
            "level": table.level,
            "clustered_by": "image",
        },
        "rows": [_row_document(row) for row in table.rows],
        "audits": [
            {
                "run": row.name,
                "condition": row.condition,
                "verbosity": {
                    **asdict(found.verbosity),
                    "warning": found.verbosity.warning(),
                },
                "findings": [{**asdict(item), "count": item.count} for item in found.all_findings],
                "boundary_hits": [asdict(hit) for hit in found.boundary_hits],
                "doubtful_hits": [asdict(hit) for hit in found.doubtful_hits],
                "frequent_outputs": [asdict(item) for item in found.frequent],
            }
            for row, found in zip(table.run_rows, table.audits, strict=True)
        ],
        "remarks": {
            f"{row.name} [{row.condition}]": list(remarks)
            for row, remarks in zip(table.run_rows, table.remarks, strict=True)
        },
        "questions": {
            f"{row.name} [{row.condition}]": {name: list(ids) for name, ids in oddities.items()}
            for row, oddities in zip(table.run_rows, table.oddities, strict=True)
        },
        "notes": table.notes(),
    }


def _row_document(row: Row) -> dict[str, Any]:
    parts: dict[str, dict[str, Any]] = {}
    for (part, metric), (value, interval) in row.cells.items():
        entry = parts.setdefault(part, {"n": row.counts.get(part)})
        entry[metric] = {
            "value": value,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
        }
    return {
        "name": row.name,
        "condition": row.condition,
        "parts": parts,
        "failed": row.failed,
        "missing": row.missing,
        "partial": row.partial,
        "verbose": row.verbose,
        "repeats": _repeats_document(row),
        "source": row.source,
        "signature": row.signature,
    }


def _repeats_document(row: Row) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    for key, values in row.repeats.items():
        part, metric = key
        parts.setdefault(part, {})[metric] = {
            "values": list(values),
            "standard_deviation": stdev(values),
            "over_images": {"low": row.over_images[key].low, "high": row.over_images[key].high},
        }
    return parts


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON values, every flip with its scores; scores 0-1."""
    return {
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "level": comparison.level,
        "differences": [asdict(row) for row in comparison.differences],
        "flips": {
            metric: [asdict(flip) for flip in flips] for metric, flips in comparison.flips.items()
        },
        "remarks": list(comparison.remarks),
        "only_a": list(comparison.only_a),
        "only_b": list(comparison.only_b),
    }


def _side(run: Run) -> dict[str, str]:
    return {
        "name": run.name,
        "condition": run.condition,
        "signature": str(run.signature()),
    }
