"""Intervals and tests over images and repeats: by hand, against scipy, and by simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dtvqa_plugin.analysis.bootstrap import Interval, intervals
from dtvqa_plugin.analysis.comparison import compare
from dtvqa_plugin.analysis.gate import Rules, decide
from dtvqa_plugin.analysis.ranking import rank
from dtvqa_plugin.analysis.seeds import between, over_repeats, t_quantile, t_share, t_test_p
from dtvqa_plugin.analysis.significance import signflip_p
from dtvqa_plugin.data import records
from dtvqa_plugin.report import read_run
from dtvqa_plugin.runs.design import OVERALL, Design, Floats
from dtvqa_plugin.runs.run import Run


@pytest.mark.parametrize(
    ("level", "degrees", "value"),
    [
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.9, 5, 2.0150),
        (0.95, 30, 2.0423),
        (0.99, 120, 2.617),
    ],
)
def test_t_quantiles_are_those_of_the_tables(level: float, degrees: float, value: float) -> None:
    assert t_quantile(level, degrees) == pytest.approx(value, abs=5e-4)
    assert t_share(value, degrees) == pytest.approx(level, abs=1e-4)


def widened(values: Floats, design: Design, bounds: list[Interval], part: str) -> list[Interval]:
    added = between(values, design, part)
    return over_repeats(bounds, values.mean(axis=0), added, design, part)


def test_an_interval_over_repeats_adds_their_variance_to_that_over_images() -> None:
    """Four images, two repeats; the figures are computed by hand.

    V = (.25 + .25 + 0 + 0) / 16 = .03125, S = .125, total V + S / 2 = .09375 with
    .09375**2 / (.0625**2 / 1 + .03125**2 / 3) = 2.0769 degrees of freedom.
    """
    design = Design(["S"] * 4, list("abcd"))
    values = np.asarray([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]])[:, :, None]
    (interval,) = widened(values, design, [Interval(0.5, 0.3, 0.8)], "S")
    factor = t_quantile(0.95, 2.0769) / 1.95996 * (0.09375 / 0.03125) ** 0.5
    assert interval.low == pytest.approx(0.5 - 0.2 * factor, abs=1e-3)
    assert interval.high == pytest.approx(0.5 + 0.3 * factor, abs=1e-3)
    p_value = t_test_p(values.mean(axis=0), between(values, design, "S"), design, "S")[0]
    assert p_value == pytest.approx(1 - t_share(0.5 / 0.09375**0.5, 2.0769), abs=1e-3)


def test_equal_repeats_add_nothing() -> None:
    design = Design(["S"] * 4, list("abcd"))
    values = np.tile(np.asarray([1.0, 1.0, 0.0, 0.0])[None, :, None], (3, 1, 1))
    bounds = intervals(values[0], design, 200)["S"]
    assert widened(values, design, bounds, "S") == bounds


def test_repeats_without_spread_over_images_get_students_interval() -> None:
    design = Design(["S"] * 4, list("abcd"))
    values = np.asarray([[0.4] * 4, [0.6] * 4])[:, :, None]
    bounds = intervals(values.mean(axis=0), design, 200)["S"]
    (interval,) = widened(values, design, bounds, "S")
    assert interval.high - 0.5 == pytest.approx(12.7062 * 0.1, abs=1e-3)


@pytest.mark.parametrize(("repeats", "spread"), [(3, 0.0), (3, 0.01), (5, 0.01), (3, 0.02)])
def test_equal_models_with_seeds_are_told_apart_no_more_often_than_said(
    repeats: int, spread: float
) -> None:
    """300 trials; over images alone 12 to 33 % would be, where seeds move all questions."""
    rng = np.random.default_rng(31)
    images = [str(place % 300) for place in range(400)]
    design = Design(["S"] * 400, images)
    found = []
    for _ in range(300):
        easy = rng.beta(1.4, 0.93, 300)[design.cluster]
        a, b = (
            (rng.random((repeats, 400)) < easy + rng.normal(0, spread, repeats)[:, None]).astype(
                float
            )[:, :, None]
            for _ in range(2)
        )
        added = between(a, design, "S") + between(b, design, "S")
        found.append(t_test_p(a.mean(axis=0) - b.mean(axis=0), added, design, "S")[0])
    assert np.mean(np.asarray(found) <= 0.05) <= 0.06


def repeated_run(path: Path, misses: list[int], model: str) -> Run:
    """A run with one repeat for each number: so many of the first questions are wrong in it."""
    lines = [
        json.dumps(
            {
                "question_id": record.question_id,
                "prediction": "no idea" if place < wrong else record.answers[0],
                "repeat": repeat,
                "model": model,
            }
        )
        for repeat, wrong in enumerate(misses)
        for place, record in enumerate(records("mini"))
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_run(path)


def test_compare_rank_and_gate_count_the_variation_between_repeats(tmp_path: Path) -> None:
    """The means of both models are certain over images, but one model's repeats differ widely."""
    steady = repeated_run(tmp_path / "steady.jsonl", [0, 0], "steady")
    moving = repeated_run(tmp_path / "moving.jsonl", [0, 48], "moving")
    gaps = steady.values[:, 2] - moving.values[:, 2]
    alone = intervals(gaps, steady.design, 1000)[OVERALL][0]
    assert alone.low > 0
    assert signflip_p(gaps, steady.design, 1000)[OVERALL][0] < 0.05

    overall = compare(steady, moving, resamples=1000).rows("accanls")[0]
    assert overall.difference.low < 0 < overall.difference.high
    assert overall.p_value > 0.05

    ranking = rank([steady, moving], resamples=1000)
    assert [(place.first, place.last, place.groups) for place in ranking.places] == [
        (1, 2, "a")
    ] * 2
    assert ranking.pairs[0].difference.low < 0

    drop = decide(moving, Rules(max_drop=90.0, resamples=1000), steady).checks[-1]
    assert drop.interval is not None
    assert drop.interval.low < 100 * -alone.high
    assert "the bound is over images and repeats" in drop.sentence
