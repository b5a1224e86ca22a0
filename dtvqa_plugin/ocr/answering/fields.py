"""Answers out of labels, packs and signs: a label and its value, or the nearest line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dtvqa_plugin.ocr.answering.lexicon import CHINESE_LABELS, VALUE_FORMS
from dtvqa_plugin.ocr.answering.words import alike, content
from dtvqa_plugin.ocr.layout import group_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dtvqa_plugin.ocr.answering.question import Question
    from dtvqa_plugin.ocr.boxes import TextBox
    from dtvqa_plugin.ocr.layout import Line

_TARGET_WORD = 1.0
_OTHER_WORD = 0.5
_ENOUGH = 0.35
_PER_WORD = 0.3
_LONG = 40
_LEVEL = 0.25

_PROMINENT = re.compile(
    r"\b(?:name|title|brand|headline|slogan|logo|product|called|text|sign|say)\b", re.IGNORECASE
)
_PER = re.compile(
    r"\b(?:per|in (?:a|each|one|the)|each|one)\s+((?:[\w/.]+\s?){1,2})", re.IGNORECASE
)
_LABELLED = re.compile(r"^(?P<label>[^:：]{2,40}?)\s*(?:(?<!\d):|:(?!\d)|：)\s*(?P<value>\S.*)$")
_THEN_NUMBER = re.compile(r"^(?P<label>[^\d<~≤£$€¥]{2,}?)\s*(?P<value>[<~≤£$€¥(]?\s?\d.*)$")
_NUMBER_FIRST = re.compile(
    r"^(?P<value>(?:about |approx\.? )?\d[\d.,/ ]*)\s*(?P<label>[^\W\d].*)$", re.IGNORECASE
)
# Words that say in what a value is counted, not what it is the value of.
_COUNTED_IN = frozenset(("%", "percentage", "percent", "daily", "ri", "adult", "gram", "milligram"))
_UNITS = frozenset(("g", "mg", "mcg", "kg", "ml", "l", "oz", "kcal", "kj", "cal", "dv", "%"))


@dataclass(frozen=True, slots=True)
class Pair:
    """A label and what may be its value.

    `box` is where the value stands; `cost`, 0-1, says how loosely the layout ties it to the label.
    """

    label: str
    value: str
    box: TextBox
    cost: float = 0.0


def value_by_label(boxes: Sequence[TextBox], question: Question) -> str:
    """The value whose label is what the question asks for; "" where no label fits well enough.

    Where the thing asked for has a form (a date, a percentage), the value must have it, if any
    text of the image has.
    """
    lines = group_lines(boxes)
    forms = value_forms(question)
    form = forms[0] if first_of_form(lines, forms) else None
    answer, score = best_pair(lines, boxes, question, form)
    return trim(answer, forms) if score >= _ENOUGH else ""


def value_without_label(boxes: Sequence[TextBox], question: Question) -> str:
    """A text of the form asked for, else the most prominent text, else the nearest to the question.

    "" where there are no boxes.
    """
    if not boxes:
        return ""
    lines = group_lines(boxes)
    by_form = first_of_form(lines, value_forms(question))
    if by_form:
        return by_form
    if _PROMINENT.search(question.text):
        names = [box for box in boxes if not any(map(str.isdigit, box.text))]
        return max(names or boxes, key=lambda box: (box.height, -box.top)).text.strip()
    return nearest_text(lines, question)


def value_forms(question: Question) -> list[re.Pattern[str]]:
    """The forms that the thing asked for may have, most telling first."""
    return [form for asked, form in VALUE_FORMS if asked.search(question.text)]


def best_pair(
    lines: Sequence[Line],
    boxes: Sequence[TextBox],
    question: Question,
    form: re.Pattern[str] | None,
) -> tuple[str, float]:
    """The value (of `form`, where given) of the best pair, with its score, about 0-1.3."""
    chinese = chinese_labels(question.text)
    worth = word_worth(question)
    best, answer = 0.0, ""
    for pair in pairs(lines, boxes, chinese):
        if form and not form.search(pair.value):
            continue
        fit = 1.0 if in_chinese(pair.label, chinese) else label_fit(pair.label, worth)
        if fit <= 0:
            continue
        score = fit - pair.cost
        score += _PER_WORD * column_fit(pair.box, boxes, question.text)
        if score > best:
            best, answer = score, pair.value
    return answer, best


def in_chinese(label: str, names: Sequence[str]) -> bool:
    """Whether a label is one of the Chinese `names`, alone or beside its translation."""
    return any(label.strip().startswith(name) and len(label) < len(name) + 16 for name in names)


def pairs(
    lines: Sequence[Line], boxes: Sequence[TextBox], chinese: Sequence[str]
) -> Iterator[Pair]:
    """Every label with its possible values: within a box, to the right on the line, below."""
    for number, line in enumerate(lines):
        for box in line:
            yield from pairs_within(box, chinese)
            for distance, right in enumerate(
                boxes_right(box, lines[max(0, number - 1) : number + 2])
            ):
                yield Pair(box.text, right.text.strip(), right, min(0.05 + 0.1 * distance, 0.4))
            below = box_below(box, lines[number + 1 : number + 3])
            if below is not None:
                yield Pair(box.text, below.text.strip(), below, 0.25)


def pairs_within(box: TextBox, chinese: Sequence[str]) -> Iterator[Pair]:
    """Label and value read as one text: "Salt: 1g", "Salt 1g", "8 servings per pack"."""
    text = box.text.strip()
    for name in chinese:
        before, found, after = text.partition(name)
        value = after.lstrip(" :：/").strip()
        if found and value and len(before) < 12:
            yield Pair(name, value, box)
    for pattern in (_LABELLED, _THEN_NUMBER, _NUMBER_FIRST):
        found_pair = pattern.match(text)
        if found_pair:
            yield Pair(found_pair["label"], found_pair["value"].strip(), box)


def boxes_right(box: TextBox, lines: Sequence[Line]) -> list[TextBox]:
    """The boxes to the right that stand at least partly level with `box`, nearest first."""

    def level(other: TextBox) -> bool:
        overlap = min(box.bottom, other.bottom) - max(box.top, other.top)
        return overlap > _LEVEL * min(box.height, other.height)

    right = (other for line in lines for other in line if other.left >= box.centre_x)
    return sorted((other for other in right if level(other)), key=lambda other: other.left)


def box_below(box: TextBox, lines: Sequence[Line]) -> TextBox | None:
    """The first box in the next lines that stands under `box`, not far down."""
    for line in lines:
        for other in line:
            across = min(box.right, other.right) - max(box.left, other.left)
            if across > 0.3 * min(box.width, other.width):
                return other if other.top - box.bottom < 1.5 * box.height else None
    return None


def word_worth(question: Question) -> dict[str, float]:
    """How much each of the question's words tells about the label wanted."""
    worth = dict.fromkeys(question.words, _OTHER_WORD)
    worth.update(dict.fromkeys(question.target, _TARGET_WORD))
    telling = {word: value for word, value in worth.items() if word not in _COUNTED_IN}
    return telling or worth


def label_fit(label: str, worth: dict[str, float]) -> float:
    """How well a label names what is asked, 0-1: the balance of words found and words extra."""
    words = [word for word in content(label) if not word[0].isdigit() and word not in _UNITS]
    if not words:
        return 0.0
    matched = [max(((alike(w, q), q) for q in worth), default=(0.0, "")) for w in words]
    found = {q: strength for strength, q in matched if strength}
    if not found:
        return 0.0
    precision = sum(strength for strength, _ in matched) / len(words)
    recall = sum(worth[q] * strength for q, strength in found.items()) / sum(worth.values())
    return 2 * precision * recall / (precision + recall)


def column_fit(box: TextBox, boxes: Sequence[TextBox], question: str) -> float:
    """The share of the question's "per ..." words that occur in a text above `box`, 0-1."""
    said = {word for found in _PER.finditer(question) for word in content(found[1])}
    if not said:
        return 0.0
    best = 0
    for other in boxes:
        across = min(box.right, other.right) - max(box.left, other.left)
        if other.bottom <= box.top and across > 0.3 * min(box.width, other.width):
            best = max(best, len(said & set(content(other.text))))
    return best / len(said)


def chinese_labels(question: str) -> tuple[str, ...]:
    """The names a Chinese pack prints for what an English question asks, longest first."""
    names = (
        name
        for asked, labels in CHINESE_LABELS
        if re.search(asked, question, re.IGNORECASE)
        for name in labels
    )
    return tuple(sorted(dict.fromkeys(names), key=len, reverse=True))


def first_of_form(lines: Sequence[Line], forms: Sequence[re.Pattern[str]]) -> str:
    """The first text in reading order that has the most telling form, cut to it; else ""."""
    texts = (box.text for line in lines for box in line)
    found = next(filter(None, (form.search(t) for form in forms[:1] for t in texts)), None)
    return found[0].strip() if found else ""


def trim(value: str, forms: Sequence[re.Pattern[str]]) -> str:
    """A long value cut to the part that has the form asked for."""
    found = forms[0].search(value) if forms and len(value) > _LONG else None
    return found[0].strip() if found else value


def nearest_text(lines: Sequence[Line], question: Question) -> str:
    """The text next to the one that shares most with the question.

    That is the text itself where it says more than the question, else the next in reading order.
    """
    said = set(question.words)
    boxes = [box for line in lines for box in line]
    words = [set(content(box.text)) for box in boxes]
    nearest = max(range(len(boxes)), key=lambda i: len(words[i] & said))
    if not words[nearest] - said and nearest + 1 < len(boxes):
        nearest += 1
    return boxes[nearest].text.strip()
