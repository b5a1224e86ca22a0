"""``dtvqa report``: up to four runs side by side in one HTML file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from dtvqa_plugin.analysis.failures.conditions import conditions, joinable
from dtvqa_plugin.analysis.failures.curves import of_curves
from dtvqa_plugin.analysis.failures.diagnosis import diagnose
from dtvqa_plugin.analysis.published import published_rows
from dtvqa_plugin.cli.output import OutputFile
from dtvqa_plugin.cli.run_options import Source, level_option, resampling_options, source_options
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.report.html.document import (
    MAX_RUNS,
    Sampling,
    check_runs,
    page_document,
    questions,
)
from dtvqa_plugin.report.html.page import render_page, write_page
from dtvqa_plugin.report.html.pictures import pictures

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    default=Path("report.html"),
    show_default=True,
    help="The file to write.",
)
@click.option("--title", help="Heading of the page (default: the runs' names).")
@click.option("--thumbnails/--no-thumbnails", default=True, help="Embed a small image each.")
@click.option(
    "--links/--no-links",
    default=True,
    help="Name the full-size files on this disk, so that a click opens them.",
)
@click.option(
    "--conditions",
    "others",
    multiple=True,
    type=_PATH,
    help="More runs of the same model for the section that compares conditions, not shown question "
    "by question. May be given several times.",
)
@click.option("--published", is_flag=True, help="Add the known published rows, with their source.")
@resampling_options
@level_option
@source_options
def report(
    runs: tuple[Path, ...],
    output: Path,
    title: str | None,
    thumbnails: bool,
    links: bool,
    others: tuple[Path, ...],
    published: bool,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
) -> None:
    """Write up to four RUNS as one HTML page that needs no network.

    It holds tables and charts with intervals, the diagnosis of 'dtvqa diagnose', and every
    question with its image, its reference answers and what each run said. Runs are given as to
    'dtvqa score'. Where they are of one model under several conditions, the page compares these.
    """
    found = source.runs(runs)
    check_runs(found)
    sampling = Sampling(resamples, seed, level)
    same_model = [*found, *source.runs(others)]
    joined = None
    if others or joinable(same_model):
        joined = conditions(same_model, **asdict(sampling))
    store = get_split(found[0].split).store(source.data)
    images = pictures(
        (record.image for record in questions(found)),
        store,
        thumbnails=thumbnails,
        links=links,
        progress=True,
    )
    texts = source.recognised(found[0].split, images)
    document = page_document(
        found,
        images,
        title=title,
        published=published_rows() if published else (),
        sampling=sampling,
        diagnosis=diagnose(
            found,
            texts.texts,
            texts.engine,
            resamples=of_curves(resamples),
            seed=seed,
            level=level,
        ),
        conditions=joined,
    )
    if texts.missing:
        click.echo(
            f"{len(texts.missing)} of {len(images)} images have no recognised text, so the page "
            "cannot place wrong outputs there; first run "
            f"'dtvqa data recognise --split {found[0].split}'.",
            err=True,
        )
    size = write_page(output, render_page(document, images))
    lacking = sum(picture.problem is not None for picture in images.values())
    note = f", {lacking} of {len(images)} images not shown" if lacking and thumbnails else ""
    click.echo(
        f"Written: {output} ({len(document['questions']):,} questions, {len(found)} of up to "
        f"{MAX_RUNS} runs, {size / 1e6:.1f} MB{note})",
        err=True,
    )
