"""``dtvqa diagnose``: why runs fail, by outcomes, density and difficulty."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from dtvqa_plugin.analysis.failures.conditions import conditions as join_conditions
from dtvqa_plugin.analysis.failures.curves import of_curves
from dtvqa_plugin.analysis.failures.diagnosis import diagnose as diagnose_runs
from dtvqa_plugin.cli.options import Whole
from dtvqa_plugin.cli.run_options import Source, level_option, resampling_options, source_options
from dtvqa_plugin.report import conditions
from dtvqa_plugin.report import diagnosis as shown
from dtvqa_plugin.report.rendering import to_json
from dtvqa_plugin.utils.files import written

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
    type=click.Choice(["terminal", "markdown", "json"]),
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
    "-o", "--output", type=_PATH, help="Write here; a name in .md or .json sets the format."
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
    """
    found = source.runs(runs)
    style = style or (_SUFFIXES.get(output.suffix.lower()) if output else None) or "terminal"
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
        _write(markdown(), output)
    elif style == "json":
        _write(to_json(document()), output)
    elif output is None:
        terminal(Console(highlight=False, markup=False))
    else:
        text = io.StringIO()
        terminal(Console(file=text, width=100, color_system=None, highlight=False, markup=False))
        _write(text.getvalue(), output)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    with written(output) as partial:
        partial.write_text(text, encoding="utf-8")
    click.echo(f"Written: {output}", err=True)
