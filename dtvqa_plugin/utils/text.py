"""Text for people: what no terminal acts on, counts, the present time."""

from __future__ import annotations

import logging
import unicodedata
from datetime import datetime, timezone


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


def now() -> str:
    """The present time as UTC, ISO 8601, whole seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class _Visible(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = visible(record.getMessage()), None
        return True


_VISIBLE = _Visible()


def escaped_logger(name: str) -> logging.Logger:
    """The logger of a module whose messages name files or quote data: they pass `visible`."""
    logger = logging.getLogger(name)
    logger.addFilter(_VISIBLE)
    return logger
