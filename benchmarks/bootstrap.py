"""Time of the intervals of one table row: ours, scipy's bootstrap, a plain loop.

    python benchmarks/bootstrap.py [--questions N] [--resamples N] [--rounds N]

A row has 15 figures (overall and four subsets, three metrics each); every contestant draws images
with all their questions. scipy gets per-image sums and sizes and a ratio statistic, one call a
figure; the plain loop is run for fewer resamples and scaled. CPU time is taken, the fastest round
counts, and ratios hold on a busy machine where wall times do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import click
import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from dtvqa_plugin.analysis.bootstrap import intervals
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.runs.design import OVERALL, Design, Floats

IMAGE_SHARE = 940 / 1200
METRICS = 3
LOOP_RESAMPLES = 50


def make_corpus(questions: int) -> tuple[Design, Floats]:
    """Scores of a made-up run with as many images a question as the test set has."""
    rng = np.random.default_rng(0)
    subsets = [name for name in SUBSETS for _ in range(questions // len(SUBSETS))]
    images = np.arange(len(subsets)) % round(len(subsets) * IMAGE_SHARE / len(SUBSETS))
    return Design(subsets, [str(image) for image in images]), rng.random((len(subsets), METRICS))


def by_scipy(values: Floats, design: Design, resamples: int) -> None:
    """scipy.stats.bootstrap over images, a ratio of sums as the statistic."""
    from scipy import stats

    sums, sizes = design.sums(values), design.sizes
    for part in design.parts:
        rows = design.members.get(part, np.arange(design.clusters))
        for column in range(METRICS):
            stats.bootstrap(
                (sums[rows, column], sizes[rows]),
                lambda total, size, axis=-1: total.sum(axis=axis) / size.sum(axis=axis),
                paired=True,
                n_resamples=resamples,
                batch=1000,
                method="percentile",
                rng=0,
            )


def by_loop(values: Floats, design: Design, resamples: int) -> None:
    """Draw images, gather their questions, take the mean: one figure and resample at a time."""
    rng = np.random.default_rng(0)
    questions = [np.flatnonzero(design.cluster == image) for image in range(design.clusters)]
    for part in design.parts:
        rows = np.arange(design.clusters) if part == OVERALL else design.members[part]
        for column in range(METRICS):
            means = []
            for _ in range(resamples):
                drawn = rng.choice(rows, len(rows))
                means.append(values[np.concatenate([questions[i] for i in drawn]), column].mean())
            np.quantile(means, [0.025, 0.975])


def seconds(call: Callable[[], object], rounds: int) -> float:
    """CPU seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


@click.command()
@click.option("--questions", default=1200, show_default=True)
@click.option("--resamples", default=10_000, show_default=True)
@click.option("--rounds", default=3, show_default=True)
def main(questions: int, resamples: int, rounds: int) -> None:
    """Print CPU seconds of one table row and ratios to ours."""
    design, values = make_corpus(questions)
    few = min(LOOP_RESAMPLES, resamples)
    taken = {
        "ours": seconds(lambda: intervals(values, design, resamples), rounds),
        "scipy.stats.bootstrap": seconds(lambda: by_scipy(values, design, resamples), 1),
        "plain loop (scaled)": seconds(lambda: by_loop(values, design, few), 1) * resamples / few,
    }
    table = Table(
        title=f"{questions} questions on {design.clusters} images, {resamples:,} resamples",
        box=SIMPLE,
    )
    for name in ("15 figures by", "CPU seconds", "ratio to ours"):
        table.add_column(name, justify="left" if name.endswith("by") else "right")
    for name, value in taken.items():
        table.add_row(name, f"{value:.2f}", f"{value / taken['ours']:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
