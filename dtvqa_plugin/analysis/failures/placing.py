"""Where a text stands on an image, by the image's recognised text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from dtvqa_plugin.analysis.failures.folding import Tokens, folded, squeezed, tokens_of
from dtvqa_plugin.ocr.recognised import Line, RecognisedText

Box = tuple[float, float, float, float]

ALIKE = 0.8
"""Least similarity (0-1) of a text with a piece of the recognised text, to count as found."""

LEAST_FUZZY = 4
"""Texts with fewer characters are found exactly or not at all."""

_SPAN = 4
"""How many neighbouring lines a text may run over."""


@dataclass(frozen=True, slots=True)
class Place:
    """A text found on an image.

    Attributes:
        text: The recognised text there.
        box: Left, top, right, bottom in pixels of the upright image.
        similarity: 0-1; 1 is equal after folding.
    """

    text: str
    box: Box
    similarity: float


class Page:
    """The recognised text of one image, ready to be searched."""

    def __init__(self, text: RecognisedText) -> None:
        self.width, self.height = text.width, text.height
        lines = [(line, tokens) for line in text.lines if (tokens := tokens_of(line.text))]
        self._lines: tuple[Line, ...] = tuple(line for line, _ in lines)
        self._tokens: list[Tokens] = [tokens for _, tokens in lines]
        self._spaced = [f" {' '.join(tokens)} " for tokens in self._tokens]
        self._joined = ["".join(tokens) for tokens in self._tokens]
        self._found: dict[str, Place | None] = {}

    @cached_property
    def words(self) -> int:
        """Number of words; every character of a script without spaces counts as one."""
        return sum(len(tokens) for tokens in self._tokens)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(token for tokens in self._tokens for token in tokens)

    @cached_property
    def _all(self) -> str:
        return "".join(self._joined)

    def find(self, text: str) -> Place | None:
        """The place of a text: as it is, over neighbouring lines, or nearly so; None if absent."""
        if text not in self._found:
            self._found[text] = self._find(folded(text))
        return self._found[text]

    def holds_words(self, text: str) -> bool:
        """Whether a text has at least two words and all of them are on the image, somewhere."""
        tokens = folded(text)
        return len(tokens) > 1 and all(token in self._words for token in tokens)

    def best(self, texts: Sequence[str]) -> Place | None:
        """The most similar place of several texts, of equal ones the first."""
        places = [place for place in map(self.find, texts) if place is not None]
        return max(places, key=lambda place: place.similarity, default=None)

    def _find(self, wanted: Tokens) -> Place | None:
        if not wanted:
            return None
        spaced = f" {' '.join(wanted)} "
        for number, line in enumerate(self._spaced):
            if spaced in line:
                return self._place(number, number + 1, 1.0)
        joined = "".join(wanted)
        if len(joined) < LEAST_FUZZY:
            return self._glued(joined)
        return self._over_lines(joined) or self._nearly(joined)

    def _glued(self, joined: str) -> Place | None:
        """A short text as a whole line, blanks aside."""
        if joined not in self._joined:
            return None
        number = self._joined.index(joined)
        return self._place(number, number + 1, 1.0)

    def _over_lines(self, joined: str) -> Place | None:
        if joined not in self._all:
            return None
        start, line, position = self._all.index(joined), 0, 0
        while position + len(self._joined[line]) <= start:
            position += len(self._joined[line])
            line += 1
        last, first = line, position
        while position + len(self._joined[last]) < start + len(joined):
            position += len(self._joined[last])
            last += 1
        inside_number = joined[0].isdigit() and start > first and self._all[start - 1].isdigit()
        if last - line >= _SPAN or inside_number:
            return None
        return self._place(line, last + 1, 1.0)

    def _nearly(self, joined: str) -> Place | None:
        """The line, or a part of one, that is most like the text; never for numbers alone."""
        if not any(char.isalpha() for char in joined):
            return None
        size = len(joined)
        whole = {
            n: line for n, line in enumerate(self._joined) if size * ALIKE <= len(line) <= size
        }
        parts = {n: line for n, line in enumerate(self._joined) if len(line) > size}
        scored = (
            process.extractOne(joined, lines, scorer=scorer, score_cutoff=ALIKE * 100)
            for lines, scorer in ((whole, fuzz.ratio), (parts, fuzz.partial_ratio))
        )
        found = [(score, number) for _, score, number in filter(None, scored)]
        if not found:
            return None
        score, number = min(found, key=lambda item: (-item[0], item[1]))
        return self._place(number, number + 1, score / 100)

    def _place(self, first: int, last: int, similarity: float) -> Place:
        lines = self._lines[first:last]
        boxes = [line.box for line in lines]
        box = (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )
        return Place(" ".join(line.text for line in lines), box, similarity)


def similarity(text: str, answer: str) -> float:
    """1 minus the edit distance over the longer length, blanks and punctuation aside; 0-1."""
    return Levenshtein.normalized_similarity(squeezed(text), squeezed(answer))
