"""What commands print: every line passes the one function that escapes for terminals."""

from __future__ import annotations

import codecs
import io
import json
import sys
from typing import Any

import click

from dtvqa_plugin.utils.text import visible


def escape_what_streams_cannot_hold() -> None:
    """Make standard output and error write ``\\u4e2d`` for what their encoding has no code for.

    The escapes are those of JSON, so that a JSON document stays one. A stream that cannot be
    changed (a test's, a notebook's) is left as it is.
    """
    codecs.register_error(_ESCAPING, _json_escapes)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPING)


_ESCAPING = "dtvqa-escapes"


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in pairs), error.end


def say(text: str) -> None:
    """Print a line on standard output."""
    click.echo(visible(text))


def say_json(value: Any) -> None:
    """Print plain values as JSON on standard output."""
    click.echo(json.dumps(value, indent=2))


def note(text: str) -> None:
    """Print a line on standard error, above a progress bar that stands there."""
    from tqdm import tqdm

    tqdm.write(visible(text), file=sys.stderr)
