"""``dtvqa annotate``: make a dense-text question set from your images (see docs/annotate.md)."""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.ocr.text_files import FORMATS

if TYPE_CHECKING:
    from dtvqa_plugin.annotate.run import Estimate, RunReport

_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.group()
def annotate() -> None:
    """Make a question set from your images, as DT-VQA was made.

    init, run, extract, check, expand, review, export: each stage can be interrupted and repeated.
    """
    for name in ("yaml", "pydantic", "openai"):
        if importlib.util.find_spec(name) is None:
            raise DTVQAError(
                f'dtvqa annotate needs {name}, not installed: pip install "dtvqa-plugin[annotate]"'
            )
    if not logging.getLogger().handlers:
        logging.basicConfig(format="%(message)s", level=logging.WARNING)


@annotate.command()
@_FOLDER
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


@annotate.command()
@_FOLDER
@click.option("--workers", type=click.IntRange(min=1), help="Processes (default: one a core).")
@click.option("--part", metavar="I/N", help="Only part I of N of the images (an array job).")
@click.option(
    "--merge",
    "others",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Merge the recognised text of another copy of the project; give it again for more.",
)
@_JSON
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
        with _bar("images") as bar:
            report = recognise_stage(
                project,
                workers=workers,
                part=chosen,
                progress=lambda done, total: _advance(bar, done),
            )
    if as_json:
        _echo_json(report)
    else:
        click.echo(
            f"{report.images} images: {report.known} known, {report.recognised} recognised, "
            f"{report.merged} merged ({report.engine})"
        )
        _echo_counts({"images without text": report.lacking})
    for text in report.unreadable:
        click.echo(f"left out: {text}", err=True)
    if report.lacking or report.unreadable:
        sys.exit(1)


@annotate.command()
@_FOLDER
@click.option("--dry-run", is_flag=True, help="Estimate tokens and cost; send no request.")
@click.option("--max-usd", type=click.FloatRange(min=0), help="Maximum total cost of the project.")
@click.option("--max-images", type=click.IntRange(min=1), help="Only the first N images.")
@click.option("--round", "rounds", multiple=True, help="Only this round; give it again for more.")
@click.option("--again-empty", is_flag=True, help="Ask again where the answer was empty.")
@_JSON
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
    with _bar("answers") as bar, logging_redirect_tqdm():
        report = run_stage(project, bounds, lambda report: _show_run(bar, report))
    _print_run(report, as_json)
    if report.failed or report.stopped:
        sys.exit(1)


@annotate.command()
@_FOLDER
@_JSON
def extract(folder: Path, as_json: bool) -> None:
    """Read pairs out of the raw answers; what cannot be read is listed in unread.jsonl."""
    from dtvqa_plugin.annotate.extract import extract as extract_stage
    from dtvqa_plugin.annotate.project.project import Project

    report = extract_stage(Project.open(folder))
    if as_json:
        _echo_json(report)
        return
    click.echo(f"{report.pairs} pairs of {report.images} images from {report.answers} answers")
    for style, count in report.by_style.items():
        click.echo(f"  {style}: {count}")
    _echo_counts(
        {
            "answers without any pair": report.without_pairs,
            "refusals": report.refusals,
            "empty answers": report.empty,
            "answers cut off by the token limit": report.cut,
            "pairs given twice for an image": report.repeated,
            "stretches of text not read (unread.jsonl)": report.unread,
        }
    )


@annotate.command()
@_FOLDER
@click.option("--text-only", is_flag=True, help="Ask check.text_only without the images first.")
@click.option("--max-usd", type=click.FloatRange(min=0), help="Maximum cost of the text-only pass.")
@click.option("--no-ocr", is_flag=True, help="Do not recognise text of images not read before.")
@_JSON
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
        with _bar("questions") as bar:
            asked = ask_without_images(
                project, max_usd=max_usd, show=lambda report: _advance(bar, report.answered)
            )
        stopped = asked.stopped
        click.echo(f"text only: {asked.answered} answered, {asked.failed} failed", err=as_json)
    with _bar("pairs") as bar:
        report = check_stage(
            project,
            recognise=not no_ocr,
            without_image=text_only_answers(project),
            show=lambda report: _advance(bar, report.pairs),
        )
    if as_json:
        _echo_json(report)
    else:
        click.echo(f"{report.flagged} of {report.pairs} pairs flagged")
        _echo_counts(dict(report.codes.most_common()))
        _echo_counts(
            {
                "pairs of images whose text is not known": report.no_text,
                "images not found": report.no_image,
            }
        )
    if stopped:
        click.echo(f"stopped: {stopped}", err=True)
        sys.exit(1)


@annotate.command()
@_FOLDER
@_JSON
def expand(folder: Path, as_json: bool) -> None:
    """Propose other ways to write each answer, with the reason; people decide."""
    from dtvqa_plugin.annotate.expand import expand as expand_stage
    from dtvqa_plugin.annotate.project.project import Project

    report = expand_stage(Project.open(folder))
    if as_json:
        _echo_json(report)
        return
    click.echo(f"proposals for {report.with_proposals} of {report.pairs} pairs")
    _echo_counts(dict(report.rules.most_common()))


@annotate.command()
@_FOLDER
@click.option("--reviewer", help="Your name, else the page asks for it.")
@click.option("--port", default=0, help="Port on this machine (default: any free one).")
@click.option("--open/--no-open", "open_browser", default=True, help="Open a browser.")
def review(folder: Path, reviewer: str | None, port: int, open_browser: bool) -> None:
    """Review pairs in a local web page; every decision is saved at once. Ctrl-C ends it."""
    from dtvqa_plugin.annotate.project.project import Project
    from dtvqa_plugin.annotate.review import ReviewServer

    server = ReviewServer(Project.open(folder), reviewer=reviewer, port=port)
    click.echo(server.url)
    click.echo(
        "Only this machine can open it, and only with this address. Ctrl-C ends it.", err=True
    )
    if open_browser:
        click.launch(server.url)
    try:
        server.serve()
    except KeyboardInterrupt:
        click.echo("ended; every decision is saved", err=True)
    finally:
        server.close()


@annotate.command()
@_FOLDER
@click.option("--to", type=click.Path(path_type=Path), help="Output folder (default: DIR/export).")
@click.option("--adjudicator", help="The reviewer whose decision counts where reviewers disagree.")
@_JSON
def export(folder: Path, to: Path | None, adjudicator: str | None, as_json: bool) -> None:
    """Write accepted pairs as a benchmark: released format, images, statistics, data card."""
    from dtvqa_plugin.annotate.export import export as export_stage
    from dtvqa_plugin.annotate.project.project import Project

    project = Project.open(folder)
    report = export_stage(project, to or project.root / "export", adjudicator)
    if as_json:
        _echo_json(report)
    else:
        total = sum(report.questions.values())
        click.echo(f"{report.folder}: {total} questions over {report.images} images")
        for name, count in report.questions.items():
            lacking = f" ({report.short[name]} short of the target)" if name in report.short else ""
            click.echo(f"  {name}: {count}{lacking}")
        _echo_counts({"rejected": report.rejected, "disputed, left out": report.disputed})
        click.echo(f"annotations SHA-256: {report.sha256}")
        click.echo(f"evaluate: DTVQA_CUSTOM={report.folder} lmms-eval --tasks dtvqa_custom ...")
    for text in report.missing:
        click.echo(f"left out: {text}", err=True)
    if report.missing:
        sys.exit(1)


@annotate.command()
@_FOLDER
@click.option("--scan", is_flag=True, help="Scan the image folders first.")
@_JSON
def status(folder: Path, scan: bool, as_json: bool) -> None:
    """Show what every stage has done so far."""
    from dtvqa_plugin.annotate.project.inventory import Inventory
    from dtvqa_plugin.annotate.project.project import Project
    from dtvqa_plugin.annotate.status import overview

    project = Project.open(folder)
    if scan:
        inventory = Inventory(project)
        for _ in inventory.scan():
            pass
        for line in inventory.counts.lines():
            click.echo(line, err=as_json)
    found = overview(project)
    if as_json:
        _echo_json(found.as_json())
        return
    click.echo(f"{project.config.name}: {project.root}")
    click.echo(f"images seen: {found.images}, unreadable: {found.images_unreadable}")
    click.echo(
        f"answers: {found.answers.total()} ({found.usd:.4f} USD), failures: {found.failures}"
    )
    for model, count in found.models.most_common():
        click.echo(f"  {model}: {count}")
    click.echo(f"pairs: {found.pairs.total()}, refusals: {found.refusals}, unread: {found.unread}")
    _echo_counts(dict(found.flags.most_common()))
    for style in dict.fromkeys(source.style for source in project.config.sources):
        click.echo(
            f"{style}: {found.accepted[style]} of {project.config.review.target} accepted, "
            f"{found.rejected[style]} rejected, {found.disputed[style]} disputed"
        )
    for part in found.agreement:
        kappa = "undefined" if part["kappa"] is None else f"{part['kappa']:.2f}"
        click.echo(
            f"{part['first']} and {part['second']}: "
            f"{part['same_verdict']} of {part['both']} alike, Cohen's kappa {kappa}"
        )
    for text in found.damage:
        click.echo(text)


# --- output --------------------------------------------------------------------------------------


def _bar(unit: str) -> Any:
    """A bar on stderr, where that is a terminal."""
    return tqdm(unit=f" {unit}", disable=None, dynamic_ncols=True, mininterval=0.5)


def _advance(bar: Any, done: int) -> None:
    bar.update(done - bar.n)


def _show_run(bar: Any, report: RunReport) -> None:
    _advance(bar, report.answered)
    bar.set_postfix_str(
        f"{report.per_minute:.0f}/min, {report.usd:.4f} USD, {report.failed} failed", refresh=False
    )


def _print_estimate(found: Estimate, as_json: bool) -> None:
    if as_json:
        _echo_json({"rounds": found.rounds, "usd": found.usd, "unread_text": found.unread_text})
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
        values = _values(report)
        values.pop("started")
        _echo_json(values)
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
    _echo_counts({"empty answers (--again-empty asks again)": report.empty, **report.faults})
    for note in report.notes:
        click.echo(note)
    if report.remaining_usd is not None:
        click.echo(f"{report.remaining_usd:.4f} USD of --max-usd remain")
    if report.stopped:
        click.echo(f"stopped: {report.stopped}")


def _echo_counts(counts: dict[str, int]) -> None:
    for name, count in counts.items():
        if count:
            click.echo(f"  {count} {name}")


def _values(report: Any) -> Any:
    if hasattr(report, "__slots__"):
        return {name: _values(getattr(report, name)) for name in report.__slots__}
    return str(report) if isinstance(report, Path) else report


def _echo_json(report: Any) -> None:
    click.echo(json.dumps(_values(report), ensure_ascii=False, indent=2))
