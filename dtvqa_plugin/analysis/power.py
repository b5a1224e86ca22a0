"""How large a difference the questions at hand can show.

The smallest difference that a paired two-sided test at level ``alpha`` finds with probability
``power`` is (z[1 - alpha/2] + z[power]) standard errors of the mean difference. The standard error
comes either from two runs (clustered by image) or from an assumption: that a share of questions is
scored differently by the two models, by one whole point each way, and that differences on one image
correlate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dtvqa_plugin.runs.design import OVERALL, Design, Floats

ALPHA = 0.05
POWER = 0.8
IMAGE_CORRELATION = 0.2
DISCORDANCE = (0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest difference (0-1) that a part of the test set shows; ``basis`` says from what."""

    part: str
    questions: int
    images: int
    basis: str
    standard_error: float
    difference: float


def detectable_difference(
    standard_error: float, alpha: float = ALPHA, power: float = POWER
) -> float:
    """The difference found with probability ``power``; in the unit of the standard error."""
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} is a probability between 0 and 1; got {value!r}")
    normal = NormalDist()
    return (normal.inv_cdf(1.0 - alpha / 2.0) + normal.inv_cdf(power)) * standard_error


def clustered_error(values: Floats, design: Design, part: str = OVERALL) -> float:
    """Standard error of the mean of one column over a part, clustered by image.

    The linearised (sandwich) variance of a ratio of sums, images drawn within each subset; a
    subset with one image adds nothing that could be estimated. NaN if no subset has two images.
    """
    data = np.asarray(values, dtype=np.float64)
    names = design.names if part == OVERALL else (part,)
    total = design.size(part)
    variance, known = 0.0, False
    for name in names:
        rows = design.rows[name]
        residual = np.zeros(design.questions)
        residual[rows] = data[rows] - data[design.rows[part]].mean()
        sums = design.sums(residual)[design.members[name], 0]
        if len(sums) > 1:
            known = True
            variance += float(np.var(sums, ddof=1)) * len(sums) / total**2
    return math.sqrt(variance) if known else math.nan


def design_effect(design: Design, part: str, correlation: float) -> float:
    """How much clustering by image inflates the variance of a mean: 1 + (m - 1) * correlation.

    m is the number of questions on the image of a random question.
    """
    if not 0.0 <= correlation <= 1.0:
        raise ValueError(
            f"the correlation within an image must be from 0 to 1; got {correlation!r}"
        )
    sizes = design.sizes if part == OVERALL else design.sizes[design.members[part]]
    return 1.0 + (float((sizes**2).sum() / sizes.sum()) - 1.0) * correlation


def assumed(
    design: Design,
    discordance: Sequence[float] = DISCORDANCE,
    correlation: float = IMAGE_CORRELATION,
    alpha: float = ALPHA,
    power: float = POWER,
) -> list[Detectable]:
    """What each part shows if the models score a share ``discordance`` of questions differently.

    A difference d over discordant share q has variance q - d**2 a question; d depends on its own
    variance, so it is solved for: d**2 = f**2 * (q - d**2) with f the error of unit variance.
    """
    rows = []
    for share in discordance:
        if not 0.0 < share <= 1.0:
            raise ValueError(f"the share of differing questions must be from 0 to 1; got {share!r}")
        for part in design.parts:
            size = design.size(part)
            unit = math.sqrt(design_effect(design, part, correlation) / size)
            factor = detectable_difference(unit, alpha, power) ** 2
            difference = math.sqrt(share * factor / (1.0 + factor))
            error = unit * math.sqrt(share - difference**2)
            basis = f"{share:.0%} of scores differ"
            rows.append(Detectable(part, size, design.images(part), basis, error, difference))
    return rows


def observed(
    differences: Floats, design: Design, basis: str, alpha: float = ALPHA, power: float = POWER
) -> list[Detectable]:
    """What each part shows with the spread that two runs really have."""
    rows = []
    for part in design.parts:
        error = clustered_error(differences, design, part)
        difference = detectable_difference(error, alpha, power)
        rows.append(
            Detectable(part, design.size(part), design.images(part), basis, error, difference)
        )
    return rows
