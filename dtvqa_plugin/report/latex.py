"""Result tables as LaTeX (booktabs). Every name is escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from dtvqa_plugin.analysis.tables import PARTIAL_MARK, VERBOSE_MARK, ResultTable, Row
from dtvqa_plugin.metrics.names import HEADINGS, METRICS
from dtvqa_plugin.report.rendering import NO_FIGURE, figure, part_heading
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


MARKS = (PARTIAL_MARK, VERBOSE_MARK)


def escape_latex(text: str) -> str:
    """Make text inert in LaTeX."""
    return "".join(_LATEX.get(char, char) for char in plain(text))


def to_latex(tables: Sequence[ResultTable]) -> str:
    """booktabs tables; intervals are in a second line under each row.

    What explains the figures and marks is printed under the table; remarks and signatures are
    comments. A comment states the packages, and the engine where names need one.
    """
    return "\n".join(_latex(table) for table in tables)


def _latex(table: ResultTable) -> str:
    width = len(METRICS)
    columns = 2 + width * len(table.parts)
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
        *_needs(table),
        rf"\begin{{tabular}}{{ll{'r' * (width * len(table.parts))}}}",
        r"\toprule",
        rf" & & {groups} \\",
        rules,
        rf"Model & Prompt & {names} \\",
        r"\midrule",
        *(line for row in table.rows for line in _latex_lines(row, table.parts)),
        r"\bottomrule",
        *(_printed_note(text, columns) for text in _printed_notes(table)),
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _needs(table: ResultTable) -> list[str]:
    """Comments on the packages and the engine that the table's text needs."""
    lines = [r"% \usepackage{booktabs}"]
    text = "".join((*(f"{row.label}{row.condition}" for row in table.rows), *table.parts))
    if any(_is_cjk(char) for char in text):
        lines += [
            "% Chinese, Japanese or Korean names: compile with xelatex or lualatex, with",
            r"% \usepackage{xeCJK} % xelatex; with lualatex \usepackage{luatexja-fontspec}",
        ]
    elif any(ord(char) > 0xFF and char not in _LATEX for char in text):
        lines += [
            "% Names outside Latin-1: compile with xelatex or lualatex, with a font that has them:",
            r"% \usepackage{fontspec}",
        ]
    return lines


def _is_cjk(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _printed_notes(table: ResultTable) -> list[str]:
    """What the printed table must say: how the figures were made, and each mark in it."""
    notes = table.notes()
    printed = [notes[0], *(note for note in notes if note.startswith(MARKS))]
    if any((part, metric) not in row.cells for row in table.rows for part, metric in _cells(table)):
        printed.append(
            f"{NO_FIGURE} no figure: the run lacks questions of this part, or the source "
            "states none."
        )
    return printed


def _cells(table: ResultTable) -> list[tuple[str, str]]:
    return [(part, metric) for part in table.parts for metric in METRICS]


def _printed_note(text: str, columns: int) -> str:
    """A line under the table, as wide as the text; it widens no column."""
    inside = rf"\parbox[t]{{\linewidth}}{{\footnotesize {escape_latex(text)}}}"
    return rf"\multicolumn{{{columns}}}{{l}}{{\makebox[0pt][l]{{{inside}}}}} \\"


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
