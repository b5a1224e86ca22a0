"""How large a difference the questions can detect.

The test is the sign-flip test over images (``significance``). Its null distribution keeps the
differences as they are and turns their signs, so its spread is that of the differences around 0,
while their mean spreads around its own value: a difference d is found with probability ``power``
where d = z[1 - alpha/2] * null error(d) + z[power] * standard error(d) (for differences of one
whole point on images of one question this is Connor, 1987, "Sample size for testing differences in
proportions for the paired-sample design"). The standard error comes either from two runs
(clustered by image) or from an assumption: that a share of questions is scored differently by the
two models, by one whole point each way, and that differences on one image correlate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from dtvqa_plugin.analysis.bootstrap import influences
from dtvqa_plugin.runs.design import OVERALL, Design, Floats

ALPHA = 0.05
POWER = 0.8
IMAGE_CORRELATION = 0.2
DISCORDANCE = (0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest difference (0-1) that a part of the test set shows; ``basis`` says from what.

    ``difference`` and ``standard_error`` are None where not even the largest possible difference
    is found with the wanted probability, or where a single image tells nothing of the spread.
    """

    part: str
    questions: int
    images: int
    basis: str
    standard_error: float | None
    difference: float | None


def detectable_difference(
    error: Callable[[float], float],
    mean_square: float = 0.0,
    largest: float = 1.0,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float | None:
    """The smallest difference that the sign-flip test finds with probability ``power``.

    Args:
        error: Standard error of the mean difference if the true one is d; in the unit of d.
        mean_square: What d * d is multiplied with to give the square that the null distribution
            has beyond the standard error's: the sum over images of (questions of the image /
            questions) squared.
        largest: The largest difference that can be.
        alpha: Level of the two-sided test.
        power: Wanted probability.

    Returns:
        The difference, or None if ``largest`` is not found as often as that.
    """
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} is a probability between 0 and 1; got {value!r}")
    normal = NormalDist()
    critical, wanted = normal.inv_cdf(1.0 - alpha / 2.0), normal.inv_cdf(power)

    def margin(difference: float) -> float:
        spread = error(difference)
        null = math.sqrt(spread**2 + mean_square * difference**2)
        return difference - critical * null - wanted * spread

    if not margin(largest) >= 0.0:
        return None
    low, high = 0.0, largest
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if margin(middle) >= 0.0 else (middle, high)
    return high


def clustered_error(values: Floats, design: Design, part: str = OVERALL) -> float:
    """Standard error of the mean of one column over a part, clustered by image.

    The linearised (sandwich) variance of a ratio of sums, images drawn within each subset; a
    subset with one image adds nothing that could be estimated. NaN if no subset has two images.
    """
    found = influences(values, design, part)[:, 0]
    variance, known, start = 0.0, False, 0
    for name in design.names if part == OVERALL else (part,):
        images = design.images(name)
        squares = found[start : start + images] ** 2
        start += images
        if images > 1:
            known = True
            variance += float(squares.sum()) * images / (images - 1)
    return math.sqrt(variance) if known else math.nan


def image_weight(design: Design, part: str) -> float:
    """Sum over a part's images of (questions of the image / questions of the part) squared."""
    sizes = design.sizes if part == OVERALL else design.sizes[design.members[part]]
    return float((sizes**2).sum() / sizes.sum() ** 2)


def design_effect(design: Design, part: str, correlation: float) -> float:
    """How much clustering by image inflates the variance of a mean: 1 + (m - 1) * correlation.

    m is the number of questions on the image of a random question.
    """
    if not 0.0 <= correlation <= 1.0:
        raise ValueError(
            f"the correlation within an image must be from 0 to 1; got {correlation!r}"
        )
    return 1.0 + (image_weight(design, part) * design.size(part) - 1.0) * correlation


def assumed(
    design: Design,
    discordance: Sequence[float] = DISCORDANCE,
    correlation: float = IMAGE_CORRELATION,
    alpha: float = ALPHA,
    power: float = POWER,
) -> list[Detectable]:
    """What each part shows if the models score a share ``discordance`` of questions differently.

    A difference d over discordant share q has variance q - d**2 a question, and is at most q.
    """
    rows = []
    for share in discordance:
        if not 0.0 < share <= 1.0:
            raise ValueError(f"the share of differing questions must be from 0 to 1; got {share!r}")
        for part in design.parts:
            size = design.size(part)
            unit = math.sqrt(design_effect(design, part, correlation) / size)

            def error(difference: float, unit: float = unit, share: float = share) -> float:
                return unit * math.sqrt(max(0.0, share - difference**2))

            found = detectable_difference(error, image_weight(design, part), share, alpha, power)
            rows.append(
                Detectable(
                    part=part,
                    questions=size,
                    images=design.images(part),
                    basis=f"{share:.0%} of scores differ",
                    standard_error=None if found is None else error(found),
                    difference=found,
                )
            )
    return rows


def observed(
    differences: Floats, design: Design, basis: str, alpha: float = ALPHA, power: float = POWER
) -> list[Detectable]:
    """What each part shows with the spread that two runs really have."""
    rows = []
    for part in design.parts:
        spread = clustered_error(differences, design, part)

        def error(_: float, spread: float = spread) -> float:
            return spread

        found = detectable_difference(error, image_weight(design, part), 1.0, alpha, power)
        rows.append(
            Detectable(
                part=part,
                questions=design.size(part),
                images=design.images(part),
                basis=basis,
                standard_error=None if math.isnan(spread) else spread,
                difference=found,
            )
        )
    return rows
