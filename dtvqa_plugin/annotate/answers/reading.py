"""One model's answer: its pairs with their places, what is unread, whether it is a refusal.

Rules, in order: reasoning is a remark; JSON; tables; labels; lists. A stretch that fits no rule
whole is unread. A pair with markup, a label, a key or an entity left at its ends is unread too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dtvqa_plugin.annotate.answers.blocks import Found, Reader
from dtvqa_plugin.annotate.answers.json_pairs import json_regions
from dtvqa_plugin.annotate.answers.labels import DEFAULT, INITIALS, Labels
from dtvqa_plugin.annotate.answers.lines import items_of, lines_of, view_of
from dtvqa_plugin.annotate.answers.tables import find_table, table_rows
from dtvqa_plugin.annotate.answers.values import Span, clean, sound

_THINK = re.compile(
    r"<(think(?:ing)?|analysis|reasoning)>.*?</\1>|\A(?:(?!<think).)*?</think>", re.S | re.I
)
_ATTRIBUTES = re.compile(r"<\w+(?:\s+[\w-]+\s*=\s*\"[^\"<>]*\"){2,6}\s*/?>(?:\s*</\w+>)?")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*\"([^\"<>]*)\"")
_ASIDE = re.compile(
    r"\s*[(\[](?:explanation|reason(?:ing)?|location|evidence|source|note|位置|解释|理由)\s*[:：][^()]*[)\]]\Z",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:i(?:'|’)?m|i am|we(?:'|’)re)\s+(?:really\s+|very\s+)?(?:sorry|unable|not able)|"
    r"\bsorry\b|"
    r"\b(?:i|we)\s+(?:can(?:'|’)?t|cannot|can not|"
    r"won(?:'|’)t|could(?:n(?:'|’)t| not)|am not able)\b|"
    r"\bunable to (?:assist|help|process|see|view|read|"
    r"generate|provide)|\bas an ai\b|\bapologi[sz]e|"
    r"\bthe image (?:is|appears) (?:too |completely )?(?:blank|blurry|unreadable|empty|dark)|"
    r"\bno (?:visible |readable |legible )?text (?:is |was )?(?:in|visible|present|found)|"
    r"抱歉|对不起|對不起|无法|無法|不能(?:识别|查看|提供|协助)|很遗憾|"
    r"申し訳|できません|죄송|할 수 없|"
    r"lo siento|no puedo|tut mir leid|kann (?:ich )?(?:dabei |das )?nicht|désolé|"
    r"ne peux pas|mi dispiace|"
    r"non posso|desculpe|não posso|извините|не могу|عذر|آسف|لا أستطيع|لا يمكنني",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its answers (mostly one), each with its place in the source.

    ``number`` is the model's own, if it gave one. A value is its stretch of the source without
    markup; an answer in several items has several stretches.
    """

    question: str
    answers: tuple[str, ...]
    number: int | None
    question_span: Span
    answer_spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one answer holds. ``remarks`` are openings, notes, options, reasoning."""

    text: str
    pairs: tuple[Pair, ...]
    unread_spans: tuple[Span, ...]
    remarks: tuple[Span, ...]
    refusal: bool = False

    @property
    def unread(self) -> tuple[str, ...]:
        """The passages that could not be read, unchanged."""
        return tuple(self.text[start:end] for start, end in self.unread_spans)


def read_answer(text: str, labels: Labels = DEFAULT) -> Reading:
    """Read a model's answer. Never raises; takes any text.

    Args:
        text: The answer as it came.
        labels: Words that mark questions, answers and notes.

    Returns:
        The pairs in the order of the text, and what was not read.
    """
    found = _Draft(text, labels)
    reading = found.reading()
    if reading.pairs or not text.strip():
        return reading
    for question, answer in INITIALS:
        other = Labels((question,), (answer,), labels.notes)
        if all(
            re.search(rf"^[^\w\n]{{0,20}}{side}\s?\d{{0,3}}\s?[:：]", text, re.MULTILINE)
            for side in (question, answer)
        ):
            again = _Draft(text, other).reading()
            if again.pairs and not again.unread_spans:
                return again
    return reading


class _Draft:
    """A text while it is read: stretches that are taken are blanked out of ``view``."""

    def __init__(self, text: str, labels: Labels) -> None:
        self.text, self.labels = text, labels
        self.pairs: list[Pair] = []
        self.unread: list[Span] = []
        self.remarks: list[Span] = []
        self.view = text
        for match in _THINK.finditer(text):
            self._take(match.span())
            self.remarks.append(match.span())
        self._json()
        self._attributes()
        self.view = view_of(self.view, labels)
        self._lines()

    def reading(self) -> Reading:
        pairs = tuple(
            sorted(self.pairs, key=lambda pair: min(pair.question_span, *pair.answer_spans))
        )
        refused = not pairs and len(self.text) < 1500 and _REFUSAL.search(self.text) is not None
        unread = () if refused else tuple(_joined(self.text, self.unread))
        return Reading(self.text, pairs, unread, tuple(sorted(self.remarks)), refused)

    def _take(self, span: Span) -> None:
        blank = re.sub(r"[^\n]", " ", self.view[slice(*span)])
        self.view = self.view[: span[0]] + blank + self.view[span[1] :]

    def _add(
        self,
        question: Span,
        answers: Iterable[Span],
        number: int | None = None,
        *,
        bars: bool = False,
    ) -> bool:
        """Add a pair from stretches of text, if it is sound."""
        spans = tuple(answers)
        values = [_ASIDE.sub("", clean(self.text[slice(*span)])) for span in spans]
        asked = clean(self.text[slice(*question)])
        return self._put(Pair(asked, (", ".join(values),), number, question, spans), bars=bars)

    def _put(self, pair: Pair, *, bars: bool = True) -> bool:
        if not sound(pair.question, pair.answers, self.labels, bars=bars):
            return False
        self.pairs.append(pair)
        return True

    def _json(self) -> None:
        for region in json_regions(self.view, self.labels):
            if not region.pairs and not re.search(
                r"[\"'“]\s*:|[\"'“]\s*,\s*[\"'“]", self.text[slice(*region.span)]
            ):
                continue
            self._take(region.span)
            for question, answers, asked, said in region.pairs:
                values = tuple(dict.fromkeys(clean(answer) for answer in answers))
                if not self._put(Pair(clean(question), values, None, asked, tuple(said))):
                    self.unread += [asked, *said]
            self.unread += region.rest
            self.remarks.append(region.span)

    def _attributes(self) -> None:
        for match in _ATTRIBUTES.finditer(self.view):
            sides: dict[str, list[Span]] = {"q": [], "a": []}
            for part in _ATTRIBUTE.finditer(self.view, *match.span()):
                side = self.labels.side(part[1])
                if side:
                    sides[side[0]].append(part.span(2))
            if len(sides["q"]) == len(sides["a"]) == 1:
                if not self._add(sides["q"][0], sides["a"]):
                    self.unread.append(match.span())
                self.remarks.append(match.span())
                self._take(match.span())

    def _lines(self) -> None:
        lines = lines_of(self.view)
        place = 0
        plain: list[Span] = []
        while place < len(lines):
            table = find_table(self.view, lines[place : place + 1], self.labels)
            if table is None:
                plain.append(lines[place])
                place += 1
                continue
            self._prose(plain)
            plain = []
            self.remarks.append(lines[place])
            place += 1
            for row in table_rows(self.view, lines[place:], table):
                if isinstance(row[0], int) and isinstance(row[1], int):
                    self.unread += [(row[0], row[1])] if row[0] < row[1] else []
                elif isinstance(row[0], tuple) and isinstance(row[1], tuple):
                    if not self._label_like(row[0]) and self._add(row[0], [row[1]], bars=True):
                        self.remarks.append(lines[place])
                    else:
                        self.unread.append(lines[place])
                place += 1
        self._prose(plain)

    def _label_like(self, span: Span) -> bool:
        """Whether a cell is a heading, or begins with a word and a colon."""
        cell = self.text[slice(*span)]
        return self.labels.side(cell) is not None or re.match(r"\w{1,20}:\s", cell) is not None

    def _prose(self, lines: list[Span]) -> None:
        found: Found = Reader(self.view, items_of(self.view, lines, self.labels)).read()
        for question, answers, number in found.pairs:
            if not self._add(question, answers, number):
                self.unread += [question, *answers]
        self.unread += found.unread
        self.remarks += found.remarks


def _joined(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in order, those with only blanks between them as one, blank ends left out."""
    current: Span | None = None
    for start, end in sorted(spans):
        if not text[start:end].strip():
            continue
        if current is not None and not text[current[1] : start].strip():
            current = (current[0], max(current[1], end))
            continue
        if current is not None:
            yield _bare(text, current)
        current = (start, end)
    if current is not None:
        yield _bare(text, current)


def _bare(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
