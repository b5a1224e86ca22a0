"""Questions and answers out of whatever a model wrote, and nothing lost on the way.

`read_answer` divides an answer into segments that tile it: pairs, remarks (openings, headings,
reasons, closings), and what could not be read. The
last are for a person to look at, with their text.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

Kind = Literal["pair", "remark", "unread"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its answers (mostly one); ``number`` is the model's own, if it gave one."""

    question: str
    answers: tuple[str, ...]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the answer's text, ``start`` to ``end``."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What one answer holds. ``segments`` tile ``text``: together they are all of it."""

    text: str
    pairs: tuple[Pair, ...]
    segments: tuple[Segment, ...]
    refusal: bool = False

    @property
    def unread(self) -> tuple[str, ...]:
        """The stretches that could not be read, as they stand."""
        return tuple(self.text[s.start : s.end] for s in self.segments if s.kind == "unread")


def read_answer(text: str) -> Reading:
    """Read a model's answer. Never raises; takes any text."""
    reader = _Reader(text)
    for start, end, kind in _blocks(text):
        if kind == "think":
            reader.claim("remark", start, end)
        elif kind in ("json", "bare json"):
            found = _from_json(text[start:end])
            if found is None:
                reader.lines(start, end)
            else:
                reader.take(found.pairs, start, end, found.rest)
        else:
            reader.prose(start, end)
    return reader.finish()


# --- blocks: reasoning, fences, bare JSON, the rest ---------------------------------------------

_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Stretches of the text by what they are, in order, tiling it."""
    marks = [(m.start(), m.end(), "think") for m in _THINK.finditer(text)]
    marks += [
        (m.start(), m.end(), "json" if m.group(1).lstrip()[:1] in ("[", "{") else "fence")
        for m in _FENCE.finditer(text)
        if not any(start <= m.start() < end for start, end, _ in marks)
    ]
    place = 0
    for start, end, kind in sorted(marks):
        if start < place:
            continue
        yield from _plain(text, place, start)
        yield start, end, kind
        place = end
    yield from _plain(text, place, len(text))


_JSON_START = re.compile(r'(?:^[ \t]*|(?<=[\s:：]))(?=[\[{]\s*(?:["\'\[{\]]|$))', re.MULTILINE)


def _plain(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """A stretch outside fences: up to where JSON stands in it, that, and what follows."""
    if start >= end:
        return
    match = _JSON_START.search(text, start, end)
    if match is None or not re.search(r'["\']\s*[,:]', text[match.start() : end]):
        yield start, end, "text"
        return
    if match.start() > start:
        yield start, match.start(), "text"
    stop = _json_end(text, match.end(), end)
    yield match.start(), stop, "bare json"
    yield from _plain(text, stop, end)


def _json_end(text: str, start: int, end: int) -> int:
    """Where the bracket that opens at ``start`` closes; several in a row count as one."""
    place = start
    while place < end and text[place] in "[{":
        place = _closing(text, place, end)
        follow = re.compile(r"[\s,]*(?=[\[{])").match(text, place, end)
        if follow is None:
            break
        place = follow.end()
    return place


def _closing(text: str, start: int, end: int) -> int:
    depth, quoted, place = 0, False, start
    while place < end:
        char = text[place]
        if quoted:
            if char == "\\":
                place += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return end


# --- JSON ----------------------------------------------------------------------------------------

_QUESTION_KEYS = ("question", "q", "query", "问题", "问", "question_text", "prompt", "user")
_ANSWER_KEYS = ("answers", "answer", "a", "答案", "答", "response", "short_answer", "assistant")
_NUMBERED_KEY = re.compile(
    r"(?P<word>questions?|answers?|q|a|问题|答案|问|答)[ _]?(?P<n>\d+)", re.I
)


@dataclass(slots=True)
class _Json:
    pairs: list[Pair] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    """Parts with a shape that holds no pair, shown as unread."""


def _from_json(block: str) -> _Json | None:
    """Pairs of a JSON block, whole or in pieces; None where it is not JSON with pairs."""
    body = re.sub(r"\A\s*```[^\n]*\n|^[ \t]*```[ \t]*\Z", "", block, flags=re.MULTILINE)
    found = _Json()
    try:
        _walk(json.loads(body), found)
    except (ValueError, RecursionError):
        found = _Json()
        _in_pieces(body, found)
    return found if found.pairs else None


def _in_pieces(body: str, found: _Json) -> None:
    """JSON lines, trailing commas, a cut end, single quotes: each innermost object on its own."""
    place = 0
    for match in re.finditer(r"\{[^{}]*\}", body):
        gap = body[place : match.start()]
        place = match.end()
        if re.search(r"[^\s\[\]{},]", re.sub(r'"[^"]*"\s*:', "", gap)):
            found.rest.append(gap.strip())
        item = _object(match.group())
        before = len(found.pairs)
        if item is not None:
            _walk(item, found)
        elif len(found.pairs) == before:
            found.rest.append(match.group())
    if re.search(r"[^\s\[\]{},]", body[place:]):
        found.rest.append(body[place:].strip())


_PART = re.compile(
    r"""(["'])(?P<key>\w+)\1\s*:\s*(?P<quote>["'])(?P<value>(?:\\.|(?!(?P=quote)\s*[,}]).)*)(?P=quote)""",
    re.DOTALL,
)


def _object(text: str) -> Any:
    without_commas = re.sub(r",(\s*[}\]])", r"\1", text)
    try:
        return json.loads(without_commas)
    except (ValueError, RecursionError):
        parts = {m["key"]: m["value"].replace("\\'", "'") for m in _PART.finditer(text)}
        return parts or None


def _walk(item: Any, found: _Json, depth: int = 0, *, in_list: bool = False) -> None:
    if depth > 20:
        return
    if isinstance(item, list):
        pair = len(item) == 2 and all(isinstance(part, str) for part in item)
        if pair and (in_list or _asks(item[0])):
            _add(found, item[0], [item[1]])
            return
        if item and all(isinstance(part, dict) and _role(part) for part in item):
            _walk_turns(item, found)
            return
        for part in item:
            _walk(part, found, depth + 1, in_list=True)
    elif isinstance(item, dict):
        _walk_object(item, found, depth)
    elif isinstance(item, str) and item.strip():
        found.rest.append(item)


def _role(part: dict[str, Any]) -> str | None:
    role = part.get("role", part.get("from"))
    text = part.get("content", part.get("value"))
    return role if isinstance(role, str) and isinstance(text, str) else None


def _walk_turns(turns: list[dict[str, Any]], found: _Json) -> None:
    """A conversation: each user turn with the assistant turn after it."""
    texts = [(str(_role(turn)), turn.get("content", turn.get("value"))) for turn in turns]
    for (role, text), (next_role, next_text) in pairwise(texts):
        if role in ("user", "human") and next_role in ("assistant", "gpt"):
            _add(found, text, [next_text])


def _walk_object(item: dict[str, Any], found: _Json, depth: int) -> None:
    lower = {str(key).strip().lower(): value for key, value in item.items()}
    question = next((lower[key] for key in _QUESTION_KEYS if isinstance(lower.get(key), str)), None)
    if question is not None:
        answer = next((lower[key] for key in _ANSWER_KEYS if key in lower), None)
        number = next(
            (lower[k] for k in ("id", "number", "no") if isinstance(lower.get(k), int)), None
        )
        _add(found, question, answer if isinstance(answer, list) else [answer], number)
        return
    if _parallel(lower, found):
        return
    numbered = _numbered(lower, found)
    rest = {key: value for key, value in item.items() if str(key).strip().lower() not in numbered}
    strings = {k: v for k, v in rest.items() if isinstance(v, (str, int, float)) and _asks(str(k))}
    for key, value in strings.items():
        _add(found, str(key), [value])
    for key, value in rest.items():
        if key not in strings and isinstance(value, (list, dict)):
            _walk(value, found, depth + 1)


def _parallel(item: dict[str, Any], found: _Json) -> bool:
    """``{"questions": [...], "answers": [...]}``: pairs by place, where both are as long."""
    questions, answers = (
        item.get("questions", item.get("问题")),
        item.get("answers", item.get("答案")),
    )
    if not isinstance(questions, list) or not isinstance(answers, list):
        return False
    if len(questions) != len(answers) or not all(isinstance(q, str) for q in questions):
        return False
    for question, answer in zip(questions, answers, strict=True):
        _add(found, question, answer if isinstance(answer, list) else [answer])
    return True


def _numbered(item: dict[str, Any], found: _Json) -> set[str]:
    """``{"Q1": ..., "A1": ...}``: pairs by number; returns the keys used."""
    sides: dict[int, dict[str, str]] = {}
    for key, value in item.items():
        match = _NUMBERED_KEY.fullmatch(key)
        if match and isinstance(value, (str, int, float)):
            side = "q" if match["word"][0] in "q问" else "a"
            sides.setdefault(int(match["n"]), {})[side] = key
    used: set[str] = set()
    for number, keys in sorted(sides.items()):
        if len(keys) == 2:
            _add(found, str(item[keys["q"]]), [item[keys["a"]]], number)
            used.update(keys.values())
    return used


def _add(found: _Json, question: Any, answers: list[Any], number: int | None = None) -> None:
    texts = [clean(_as_text(answer)) for answer in answers if answer is not None]
    kept = tuple(dict.fromkeys(text for text in texts if text))
    if isinstance(question, str) and clean(question) and kept:
        found.pairs.append(Pair(clean(question), kept, number))
    else:
        found.rest.append(json.dumps([question, *answers], ensure_ascii=False, default=str))


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        inner = next((value[k] for k in ("text", "answer", "value") if k in value), None)
        return _as_text(inner) if inner is not None else ""
    return json.dumps(value, ensure_ascii=False)


# --- lines ---------------------------------------------------------------------------------------

# Runs of blanks are bounded, so that a line of nothing else takes no quadratic time.
_Q_WORDS = r"question|ques|q|问题|提问|问|質問|pregunta|frage|pytanie|вопрос|user|human"
_A_WORDS = (
    r"short answer|correct answer|answer|ans|a|答案|回答|答|respuesta|réponse|"
    r"antwort|ответ|assistant"
)
_N_WORDS = (
    r"explanation|reason(?:ing)?|rationale|evidence|location|source|type|category|difficulty|"
    r"note|options|choices|选项|解释|理由|说明|位置|类型|备注"
)
_LEAD = (
    r"[ \t>]{0,40}(?:(?:[-*•+–▪◦]|\#{1,6})[ \t]{1,40})*(?:[*_]{1,3})?"
    r"(?:\(?\[?(?P<item>\d{1,3})[.):、）\]][*_]{0,3}[ \t]{0,40})?"
)
_OPEN = r"[*_`\[(【（<「]*"
_CLOSE = r"[*_`\])】）>」]*"
_NUM = r"(?:\s*(?:\#|no\.?|n[º°])?\s*(?P<num>\d{1,3}|[一二三四五六七八九十]))?"
_SEP = r"[ \t]{0,40}(?:[:：]|[.)、](?=\s|$|[*_])|[-–—](?=\s)|=)"
_LABEL = re.compile(
    rf"{_LEAD}{_OPEN}(?:(?P<q>{_Q_WORDS})|(?P<a>{_A_WORDS})|(?P<n>{_N_WORDS}))(?![A-Za-z]){_NUM}"
    rf"{_CLOSE}(?:(?P<sep>{_SEP}){_CLOSE}|(?P<bare>[ \t]{{0,40}}$))",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"(?P<before>[?？。.!！;；|,，、)）\]】*_\"'”’`–—-]|\s)[ \t]{0,40}(?P<open>[*_`\[(（【]*)"
    rf"(?P<word>{_A_WORDS})[ \t]{{0,40}}"
    rf"(?P<num>\d{{1,3}})?[*_`\])】]*[ \t]{{0,40}}(?P<sep>[:：])[*_`]*",
    re.IGNORECASE,
)
_INLINE_NOTE = re.compile(
    rf"[\s(（\[;；|,，]{{1,40}}[*_(\[（]*(?:{_N_WORDS})[*_]*\s*[:：]", re.IGNORECASE
)
_ITEM = re.compile(
    r"[ \t>]{0,40}(?:\#{1,6}[ \t]{1,40})?(?:[*_]{1,3})?"
    r"(?:\(?\[?(?P<num>\d{1,3})[.):、）\]](?!\d)|[①②③④⑤⑥⑦⑧⑨⑩])"
    r"[*_]{0,3}[ \t]{0,40}(?=\S)"
)
_BULLET = re.compile(r"[ \t>]{0,40}(?:[-*•+–▪◦→=]+>?)[ \t]{1,40}(?=\S)")
_PAIR_HEAD = re.compile(
    r"[ \t>#*_\-]{0,40}(?:(?:q\s*&\s*a|qa|question[- ]answer|q/a)?[ -]*"
    r"(?:pair|set|example|item)|问答对?|第)\s*"
    r"\#?\s*(?:\d+|[一二三四五六七八九十])?\s*(?:对|题|组)?[ \t:：.*_\-]*",
    re.IGNORECASE,
)
_HEADING_Q = re.compile(
    r"[ \t>#*_]{0,40}(?:questions?|问题|提问)[ \t]{0,40}[:：]?[ \t*_]{0,40}", re.IGNORECASE
)
_HEADING_A = re.compile(
    r"[ \t>#*_]{0,40}(?:answers?|answer key|答案)[ \t]{0,40}[:：]?[ \t*_]{0,40}", re.IGNORECASE
)
_RULE = re.compile(r"[ \t]{0,40}(?:[-*_=~]\s*){3,}|[ \t]{0,40}```.*")
_TABLE_RULE = re.compile(
    r"[ \t]{0,40}\|?[ \t]{0,40}:?-{2,}:?[ \t]{0,40}"
    r"(?:\|[ \t]{0,40}:?-{2,}:?[ \t]{0,40})+\|?[ \t]{0,40}"
)
_TAG = re.compile(
    r"<(?P<q>question|q|问题)(?:[ _]?\d+)?[^<>]{0,99}>(?P<question>[^<]*)</(?P=q)(?:[ _]?\d+)?>\s*"
    r"<(?P<a>answer|a|答案)(?:[ _]?\d+)?[^<>]{0,99}>(?P<answer>[^<]*)</(?P=a)(?:[ _]?\d+)?>",
    re.DOTALL | re.IGNORECASE,
)
_WRAPPING_TAG = re.compile(r"\s*</?[A-Za-z_]+[^<>]*>\s*")

_REFUSAL = re.compile(
    r"\b(?:i(?:'|’)?m|i am|we(?:'|’)re)\s+(?:really\s+|very\s+)?(?:sorry|unable|not able)|"
    r"\b(?:i|we)\s+(?:can(?:'|’)?t|cannot|can not|won(?:'|’)t|could(?:n(?:'|’)t| not)|"
    r"am not able)\b|"
    r"\bunable to (?:assist|help|process|see|view|read|generate|provide)|\bas an ai\b|"
    r"\bapologi[sz]e|"
    r"\bthe image (?:is|appears) (?:too |completely )?(?:blank|blurry|unreadable|empty|dark)|"
    r"\bno (?:visible |readable |legible )?text (?:is |was )?(?:in|visible|present|found)|"
    r"抱歉|对不起|无法(?:识别|查看|看到|读取|生成|提供|回答|处理)|不能(?:识别|查看|提供|协助)|很遗憾",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\W*(?:here\b|sure|certainly|of course|okay|ok\b|below (?:are|is)|based on|"
    r"the following|"
    r"let me know|i hope|hope this|these questions|note that|note:|please (?:let|note)|feel free|"
    r"all (?:answers|questions)|each (?:question|answer)|if you (?:need|want|would)|in this image|"
    r"question[- ]answer pairs|q\s*&\s*a\b|questions? and answers?|generated|"
    r"以下是|下面是|根据|好的|当然|希望|如需|这些问题|如果|注[:：]|基于|问答)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Line:
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Open:
    """A question being read, then its answer. ``spans`` are the lines it is made of."""

    question: str = ""
    answer: str | None = None
    number: int | None = None
    labelled: bool = False
    spans: list[tuple[int, int]] = field(default_factory=list)
    gap: bool = False


class _Reader:
    """Reads line by line; every line ends up in a pair, a remark, or unread."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pairs: list[Pair] = []
        self.segments: list[Segment] = []
        self.open: _Open | None = None
        self.waiting: list[_Open] = []
        self.section: str | None = None
        self.refusals = 0

    # - bookkeeping -

    def claim(self, kind: Kind, start: int, end: int) -> None:
        if end > start:
            self.segments.append(Segment(kind, start, end))

    def take(self, pairs: list[Pair], start: int, end: int, rest: list[str]) -> None:
        """Pairs of one block; a part of it that holds none makes the whole block unread."""
        self.close()
        self.pairs += pairs
        self.claim("unread" if rest else "pair", start, end)

    def finish(self) -> Reading:
        self.close()
        for question in self.waiting:
            for start, end in question.spans:
                self.claim("unread", start, end)
        segments = _tiled(self.segments, self.text)
        refusal = not self.pairs and self.refusals > 0
        return Reading(self.text, tuple(self.pairs), segments, refusal)

    def close(self) -> None:
        """The open question is complete: a pair, or a question waiting for its answer."""
        current, self.open = self.open, None
        if current is None:
            return
        if current.answer is not None and clean(current.answer) and clean(current.question):
            self._pair(current)
        elif clean(current.question):
            self.waiting.append(current)
        else:
            for start, end in current.spans:
                self.claim("unread", start, end)

    def _pair(self, current: _Open) -> None:
        answer = clean(current.answer or "")
        self.pairs.append(Pair(clean(current.question), (answer,), current.number))
        for start, end in current.spans:
            self.claim("pair", start, end)

    # - stretches -

    def prose(self, start: int, end: int) -> None:
        """Text outside JSON: tags first, then tables and CSV, then lines."""
        place = start
        for match in _TAG.finditer(self.text, start, end):
            self.lines(place, match.start(), wrapped=True)
            self.close()
            self.pairs.append(Pair(clean(match["question"]), (clean(match["answer"]),)))
            if not (self.pairs[-1].question and self.pairs[-1].answers[0]):
                self.pairs.pop()
                self.claim("unread", match.start(), match.end())
            else:
                self.claim("pair", match.start(), match.end())
            place = match.end()
        self.lines(place, end, wrapped=place > start)

    def lines(self, start: int, end: int, *, wrapped: bool = False) -> None:
        """Read a stretch line by line; ``wrapped``: stray tags around pairs are remarks."""
        lines = list(_split(self.text, start, end))
        index = 0
        while index < len(lines):
            used = self._table(lines, index) or self._csv(lines, index)
            if used:
                index += used
                continue
            line = lines[index]
            if wrapped and _WRAPPING_TAG.fullmatch(line.text):
                self.claim("remark", line.start, line.end)
            else:
                self._line(line)
            index += 1

    def _line(self, line: _Line) -> None:
        text = line.text
        if not text.strip(" \t>\x00"):
            if self.open is not None:
                self.open.gap = True
            self.claim("remark", line.start, line.end)
            return
        if _RULE.fullmatch(text):
            self.close()
            self.claim("remark", line.start, line.end)
            return
        if self._heading(line):
            return
        label = _LABEL.match(text)
        if label is not None and self._labelled(line, label):
            return
        item = _ITEM.match(text)
        if item is not None and self._itemised(line, item):
            return
        self._other(line)

    def _heading(self, line: _Line) -> bool:
        """``Questions:`` and ``Answers:`` above lists, and ``Pair 3``."""
        for pattern, section in ((_HEADING_Q, "questions"), (_HEADING_A, "answers")):
            plural = re.search(r"s\b|key|问题|答案", line.text, re.IGNORECASE)
            if pattern.fullmatch(line.text) and plural and not self._awaits_answer(section):
                self.close()
                self.section = section
                self.claim("remark", line.start, line.end)
                return True
        if _PAIR_HEAD.fullmatch(line.text) and re.search(
            r"\d|pair|对|题|[一二三四五六七八九十]", line.text
        ):
            self.close()
            self.claim("remark", line.start, line.end)
            return True
        return False

    def _awaits_answer(self, section: str) -> bool:
        """Whether ``Answer:`` (or 答案) alone on a line belongs to the question above it."""
        waiting = self.open is not None and self.open.answer is None
        return section == "answers" and waiting and not self.waiting

    def _labelled(self, line: _Line, label: re.Match[str]) -> bool:
        rest = line.text[label.end() :]
        number = _number(label["num"]) or _number(label["item"])
        word = (label["q"] or label["a"] or label["n"] or "").lower()
        if label["bare"] is not None and len(word) == 1 and number is None:
            return False
        mark = (label["sep"] or "").strip()
        letter = word in ("a", "q")
        # Without a number, "A" and "Q" are words and a full stop ends a sentence.
        marks = (":", "：", "=", ".") if letter else (":", "：", "=", "-", "–", "—", ")", "、", "")
        if number is None and mark not in marks:
            return False
        if label["q"]:
            self._start(line, rest, number)
            return True
        if label["a"]:
            return self._answer(line, rest, number)
        if self.open is not None and self.open.answer is not None:
            self._settle()
        self.claim("remark", line.start, line.end)
        return True

    def _start(self, line: _Line, rest: str, number: int | None) -> None:
        """A labelled question, with its answer on the same line or still to come."""
        self.close()
        self.section = None
        question, answer = _split_inline(rest)
        self.open = _Open(question, answer, number, labelled=True, spans=[(line.start, line.end)])

    def _answer(self, line: _Line, rest: str, number: int | None) -> bool:
        rest = _without_note(rest)
        if self._expects(number):
            assert self.open is not None
            self.open.answer = rest
            self.open.spans.append((line.start, line.end))
            self.open.gap = False
            return True
        self.close()
        waiting = self._waiting_for(number)
        if waiting is None:
            return False
        waiting.answer = rest
        waiting.spans.append((line.start, line.end))
        waiting.gap = False
        self.open = waiting
        return True

    def _expects(self, number: int | None) -> bool:
        """Whether the open question is the one that answer ``number`` belongs to."""
        if self.open is None or self.open.answer is not None or not clean(self.open.question):
            return False
        other = number is not None and self.open.number not in (None, number)
        return not (other and any(question.number == number for question in self.waiting))

    def _waiting_for(self, number: int | None) -> _Open | None:
        if number is not None:
            for place, question in enumerate(self.waiting):
                if question.number == number:
                    return self.waiting.pop(place)
            if any(question.number is not None for question in self.waiting):
                return None
        return self.waiting.pop(0) if self.waiting else None

    def _itemised(self, line: _Line, item: re.Match[str]) -> bool:
        rest = line.text[item.end() :]
        number = _number(item["num"])
        if self.section == "answers" and self.waiting:
            return self._answer(line, rest, number)
        if self._continues_answer_list():
            return False
        question, answer = _split_inline(rest)
        if answer is None:
            question, answer = _split_question(rest)
        if answer is None and not _asks(rest):
            if self.section == "questions" and clean(rest):
                question, answer = rest, None
            else:
                return False
        self.close()
        self.open = _Open(question, answer, number, spans=[(line.start, line.end)])
        return True

    def _continues_answer_list(self) -> bool:
        """An answer label with nothing behind it: numbered lines below are its parts."""
        return (
            self.open is not None
            and self.open.labelled
            and self.open.answer is not None
            and not clean(self.open.answer)
        )

    def _other(self, line: _Line) -> None:
        current = self.open
        text = line.text
        if current is not None and self._continue(line, current):
            return
        if _REFUSAL.search(text) and not _asks(text):
            self.refusals += 1
            self._settle()
            self.claim("remark", line.start, line.end)
            return
        body = _BULLET.sub("", text, count=1)
        question, answer = _split_inline(body)
        if answer is None:
            question, answer = _split_question(body)
        if (answer is not None or _asks(body)) and not _REMARK.match(body):
            self.close()
            self.open = _Open(question, answer, None, spans=[(line.start, line.end)])
            return
        self._settle()
        remark = _REMARK.match(text) or re.fullmatch(
            r"[ \t]*#{1,6}[ \t].*|[ \t]*\*\*[^*]+\*\*:?[ \t]*", text
        )
        self.claim(
            "remark" if remark or not re.search(r"\w", text) else "unread", line.start, line.end
        )

    def _continue(self, line: _Line, current: _Open) -> bool:
        """Whether the line goes on with the open question, or with its answer."""
        text = line.text
        if current.answer is None:
            if not clean(current.question):
                question, answer = _split_inline(text)
                current.question, current.answer = question, answer
            elif _asks(current.question) or (not current.labelled and _BULLET.match(text)):
                if current.gap and (_REMARK.match(text) or _asks(text)):
                    return False
                current.answer = _unbracketed(_without_note(_BULLET.sub("", text, count=1)))
            elif current.gap:
                return False
            else:
                question, answer = _split_inline(f"{current.question} {text.strip()}")
                current.question, current.answer = question, answer
        elif not clean(current.answer):
            current.answer = _without_note(_BULLET.sub("", text, count=1))
        elif current.gap or _asks(text) or (not current.labelled and _split_question(text)[1]):
            return False
        else:
            bullet = _BULLET.sub("", text, count=1)
            joint = ", " if bullet != text or _ITEM.match(text) else " "
            current.answer = (
                f"{current.answer.rstrip()}{joint}{_ITEM.sub('', bullet, count=1).strip()}"
            )
        current.spans.append((line.start, line.end))
        current.gap = False
        return True

    def _settle(self) -> None:
        """Something else begins: the open pair, if complete, is done."""
        if self.open is not None:
            self.close()

    # - tables -

    def _table(self, lines: list[_Line], index: int) -> int:
        """A Markdown table from ``index`` on: the number of lines used, 0 for none."""
        if index + 1 >= len(lines) or not _TABLE_RULE.fullmatch(lines[index + 1].text):
            return 0
        heads = [clean(cell).lower() for cell in _cells(lines[index].text)]
        columns = _columns(heads)
        if columns is None:
            return 0
        self.close()
        self.claim("remark", lines[index].start, lines[index + 1].end)
        used = 2
        for line in lines[index + 2 :]:
            if "|" not in line.text:
                break
            used += 1
            self._row(_cells(line.text), columns, line)
        return used

    def _csv(self, lines: list[_Line], index: int) -> int:
        """CSV or TSV under a head that names question and answer."""
        head = lines[index].text
        mark = next((mark for mark in "\t,;" if mark in head), "|")
        columns = _columns([clean(cell).lower() for cell in head.split(mark)])
        if columns is None or index + 1 >= len(lines) or mark not in lines[index + 1].text:
            return 0
        self.close()
        self.claim("remark", lines[index].start, lines[index].end)
        used = 1
        for line in lines[index + 1 :]:
            if mark not in line.text:
                break
            used += 1
            cells = next(
                csv.reader(io.StringIO(line.text), delimiter=mark, skipinitialspace=True), []
            )
            self._row(cells, columns, line)
        return used

    def _row(self, cells: list[str], columns: tuple[int, int], line: _Line) -> None:
        question, answer = (clean(cells[c]) if c < len(cells) else "" for c in columns)
        if question and answer:
            self.pairs.append(Pair(question, (answer,)))
            self.claim("pair", line.start, line.end)
        else:
            self.claim("unread", line.start, line.end)


# --- parts ---------------------------------------------------------------------------------------


_NEXT_QUESTION = re.compile(
    r"(?<=[\s;；。!?？|])(?=[*_`]{0,3}(?:question|ques|q|问题|问)\s*\d{1,3}[*_`]{0,3}\s*[:：])",
    re.IGNORECASE,
)


def _split(text: str, start: int, end: int) -> Iterator[_Line]:
    """Lines; a numbered question label within a line begins a new one.

    A text on one line whose line breaks are escaped is split at those.
    """
    line_break = "\n" if "\n" in text else "\\n"
    place = start
    while place < end:
        stop = text.find(line_break, place, end)
        stop = end if stop < 0 else stop
        after = min(end, stop + len(line_break))
        for found in _NEXT_QUESTION.finditer(text, place + 1, stop):
            yield _Line(place, found.start(), text[place : found.start()].rstrip(" \t;；|"))
            place = found.start()
        yield _Line(place, after, text[place:stop].rstrip("\r"))
        place = after


def _cells(text: str) -> list[str]:
    inner = text.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _columns(heads: list[str]) -> tuple[int, int] | None:
    questions = [
        i for i, head in enumerate(heads) if head in ("question", "q", "questions", "问题")
    ]
    answers = [i for i, head in enumerate(heads) if head in ("answer", "a", "answers", "答案")]
    return (questions[0], answers[0]) if questions and answers else None


def _number(text: str | None) -> int | None:
    if not text:
        return None
    return int(text) if text.isascii() else "一二三四五六七八九十".index(text) + 1


def _asks(text: str) -> bool:
    """Whether the text is a question: it ends in a question mark, decoration aside."""
    return bool(re.search(r"[?？؟][\s*_`\"'”’»」)）\]]*\Z", text))


def _split_inline(text: str) -> tuple[str, str | None]:
    """``What is it? A: 5`` and the like: question and answer; answer None where no label is."""
    for match in _INLINE.finditer(text):
        before = text[: match.start() + 1].rstrip()
        word = match["word"].lower()
        # A lone "A:" may belong to the question ("in column A: ..."), unless that has ended.
        if (
            word == "a"
            and match["num"] is None
            and not re.search(r"[?？。.!！;；|,，)）*_\"'”’`–—-]\s*\Z", before)
        ):
            continue
        if not clean(before):
            continue
        answer = _without_note(text[match.end() :])
        if match["open"].strip("*_`") and re.search(r"[)）\]】]\s*[*_`]*\s*\Z", answer):
            answer = re.sub(r"[)）\]】](\s*[*_`]*\s*)\Z", r"\1", answer)
        question = re.sub(r"[\s|;；,，–—(\[（【*_`-]+\Z", "", before)
        opened = re.match(r"\s*([*_`]+)", before)
        return (
            question + (opened.group(1) if opened and question.endswith(("?", "？")) else "")
        ), answer
    return text, None


def _split_question(text: str) -> tuple[str, str | None]:
    """``What is it? 5``: split behind the first question mark that something follows."""
    match = re.search(r"[?？؟][\"'”’»」]?[*_`]*(?=\s*\S)", text)
    if match is None or _asks(text):
        return text, None
    answer = re.sub(r"\A\s*(?:[-–—:：=|]+>?|→|⇒|=>)\s*", "", text[match.end() :])
    answer = _without_note(answer)
    return text[: match.end()], _unbracketed(answer)


def _unbracketed(answer: str) -> str:
    """``(42)`` or ``[42]`` as a whole answer: what is inside."""
    match = re.fullmatch(r"\s*[*_`]*[(\[（【]([^()\[\]（）【】]+)[)\]）】][*_`]*\s*", answer)
    return match.group(1) if match else answer


def _without_note(answer: str) -> str:
    """The answer without a reason or a place given on the same line."""
    match = _INLINE_NOTE.search(answer)
    return answer[: match.start()] if match and clean(answer[: match.start()]) else answer


_WRAPS: tuple[tuple[str, str], ...] = (
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("_", "_"),
    ("`", "`"),
    ('"', '"'),
    ("“", "”"),
    ("'", "'"),
    ("‘", "’"),
    ("「", "」"),
    ("«", "»"),
    ("『", "』"),
)


def clean(text: str) -> str:
    """The text without outer blanks, Markdown emphasis and quotation marks around the whole."""
    previous = None
    text = text.strip()
    while text != previous:
        previous = text
        for start, end in _WRAPS:
            inner = text[len(start) : len(text) - len(end)]
            whole = (
                len(text) > len(start) + len(end) and text.startswith(start) and text.endswith(end)
            )
            if whole and start not in inner and end not in inner:
                text = inner.strip()
        for mark in ("**", "__"):
            if text.count(mark) == 1:
                text = text.replace(mark, "").strip()
        if text in ("*", "_", "`", "-", "–", "—", ":", "："):
            text = ""
    return text


def _tiled(segments: list[Segment], text: str) -> tuple[Segment, ...]:
    """Segments in order, gaps closed (white space joins what is before), neighbours joined."""
    tiles: list[Segment] = []
    place = 0
    for segment in sorted(segments, key=lambda s: (s.start, s.end)):
        if segment.end <= place:
            continue
        start = max(segment.start, place)
        if start > place:
            _join(tiles, Segment("unread" if text[place:start].strip() else "remark", place, start))
        _join(tiles, Segment(segment.kind, start, segment.end))
        place = segment.end
    if place < len(text):
        _join(tiles, Segment("unread" if text[place:].strip() else "remark", place, len(text)))
    return tuple(tiles)


def _join(tiles: list[Segment], segment: Segment) -> None:
    if tiles and tiles[-1].kind == segment.kind != "pair":
        tiles[-1] = Segment(segment.kind, tiles[-1].start, segment.end)
    else:
        tiles.append(segment)
