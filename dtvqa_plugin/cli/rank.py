"""``dtvqa rank``: runs in order, and which of them cannot be told apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dtvqa_plugin.analysis.ranking import Ranking
from dtvqa_plugin.analysis.ranking import rank as rank_runs
from dtvqa_plugin.cli.output import TABLES_ONLY, TERMINAL, OutputFile, emit, emit_tables, style_of
from dtvqa_plugin.cli.run_options import Source, level_option, resampling_options, source_options
from dtvqa_plugin.metrics.names import HEADLINE, METRICS
from dtvqa_plugin.report import ranking as shown
from dtvqa_plugin.report.layout import print_grid
from dtvqa_plugin.report.rendering import to_json
from dtvqa_plugin.utils.text import plain

if TYPE_CHECKING:
    from rich.console import Console

_PATH = click.Path(path_type=Path)
_PAIRS_SHOWN = 15
_SUFFIX_FORMATS = {".md": "markdown", ".json": "json"}


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--metric", type=click.Choice(METRICS), default=HEADLINE, show_default=True)
@click.option(
    "--pairs/--no-pairs",
    default=None,
    help="Show the pairwise differences.  [default: shown for up to six runs, which have "
    f"{_PAIRS_SHOWN} pairs]",
)
@click.option(
    "--format",
    "style",
    type=click.Choice([TERMINAL, "markdown", "json"]),
    help="Default: by the output file's name, else terminal.",
)
@resampling_options
@level_option
@source_options
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    help="Write here; a name in .md or .json sets the format.",
)
def rank(
    runs: tuple[Path, ...],
    metric: str,
    pairs: bool | None,
    style: str | None,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
    output: Path | None,
) -> None:
    """Rank RUNS over the same questions: rank intervals, groups, pairwise differences.

    Runs are given as to 'dtvqa score'.
    """
    style = style_of(style, output, _SUFFIX_FORMATS, TABLES_ONLY)
    found = source.runs(runs)
    ranking = rank_runs(found, metric, resamples=resamples, seed=seed, level=level)
    with_pairs = len(ranking.pairs) <= _PAIRS_SHOWN if pairs is None else pairs
    if style == "json":
        emit(to_json(shown.ranking_document(ranking)), output)
    elif style == "markdown":
        emit(shown.to_markdown(ranking, with_pairs), output)
    else:
        emit_tables(lambda console: _print(console, ranking, with_pairs), output)


def _print(console: Console, ranking: Ranking, with_pairs: bool) -> None:
    print_grid(console, shown.PLACE_HEADER, shown.place_cells(ranking), 2)
    if with_pairs:
        print_grid(console, shown.PAIR_HEADER, shown.pair_cells(ranking), 2)
    for note in shown.ranking_notes(ranking):
        console.print(plain(note))
