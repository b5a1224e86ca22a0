"""``dtvqa score``, ``dtvqa compare`` and ``dtvqa power``: what runs show, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dtvqa_plugin.analysis import power as power_analysis
from dtvqa_plugin.analysis.audits import LeakagePart, leakage
from dtvqa_plugin.analysis.comparison import Comparison, prompt_pairs
from dtvqa_plugin.analysis.comparison import compare as compare_runs
from dtvqa_plugin.analysis.published import PublishedRow, published_rows
from dtvqa_plugin.analysis.tables import ResultTable, result_tables
from dtvqa_plugin.cli.options import Share, Whole
from dtvqa_plugin.cli.output import (
    TABLES_ONLY,
    TERMINAL,
    OutputFile,
    emit,
    emit_tables,
    style_of,
)
from dtvqa_plugin.cli.run_options import (
    Command,
    Source,
    level_option,
    resampling_options,
    source_options,
)
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.metrics.names import HEADLINE, METRICS
from dtvqa_plugin.report import latex, rendering, terminal
from dtvqa_plugin.runs.design import Design
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.naming import distinct_names
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.text import counted, plain, visible

if TYPE_CHECKING:
    from rich.console import Console

_SUFFIX_FORMATS = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json"}
_COMPARISON_FORMATS = {".md": "markdown", ".json": "json"}
_FLIPS_SHOWN = 10
_ROWS_NAMED = 3
_PATH = click.Path(path_type=Path)


def _shared(command: Command) -> Any:
    """Options that all three commands take."""
    output = click.option(
        "-o",
        "--output",
        type=OutputFile(),
        help="Write here; a name in .md or .json (score: .tex, .csv too) sets the format.",
    )
    return source_options(output(command))


def _sampling(command: Command) -> Command:
    return resampling_options(level_option(command))


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option(
    "--format",
    "style",
    type=click.Choice([TERMINAL, "markdown", "latex", "csv", "json"]),
    help="Default: by the output file's name, else terminal.",
)
@click.option("--published", is_flag=True, help="Add the known published rows, with their source.")
@click.option("--published-file", type=_PATH, help="Add rows from a file of the same form.")
@click.option(
    "--blank", type=_PATH, help="A run over blank images, to find questions that need no reading."
)
@click.option(
    "--audits/--no-audits",
    default=None,
    help="Show the audits of each run.  [default: terminal: where they warn; markdown: all]",
)
@click.option(
    "--intervals/--no-intervals",
    default=None,
    help="Terminal: show the intervals.  [default: of a single run]",
)
@click.option(
    "--metric",
    type=click.Choice([*METRICS, "all"]),
    help="Terminal: what to show.  [default: all metrics if they fit, else accanls]",
)
@_sampling
@_shared
def score(
    runs: tuple[Path, ...],
    style: str | None,
    published: bool,
    published_file: Path | None,
    blank: Path | None,
    audits: bool | None,
    intervals: bool | None,
    metric: str | None,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
    output: Path | None,
) -> None:
    """Score RUNS again from their predictions and print the paper's table.

    A run is an lmms-eval output folder or sample log, a VLMEvalKit prediction file or model
    folder, a result file of the paper's runners, or JSON Lines with question_id and prediction.
    """
    found = source.runs(runs)
    rows = published_rows() if published else []
    rows += published_rows(published_file) if published_file else []
    tables = result_tables(found, rows, resamples=resamples, seed=seed, level=level)
    _say_unshown(rows, tables)
    blank_run = None if blank is None else source.run(blank)
    leaks = [] if blank_run is None else _leaks(found, blank_run)
    metrics = METRICS if metric == "all" else (metric,) if metric else None
    style = style_of(style, output, _SUFFIX_FORMATS)
    if style != TERMINAL:
        _emit_score(style, output, tables, leaks, audits is not False)
        return

    def show(console: Console) -> None:
        terminal.print_tables(console, tables, audits, intervals=intervals, metrics=metrics)
        for run, parts in leaks:
            terminal.print_leakage(console, _leak_title(run), parts)

    emit_tables(show, output)


def _say_unshown(rows: Sequence[PublishedRow], tables: Sequence[ResultTable]) -> None:
    """Which published rows have no table, one line a split."""
    shown = {table.split for table in tables}
    for split in dict.fromkeys(row.split for row in rows if row.split not in shown):
        names = [row.name for row in rows if row.split == split]
        named = ", ".join(names[:_ROWS_NAMED]) + ", ..." * (len(names) > _ROWS_NAMED)
        said = (
            f"not shown: {counted(len(names), 'published row')} of split {split} ({named}), since "
            "no run is over that split"
        )
        click.echo(plain(said), err=True)


def _leaks(runs: Sequence[Run], blank: Run) -> list[tuple[Run, list[LeakagePart]]]:
    chosen = [run for run in runs if run.split == blank.split and run.condition != "blind"]
    if not chosen:
        raise RunError(f"{blank.name}: none of the runs is over the same split ({blank.split})")
    return [(run, leakage(run, blank)) for run in chosen]


def _emit_score(
    style: str,
    output: Path | None,
    tables: Sequence[ResultTable],
    leaks: Sequence[tuple[Run, list[LeakagePart]]],
    audits: bool,
) -> None:
    if style == "markdown":
        text = rendering.to_markdown(tables, audits)
        for run, parts in leaks:
            cells = rendering.leakage_cells(parts)
            heading = rendering.escape_markdown(_leak_title(run))
            table = rendering.markdown_table(rendering.LEAKAGE_HEADER, cells)
            text += f"\n#### {heading}\n\n{table}"
        emit(text, output)
    elif style == "latex":
        emit(latex.to_latex(tables), output)
    elif style == "csv":
        emit(rendering.to_csv(tables), output)
    else:
        document = rendering.tables_document(tables)
        document["leakage"] = [
            {"run": run.name, "condition": run.condition, "parts": [asdict(p) for p in parts]}
            for run, parts in leaks
        ]
        emit(rendering.to_json(document), output)


def _leak_title(run: Run) -> str:
    return f"Without reading: {run.name} [{run.condition}]"


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option("--common", is_flag=True, help="Compare on the questions that both runs have.")
@click.option(
    "--prompts", is_flag=True, help="Compare with and without the paper's prompt, by model."
)
@click.option(
    "--metric",
    type=click.Choice([*METRICS, "all"]),
    default=HEADLINE,
    show_default=True,
    help="What to compare.",
)
@click.option(
    "--flips",
    type=Whole(0),
    default=_FLIPS_SHOWN,
    show_default=True,
    help="How many flipped questions to list.",
)
@click.option("--format", "style", type=click.Choice([TERMINAL, "markdown", "json"]))
@_sampling
@_shared
def compare(
    runs: tuple[Path, ...],
    common: bool,
    prompts: bool,
    metric: str,
    flips: int,
    style: str | None,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
    output: Path | None,
) -> None:
    """Compare two RUNS question by question, or with --prompts each model's two conditions.

    RUNS are given as to 'dtvqa score'; one folder that holds two runs is enough.
    """
    style = style_of(style, output, _COMPARISON_FORMATS, TABLES_ONLY)
    if prompts:
        pairs = prompt_pairs(source.runs(runs))
    elif len(runs) == 2:
        a, b = distinct_names([source.run(path) for path in runs])
        pairs = [(a, b)]
    else:
        held = source.runs(runs)
        if len(held) != 2:
            listing = "".join(f"\n  {run.name} [{run.condition}]: {run.paths[0]}" for run in held)
            said = f"compare takes two runs, or --prompts; got {len(held)}:{listing}"
            raise click.UsageError(visible(said))
        pairs = [(held[0], held[1])]
    found = [
        compare_runs(a, b, common=common, resamples=resamples, seed=seed, level=level)
        for a, b in pairs
    ]
    metrics = METRICS if metric == "all" else (metric,)
    _emit_comparisons(style, output, found, metrics, flips)


def _emit_comparisons(
    style: str,
    output: Path | None,
    found: Sequence[Comparison],
    metrics: Sequence[str],
    flips: int,
) -> None:
    if style == TERMINAL:

        def show(console: Console) -> None:
            for comparison in found:
                terminal.print_comparison(console, comparison, metrics, flips)

        emit_tables(show, output)
    elif style == "markdown":
        emit("\n".join(rendering.comparison_markdown(c, metrics) for c in found), output)
    else:
        documents = [rendering.comparison_document(comparison) for comparison in found]
        emit(rendering.to_json({"comparisons": documents}), output)


@click.command()
@click.argument("runs", nargs=-1, type=_PATH)
@click.option("--split", default="test", show_default=True, help="Without runs: which questions.")
@click.option(
    "--differing",
    type=Share(0, 1, True),
    multiple=True,
    help="Without runs: assumed share of questions scored differently (may be repeated).",
)
@click.option(
    "--image-correlation",
    type=Share(0, 1),
    default=power_analysis.IMAGE_CORRELATION,
    show_default=True,
    help="Without runs: assumed correlation of differences on one image.",
)
@click.option(
    "--power",
    "power_",
    type=Share(0, 1, True, True),
    default=power_analysis.POWER,
    show_default=True,
    help="Probability of finding the difference.",
)
@click.option(
    "--alpha",
    type=Share(0, 1, True, True),
    default=power_analysis.ALPHA,
    show_default=True,
    help="Level of the test that finds it.",
)
@click.option("--metric", type=click.Choice(METRICS), default=HEADLINE, show_default=True)
@click.option("--format", "style", type=click.Choice([TERMINAL, "markdown", "json"]))
@_shared
def power(
    runs: tuple[Path, ...],
    split: str,
    differing: tuple[float, ...],
    image_correlation: float,
    power_: float,
    alpha: float,
    metric: str,
    style: str | None,
    source: Source,
    output: Path | None,
) -> None:
    """Show how large a difference between two models the questions can detect.

    With two RUNS from their own differences; without, for assumed shares of questions that the
    models score differently.
    """
    style = style_of(style, output, _COMPARISON_FORMATS, TABLES_ONLY)
    if len(runs) == 2:
        a, b = distinct_names([source.run(path) for path in runs])
        column = METRICS.index(metric)
        compared = compare_runs(a, b, common=True, resamples=100)
        gaps = (compared.a.values - compared.b.values)[:, column]
        basis = f"{a.name} against {b.name}, {metric}"
        rows = power_analysis.observed(gaps, compared.a.design, basis, alpha, power_)
    elif not runs:
        questions = source.references.of_subsets(split, get_split(split).subsets)
        design = Design([r.subset for r in questions], [r.image for r in questions])
        shares = differing or power_analysis.DISCORDANCE
        rows = power_analysis.assumed(design, shares, image_correlation, alpha, power_)
    else:
        raise click.UsageError(f"power takes two runs or none; got {len(runs)}")
    title = f"Smallest difference in points found with {power_:.0%} power at level {alpha:g}"
    _emit_power(style, output, rows, title)


def _emit_power(
    style: str, output: Path | None, rows: Sequence[power_analysis.Detectable], title: str
) -> None:
    if style == TERMINAL:
        emit_tables(lambda console: terminal.print_power(console, rows, title), output)
    elif style == "markdown":
        table = rendering.markdown_table(rendering.POWER_HEADER, rendering.power_cells(rows), 2)
        notes = "".join(f"\n- {note}\n" for note in rendering.power_notes(rows))
        emit(f"### {title}\n\n{table}{notes}", output)
    else:
        emit(rendering.to_json({"title": title, "rows": [asdict(row) for row in rows]}), output)
