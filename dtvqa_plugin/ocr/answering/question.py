"""What a question asks for, read from its words: no language model, a few patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dtvqa_plugin.ocr.answering.lexicon import STOP_WORDS
from dtvqa_plugin.ocr.answering.words import tokens

Asked = Literal["who", "which", "when", "where", "count", "length", "other"]

# Sentences that tell the model how to answer, in the paper's prompt and in the hosts' own.
_INSTRUCTION = re.compile(
    r"[^.?!？。！\n]*\b(?:word or phrase|as an answer|answer the question)\b"
    r"[^.?!？。！\n]*(?:[.:!。！]\s*|$)",
    re.IGNORECASE,
)
_ANSWER_CUE = re.compile(r"\s*\banswer:\s*$", re.IGNORECASE)

_ASKED: tuple[tuple[Asked, re.Pattern[str]], ...] = (
    ("count", re.compile(r"\bhow (?:many|much)\b|\bwhat (?:number|percentage)\b")),
    ("length", re.compile(r"\bhow (?:long|old|far|tall|high)\b")),
    ("who", re.compile(r"\bwho(?:m|se)?\b")),
    ("when", re.compile(r"\bwhen\b|\b(?:which|what) (?:date|day|year|season)\b")),
    ("where", re.compile(r"\bwhere\b")),
    (
        "which",
        re.compile(r"\b(?:which|what) (?!is\b|was\b|are\b|were\b|did\b|does\b|do\b)|\bname of\b"),
    ),
)
_AUXILIARY = r"(?:is|was|are|were|did|does|do|has|had|have)\b"
_TARGETS = (
    # "which TARGET ...", "how many TARGET ..."
    re.compile(rf"\b(?:which|what|how many|how much)(?: of the)? (?!{_AUXILIARY})(.+)"),
    # "what was the (name of the) TARGET ..."
    re.compile(
        r"\b(?:which|what)\b.*?(?:'s|\b(?:is|was|are|were))(?: the)?"
        r"(?: (?:name|title|number|amount|quantity|value)s? of(?: the)?)? (.+)"
    ),
)
_MOST = {
    "most": 1, "highest": 1, "largest": 1, "biggest": 1, "longest": 1, "greatest": 1,
    "maximum": 1, "latest": 1, "last": 1, "oldest": 1, "youngest": -1, "tallest": 1,
    "slowest": 1, "heaviest": 1, "newest": 1, "more": 1, "best": 1,
    "least": -1, "lowest": -1, "smallest": -1, "fewest": -1, "shortest": -1, "minimum": -1,
    "earliest": -1, "fastest": -1, "lightest": -1, "worst": -1, "fewer": -1,
}  # fmt: skip
_PLACES = ("2", "3", "4", "5")


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart.

    Attributes:
        text: the question without instructions to the model.
        words: its content words, levelled.
        target: the kind of thing wanted, most telling word first.
        asked: which question word leads it.
        extreme: 1 where the largest of something is asked for, -1 the smallest, 0 neither.
        measure: what the extreme is the largest of, most telling word first.
        place: 1 for the largest itself, 2 for the second largest, and so on.
    """

    text: str
    words: tuple[str, ...]
    target: tuple[str, ...]
    asked: Asked
    extreme: int
    measure: tuple[str, ...]
    place: int = 1


def strip_instructions(question: str) -> str:
    """The bare question, whether or not a prompt stands before or after it."""
    bare = _ANSWER_CUE.sub("", _INSTRUCTION.sub("", question)).strip()
    if bare != question.strip():
        bare = bare.removeprefix("Question: ")
    return bare or question.strip()


def parse(question: str) -> Question:
    """Read `question`, prompted or bare."""
    text = strip_instructions(question)
    lower = _leading_place(text.lower().strip(" ?？"))
    target = _target(lower)
    extreme, measure, place = _extreme(lower, target)
    return Question(
        text=text,
        words=tuple(word for word in tokens(lower) if word not in STOP_WORDS),
        target=target,
        asked=next((kind for kind, pattern in _ASKED if pattern.search(lower)), "other"),
        extreme=extreme,
        measure=measure,
        place=place,
    )


def _leading_place(lower: str) -> str:
    """Spell out the places that winners and runners-up hold."""
    lower = re.sub(r"\brunners?[- ]up\b", "runner-up 2 place", lower)
    if re.match(r"(?:who|which \w+|what \w+) (?:won|is the winner|was the winner)\b", lower):
        lower += " (1 place)"
    return lower


def _target(lower: str) -> tuple[str, ...]:
    """The first content words after "which" / "what was the" / "how many", at most three."""
    found = next(filter(None, (pattern.search(lower) for pattern in _TARGETS)), None)
    phrase = found[1] if found else ""
    target: list[str] = []
    for word in re.findall(r"[\w'-]+", phrase):
        if word in STOP_WORDS:
            if target:
                break
            continue
        target += tokens(word)
    return tuple(target[:3])


def _extreme(lower: str, target: tuple[str, ...]) -> tuple[int, tuple[str, ...], int]:
    """Direction, what is measured (most telling first), and which place from the extreme."""
    for found in re.finditer(r"[a-z]+", lower):
        if found[0] in _MOST:
            after = [w for w in tokens(lower[found.end() :]) if w not in STOP_WORDS][:3]
            before = [w for w in tokens(lower[: found.start()]) if w not in STOP_WORDS]
            place = int(before[-1]) if before and before[-1] in _PLACES else 1
            said = [w for w in before if w not in target and not w.isdigit()]
            return _MOST[found[0]], (*after, *said[-1:], found[0]), place
    return 0, (), 1
