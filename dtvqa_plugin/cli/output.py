"""What commands print and write: lines are escaped for terminals, no input is overwritten."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.utils.files import written
from dtvqa_plugin.utils.text import visible

if TYPE_CHECKING:
    from rich.console import Console

TERMINAL = "terminal"
"""The format of tables for people."""

TABLES_ONLY = ".tex .csv"
"""Suffixes of formats that only ``dtvqa score`` writes."""

_WIDTH_OF_FILES = 100


def escape_what_streams_cannot_hold() -> None:
    """Make standard output and error write ``\\u4e2d`` for what their encoding has no code for.

    The escapes are those of JSON, so that a JSON document stays one. A stream that cannot be
    changed (a test's, a notebook's) is left as it is. ASCII gets another name: click takes a
    stream of that name for a mistake and writes UTF-8.
    """
    codecs.register_error(_ESCAPING, _json_escapes)
    codecs.register(_ascii_by_another_name)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            ascii_only = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=_ASCII if ascii_only else stream.encoding, errors=_ESCAPING)


_ESCAPING = "dtvqa-escapes"
_ASCII = "dtvqa_ascii"


def _ascii_by_another_name(name: str) -> codecs.CodecInfo | None:
    if name != _ASCII:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode,
        known.decode,
        known.streamreader,
        known.streamwriter,
        known.incrementalencoder,
        known.incrementaldecoder,
        name=_ASCII,
    )


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


def style_of(
    style: str | None, output: Path | None, suffixes: Mapping[str, str], refused: str = ""
) -> str:
    """The format that was asked for, else that of the output's name, else `TERMINAL`.

    Args:
        style: The format that was asked for.
        output: The file to write.
        suffixes: The format of each suffix that the command writes.
        refused: Suffixes of formats that other commands write and this one does not.

    Returns:
        The format.

    Raises:
        click.UsageError: The output's name has one of the refused suffixes.
    """
    if style is not None:
        return style
    suffix = output.suffix.lower() if output else ""
    if suffix in refused.split():
        names = ", ".join(f"{end} ({name})" for end, name in suffixes.items())
        said = f"{output}: this command writes {names} or text; name the file accordingly"
        raise click.UsageError(visible(f"{said}, or give --format"))
    return suffixes.get(suffix, TERMINAL)


def emit(text: str, output: Path | None) -> None:
    """Print text, or write it whole or not at all. Raises DTVQAError where that fails."""
    if output is None:
        click.echo(text, nl=False)
        return
    with written(output) as partial:
        partial.write_text(text, encoding="utf-8")
    click.echo(f"Written: {output}", err=True)


def emit_tables(show: Callable[[Console], None], output: Path | None) -> None:
    """Print what ``show`` prints, or write it as plain text. Raises DTVQAError like `emit`."""
    from rich.console import Console  # heavy, and most forms need none

    if output is None:
        show(Console(highlight=False, markup=False))
        return
    text = io.StringIO()
    show(
        Console(file=text, width=_WIDTH_OF_FILES, color_system=None, highlight=False, markup=False)
    )
    emit(text.getvalue(), output)


def keep_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to write over what a command reads.

    Args:
        outputs: Files to write.
        inputs: What is read, if it is there: files, and folders whose files are one input.

    Raises:
        click.UsageError: An output is one of the inputs, if need be under another name (a link).
    """
    existing = [path for path in outputs if path.is_file()]
    for path in dict.fromkeys(inputs) if existing else ():
        for output in existing:
            if path.exists() and _is_of(output, path):
                as_named = "" if path == output else f" as {path}"
                said = f"{output}: this command reads it{as_named}; write to another file"
                raise click.UsageError(visible(said))


def _is_of(output: Path, path: Path) -> bool:
    """Whether an output is an input, or a file of one that is a folder."""
    inside = path.is_dir() and output.resolve().is_relative_to(path.resolve())
    return inside or path.samefile(output)


class OutputFile(click.Path):
    """A file to write. Where it cannot be written, the command ends before any work is done."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path: Path = super().convert(value, param, ctx)  # type: ignore[assignment]  # path_type above
        check_place(path)
        return path


def check_place(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Raises:
        DTVQAError: The file's folder is missing or read-only, or the path is a folder.
    """
    folder = Path(os.path.realpath(path)).parent
    why = None
    if path.is_dir():
        why = "it is a folder; name a file"
    elif not folder.is_dir():
        why = f"{folder} is no folder; make it first"
    elif not os.access(folder, os.W_OK):
        why = f"no permission to write in {folder}"
    if why and not (path.exists() and not path.is_file() and not path.is_dir()):
        raise DTVQAError(f"{path}: cannot be written ({why})")
