"""What leaves the program: text that drives no terminal, files that appear whole or not at all."""

from __future__ import annotations

import os
import unicodedata
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dtvqa_plugin.errors import DTVQAError


def plain(text: str) -> str:
    """One line that any encoding of Unicode can hold and no terminal acts on.

    White space and controls become blanks; lone surrogates, marks that turn the direction of
    text, and what else is not printable become U+FFFD.
    """
    return "".join(char if char.isprintable() else _instead(char) for char in text)


def _instead(char: str) -> str:
    return (
        " " if char.isspace() or unicodedata.category(char) == "Cc" else "\N{REPLACEMENT CHARACTER}"
    )


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """``1 question``, ``1,200 questions``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def visible(text: str) -> str:
    """The lines of a message with everything that is not printable spelled as an escape."""
    return "".join(
        char
        if char == "\n" or char.isprintable() or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


@contextmanager
def written(path: Path, *, make_folder: bool = False) -> Iterator[Path]:
    """A path to write to; what stands there takes the place of ``path`` once all went well.

    A link keeps being one, its target is replaced. A device or pipe is written to as it is.
    ``make_folder`` makes the folder of ``path`` first, where there is none.
    Raises DTVQAError when that cannot be.
    """
    partial = None
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder; name a file")
        if make_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            yield path
            return
        partial = target.with_name(f".{uuid.uuid4().hex}.partial")
        yield partial
        partial.replace(target)
    except OSError as error:
        raise DTVQAError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)
