"""Confidence intervals by a bootstrap over images.

Questions on one image are not independent: a picture that a model cannot read costs all of its
questions. So images are drawn with replacement, not questions, and every question of a drawn
image comes along (Cameron, Gelbach and Miller, 2008, "Bootstrap-based improvements for inference
with clustered errors", section on the pairs cluster bootstrap). The benchmark fixes how many
questions each subset has, so images are drawn within each subset.

One draw of images gives a mean as (sum of the drawn images' scores) / (sum of their numbers of
questions). Both sums are products of one matrix of draw counts with per-image sums. The counts
depend on the numbers of images alone, so they are drawn once for all runs of one design.

Intervals are bias-corrected and accelerated (BCa; Efron, 1987, "Better bootstrap confidence
intervals"; for several strata Davison and Hinkley, 1997, section 5.3). Near 0 and 100 a mean is
skewed, and percentiles of the draws lie too near the end of the scale; ``benchmarks/coverage.py``
measures both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dtvqa_plugin.runs.design import OVERALL, Design, Floats, Ints, as_columns

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 20_240_506
"""Fixed, so that the same run always prints the same interval."""

CHUNK = 1_000

Counts = npt.NDArray[np.uint8]
"""How often each image is drawn. More than 255 times in as many draws as there are images has a
probability below 1e-500."""

_KEPT_CELLS = 2**25
"""Draws of designs with more images times resamples than this are not kept in memory."""

_DECIMALS = 12
"""Products of matrices of other widths differ in the last bits. Rounded, a run has the same
interval alone and among others, and a draw that equals the mean is counted as equal."""

_EQUAL = 1e-10


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its confidence interval; all three in the same unit."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """The same interval in another unit (100 for the paper's tables)."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)


def bootstrap_means(
    values: Floats, design: Design, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Floats]:
    """Means of each column in each resample, by part: arrays (resamples, columns).

    ``values`` is (questions,) or (questions, columns); columns share the draws, so that the
    difference of two of them is a paired one. Runs of one design share them as well.
    """
    check_resamples(resamples)
    columns = as_columns(values, design.questions)
    data = np.column_stack([design.sums(columns), design.sizes])
    totals = {part: np.zeros((resamples, data.shape[1])) for part in design.parts}
    strata = tuple(len(design.members[name]) for name in design.names)
    for place, start, counts in _draws(strata, resamples, seed):
        name = design.names[place]
        drawn = counts.astype(np.float64) @ data[design.members[name]]
        totals[name][start : start + len(counts)] = drawn
    for name in design.names:
        totals[OVERALL] += totals[name]
    return {
        part: np.round(total[:, :-1] / total[:, -1:], _DECIMALS) for part, total in totals.items()
    }


def check_resamples(resamples: int) -> None:
    """Raise ValueError below 100 resamples: their percentiles would be noise."""
    if resamples < 100:
        raise ValueError(f"{resamples} resamples are too few; take 100 or more (10,000 is usual)")


_Draw = tuple[int, int, Counts]


def _draws(strata: tuple[int, ...], resamples: int, seed: int) -> Iterator[_Draw]:
    """The draw counts (stratum, first resample, counts) chunk by chunk."""
    if sum(strata) * resamples <= _KEPT_CELLS:
        yield from _kept_draws(strata, resamples, seed)
    else:
        yield from _new_draws(strata, resamples, seed)


@lru_cache(maxsize=2)
def _kept_draws(strata: tuple[int, ...], resamples: int, seed: int) -> tuple[_Draw, ...]:
    return tuple(_new_draws(strata, resamples, seed))


def _new_draws(strata: tuple[int, ...], resamples: int, seed: int) -> Iterator[_Draw]:
    rng = np.random.default_rng(seed)
    for place, images in enumerate(strata):
        for start in range(0, resamples, CHUNK):
            yield place, start, _draw_counts(rng, images, min(CHUNK, resamples - start))


def _draw_counts(rng: np.random.Generator, items: int, draws: int) -> Counts:
    """How often each of ``items`` comes up in ``items`` draws with replacement: (draws, items)."""
    picks = rng.integers(0, items, size=(draws, items), dtype=np.int32)
    picks += np.arange(draws, dtype=np.int32)[:, None] * np.int32(items)
    counts = np.bincount(picks.ravel(), minlength=draws * items)
    return counts.reshape(draws, items).astype(np.uint8)


def intervals(
    values: Floats,
    design: Design,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
    *,
    scale: tuple[float, float] | None = None,
) -> dict[str, list[Interval]]:
    """Mean and BCa interval of each column, by part; in the unit of ``values``.

    Args:
        values: (questions,) or (questions, columns).
        design: Subset and image of each question.
        resamples: Number of draws.
        seed: Of the draws.
        level: Confidence level.
        scale: The least and the greatest value there can be. With it a part whose images all
            score alike gets the interval of `_of_equal_images`; without it one of zero width.

    Returns:
        One interval a column, by part. A part whose questions lie on a single image gets an
        interval of zero width: there is nothing to resample, as ``Design.images`` shows.
    """
    check_level(level)
    drawn = bootstrap_means(values, design, resamples, seed)
    return {
        part: intervals_of_draws(drawn[part], values, design, part, level, scale)
        for part in design.parts
    }


def intervals_of_draws(
    drawn: Floats,
    values: Floats,
    design: Design,
    part: str,
    level: float = LEVEL,
    scale: tuple[float, float] | None = None,
) -> list[Interval]:
    """`intervals` of one part from its means in each resample, (resamples, columns)."""
    columns = as_columns(values, design.questions)
    means = design.means(columns)[part]
    tail = (1.0 - level) / 2.0
    low, high = bca_ends(drawn, means, acceleration(columns, design, part), (tail, 1.0 - tail))
    found = [
        Interval(float(value), float(a), float(b))
        for value, a, b in zip(means, low, high, strict=True)
    ]
    if scale is not None and design.images(part) > 1:
        moved = np.abs(influences(columns, design, part)).max(axis=0)
        for place in np.flatnonzero(moved <= _EQUAL).tolist():
            found[place] = _of_equal_images(found[place].value, design.size(part), tail, scale)
    return found


def _of_equal_images(
    value: float, questions: int, tail: float, scale: tuple[float, float]
) -> Interval:
    """The interval of a mean whose images all score alike: draws of them never differ.

    A share s of all questions may have another value, the farthest on the scale, and be missing
    among ``questions`` of them with probability (1 - s) ** questions. Where that is ``tail``, s is
    the bound of Clopper and Pearson (1934) for no success in so many trials.
    """
    share = 1.0 - tail ** (1.0 / questions)
    least, greatest = scale
    return Interval(value, value - share * (value - least), value + share * (greatest - value))


_BATCH = 16
"""Runs whose means are resampled in one product of matrices: bounds its memory."""


def intervals_of_runs(
    values: Sequence[Floats],
    design: Design,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
    *,
    scale: tuple[float, float] | None = None,
) -> list[dict[str, list[Interval]]]:
    """``intervals`` of several runs of one design, each (questions, columns)."""
    found = []
    for start in range(0, len(values), _BATCH):
        batch = [as_columns(one, design.questions) for one in values[start : start + _BATCH]]
        every = intervals(np.column_stack(batch), design, resamples, seed, level, scale=scale)
        first = 0
        for one in batch:
            last = first + one.shape[1]
            found.append({part: ends[first:last] for part, ends in every.items()})
            first = last
    return found


def cautious_interval(
    values: Floats,
    design: Design,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Interval:
    """The overall mean of paired differences (-1 to 1) with ends that also hold for few of them.

    The draws know nothing of differences that none of the questions shows, so that BCa ends lie
    too near the mean where few questions differ. Each end here is the percentile of draws with one
    more image, which differs in the direction of that end: by one question, or by the mean
    difference of the images that differ where that is more. Without any difference the ends are
    near 3 / n at one-sided 95 %, the "rule of three" (Hanley and Lippman-Hand, 1983). The method
    is ours; ``benchmarks/coverage.py`` measures its error rates.

    Args:
        values: Differences of two runs, (questions,).
        design: Subset and image of each question.
        resamples: Number of draws.
        seed: Of the draws.
        level: Of the two-sided interval; each end holds with (1 + level) / 2.

    Returns:
        The mean and its ends.
    """
    check_level(level)
    gaps = as_columns(values, design.questions)
    sums = np.abs(design.sums(gaps))
    differing = sums[sums > _EQUAL]
    unseen = max(1.0, float(differing.mean())) if differing.size else 1.0
    both = np.vstack([np.repeat(gaps, 2, axis=1), [[-unseen, unseen]]])
    wider = design.with_one_more()
    drawn = bootstrap_means(both, wider, resamples, seed)[OVERALL]
    tail = (1.0 - level) / 2.0
    low = float(np.quantile(drawn[:, 0], tail))
    high = float(np.quantile(drawn[:, 1], 1.0 - tail))
    scale = wider.questions / design.questions
    return Interval(float(design.means(gaps)[OVERALL][0]), low * scale, high * scale)


def check_level(level: float) -> None:
    """Raise ValueError for a level that is not a share between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, for example 0.95; got {level!r}")


def influences(values: Floats, design: Design, part: str) -> Floats:
    """What each image adds to the deviation of a part's mean: (images of the part, columns).

    The empirical influence values of a ratio of sums, centred within each subset and divided by
    the number of questions: their squares add up to the variance of the mean (but for a factor
    n / (n - 1) a subset), their cubes to its third moment.
    """
    columns = as_columns(values, design.questions)
    rows = design.rows[part]
    residual = np.zeros_like(columns)
    residual[rows] = columns[rows] - columns[rows].mean(axis=0)
    sums = design.sums(residual)
    names = design.names if part == OVERALL else (part,)
    own = [sums[design.members[name]] for name in names]
    centred: Floats = np.concatenate([found - found.mean(axis=0) for found in own])
    return centred / len(rows)


def acceleration(values: Floats, design: Design, part: str) -> Floats:
    """A sixth of the skewness of the mean, column by column; 0 where nothing varies."""
    found = influences(values, design, part)
    squares, cubes = (found**2).sum(axis=0), (found**3).sum(axis=0)
    varies = squares > _EQUAL**2
    scale = np.where(varies, squares, 1.0) ** 1.5
    result: Floats = np.where(varies, cubes / (6.0 * scale), 0.0)
    return result


def bca_ends(
    drawn: Floats, means: Floats, accelerations: Floats, shares: tuple[float, ...]
) -> list[Floats]:
    """The bounds below which the true mean lies with probabilities ``shares``, for each column.

    Args:
        drawn: Means in each resample, (resamples, columns).
        means: The means themselves, (columns,).
        accelerations: As from ``acceleration``, (columns,).
        shares: Nominal probabilities, for example 0.025 and 0.975.
    """
    normal = NormalDist()
    count = len(drawn)
    equal = (np.abs(drawn - means) <= _EQUAL).sum(axis=0)
    below = (drawn < means - _EQUAL).sum(axis=0) + equal / 2.0
    share_below = np.clip(below / count, 1.0 / (count + 1), count / (count + 1))
    bias = np.asarray([normal.inv_cdf(share) for share in share_below.tolist()])
    ordered = np.sort(drawn.T, axis=1)
    ends = []
    for share in shares:
        moved = bias + normal.inv_cdf(share)
        # |acceleration| is at most 1/6, so only levels beyond 1 - 1e-9 come near the pole.
        adjusted = bias + moved / np.maximum(1.0 - accelerations * moved, _EQUAL)
        wanted = np.asarray([normal.cdf(value) for value in adjusted.tolist()])
        ends.append(np.round(_quantiles(ordered, wanted), _DECIMALS))
    return ends


def _quantiles(ordered: Floats, shares: Floats) -> Floats:
    """One quantile of each row of sorted draws, linear between neighbours."""
    places = shares * (ordered.shape[1] - 1)
    lower: Ints = np.floor(places).astype(np.intp)
    upper = np.minimum(lower + 1, ordered.shape[1] - 1)
    rows = np.arange(len(ordered))
    rest = places - lower
    result: Floats = ordered[rows, lower] * (1.0 - rest) + ordered[rows, upper] * rest
    return result
