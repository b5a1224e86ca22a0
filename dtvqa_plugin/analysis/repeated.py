"""Outputs that a run repeats: a model that answers everything with one word shows here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dtvqa_plugin.metrics.scored import ScoredAnswer

SHOWN = 5
"""How many of the most frequent outputs are kept."""

LEAST = 5
"""An output that stands fewer times than this is no sign of a run that repeats itself."""

REPEATED_SHARE = 0.1
"""A warning is due when one output makes up a larger share of all. No answer of the test set is
right for more than 19 of its 1,200 questions."""

_TEXT_SHOWN = 60


@dataclass(frozen=True, slots=True)
class FrequentOutput:
    """An output that a run gives more than once, case, blanks and outer punctuation aside.

    Attributes:
        text: The output as it first stands, cut for display.
        count: How many questions it answers.
        share: The same over all outputs that say something, 0-1.
        hits: For how many of them Acc is 1.
    """

    text: str
    count: int
    share: float
    hits: int

    @property
    def warn(self) -> bool:
        """Whether the run answers with this output too often, and it is mostly wrong."""
        return self.count >= LEAST and self.share > REPEATED_SHARE and self.hits * 2 < self.count

    def warning(self) -> str:
        """The sentence that belongs under a table."""
        return (
            f"{self.share:.0%} of the outputs are {self.text!r} ({self.count} questions, "
            f"{self.hits} of them Acc hits)"
        )


def frequent_outputs(answers: Sequence[ScoredAnswer]) -> tuple[FrequentOutput, ...]:
    """The most frequent outputs of a run, those given once left out; ties by first appearance."""
    said = [answer for answer in answers if answer.text]
    keys = [_key(answer) for answer in said]
    found = []
    for wanted, count in Counter(keys).most_common(SHOWN):
        if count > 1:
            alike = [answer for key, answer in zip(keys, said, strict=True) if key == wanted]
            hits = sum(answer.acc > 0 for answer in alike)
            found.append(FrequentOutput(_cut(alike[0].text), count, count / len(said), hits))
    return tuple(found)


def _key(answer: ScoredAnswer) -> str:
    text = " ".join(answer.text.lower().split())
    text = text.strip(".,;:!?。，！？ ") or text
    # Of a long output only the beginning is kept: equal ones have the same length too.
    return text if answer.length == len(answer.text) else f"{text}\0{answer.length}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_SHOWN else line[: _TEXT_SHOWN - 1] + "…"
