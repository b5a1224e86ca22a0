"""``dtvqa stats``: words, lengths and image sizes of a split, as figures and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dtvqa_plugin.data.splits import SPLITS
from dtvqa_plugin.stats.extra import require_stats
from dtvqa_plugin.utils.files import written


@click.command()
@click.option("--split", type=click.Choice(SPLITS), default="test", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to (default: dtvqa-stats-SPLIT).",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(("png", "svg")),
    multiple=True,
    default=("png", "svg"),
    help="Kind of figure; may be repeated (default: both).",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Data store or folder in the published layout (default: your store).",
)
def stats(split: str, output: Path | None, formats: tuple[str, ...], data: Path | None) -> None:
    """Write the paper's Figure 3 for a split: words, lengths in words, image sizes.

    Needs the extra: pip install 'dtvqa-plugin[stats]'.
    """
    require_stats()
    from dtvqa_plugin.stats.figures import draw
    from dtvqa_plugin.stats.measures import split_statistics

    folder = output or Path(f"dtvqa-stats-{split}")
    found = split_statistics(split, data)
    with written(folder / "stats.json", make_folder=True) as partial:
        text = json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)
        partial.write_text(text + "\n", encoding="utf-8")
    drawn = draw(found, folder, formats)
    for remark in drawn.remarks:
        click.echo(f"warning: {remark}", err=True)
    click.echo(f"Written: {folder / 'stats.json'} and {len(drawn.files)} figures", err=True)
