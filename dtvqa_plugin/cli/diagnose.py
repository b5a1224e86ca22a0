"""``dtvqa diagnose``: why runs fail, by outcomes, density and difficulty."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dtvqa_plugin.analysis.failures.conditions import conditions as join_conditions
from dtvqa_plugin.analysis.failures.curves import of_curves
from dtvqa_plugin.analysis.failures.diagnosis import diagnose as diagnose_runs
from dtvqa_plugin.cli.options import Whole
from dtvqa_plugin.cli.output import TABLES_ONLY, TERMINAL, OutputFile, emit, emit_tables, style_of
from dtvqa_plugin.cli.run_options import Source, level_option, resampling_options, source_options
from dtvqa_plugin.report import conditions
from dtvqa_plugin.report import diagnosis as shown
from dtvqa_plugin.report.rendering import to_json

if TYPE_CHECKING:
    from rich.console import Console

_PATH = click.Path(path_type=Path)
_SUFFIXES = {".md": "markdown", ".json": "json"}


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option(
    "--conditions",
    "join",
    is_flag=True,
    help="Compare RUNS of one model under several conditions instead (resolution, recognised text "
    "given, grey picture, the paper's prompt).",
)
@click.option(
    "--format",
    "style",
    type=click.Choice([TERMINAL, "markdown", "json"]),
    help="Default: by the output file's name, else terminal.",
)
@click.option("--engine", help="Whose recognised text to use (default: the most complete).")
@click.option(
    "--examples",
    type=Whole(0),
    default=2,
    show_default=True,
    help="Questions shown for each outcome of each run; JSON holds all.",
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
def diagnose(
    runs: tuple[Path, ...],
    join: bool,
    style: str | None,
    engine: str | None,
    examples: int,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
    output: Path | None,
) -> None:
    """Show why RUNS fail: misread, wrong place, invented, refused, small print.

    Runs are given as to 'dtvqa score', all over one split. 'dtvqa data recognise' makes the
    recognised text of the images, without which wrong outputs cannot be placed. With --conditions:
    what each condition does to the score of one model. All figures are diagnostics of this plugin,
    not metrics of the paper.

    \b
    Example: the embedded sample, without a GPU (scripts/try runs the first line):
      lmms-eval --model dtvqa_ocr --model_args mode=reader \\
        --tasks dtvqa_mini --log_samples --output_path results
      dtvqa data recognise --split mini
      dtvqa diagnose results
    """
    style = style_of(style, output, _SUFFIXES, TABLES_ONLY)
    found = source.runs(runs)
    if join:
        joined = join_conditions(found, resamples=resamples, seed=seed, level=level)
        _show(
            style,
            output,
            lambda console: conditions.print_conditions(console, joined),
            lambda: conditions.to_markdown(joined),
            lambda: conditions.conditions_document(joined),
        )
        return
    images = dict.fromkeys(record.image for run in found for record in run.records)
    texts = source.recognised(found[0].split, images, engine)
    diagnosis = diagnose_runs(
        found, texts.texts, texts.engine, resamples=of_curves(resamples), seed=seed, level=level
    )
    _show(
        style,
        output,
        lambda console: shown.print_diagnosis(console, diagnosis, examples),
        lambda: shown.to_markdown(diagnosis, examples),
        lambda: shown.diagnosis_document(diagnosis),
    )


def _show(
    style: str,
    output: Path | None,
    terminal: Callable[[Console], None],
    markdown: Callable[[], str],
    document: Callable[[], object],
) -> None:
    """Print or write what one of the three makes, as ``style`` says."""
    if style == "markdown":
        emit(markdown(), output)
    elif style == "json":
        emit(to_json(document()), output)
    else:
        emit_tables(terminal, output)
