"""``dtvqa data status``."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data import coverage
from dtvqa_plugin.data.status import FileStatus, StoreStatus, store_status
from dtvqa_plugin.utils.text import visible


@click.command()
@click.option("--problems", is_flag=True, help="List every unusable record.")
@options.as_json
def status(problems: bool, as_json: bool) -> None:
    """Show what the store holds, by split and subset.

    Exit status 0 when something is imported and no image of it is missing, else 1.
    """
    found = store_status()
    if as_json:
        say_json(found.as_json())
    else:
        _print_status(found, problems)
    if not found.ok:
        sys.exit(1)


def _print_status(found: StoreStatus, problems: bool) -> None:
    say(f"store: {found.home}")
    there = [row for row in found.files if row.state != "missing"]
    if there:
        console = Console()
        if not console.is_terminal:
            console = Console(width=140)
        console.print(_table(there))
    say(f"embedded sample (split mini): {coverage('mini')['overall']} questions, always there")
    for split in dict.fromkeys(row.split for row in found.files):
        lacking = [row for row in found.files if row.split == split and row.state == "missing"]
        if lacking:
            say(f"{split}: not downloaded: {', '.join(row.file for row in lacking)}")
    for note in found.notes:
        say(note)
    if problems:
        for text in dict.fromkeys(str(p) for row in there for p in row.problems):
            say(text)


def _table(rows: list[FileStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("split", "subset", "file", "hash"):
        table.add_column(name, overflow="fold")
    for name in ("questions", "unusable", "images"):
        table.add_column(name, justify="right", overflow="fold")
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
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table
