"""JSON lists, JSON Lines and single JSON documents, streamed record by record."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dtvqa_plugin.predictions.opening import opened
from dtvqa_plugin.predictions.rows import (
    Fault,
    PredictionFileError,
    PredictionRow,
    WrittenNumber,
    as_key,
    json_text,
    no_column,
)
from dtvqa_plugin.utils.encoding import UTF8_MARK, Converted, in_any, not_utf8
from dtvqa_plugin.utils.json_list import BrokenListError, JsonValues, reason

MAX_RECORD_BYTES = 64 * 2**20
"""Longest JSON Lines record that is read: it bounds the memory a damaged file can claim."""


_BETWEEN = re.compile(r"\s*,?\s*")


class _Objects:
    """Makes JSON objects and remembers a key that stands twice in one of them.

    JSON's usual reading keeps the last value, so that an answer would be lost without a word.
    """

    def __init__(self) -> None:
        self._twice: str | None = None
        self._decode = json.JSONDecoder(object_pairs_hook=self, parse_float=WrittenNumber).decode

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            self._twice = next(key for key in keys if keys.count(key) > 1)
        return made

    def value(self, text: str) -> Any:
        """The value of a JSON text. Raises ValueError or RecursionError."""
        self._twice = None
        return self._decode(text)

    def twice(self) -> str | None:
        """What is wrong with the record just read: the key that one of its objects had twice."""
        if self._twice is None:
            return None
        twice, self._twice = self._twice, None
        return f"the key {twice!r} stands twice in it"


def json_records(path: Path, fault: Fault | None = None) -> Iterator[tuple[str, Any]]:
    """Stream (place, value) from JSON Lines, a JSON list, or JSON values one after another.

    Memory is bounded by the largest record. A record that is not valid JSON goes to ``fault``
    (place, reason) and is left out; without ``fault`` it raises PredictionFileError, as text in
    another encoding than UTF-8 always does.
    """

    def complain(place: str, why: str) -> None:
        if fault is None:
            raise PredictionFileError(
                f"{path}, {place}: {why}. Remove the record or write the file again."
            )
        fault(place, why)

    if _first_character(path) != "[" and _first_line_is_whole(path):
        yield from _lines(path, complain)
    else:
        yield from _values(path, complain)


@contextmanager
def _line_by_line(path: Path) -> Iterator[io.BufferedReader]:
    """The file's bytes; where its lines end by CR alone, which JSON text does not hold, by LF."""
    with opened(path) as handle:
        start = handle.peek(1)
        if b"\r" in start and b"\n" not in start:
            yield io.BufferedReader(Converted(handle, lambda part, _: part.replace(b"\r", b"\n")))
        else:
            yield handle


def _first_line_is_whole(path: Path) -> bool:
    """Whether the file's first line is complete JSON, or is the start of JSON Lines cut off."""
    with _line_by_line(path) as handle:
        line = b""
        while not line.strip():
            line = handle.readline(MAX_RECORD_BYTES)
            if not line:
                return True
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            return len(line.strip()) > 1 and handle.readline(2).startswith(b"{")
        return True


def _lines(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    objects, utf8 = _Objects(), _Utf8(path)
    with _line_by_line(path) as handle:
        number = 0
        while line := handle.readline(MAX_RECORD_BYTES):
            number += 1
            place = f"line {number}"
            if len(line) == MAX_RECORD_BYTES and not line.endswith(b"\n"):
                complain(place, f"longer than {MAX_RECORD_BYTES // 2**20} MiB")
                _skip_line(handle)
                continue
            if line.strip():
                try:
                    text = line.removeprefix(UTF8_MARK).decode("utf-8")
                    values = [(objects.value(text), objects.twice())]
                except UnicodeDecodeError as error:
                    values = []
                    complain(place, utf8.fault(line[error.start]))
                except (ValueError, RecursionError) as error:
                    values = [
                        (objects.value(record), objects.twice()) for record in _records_in(text)
                    ]
                    if not values:
                        end = "" if line.endswith(b"\n") else ", cut off before the end of the line"
                        complain(place, f"not valid JSON ({reason(error)}{end})")
                for value, why in values:
                    if why is None:
                        yield place, value
                    else:
                        complain(place, why)


def _records_in(line: str) -> list[str]:
    """The records of a line that holds several, or a comma behind its record; none for others."""
    scan = json.JSONDecoder().raw_decode
    found: list[str] = []
    line = line.strip()
    place = 0
    while place < len(line):
        try:
            value, end = scan(line, place)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(line[place:end])
        place = _BETWEEN.match(line, end).end()  # type: ignore[union-attr]  # matches nothing too
    return found


def _skip_line(handle: IO[bytes]) -> None:
    while (rest := handle.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
        pass


def _values(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    number, objects, utf8 = 0, _Objects(), _Utf8(path)
    with opened(path) as handle:
        values = JsonValues(
            handle.read,
            MAX_RECORD_BYTES,
            pairs=objects,
            number=WrittenNumber,
            errors="surrogateescape",
        )
        try:
            for _, _, value in values:
                number += 1
                place = f"record {number}"
                why = objects.twice()
                if values.spoiled:
                    why = utf8.fault()
                if why is None:
                    yield place, value
                else:
                    complain(place, why)
        except BrokenListError as error:
            utf8.check()
            onwards = " from here on" if number else ""
            complain(f"record {number + 1}", f"not valid JSON{onwards} ({error})")


class _Utf8:
    """Decides once for a file with bytes that are not UTF-8 whether it is in another encoding."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked = False

    def fault(self, byte: int | None = None) -> str:
        """What is wrong with one record of a file that is UTF-8 as a whole."""
        self.check()
        return "not UTF-8" if byte is None else f"not UTF-8 (byte 0x{byte:02x})"

    def check(self) -> None:
        """Raise PredictionFileError where the file is in another encoding."""
        if self._checked:
            return
        self._checked = True
        with _line_by_line(self._path) as handle:
            lines = iter(lambda: handle.readline(MAX_RECORD_BYTES), b"")
            found = not_utf8(lines, _is_no_torn_line, _DAMAGED_OF)
        if found is not None:
            raise PredictionFileError(f"{self._path}: {found}.")


_DAMAGED_OF = 100
"""One record with bytes that are not UTF-8 is damage in a file of so many lines."""


def _is_no_torn_line(line: bytes) -> bool:
    """Whether a line that is not UTF-8 was not just cut off: JSON Lines are whole in some encoding.

    A line of any other layout counts if it ends.
    """
    line = line.strip()
    if line.startswith(b"{") and len(line) > 1:
        return in_any(line, lambda text: bool(_records_in(text)))
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end < len(line) or error.reason != "unexpected end of data"
    return True


def _first_character(path: Path) -> str:
    """The first character of a text file that is neither white space nor a byte order mark."""
    with opened(path) as handle:
        while chunk := handle.read(4096):
            text = chunk.removeprefix(UTF8_MARK).lstrip()
            if text:
                return chr(text[0])
    return ""


def json_rows(path: Path, column: str, fault: Fault | None) -> Iterator[PredictionRow]:
    number = 0
    for place, value in json_records(path, fault):
        number += 1
        if not isinstance(value, dict):
            message = f"a {type(value).__name__} where a record is expected"
            if fault is None:
                raise PredictionFileError(
                    f"{path}, {place}: {message}. Write one record per question."
                )
            fault(place, message)
            continue
        if number == 1 and column not in value:
            raise no_column(path, column, value)
        if column not in value and fault is not None:
            fault(place, f"has no {column!r}")
            continue
        fields = {str(key): item for key, item in value.items() if key not in ("index", column)}
        text, loss = json_text(value.get(column))
        yield PredictionRow(number, as_key(value.get("index", "")), text, fields, loss)
