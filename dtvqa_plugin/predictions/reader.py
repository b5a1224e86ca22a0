"""Read a file of predictions without changing one character of them.

The evaluation hosts and the paper's runners store predictions as xlsx, tsv, csv, json or jsonl.
Reading such a file back the usual way turns ``N/A`` into NaN, ``=SUM(1,2)`` into 0 and ``007``
into 7. The readers here give the text as the model wrote it, and say of each row whether the file
format has already destroyed something (``PredictionRow.loss``). Nothing is unpickled.

:func:`iter_predictions` streams the rows of any of the five formats, :func:`read_predictions`
collects them (for a host's ``evaluate``), :func:`iter_records` streams whole records, also from
Parquet and saved datasets. Any of the files may be packed by gzip, bzip2, xz or Zstandard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from dtvqa_plugin.predictions.columnar import dataset_records, parquet_records
from dtvqa_plugin.predictions.delimited import delimited_rows
from dtvqa_plugin.predictions.json_records import json_records, json_rows
from dtvqa_plugin.predictions.opening import Form, form_of
from dtvqa_plugin.predictions.rows import (
    ONCE,
    Fault,
    PredictionFileError,
    PredictionRow,
    PredictionTable,
)
from dtvqa_plugin.predictions.xlsx import xlsx_rows

__all__ = ["iter_predictions", "iter_records", "read_predictions"]


def read_predictions(path: Path | str, column: str = "prediction") -> PredictionTable:
    """Read every row of a VLMEvalKit-style prediction file (xlsx, tsv, csv, json, jsonl).

    Raises PredictionFileError if the file is none of these, has no ``column``, or is damaged as a
    whole; single records that cannot be read are in ``PredictionTable.faults``.
    """
    faults: list[tuple[str, str]] = []
    rows = tuple(iter_predictions(path, column, lambda place, why: faults.append((place, why))))
    return PredictionTable(Path(path), rows, tuple(faults))


def iter_predictions(
    path: Path | str,
    column: str = "prediction",
    fault: Fault | None = None,
    once: Collection[str] = ONCE,
) -> Iterator[PredictionRow]:
    """Stream the rows of a prediction file; see :func:`read_predictions`.

    Without ``fault`` a record that cannot be read raises PredictionFileError, and so does a table
    that has ``column`` or one of ``once`` twice.
    """
    path = Path(path)
    form = form_of(path)
    if form is Form.XLSX:
        yield from xlsx_rows(path, column, once)
    elif form is Form.TSV or form is Form.CSV:
        yield from delimited_rows(path, column, "\t" if form is Form.TSV else ",", once, fault)
    elif form is Form.JSON:
        yield from json_rows(path, column, fault)
    else:
        raise PredictionFileError(
            f"{path}: not a prediction file this reader takes "
            "(xlsx, tsv, csv, json, jsonl; pickles are never opened). "
            "Set PRED_FORMAT=tsv and rerun, or convert the file."
        )


def iter_records(path: Path | str, fault: Fault | None = None) -> Iterator[tuple[str, Any]]:
    """Stream (place, value) from JSON, JSON Lines, Parquet or a folder saved by ``datasets``.

    Memory is bounded by the largest record. A record that is not valid JSON goes to ``fault``
    (place, reason) and is left out; without ``fault`` it raises PredictionFileError.
    """
    path = Path(path)
    form = form_of(path)
    if form is Form.PARQUET:
        yield from parquet_records(path)
    elif form is Form.DATASET:
        yield from dataset_records(path)
    else:
        yield from json_records(path, fault)
