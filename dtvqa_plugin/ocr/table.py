"""Answers out of a table: every cell is scored by its row, its column's head and its kind."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Literal

from dtvqa_plugin.ocr.words import alike, content, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.layout import Grid
    from dtvqa_plugin.ocr.question import Asked, Question

Kind = Literal["number", "date", "text", "mixed"]

_TARGET_WEIGHTS = (1.0, 0.8, 0.6)
_OTHER_WORD = 0.3

_HEADS_ASKED: dict[Asked, tuple[str, ...]] = {
    "who": ("player", "candidate", "winner"),
    "when": ("date", "year"),
    "where": ("location", "venue"),
    "count": (),
    "length": ("time", "duration", "length", "age"),
    "other": (),
}
_KINDS_ASKED: dict[Asked, tuple[Kind, ...]] = {
    "who": ("text",),
    "when": ("date",),
    "where": ("text",),
    "count": ("number",),
    "length": ("number", "mixed"),
    "other": (),
}


def pick_cell(grid: Grid, question: Question) -> str:
    """The cell that the question most likely asks for."""
    columns = list(zip(*grid.rows, strict=True))
    kinds = [column_kind(column) for column in columns]
    column_scores = score_columns(grid.head, kinds, question)
    evidence = row_evidence(grid, question)
    extreme = extreme_rows(grid, kinds, question)
    best, answer = -math.inf, ""
    for r, row in enumerate(grid.rows):
        total = sum(evidence[r]) + extreme[r]
        for c, cell in enumerate(row):
            if not cell:
                continue
            score = (
                total
                - evidence[r][c]
                + 3.0 * column_scores[c]
                - 2.0 * share_in_question(cell, question)
            )
            if score > best:
                best, answer = score, cell
    return answer


def column_kind(cells: Sequence[str]) -> Kind:
    kinds = Counter(cell_kind(cell) for cell in cells if cell)
    if not kinds:
        return "mixed"
    kind, count = kinds.most_common(1)[0]
    return kind if count > len([c for c in cells if c]) / 2 else "mixed"


_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\d"
    r"|\d.*\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|^(?:1[5-9]|20)\d\d(?:\s*[-–/]\s*\d{2,4})?$|\d{4}[-/.]\d\d?[-/.]\d\d?"
)
_NUMBER = re.compile(r"^[^\w]*\d[\d.,: +/%-]*\s?[a-z%]{0,4}[^\w]*$", re.IGNORECASE)


def cell_kind(cell: str) -> Kind:
    if _DATE.search(cell.lower()):
        return "date"
    if _NUMBER.match(cell):
        return "number"
    return "mixed" if any(char.isdigit() for char in cell) else "text"


def score_columns(
    head: Sequence[str], kinds: Sequence[Kind], question: Question
) -> list[float]:
    """How well each column's head and kind fit what is asked, about 0-1.5."""
    scores = []
    for name, kind in zip(head, kinds, strict=True):
        score = head_fit(name, question)
        if kind in _KINDS_ASKED[question.asked]:
            score += 0.3
        scores.append(score)
    return scores


def head_fit(name: str, question: Question) -> float:
    """How well a head's words match the words of the target (strongly) and of the rest."""
    words = content(name) or tokens(name)
    if not words:
        return 0.0
    asked = dict.fromkeys(question.words, _OTHER_WORD)
    asked.update(dict.fromkeys(_HEADS_ASKED[question.asked], 0.7))
    asked.update(zip(question.target, _TARGET_WEIGHTS, strict=False))
    fits = [max((w * alike(word, q) for q, w in asked.items()), default=0.0) for word in words]
    return max(fits) * 0.7 + 0.3 * sum(fits) / len(fits)


def row_evidence(grid: Grid, question: Question) -> list[list[float]]:
    """Per cell, how much the question's words point at it; rarer words weigh more."""
    asked = Counter(question.words)
    cells = [[content(cell) for cell in row] for row in grid.rows]
    rows_with: Counter[str] = Counter()
    for row in cells:
        rows_with.update({word for cell in row for word in cell if word in asked})
    weight = {
        word: math.log(1 + len(cells) / count) * (0.5 if word.isdigit() and len(word) < 3 else 1)
        for word, count in rows_with.items()
    }
    evidence = []
    for row in cells:
        line = []
        for c, cell in enumerate(row):
            hits = {word for word in cell if word in asked}
            value = sum(weight[word] for word in hits)
            if hits:
                value *= 0.5 + 0.5 * len(hits) / len(set(cell))
                if named_by_head(grid.head[c], cell, question):
                    value += 2.0
            line.append(value)
        evidence.append(line)
    return evidence


def named_by_head(head: str, cell: Sequence[str], question: Question) -> bool:
    """Whether the question says the head's word next to the cell's value: "week 1", "3 place"."""
    names = content(head) or tokens(head)
    if len(cell) != 1:
        return False
    words = question.words
    for i, word in enumerate(words):
        if word == cell[0]:
            near = words[max(0, i - 1) : i] + words[i + 1 : i + 2]
            if any(alike(name, other) for name in names for other in near):
                return True
    return False


def extreme_rows(grid: Grid, kinds: Sequence[Kind], question: Question) -> list[float]:
    """2 for the row that holds the largest or smallest value asked for, 0 for the others."""
    bonus = [0.0] * len(grid.rows)
    if not question.extreme:
        return bonus
    fits = [
        max((alike(word, q) for word in content(name) for q in question.measure), default=0.0)
        if kinds[c] in ("number", "date")
        else 0.0
        for c, name in enumerate(grid.head)
    ]
    if not any(fits):
        return bonus
    column = max(range(len(fits)), key=fits.__getitem__)
    values = [number(row[column]) for row in grid.rows]
    known = [value for value in values if value is not None]
    if not known:
        return bonus
    wanted = max(known) if question.extreme > 0 else min(known)
    bonus[values.index(wanted)] = 3.0
    return bonus


def number(cell: str) -> float | None:
    """The first number in a cell; None where there is none. "1,234" is 1234."""
    found = re.search(r"[-−]?\d[\d,]*(?:\.\d+)?", cell)
    return float(found[0].replace(",", "").replace("−", "-")) if found else None


def share_in_question(cell: str, question: Question) -> float:
    """The share of a cell's words that the question itself says, 0-1."""
    words = content(cell)
    if not words:
        return 0.0
    return sum(word in question.words for word in words) / len(words)
