"""What every reader of prediction files gives: rows of exact text, and its errors."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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


class WrittenNumber(float):
    """A JSON number with a fraction or an exponent, and its text in the file: 2.50."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        made = super().__new__(cls, text)
        made.text = text
        return made


def json_text(value: object) -> tuple[str | None, str | None]:
    """A value as (text, loss): text is exact, null and NaN are None, others give a loss."""
    if value is None or isinstance(value, str):
        return value, None
    if isinstance(value, float) and math.isnan(value):
        return None, None
    if isinstance(value, WrittenNumber):
        text = value.text
    elif isinstance(value, bool | int | float | list | dict):
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = str(value)
    return text, f"stored as {_type_name(value)}, not as text"


def _type_name(value: object) -> str:
    """What a type is called in JSON; in Parquet there are others."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "object" if isinstance(value, dict) else type(value).__name__


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


ONCE = frozenset(("index", "question_id", "dataset_name", "id"))
"""The columns that tell which question a row of a table is about."""


def check_once(path: Path, names: Iterable[str], column: str, once: Collection[str]) -> None:
    """Raise where a table's header has ``column`` or one of ``once`` twice."""
    for name, count in Counter(names).items():
        if count > 1 and (name == column or name in once):
            raise stands_twice(path, name)


def stands_twice(path: Path, name: str) -> PredictionFileError:
    return PredictionFileError(
        f"{path}: the column {name!r} stands twice. Remove or rename one of them."
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
