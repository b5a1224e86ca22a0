"""Intervals: right against scipy, honest under clustering, quick, reproducible."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dtvqa_plugin.analysis.bootstrap import bootstrap_means, intervals
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
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=2
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


def test_interval_covers_the_truth_as_often_as_it_says_and_only_if_images_are_drawn() -> None:
    rng = np.random.default_rng(5)
    images, per_image, trials = 150, 3, 400
    together = one_subset([image for image in range(images) for _ in range(per_image)])
    apart = one_subset(list(range(images * per_image)))
    covered = {"images": 0, "questions": 0}
    for trial in range(trials):
        values = clustered_scores(rng, images, per_image)
        for name, design in (("images", together), ("questions", apart)):
            interval = intervals(values, design, resamples=500, seed=trial)[OVERALL][0]
            covered[name] += interval.low <= 0.5 <= interval.high
    # 95 % nominal; three standard errors of 400 trials are 0.033.
    assert 0.915 <= covered["images"] / trials <= 0.985
    assert covered["questions"] / trials < 0.88


def test_the_spread_is_the_clustered_standard_error() -> None:
    values = clustered_scores(np.random.default_rng(7), 200, 2)
    design = one_subset([image for image in range(200) for _ in range(2)])
    spread = np.std(bootstrap_means(values, design)[OVERALL])
    assert spread == pytest.approx(clustered_error(values, design), rel=0.05)


def test_ten_thousand_resamples_of_1200_questions_take_under_a_second() -> None:
    rng = np.random.default_rng(9)
    subsets = [
        name for name in ("DTScene", "DTNutrCap", "DTProdCap", "DTTabShot") for _ in range(300)
    ]
    design = Design(subsets, [f"{i % 235}" for i in range(1200)])
    values = rng.random((1200, 3))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        intervals(values, design, resamples=10_000)
        times.append(time.perf_counter() - start)
    assert min(times) < 1.0


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
