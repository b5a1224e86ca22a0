"""Runs with repeats: intervals and tests over images and over repeats (seeds).

A method of ours. V is the variance of a mean over images, S that of the means of R repeats; the
variance over both is V + S / R, with the degrees of freedom of Satterthwaite (1946, "An approximate
distribution of estimates of variance components"). V holds the noise of single responses already,
so both err on the wide side. A difference of two runs has the S / R of both; a run without repeats
adds none. ``benchmarks/coverage.py`` measures the error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dtvqa_plugin.analysis.bootstrap import LEVEL, Interval, influences
from dtvqa_plugin.runs.design import OVERALL, Design, Floats

_EQUAL = 1e-10
_MOST_DEGREES = 1e4
_ANGLES = 20_001


@dataclass(frozen=True, slots=True)
class Between:
    """The variance that repeats add to means, S / R, and (S / R)**2 / (R - 1): (columns,) each."""

    variance: Floats
    per_degree: Floats

    def __add__(self, other: Between) -> Between:
        """That of sums and differences of independent means."""
        return Between(self.variance + other.variance, self.per_degree + other.per_degree)

    def __getitem__(self, columns: slice | list[int]) -> Between:
        return Between(self.variance[columns], self.per_degree[columns])


def between(values: Floats, design: Design, part: str) -> Between:
    """What the repeats of a run, (repeats, questions, columns), add to the means of a part."""
    repeats = len(values)
    if repeats == 1:
        nothing = np.zeros(values.shape[2])
        return Between(nothing, nothing)
    means = [design.means(one)[part] for one in values]
    variance = np.var(means, axis=0, ddof=1) / repeats
    return Between(variance, variance**2 / (repeats - 1))


def over_repeats(
    bounds: Sequence[Interval],
    values: Floats,
    added: Between,
    design: Design,
    part: str,
    level: float = LEVEL,
) -> list[Interval]:
    """Widen intervals over images to intervals over images and repeats.

    Both ends move away from the mean by the factor t / z * sqrt((V + S / R) / V): z is the normal
    quantile and t that of Student's distribution with the degrees of freedom of V + S / R.

    Args:
        bounds: One interval a column, in the unit of ``values``.
        values: Means over repeats, or differences of them: (questions, columns).
        added: What the repeats add, as from `between`, of the same columns.
        design: Subset and image of each question.
        part: The part that ``bounds`` are of.
        level: Confidence level of ``bounds``.

    Returns:
        The intervals, never narrower than ``bounds``.
    """
    within, degrees = _variance(values, added, design, part)
    return [
        _widened(interval, float(v), float(extra), float(free), level)
        for interval, v, extra, free in zip(bounds, within, added.variance, degrees, strict=True)
    ]


def t_test_p(values: Floats, added: Between, design: Design, part: str) -> Floats:
    """Two-sided p-values that mean differences are 0, over images and repeats: (columns,).

    0 to 1; 0 where nothing varies and the mean is not 0. Arguments as of `over_repeats`.
    """
    within, degrees = _variance(values, added, design, part)
    total = within + added.variance
    means = np.abs(design.means(values)[part])
    return np.asarray(
        [
            1.0 if mean <= _EQUAL else 1.0 - t_share(mean / max(variance, _EQUAL**2) ** 0.5, free)
            for mean, variance, free in zip(means, total.tolist(), degrees.tolist(), strict=True)
        ]
    )


def _variance(values: Floats, added: Between, design: Design, part: str) -> tuple[Floats, Floats]:
    """The variances of means over images, and the degrees of freedom of those over both."""
    within: Floats = (influences(values, design, part) ** 2).sum(axis=0)
    free = max(1, design.images(part) - (len(design.names) if part == OVERALL else 1))
    uncertainty = added.per_degree + within**2 / free
    total = within + added.variance
    degrees = np.where(total > _EQUAL**2, total**2 / np.maximum(uncertainty, 1e-300), 1.0)
    return within, degrees


def _widened(
    interval: Interval, within: float, extra: float, degrees: float, level: float
) -> Interval:
    if extra <= _EQUAL**2:
        return interval
    total = within + extra
    quantile = t_quantile(level, degrees)
    if within <= _EQUAL**2:
        half = quantile * total**0.5
        low, high = interval.value - half, interval.value + half
        return Interval(interval.value, min(low, interval.low), max(high, interval.high))
    factor = quantile / NormalDist().inv_cdf(0.5 + level / 2) * (total / within) ** 0.5
    factor = max(1.0, factor)
    return Interval(
        interval.value,
        interval.value - factor * (interval.value - interval.low),
        interval.value + factor * (interval.high - interval.value),
    )


def t_quantile(level: float, degrees: float) -> float:
    """What Student's t with this many degrees of freedom (1 or more) stays within, two-sided."""
    angles, below = _shares(degrees)
    return float(min(degrees, _MOST_DEGREES) ** 0.5 * np.tan(np.interp(level, below, angles)))


def t_share(bound: float, degrees: float) -> float:
    """The probability (0-1) with which Student's t stays within -bound to bound."""
    angles, below = _shares(degrees)
    return float(np.interp(np.arctan(bound / min(degrees, _MOST_DEGREES) ** 0.5), angles, below))


def _shares(degrees: float) -> tuple[Floats, Floats]:
    """With t = sqrt(degrees) tan(a) the density is that of cos(a) ** (degrees - 1)."""
    angles = np.linspace(0.0, np.pi / 2, _ANGLES)
    density = np.cos(angles) ** (min(degrees, _MOST_DEGREES) - 1.0)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return angles, below / below[-1]
