"""What every reader of prediction files gives: rows of exact text, and its errors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DataError

LIST_LOSS = "stored as list, not as text"
"""The loss of a row whose prediction is a JSON list."""

Fault = Callable[[str, str], None]
"""Called with a place ("line 812") and what is wrong there, once for each record left out."""


class PredictionFileError(DataError):
    """A file that is no prediction file, or a damaged one."""


class NoPredictionsError(PredictionFileError):
    """Readable records without the column of predictions, or another that was asked for.

    ``found`` names the columns that are there.
    """

    def __init__(self, message: str, found: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.found = tuple(found)


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One row of a prediction file.

    ``number`` counts data rows from 1 (a header is not counted). ``index`` is the text of the
    ``index`` column, "" where there is none. ``prediction`` is the exact text, None where the file
    has no value; a JSON list or record comes as its JSON text. ``loss`` says what the file format
    or an earlier reader has destroyed or may have changed, None when the text is whole. ``fields``
    holds the other columns: text, or any value in JSON.
    """

    number: int
    index: str
    prediction: str | None
    fields: Mapping[str, Any]
    loss: str | None = None


@dataclass(frozen=True, slots=True)
class PredictionTable:
    """All rows of one file, in file order, and what could not be read (place, reason)."""

    path: Path
    rows: tuple[PredictionRow, ...]
    faults: tuple[tuple[str, str], ...] = field(default=())

    @property
    def losses(self) -> tuple[PredictionRow, ...]:
        """The rows whose prediction the file does not hold as the model wrote it."""
        return tuple(row for row in self.rows if row.loss is not None)


def json_text(value: object) -> tuple[str | None, str | None]:
    """A JSON value as (text, loss): text is exact, null and NaN are None, others give a loss."""
    if value is None or isinstance(value, str):
        return value, None
    if isinstance(value, float) and math.isnan(value):
        return None, None
    text = json.dumps(value, ensure_ascii=False)
    return text, f"stored as {type(value).__name__}, not as text"


def as_key(value: object) -> str:
    """An index as text: 7, 7.0 and "7" are one index."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def no_column(path: Path, column: str, columns: Iterable[object]) -> NoPredictionsError:
    names = sorted(map(str, columns))
    found = ", ".join(names[:12]) or "none"
    return NoPredictionsError(
        f"{path}: no column {column!r} (found: {found}). Pass the file that the inference wrote, "
        "or name its columns with --id-column and --prediction-column.",
        names,
    )


def text_row(
    number: int, cells: dict[str, str], column: str, loss: str | None = None
) -> PredictionRow:
    prediction = cells.pop(column, None)
    index = cells.pop("index", "")
    whole = re.fullmatch(r"(-?\d+)\.0", index)
    return PredictionRow(number, whole[1] if whole else index, prediction, cells, loss)


# --- csv cells that a spreadsheet would run as a formula --------------------------------------

_SIGN = r"\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}]"
_FORMULA = re.compile(f"'*{_SIGN}")
_MARKED = re.compile(f"'+{_SIGN}")


def escaped(text: str) -> str:
    """The text with an apostrophe before what would run as a formula. `unescaped` undoes it."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescaped(text: object) -> object:
    """The text that `escaped` was given; other values as they are."""
    return text[1:] if isinstance(text, str) and _MARKED.match(text) else text
