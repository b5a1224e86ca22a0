"""ANLS, Acc and AccANLS over a corpus: the same values as `score`, in one vectorised pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import contains
from typing import cast

import numpy as np
import numpy.typing as npt

from dtvqa_plugin.metrics.checks import (
    check_tau,
    prediction_text,
    question_name,
    reference_list,
)
from dtvqa_plugin.metrics.predictions import FAILURE_PREFIX, is_failure
from dtvqa_plugin.metrics.question import DEFAULT_TAU, Score, normalised_distance

__all__ = ["Aggregate", "CorpusScores", "Diagnostics", "score_corpus"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Means over questions, each from 0 to 1; failed questions count, with 0.

    The mean is the built-in sum over the count, in the order given, as in the released scorer and
    in lmms-eval, so that equal inputs give equal bits.
    """

    n: int
    failed: int
    anls: float
    acc: float
    accanls: float


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostics:
    """Diagnostics of ours for every question, each of shape (n,).

    `length_ratio` is NaN where no answer matched.
    """

    exact_match: BoolArray
    acc_word: BoolArray
    length_ratio: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Every (question, answer) pair in order, and where each question's pairs begin."""

    answers: list[str]
    starts: IntArray
    counts: IntArray
    contained: BoolArray
    lowered_lengths: IntArray
    similarity: FloatArray


class CorpusScores:
    """Scores of n questions, in the order given, each from 0 to 1.

    Attributes:
        anls, acc, accanls: float64 arrays of shape (n,).
        failed: bool array of shape (n,): the host got no answer.

    Indexing gives the `Score` of one question. Matched answers, means and diagnostics are
    computed when first asked for.
    """

    def __init__(
        self,
        anls: FloatArray,
        acc: FloatArray,
        failed: BoolArray,
        predictions: list[str],
        pairs: _Pairs,
        subsets: list[str] | None,
    ) -> None:
        self.anls = anls
        self.acc = acc
        self.accanls = np.where(acc > 0, acc, anls)
        self.failed = failed
        self._predictions = predictions
        self._pairs = pairs
        self._subsets = subsets

    def __len__(self) -> int:
        return len(self._predictions)

    def __getitem__(self, index: int) -> Score:
        start = int(self._pairs.starts[index])
        stop = start + int(self._pairs.counts[index])
        return Score(
            anls=float(self.anls[index]),
            acc=float(self.acc[index]),
            accanls=float(self.accanls[index]),
            matched_answer=self.matched_answers[index],
            failed=bool(self.failed[index]),
            prediction=self._predictions[index],
            answers=tuple(self._pairs.answers[start:stop]),
        )

    @cached_property
    def matched_answers(self) -> list[str | None]:
        """The answer that matched, question by question, chosen as `Score` says."""
        pairs = self._pairs
        # Similarity is at most 1, so that any contained answer outranks one that is merely near.
        rank = np.where(pairs.contained, 1.0 + pairs.lowered_lengths, pairs.similarity)
        best = np.maximum.reduceat(rank, pairs.starts)
        is_best = rank == np.repeat(best, pairs.counts)
        place = np.where(is_best, np.arange(len(rank)), len(rank))
        first = np.minimum.reduceat(place, pairs.starts)
        return [
            pairs.answers[index] if top > 0 else None
            for index, top in zip(first.tolist(), best.tolist(), strict=True)
        ]

    @cached_property
    def overall(self) -> Aggregate:
        """Means over all n questions."""
        return _aggregate(self.anls, self.acc, self.accanls, self.failed)

    @cached_property
    def by_subset(self) -> dict[str, Aggregate]:
        """Means of each subset, in order of first appearance; empty if no subsets were given."""
        if self._subsets is None:
            return {}
        places: dict[str, list[int]] = {}
        for index, subset in enumerate(self._subsets):
            places.setdefault(subset, []).append(index)
        return {
            subset: _aggregate(
                self.anls[index], self.acc[index], self.accanls[index], self.failed[index]
            )
            for subset, index in places.items()
        }

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Diagnostics of every question."""
        scores = [self[index] for index in range(len(self))]
        ratios = [np.nan if s.length_ratio is None else s.length_ratio for s in scores]
        return Diagnostics(
            exact_match=np.array([s.exact_match for s in scores], dtype=np.bool_),
            acc_word=np.array([s.acc_word for s in scores], dtype=np.bool_),
            length_ratio=np.array(ratios, dtype=np.float64),
        )


def score_corpus(
    predictions: Iterable[object],
    answers: Iterable[Sequence[str]],
    subsets: Iterable[str] | None = None,
    tau: float = DEFAULT_TAU,
    *,
    question_ids: Iterable[str] | None = None,
) -> CorpusScores:
    """Score n predictions against their reference answers; the values are those of `score`.

    Args:
        predictions: n texts; None, NaN and failure markers are failed questions.
        answers: n lists of reference answers.
        subsets: n names, for the means of each subset.
        tau: ANLS threshold, above 0 and up to 1.
        question_ids: n names for error messages; without them the index is named.

    Raises:
        ValueError: as `score` does, for the first question at fault; also if there are no
            questions, or if the arguments differ in length.
    """
    check_tau(tau)
    given = _as_list(predictions, "predictions")
    names = _Names(question_ids)
    references = _as_list(answers, "answers")
    groups = None if subsets is None else _as_list(subsets, "subsets")
    _check_lengths(len(given), answers=references, subsets=groups, question_ids=names.ids)

    lowered_answers, flat, counts = _flatten(references, names)
    texts, lowered, failed = _lower(given, names)
    starts = np.cumsum(counts) - counts
    text_lengths = np.repeat(_lengths(texts), counts)
    lowered_lengths = _lengths(lowered_answers)
    max_lengths = np.maximum(_lengths(flat), text_lengths)
    # An object array repeats references, several times faster than a list can.
    repeated = np.repeat(np.array(lowered, dtype=object), counts).tolist()

    contained = np.fromiter(map(contains, repeated, lowered_answers), np.bool_, len(flat))
    gaps = np.abs(np.repeat(_lengths(lowered), counts) - lowered_lengths)
    # Exact for a contained answer, a lower bound for the others.
    distances = gaps / max_lengths
    for index in np.flatnonzero((distances < tau) & ~contained).tolist():
        distances[index] = normalised_distance(
            lowered_answers[index], repeated[index], int(max_lengths[index]), tau
        )
    similarity = np.where(distances < tau, 1 - distances, 0.0)
    return CorpusScores(
        anls=np.maximum.reduceat(similarity, starts),
        acc=np.maximum.reduceat(contained, starts).astype(np.float64),
        failed=failed,
        predictions=texts,
        pairs=_Pairs(flat, starts, counts, contained, lowered_lengths, similarity),
        subsets=cast("list[str] | None", groups),
    )


class _Names:
    """Names of questions in error messages."""

    def __init__(self, question_ids: Iterable[str] | None) -> None:
        self.ids = None if question_ids is None else _as_list(question_ids, "question_ids")

    def __getitem__(self, index: int) -> str:
        return question_name(None if self.ids is None else self.ids[index], index)


def _as_list(values: Iterable[object], argument: str) -> list[object]:
    if isinstance(values, (str, bytes, Mapping)):
        raise ValueError(f"{argument} must hold one entry a question, got {type(values).__name__}")
    return values if isinstance(values, list) else list(values)


def _check_lengths(n: int, **others: list[object] | None) -> None:
    for argument, values in others.items():
        if values is not None and len(values) != n:
            raise ValueError(
                f"{n} predictions but {len(values)} {argument}: each question needs one of each"
            )
    if n == 0:
        raise ValueError("there are no questions to score")


def _flatten(references: list[object], names: _Names) -> tuple[list[str], list[str], IntArray]:
    """All answers lower-cased and as given, and how many each question has."""
    if set(map(type, references)) <= {list, tuple}:
        lists = cast("list[list[str]]", references)
        flat = list(chain.from_iterable(lists))
        counts = np.fromiter(map(len, lists), np.int64, len(lists))
        if counts.min() > 0 and set(map(type, flat)) == {str} and all(map(str.strip, flat)):
            return list(map(str.lower, flat)), flat, counts
    checked = [reference_list(entry, names[i]) for i, entry in enumerate(references)]
    flat = list(chain.from_iterable(checked))
    return list(map(str.lower, flat)), flat, np.array(list(map(len, checked)), dtype=np.int64)


def _lower(given: list[object], names: _Names) -> tuple[list[str], list[str], BoolArray]:
    """Predictions as given (empty where failed), lower-cased, and which of them failed."""
    failed = np.zeros(len(given), dtype=np.bool_)
    if set(map(type, given)) == {str}:
        texts = cast("list[str]", given)
        long_enough = np.flatnonzero(_lengths(texts) >= len(FAILURE_PREFIX)).tolist()
        marked = [index for index in long_enough if is_failure(texts[index])]
        if not marked:
            return texts, list(map(str.lower, texts)), failed
    checked = [prediction_text(entry, names[i]) for i, entry in enumerate(given)]
    failed = np.array([text is None for text in checked], dtype=np.bool_)
    texts = ["" if text is None else text for text in checked]
    return texts, list(map(str.lower, texts)), failed


def _lengths(texts: list[str]) -> IntArray:
    return np.fromiter(map(len, texts), np.int64, len(texts))


def _aggregate(
    anls: FloatArray, acc: FloatArray, accanls: FloatArray, failed: BoolArray
) -> Aggregate:
    n = len(anls)
    return Aggregate(
        n=n,
        failed=int(failed.sum()),
        anls=sum(anls.tolist()) / n,
        acc=sum(acc.tolist()) / n,
        accanls=sum(accanls.tolist()) / n,
    )
