"""Rows of a tsv or csv prediction file, every cell as text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dtvqa_plugin.predictions.rows import (
    PredictionFileError,
    PredictionRow,
    no_column,
    text_row,
)


def delimited_rows(path: Path, column: str, separator: str) -> Iterator[PredictionRow]:
    from pandas.errors import EmptyDataError, ParserError, ParserWarning  # heavy

    number = 0
    try:
        for chunk in _chunks(path, separator):
            names = [str(name) for name in chunk.columns]
            if column not in names:
                raise no_column(path, column, names)
            for values in chunk.itertuples(index=False, name=None):
                number += 1
                yield text_row(number, dict(zip(names, values, strict=True)), column)
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 ({error.reason}). Write the file again."
        raise PredictionFileError(message) from error
    except (ParserError, ParserWarning, EmptyDataError) as error:
        message = f"{path}: not a readable table ({error}). Write the file again."
        raise PredictionFileError(message) from error
    except OSError as error:
        raise PredictionFileError(f"{path}: cannot be opened ({error.strerror}).") from error


def _chunks(path: Path, separator: str) -> Iterator[Any]:
    """Frames of text. Raises pandas' ParserWarning for rows that are longer than the header, of
    which pandas would drop cells."""
    import pandas  # already there through `datasets`

    chunks = pandas.read_csv(
        path,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        chunksize=2000,
        encoding="utf-8",
        index_col=False,
    )
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("error", category=pandas.errors.ParserWarning)
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk
