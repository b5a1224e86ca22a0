"""What commands print: every line passes the one function that escapes for terminals."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from tqdm import tqdm

from dtvqa_plugin.utils.text import visible


def say(text: str) -> None:
    """Print a line on standard output."""
    click.echo(visible(text))


def say_json(value: Any) -> None:
    """Print plain values as JSON on standard output."""
    click.echo(json.dumps(value, indent=2))


def note(text: str) -> None:
    """Print a line on standard error, above a progress bar that stands there."""
    tqdm.write(visible(text), file=sys.stderr)
