"""Answers out of a table: every cell is scored by its row, its column's head and its kind."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from rapidfuzz import fuzz, process

from dtvqa_plugin.ocr.answering.words import alike, content, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.answering.question import Asked, Question
    from dtvqa_plugin.ocr.layout import Grid

Kind = Literal["number", "date", "text", "mixed"]

# Weights. They lie on a broad plateau: half or double of any one moves the score by about a point.
_TARGET_WEIGHTS = (1.0, 0.8, 0.6)
_OTHER_WORD = 0.4
_MEASURE_WORD = 0.1
_ASKED_HEAD = 0.6
_HEAD = 8.0
_HEAD_NAMED = 0.6
_SAID_IN_QUESTION = 1.0
_EXTREME = 3.0
_BESIDE_EXTREME = 1.5
_NAMED_BY_HEAD = 2.0
_RIGHT_KIND = 0.2
_WRONG_KIND = 0.5
_FIRST_TEXT = 0.15

_HEADS_ASKED: dict[Asked, tuple[str, ...]] = {
    "who": ("player", "candidate", "winner"),
    "when": ("date", "year"),
    "where": ("location", "venue"),
    "length": ("time", "duration", "length", "age"),
    "which": ("name", "title"),
}
_KINDS_ASKED: dict[Asked, tuple[Kind, ...]] = {
    "who": ("text",),
    "which": ("text", "mixed"),
    "when": ("date",),
    "where": ("text", "mixed"),
    "count": ("number",),
    "length": ("number", "mixed"),
}
_SUMMARY = frozenset(("total", "totals", "sum", "average", "overall"))
_WON = re.compile(r"\b(?:won|wins?|winner|winning|beat|defeated|more|higher|victorious)\b", re.I)
_LOST = re.compile(r"\b(?:lost|loser?|losing|fewer|lower)\b", re.I)
_RESULT = re.compile(r"^\D{0,2}(\d+)\s*[-–:]\s*(\d+)(?!\s*[-–]?\s*\d)")
_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.*\d"
    r"|\d.*\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|^(?:1[5-9]|20)\d\d(?:\s*[-–/]\s*\d{2,4})?$|\d{4}\s*[-/.]\s*\d\d?\s*[-/.]\s*\d\d?"
)
_BRACKETED = re.compile(r"(?<=\w)\s*\([^()]*\)\s*$")
_NUMBER = re.compile(r"^[^\w]*\d[\d.,: +/%()-]*\s?[a-z%]{0,4}[^\w]*$", re.IGNORECASE)


def pick_cell(grid: Grid, question: Question) -> tuple[str, bool]:
    """The cell that the question most likely asks for, and whether it names its row or column.

    The cell is "" where no cell holds anything.
    """
    grid = without_summary(grid)
    winner = winner_of_pair(grid, question)
    if winner:
        return winner, True
    columns = list(zip(*grid.rows, strict=True))
    kinds = [column_kind(column) for column in columns]
    column_scores = score_columns(grid.head, kinds, question)
    evidence = row_evidence(grid, question)
    extreme = extreme_cells(grid, kinds, question)
    best, answer, named = -math.inf, "", False
    for r, row in enumerate(grid.rows):
        total = sum(evidence[r])
        for c, cell in enumerate(row):
            if not any(map(str.isalnum, cell)):
                continue
            row_score = total - evidence[r][c] + extreme[r][c]
            score = (
                row_score
                + _HEAD * column_scores[c]
                - _SAID_IN_QUESTION * share_in_question(cell, question)
            )
            if score > best:
                best, answer = score, cell
                named = row_score > 0 or column_scores[c] > _HEAD_NAMED
    return answer, named


def winner_of_pair(grid: Grid, question: Question) -> str:
    """The side that won (or lost, where that is asked) when the question names both of a row.

    The row must hold either one result ("3 - 4") or a figure right of each side; "" otherwise.
    """
    losing = bool(_LOST.search(question.text))
    if not (losing or _WON.search(question.text)):
        return ""
    for row in grid.rows:
        named = [c for c, cell in enumerate(row) if share_in_question(cell, question) > 0.5]
        sides = [c for c in named if cell_kind(row[c]) == "text"]
        if len(sides) != 2:
            continue
        first, second = sides
        results = [_RESULT.match(cell) for cell in row[first + 1 :]]
        result = next((found for found in results if found), None)
        ours, theirs = number(row[first + 1]), number((*row, "")[second + 1])
        if result:
            ours, theirs = float(result[1]), float(result[2])
        if ours is not None and theirs is not None and ours != theirs:
            return row[first if (ours > theirs) != losing else second]
    return ""


def without_summary(grid: Grid) -> Grid:
    """The grid without rows that sum up the others or repeat the head."""
    rows = tuple(
        row
        for row in grid.rows
        if row != grid.head and next((cell for cell in row if cell), "").lower() not in _SUMMARY
    )
    return replace(grid, rows=rows) if rows else grid


def column_kind(cells: Sequence[str]) -> Kind:
    """The kind that more than half of the filled cells have, otherwise "mixed"."""
    kinds = Counter(cell_kind(cell) for cell in cells if any(map(str.isalnum, cell)))
    if not kinds:
        return "mixed"
    kind, count = kinds.most_common(1)[0]
    return kind if count > kinds.total() / 2 else "mixed"


def cell_kind(cell: str) -> Kind:
    """What a cell holds; a figure in brackets after a name ("smith (12)") does not count."""
    cell = _BRACKETED.sub("", cell) or cell
    if _DATE.search(cell.lower()):
        return "date"
    if _NUMBER.match(cell):
        return "number"
    return "mixed" if any(char.isdigit() for char in cell) else "text"


def score_columns(head: Sequence[str], kinds: Sequence[Kind], question: Question) -> list[float]:
    """How well each column's head and kind fit what is asked, about -0.5 to 1.5."""
    wanted = _KINDS_ASKED.get(question.asked, ())
    common = Counter(word for name in head for word in set(content(name)))
    scores = []
    for name, kind in zip(head, kinds, strict=True):
        score = head_fit(name, question, common)
        if kind in wanted:
            score += _RIGHT_KIND
        elif wanted and score < _HEAD_NAMED:
            score -= _WRONG_KIND
        scores.append(score)
    if question.asked in ("who", "which", "other") and "text" in kinds:
        scores[kinds.index("text")] += _FIRST_TEXT
    return scores


def head_fit(name: str, question: Question, common: Counter[str]) -> float:
    """How well a head's words match the target's words (strongly) and the question's others.

    `common` counts the heads that hold each word: a word of many heads is not distinctive.
    """
    words = content(name) or tokens(name)
    if not (words and question.words):
        return 0.0
    asked = {
        word: _MEASURE_WORD if word in question.measure else _OTHER_WORD for word in question.words
    }
    asked.update(dict.fromkeys(_HEADS_ASKED.get(question.asked, ()), _ASKED_HEAD))
    asked.update(zip(question.target, _TARGET_WEIGHTS, strict=False))
    return max(
        w * alike(word, q) / math.sqrt(max(1, common[word]))
        for word in words
        for q, w in asked.items()
    )


def row_evidence(grid: Grid, question: Question) -> list[list[float]]:
    """Per cell, how much the question's words point at it.

    Rarer words weigh more, and so do cells that the question says whole.
    """
    cells = [[content(cell) for cell in row] for row in grid.rows]
    vocabulary = sorted({word for row in cells for cell in row for word in cell})
    asked = set(said_words(question.words, vocabulary))
    rows_with: Counter[str] = Counter()
    for row in cells:
        rows_with.update({word for cell in row for word in cell if word in asked})
    weight = {word: math.log(1 + len(cells) / count) for word, count in rows_with.items()}

    def pointed_at(name: str, cell: Sequence[str]) -> float:
        words = list(dict.fromkeys(cell))
        hits = [weight[word] for word in words if word in asked]
        if not hits:
            return 0.0
        named = _NAMED_BY_HEAD if named_by_head(name, cell, question) else 0.0
        return sum(hits) * len(hits) / len(words) + named

    return [[pointed_at(n, cell) for n, cell in zip(grid.head, row, strict=True)] for row in cells]


def said_words(words: Sequence[str], vocabulary: Sequence[str]) -> list[str]:
    """The table's words that the question says, allowing for a misread letter in a long one."""
    said = []
    for word in words:
        if word in vocabulary:
            said.append(word)
        elif len(word) > 4 and not word[0].isdigit():
            near = process.extractOne(word, vocabulary, scorer=fuzz.ratio, score_cutoff=80)
            if near:
                said.append(near[0])
    return said


def named_by_head(head: str, cell: Sequence[str], question: Question) -> bool:
    """Whether the question says the head's word next to the cell's value: "week 1", "3 place"."""
    names = content(head) or tokens(head)
    value = [word for word in cell if word != "t"]  # "t3" is a tied third place
    if len(value) != 1:
        return False
    words = question.words
    for i, word in enumerate(words):
        if word == value[0]:
            near = words[max(0, i - 1) : i] + words[i + 1 : i + 2]
            if any(alike(name, other) for name in names for other in near):
                return True
    return False


def extreme_cells(grid: Grid, kinds: Sequence[Kind], question: Question) -> list[list[float]]:
    """A bonus for the row that holds the largest or smallest value asked for, 0 elsewhere.

    Columns that fit alike ("home score", "away score") are searched together, and what stands
    just left of the value ("home team", "away team") gets a little more.
    """
    bonus = [[0.0] * len(grid.head) for _ in grid.rows]
    if not question.extreme:
        return bonus
    fits = [
        measure_fit(name, question.measure) if kinds[c] != "text" else 0.0
        for c, name in enumerate(grid.head)
    ]
    if not any(fits):
        return bonus
    values = {
        (r, c): value
        for r, row in enumerate(grid.rows)
        for c, cell in enumerate(row)
        if fits[c] == max(fits) and (value := number(cell)) is not None
    }
    if not values:
        return bonus
    ordered = sorted(set(values.values()), reverse=question.extreme > 0)
    wanted = ordered[min(question.place, len(ordered)) - 1]
    r, c = next(place for place, value in values.items() if value == wanted)
    bonus[r] = [_EXTREME] * len(grid.head)
    if c > 0:
        bonus[r][c - 1] += _BESIDE_EXTREME
    return bonus


def measure_fit(name: str, measure: Sequence[str]) -> float:
    """How well a head names what is to be largest, 0-2: each word counts, extra words cost."""
    words = content(name)
    worth = [(q, 1.0 / (1 + 0.3 * i)) for i, q in enumerate(measure)]
    fits = [max((v * alike(word, q) for q, v in worth), default=0.0) for word in words]
    return sum(fits) / (1 + 0.1 * len(words)) if any(fits) else 0.0


def number(cell: str) -> float | None:
    """The number in a cell, the one in brackets where there is one; None where there is none.

    "1,234" is 1234; "17.12 (114)" is 114.
    """
    found = re.search(r"\((\d+)\)", cell) or re.search(r"([-−]?\d[\d,]*(?:\.\d+)?)", cell)
    return float(found[1].replace(",", "").replace("−", "-")) if found else None


def share_in_question(cell: str, question: Question) -> float:
    """The share of a cell's words that the question itself says, 0-1."""
    words = content(cell)
    if not words:
        return 0.0
    return sum(word in question.words for word in words) / len(words)
