"""Figures that others published, read from a data file with their source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from dtvqa_plugin.data.splits import SPLITS, get_split
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.runs.design import OVERALL


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published row; ``figures`` maps part and metric to 0-100, ``condition`` can be None."""

    name: str
    condition: str | None
    split: str
    figures: Mapping[str, Mapping[str, float]]
    source: str


def published_rows(path: str | Path | None = None) -> list[PublishedRow]:
    """The rows that ship with the package, or those of a file of the same form.

    The form: ``{"rows": [{"name", "condition", "split", "figures": {PART: {METRIC: 0-100}},
    "source"}]}``. Raises DataError naming the row and what is wrong with it.
    """
    if path is None:
        embedded = files("dtvqa_plugin.analysis").joinpath("published.json")
        return _rows(json.loads(embedded.read_text("utf-8")), "")
    try:
        return _rows(json.loads(Path(path).read_text("utf-8")), f"{path}, ")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON ({error})") from error


def _rows(document: object, where: str) -> list[PublishedRow]:
    rows = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise DataError(f'{where}published figures: needs an object with a list "rows"')
    return [_row(row, f"{where}row {number}") for number, row in enumerate(rows, start=1)]


def _row(row: object, place: str) -> PublishedRow:
    if not isinstance(row, dict):
        raise DataError(f"{place}: not an object")
    for key in ("name", "source"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise DataError(f'{place}: "{key}" must be a text')
    condition = row.get("condition")
    if condition is not None and not isinstance(condition, str):
        raise DataError(f'{place}: "condition" must be a text or null')
    split = row.get("split", "test")
    if split not in SPLITS:
        raise DataError(f'{place}: "split" is {split!r}, not one of {", ".join(SPLITS)}')
    figures = row.get("figures")
    if not isinstance(figures, dict) or not figures:
        raise DataError(f'{place}: "figures" must map parts to metrics to figures')
    return PublishedRow(
        name=row["name"],
        condition=condition,
        split=split,
        figures={part: _figures(part, split, values, place) for part, values in figures.items()},
        source=row["source"],
    )


def _figures(part: str, split: str, values: object, place: str) -> dict[str, float]:
    parts = (OVERALL, *get_split(split).subsets)
    if part not in parts:
        raise DataError(f"{place}: {part!r} is no part of split {split}: {', '.join(parts)}")
    if not isinstance(values, dict):
        raise DataError(f"{place}: figures of a part must be an object")
    for metric, value in values.items():
        if metric not in METRICS:
            raise DataError(f"{place}: {metric!r} is not one of {', '.join(METRICS)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
            raise DataError(f"{place}: {metric} must be a figure from 0 to 100, got {value!r}")
    return {metric: float(value) for metric, value in values.items()}
