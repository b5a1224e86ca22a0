"""Scores against a feature of the questions: bins with clustered intervals, and a trend."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dtvqa_plugin.analysis.bootstrap import LEVEL, SEED, Interval, bootstrap_means, intervals
from dtvqa_plugin.analysis.failures.density import Feature
from dtvqa_plugin.analysis.tables import FEW_IMAGES
from dtvqa_plugin.data import Record
from dtvqa_plugin.runs.design import OVERALL, Design, Floats, Ints

MOST_BINS = 5
"""Numeric features are cut into at most so many bins of about equal size."""

RESAMPLES = 2_000


def of_curves(resamples: int) -> int:
    """How many resamples the curves take where tables take ``resamples``: a fifth, at least 100.

    A curve has a bootstrap of its own for each bin and feature, and is read off a chart.
    """
    return max(100, resamples // 5)


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin. Scores are 0-100.

    Attributes:
        label: ``12 to 40`` or the group's name.
        questions: Number of questions in it.
        images: Number of images in it.
        score: Mean AccANLS with its interval; None for an empty bin.
        thin: Whether it has fewer than 30 images: the interval is rough.
    """

    label: str
    questions: int
    images: int
    score: Interval | None
    thin: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A run's score against one feature.

    Attributes:
        feature: The feature's name.
        title: Its heading.
        bins: The bins in order.
        trend: Points of AccANLS (0-100) by which the score changes when the feature doubles, by a
            least-squares line over the logarithm; None for groups, and where nothing varies.
        questions: Number of questions whose value is known.
        unknown: Number of questions whose value is not known; in no bin.
    """

    feature: str
    title: str
    bins: tuple[Bin, ...]
    trend: Interval | None
    questions: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Binning:
    """The bin of each question, by place among ``labels``; None where the value is not known."""

    labels: tuple[str, ...]
    places: tuple[int | None, ...]


def binning(feature: Feature, images: Sequence[str]) -> Binning:
    """Cut a feature into bins.

    Numbers are cut at quantiles of the questions, and bins with fewer than 30 images are joined
    to a neighbour while more than two are left. Groups stay as they are.
    """
    if not feature.numeric:
        number = {name: place for place, name in enumerate(feature.order)}
        places = tuple(None if v is None else number[str(v)] for v in feature.values)
        used = sorted({place for place in places if place is not None})
        return Binning(
            tuple(feature.order[place] for place in used),
            tuple(None if place is None else used.index(place) for place in places),
        )
    known = np.asarray([v for v in feature.values if v is not None], dtype=np.float64)
    if not len(known):
        return Binning((), tuple(None for _ in feature.values))
    there = [image for image, v in zip(images, feature.values, strict=True) if v is not None]
    edges = _edges(known, there)
    labels = tuple(_label(known, low, high) for low, high in pairwise(edges))
    inner = np.asarray(edges[1:-1])
    return Binning(
        labels,
        tuple(
            None if v is None else int(np.searchsorted(inner, float(v), side="right"))
            for v in feature.values
        ),
    )


def _edges(known: Floats, images: Sequence[str]) -> list[float]:
    """Edges of bins [low, high); the last one is beyond the greatest value."""
    names = np.asarray(images)
    inner = sorted(set(np.quantile(known, np.arange(1, MOST_BINS) / MOST_BINS, method="nearest")))
    inner = [edge for edge in inner if edge > known.min()]
    while len(inner) > 1:
        edges = np.asarray([-math.inf, *inner, math.inf])
        counts = [len(set(names[(known >= low) & (known < high)])) for low, high in pairwise(edges)]
        least = int(np.argmin(counts))
        if counts[least] >= FEW_IMAGES:
            break
        # The edge towards the smaller neighbour goes.
        left = counts[least - 1] if least else math.inf
        right = counts[least + 1] if least + 1 < len(counts) else math.inf
        del inner[least - 1 if left <= right else least]
    return [-math.inf, *(float(edge) for edge in inner), math.inf]


def _label(known: Floats, low: float, high: float) -> str:
    inside = known[(known >= low) & (known < high)]
    if not len(inside):
        return "none"
    first, last = _number(float(inside.min())), _number(float(inside.max()))
    return first if first == last else f"{first} to {last}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def curves(
    feature: Feature,
    bins: Binning,
    records: Sequence[Record],
    scores: Floats,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> list[Curve]:
    """The scores of several runs against a feature; runs over the same questions share the draws.

    Args:
        feature: The feature, one value a question.
        bins: Its binning, of the same questions.
        records: The same questions.
        scores: AccANLS, 0-1, one row a question and one column a run; NaN where the run does not
            answer the question.
        resamples: Bootstrap resamples of images.
        seed: Of the drawing.
        level: Share that the intervals cover.

    Returns:
        One curve a run.
    """
    known = np.asarray([place is not None for place in bins.places])
    answered = ~np.isnan(scores)
    result: list[Curve | None] = [None] * scores.shape[1]
    for column in range(scores.shape[1]):
        if result[column] is not None:
            continue
        alike = np.flatnonzero((answered == answered[:, [column]]).all(axis=0))
        rows = np.flatnonzero(known & answered[:, column])
        unknown = int(np.count_nonzero(answered[:, column])) - len(rows)
        found = _curves(
            feature, bins, records, scores[:, alike], rows, unknown, resamples, seed, level
        )
        for place, item in zip(alike, found, strict=True):
            result[place] = item
    return [item for item in result if item is not None]


def _curves(
    feature: Feature,
    bins: Binning,
    records: Sequence[Record],
    scores: Floats,
    kept: Ints,
    unknown: int,
    resamples: int,
    seed: int,
    level: float,
) -> list[Curve]:
    """Curves of runs that answer the same questions; ``kept`` are the rows of those in a bin."""
    runs = range(scores.shape[1])
    if not len(kept):
        return [Curve(feature.name, feature.title, (), None, 0, unknown) for _ in runs]
    images = [records[row].image for row in kept]
    labels = [bins.labels[bins.places[row] or 0] for row in kept]
    points = scores[kept] * 100.0
    design = Design(labels, images)
    found = intervals(points, design, resamples, seed, level, scale=(0.0, 100.0))
    trends: list[Interval | None] = [None for _ in runs]
    if feature.numeric:
        values = np.asarray([feature.values[row] for row in kept], dtype=np.float64)
        strata = Design([records[row].subset for row in kept], images)
        trends = _trends(np.log2(values), points, strata, resamples, seed, level)
    return [
        Curve(
            feature.name,
            feature.title,
            tuple(_bin(label, design, found, run) for label in bins.labels if label in design.rows),
            trends[run],
            len(kept),
            unknown,
        )
        for run in runs
    ]


def _bin(label: str, design: Design, found: Mapping[str, Sequence[Interval]], run: int) -> Bin:
    count = design.images(label)
    return Bin(label, design.size(label), count, found[label][run], count < FEW_IMAGES)


def _trends(
    values: Floats, points: Floats, design: Design, resamples: int, seed: int, level: float
) -> list[Interval | None]:
    """Slopes of the least-squares lines with intervals of the same bootstrap over images."""
    runs = points.shape[1]
    if len(values) < 3 or np.ptp(values) == 0:
        return [None] * runs
    x = (values - values.mean())[:, None]
    columns = np.column_stack([x, x * x, points, x * points])
    drawn = bootstrap_means(columns, design, resamples, seed)[OVERALL]
    whole = columns.mean(axis=0)[None, :]
    of_runs = [[0, 1, 2 + run, 2 + runs + run] for run in range(runs)]
    return [_trend(whole[:, chosen], drawn[:, chosen], level) for chosen in of_runs]


def _trend(whole: Floats, drawn: Floats, level: float) -> Interval | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = _slopes(drawn)
        slope = float(_slopes(whole)[0])
    slopes = slopes[np.isfinite(slopes)]
    if not len(slopes):
        return None
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(slopes, [tail, 1.0 - tail])
    return Interval(slope, float(low), float(high))


def _slopes(means: Floats) -> Floats:
    x, xx, y, xy = means.T
    slopes: Floats = (xy - x * y) / (xx - x * x)
    return slopes
