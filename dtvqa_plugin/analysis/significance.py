"""Paired tests over images: sign-flip permutation, and Holm's correction for several tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dtvqa_plugin.analysis.bootstrap import CHUNK, RESAMPLES, SEED, check_resamples
from dtvqa_plugin.runs.design import Design, Floats


def signflip_p(
    differences: Floats, design: Design, permutations: int = RESAMPLES, seed: int = SEED
) -> dict[str, Floats]:
    """Two-sided p-values that the mean difference is zero, by part: arrays (columns,).

    ``differences`` (questions,) or (questions, columns) holds run A minus run B. If the runs are
    exchangeable, the sign of an image's summed difference is as likely one way as the other;
    images, not questions, change sign, for what stands on one image goes together. With random
    signs p = (1 + number at least as extreme) / (1 + permutations), so it is never 0 (Phipson
    and Smyth, 2010, "Permutation p-values should never be zero").
    """
    check_resamples(permutations)
    sums = design.sums(differences)
    extreme = {part: np.zeros(sums.shape[1]) for part in design.parts}
    members = {part: design.members.get(part, np.arange(design.clusters)) for part in design.parts}
    observed = {part: np.abs(sums[rows].sum(axis=0)) for part, rows in members.items()}
    # Equal sums taken in another order differ in the last bits; they count as equal.
    slack = {part: 1e-9 * np.abs(sums[rows]).sum(axis=0) for part, rows in members.items()}
    rng = np.random.default_rng(seed)
    for start in range(0, permutations, CHUNK):
        draws = min(CHUNK, permutations - start)
        signs = rng.integers(0, 2, size=(draws, design.clusters), dtype=np.int8) * 2.0 - 1.0
        for part, rows in members.items():
            flipped = np.abs(signs[:, rows] @ sums[rows])
            extreme[part] += (flipped >= observed[part] - slack[part]).sum(axis=0)
    return {part: (1.0 + count) / (1.0 + permutations) for part, count in extreme.items()}


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjusted p-values (1979): reject those at or below the wanted level."""
    adjusted: dict[str, float] = {}
    running = 0.0
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    for place, (name, p_value) in enumerate(ordered):
        running = max(running, min(1.0, (len(ordered) - place) * p_value))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}
