"""Rows of a tsv or csv prediction file, every cell as text."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from dtvqa_plugin.predictions.opening import opened
from dtvqa_plugin.predictions.rows import (
    ONCE,
    Fault,
    PredictionFileError,
    PredictionRow,
    check_once,
    no_column,
    text_row,
)
from dtvqa_plugin.utils.encoding import not_utf8
from dtvqa_plugin.utils.text import counted, plain


def delimited_rows(
    path: Path,
    column: str,
    separator: str,
    once: Collection[str] = ONCE,
    fault: Fault | None = None,
) -> Iterator[PredictionRow]:
    """Rows of a table; one that is cut off goes to ``fault``, if there is one."""
    from pandas.errors import EmptyDataError, ParserError, ParserWarning  # heavy

    number = 0
    short = _ShortRows(path, separator)
    try:
        with opened(path) as handle:
            source, instead = _source(path, handle)
            for chunk in _chunks(source, separator):
                if instead is not None:
                    chunk = chunk.replace(instead, "\0", regex=True)
                names = [str(name) for name in chunk.columns]
                if column not in names:
                    raise no_column(path, column, names)
                if number == 0:
                    check_once(path, _header(path, separator, names), column, once)
                for values in chunk.itertuples(index=False, name=None):
                    number += 1
                    cells = short.cells(number, values) if fault and values[-1] == "" else None
                    if fault and cells is not None:
                        why = f"is cut off: {cells} of {counted(len(names), 'column')}"
                        fault(f"row {number}", why)
                        continue
                    yield text_row(number, dict(zip(names, values, strict=True)), column)
    except UnicodeDecodeError as error:
        raise PredictionFileError(f"{path}: {_not_utf8(path)}.") from error
    except EmptyDataError as error:
        message = f"{path}: not a readable table (it is empty). Run the inference again."
        raise PredictionFileError(message) from error
    except (ParserError, ParserWarning) as error:
        message = f"{path}: not a readable table ({_fault(path, separator, error)})."
        raise PredictionFileError(message) from error
    except OSError as error:
        raise PredictionFileError(f"{path}: cannot be opened ({error.strerror}).") from error


class _ShortRows:
    """The rows with fewer cells than the header, which pandas fills with empty cells.

    They are looked for when the first row ends in an empty cell.
    """

    def __init__(self, path: Path, separator: str) -> None:
        self._path = path
        self._separator = separator
        self._found: dict[int, tuple[str, ...]] | None = None

    def cells(self, number: int, values: tuple[str, ...]) -> int | None:
        """How many cells a row has that is cut off, None for one that is whole."""
        if self._found is None:
            self._found = self._read(len(values))
        row = self._found.get(number)
        return len(row) if row is not None and row == values[: len(row)] else None

    def _read(self, width: int) -> dict[int, tuple[str, ...]]:
        limit = csv.field_size_limit(2**31 - 1)
        try:
            with opened(self._path) as handle:
                text = io.TextIOWrapper(handle, encoding="utf-8-sig", newline="")
                rows = csv.reader(text, delimiter=self._separator)
                kept = enumerate(row for row in rows if not _is_blank(row))
                return {number: tuple(row) for number, row in kept if len(row) < width}
        except csv.Error:  # a NUL on Python 3.10
            return {}
        finally:
            csv.field_size_limit(limit)


def _is_blank(row: list[str]) -> bool:
    """Whether a line is one that pandas skips: empty, or blanks alone."""
    return not row or (len(row) == 1 and row[0].isspace())


def _header(path: Path, separator: str, names: list[str]) -> list[str]:
    """The names of the columns as the file has them: pandas calls a second ``id`` ``id.1``."""
    numbered = (_NUMBERED.fullmatch(name) for name in names)
    if not any(match is not None and match[1] in names for match in numbered):
        return names
    with opened(path) as handle:
        source, instead = _source(path, handle)
        row = next(_chunks(source, separator, header=None, nrows=1)).iloc[0]
    return [name.replace(instead, "\0") if instead else name for name in map(str, row)]


_NUMBERED = re.compile(r"(.*)\.\d+", re.DOTALL)


def _fault(path: Path, separator: str, error: Exception) -> str:
    """What is wrong with a table that pandas does not read, and the cure, in one line.

    The rows are read again by `csv`: pandas counts neither lines nor rows the same way everywhere.
    """
    if "EOF inside string" in str(error):
        return "a quote is opened and never closed. Write it again with a csv library"
    with opened(path) as handle:
        rows = csv.reader(io.TextIOWrapper(handle, "utf-8", newline=""), delimiter=separator)
        try:
            header = next(rows)
            for number, row in enumerate(rows, start=1):
                if len(row) > len(header):
                    return (
                        f"row {number}, line {rows.line_num}: {len(row)} cells where the header "
                        f"has {len(header)}. Put quotes around a cell that holds "
                        f"{_NAMES[separator]}"
                    )
        except (csv.Error, UnicodeDecodeError):
            pass  # what pandas said has to do
    return plain(str(error)).strip() + ". Write it again with a csv library"


_NAMES = {",": "a comma", "\t": "a tab"}


def _not_utf8(path: Path) -> str:
    with opened(path) as handle:
        found = not_utf8(handle)
    if found is not None:
        return str(found)
    with opened(path) as handle:
        for number, line in enumerate(handle, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x}"
                return f"line {number:,} is damaged ({byte} is not UTF-8). Copy or write it again"
    return "is not UTF-8"


_NONCHARACTERS = tuple(map(chr, range(0xFDD0, 0xFDF0)))
"""Code points that Unicode keeps free of meaning; text does not hold them."""


def _source(path: Path, handle: BinaryIO) -> tuple[BinaryIO | io.StringIO, str | None]:
    """What pandas reads, and the character in it that means NUL, None if there is no NUL.

    pandas 2 ends a cell at a NUL without a warning; pandas 3 keeps it.
    """
    with opened(path) as looked_at:
        if not any(b"\0" in part for part in iter(lambda: looked_at.read(1 << 20), b"")):
            return handle, None
    text = handle.read().decode("utf-8")
    instead = next((char for char in _NONCHARACTERS if char not in text), None)
    if instead is None:
        raise PredictionFileError(f"{path}: not text (NUL and all Unicode noncharacters).")
    return io.StringIO(text.replace("\0", instead), newline=""), instead


def _chunks(source: BinaryIO | io.StringIO, separator: str, **options: Any) -> Iterator[Any]:
    """Frames of text. Raises pandas' ParserWarning for rows that are longer than the header, of
    which pandas would drop cells."""
    import pandas  # already there through `datasets`

    chunks = pandas.read_csv(
        source,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        chunksize=2000,
        encoding="utf-8",
        index_col=False,
        **options,
    )
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("error", category=pandas.errors.ParserWarning)
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk
