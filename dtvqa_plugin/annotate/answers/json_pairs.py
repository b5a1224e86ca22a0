"""Pairs in JSON (and what models write in its place), each string found where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import json_repair

from dtvqa_plugin.annotate.answers.labels import Labels
from dtvqa_plugin.annotate.answers.values import Span

_START = re.compile(
    r"(?:^[ \t]{0,40}|(?<=[\s:=]))(?:\w{1,60}[ \t]{0,9}=[ \t]{0,9})?"
    r"(?=[\[{(][\s\[{(]{0,60}(?://[^\n]{0,200}\s{0,60})?[\[{(]{0,9}\s{0,60}(?:[\"'“]|\w{1,60}\"?\s{0,9}:\s{0,9}[\"'“]))|\A\s*(?=\"[\[{]{1,3}\s*\\\")",
    re.MULTILINE,
)
_QUOTES = "\"'“”‘’„"
_MAX = 200_000
_MAX_DEPTH = 40


@dataclass(slots=True)
class Region:
    """One stretch of JSON: question, answers and their spans; and spans that fit no rule."""

    span: Span
    pairs: list[tuple[str, list[str], Span, list[Span]]] = field(default_factory=list)
    rest: list[Span] = field(default_factory=list)


def json_regions(text: str, labels: Labels) -> Iterator[Region]:
    """Stretches that are JSON or nearly. One without pairs has its whole span in ``rest``."""
    place = 0
    while (match := _START.search(text, place)) is not None:
        start = match.end()
        end = len(text.rstrip()) if text[start] == '"' else _closing(text, start)
        place = max(end, match.end() + 1)
        source = text[start:end]
        if not re.search(r"[\"'“][\s,:\])}”]", source) and len(source) < 3:
            continue
        yield _read(text, (match.start(), end), start, labels)


def _closing(text: str, start: int) -> int:
    """The end of the bracket at ``start``; the end of the text where it does not close."""
    depth, quoted, place = 0, "", start
    while place < len(text):
        char = text[place]
        if quoted:
            if char == "\\":
                place += 1
            elif char == quoted:
                quoted = ""
        elif char == '"':
            quoted = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    last = max(text.rfind(mark) for mark in "]}") + 1
    return last if last > start and re.fullmatch(r"[\s`]*", text[last:]) else len(text)


def _read(text: str, span: Span, start: int, labels: Labels) -> Region:
    region = Region(span)
    finder = Finder(text, (start, span[1]))
    tree = _tree(text[start : span[1]])
    walk = _Walk(labels)
    if tree is not None:
        walk.any(tree)
    for question, answers in walk.pairs:
        asked = finder.find(question, None)
        said = [asked and finder.find(answer, asked) for answer in answers]
        found = [place for place in said if place is not None]
        if asked is None or not found or len(found) < len(said):
            region.rest += [place for place in (asked, *found) if place is not None] or [span]
            continue
        region.pairs.append((question, answers, asked, found))
    for loose in walk.rest:
        region.rest.append(finder.find(loose, None) or span)
    if not region.pairs:
        region.rest = [span]
    return region


def _tree(source: str) -> Any:
    """The parsed JSON, repaired where needed; numbers stay as they are written. None for none."""
    if len(source) > _MAX or _depth(source) > _MAX_DEPTH:
        return None
    try:
        tree = json.loads(source, parse_int=str, parse_float=str)
        return _tree(tree) if isinstance(tree, str) else tree
    except (ValueError, RecursionError):
        pass
    try:
        return json_repair.loads(re.sub(r"^\s*//[^\n]*", "", source, flags=re.MULTILINE))
    except Exception:  # the library may fail on any text; such text is unread
        return None


def _depth(source: str) -> int:
    depth = most = 0
    for char in source:
        depth += (char in "[{(") - (char in "]})")
        most = max(most, depth)
    return most


class _Walk:
    """Pairs of a tree as values, and loose strings of shapes that hold none."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.pairs: list[tuple[str, list[str]]] = []
        self.rest: list[str] = []

    def any(self, item: Any) -> None:
        if isinstance(item, dict):
            self._object(item)
        elif isinstance(item, (list, tuple)):
            self._list(list(item))
        elif isinstance(item, str) and item.strip():
            self.rest.append(item)

    def _list(self, items: list[Any]) -> None:
        if items and all(isinstance(item, dict) and _role(item) for item in items):
            self._turns(items)
        elif items and all(_is_couple(item) for item in items):
            for question, answer in items:
                self._add(question, answer)
        else:
            for item in items:
                self.any(item)

    def _turns(self, turns: list[dict[str, Any]]) -> None:
        used: set[int] = set()
        said = [(_role(turn), str(turn.get("content", turn.get("value")))) for turn in turns]
        for place, ((role, text), (next_role, next_text)) in enumerate(pairwise(said)):
            if role in ("user", "human") and next_role in ("assistant", "gpt", "model"):
                self._add(text, next_text)
                used |= {place, place + 1}
        self.rest += [text for n, (_, text) in enumerate(said) if n not in used]

    def _object(self, item: dict[Any, Any]) -> None:
        sides: dict[int | None, dict[str, list[Any]]] = {}
        others: dict[str, Any] = {}
        for key, value in item.items():
            side = self.labels.side(str(key))
            if side is None or (isinstance(value, dict) and _text(value) is None):
                others[str(key)] = value
            else:
                sides.setdefault(side[1], {}).setdefault(side[0], []).append(value)
        for found in sides.values():
            self._couple(found.get("q", []), found.get("a", []), others)
        if sides and all(len(found) == 2 for found in sides.values()):
            return  # the other keys describe this pair
        if others and all(_asks(key) and _text(value) is not None for key, value in others.items()):
            for key, value in others.items():
                self._add(key, value)
            return
        for value in others.values():
            if isinstance(value, (dict, list, tuple)):
                self.any(value)

    def _couple(self, questions: list[Any], answers: list[Any], others: dict[str, Any]) -> None:
        options = any(isinstance(value, (list, dict)) for value in others.values())
        if len(questions) == len(answers) == 1:
            question, answer = questions[0], answers[0]
            question = _text(question) if isinstance(question, dict) else question
            if isinstance(question, list):
                if isinstance(answer, list) and len(question) == len(answer):
                    for one, other in zip(question, answer, strict=True):
                        self._add(one, other)
                    return
            elif not (options and re.fullmatch(r"\(?[A-Ha-h][).]?", str(answer))):
                self._add(question, answer)
                return
            elif isinstance(question, str):
                self.rest.append(question)
                return
        for value in (*questions, *answers):
            for part in value if isinstance(value, list) else [value]:
                self.any(part)

    def _add(self, question: Any, answer: Any) -> None:
        texts = [
            _text(part) for part in (answer if isinstance(answer, (list, tuple)) else [answer])
        ]
        said = list(dict.fromkeys(text for text in texts if text is not None))
        if isinstance(question, str) and question.strip() and said and None not in texts:
            self.pairs.append((question, said))
        elif isinstance(question, str):
            self.rest.append(question)


def _role(item: dict[str, Any]) -> str | None:
    role = item.get("role", item.get("from"))
    text = item.get("content", item.get("value"))
    return role if isinstance(role, str) and isinstance(text, str) else None


def _is_couple(item: Any) -> bool:
    return (
        isinstance(item, (list, tuple))
        and len(item) == 2
        and all(isinstance(part, str) for part in item)
        and _asks(item[0])
    )


def _asks(text: str) -> bool:
    return text.rstrip(" *_\"'”").endswith(("?", "？", "؟", ";"))


def _text(value: Any) -> str | None:
    """A scalar's text; an object's only text, answer or value. None for anything else or empty."""
    if isinstance(value, dict):
        return _text(next((value[k] for k in ("text", "answer", "value") if k in value), None))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


class Finder:
    """The places of strings in the source, each place once, the nearest to a place first."""

    def __init__(self, text: str, span: Span) -> None:
        self.text, self.span = text, span
        self.used: set[int] = set()

    def find(self, value: str, near: Span | None) -> Span | None:
        """The span of ``value`` between quotation marks (or of a bare number or word)."""
        places = [place for place in self._places(value) if place[0] not in self.used]
        if not places:
            return None
        target = near[1] if near else self.span[0]
        best = min(places, key=lambda place: abs(place[0] - target))
        self.used.add(best[0])
        return best

    def _places(self, value: str) -> Iterator[Span]:
        for form in _forms(value):
            start = self.text.find(form, *self.span)
            while start >= 0:
                end = start + len(form)
                if self._closed(start, end, value):
                    yield start, end
                start = self.text.find(form, start + 1, self.span[1])

    def _closed(self, start: int, end: int, value: str) -> bool:
        before, after = self.text[start - 1 : start], self.text[end : end + 2]
        if before and before in _QUOTES:
            return bool(after) and (after[0] in _QUOTES or after == '\\"')
        bare = re.fullmatch(r"-?[\d.]+|true|false", value, re.IGNORECASE) is not None
        return bare and before in " :[,\n" and bool(re.match(r"[\s,}\]]", after))


def _forms(value: str) -> list[str]:
    """How a string may be written in the source."""
    escaped = json.dumps(value)[1:-1]
    readable = json.dumps(value, ensure_ascii=False)[1:-1]
    forms = [value, readable, escaped, value.replace("'", "\\'")]
    forms += [json.dumps(form)[1:-1] for form in (readable, escaped)]
    forms += [value.capitalize()] if value in ("true", "false") else []
    return list(dict.fromkeys(forms))
