"""``dtvqa data export``."""

from __future__ import annotations

from pathlib import Path

import click

from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data.transfer.export_archive import export_archive, report_json
from dtvqa_plugin.utils.progress import progress_bar


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@options.choosing("export")
@click.option("--force", is_flag=True, help="Replace ARCHIVE if it exists.")
@options.as_json
def export(
    archive: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    sources: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write chosen splits of the store to one plain tar, for a machine without a network.

    'dtvqa data import ARCHIVE' reads it there.
    """
    with progress_bar() as progress:
        report = export_archive(
            archive,
            splits,
            subsets or None,
            sources=sources or None,
            force=force,
            progress=progress,
        )
    if as_json:
        say_json(report_json(report))
    else:
        say(
            f"{report.path}: {len(report.files)} annotation files and {report.images} images, "
            f"{report.size / 1e6:.1f} MB"
        )
