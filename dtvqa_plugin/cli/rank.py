"""``dtvqa rank``: runs in order, and which of them cannot be told apart."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from dtvqa_plugin.analysis.ranking import rank as rank_runs
from dtvqa_plugin.cli.run_options import Source, level_option, resampling_options, source_options
from dtvqa_plugin.metrics.names import HEADLINE, METRICS
from dtvqa_plugin.report import ranking as shown
from dtvqa_plugin.report.layout import print_grid
from dtvqa_plugin.report.rendering import to_json
from dtvqa_plugin.utils.text import plain

_PATH = click.Path(path_type=Path)
_PAIRS_SHOWN = 15


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--metric", type=click.Choice(METRICS), default=HEADLINE, show_default=True)
@click.option(
    "--pairs/--no-pairs",
    default=None,
    help="Show the pairwise differences.  [default: shown for up to six runs, which have "
    f"{_PAIRS_SHOWN} pairs]",
)
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal")
@resampling_options
@level_option
@source_options
def rank(
    runs: tuple[Path, ...],
    metric: str,
    pairs: bool | None,
    style: str,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
) -> None:
    """Rank RUNS over the same questions: rank intervals, groups, pairwise differences.

    Runs are given as to 'dtvqa score'.
    """
    found = source.runs(runs)
    ranking = rank_runs(found, metric, resamples=resamples, seed=seed, level=level)
    if style == "json":
        click.echo(to_json(shown.ranking_document(ranking)), nl=False)
        return
    console = Console(highlight=False, markup=False)
    print_grid(console, shown.PLACE_HEADER, shown.place_cells(ranking), 2)
    if pairs or (pairs is None and len(ranking.pairs) <= _PAIRS_SHOWN):
        print_grid(console, shown.PAIR_HEADER, shown.pair_cells(ranking), 2)
    for note in shown.ranking_notes(ranking):
        console.print(plain(note))
