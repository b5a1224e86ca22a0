"""How often intervals, tests and decisions err, by simulation.

    python benchmarks/coverage.py [--trials N]

Scores are 0 or 1, those on one image correlate with 0.3. Trials are columns of one array, so that
all of them share the bootstrap draws; 5,000 trials have a standard error of 0.2 points at 2.5 %.
Percentile intervals and the ordinary permutation p-value are computed from the same draws.
"""

from __future__ import annotations

import click
import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from dtvqa_plugin.analysis.bootstrap import bootstrap_means, cautious_interval, intervals
from dtvqa_plugin.analysis.power import assumed
from dtvqa_plugin.analysis.seeds import between, over_repeats, t_test_p
from dtvqa_plugin.analysis.significance import signflip_p
from dtvqa_plugin.runs.design import OVERALL, Design, Floats

RESAMPLES = 4_000
CORRELATION = 0.3
LEVEL = 0.05


def one_part(questions: int, images: int) -> Design:
    """A subset whose first images carry two questions."""
    return Design(["S"] * questions, [str(number % images) for number in range(questions)])


def whole_set() -> Design:
    """Four subsets of 300 questions on 235 images each."""
    names = [f"S{place}" for place in range(4) for _ in range(300)]
    return Design(names, [str(number % 300 % 235) for number in range(1200)])


GATED = (
    (whole_set(), 0.02, 0.01),
    (whole_set(), 0.05, 0.01),
    (whole_set(), 0.2, 0.01),
    (whole_set(), 0.01, 0.002),
    (one_part(5000, 4000), 0.05, 0.01),
    (one_part(300, 235), 0.02, 0.01),
    (one_part(300, 235), 0.01, 0.005),
    (one_part(64, 17), 0.3, 0.05),
)
"""Questions, the share scored differently, and the allowed drop, of the gate's simulation."""


def made_scores(rng: np.random.Generator, design: Design, mean: float, trials: int) -> Floats:
    """Scores 0 or 1, a column a trial, from a beta-binomial model with one draw an image."""
    scale = 1 / CORRELATION - 1
    easy = rng.beta(mean * scale, (1 - mean) * scale, size=(design.clusters, trials))
    return (rng.random((design.questions, trials)) < easy[design.cluster]).astype(np.float64)


def made_flips(
    rng: np.random.Generator, design: Design, share: float, gap: float, n: int
) -> Floats:
    """Differences of two models: a share of the questions flips, more often one way by ``gap``."""
    draws = rng.random((design.questions, n))
    return np.where(draws < (share + gap) / 2, 1.0, np.where(draws < share, -1.0, 0.0))


def coverage(console: Console, trials: int) -> None:
    """Misses of 95 % intervals by side."""
    shown = _table("95 % interval: misses in percent (nominal 2.5 a side)", 6)
    for name in ("questions", "true mean", "percentile: too high", "low", "BCa: too high", "low"):
        shown.add_column(name, justify="right")
    for design in (one_part(300, 200), whole_set()):
        for mean in (0.03, 0.5, 0.9, 0.97, 0.99):
            values = made_scores(np.random.default_rng(5), design, mean, trials)
            low, high = np.quantile(
                bootstrap_means(values, design, RESAMPLES)[OVERALL], [0.025, 0.975], axis=0
            )
            found = intervals(values, design, RESAMPLES, scale=(0.0, 1.0))[OVERALL]
            misses = (
                np.mean(low > mean),
                np.mean(high < mean),
                np.mean([interval.low > mean for interval in found]),
                np.mean([interval.high < mean for interval in found]),
            )
            shown.add_row(str(design.questions), f"{mean:g}", *(f"{100 * m:.1f}" for m in misses))
    console.print(shown)


def false_positives(console: Console, trials: int) -> None:
    """Rejections of equally good models."""
    shown = _table("Paired test: false positives in percent (nominal 5)", 3)
    for name in ("differing", "ordinary p", "mid-p"):
        shown.add_column(name, justify="right")
    design = one_part(600, 600)
    for share in (0.01, 0.02, 0.05, 0.2):
        gaps = made_flips(np.random.default_rng(11), design, share, 0.0, trials)
        signs = np.random.default_rng(1).integers(0, 2, size=(RESAMPLES, 600)) * 2.0 - 1.0
        flipped, seen = np.abs(signs @ gaps), np.abs(gaps.sum(axis=0))
        ordinary = (1 + (flipped >= seen - 1e-9).sum(axis=0)) / (1 + RESAMPLES)
        mid = signflip_p(gaps, design, RESAMPLES)[OVERALL]
        rates = (np.mean(ordinary <= LEVEL), np.mean(mid <= LEVEL))
        shown.add_row(f"{share:.0%}", *(f"{100 * rate:.1f}" for rate in rates))
    console.print(shown)


def power(console: Console, trials: int) -> None:
    """How often the test finds the difference that `dtvqa power` promises to be found in 80 %."""
    shown = _table("Power at the difference reported for 80 %, in percent", 4)
    for name in ("questions", "differing", "difference in points", "found"):
        shown.add_column(name, justify="right")
    for questions in (300, 1200):
        design = one_part(questions, questions)
        for share in (0.05, 0.1, 0.3):
            gap = assumed(design, [share], correlation=0.0)[0].difference or 0.0
            gaps = made_flips(np.random.default_rng(13), design, share, gap, trials)
            found = np.mean(signflip_p(gaps, design, RESAMPLES)[OVERALL] <= LEVEL)
            cells = (f"{share:.0%}", f"{100 * gap:.1f}", f"{100 * found:.1f}")
            shown.add_row(str(questions), *cells)
    console.print(shown)


def non_inferiority(console: Console, trials: int) -> None:
    """How often `dtvqa gate` passes a model whose true drop is just the allowed one, or none.

    The last column is the lower BCa end, which the gate does not use.
    """
    shown = _table("Gate with --confidence 0.95: passed, in percent", 6)
    names = ("questions", "images", "differing", "allowed, points")
    for name in (*names, "true drop allowed (nominal 5)", "true drop 0", "BCa: true drop allowed"):
        shown.add_column(name, justify="right")
    for design, share, drop in GATED:
        rates = []
        for gap in (-drop, 0.0):
            gaps = made_flips(np.random.default_rng(19), design, share, gap, trials // 2)
            lows = [cautious_interval(one, design, 1_000, level=0.9).low for one in gaps.T]
            rates.append(np.mean(np.asarray(lows) > -drop + 1e-11))
            if gap:
                found = intervals(gaps, design, RESAMPLES, level=0.9)[OVERALL]
                plain = np.mean([interval.low > -drop + 1e-11 for interval in found])
        cells = (f"{share:.1%}", f"{100 * drop:g}")
        shown.add_row(
            str(design.questions),
            str(design.clusters),
            *cells,
            *(f"{100 * rate:.1f}" for rate in (*rates, plain)),
        )
    console.print(shown)


def compared_repeats(console: Console, trials: int) -> None:
    """Equally good models with repeats: how often compare and rank call them different."""
    shown = _table("Equal models with repeats: p at 0.05 or below, in percent (nominal 5)", 5)
    for name in ("repeats", "sd of seeds", "over images alone", "over both"):
        shown.add_column(name, justify="right")
    design, rng = whole_set(), np.random.default_rng(31)
    scale = 1 / CORRELATION - 1
    for count, spread in ((3, 0.0), (3, 0.01), (3, 0.02), (5, 0.01), (10, 0.01)):
        rejected = np.zeros(2)
        for _ in range(trials // 5):
            easy = rng.beta(0.6 * scale, 0.4 * scale, design.clusters)[design.cluster]
            a, b = (
                (
                    rng.random((count, design.questions))
                    < easy + rng.normal(0.0, spread, count)[:, None]
                ).astype(np.float64)[:, :, None]
                for _ in range(2)
            )
            gaps = a.mean(axis=0) - b.mean(axis=0)
            added = between(a, design, OVERALL) + between(b, design, OVERALL)
            images = signflip_p(gaps, design, 500)[OVERALL][0]
            both = max(images, t_test_p(gaps, added, design, OVERALL)[0])
            rejected += np.asarray([images, both]) <= LEVEL
        cells = (f"{100 * rate:.1f}" for rate in rejected / (trials // 5))
        shown.add_row(str(count), f"{100 * spread:g} points", *cells)
    console.print(shown)


def repeats(console: Console, trials: int) -> None:
    """Coverage of 95 % intervals of the mean over repeats, for a subset of 300 questions.

    Each question is answered rightly with a probability of its own, which a seed moves for all
    questions alike. The two-level bootstrap draws images and repeats.
    """
    shown = _table("Mean over repeats: 95 % intervals that hold the true mean, in percent", 7)
    for name in ("repeats", "sd of seeds", "images alone", "two-level", "over_repeats"):
        shown.add_column(name, justify="right")
    design = one_part(300, 200)
    rng = np.random.default_rng(23)
    for count in (2, 3, 5, 10):
        for spread in (0.0, 0.01, 0.03):
            held = np.zeros(3)
            for _ in range(trials // 4):
                held += _held(rng, design, count, spread)
            cells = (f"{100 * rate:.1f}" for rate in held / (trials // 4))
            shown.add_row(str(count), f"{100 * spread:g} points", *cells)
    console.print(shown)


def _held(rng: np.random.Generator, design: Design, count: int, spread: float) -> Floats:
    """Whether each of three intervals holds the true mean, in one trial."""
    mean, draws = 0.6, 400
    scale = 1 / CORRELATION - 1
    easy = rng.beta(mean * scale, (1 - mean) * scale, design.questions)
    seeds = rng.normal(0.0, spread, count)[:, None]
    values = (rng.random((count, design.questions)) < easy + seeds).astype(np.float64)
    average = values.mean(axis=0)
    images = intervals(average, design, draws)
    added = between(values[:, :, None], design, OVERALL)
    both = over_repeats(images[OVERALL], average[:, None], added, design, OVERALL)
    drawn = bootstrap_means(values.T, design, draws)[OVERALL]
    weights = rng.multinomial(count, np.full(count, 1 / count), draws) / count
    low, high = np.quantile((drawn * weights).sum(axis=1), [0.025, 0.975])
    one, two = images[OVERALL][0], both[0]
    ends = np.asarray([(one.low, one.high), (low, high), (two.low, two.high)])
    return ((ends[:, 0] <= mean) & (mean <= ends[:, 1])).astype(np.float64)


def _table(title: str, columns: int) -> Table:
    return Table(title=title, title_justify="left", box=SIMPLE, min_width=10 * columns)


@click.command()
@click.option("--trials", default=2000, show_default=True)
def main(trials: int) -> None:
    """Print the tables of error rates."""
    console = Console()
    for part in (coverage, false_positives, power, non_inferiority, repeats, compared_repeats):
        part(console, trials)


if __name__ == "__main__":
    main()
