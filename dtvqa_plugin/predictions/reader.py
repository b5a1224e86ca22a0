"""Read a file of predictions without changing one character of them.

The evaluation hosts and the paper's runners store predictions as xlsx, tsv, csv, json or jsonl.
Reading such a file back the usual way turns ``N/A`` into NaN, ``=SUM(1,2)`` into 0 and ``007``
into 7. The readers here give the text as the model wrote it, and say of each row whether the file
format has already destroyed something (``PredictionRow.loss``). Nothing is unpickled.

:func:`iter_predictions` streams the rows of any of the five formats, :func:`read_predictions`
collects them (for a host's ``evaluate``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dtvqa_plugin.predictions.delimited import delimited_rows
from dtvqa_plugin.predictions.json_records import json_rows
from dtvqa_plugin.predictions.rows import (
    SUFFIXES,
    Fault,
    PredictionFileError,
    PredictionRow,
    PredictionTable,
)
from dtvqa_plugin.predictions.xlsx import xlsx_rows

__all__ = ["iter_predictions", "read_predictions"]


def read_predictions(path: Path | str, column: str = "prediction") -> PredictionTable:
    """Read every row of a VLMEvalKit-style prediction file (xlsx, tsv, csv, json, jsonl).

    Raises PredictionFileError if the file is none of these, has no ``column``, or is damaged as a
    whole; single records that cannot be read are in ``PredictionTable.faults``.
    """
    faults: list[tuple[str, str]] = []
    rows = tuple(iter_predictions(path, column, lambda place, why: faults.append((place, why))))
    return PredictionTable(Path(path), rows, tuple(faults))


def iter_predictions(
    path: Path | str, column: str = "prediction", fault: Fault | None = None
) -> Iterator[PredictionRow]:
    """Stream the rows of a prediction file; see :func:`read_predictions`.

    Without ``fault`` a record that cannot be read raises PredictionFileError.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        yield from xlsx_rows(path, column)
    elif suffix in (".tsv", ".csv"):
        yield from delimited_rows(path, column, "\t" if suffix == ".tsv" else ",")
    elif suffix in (".json", ".jsonl"):
        yield from json_rows(path, column, fault)
    else:
        raise PredictionFileError(
            f"{path}: not a prediction file this reader takes "
            f"({', '.join(SUFFIXES)}; pickles are never opened). "
            "Set PRED_FORMAT=tsv and rerun, or convert the file."
        )
