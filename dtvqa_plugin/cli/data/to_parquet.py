"""``dtvqa data to-parquet``."""

from __future__ import annotations

from pathlib import Path

import click

from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.options import Whole
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data.transfer import export_parquet
from dtvqa_plugin.data.transfer.export_parquet import SHARD_BYTES
from dtvqa_plugin.utils.progress import progress_bar


@click.command("to-parquet")
@click.argument("folder", type=click.Path(path_type=Path))
@options.choosing("write")
@click.option(
    "--shard-mb",
    type=Whole(min=1),
    default=SHARD_BYTES // 1_000_000,
    show_default=True,
    help="Maximum megabytes of images per file (approximate).",
)
@options.as_json
def to_parquet(
    folder: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    sources: tuple[str, ...],
    shard_mb: int,
    as_json: bool,
) -> None:
    """Write chosen splits as Parquet with a dataset card, images inside.

    datasets.load_dataset("FOLDER", "DTScene") reads it; so it can be pushed to a private hub
    repository of yours. FOLDER must be new or empty.
    """
    with progress_bar("questions", unit="") as progress:
        parts = export_parquet.to_parquet(
            folder,
            splits,
            subsets or None,
            sources=sources or None,
            shard_bytes=shard_mb * 1_000_000,
            progress=progress,
        )
    if as_json:
        rows = [
            {"subset": p.subset, "split": p.split, "rows": p.rows, "shards": list(p.shards)}
            for p in parts
        ]
        say_json(rows)
    else:
        for part in parts:
            say(f"{part.subset} {part.split}: {part.rows} rows in {len(part.shards)} file(s)")
