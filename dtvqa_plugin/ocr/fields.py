"""Answers out of labels, packs and signs: a label and its value, or the nearest line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dtvqa_plugin.ocr.layout import deskew, group_lines
from dtvqa_plugin.ocr.words import alike, content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dtvqa_plugin.ocr.boxes import TextBox
    from dtvqa_plugin.ocr.layout import Line
    from dtvqa_plugin.ocr.question import Question

_TARGET_WORD = 1.0
_OTHER_WORD = 0.5
_ENOUGH = 0.35
_RIGHT_FORM = 0.25
_PER_WORD = 0.3
_LONG = 40

# What the printed value of a thing looks like, by a word that the question uses for the thing.
_FORMS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(form, re.IGNORECASE))
    for asked, form in (
        (r"\be-?mail", r"[\w.+-]+@[\w-]+\.[\w.]+"),
        (r"\bweb ?(?:site|page| address)|\burl\b|网址|网站",
         r"(?:https?:\W+|www\.)\S+|[\w-]+\.(?:com|org|net|cn|edu|gov|co)\b\S*"),
        (r"\btwitter|\bhandle\b|\binstagram", r"@\w+"),
        (r"\b(?:tele)?phone|\bcontact number|\bhotline|\bfax\b|电话|热线",
         r"[+(]?\d[\d ()\-–.]{5,}\d"),
        (r"\bprice|\bcosts?\b|价格", r"[$£€¥￥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:元|[$£€¥])"),
        (r"\bpercent|\bdaily value|\balcohol|\bthe ri\b|酒精", r"[<≥>]?\s?\d[\d.]*\s?%(?:\s?vol)?"),
        (r"\bcalorie|\bkcal", r"\d[\d.,]*\s?k?cal\w*|\d[\d.,]*"),
        (r"\benergy|\bkilojoule|能量", r"\d[\d.,]*\s?(?:kj|kcal|千焦)(?:\s?/\s?\d[\d.,]*\s?kcal)?"),
        (r"\bmilligram", r"[<≤~]?\s?\d[\d.,]*\s?(?:mg|毫克)"),
        (r"\bgrams?\b", r"[<≤~]?\s?\d[\d.,]*\s?(?:g|克)\b"),
        (r"\bweight|\bnet content|\bvolume|\bhow (?:much|heavy)\b|净含量|净重",
         r"[<≤~]?\s?\d[\d.,]*\s?(?:kg|mg|ml|g|l|fl\.? ?oz|oz|lbs?|千克|毫克|毫升|克|升)(?![a-z])"),
        (r"\bdate\b|\bwhen\b|日期",
         r"\d{4}\s?[-./年]\s?\d{1,2}\s?[-./月]\s?\d{1,2}日?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
         r"|(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
         r"\s+\d{1,4}(?:,?\s+\d{4})?|\b(?:1[5-9]|20)\d\d\b"),
        (r"\byear\b|\bwhen\b", r"\b(?:1[5-9]|20)\d\d\b"),
        (r"\bwhat time|\bhours?\b", r"\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|\d{1,2}[:.]\d\d"),
        (r"\bhow many|\bnumber\b|\bhow old|\bhow long", r"\d[\d.,]*"),
    )
)  # fmt: skip

# Chinese names that packs print for what an English question asks about.
_CHINESE_LABELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"net (?:weight|content)|\bweight\b|\bvolume\b", ("净含量", "净重", "容量", "规格")),
    (r"shelf life|best before|how long .* (?:keep|last|stored)", ("保质期", "保存期")),
    (r"expir", ("有效期", "限用日期", "保质期")),
    (r"production date|manufactur\w* date|when .* (?:produced|made)", ("生产日期",)),
    (r"ingredient", ("配料表", "配料", "成分", "原料")),
    (r"standard", ("产品标准号", "产品标准代号", "执行标准", "标准号", "标准代号")),
    (r"licen[sc]e", ("生产许可证编号", "生产许可证", "许可证编号", "许可证")),
    (r"stor(?:age|ed?)\b", ("贮存条件", "储存条件", "贮存方法", "储藏方法", "保存方法", "贮藏")),
    (r"manufacturer|produce[rd]|who makes|company",
     ("生产商", "制造商", "生产企业", "生产厂家", "生产者", "委托方", "出品商")),
    (r"distribut|import", ("进口商", "经销商", "总经销", "代理商")),
    (r"address|located", ("生产地址", "厂址", "地址")),
    (r"origin|where .* (?:made|produced|from)|country", ("原产国", "原产地", "产地")),
    (r"phone|contact|hotline", ("服务热线", "联系电话", "客服热线", "电话", "热线")),
    (r"brand", ("品牌",)),
    (r"product'?s? name|name of the (?:product|drink|medicine|food)",
     ("产品名称", "食品名称", "品名", "名称")),
    (r"alcohol", ("酒精度", "酒精含量")),
    (r"flavou?r|taste", ("口味", "味道")),
    (r"usage|directions|how .* use", ("使用方法", "用法用量", "食用方法", "用法")),
    (r"dosage", ("用法用量", "用量")),
    (r"\benerg|calorie", ("能量", "热量")),
    (r"protein", ("蛋白质",)),
    (r"saturated", ("饱和脂肪",)),
    (r"\bfat\b", ("脂肪",)),
    (r"carbohydrate", ("碳水化合物",)),
    (r"sugar", ("糖",)),
    (r"sodium", ("钠",)),
)  # fmt: skip

_PROMINENT = re.compile(
    r"\b(?:name|title|brand|headline|slogan|logo|product|called|text|sign|say)\b", re.IGNORECASE
)
_PER = re.compile(
    r"\b(?:per|in (?:a|each|one|the)|each|one)\s+((?:[\w/.]+\s?){1,2})", re.IGNORECASE
)
_LABELLED = re.compile(r"^(?P<label>[^:：]{2,40}?)\s*[:：]\s*(?P<value>\S.*)$")
_THEN_NUMBER = re.compile(r"^(?P<label>[^\d<~≤]{2,}?)\s*(?P<value>[<~≤(]?\s?\d.*)$")
_NUMBER_FIRST = re.compile(
    r"^(?P<value>(?:about |approx\.? )?\d[\d.,/ ]*)\s*(?P<label>[^\W\d].*)$", re.IGNORECASE
)
_UNITS = frozenset(("g", "mg", "mcg", "kg", "ml", "l", "oz", "kcal", "kj", "cal", "dv"))


@dataclass(frozen=True, slots=True)
class Pair:
    """A label and what may be its value. `cost` says how far the layout is from naming them
    so, 0-1; `box` is where the value stands."""

    label: str
    value: str
    box: TextBox
    cost: float = 0.0


def pick_field(boxes: Sequence[TextBox], question: Question) -> str:
    """A value by its label, else by its form, else the most prominent or nearest line.

    "" where there are no boxes.
    """
    boxes = [box for box in deskew(boxes) if box.text.strip()]
    if not boxes:
        return ""
    lines = group_lines(boxes)
    forms = [form for asked, form in _FORMS if asked.search(question.text)]
    answer, score = best_pair(lines, boxes, question, forms)
    if score >= _ENOUGH:
        return trim(answer, forms)
    for form in forms[:1]:
        for line in lines:
            for box in line:
                found = form.search(box.text)
                if found:
                    return found[0].strip()
    if _PROMINENT.search(question.text):
        return max(boxes, key=lambda box: (box.height, -box.top)).text.strip()
    return answer or nearest_line(lines, question)


def best_pair(
    lines: Sequence[Line],
    boxes: Sequence[TextBox],
    question: Question,
    forms: Sequence[re.Pattern[str]],
) -> tuple[str, float]:
    """The value of the pair that fits best, with its score, about 0-1.5."""
    chinese = chinese_labels(question.text)
    best, answer = 0.0, ""
    for pair in pairs(lines, boxes, chinese):
        fit = label_fit(pair.label, question, chinese)
        if fit <= 0:
            continue
        score = fit - pair.cost
        if forms:
            score += _RIGHT_FORM if forms[0].search(pair.value) else -_RIGHT_FORM
        score += _PER_WORD * column_fit(pair.box, boxes, question.text)
        if score > best:
            best, answer = score, pair.value
    return answer, best


def pairs(
    lines: Sequence[Line], boxes: Sequence[TextBox], chinese: Sequence[str]
) -> Iterator[Pair]:
    """Every label with its possible values: within a box, to the right on the line, below."""
    for number, line in enumerate(lines):
        for i, box in enumerate(line):
            yield from pairs_within(box, chinese)
            for distance, right in enumerate(line[i + 1 :]):
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


def box_below(box: TextBox, lines: Sequence[Line]) -> TextBox | None:
    """The first box in the next lines that stands under `box`, not far down."""
    for line in lines:
        for other in line:
            across = min(box.right, other.right) - max(box.left, other.left)
            if across > 0.3 * min(box.width, other.width):
                return other if other.top - box.bottom < 1.5 * box.height else None
    return None


def label_fit(label: str, question: Question, chinese: Sequence[str]) -> float:
    """How well a label names what is asked, 0-1: the balance of words found and words extra."""
    if any(label.strip(" :：") == name for name in chinese):
        return 1.0
    words = [word for word in content(label) if not word[0].isdigit() and word not in _UNITS]
    if not words:
        return 0.0
    worth = dict.fromkeys(question.words, _OTHER_WORD)
    worth.update(dict.fromkeys(question.target, _TARGET_WORD))
    matched = [max(((alike(w, q), q) for q in worth), default=(0.0, "")) for w in words]
    found = {q: strength for strength, q in matched if strength}
    if not found:
        return 0.0
    precision = sum(strength for strength, _ in matched) / len(words)
    recall = sum(worth[q] * strength for q, strength in found.items()) / sum(worth.values())
    return 2 * precision * recall / (precision + recall)


def column_fit(box: TextBox, boxes: Sequence[TextBox], question: str) -> float:
    """The share of the question's "per ..." words that stand in a text above `box`, 0-1."""
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
        for asked, labels in _CHINESE_LABELS
        if re.search(asked, question, re.IGNORECASE)
        for name in labels
    )
    return tuple(dict.fromkeys(names))


def trim(value: str, forms: Sequence[re.Pattern[str]]) -> str:
    """A long value cut to the part that has the form asked for."""
    if len(value) > _LONG:
        for form in forms[:1]:
            found = form.search(value)
            if found:
                return found[0].strip()
    return value


def nearest_line(lines: Sequence[Line], question: Question) -> str:
    """The line that shares most with the question, without the boxes that only repeat it."""
    said = set(question.words)

    def shared(line: Line) -> int:
        return len(said & {word for box in line for word in content(box.text)})

    line = max(lines, key=shared)
    fresh = [box.text.strip() for box in line if set(content(box.text)) - said]
    return " ".join(fresh or [box.text.strip() for box in line])
