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
)
from dtvqa_plugin.analysis.significance import holm, signflip_p
from dtvqa_plugin.runs.design import OVERALL, Design, Floats

PAIRS = [image for image in range(120) for _ in range(2)]


def paired_scores(rng: np.random.Generator, gain: float) -> Floats:
    """Differences of two models: a fifth of the images flips, both questions together."""
    flips = rng.random(120) < 0.2
    sign = np.where(rng.random(120) < 0.5 + gain, 1.0, -1.0)
    return np.repeat(flips * sign, 2)


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.4], ids=["none", "some", "large"])
def test_signflip_agrees_with_scipy(shift: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(1).normal(shift, 1.0, size=60)
    ours = signflip_p(differences, one_subset(list(range(60))))[OVERALL][0]
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=10_000, rng=3
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.015)


def test_signflip_of_few_images_is_the_exact_value() -> None:
    # Three images, all in favour of A: of 8 sign patterns 2 are as extreme, p = 1/4.
    p_value = signflip_p(np.asarray([1.0, 1.0, 1.0]), one_subset([0, 1, 2]))[OVERALL][0]
    assert p_value == pytest.approx(0.25, abs=0.02)


def test_equal_runs_give_p_of_one_and_no_p_is_zero() -> None:
    assert signflip_p(np.zeros(10), one_subset(list(range(10))))[OVERALL][0] == 1.0
    assert signflip_p(np.ones(200), one_subset(list(range(200))))[OVERALL][0] == pytest.approx(
        1e-4, rel=0.01
    )


def test_false_alarms_come_as_often_as_the_level_says_and_more_often_if_images_are_ignored() -> (
    None
):
    rng = np.random.default_rng(11)
    together, apart = one_subset(PAIRS), one_subset(list(range(len(PAIRS))))
    trials = 500
    alarms = {"images": 0, "questions": 0}
    for trial in range(trials):
        differences = paired_scores(rng, gain=0.0)
        for name, design in (("images", together), ("questions", apart)):
            p_value = signflip_p(differences, design, permutations=400, seed=trial)[OVERALL][0]
            alarms[name] += p_value <= 0.05
    # Three standard errors of 500 trials at 5 % are 0.029.
    assert alarms["images"] / trials <= 0.079
    assert alarms["questions"] / trials > 0.1


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


def test_the_detectable_difference_is_detected_as_often_as_said() -> None:
    """Simulated pairs of models that differ by just that much: 80 % of tests find it."""
    rng = np.random.default_rng(13)
    design = one_subset(list(range(1200)))
    share = 0.2
    (row,) = [r for r in assumed(design, [share], correlation=0.0) if r.part == OVERALL]
    up = (share + row.difference) / 2
    trials, found = 1000, 0
    for _ in range(trials):
        draws = rng.random(1200)
        gaps = np.where(draws < up, 1.0, np.where(draws < share, -1.0, 0.0))
        found += abs(gaps.mean()) > 1.959964 * clustered_error(gaps, design)
    assert found / trials == pytest.approx(0.8, abs=0.04)


def test_power_arithmetic() -> None:
    # (1.9600 + 0.8416) standard errors.
    assert detectable_difference(1.0) == pytest.approx(2.8016, abs=1e-3)
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
        (lambda: detectable_difference(1.0, alpha=0.0), "alpha is a probability"),
        (lambda: detectable_difference(1.0, power=80.0), "power is a probability"),
        (lambda: design_effect(one_subset([0]), OVERALL, 2.0), "correlation"),
        (lambda: assumed(one_subset([0]), [0.0]), "share of differing"),
    ],
    ids=["alpha", "power", "correlation", "share"],
)
def test_wrong_power_arguments_are_named(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
