"""Intervals: right against scipy, honest under clustering, quick, reproducible."""

from __future__ import annotations

import numpy as np
import pytest

from dtvqa_plugin.analysis import bootstrap
from dtvqa_plugin.analysis.bootstrap import (
    Interval,
    bootstrap_means,
    intervals,
    over_repeats,
    t_quantile,
)
from dtvqa_plugin.analysis.power import clustered_error
from dtvqa_plugin.runs.design import OVERALL, Design, Floats


def one_subset(images: list[int]) -> Design:
    return Design(["DTScene"] * len(images), [str(image) for image in images])


def clustered_scores(rng: np.random.Generator, images: int, per_image: int) -> Floats:
    """Zero-one scores with mean 0.5 that nearly agree on one image."""
    easy = rng.random(images) < 0.5
    chance = np.where(easy, 0.9, 0.1)
    return (rng.random((images, per_image)) < chance[:, None]).astype(float).ravel()


def test_agrees_with_scipy_when_every_question_has_its_own_image() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(1).random(400) ** 2
    ours = intervals(values, one_subset(list(range(400))))[OVERALL][0]
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="BCa", rng=2
    ).confidence_interval
    # Two draws of 10,000 differ by Monte Carlo error alone: about 0.0005 at these percentiles.
    assert ours.low == pytest.approx(theirs.low, abs=0.002)
    assert ours.high == pytest.approx(theirs.high, abs=0.002)
    assert ours.value == pytest.approx(values.mean())


def test_agrees_with_a_plain_loop_over_images_and_subsets() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, size=60)
    subsets = ["DTScene" if image < 25 else "DTTabShot" for image in range(60)]
    images = [image for image, size in enumerate(sizes) for _ in range(size)]
    design = Design([subsets[image] for image in images], [str(image) for image in images])
    values = rng.random(len(images))
    rows = [np.flatnonzero(np.asarray(images) == image) for image in range(60)]
    means = []
    for _ in range(4000):
        drawn = np.concatenate([rng.integers(0, 25, 25), rng.integers(25, 60, 35)])
        means.append(values[np.concatenate([rows[image] for image in drawn])].mean())
    ours = bootstrap_means(values, design)[OVERALL][:, 0]
    assert np.std(ours) == pytest.approx(np.std(means), rel=0.05)
    for percentile in (2.5, 50, 97.5):
        expected = np.percentile(means, percentile)
        assert np.percentile(ours, percentile) == pytest.approx(expected, abs=0.004)


def made_scores(rng: np.random.Generator, design: Design, mean: float, trials: int) -> Floats:
    """Zero-one scores, a column a trial; those of one image correlate with 0.3."""
    scale = 1 / 0.3 - 1
    easy = rng.beta(mean * scale, (1 - mean) * scale, size=(design.clusters, trials))
    return (rng.random((design.questions, trials)) < easy[design.cluster]).astype(np.float64)


@pytest.mark.parametrize("mean", [0.03, 0.5, 0.9, 0.97])
def test_an_interval_misses_as_often_as_it_says_on_both_sides(mean: float) -> None:
    """A subset's 300 questions on 200 images, 3,000 trials. Percentiles miss 6 % above .97."""
    rng = np.random.default_rng(5)
    design = one_subset([*range(200), *range(100)])
    found = intervals(made_scores(rng, design, mean, 3000), design, resamples=3000)[OVERALL]
    above = np.mean([interval.low > mean for interval in found])
    below = np.mean([interval.high < mean for interval in found])
    # 2.5 % nominal; three standard errors of 3,000 trials are 0.9 points.
    assert above <= 0.04
    assert below <= 0.04
    assert above + below <= 0.065


def test_an_interval_that_takes_questions_for_independent_misses_too_often() -> None:
    rng = np.random.default_rng(5)
    together = one_subset([image for image in range(150) for _ in range(3)])
    values = made_scores(rng, together, 0.5, 1000)
    apart = one_subset(list(range(450)))
    missed = {
        name: np.mean([not i.low <= 0.5 <= i.high for i in intervals(values, d, 1000)[OVERALL]])
        for name, d in (("images", together), ("questions", apart))
    }
    assert missed["images"] <= 0.07
    assert missed["questions"] > 0.1


def test_the_spread_is_the_clustered_standard_error() -> None:
    values = clustered_scores(np.random.default_rng(7), 200, 2)
    design = one_subset([image for image in range(200) for _ in range(2)])
    spread = np.std(bootstrap_means(values, design)[OVERALL])
    assert spread == pytest.approx(clustered_error(values, design), rel=0.05)


def test_a_run_has_the_same_interval_alone_and_among_others() -> None:
    design = one_subset([number // 2 for number in range(300)])
    values = np.random.default_rng(9).random((300, 40))
    together = intervals(values, design, resamples=1000)[OVERALL]
    alone = [intervals(column, design, resamples=1000)[OVERALL][0] for column in values.T]
    assert together == alone


def test_the_draws_of_one_design_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    whole = bootstrap._draw_counts

    def counting(rng: np.random.Generator, items: int, draws: int) -> bootstrap.Counts:
        drawn.append(items)
        return whole(rng, items, draws)

    monkeypatch.setattr(bootstrap, "_draw_counts", counting)
    for run in range(3):
        values = np.random.default_rng(run).random(61)
        # Another Design of the same form, as each run has its own.
        intervals(values, one_subset(list(range(61))), resamples=1000, seed=77)
    assert drawn == [61]


def test_draws_that_are_not_kept_are_the_same_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    design = one_subset([number // 2 for number in range(90)])
    values = np.random.default_rng(2).random(90)
    kept = bootstrap_means(values, design, 1500)[OVERALL]
    monkeypatch.setattr(bootstrap, "_KEPT_CELLS", 0)
    assert np.array_equal(kept, bootstrap_means(values, design, 1500)[OVERALL])


def test_the_same_seed_gives_the_same_interval_and_columns_share_their_draws() -> None:
    design = one_subset([0, 0, 1, 2, 3, 3])
    values = np.random.default_rng(0).random((6, 2))
    values[:, 1] = values[:, 0] + 0.25
    drawn = bootstrap_means(values, design, seed=4)[OVERALL]
    assert np.array_equal(drawn, bootstrap_means(values, design, seed=4)[OVERALL])
    assert not np.array_equal(drawn, bootstrap_means(values, design, seed=5)[OVERALL])
    assert np.allclose(drawn[:, 1] - drawn[:, 0], 0.25)


def test_means_are_the_built_in_sum_over_the_count() -> None:
    values = np.asarray([0.1] * 10 + [1.0])
    mean = one_subset(list(range(11))).means(values)[OVERALL][0]
    assert mean == sum(values.tolist()) / 11


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Design([], []), "no questions"),
        (lambda: Design(["a"], ["x", "y"]), "one a question"),
        (lambda: intervals(np.zeros(2), one_subset([0]), 200), "2 rows of scores for 1"),
        (lambda: intervals(np.zeros(1), one_subset([0]), 5), "too few"),
        (lambda: intervals(np.zeros(1), one_subset([0]), 200, level=95.0), "for example 0.95"),
    ],
    ids=["empty", "lengths", "rows", "resamples", "level"],
)
def test_wrong_arguments_are_named(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


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


def test_an_interval_over_repeats_adds_their_variance_to_that_over_images() -> None:
    """Four images, two repeats; the figures are computed by hand.

    V = (.25 + .25 + 0 + 0) / 16 = .03125, S = .125, total V + S / 2 = .09375 with
    .09375**2 / (.0625**2 / 1 + .03125**2 / 3) = 2.0769 degrees of freedom.
    """
    design = Design(["S"] * 4, list("abcd"))
    values = np.asarray([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]])[:, :, None]
    bounds = {"S": [Interval(0.5, 0.3, 0.8)], "overall": [Interval(0.5, 0.5, 0.5)]}
    found = over_repeats(bounds, values, design)
    factor = t_quantile(0.95, 2.0769) / 1.95996 * (0.09375 / 0.03125) ** 0.5
    (interval,) = found["S"]
    assert interval.low == pytest.approx(0.5 - 0.2 * factor, abs=1e-3)
    assert interval.high == pytest.approx(0.5 + 0.3 * factor, abs=1e-3)


def test_equal_repeats_add_nothing() -> None:
    design = Design(["S"] * 4, list("abcd"))
    values = np.tile(np.asarray([1.0, 1.0, 0.0, 0.0])[None, :, None], (3, 1, 1))
    bounds = intervals(values[0], design, 200)
    assert over_repeats(bounds, values, design) == bounds


def test_repeats_without_spread_over_images_get_students_interval() -> None:
    design = Design(["S"] * 4, list("abcd"))
    values = np.asarray([[0.4] * 4, [0.6] * 4])[:, :, None]
    bounds = intervals(values.mean(axis=0), design, 200)
    (interval,) = over_repeats(bounds, values, design)["S"]
    assert interval.high - 0.5 == pytest.approx(12.7062 * 0.1, abs=1e-3)
