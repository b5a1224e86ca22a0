"""Tests of a difference: right against scipy, false alarms as often as they say, power as said."""

from __future__ import annotations

import numpy as np
import pytest
from test_report_bootstrap import one_subset

from dtvqa_plugin.analysis.power import (
    assumed,
    clustered_error,
    design_effect,
    detectable_difference,
    observed,
)
from dtvqa_plugin.analysis.significance import holm, pairwise_p, signflip_p
from dtvqa_plugin.runs.design import OVERALL, Design, Floats

PAIRS = [image for image in range(120) for _ in range(2)]


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.4], ids=["none", "some", "large"])
def test_signflip_agrees_with_scipy(shift: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(1).normal(shift, 1.0, size=60)
    ours = signflip_p(differences, one_subset(list(range(60))))[OVERALL][0]
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=10_000, rng=3
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.015)


@pytest.mark.parametrize(("up", "down"), [(3, 0), (6, 1), (9, 3), (14, 4), (5, 5)])
def test_signflip_of_whole_points_is_the_mid_p_mcnemar_test(up: int, down: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.asarray([1.0] * up + [-1.0] * down + [0.0] * 30)
    ours = signflip_p(differences, one_subset(list(range(len(differences)))))[OVERALL][0]
    flips, most = up + down, max(up, down)
    mid = stats.binom.sf(most, flips, 0.5) + stats.binom.pmf(most, flips, 0.5) / 2
    assert ours == pytest.approx(min(1.0, 2 * mid), abs=0.015)


def test_equal_runs_give_p_of_one_and_no_p_is_zero() -> None:
    assert signflip_p(np.zeros(10), one_subset(list(range(10))))[OVERALL][0] == 1.0
    for size in (200, 2000):
        p_value = signflip_p(np.ones(size), one_subset(list(range(size))))[OVERALL][0]
        assert 0 < p_value < 1e-40


WEIGHTS = {
    "equal": np.ones(18),
    "one far larger": np.asarray([30.0] + [1.0] * 17),
    "falling": 1.0 / np.arange(1, 19),
    "half zero": np.asarray([1.0, 0.0] * 9),
    "fractions": np.random.default_rng(8).random(18),
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("flipped", [0, 1, 2, 4])
def test_p_below_what_was_drawn_is_no_smaller_than_the_exact_one(
    weights: Floats, flipped: int
) -> None:
    differences = weights.copy()
    differences[np.argsort(np.abs(weights))[:flipped]] *= -1.0
    patterns = 1 - 2 * ((np.arange(2**18)[:, None] >> np.arange(18)) & 1)
    sums, observed_sum = np.abs(patterns @ weights), abs(differences.sum())
    beyond = (sums > observed_sum + 1e-9).mean()
    exact = beyond + (np.abs(sums - observed_sum) <= 1e-9).mean() / 2
    drawn = signflip_p(differences, one_subset(list(range(18))), permutations=100)[OVERALL][0]
    assert drawn >= exact or drawn > 0.004  # 0.004: patterns as extreme were drawn, p is a share


def test_pairwise_p_is_signflip_p_of_each_difference() -> None:
    rng = np.random.default_rng(4)
    design = Design(["a"] * 40 + ["b"] * 60, [str(number // 2) for number in range(100)])
    values = rng.integers(0, 2, size=(100, 4)).astype(float)
    for part in design.parts:
        for (i, j), found in pairwise_p(values, design, part, 2000).items():
            alone = signflip_p(values[:, i] - values[:, j], design, 2000)[part][0]
            assert found == pytest.approx(alone)


@pytest.mark.parametrize("share", [0.01, 0.02, 0.2], ids=lambda share: f"{share:.0%} differ")
def test_false_positives_come_as_often_as_the_level_says(share: float) -> None:
    """2,000 pairs of equally good models; the same p without mid-p rejects 1.5 % at 1 %."""
    rng = np.random.default_rng(11)
    flips = rng.random((600, 2000)) < share
    gaps = flips * rng.choice([-1.0, 1.0], size=flips.shape)
    p_values = signflip_p(gaps, one_subset(list(range(600))), permutations=2000)[OVERALL]
    # Three standard errors at 5 % are 1.5 points.
    assert 0.03 <= (p_values <= 0.05).mean() <= 0.065


def test_questions_of_one_image_taken_for_independent_give_false_positives() -> None:
    rng = np.random.default_rng(12)
    flips = rng.random((120, 1000)) < 0.2
    gaps = np.repeat(flips * rng.choice([-1.0, 1.0], size=flips.shape), 2, axis=0)
    rates = [
        (signflip_p(gaps, one_subset(images), permutations=1000)[OVERALL] <= 0.05).mean()
        for images in (PAIRS, list(range(240)))
    ]
    assert rates[0] <= 0.07
    assert rates[1] > 0.1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005},
            {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02},
        ),
        ({"a": 0.5, "b": 0.6}, {"a": 1.0, "b": 1.0}),
        ({"a": 0.02}, {"a": 0.02}),
        ({"a": 0.01, "b": 0.01}, {"a": 0.02, "b": 0.02}),
        ({}, {}),
    ],
    ids=["steps", "capped", "one", "ties", "none"],
)
def test_holm(given: dict[str, float], expected: dict[str, float]) -> None:
    assert holm(given) == pytest.approx(expected)


@pytest.mark.parametrize(("images", "share"), [(300, 0.1), (300, 0.3), (1000, 0.05)])
@pytest.mark.parametrize("power", [0.8, 0.5])
def test_the_test_finds_the_detectable_difference_as_often_as_said(
    images: int, share: float, power: float
) -> None:
    """2,000 pairs of models that differ by just that much, tested as `compare` tests them."""
    rng = np.random.default_rng(13)
    design = one_subset(list(range(images)))
    row = assumed(design, [share], correlation=0.0, power=power)[0]
    assert row.difference is not None
    up = (share + row.difference) / 2
    draws = rng.random((images, 2000))
    gaps = np.where(draws < up, 1.0, np.where(draws < share, -1.0, 0.0))
    found = signflip_p(gaps, design, permutations=2000)[OVERALL] <= 0.05
    assert found.mean() == pytest.approx(power, abs=0.035)


def test_the_power_of_two_runs_is_that_of_their_own_spread() -> None:
    """Differences of 120 images with two questions each, shifted to the reported difference."""
    rng = np.random.default_rng(17)
    design = one_subset(PAIRS)
    gaps = np.repeat(rng.normal(0.0, 0.5, size=(120, 2000)), 2, axis=0)
    row = observed(gaps[:, 0], design, "two runs")[0]
    assert row.difference is not None
    expected = detectable_difference(lambda _: 0.5 / 120**0.5, 1 / 120)
    assert row.difference == pytest.approx(expected, rel=0.1)
    assert expected is not None
    found = signflip_p(gaps + expected, design, permutations=2000)[OVERALL] <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.035)


def test_a_difference_that_cannot_be_found_is_none() -> None:
    few = one_subset(list(range(20)))
    assert assumed(few, [0.05])[0].difference is None, "20 questions, at most 5 points apart"
    alone = observed(np.zeros(3), one_subset([0, 0, 0]), "one image")[0]
    assert (alone.difference, alone.standard_error) == (None, None)


def test_power_arithmetic() -> None:
    # (1.9600 + 0.8416) standard errors where the spread does not depend on the difference.
    assert detectable_difference(lambda _: 0.1) == pytest.approx(0.28016, abs=1e-4)
    pairs = one_subset(PAIRS)
    assert design_effect(pairs, OVERALL, 0.0) == 1.0
    assert design_effect(pairs, OVERALL, 0.3) == pytest.approx(1.3)
    assert np.isnan(clustered_error(np.zeros(3), one_subset([0, 0, 0])))
    two = Design(["a", "a", "b", "b"], ["1", "2", "3", "4"])
    values = np.asarray([0.0, 1.0, 1.0, 1.0])
    # Subset a: variance of its mean 0.25, half the weight; subset b adds none.
    assert clustered_error(values, two) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: detectable_difference(abs, alpha=0.0), "alpha is a probability"),
        (lambda: detectable_difference(abs, power=80.0), "power is a probability"),
        (lambda: design_effect(one_subset([0]), OVERALL, 2.0), "correlation"),
        (lambda: assumed(one_subset([0]), [0.0]), "share of differing"),
    ],
    ids=["alpha", "power", "correlation", "share"],
)
def test_wrong_power_arguments_are_named(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
