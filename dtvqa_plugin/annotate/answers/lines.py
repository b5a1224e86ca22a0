"""Lines of an answer by what they are: labelled, numbered, options, notes, remarks, text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dtvqa_plugin.annotate.answers.labels import CIRCLED, NUMERAL, Labels, number_of
from dtvqa_plugin.annotate.answers.values import Span, half_width

Kind = Literal[
    "q", "a", "note", "option", "item", "bullet", "text", "blank", "rule", "remark", "qs", "as"
]


@dataclass(frozen=True, slots=True)
class Item:
    """One line, or a labelled part of one. ``text`` is what follows label, number and bullet."""

    kind: Kind
    line: Span
    text: Span
    number: int | None = None
    item: int | None = None
    strong: bool = False


_TAGS = re.compile(
    r"<br\s*/?>|</?(?:p|div|li|ul|ol|tr|table|thead|tbody|details|summary|dl|dt|dd|td|th|html|body|pairs?|"
    r"item|qas?|qa_pairs?)\b[^<>\n]{0,99}>|<\|[^|<>\n]{1,30}\|>|</?(?:b|i|strong|em|u|span)>",
    re.IGNORECASE,
)
_SIDE_TAG = re.compile(r"<(/?)([^\W\d_]{1,12})[_ ]?(\d{0,3})>|<(/)([^\W\d_]{1,12})>")
_RULE = re.compile(
    r"[\s>]*(?:[-*_=~+|]\s*){3,}|\s*```[\w+-]*\s*|[\s>*#_`|]*|\W*\d{1,3}\W*|[-+|= ]{5,}"
)
_HEADING = re.compile(
    r"[\s>#*_\-•]*(?:\d{1,3}[.)]\s*)?(?:(?:q\s*&\s*a|qa|question[- ]answer|q/a)?[ -]*"
    r"(?:pair|set|example|item)|问答对?|第)\s*\#?\s*(?:\d+|[一二三四五六七八九十])?\s*(?:对|题|组)?[\s:.*_\-]*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[ \t>]{0,40}(?:[-*•+–▪◦·]|->|=>|→|⇒|=)[ \t]{1,40}(?=\S)")
_ITEM = re.compile(
    r"[ \t>]{0,40}(?:\#{1,6}[ \t]{1,9})?(?:[-*•][ \t]{1,9})?[*_]{0,3}[(\[]?"
    rf"(?:(?P<n>{NUMERAL})[.):、\]/](?!\d)[*_]{{0,3}}[ \t]{{0,40}}|"
    rf"(?:\#(?P<hash>\d{{1,3}})|(?P<dotted>\d{{1,2}}\.\d{{1,2}}))[ \t]{{1,9}}|"
    rf"(?P<circled>[{CIRCLED}])[ \t]{{0,9}})(?=\S)"
)
_STRONG = re.compile(
    r"[ \t>]{0,40}(?:[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]{1,3}[ \t]{0,4})?"
    r"(?:\#{1,6}[ \t]{1,9}(?=\S)|(?=(?:\*\*|__)\S))"
)
_OPTION = re.compile(
    r"[\s>]{0,40}(?:[-*•][ \t]{1,9})?[*_]{0,2}[(\[]?([A-Ha-h])[).\]:][*_]{0,2}\s*\S"
)
_SECTION = re.compile(
    r"[\s>#*_•-]*(?:(?P<q>questions|问题|質問|질문|preguntas|fragen)|"
    r"(?P<a>answers|answer key|答案|回答|답변|respuestas|antworten))\s*:?[\s*_:]*",
    re.I,
)
_REMARK = re.compile(
    r"\W*(?:here (?:are|is)|here's|sure\b|certainly|of course|okay|ok\b|below (?:are|is)|based on|"
    r"the following|let me know|i hope|hope this|these questions|note that|please (?:let|note)|"
    r"feel free|all (?:answers|questions)|each (?:question|answer)|if you (?:need|want|would)|"
    r"would you like|do you want|i'm sorry|i am sorry|sorry|"
    r"q(?:uestion)?s?\s*(?:&|and|-)\s*a(?:nswer)?s?\b|"
    r"question[- ]answer|generated|"
    r"以下是|希望|好的|"
    r"当然|如需|如果您|根据图片|問答|问答|以下|お役|다음은|도움이|aquí|voici|hier sind|ecco|вот)",
    re.IGNORECASE,
)  # fmt: skip


_MAX_HEADING = 120
_MAX_LINE = 4000


def view_of(text: str, labels: Labels) -> str:
    """The text, as long, with markup that breaks lines made into line breaks and bars.

    Full-width letters and signs are made usual, tags of a side become its label.
    """
    view = half_width(text)
    if "\n" not in text.strip():
        view = view.replace("\\r\\n", "\n   ").replace("\\n", "\n ")
    view = view.replace("\r\n", " \n").replace("\r", "\n")
    view = re.sub(r"(?m)^(\W{0,4})第([\d一二三四五六七八九十]{1,3})[题題问問]:", r"\1Q\2: ", view)
    if "<" not in view:
        return view
    view = re.sub(r"<tr\b.*?</tr>", lambda m: m.group().replace("\n", " "), view, flags=re.S | re.I)
    sides = {side[0] for m in _SIDE_TAG.finditer(view) if (side := labels.side(m[2] or ""))}
    view = _SIDE_TAG.sub(lambda match: _side_tag(match, labels, len(sides) == 2), view)
    return _TAGS.sub(_tag, view)


def _side_tag(match: re.Match[str], labels: Labels, both: bool) -> str:
    name = match[2] or match[5]
    side = labels.side(name)
    if side is None:
        return match.group()
    if match[1] or match[4] or not both:
        return "\n".ljust(len(match.group()))
    return f"\n{side[0].upper()}{match[3]}:".ljust(len(match.group()))[: len(match.group())]


def _tag(match: re.Match[str]) -> str:
    name = match.group().strip("</>").lower()
    size = len(match.group())
    if re.match(r"</?(?:b|i|strong|em|u|span)>", match.group(), re.I):
        return " " * size
    if match.group().lower().startswith("</tr"):
        return " " * size
    if re.match(r"t[dh]\b", name):
        return (" " if match.group().startswith("</") else "|").ljust(size)
    label = {"dt": "\nQ:", "dd": "\nA:"}.get(name, "\n")
    return ("\n" if match.group().startswith("</") else label).ljust(size)


def lines_of(view: str) -> list[Span]:
    """Spans of the lines, without their breaks."""
    return [match.span() for match in re.finditer(r"(?m)^[^\n]*", view)]


def items_of(view: str, lines: Sequence[Span], labels: Labels) -> list[Item]:
    """Every line as one item or, where it holds several labelled parts, as those."""
    options = _options(view, lines)
    found: list[Item] = []
    for place, line in enumerate(lines):
        if place in options:
            found.append(Item("option", line, line))
        else:
            found += _items(view, line, labels)
    return found


def _options(view: str, lines: Sequence[Span]) -> set[int]:
    """Lines that are options of a multiple-choice question: A, B, at most a line apart."""
    letters: dict[int, str] = {}
    chosen: set[int] = set()
    filled = [n for n, (start, end) in enumerate(lines) if view[start:end].strip()]
    for n in filled:
        text = view[slice(*lines[n])]
        if match := _OPTION.match(text):
            letters[n] = match[1].upper()
            if match[1].upper() == "A" and re.search(r"\s[(\[]?[Bb][).\]:]\s", text):
                chosen.add(n)
    for place, n in enumerate(filled):
        for after in filled[place + 1 : place + 3]:
            if n in letters and after in letters and ord(letters[after]) - ord(letters[n]) == 1:
                chosen |= {n, after}
    return chosen


def _items(view: str, line: Span, labels: Labels) -> list[Item]:
    text = view[slice(*line)]
    if not text.strip():
        return [Item("blank", line, line)]
    bare = text.strip()
    short = len(bare) <= _MAX_HEADING
    if short and (_RULE.fullmatch(bare) or _HEADING.fullmatch(bare)):
        return [Item("rule", line, line)]
    section = _SECTION.fullmatch(bare) if short else None
    if section:
        return [Item("qs" if section["q"] else "as", line, line)]
    match = labels.line.match(view, line[0], line[1])
    if match and (label := _label(view, match, line)) is not None:
        if label.kind == "note":
            return [label]
        return _chain(view, label, labels)
    if _REMARK.match(bare) and not _holds_label(bare, labels):
        return [Item("remark", line, line)]
    if (match := _ITEM.match(view, line[0], line[1])) is not None:
        strong = "*" in match.group() or "#" in match.group() or view.startswith("**", match.end())
        end = line[1]
        marks = re.match(r"[ \t>#]*(\*\*|__)[(\[]?\d+[.):、\]](?!\*)", match.group())
        if marks and view[: line[1]].rstrip().endswith(marks[1]):
            end = len(view[: line[1]].rstrip()) - 2
        item = Item(
            "item",
            line,
            _trim(view, match.end(), end),
            _numbered(match, "n", "hash", "dotted", "circled"),
            strong=strong,
        )
        return _answered(view, item, labels)
    if (match := _BULLET.match(view, line[0], line[1])) is not None:
        return _answered(view, Item("bullet", line, _trim(view, match.end(), line[1])), labels)
    strong_match = _STRONG.match(view, line[0], line[1])
    start = strong_match.end() if strong_match else line[0]
    item = Item("text", line, _trim(view, start, line[1]), strong=strong_match is not None)
    return _answered(view, item, labels)


def _holds_label(text: str, labels: Labels) -> bool:
    """Whether a line that begins like a remark continues with a question's or answer's label."""
    found = labels.inline.finditer(text[:_MAX_LINE])
    return any(
        m["sep"] and not m["n"] and m["sep"].strip() == ":" and _goes_on(text, m) for m in found
    )


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether text follows a label on its line."""
    return bool(text[match.end() :].strip(" *_"))


def _answered(view: str, item: Item, labels: Labels) -> list[Item]:
    """An unlabelled line that holds an answer's label after a question."""
    text = view[slice(*item.text)]
    if len(text) > _MAX_LINE or not re.search(r"[?？؟.。)].*[:→\])】.–—-]", text):
        return [item]
    question = Item("q", item.line, item.text, None, item.number)
    parts = _chain(view, question, labels)
    return parts if len(parts) == 2 and parts[1].kind == "a" else [item]


def _label(view: str, match: re.Match[str], line: Span) -> Item | None:
    """The labelled item at ``match``, whose text reaches the line's end; None if it is no label."""
    word = match["q"] or match["a"] or match["n"]
    start = match.end()
    alone = not view[match.end("close") : line[1]].strip()
    bracketed = _bracketed(match)
    sep = (match["sep"] or "").strip()
    if not sep and match["num"] and view[match.start("num") - 1] == ".":
        sep = "."
    if not sep and match["num"] and match["close"].endswith((")", "]")) and not bracketed:
        sep = ")"
    plural = word.lower() in ("questions", "answers", "prompt", "input", "output", "user", "human")
    if sep == "":
        if alone and not plural and (match["num"] or len(word) > 2):
            start = line[1]
        elif not bracketed:
            return None
        else:
            start = match.end("close")
    elif sep in ".)、-–—=>" and not (match["num"] or len(word) == 1):
        return None
    marks = re.sub(r"[^*_]", "", match["o1"] + match["open"])
    closed = re.sub(r"[^*_]", "", match["close"] + match["after"])
    if not closed and marks and match["item"] and re.search(r"\d[.):、\]]\*", match.group()):
        marks = ""
    end = line[1]
    if marks and not closed:
        stripped = view[start:end].rstrip()
        end = start + len(stripped) - (len(marks) if stripped.endswith(marks) else 0)
    kind: Kind = "q" if match["q"] else "a" if match["a"] else "note"
    item = _numbered(match, "item", "circled")
    return Item(kind, line, _trim(view, start, end), number_of(match["num"]), item)


def _numbered(match: re.Match[str], *groups: str) -> int | None:
    return next((number_of(match[group]) for group in groups if match[group]), None)


def _bracketed(match: re.Match[str]) -> bool:
    pairs = {"(": ")", "[": "]", "【": "】", "「": "」", "<": ">"}
    return any(first in match["open"] and last in match["close"] for first, last in pairs.items())


_ENDS = re.compile(r"[?？؟。.!;|,)/】\]→>\-–—:][\s*_`\"'”’(\[|]*\Z|[?？؟。；;]\Z")


def _chain(view: str, first: Item, labels: Labels) -> list[Item]:
    """A line's labelled parts: after a question its answer, after that the next question."""
    parts = [first]
    while parts[-1].kind in ("q", "a"):
        last = parts[-1]
        following = _next_label(view, last, labels, numbered_chain=first.number is not None)
        if following is None:
            break
        start, item = following
        parts[-1] = Item(
            last.kind, last.line, _cut(view, last.text[0], start), last.number, last.item
        )
        parts.append(item)
    return parts


def _next_label(
    view: str, last: Item, labels: Labels, *, numbered_chain: bool
) -> tuple[int, Item] | None:
    """Where the label that follows ``last`` on its line begins, and its item."""
    start, end = last.text
    for match in labels.inline.finditer(view, start, end):
        if match["n"] or match.start() <= start or not view[start : match.start()].strip(" *_`"):
            continue
        side = "q" if match["q"] else "a"
        if side == last.kind:
            continue
        sep = (match["sep"] or "").strip()
        number = number_of(match["num"])
        if not (sep in (":", "→") or (sep and number is not None) or _bracketed(match)):
            continue
        before = view[start : match.start()].rstrip(" \t*_`([")
        if side == "a":
            fits = _ENDS.search(before) is not None or (
                number is not None and number == last.number
            )
        else:
            fits = (
                number is not None and number == (last.number or 0) + 1 if numbered_chain else False
            )
        if fits:
            item = _label(view, match, (last.line[0], end))
            if item is not None:
                return match.start(), _unbracketed(view, match.start(), item)
    return None


def _unbracketed(view: str, start: int, item: Item) -> Item:
    """The item without the bracket that closes after it, where one opens before its label."""
    opening = view[start : item.text[0]].strip(" *_`")[:1] + view[:start].rstrip(" *_`")[-1:]
    closing = {"(": ")", "[": "]", "【": "】"}.get(opening.strip()[:1] or " ")
    first, last = item.text
    inner = view[first:last]
    if closing and inner.endswith(closing) and inner.count(closing) > inner.count(opening[0]):
        return Item(item.kind, item.line, _trim(view, first, last - 1), item.number, item.item)
    return item


def _cut(view: str, start: int, end: int) -> Span:
    """The span before an inline label, without what leads over to it."""
    text = view[start:end].rstrip(" \t*_`([|/;,")
    text = re.sub(r"\s+(?:[-–—]|->|=>|→|⇒)\Z", "", text).rstrip()
    return _trim(view, start, start + len(text))


def _trim(view: str, start: int, end: int) -> Span:
    while start < end and view[start].isspace():
        start += 1
    while end > start and view[end - 1].isspace():
        end -= 1
    return start, end
