"""``dtvqa data``: import the released data, see what is there and where (see `data_remote`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from dtvqa_plugin.benchmark.release import ARCHIVE_NAME, RELEASED_SPLITS, REPO_ID
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.data.splits.custom import CUSTOM_VARIABLE, INFO_FILE, CustomSet, import_custom
from dtvqa_plugin.data.splits.reading import PARTIAL_VARIABLE
from dtvqa_plugin.data.status import FileStatus, StoreStatus, store_status
from dtvqa_plugin.data.store.store import Store
from dtvqa_plugin.data.transfer.import_release import ImportReport, Progress, import_release
from dtvqa_plugin.data.transfer.portable import import_archive, is_tar

_SHOWN_PROBLEMS = 3

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.group()
def data() -> None:
    """Get the released data and see what is there (the store: DTVQA_HOME)."""


@data.command("import")
@click.pass_context
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice(RELEASED_SPLITS),
    default=("test",),
    show_default=True,
    help="Split to import; give it again for more.",
)
@click.option(
    "--subset",
    "subsets",
    multiple=True,
    type=click.Choice(tuple(SUBSETS)),
    help="Only this subset; give it again for more.",
)
@click.option("--strict", is_flag=True, help="Any unusable record is an error.")
@click.option("--skip-bad", is_flag=True, help="Leave out images that cannot be read.")
@click.option("--revision", help="Revision of the release, for the manifest.")
@_JSON
def import_command(
    context: click.Context,
    path: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    strict: bool,
    skip_bad: bool,
    revision: str | None,
    as_json: bool,
) -> None:
    """Copy a release into the store.

    PATH is a folder in the published layout (test/, train/, image/ or image.zip), such a zip
    with the annotations beside it or in the store already, or an archive that 'dtvqa data export'
    wrote (taken whole unless --split is given), or a set of your own that 'dtvqa annotate export'
    wrote. Safe to interrupt and to repeat.
    """
    given = context.get_parameter_source("splits") is not ParameterSource.DEFAULT
    with _bar() as progress:
        if (path / INFO_FILE).is_file():
            echo_custom(import_custom(path), as_json)
            return
        if is_tar(path):
            report = import_archive(
                path,
                splits if given else None,
                subsets or None,
                strict=strict,
                skip_bad=skip_bad,
                progress=progress,
            )
        else:
            report = import_release(
                path,
                splits,
                subsets or None,
                strict=strict,
                skip_bad=skip_bad,
                revision=revision,
                progress=progress,
            )
    echo_report(report, as_json)
    if report.bad:
        sys.exit(1)


def echo_custom(custom: CustomSet, as_json: bool) -> None:
    """Print what set of the user's own was imported, and how to evaluate it."""
    if as_json:
        values = {**custom.signature(), "folder": str(custom.folder), "subsets": custom.subsets}
        click.echo(json.dumps(values, indent=2))
        return
    click.echo(f"imported {custom.title}: {', '.join(custom.subsets)}")
    click.echo(f"evaluate it: {CUSTOM_VARIABLE}={custom.name} lmms-eval --tasks dtvqa_custom ...")


def echo_report(report: ImportReport, as_json: bool) -> None:
    """Print what an import or a fetch did."""
    if as_json:
        click.echo(json.dumps(_report_json(report), indent=2))
    else:
        for line in _report_lines(report):
            click.echo(line)


@data.command()
@click.option("--problems", is_flag=True, help="List every unusable record.")
@_JSON
def status(problems: bool, as_json: bool) -> None:
    """Show what the store holds, by split and subset.

    Exit status 0 when something is imported and no image of it is missing, else 1.
    """
    found = store_status()
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
    else:
        _print_status(found, problems)
    if not found.ok:
        sys.exit(1)


@data.command("path")
@_JSON
def path_command(as_json: bool) -> None:
    """Print where the store is."""
    store = Store()
    store.check_home()
    if as_json:
        values = {"home": str(store.home), "images": str(store.image_root)}
        click.echo(json.dumps({**values, "exists": store.home.is_dir()}, indent=2))
    else:
        click.echo(store.home)


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar of bytes on stderr, where that is a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("images"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("images", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


# --- import: what was done -----------------------------------------------------------------------

_RELEASED = {None: "no hash known", True: "released file", False: "DIFFERS from the released file"}


def _report_lines(report: ImportReport) -> Iterator[str]:
    yield f"store: {report.home}"
    for part in report.files:
        faults = len(part.reading.problems)
        yield (
            f"  {part.file.path}: {len(part.reading.records)} questions, "
            f"{_RELEASED[part.released]}{f', {faults} unusable' if faults else ''}"
        )
    yield from _problem_lines(report)
    for file in report.absent:
        yield f"  {file.path}: not found"
    for split in dict.fromkeys(split for split, _ in report.images):
        counts = {s: count for (of, s), count in report.images.items() if of == split}
        yield (
            f"{split}: {sum(c.present for c in counts.values())} of "
            f"{sum(c.expected for c in counts.values())} images "
            f"({sum(c.added for c in counts.values())} added, "
            f"{sum(c.replaced for c in counts.values())} replaced)"
        )
        for subset, count in counts.items():
            gone = count.expected - count.present
            missing = f", {gone} missing" if gone else ""
            yield f"  {subset}: {count.present} of {count.expected}{missing}"
    for text in report.bad:
        yield f"left out: {text}"
    gone = sum(count.expected - count.present for count in report.images.values())
    if gone:
        yield (
            f"{gone} images are missing; the release has them in {ARCHIVE_NAME} ({REPO_ID} on the "
            f"Hugging Face hub). {PARTIAL_VARIABLE}=1 evaluates what is there."
        )


def _problem_lines(report: ImportReport) -> Iterator[str]:
    problems = report.problems
    for problem in problems[:_SHOWN_PROBLEMS]:
        yield f"    {problem}"
    if len(problems) > _SHOWN_PROBLEMS:
        rest = len(problems) - _SHOWN_PROBLEMS
        yield f"    and {rest} more: 'dtvqa data status --problems' lists them"


def _report_json(report: ImportReport) -> dict[str, Any]:
    return {
        "home": str(report.home),
        "files": [
            {
                "file": part.file.path,
                "source": part.origin,
                "sha256": part.reading.sha256,
                "released": part.released,
                "questions": len(part.reading.records),
                "problems": part.reading.counts(),
            }
            for part in report.files
        ],
        "absent": [file.path for file in report.absent],
        "images": [
            {
                "split": split,
                "subset": subset,
                "expected": count.expected,
                "present": count.present,
                "added": count.added,
                "replaced": count.replaced,
            }
            for (split, subset), count in report.images.items()
        ],
        "bad": report.bad,
        "warnings": report.warnings,
    }


# --- status --------------------------------------------------------------------------------------


def _print_status(found: StoreStatus, problems: bool) -> None:
    click.echo(f"store: {found.home}")
    there = [row for row in found.files if row.state != "missing"]
    if there:
        console = Console()
        if not console.is_terminal:
            console = Console(width=140)
        console.print(_table(there))
    for row in found.files:
        if row.state == "missing":
            click.echo(f"not imported: {row.file}")
    for note in found.notes:
        click.echo(note)
    if problems:
        for text in dict.fromkeys(str(p) for row in there for p in row.problems):
            click.echo(text)


def _table(rows: list[FileStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("split", "subset", "file", "hash"):
        table.add_column(name, no_wrap=True)
    for name in ("questions", "unusable", "images"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells = (
            row.split,
            row.subset,
            row.file,
            row.state + (", changed" if row.changed else ""),
            str(row.questions),
            str(len(row.problems)),
            f"{row.images_present} of {row.images}",
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table
