"""Confidence intervals by a bootstrap over images.

Questions on one image are not independent: a picture that a model cannot read costs all of its
questions. So images are drawn with replacement, not questions, and every question of a drawn
image comes along (Cameron, Gelbach and Miller, 2008, "Bootstrap-based improvements for inference
with clustered errors", section on the pairs cluster bootstrap). The benchmark fixes how many
questions each subset has, so images are drawn within each subset.

One draw of images gives a mean as (sum of the drawn images' scores) / (sum of their numbers of
questions). Both sums are products of one matrix of draw counts with per-image sums, which is why
10,000 draws cost well under a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dtvqa_plugin.runs.design import OVERALL, Design, Floats, as_columns

RESAMPLES = 10_000
LEVEL = 0.95
SEED = 20_240_506
"""Fixed, so that the same run always prints the same interval."""

CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its percentile interval; all three in the same unit."""

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
    difference of two of them is a paired one.
    """
    check_resamples(resamples)
    columns = as_columns(values, design.questions)
    data = np.column_stack([design.sums(columns), design.sizes])
    totals = {part: np.zeros((resamples, data.shape[1])) for part in design.parts}
    rng = np.random.default_rng(seed)
    for name in design.names:
        part = data[design.members[name]]
        for start in range(0, resamples, CHUNK):
            stop = min(start + CHUNK, resamples)
            totals[name][start:stop] = _draw_counts(rng, len(part), stop - start) @ part
        totals[OVERALL] += totals[name]
    return {part: total[:, :-1] / total[:, -1:] for part, total in totals.items()}


def check_resamples(resamples: int) -> None:
    """Raise ValueError below 100 resamples: their percentiles would be noise."""
    if resamples < 100:
        raise ValueError(f"{resamples} resamples are too few; take 100 or more (10,000 is usual)")


def _draw_counts(rng: np.random.Generator, items: int, draws: int) -> Floats:
    """How often each of ``items`` comes up in ``items`` draws with replacement: (draws, items)."""
    picks = rng.integers(0, items, size=(draws, items), dtype=np.int32)
    picks += np.arange(draws, dtype=np.int32)[:, None] * np.int32(items)
    counts = np.bincount(picks.ravel(), minlength=draws * items)
    return counts.reshape(draws, items).astype(np.float64)


def intervals(
    values: Floats,
    design: Design,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> dict[str, list[Interval]]:
    """Mean and percentile interval of each column, by part; in the unit of ``values``.

    A part whose questions lie on a single image gets an interval of zero width: there is nothing
    to resample, and ``Design.images`` says so.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is a share between 0 and 1, for example 0.95; got {level!r}")
    means = design.means(values)
    drawn = bootstrap_means(values, design, resamples, seed)
    tail = (1.0 - level) / 2.0
    result = {}
    for part in design.parts:
        low, high = np.quantile(drawn[part], [tail, 1.0 - tail], axis=0)
        result[part] = [
            Interval(float(value), float(a), float(b))
            for value, a, b in zip(means[part], low, high, strict=True)
        ]
    return result
