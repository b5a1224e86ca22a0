"""One row a question and repeat: as csv, as Parquet, and as a pandas frame."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from dtvqa_plugin.analysis.failures.outcomes import outcome
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.ocr.recognised import RecognisedText
from dtvqa_plugin.predictions.rows import escaped
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.files import written

SUFFIXES = (".csv", ".parquet")
_NUMBERS = ("anls", "acc", "accanls")
_TEXTS = ("model", "condition", "split", "question_id", "subset", "question", "prediction")
COLUMNS = (
    *("model", "condition", "split", "repeat", "question_id", "subset", "question", "prediction"),
    *(*_NUMBERS, "outcome"),
)


def question_rows(
    runs: Iterable[Run], texts: Mapping[str, RecognisedText] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of some runs, in the paper's order of subsets.

    Args:
        runs: Runs, read with ``text_kept`` large enough for whole outputs.
        texts: Recognised text by the records' ``image``. Without it a wrong output that is not
            near an answer has the outcome ``unplaced``.

    Yields:
        The keys of `COLUMNS`. ``prediction`` is the text that was scored, None where the host got
        no output; scores are 0-1; ``outcome`` is one of this package's diagnoses, not the paper's.
    """
    pages = {image: Page(text) for image, text in (texts or {}).items()}
    for run in runs:
        for number, answers in enumerate(run.repeats or (run.answers,), start=1):
            for record, answer in zip(run.records, answers, strict=True):
                yield {
                    "model": run.name,
                    "condition": run.condition,
                    "split": run.split,
                    "repeat": number,
                    "question_id": record.question_id,
                    "subset": record.subset,
                    "question": record.question,
                    "prediction": None if answer.failed else answer.text,
                    **{name: getattr(answer, name) for name in _NUMBERS},
                    "outcome": outcome(record, answer, pages.get(record.image)).name,
                }


def questions_frame(runs: Iterable[Run], texts: Mapping[str, RecognisedText] | None = None) -> Any:
    """The rows of some runs as a pandas frame.

    Args:
        runs: Runs, as `read_runs` gives them.
        texts: Recognised text by the records' ``image``, for ``outcome``.

    Returns:
        A `pandas.DataFrame` with the columns of `COLUMNS`; scores are 0-1.
    """
    import pandas  # heavy

    return pandas.DataFrame(list(question_rows(runs, texts)), columns=list(COLUMNS))


def check_name(path: Path) -> None:
    """Refuse a name of another form than `write_questions` writes.

    Args:
        path: The file to write.

    Raises:
        DTVQAError: The name ends in neither .csv nor .parquet.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DTVQAError(f"{path}: questions are written as {' or '.join(SUFFIXES)}")


def write_questions(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows to a csv or Parquet file, whole or not at all.

    In csv an apostrophe stands before text that a spreadsheet would run as a formula; `read_runs`
    takes it off again. Parquet holds every text as it is. Lone surrogates, which neither can hold,
    become U+FFFD.

    Args:
        path: A name in .csv or .parquet.
        rows: As `question_rows` gives them.

    Returns:
        Number of rows whose text was changed by that.

    Raises:
        DTVQAError: The name ends otherwise, or the file cannot be written.
    """
    check_name(path)
    stored = [{key: _storable(value) for key, value in row.items()} for row in rows]
    altered = sum(any(value[1] for value in row.values()) for row in stored)
    values = [{key: value[0] for key, value in row.items()} for row in stored]
    with written(path) as partial:
        if path.suffix.lower() == ".csv":
            _write_csv(partial, values)
        else:
            _write_parquet(partial, values)
    return altered


_SURROGATE = re.compile("[\ud800-\udfff]")


def _storable(value: Any) -> tuple[Any, bool]:
    """A value that UTF-8 can hold, and whether it was changed for that."""
    if not isinstance(value, str):
        return value, False
    text, changes = _SURROGATE.subn("\N{REPLACEMENT CHARACTER}", value)
    return text, changes > 0


_NUL = "\ud800"
"""Stands for NUL on its way through `csv`; the rows hold no surrogates any more."""


class _NulKept:
    """A text file for ``csv.writer``, which refuses NUL in Python 3.10."""

    def __init__(self, handle: TextIO) -> None:
        self._handle = handle

    def write(self, text: str) -> int:
        return self._handle.write(text.replace(_NUL, "\0"))


def _write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(
            _NulKept(handle), COLUMNS, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
        )
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {key: _csv_text(row[key]) if key in _TEXTS else row[key] for key in COLUMNS}
            )


def _csv_text(text: str | None) -> str:
    return escaped(text or "").replace("\0", _NUL)


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow  # heavy
    from pyarrow import parquet

    kinds = {"repeat": pyarrow.int64(), **dict.fromkeys(_NUMBERS, pyarrow.float64())}
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in COLUMNS])
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path)
