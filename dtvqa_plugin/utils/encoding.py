"""Which encoding a file of text is in, and its bytes as UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO

UTF8_MARK = codecs.BOM_UTF8
_MARKS = {  # longest first: the mark of UTF-32LE begins with that of UTF-16LE
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_WIDE = {"UTF-16LE": (2, 0), "UTF-16BE": (2, 1), "UTF-32LE": (4, 0), "UTF-32BE": (4, 3)}
"""Bytes of a character, and which of them is not 0 in ASCII."""

_FIRST = 4
LOOKED_AT = 64
"""So many bytes are enough for `marked` and `unmarked`."""


def marked(start: bytes) -> str | None:
    """The encoding that a byte order mark names, None for UTF-8 and without a mark."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def unmarked(start: bytes) -> str | None:
    """The wide encoding of text without a byte order mark, told by its first ASCII characters."""
    for name, (width, place) in _WIDE.items():
        characters = [start[at * width :][:width] for at in range(_FIRST)]
        if all(
            len(char) == width and 0 < char[place] < 0x80 and char.count(0) == width - 1
            for char in characters
        ):
            return name
    return None


class Converted(io.RawIOBase):
    """A stream whose bytes are converted part by part.

    Args:
        stream: where the bytes come from.
        convert: makes the new bytes of some bytes; the second argument says that no more come.
    """

    def __init__(self, stream: BinaryIO, convert: Callable[[bytes, bool], bytes]) -> None:
        self._stream = stream
        self._convert = convert
        self._rest = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stub says Buffer
        while not (self._rest or self._ended):
            content = self._stream.read(len(buffer))
            self._ended = not content
            self._rest = self._convert(content, self._ended)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def to_utf8(encoding: str) -> Callable[[bytes, bool], bytes]:
    """A function for `Converted`. It raises UnicodeDecodeError."""
    decode = codecs.getincrementaldecoder(encoding)().decode
    return lambda content, final: decode(content, final).encode("utf-8")


# --- text that is not UTF-8 -------------------------------------------------------------------

_CANDIDATES = ("GB18030", "BIG5", "SHIFT_JIS", "EUC-JP", "EUC-KR", "WINDOWS-1252", "LATIN1")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_ENOUGH = 10_000
"""Lines beyond ASCII that `not_utf8` looks at."""


@dataclass(frozen=True, slots=True)
class NotUtf8:
    """Text in another encoding: its first byte that is not UTF-8, and the encodings that fit."""

    byte: int
    line: int
    fitting: tuple[str, ...]

    def __str__(self) -> str:
        fitting = f" ({', '.join(self.fitting)} would fit)" if self.fitting else ""
        return (
            f"is not UTF-8 (byte 0x{self.byte:02x} at line {self.line:,}). Find out its encoding"
            f"{fitting} and convert it with iconv -f ENCODING -t UTF-8, or save it as UTF-8"
        )


def not_utf8(
    lines: Iterable[bytes], counts: Callable[[bytes], bool] = lambda line: True, many: int = 0
) -> NotUtf8 | None:
    """Whether lines are text in another encoding; None for UTF-8 with some damage.

    Groups of bytes beyond ASCII are counted: those that are UTF-8 and those that are not. A text
    is in another encoding where the latter are more. One line alone is damage where there are
    ``many`` lines.

    Args:
        lines: The lines of the text.
        counts: Whether a line that is not UTF-8 says anything; a line that was cut off does not.
        many: Number of lines from which a single one is damage, 0 for never.
    """
    good = bad = bad_lines = seen = number = 0
    first: tuple[int, int] | None = None
    fitting = list(_CANDIDATES)
    for number, line in enumerate(lines, start=1):
        if line.isascii():
            continue
        seen += 1
        if seen > _ENOUGH:
            break
        groups = _BEYOND_ASCII.findall(line)
        start = _undecodable(line)
        if start is None:
            good += len(groups)
        elif counts(line):
            bad_lines += 1
            bad += sum(_undecodable(group) is not None for group in groups)
            first = first or (line[start], number)
            fitting = [name for name in fitting if _undecodable(line, name) is None]
    if first is None or bad <= good or (bad_lines == 1 and 0 < many <= number):
        return None
    return NotUtf8(*first, tuple(fitting))


def _undecodable(content: bytes, encoding: str = "utf-8") -> int | None:
    """The place of the first byte that an encoding does not have; None where it fits."""
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        return error.start
    return None


def in_any(line: bytes, accepted: Callable[[str], bool]) -> bool:
    """Whether a line is accepted in one of the usual encodings."""
    return any(
        accepted(line.decode(name)) for name in _CANDIDATES if _undecodable(line, name) is None
    )
