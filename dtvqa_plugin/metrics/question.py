"""ANLS, Acc and AccANLS of one question, as the paper's released scorer computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import Levenshtein

from dtvqa_plugin.metrics import diagnostics
from dtvqa_plugin.metrics.checks import (
    check_tau,
    prediction_text,
    question_name,
    reference_list,
)

__all__ = ["DEFAULT_TAU", "Score", "normalised_distance", "score"]

DEFAULT_TAU = 0.5
"""ANLS threshold of the paper: an answer whose NL is at or above it scores 0."""


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of one question, each from 0 to 1.

    Attributes:
        anls: average normalised Levenshtein similarity, the best over the answers.
        acc: 1 if the prediction contains an answer, else 0.
        accanls: acc if it is 1, else anls.
        matched_answer: the longest answer contained in the prediction (the first of equal ones);
            without one, the answer with the best ANLS above 0; else None.
        failed: the host got no answer; all scores are 0.
        prediction: the text that was scored; empty if failed.
        answers: the reference answers.

    The diagnostics below are of this project, not of the paper, and computed when asked for.
    """

    anls: float
    acc: float
    accanls: float
    matched_answer: str | None
    failed: bool
    prediction: str = field(repr=False)
    answers: tuple[str, ...] = field(repr=False)

    @property
    def exact_match(self) -> bool:
        """The whole output equals an answer, case aside."""
        if not self.acc:  # an equal answer is contained
            return False
        text = self.prediction.lower()
        return any(text == answer.lower() for answer in self.answers)

    @property
    def acc_word(self) -> bool:
        """An answer occurs in the output with a token boundary on either side."""
        if not self.acc:
            return False
        text = self.prediction.lower()
        return any(diagnostics.is_word_match(text, answer.lower()) for answer in self.answers)

    @property
    def length_ratio(self) -> float | None:
        """Length of the output over that of the matched answer; None if nothing matched."""
        return diagnostics.length_ratio(self.prediction, self.matched_answer)


def score(
    prediction: object,
    answers: Sequence[str],
    tau: float = DEFAULT_TAU,
    *,
    question_id: str | None = None,
) -> Score:
    """Score one prediction against its reference answers.

    The text is scored as given: neither white space nor reasoning is removed here (the paper's
    runners strip the output first, and so does `prepare`). None, NaN and a host's failure marker
    are a failed question, which scores 0.

    Args:
        prediction: The text to score, a `Prepared` prediction, or a failure.
        answers: The reference answers, at least one, none blank.
        tau: ANLS threshold, above 0 and at most 1 (paper: 0.5).
        question_id: Name of the question in error messages.

    Returns:
        ANLS, Acc and AccANLS (0-1) with the matched answer.

    Raises:
        ValueError: The prediction is neither text nor a failure; there are no answers; an answer is
            blank or not a string; a bare string is given as the list; or ``tau`` is out of range.
            The message names the question.

    Source: section on evaluation of the paper (arXiv 2405.06706) and its released scorer.
    """
    check_tau(tau)
    name = question_name(question_id)
    references = tuple(reference_list(answers, name))
    text = prediction_text(prediction, name)
    if text is None:
        return Score(0.0, 0.0, 0.0, None, True, "", references)
    anls, acc, matched = _compare(text, references, tau)
    accanls = acc if acc > 0 else anls
    return Score(anls, acc, accanls, matched, False, text, references)


def normalised_distance(answer: str, text: str, max_length: int, tau: float) -> float:
    """NL of two lower-cased texts; exact where it is below `tau`, else anything from `tau` up.

    `max_length` is the greater length before lower-casing, by which the released scorer divides;
    lower-casing can lengthen a text. The cut-off lies at least one edit above the largest
    distance that can score, so no rounding of it can change a value.
    """
    cutoff = int(tau * max_length) + 1
    return Levenshtein.distance(answer, text, score_cutoff=cutoff) / max_length


def _compare(
    prediction: str, answers: tuple[str, ...], tau: float
) -> tuple[float, float, str | None]:
    """ANLS, Acc and the matched answer, in one pass over the answers."""
    text = prediction.lower()
    anls = 0.0
    nearest: str | None = None
    contained: str | None = None
    contained_length = 0
    for answer in answers:
        lowered = answer.lower()
        max_length = max(len(answer), len(prediction))
        # The difference in length bounds the distance from below; for a part of the text it is
        # the distance.
        distance = abs(len(lowered) - len(text)) / max_length
        if lowered in text:
            if len(lowered) > contained_length:
                contained, contained_length = answer, len(lowered)
        elif distance < tau:
            distance = normalised_distance(lowered, text, max_length, tau)
        if distance < tau and 1 - distance > anls:
            anls, nearest = 1 - distance, answer
    if contained is not None:
        return anls, 1.0, contained
    return anls, 0.0, nearest
