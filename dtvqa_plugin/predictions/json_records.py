"""JSON lists, JSON Lines and single JSON documents, streamed record by record."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from dtvqa_plugin.utils.json_list import BOM, BrokenListError, JsonList, reason

MAX_RECORD_BYTES = 64 * 2**20
"""Longest JSON Lines record that is read: it bounds the memory a damaged file can claim."""


class _Objects:
    """Makes JSON objects and remembers a key that stands twice in one of them.

    JSON's usual reading keeps the last value, so that an answer would be lost without a word.
    """

    def __init__(self) -> None:
        self._twice: str | None = None

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            self._twice = next(key for key in keys if keys.count(key) > 1)
        return made

    def twice(self) -> str | None:
        """What is wrong with the record just read: the key that one of its objects had twice."""
        if self._twice is None:
            return None
        twice, self._twice = self._twice, None
        return f"the key {twice!r} stands twice in it"


def json_records(path: Path, fault: Fault | None = None) -> Iterator[tuple[str, Any]]:
    """Stream (place, value) from a JSON array, JSON Lines, or a single JSON document.

    Memory is bounded by the largest record. A record that is not valid JSON goes to ``fault``
    (place, reason) and is left out; without ``fault`` it raises PredictionFileError.
    """

    def complain(place: str, why: str) -> None:
        if fault is None:
            raise PredictionFileError(
                f"{path}, {place}: {why}. Remove the record or write the file again."
            )
        fault(place, why)

    if _first_character(path) == "[":
        yield from _array_items(path, complain)
    elif _first_line_is_whole(path):
        yield from _lines(path, complain)
    else:
        yield from _document(path, complain)


def _first_line_is_whole(path: Path) -> bool:
    """Whether the file's first line is complete JSON, or is the start of JSON Lines cut off."""
    with opened(path) as handle:
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
    objects = _Objects()
    decode = json.JSONDecoder(object_pairs_hook=objects, parse_float=WrittenNumber).decode
    with opened(path) as handle:
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
                    value = decode(line.removeprefix(BOM).decode("utf-8"))
                except (ValueError, RecursionError) as error:
                    end = "" if line.endswith(b"\n") else ", cut off before the end of the line"
                    complain(place, f"not valid JSON ({reason(error)}{end})")
                    continue
                if (why := objects.twice()) is None:
                    yield place, value
                else:
                    complain(place, why)


def _skip_line(handle: IO[bytes]) -> None:
    while (rest := handle.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
        pass


def _document(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    with opened(path) as handle:
        content = handle.read(MAX_RECORD_BYTES + 1)
    if len(content) > MAX_RECORD_BYTES:
        complain("record 1", f"one JSON document over {MAX_RECORD_BYTES // 2**20} MiB")
        return
    objects = _Objects()
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=objects, parse_float=WrittenNumber)
    except (ValueError, RecursionError) as error:
        complain("record 1", f"not valid JSON ({reason(error)})")
        return
    if (why := objects.twice()) is None:
        yield "record 1", value
    else:
        complain("record 1", why)


def _array_items(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    number, objects = 0, _Objects()
    with opened(path) as handle:
        try:
            items = JsonList(handle.read, MAX_RECORD_BYTES, pairs=objects, number=WrittenNumber)
            for _, _, value in items:
                number += 1
                if (why := objects.twice()) is None:
                    yield f"record {number}", value
                else:
                    complain(f"record {number}", why)
        except BrokenListError as error:
            complain(f"record {number + 1}", f"not valid JSON from here on ({error})")


def _first_character(path: Path) -> str:
    """The first character of a text file that is neither white space nor a byte order mark."""
    with opened(path) as handle:
        while chunk := handle.read(4096):
            text = chunk.removeprefix(BOM).lstrip()
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
