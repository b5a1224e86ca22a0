"""Result tables as LaTeX (booktabs). Every name is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from dtvqa_plugin.analysis.tables import ResultTable, Row
from dtvqa_plugin.metrics.names import HEADINGS, METRICS
from dtvqa_plugin.report.rendering import figure, part_heading
from dtvqa_plugin.utils.text import plain

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "–": "--",
}


def escape_latex(text: str) -> str:
    """Make text inert in LaTeX."""
    return "".join(_LATEX.get(char, char) for char in plain(text))


def to_latex(tables: Sequence[ResultTable]) -> str:
    """booktabs tables; intervals are in a second line under each row, notes as comments."""
    return "\n".join(_latex(table) for table in tables)


def _latex(table: ResultTable) -> str:
    width = len(METRICS)
    groups = " & ".join(
        rf"\multicolumn{{{width}}}{{c}}{{{escape_latex(part_heading(part))}}}"
        for part in table.parts
    )
    rules = " ".join(
        rf"\cmidrule(lr){{{3 + width * place}-{2 + width * (place + 1)}}}"
        for place in range(len(table.parts))
    )
    names = " & ".join(HEADINGS[metric] for _ in table.parts for metric in METRICS)
    lines = [
        *(_comment(line) for line in (table.title, *table.notes(), *table.signatures())),
        r"% \usepackage{booktabs}",
        rf"\begin{{tabular}}{{ll{'r' * (width * len(table.parts))}}}",
        r"\toprule",
        rf" & & {groups} \\",
        rules,
        rf"Model & Prompt & {names} \\",
        r"\midrule",
        *(line for row in table.rows for line in _latex_lines(row, table.parts)),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    return f"% {plain(text)}"


def _latex_lines(row: Row, parts: Sequence[str]) -> list[str]:
    columns = [(part, metric) for part in parts for metric in METRICS]
    name = " & ".join(escape_latex(text) for text in (row.label, row.condition))
    figures = " & ".join(escape_latex(figure(row, part, metric)) for part, metric in columns)
    lines = [rf"{name} & {figures} \\"]
    spans = [row.cells.get(column, (0.0, None))[1] for column in columns]
    if any(span is not None for span in spans):
        shown = " & ".join(
            "" if span is None else rf"{{\tiny {span.low:.1f}--{span.high:.1f}}}" for span in spans
        )
        lines.append(rf" & & {shown} \\")
    return lines
