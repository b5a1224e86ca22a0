"""``dtvqa data verify``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from dtvqa_plugin.benchmark.release import RELEASED_SPLITS
from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data.verify import Verification, verify_store
from dtvqa_plugin.utils.progress import progress_bar

_SHOWN_FAULTS = 20


@click.command()
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice(RELEASED_SPLITS),
    help="Split to check; give it again for more. Default: all splits in the store.",
)
@options.as_json
def verify(splits: tuple[str, ...], as_json: bool) -> None:
    """Re-check the store: annotation files by SHA-256, images by size and CRC-32.

    Uses no network. Images without a recorded checksum (an unpacked release) are decoded instead.
    Exit status 0 when all files are good, else 1.
    """
    with progress_bar() as progress:
        result = verify_store(splits or None, progress=progress)
    if as_json:
        say_json(result.as_json())
    else:
        for line in _lines(result):
            say(line)
    if not result.ok:
        sys.exit(1)


def _lines(result: Verification) -> Iterator[str]:
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
        yield "'dtvqa data fetch' (or 'dtvqa data import') replaces damaged and missing files"
