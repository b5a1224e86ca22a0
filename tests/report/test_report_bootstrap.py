"""Intervals: right against scipy, honest under clustering, quick, reproducible."""

from __future__ import annotations

import numpy as np
import pytest

from dtvqa_plugin.analysis import bootstrap
from dtvqa_plugin.analysis.bootstrap import (
    Interval,
    bootstrap_means,
    cautious_interval,
    intervals,
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


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("images", [2, 40, 300])
def test_equal_scores_give_the_exact_binomial_bound(value: float, images: int) -> None:
    """None of n questions differs: the upper limit of Clopper and Pearson for 0 of n."""
    stats = pytest.importorskip("scipy.stats")
    design = one_subset(list(range(images)))
    (found,) = intervals(np.full(images, value), design, 100, scale=(0.0, 1.0))[OVERALL]
    share = stats.binomtest(0, images).proportion_ci(0.95, "exact").high
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(value - share * value)
    assert found.high == pytest.approx(value + share * (1.0 - value))


@pytest.mark.parametrize(
    ("subsets", "values", "value"),
    [
        ("SSSS", [[1, 0], [0, 1], [1, 0], [1, 0]], 0.5),  # each image has one of two
        ("SSTT", [[1, 1], [1, 1], [0, 0], [0, 0]], 0.5),  # one subset all right, one all wrong
    ],
)
def test_images_that_score_alike_get_a_width(
    subsets: str, values: list[list[float]], value: float
) -> None:
    design = Design([name for name in subsets for _ in "ab"], [str(i // 2) for i in range(8)])
    (found,) = intervals(np.asarray(values).ravel(), design, 100, scale=(0.0, 1.0))[OVERALL]
    share = 1 - 0.025 ** (1 / 8)
    assert found == Interval(
        value, pytest.approx(value - share / 2), pytest.approx(value + share / 2)
    )


def test_without_a_scale_or_on_one_image_equal_scores_have_no_width() -> None:
    assert intervals(np.ones(9), one_subset(list(range(9))), 100)[OVERALL][0] == Interval(1, 1, 1)
    alone = intervals(np.ones(9), one_subset([0] * 9), 100, scale=(0.0, 1.0))[OVERALL][0]
    assert alone == Interval(1, 1, 1)


def test_a_subset_near_the_ceiling_is_missed_no_more_often_than_said() -> None:
    """True mean .99 on 300 questions: 7 % of the trials have all of them right."""
    design = one_subset([number % 200 for number in range(300)])
    rng = np.random.default_rng(77)
    easy = rng.beta(0.99 * 7 / 3, 0.01 * 7 / 3, size=(200, 1500))
    values = (rng.random((300, 1500)) < easy[design.cluster]).astype(float)
    found = intervals(values, design, 1000, scale=(0.0, 1.0))[OVERALL]
    assert np.mean([one.low > 0.99 for one in found]) <= 0.025
    assert np.mean([one.high < 0.99 for one in found]) <= 0.035


CAUTIOUS = [
    ("none of 300 differs", [], 300, 1.0),
    ("one of 300 lost", [-1.0], 300, 5 / 3),
    ("five of 300 lost", [-1.0] * 5, 300, 10 / 3),
]
"""Last: the bound in points, near that of Clopper and Pearson (0.99, 1.57, 3.48)."""


@pytest.mark.parametrize(("case", "gaps", "questions", "points"), CAUTIOUS)
def test_the_cautious_end_is_near_the_exact_one(
    case: str, gaps: list[float], questions: int, points: float
) -> None:
    values = np.asarray(gaps + [0.0] * (questions - len(gaps)))
    design = one_subset(list(range(questions)))
    found = cautious_interval(values, design, level=0.9)
    assert -100 * found.low == pytest.approx(points, abs=0.25)
    mirrored = cautious_interval(-values, design, level=0.9)
    assert mirrored.high == pytest.approx(-found.low)
