"""One model output, prepared and scored: the one record that hosts log and reports read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dtvqa_plugin.metrics.predictions import prepare
from dtvqa_plugin.metrics.question import DEFAULT_TAU, score

__all__ = ["Passage", "ScoredAnswer", "Unanswered", "origins", "score_answer"]

Unanswered = Literal["failed", "truncated", "empty"]


AROUND = 200
"""Characters kept on each side of a matched answer that `ScoredAnswer.cut` would cut away."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a long output.

    Attributes:
        start: its place in the whole text.
        text: the part.
        match: where the matched answer is in ``text``: start and end.
    """

    start: int
    text: str
    match: tuple[int, int]


@dataclass(slots=True)
class ScoredAnswer:
    """One output of one question, scored.

    Shared between runs and never changed. It is not frozen, since making a frozen dataclass of so
    many fields takes as long as the scoring.

    Attributes:
        question_id: the question.
        text: what was scored (reasoning and outer white space removed), or its start after `cut`.
        length: number of code points of the whole scored text.
        anls: 0-1, as the paper's released scorer gives it, like ``acc`` and ``accanls``.
        matched_answer: the reference answer that the scores rest on; None if there is none.
        exact_match: the whole output equals a reference answer, case aside. Not a paper metric.
        acc_word: a reference answer stands between token boundaries. Not a paper metric.
        length_ratio: length of the output over that of the matched answer; None without one.
        failed: the host got no output.
        truncated: the output ends inside its reasoning.
        loss: what the file format destroyed of the output; None if it is whole.
        passage: the matched answer in its context, where `cut` removed it from ``text``.
    """

    question_id: str
    text: str
    length: int
    anls: float
    acc: float
    accanls: float
    matched_answer: str | None
    exact_match: bool
    acc_word: bool
    length_ratio: float | None
    failed: bool
    truncated: bool
    loss: str | None = None
    passage: Passage | None = None

    @property
    def unanswered(self) -> Unanswered | None:
        """Why there is nothing to score: failed, truncated or empty; None for an answer."""
        if self.failed:
            return "failed"
        if self.truncated:
            return "truncated"
        return None if self.text else "empty"

    @property
    def empty(self) -> bool:
        """Whether the model answered with nothing (and the call neither failed nor broke off)."""
        return self.unanswered == "empty"

    def cut(self, limit: int) -> ScoredAnswer:
        """The same record with at most ``limit`` characters of its text; scores stay.

        A matched answer beyond them stays in ``passage``, at most ``limit`` characters of it.

        Args:
            limit: Maximum number of characters.

        Returns:
            This record if its text is short enough, else a copy.
        """
        if len(self.text) <= limit:
            return self
        return replace(self, text=self.text[:limit], passage=self._beyond(limit))

    def _beyond(self, limit: int) -> Passage | None:
        if self.acc <= 0 or not self.matched_answer:
            return None
        wanted = self.matched_answer.lower()
        found = self.text.lower().find(wanted)
        if found < 0:
            return None
        places = origins(self.text)
        first, last = places[found], places[found + len(wanted) - 1] + 1
        if last <= limit:
            return None
        last = min(last, first + limit)
        start = max(0, first - AROUND)
        return Passage(start, self.text[start : last + AROUND], (first - start, last - start))


def origins(text: str) -> Sequence[int]:
    """For each character of ``text.lower()`` the place in ``text`` that it comes from."""
    if len(text.lower()) == len(text):
        return range(len(text))
    return [place for place, char in enumerate(text) for _ in char.lower()]


def score_answer(
    prediction: object,
    answers: Sequence[str],
    question_id: str,
    tau: float = DEFAULT_TAU,
    *,
    loss: str | None = None,
) -> ScoredAnswer:
    """Score one raw output: reasoning and outer white space are removed first.

    Args:
        prediction: what the host or the file holds: text, None for a failed call, anything else.
        answers: the reference answers.
        question_id: names the question in the record and in errors.
        tau: ANLS threshold.
        loss: what the file format destroyed of the output.

    Returns:
        The record, its text whole.

    Raises:
        ValueError: naming the question, for unusable reference answers or ``tau``.
    """
    prepared = prepare(prediction)
    scored = score(prepared, answers, tau, question_id=question_id)
    return ScoredAnswer(
        question_id=question_id,
        text=prepared.text,
        length=len(prepared.text),
        anls=scored.anls,
        acc=scored.acc,
        accanls=scored.accanls,
        matched_answer=scored.matched_answer,
        exact_match=scored.exact_match,
        acc_word=scored.acc_word,
        length_ratio=scored.length_ratio,
        failed=prepared.failed,
        truncated=prepared.truncated,
        loss=loss,
    )
