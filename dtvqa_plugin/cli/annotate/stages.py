"""The commands that ask, extract and check: from images to pairs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm.contrib.logging import logging_redirect_tqdm

from dtvqa_plugin.cli.annotate.output import (
    FOLDER,
    JSON,
    advance,
    echo_counts,
    echo_json,
    progress_bar,
    values_of,
)
from dtvqa_plugin.cli.options import Share, Whole
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.ocr.text_files import FORMATS

if TYPE_CHECKING:
    from dtvqa_plugin.annotate.run import Estimate, RunReport


@click.command()
@FOLDER
@click.option("--images", type=click.Path(path_type=Path), required=True, help="Folder of images.")
@click.option("--style", required=True, help="scene, nutrition, product, table, or a YAML file.")
@click.option("--name", help="The set's title (default: the project folder's name).")
@click.option("--model", default="MODEL-NAME", help="The first round's model.")
@click.option("--base-url", default="http://127.0.0.1:8000/v1", show_default=True)
@click.option(
    "--key-env",
    default="OPENAI_API_KEY",
    show_default=True,
    help="Environment variable that holds the key.",
)
@click.option(
    "--ocr",
    type=click.Choice(("none", "rapidocr", *FORMATS)),
    default="none",
    show_default=True,
    help="Where recognised text comes from.",
)
@click.option(
    "--ocr-file",
    type=click.Path(path_type=Path),
    help="File of text, or folder of the ICDAR family.",
)
@click.option(
    "--target",
    default=300,
    show_default=True,
    help="Target number of accepted questions per style.",
)
def init(folder: Path, images: Path, name: str | None, **options: Any) -> None:
    """Make a project folder: a commented config and the style's instruction."""
    from dtvqa_plugin.annotate.init import Wish, make_project

    title = name or folder.absolute().name
    project = make_project(folder, Wish(name=title, images=images, **options))
    click.echo(f"{project.root}: created; check config.yaml and styles/, then")
    click.echo(f"  dtvqa annotate run {folder} --dry-run")


@click.command()
@FOLDER
@click.option("--workers", type=Whole(min=1), help="Processes (default: one a core).")
@click.option("--part", metavar="I/N", help="Only part I of N of the images (an array job).")
@click.option(
    "--merge",
    "others",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Merge the recognised text of another copy of the project; give it again for more.",
)
@JSON
def recognise(
    folder: Path, workers: int | None, part: str | None, others: tuple[Path, ...], as_json: bool
) -> None:
    """Recognise the text of the images with RapidOCR, each image once.

    Exit status 1 when images could not be decoded, or when text is lacking after --merge.
    """
    from dtvqa_plugin.annotate.project.project import Project
    from dtvqa_plugin.annotate.recognise import Part, merge
    from dtvqa_plugin.annotate.recognise import recognise as recognise_stage

    if others and (part or workers):
        raise DTVQAError("--merge reads no image; leave out --part and --workers")
    chosen = Part.parse(part) if part else None
    project = Project.open(folder)
    if others:
        report = merge(project, others)
    else:
        with progress_bar("images") as bar:
            report = recognise_stage(
                project,
                workers=workers,
                part=chosen,
                progress=lambda done, total: advance(bar, done),
            )
    if as_json:
        echo_json(report)
    else:
        click.echo(
            f"{report.images} images: {report.known} known, {report.recognised} recognised, "
            f"{report.merged} merged ({report.engine})"
        )
        echo_counts({"images without text": report.lacking})
    for text in report.unreadable:
        click.echo(f"left out: {text}", err=True)
    if report.lacking or report.unreadable:
        sys.exit(1)


@click.command()
@FOLDER
@click.option("--dry-run", is_flag=True, help="Estimate tokens and cost; send no request.")
@click.option(
    "--max-usd", type=Share(min=0), metavar="USD", help="Maximum total cost of the project."
)
@click.option("--max-images", type=Whole(min=1), help="Only the first N images.")
@click.option("--round", "rounds", multiple=True, help="Only this round; give it again for more.")
@click.option("--again-empty", is_flag=True, help="Ask again where the answer was empty.")
@JSON
def run(
    folder: Path,
    dry_run: bool,
    max_usd: float | None,
    max_images: int | None,
    rounds: tuple[str, ...],
    again_empty: bool,
    as_json: bool,
) -> None:
    """Ask the rounds' models for questions and answers about every image not asked about yet.

    Ctrl-C waits for answers in flight. Exit status 1 when questions failed or a bound stopped
    the run; run it again to continue.
    """
    from dtvqa_plugin.annotate.project.project import Project
    from dtvqa_plugin.annotate.run import Bounds, estimate
    from dtvqa_plugin.annotate.run import run as run_stage

    project = Project.open(folder)
    bounds = Bounds(max_usd, max_images, rounds, again_empty)
    if dry_run:
        _print_estimate(estimate(project, bounds), as_json)
        return
    with progress_bar("answers") as bar, logging_redirect_tqdm():
        report = run_stage(project, bounds, lambda report: _show_run(bar, report))
    _print_run(report, as_json)
    if report.failed or report.stopped:
        sys.exit(1)


@click.command()
@FOLDER
@JSON
def extract(folder: Path, as_json: bool) -> None:
    """Read pairs out of the raw answers; what cannot be read is listed in unread.jsonl."""
    from dtvqa_plugin.annotate.extract import extract as extract_stage
    from dtvqa_plugin.annotate.project.project import Project

    report = extract_stage(Project.open(folder))
    if as_json:
        echo_json(report)
        return
    click.echo(f"{report.pairs} pairs of {report.images} images from {report.answers} answers")
    for style, count in report.by_style.items():
        click.echo(f"  {style}: {count}")
    echo_counts(
        {
            "answers without any pair": report.without_pairs,
            "refusals": report.refusals,
            "empty answers": report.empty,
            "answers cut off by the token limit": report.cut,
            "pairs given twice for an image": report.repeated,
            "stretches of text not read (unread.jsonl)": report.unread,
        }
    )


@click.command()
@FOLDER
@click.option("--text-only", is_flag=True, help="Ask check.text_only without the images first.")
@click.option(
    "--max-usd", type=Share(min=0), metavar="USD", help="Maximum cost of the text-only pass."
)
@click.option("--no-ocr", is_flag=True, help="Do not recognise text of images not read before.")
@JSON
def check(
    folder: Path, text_only: bool, max_usd: float | None, no_ocr: bool, as_json: bool
) -> None:
    """Flag pairs for triage: text not in the image, duplicates, and more. Drops nothing."""
    from dtvqa_plugin.annotate.asking.text_only import ask_without_images, text_only_answers
    from dtvqa_plugin.annotate.check import check as check_stage
    from dtvqa_plugin.annotate.project.project import Project

    project = Project.open(folder)
    stopped = None
    if text_only:
        with progress_bar("questions") as bar:
            asked = ask_without_images(
                project, max_usd=max_usd, show=lambda report: advance(bar, report.answered)
            )
        stopped = asked.stopped
        click.echo(f"text only: {asked.answered} answered, {asked.failed} failed", err=as_json)
    with progress_bar("pairs") as bar:
        report = check_stage(
            project,
            recognise=not no_ocr,
            without_image=text_only_answers(project),
            show=lambda report: advance(bar, report.pairs),
        )
    if as_json:
        echo_json(report)
    else:
        click.echo(f"{report.flagged} of {report.pairs} pairs flagged")
        echo_counts(dict(report.codes.most_common()))
        echo_counts(
            {
                "pairs of images whose text is not known": report.no_text,
                "images not found": report.no_image,
            }
        )
    if stopped:
        click.echo(f"stopped: {stopped}", err=True)
        sys.exit(1)


@click.command()
@FOLDER
@JSON
def expand(folder: Path, as_json: bool) -> None:
    """Propose other ways to write each answer, with the reason; people decide."""
    from dtvqa_plugin.annotate.expand import expand as expand_stage
    from dtvqa_plugin.annotate.project.project import Project

    report = expand_stage(Project.open(folder))
    if as_json:
        echo_json(report)
        return
    click.echo(f"proposals for {report.with_proposals} of {report.pairs} pairs")
    echo_counts(dict(report.rules.most_common()))


# --- output --------------------------------------------------------------------------------------


def _show_run(bar: Any, report: RunReport) -> None:
    advance(bar, report.answered)
    bar.set_postfix_str(
        f"{report.per_minute:.0f}/min, {report.usd:.4f} USD, {report.failed} failed", refresh=False
    )


def _print_estimate(found: Estimate, as_json: bool) -> None:
    if as_json:
        echo_json({"rounds": found.rounds, "usd": found.usd, "unread_text": found.unread_text})
        return
    for line in found.images.lines():
        click.echo(line)
    for name, part in found.rounds.items():
        cost = "price not set" if part["usd"] is None else f"about {part['usd']:.2f} USD"
        click.echo(
            f"round {name}: {part['images']:.0f} images to ask about, "
            f"about {part['input']:,.0f} tokens in and {part['output']:,.0f} out, {cost}"
        )
    if found.unread_text:
        click.echo(
            f"  {found.unread_text} times an average length was assumed for text not read yet"
        )
    click.echo(
        "rough: 4 letters a token, 28 x 28 pixels a token, 45 tokens a pair; no request was sent"
    )


def _print_run(report: RunReport, as_json: bool) -> None:
    if as_json:
        values = values_of(report)
        values.pop("started")
        echo_json(values)
        return
    for line in report.images.lines():
        click.echo(line)
    click.echo(
        f"answered: {report.answered} ({report.known} answered before), failed: {report.failed}, "
        f"attempts: {report.attempts}"
    )
    click.echo(
        f"tokens: {report.input_tokens:,} in, {report.output_tokens:,} out; "
        f"{report.usd_now:.4f} USD now, {report.usd:.4f} USD in all"
    )
    echo_counts({"empty answers (--again-empty asks again)": report.empty, **report.faults})
    for note in report.notes:
        click.echo(note)
    if report.remaining_usd is not None:
        click.echo(f"{report.remaining_usd:.4f} USD of --max-usd remain")
    if report.stopped:
        click.echo(f"stopped: {report.stopped}")
