"""Options and output that the commands of ``dtvqa annotate`` share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def progress_bar(unit: str) -> Any:
    """A bar on stderr, where that is a terminal."""
    return tqdm(unit=f" {unit}", disable=None, dynamic_ncols=True, mininterval=0.5)


def advance(bar: Any, done: int) -> None:
    """Set a bar to what is done."""
    bar.update(done - bar.n)


def echo_counts(counts: dict[str, int]) -> None:
    """The counts that are not 0, a line each."""
    for name, count in counts.items():
        if count:
            click.echo(f"  {count} {name}")


def values_of(report: Any) -> Any:
    """A report's fields as plain JSON values."""
    if hasattr(report, "__slots__"):
        return {name: values_of(getattr(report, name)) for name in report.__slots__}
    return str(report) if isinstance(report, Path) else report


def echo_json(report: Any) -> None:
    """A report as JSON."""
    click.echo(json.dumps(values_of(report), ensure_ascii=False, indent=2))
