"""ANLS, Acc and AccANLS over a corpus: the same values as `score`, in one vectorised pass."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import contains, itemgetter
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from dtvqa_plugin.metrics.checks import (
    check_tau,
    prediction_text,
    question_name,
    reference_list,
)
from dtvqa_plugin.metrics.predictions import FAILURE_PREFIXES
from dtvqa_plugin.metrics.question import DEFAULT_TAU, Score, normalised_distance

__all__ = ["Aggregate", "CorpusScores", "Diagnostics", "References", "score_corpus"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

LENGTHENED = "\u0130"
"""The one character that is not one character in lower case (a test asks the running Python)."""
SHORT = 64
"""Mean length, in characters, up to which texts are searched as one."""
_heads = {prefix: itemgetter(slice(len(prefix))) for prefix in FAILURE_PREFIXES}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Means over n questions, each from 0 to 1; failed questions count, with 0.

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
    """Diagnostics of this project for every question, each of shape (n,).

    `length_ratio` is NaN where no answer matched.
    """

    exact_match: BoolArray
    acc_word: BoolArray
    length_ratio: FloatArray


class References:
    """The reference answers of n questions, checked and lower-cased once.

    `score_corpus` takes it in place of the lists, which saves about a third of the time when many
    models are scored on the same questions. A copy: later changes to the lists have no effect.

    Raises:
        ValueError: as `score` does for reference answers, for the first question at fault.
    """

    __slots__ = ("counts", "flat", "keep_lengths", "lowered", "question_ids", "starts")

    def __init__(
        self, answers: Iterable[Sequence[str]], question_ids: Iterable[str] | None = None
    ) -> None:
        lists: Sequence[Any] = _as_list(answers, "answers")
        self.question_ids = None if question_ids is None else _as_list(question_ids, "question_ids")
        _check_lengths("answers", len(lists), question_ids=self.question_ids)
        flat = _flatten(lists)
        if flat is None:
            checked = [reference_list(entry, self.name(i)) for i, entry in enumerate(lists)]
            lists, flat = checked, list(chain.from_iterable(checked))
        self.flat = flat
        self.lowered = list(map(str.lower, flat))
        self.keep_lengths = _keep_lengths(flat)
        self.counts: IntArray = np.fromiter(map(len, lists), np.int64, len(lists))
        self.starts: IntArray = np.cumsum(self.counts) - self.counts

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, index: int) -> tuple[str, ...]:
        start = int(self.starts[index])
        return tuple(self.flat[start : start + int(self.counts[index])])

    def name(self, index: int) -> str:
        """How an error message names a question.

        Args:
            index: Its position.

        Returns:
            Its id, or its index if there are no ids.
        """
        return question_name(None if self.question_ids is None else self.question_ids[index], index)


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
        references: References,
        predictions: list[str],
        failed: BoolArray,
        contained: BoolArray,
        similarity: FloatArray,
        subsets: list[str] | None,
    ) -> None:
        self.failed = failed
        self.anls: FloatArray = np.maximum.reduceat(similarity, references.starts)
        self.acc: FloatArray = np.maximum.reduceat(contained, references.starts).astype(np.float64)
        self.accanls: FloatArray = np.where(self.acc > 0, self.acc, self.anls)
        self._references = references
        self._predictions = predictions
        self._contained = contained
        self._similarity = similarity
        self._subsets = subsets

    def __len__(self) -> int:
        return len(self._predictions)

    def __getitem__(self, index: int) -> Score:
        return Score(
            anls=float(self.anls[index]),
            acc=float(self.acc[index]),
            accanls=float(self.accanls[index]),
            matched_answer=self.matched_answers[index],
            failed=bool(self.failed[index]),
            prediction=self._predictions[index],
            answers=self._references[index],
        )

    def __iter__(self) -> Iterator[Score]:
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def matched_answers(self) -> list[str | None]:
        """The answer that matched, question by question, chosen as `Score` says."""
        references = self._references
        lengths = np.fromiter(map(len, references.lowered), np.int64, len(references.lowered))
        # Similarity is at most 1, so that any contained answer outranks one that is merely near.
        rank = np.where(self._contained, 1.0 + lengths, self._similarity)
        best = np.maximum.reduceat(rank, references.starts)
        is_best = rank == np.repeat(best, references.counts)
        place = np.where(is_best, np.arange(len(rank)), len(rank))
        first = np.minimum.reduceat(place, references.starts)
        return [
            references.flat[index] if top > 0 else None
            for index, top in zip(first.tolist(), best.tolist(), strict=True)
        ]

    @cached_property
    def overall(self) -> Aggregate:
        """Means over all n questions."""
        return _aggregate(self.anls, self.acc, self.accanls, self.failed)

    @cached_property
    def by_subset(self) -> dict[str, Aggregate]:
        """Means of each subset, in order of first appearance; empty if no subsets were given."""
        places: dict[str, list[int]] = {}
        for index, subset in enumerate(self._subsets or ()):
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
        scores = list(self)
        ratios = [np.nan if s.length_ratio is None else s.length_ratio for s in scores]
        return Diagnostics(
            exact_match=np.array([s.exact_match for s in scores], dtype=np.bool_),
            acc_word=np.array([s.acc_word for s in scores], dtype=np.bool_),
            length_ratio=np.array(ratios, dtype=np.float64),
        )


def score_corpus(
    predictions: Iterable[object],
    answers: Iterable[Sequence[str]] | References,
    subsets: Iterable[str] | None = None,
    tau: float = DEFAULT_TAU,
    *,
    question_ids: Iterable[str] | None = None,
) -> CorpusScores:
    """Score n predictions against their reference answers; the values are those of `score`.

    Args:
        predictions: n texts; None, NaN and failure markers are failed questions.
        answers: n lists of reference answers, or `References` made from them.
        subsets: n names, for the means of each subset.
        tau: ANLS threshold, above 0 and up to 1.
        question_ids: n names for error messages (the index without them); `References` bring
            their own.

    Returns:
        Scores of every question and the means (0-1), overall and by subset.

    Raises:
        ValueError: as `score` does, for the first question at fault; also if there are no
            questions, or if the arguments differ in length.
    """
    check_tau(tau)
    given = _as_list(predictions, "predictions")
    references = answers if isinstance(answers, References) else References(answers, question_ids)
    groups = None if subsets is None else _as_list(subsets, "subsets")
    _check_lengths("predictions", len(given), answers=references, subsets=groups)
    if not given:
        raise ValueError("there are no questions to score")

    texts, lowered, failed = _texts(given, references)
    contained, similarity = _compare(texts, lowered, references, tau)
    return CorpusScores(
        references, texts, failed, contained, similarity, cast("list[str] | None", groups)
    )


def _flatten(lists: Sequence[Any]) -> list[str] | None:
    """All answers in order; None unless they are in non-empty lists of non-blank strings."""
    if not set(map(type, lists)) <= {list, tuple} or not all(lists):
        return None
    flat = list(chain.from_iterable(lists))
    try:
        return flat if all(map(str.strip, flat)) else None
    except TypeError:  # not all of them are strings
        return None


def _compare(
    texts: list[str], lowered: list[str], references: References, tau: float
) -> tuple[BoolArray, FloatArray]:
    """Whether each answer is contained, and its similarity: 1 - NL if NL < tau, else 0."""
    # An object array repeats references several times faster than a list can.
    repeated = np.repeat(np.array(lowered, dtype=object), references.counts).tolist()
    contained = np.frombuffer(bytes(map(contains, repeated, references.lowered)), dtype=np.bool_)
    distances = _distances(references.lowered, repeated, tau)
    if not (references.keep_lengths and _keep_lengths(texts)):
        _divide_by_original_lengths(distances, texts, repeated, references, tau)
    return contained, np.where(distances < tau, 1 - distances, 0.0)


def _distances(answers: list[str], texts: list[str], tau: float) -> FloatArray:
    """NL of pairs of lower-cased texts; exact below `tau`, from there on `tau` or above.

    With the cut-off, texts whose lengths alone put NL at `tau` or above are not compared.
    """
    return cpdist(
        answers, texts, scorer=Levenshtein.normalized_distance, score_cutoff=tau, dtype=np.float64
    )


def _divide_by_original_lengths(
    distances: FloatArray, texts: list[str], repeated: list[str], references: References, tau: float
) -> None:
    """Set right, in place, the NL of pairs that lower-casing lengthened.

    rapidfuzz divides by the length after lower-casing, which is never the smaller one: what it
    puts at `tau` or above stays there.
    """
    question = np.repeat(np.arange(len(texts)), references.counts)
    for index in np.flatnonzero(distances < tau).tolist():
        max_length = max(len(references.flat[index]), len(texts[question[index]]))
        distances[index] = normalised_distance(
            references.lowered[index], repeated[index], max_length, tau
        )


def _as_list(values: Iterable[object], argument: str) -> list[object]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ValueError(
            f"{argument} must hold one entry per question, got {type(values).__name__}"
        )
    return list(values)


def _check_lengths(argument: str, n: int, **others: list[object] | References | None) -> None:
    for other, values in others.items():
        if values is not None and len(values) != n:
            raise ValueError(
                f"{n} {argument} but {len(values)} {other}: each question needs one of each"
            )


def _texts(given: list[object], references: References) -> tuple[list[str], list[str], BoolArray]:
    """The texts to score (empty where failed), the same lower-cased, and which of them failed."""
    texts = cast("list[str]", given)
    try:
        lowered = list(map(str.lower, texts))
    except TypeError:  # not all of them are strings
        pass
    else:
        if not _some_begin_as_failed(texts):
            return texts, lowered, np.zeros(len(texts), dtype=np.bool_)
    checked = [prediction_text(entry, references.name(i)) for i, entry in enumerate(given)]
    failed = np.array([text is None for text in checked], dtype=np.bool_)
    texts = [text or "" for text in checked]
    return texts, list(map(str.lower, texts)), failed


def _some_begin_as_failed(texts: list[str]) -> bool:
    """Whether a text may begin as a failure marker does (for short texts: hold one anywhere)."""
    joined = "\n".join(texts)
    if len(joined) < SHORT * len(texts):  # one search is quicker than looking at each beginning
        return any(prefix in joined for prefix in FAILURE_PREFIXES)
    return any(prefix in map(head, texts) for prefix, head in _heads.items())


def _keep_lengths(texts: list[str]) -> bool:
    """Whether no text gets longer in lower case."""
    return LENGTHENED not in "".join(texts)


def _aggregate(
    anls: FloatArray, acc: FloatArray, accanls: FloatArray, failed: BoolArray
) -> Aggregate:
    n = len(anls)
    return Aggregate(
        n=n,
        failed=int(failed.sum()),
        anls=_built_in_sum(anls) / n,
        acc=float(acc.sum()) / n,  # whole numbers: exact in any order
        accanls=_built_in_sum(accanls) / n,
    )


def _built_in_sum(values: FloatArray) -> float:
    """The bits of the built-in `sum`, which before Python 3.12 adds one by one as `cumsum` does."""
    if sys.version_info < (3, 12):
        return float(np.cumsum(values)[-1])
    return float(sum(values.tolist()))
