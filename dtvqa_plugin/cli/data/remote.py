"""``dtvqa data``: fetch, verify, export, to-parquet (and ``leakage``, see `finetune`)."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from dtvqa_plugin.benchmark.release import RELEASED_SPLITS, split_files
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.cli.data.commands import data, echo_report
from dtvqa_plugin.cli.data.recognise import recognise
from dtvqa_plugin.cli.finetune import leakage
from dtvqa_plugin.data.transfer.export_parquet import SHARD_BYTES, to_parquet
from dtvqa_plugin.data.transfer.fetch import fetch_release, progress_bar
from dtvqa_plugin.data.transfer.portable import export_archive
from dtvqa_plugin.data.transfer.portable import report_json as export_json
from dtvqa_plugin.data.verify import Verification, verify_store

_SOURCES = tuple(dict.fromkeys(f.name for split in RELEASED_SPLITS for f in split_files(split)))
_SHOWN_FAULTS = 20

_F = TypeVar("_F", bound=Callable[..., Any])

data.add_command(leakage)
data.add_command(recognise)


def _choosing(what: str) -> Callable[[_F], _F]:
    """The options that choose splits, subsets and annotation files."""

    def add(command: _F) -> _F:
        for option in (
            click.option(
                "--source",
                "sources",
                multiple=True,
                type=click.Choice(_SOURCES),
                help="Only this annotation file; give it again for more. "
                "Without DTScene_train_gpt-4v the GPT-4V round is left out.",
            ),
            click.option(
                "--subset",
                "subsets",
                multiple=True,
                type=click.Choice(tuple(SUBSETS)),
                help="Only this subset; give it again for more.",
            ),
            click.option(
                "--split",
                "splits",
                multiple=True,
                type=click.Choice(RELEASED_SPLITS),
                default=("test",),
                show_default=True,
                help=f"Split to {what}; give it again for more.",
            ),
        ):
            command = option(command)
        return command

    return add


_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@data.command()
@_choosing("fetch")
@click.option("--revision", help="Commit, tag or branch of the repository.")
@click.option(
    "--full",
    is_flag=True,
    help="Download the whole archive (7.42 GB), for a server that ignores byte ranges.",
)
@click.option("--no-images", is_flag=True, help="Annotation files only.")
@click.option("--strict", is_flag=True, help="Any unusable record is an error.")
@click.option("--skip-bad", is_flag=True, help="Leave out images that cannot be read.")
@_JSON
def fetch(
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    sources: tuple[str, ...],
    revision: str | None,
    full: bool,
    no_images: bool,
    strict: bool,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Fetch from the Hugging Face hub what the chosen questions need, and nothing else.

    Of the image archive only the members needed are read. Safe to interrupt and to repeat. Tokens,
    HF_ENDPOINT, proxies and HF_HUB_OFFLINE work as for huggingface_hub.
    """
    with _retries_told(), progress_bar() as progress:
        report = fetch_release(
            splits,
            subsets or None,
            sources=sources or None,
            images=not no_images,
            revision=revision,
            full=full,
            strict=strict,
            skip_bad=skip_bad,
            progress=progress,
            note=lambda text: click.echo(text, err=True),
        )
    echo_report(report, as_json)
    missing = any(count.present < count.expected for count in report.images.values())
    if report.bad or missing:
        sys.exit(1)


@contextmanager
def _retries_told() -> Iterator[None]:
    """Show what is tried again, and why, on standard error."""
    hub = logging.getLogger("dtvqa_plugin.data.hub.client")
    shown = logging.StreamHandler()
    before = hub.level
    hub.addHandler(shown)
    hub.setLevel(logging.INFO)
    try:
        yield
    finally:
        hub.removeHandler(shown)
        hub.setLevel(before)


@data.command()
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice(RELEASED_SPLITS),
    help="Split to check; give it again for more. Default: all that are there.",
)
@_JSON
def verify(splits: tuple[str, ...], as_json: bool) -> None:
    """Re-check the store: annotation files by SHA-256, images by size and CRC-32.

    Uses no network. Images without a recorded checksum (an unpacked release) are decoded instead.
    Exit status 0 when all is well, else 1.
    """
    with progress_bar() as progress:
        result = verify_store(splits or None, progress=progress)
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        for line in _verify_lines(result):
            click.echo(line)
    if not result.ok:
        sys.exit(1)


def _verify_lines(result: Verification) -> Iterator[str]:
    yield f"store: {result.home}"
    yield f"annotation files read: {len(result.files)}"
    yield (
        f"images: {result.checked} agree with their checksum, {result.decoded} have none and "
        f"were decoded, {len(result.damaged)} damaged, {result.missing} missing"
    )
    yield from result.notes
    yield from result.faults[:_SHOWN_FAULTS]
    if len(result.faults) > _SHOWN_FAULTS:
        yield f"and {len(result.faults) - _SHOWN_FAULTS} more faults (--json lists them)"
    if result.faults:
        yield "'dtvqa data fetch' (or 'dtvqa data import') brings again what is damaged or missing"


@data.command()
@click.argument("archive", type=click.Path(path_type=Path))
@_choosing("export")
@click.option("--force", is_flag=True, help="Replace ARCHIVE if it exists.")
@_JSON
def export(
    archive: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    sources: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write chosen splits of the store to one plain tar, for a machine without a network.

    'dtvqa data import ARCHIVE' takes it there.
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
        click.echo(json.dumps(export_json(report), indent=2))
    else:
        click.echo(
            f"{report.path}: {len(report.files)} annotation files and {report.images} images, "
            f"{report.size / 1e6:.1f} MB"
        )


@data.command("to-parquet")
@click.argument("folder", type=click.Path(path_type=Path))
@_choosing("write")
@click.option(
    "--shard-mb",
    type=click.IntRange(min=1),
    default=SHARD_BYTES // 1_000_000,
    show_default=True,
    help="Most megabytes of images in one file (about).",
)
@_JSON
def to_parquet_command(
    folder: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    sources: tuple[str, ...],
    shard_mb: int,
    as_json: bool,
) -> None:
    """Write chosen splits as Parquet with a dataset card, images inside.

    datasets.load_dataset("FOLDER", "DTScene") reads it; so it may be pushed to a private hub
    repository of yours. FOLDER must be new or empty.
    """
    with progress_bar("questions", unit="") as progress:
        parts = to_parquet(
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
        click.echo(json.dumps(rows, indent=2))
    else:
        for part in parts:
            click.echo(
                f"{part.subset} {part.split}: {part.rows} rows in {len(part.shards)} file(s)"
            )
