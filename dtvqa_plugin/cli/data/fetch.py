"""``dtvqa data fetch``."""

from __future__ import annotations

import sys

import click

from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.data.report import echo_report
from dtvqa_plugin.cli.output import note
from dtvqa_plugin.data.transfer.fetch import fetch_release
from dtvqa_plugin.utils.progress import progress_bar


@click.command()
@options.choosing("fetch")
@click.option("--revision", help="Commit, tag or branch of the repository.")
@click.option(
    "--full",
    is_flag=True,
    help="Download the whole archive (7.42 GB), for a server that ignores byte ranges.",
)
@click.option("--no-images", is_flag=True, help="Annotation files only.")
@options.strict
@options.skip_bad
@options.as_json
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
    with progress_bar() as progress:
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
            note=note,
        )
    echo_report(report, as_json)
    if not report.complete:
        sys.exit(1)
