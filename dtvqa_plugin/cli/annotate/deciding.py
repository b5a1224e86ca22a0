"""The commands by which people decide, and what follows: review, merge, export, status."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dtvqa_plugin.cli.annotate.output import FOLDER, JSON, echo_counts, echo_json
from dtvqa_plugin.utils.text import visible


@click.command()
@FOLDER
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


@click.command()
@FOLDER
@click.argument(
    "others", metavar="OTHER...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@JSON
def merge(folder: Path, others: tuple[Path, ...], as_json: bool) -> None:
    """Take over the decisions of other copies of the project (folders, or decisions.jsonl).

    Nothing is lost, merging again changes nothing, and the order does not matter. Decisions of one
    reviewer that differ are listed; review shows them under "disputed".
    """
    from dtvqa_plugin.annotate.project.project import Project
    from dtvqa_plugin.annotate.review.merging import merge as merge_stage

    report = merge_stage(Project.open(folder), others)
    if as_json:
        echo_json(report)
        return
    click.echo(f"{report.added} decisions added, {report.known} were here already")
    echo_counts(
        {
            "lines that hold no record, not taken over": report.damaged,
            "decisions on images that are not here (put them into the image folder)": (
                report.unknown_images
            ),
            "pairs disputed": report.disputed,
            "pairs with variants to join": report.variants,
        }
    )
    for text in report.conflicts:
        click.echo(visible(text))


@click.command()
@FOLDER
@click.option("--to", type=click.Path(path_type=Path), help="Output folder (default: DIR/export).")
@click.option("--adjudicator", help="The reviewer whose decision counts where reviewers disagree.")
@JSON
def export(folder: Path, to: Path | None, adjudicator: str | None, as_json: bool) -> None:
    """Write accepted pairs as a benchmark: released format, images, statistics, data card."""
    from dtvqa_plugin.annotate.export import export as export_stage
    from dtvqa_plugin.annotate.project.project import Project

    project = Project.open(folder)
    report = export_stage(project, to or project.root / "export", adjudicator)
    if as_json:
        echo_json(report)
    else:
        total = sum(report.questions.values())
        click.echo(f"{report.folder}: {total} questions over {report.images} images")
        for name, count in report.questions.items():
            lacking = f" ({report.short[name]} short of the target)" if name in report.short else ""
            click.echo(f"  {name}: {count}{lacking}")
        echo_counts(
            {
                "rejected": report.rejected,
                "disputed, left out": report.disputed,
                "with variants to join (key G in the review), left out": report.variants,
                "that reviewers are unsure of, left out": report.unsure,
            }
        )
        click.echo(f"annotations SHA-256: {report.sha256}")
        click.echo(f"evaluate: DTVQA_CUSTOM={report.folder} lmms-eval --tasks dtvqa_custom ...")
    for text in report.missing:
        click.echo(f"left out: {text}", err=True)
    if report.missing:
        sys.exit(1)


@click.command()
@FOLDER
@click.option("--scan", is_flag=True, help="Scan the image folders first.")
@JSON
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
        echo_json(found.as_json())
        return
    click.echo(f"{project.config.name}: {project.root}")
    click.echo(f"images seen: {found.images}, unreadable: {found.images_unreadable}")
    click.echo(
        f"answers: {found.answers.total()} ({found.usd:.4f} USD), failures: {found.failures}"
    )
    for model, count in found.models.most_common():
        click.echo(f"  {model}: {count}")
    click.echo(f"pairs: {found.pairs.total()}, refusals: {found.refusals}, unread: {found.unread}")
    echo_counts(dict(found.flags.most_common()))
    for style in dict.fromkeys(source.style for source in project.config.sources):
        click.echo(
            f"{style}: {found.accepted[style]} of {project.config.review.target} accepted, "
            f"{found.rejected[style]} rejected, {found.disputed[style]} disputed"
            + (f", {found.variants[style]} with variants to join" if found.variants[style] else "")
            + (f", {found.unsure[style]} unsure" if found.unsure[style] else "")
        )
    for part in found.agreement:
        kappa = "undefined" if part["kappa"] is None else f"{part['kappa']:.2f}"
        click.echo(
            f"{part['first']} and {part['second']}: "
            f"{part['same_verdict']} of {part['both']} alike, Cohen's kappa {kappa}"
        )
    for text in found.damage:
        click.echo(text)
