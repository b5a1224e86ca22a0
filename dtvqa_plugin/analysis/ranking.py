"""Runs in order: how sure their ranks are, and which of them cannot be told apart.

All runs share the bootstrap draws of images. From them come simultaneous intervals of all pairwise
differences (the greatest studentised deviation of a draw bounds all pairs at once); a run's rank
lies between one more than the runs that are surely better and what the surely worse ones leave, at
the level for all runs together (Mogstad, Romano, Shaikh and Wilhelm, 2024, "Inference for ranks").
Groups are of runs of which no two differ by the paired test, corrected by Holm over the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dtvqa_plugin.analysis.bootstrap import (
    LEVEL,
    RESAMPLES,
    SEED,
    Interval,
    bootstrap_means,
    check_level,
    intervals_of_draws,
)
from dtvqa_plugin.analysis.seeds import Between, between, over_repeats, t_test_p
from dtvqa_plugin.analysis.significance import holm, pairwise_p
from dtvqa_plugin.metrics.names import HEADLINE, METRICS
from dtvqa_plugin.runs.design import OVERALL, Design, Floats
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.run import Run

_EQUAL = 1e-10


@dataclass(frozen=True, slots=True)
class Place:
    """A run's place. ``figure`` is 0-1; ``first`` to ``last`` is the interval of its rank.

    ``groups`` are the letters that it shares with the runs it cannot be told apart from.
    """

    run: Run
    rank: int
    first: int
    last: int
    figure: Interval
    groups: str


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The better placed run minus the other (0-1), with the p-value of the test by itself and
    corrected by Holm over all pairs. ``better`` and ``worse`` are places in the ranking."""

    better: int
    worse: int
    difference: Interval
    p_value: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Places from the best run down, and all pairs of them."""

    metric: str
    questions: int
    images: int
    places: tuple[Place, ...]
    pairs: tuple[PairDifference, ...]
    resamples: int
    seed: int
    level: float


def rank(
    runs: Sequence[Run],
    metric: str = HEADLINE,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Ranking:
    """Rank two or more runs over the same questions by one metric, overall.

    Raises RunError where they are not over the same questions or are scored otherwise.
    """
    check_level(level)
    _check_alike(runs)
    column = METRICS.index(metric)
    # Runs hold their questions in one order, that of the split.
    values = np.column_stack([run.values[:, column] for run in runs])
    design = runs[0].design
    means = design.means(values)[OVERALL]
    order = np.argsort(-means, kind="stable")
    values, means = values[:, order], means[order]
    ordered = [runs[place] for place in order.tolist()]
    drawn = bootstrap_means(values, design, resamples, seed)[OVERALL]
    figures = intervals_of_draws(drawn, values, design, OVERALL, level, (0.0, 1.0))
    p_values = pairwise_p(values, design, OVERALL, resamples, seed)
    added = _added(ordered, column, design)
    if added is not None:
        figures = over_repeats(figures, values, added, design, OVERALL, level)
        for i in range(len(ordered) - 1):
            gaps = values[:, [i]] - values[:, i + 1 :]
            over_both = t_test_p(gaps, added[[i]] + added[i + 1 :], design, OVERALL)
            for j, p_value in enumerate(over_both.tolist(), start=i + 1):
                p_values[i, j] = max(p_values[i, j], p_value)
    corrected = holm(p_values)
    better = _surely_better(drawn, means, level, _widths(values, added, design, level))
    letters = _letters(len(ordered), corrected, 1.0 - level)
    places = tuple(
        Place(
            run=run,
            rank=1 + int((means > means[place] + _EQUAL).sum()),
            first=1 + int(better[:, place].sum()),
            last=len(ordered) - int(better[place].sum()),
            figure=figures[place],
            groups=letters[place],
        )
        for place, run in enumerate(ordered)
    )
    pairs = tuple(
        PairDifference(i, j, gap, p_values[i, j], corrected[i, j])
        for i in range(len(ordered) - 1)
        for j, gap in enumerate(_gaps(i, drawn, values, added, design, level), start=i + 1)
    )
    return Ranking(metric, design.questions, design.clusters, places, pairs, resamples, seed, level)


def _check_alike(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise RunError(f"a ranking needs two or more runs; got {len(runs)}")
    first = runs[0]
    for run in runs[1:]:
        for what, ours, theirs in (
            ("split", first.split, run.split),
            ("tau", first.tau, run.tau),
        ):
            if ours != theirs:
                raise RunError(
                    f"{first.name} has {what} {ours}, {run.name} {theirs}: no ranking; "
                    "rank runs of one kind"
                )
        differing = first.by_question.keys() ^ run.by_question.keys()
        if differing:
            raise RunError(
                f"{first.name} and {run.name} are over different questions ({len(differing)} are "
                f"in one alone, {min(differing)} is one): no ranking; complete the runs"
            )


def _added(runs: Sequence[Run], column: int, design: Design) -> Between | None:
    """What repeats add to the variance of each run's mean; None where no run has repeats."""
    if not any(run.repeats for run in runs):
        return None
    each = [between(run.repeat_values[:, :, [column]], design, OVERALL) for run in runs]
    return Between(
        np.concatenate([one.variance for one in each]),
        np.concatenate([one.per_degree for one in each]),
    )


def _gaps(
    place: int,
    drawn: Floats,
    values: Floats,
    added: Between | None,
    design: Design,
    level: float,
) -> list[Interval]:
    """The differences of one run and those after it; one run at a time bounds the memory."""
    rest = slice(place + 1, None)
    gaps = values[:, [place]] - values[:, rest]
    moved = drawn[:, [place]] - drawn[:, rest]
    found = intervals_of_draws(moved, gaps, design, OVERALL, level, (-1.0, 1.0))
    if added is None:
        return found
    return over_repeats(found, gaps, added[[place]] + added[rest], design, OVERALL, level)


def _widths(values: Floats, added: Between | None, design: Design, level: float) -> Floats:
    """By how much repeats widen the interval of each pair's difference: (runs, runs), 1 or more."""
    count = values.shape[1]
    widths = np.ones((count, count))
    for i in range(count - 1) if added is not None else ():
        assert added is not None
        rest = slice(i + 1, None)
        gaps = values[:, [i]] - values[:, rest]
        unit = [Interval(0.0, -1.0, 1.0)] * gaps.shape[1]
        both = added[[i]] + added[rest]
        ends = over_repeats(unit, gaps, both, design, OVERALL, level)
        widths[i, rest] = widths[rest, i] = [end.high for end in ends]
    return widths


def _surely_better(
    drawn: Floats, means: Floats, level: float, widths: Floats | None = None
) -> npt.NDArray[np.bool_]:
    """Whether run i is surely better than run j, for all pairs at once.

    ``drawn`` are the runs' means in each resample, (resamples, runs); ``widths`` widen the
    intervals, (runs, runs).
    """
    drawn = drawn - means
    count = len(means)
    worst = np.zeros(len(drawn))
    spreads = np.zeros((count, count))
    for i in range(count - 1):
        gaps = drawn[:, i : i + 1] - drawn[:, i + 1 :]
        spread = gaps.std(axis=0)
        spreads[i, i + 1 :] = spreads[i + 1 :, i] = spread
        varies = spread > _EQUAL
        if varies.any():
            scaled = np.abs(gaps[:, varies]) / spread[varies]
            worst = np.maximum(worst, scaled.max(axis=1))
    critical = float(np.quantile(worst, level))
    bounds = critical * spreads * (1.0 if widths is None else widths)
    result: npt.NDArray[np.bool_] = means[:, None] - means[None, :] > bounds + _EQUAL
    return result


def _letters(count: int, p_values: Mapping[tuple[int, int], float], alpha: float) -> list[str]:
    """Letters that runs share if and only if they cannot be told apart.

    Insert and absorb (Piepho, 2004, "An algorithm for a letter-based representation of
    all-pairwise comparisons"); groups are sets of places.
    """
    groups = [frozenset(range(count))]
    for (i, j), p_value in p_values.items():
        if p_value > alpha:
            continue
        split: list[frozenset[int]] = []
        for group in groups:
            split += [group - {i}, group - {j}] if {i, j} <= group else [group]
        unique = list(dict.fromkeys(split))
        groups = [one for one in unique if not any(one < other for other in unique)]
    named = sorted(groups, key=lambda group: (min(group), max(group)))
    return [
        " ".join(_letter(number) for number, group in enumerate(named) if place in group)
        for place in range(count)
    ]


def _letter(number: int) -> str:
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else f"{letter}{number // 26}"
