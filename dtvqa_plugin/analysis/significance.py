"""Paired tests over images: sign-flip permutation, and Holm's correction for several tests.

P-values are mid-p values: patterns exactly as extreme as the observed one count half. Where few
images differ, many patterns tie, and the ordinary p-value is conservative: its false positives stay
below the level and differences are missed (Fagerland, Lydersen and Laake, 2013, "The McNemar test
for binary matched-pairs data: mid-p and asymptotic are better than exact conditional").
``benchmarks/coverage.py`` measures both error rates.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dtvqa_plugin.analysis.bootstrap import CHUNK, RESAMPLES, SEED, check_resamples
from dtvqa_plugin.runs.design import OVERALL, Design, Floats, Ints, as_columns

_Signs = npt.NDArray[np.int8]
_KEPT_CELLS = 2**25

_BENTKUS = 1.0 / (2.0 * math.erfc(1.0))
"""The least c with P(sum >= x) <= c P(N >= x) for sums of sign flips of unit length (3.178).

Bentkus and Dzindzalieta, 2015, "A tight Gaussian bound for weighted sums of Rademacher random
variables": 1 / (4 P(N >= sqrt 2)).
"""

Name = TypeVar("Name", bound=Hashable)


def signflip_p(
    differences: Floats, design: Design, permutations: int = RESAMPLES, seed: int = SEED
) -> dict[str, Floats]:
    """Two-sided mid-p values that the mean difference is zero, by part: arrays (columns,).

    ``differences`` (questions,) or (questions, columns) holds run A minus run B. If the runs are
    exchangeable, the sign of an image's summed difference is as likely one way as the other;
    images, not questions, change sign, for what stands on one image goes together. The observed
    pattern is counted in, so that p is never 0 (Phipson and Smyth, 2010, "Permutation p-values
    should never be zero"); without any difference p is 1. Where no drawn pattern is as extreme, p
    is an upper bound of the exact one, so that many tests can be corrected for (`_BENTKUS`).
    """
    check_resamples(permutations)
    sums = design.sums(differences)
    tails = {}
    for part in design.parts:
        own = sums[_rows(design, part)]
        tails[part] = _Tails(own)
    for signs in _signs(design.clusters, permutations, seed):
        whole = np.zeros((len(signs), sums.shape[1]))
        for name, rows in design.members.items():
            flipped = signs[:, rows].astype(np.float64) @ sums[rows]
            tails[name].add(flipped)
            whole += flipped
        tails[OVERALL].add(whole)
    return {part: found.p_values() for part, found in tails.items()}


def pairwise_p(
    values: Floats, design: Design, part: str, permutations: int = RESAMPLES, seed: int = SEED
) -> dict[tuple[int, int], float]:
    """``signflip_p`` on one part for every two columns i < j of ``values`` (questions, runs)."""
    check_resamples(permutations)
    rows = _rows(design, part)
    sums = design.sums(as_columns(values, design.questions))[rows]
    first, second = np.triu_indices(sums.shape[1], 1)
    gaps = sums[:, first] - sums[:, second]
    tails = _Tails(gaps)
    for signs in _signs(design.clusters, permutations, seed):
        flipped = signs[:, rows].astype(np.float64) @ sums
        tails.add(flipped[:, first] - flipped[:, second])
    found = tails.p_values().tolist()
    return dict(zip(zip(first.tolist(), second.tolist(), strict=True), found, strict=True))


def _rows(design: Design, part: str) -> Ints:
    return design.members.get(part, np.arange(design.clusters))


class _Tails:
    """How many sign patterns are more extreme than the observed sums, ties counted half."""

    def __init__(self, sums: Floats) -> None:
        """``sums``: what changes sign together, (images, columns)."""
        self._observed = np.abs(sums.sum(axis=0))
        self._length = np.sqrt((sums**2).sum(axis=0))
        # Equal sums taken in another order differ in the last bits; they count as equal.
        self._slack = 1e-9 * np.abs(sums).sum(axis=0)
        self._count = np.full(len(self._observed), 0.5)
        self._patterns = 1.0

    def add(self, flipped: Floats) -> None:
        """Count in the sums under some sign patterns, (patterns, columns)."""
        beyond = np.abs(flipped) - self._observed
        self._count += (beyond > self._slack).sum(axis=0)
        self._count += (np.abs(beyond) <= self._slack).sum(axis=0) / 2.0
        self._patterns += len(flipped)

    def p_values(self) -> Floats:
        """Two-sided mid-p values; 1 where the observed sum is 0, the least extreme there is."""
        zero = self._observed <= self._slack
        result: Floats = np.where(zero, 1.0, self._count / self._patterns)
        for place in np.flatnonzero(
            ~zero & (self._count == 0.5)
        ).tolist():  # none as extreme was drawn
            result[place] = min(result[place], self._bound(place))
        return result

    def _bound(self, place: int) -> float:
        """An upper bound of the exact two-sided p-value, above 0."""
        deviation = float(self._observed[place] / self._length[place])
        return max(_BENTKUS * math.erfc(deviation / math.sqrt(2.0)), sys.float_info.min)


def _signs(images: int, permutations: int, seed: int) -> Iterator[_Signs]:
    if images * permutations <= _KEPT_CELLS:
        yield from _kept_signs(images, permutations, seed)
    else:
        yield from _new_signs(images, permutations, seed)


@lru_cache(maxsize=1)
def _kept_signs(images: int, permutations: int, seed: int) -> tuple[_Signs, ...]:
    return tuple(_new_signs(images, permutations, seed))


def _new_signs(images: int, permutations: int, seed: int) -> Iterator[_Signs]:
    rng = np.random.default_rng(seed)
    for start in range(0, permutations, CHUNK):
        draws = min(CHUNK, permutations - start)
        yield rng.integers(0, 2, size=(draws, images), dtype=np.int8) * np.int8(2) - np.int8(1)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Holm's step-down adjusted p-values (1979): reject those at or below the wanted level."""
    adjusted: dict[Name, float] = {}
    running = 0.0
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    for place, (name, p_value) in enumerate(ordered):
        running = max(running, min(1.0, (len(ordered) - place) * p_value))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}
