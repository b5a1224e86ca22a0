"""What a reader sees of one output: the matched answer marked, or the edit that separates them.

Texts are compared lower-cased, as the metric does, and shown as they were written. Pieces are
text, never offsets, because a browser counts characters otherwise than Python does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rapidfuzz.distance import Levenshtein

from dtvqa_plugin.metrics.scored import Passage, origins

Piece: TypeAlias = tuple[str, str | int]
"""(kind, text). Kinds: ``=`` plain, ``m`` matched answer, ``-`` only in the reference, ``+`` only
in the output; ``gap`` stands for characters left out and carries their number."""

PLAIN, MATCH, MISSING, EXTRA, GAP = "=", "m", "-", "+", "gap"

NEAREST_SHOWN = 0.75
"""An output without credit is shown against its nearest reference if its normalised distance is
below this; further away an edit explains nothing."""

LEAD = 40
"""Characters shown before a match that lies far into a long output."""

Span: TypeAlias = tuple[int, int]


def mark_match(text: str, answer: str) -> list[Span]:
    """The places of ``answer`` in ``text``, case aside: (start, end), without overlap."""
    lowered, wanted = text.lower(), answer.lower()
    places = origins(text)
    spans = []
    start = lowered.find(wanted) if wanted else -1
    while start >= 0:
        stop = start + len(wanted)
        spans.append((places[start], places[stop - 1] + 1))
        start = lowered.find(wanted, stop)
    return spans


def excerpt(text: str, spans: Sequence[Span], limit: int, length: int) -> list[Piece]:
    """``text`` in pieces with ``spans`` marked, about ``limit`` characters of it.

    ``length`` is how long the output was before ``text`` itself was cut. If the first span lies
    beyond the limit, the beginning and its surroundings are kept.
    """
    pieces: list[Piece] = []
    done = 0
    for start, stop in _windows(len(text), spans, limit):
        if start > done:
            pieces.append((GAP, start - done))
        pieces += _marked(text, start, stop, spans)
        done = stop
    if length > done:
        pieces.append((GAP, length - done))
    return pieces


def excerpt_beyond(text: str, passage: Passage, limit: int, length: int) -> list[Piece]:
    """The beginning of an output and the passage with its matched answer, ``limit`` characters.

    ``text`` is the beginning, ``length`` how long the whole output was.
    """
    head = min(limit // 3, passage.start, len(text))
    first, last = passage.match
    start = max(0, first - LEAD)
    stop = min(len(passage.text), start + limit - head)
    pieces: list[Piece] = [(PLAIN, text[:head])] if head else []
    if passage.start + start > head:
        pieces.append((GAP, passage.start + start - head))
    pieces += _marked(passage.text, start, stop, [(first, last)])
    if length > passage.start + stop:
        pieces.append((GAP, length - passage.start - stop))
    return pieces


def _windows(size: int, spans: Sequence[Span], limit: int) -> list[Span]:
    if size <= limit:
        return [(0, size)]
    if not spans or spans[0][1] <= limit:
        return [(0, limit)]
    head = limit // 3
    start = max(head, spans[0][0] - LEAD)
    return [(0, head), (start, min(size, start + limit - head))]


def _marked(text: str, start: int, stop: int, spans: Sequence[Span]) -> Iterator[Piece]:
    place = start
    for first, last in spans:
        a, b = max(first, place), min(last, stop)
        if a >= b:
            continue
        if a > place:
            yield PLAIN, text[place:a]
        yield MATCH, text[a:b]
        place = b
    if place < stop:
        yield PLAIN, text[place:stop]


def nearest(text: str, answers: Sequence[str]) -> tuple[str, float]:
    """The reference with the smallest normalised distance (0-1) to ``text``, and that distance."""
    lowered = text.lower()
    distances = [
        Levenshtein.distance(answer.lower(), lowered) / max(len(answer), len(text), 1)
        for answer in answers
    ]
    best = min(range(len(answers)), key=distances.__getitem__)
    return answers[best], distances[best]


def edit(answer: str, text: str) -> list[Piece]:
    """The smallest edit from a reference to an output, in pieces; equal ones as in the output."""
    from_answer, from_text = origins(answer), origins(text)
    pieces: list[Piece] = []
    for step in Levenshtein.opcodes(answer.lower(), text.lower()):
        old = _slice(answer, from_answer, step.src_start, step.src_end)
        new = _slice(text, from_text, step.dest_start, step.dest_end)
        if step.tag == "equal":
            pieces.append((PLAIN, new))
            continue
        if old:
            pieces.append((MISSING, old))
        if new:
            pieces.append((EXTRA, new))
    return pieces


def _slice(text: str, places: Sequence[int], start: int, stop: int) -> str:
    """The characters behind a stretch of the lower-cased text; a split one goes to its start."""
    if start == stop:
        return ""
    first = places[start]
    if start > 0 and places[start - 1] == first:
        first += 1
    return text[first : places[stop - 1] + 1]
