"""Which kind of file holds predictions, told by its content, and its answers one by one.

Five kinds are known: lmms-eval sample logs (``doc_id`` with ``filtered_resps``), VLMEvalKit
prediction files (``index``, ``question`` and ``prediction``, or ``index`` and ``prediction`` in a
file that is named as VLMEvalKit names it), per-question score files of this plugin, the paper's
own result files (``predict`` in each record), and plain tables or JSON Lines
``{"question_id" or "dataset_name" + "id", "prediction"}``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.inputs import INPUTS
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.predictions.json_records import iter_records
from dtvqa_plugin.predictions.reader import iter_predictions
from dtvqa_plugin.predictions.rows import (
    LIST_LOSS,
    SUFFIXES,
    TABLE_SUFFIXES,
    Fault,
    NoPredictionsError,
    PredictionFileError,
    PredictionRow,
    as_key,
)


class Kind(Enum):
    """What wrote a file."""

    LMMS_EVAL = "lmms-eval"
    VLMEVALKIT = "VLMEvalKit"
    RELEASED = "released runner"
    PLAIN = "plain"
    SCORES = "per-question scores"


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One output as a file holds it.

    ``question_id`` is None if the record names no question. ``prediction`` is text or None (no
    output); ``stored`` the scores that the host saved (0-1); ``loss`` what the file format
    destroyed. ``condition`` and ``model`` are given where the record itself says them.
    ``repeat`` tells several responses to one question apart, None where there is one; ``listed``
    means that the responses stand together in one record.
    """

    place: str
    question_id: str | None
    prediction: object
    stored: Mapping[str, float] = field(default_factory=dict)
    condition: str | None = None
    model: str | None = None
    loss: str | None = None
    repeat: str | None = None
    listed: bool = False


def sniff(path: Path) -> Kind | None:
    """The kind of a file, None if it holds no predictions. Looks at its first records only.

    Raises PredictionFileError for a file so damaged that nothing in it can be read.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        return None
    if path.stat().st_size == 0:
        raise PredictionFileError(f"{path}: the file is empty; run the inference again")
    if suffix in TABLE_SUFFIXES:
        return _sniff_table(path)
    faults: list[str] = []
    values = iter_records(path, lambda place, why: faults.append(f"{place}: {why}"))
    first = [value for _, value in islice(values, 20)]
    for value in first:
        kind = _kind_of_record(value, path)
        if kind is not None:
            return kind
    if faults and not first:
        raise PredictionFileError(f"{path}, {faults[0]}. Run the inference again.")
    return None


def _sniff_table(path: Path) -> Kind | None:
    try:
        row = next(iter_predictions(path), None)
    except NoPredictionsError:
        return None
    if row is None:
        return None
    if row.index and _is_vlmevalkit(path, row.fields):
        return Kind.VLMEVALKIT
    return Kind.PLAIN if row.index or _named(row.fields) else None


def _is_vlmevalkit(path: Path, columns: Collection[str]) -> bool:
    """Whether a table with an ``index`` is one that VLMEvalKit wrote: it keeps the question."""
    return "question" in columns or vlmevalkit_name(path) is not None


def _kind_of_record(value: object, path: Path) -> Kind | None:
    if not isinstance(value, dict):
        return None
    keys = value.keys()
    if "doc_id" in keys and ("filtered_resps" in keys or "resps" in keys):
        return Kind.LMMS_EVAL
    if "predict" in keys:
        return Kind.RELEASED
    if "prediction" not in keys:
        return None
    if "index" in keys and _is_vlmevalkit(path, keys):
        return Kind.VLMEVALKIT
    if _named(value) is None and "index" not in keys:
        return None
    return Kind.SCORES if "accanls" in keys else Kind.PLAIN


def _named(record: Mapping[str, Any]) -> str | None:
    """The question that a record names: ``question_id``, else ``dataset_name`` and ``id``."""
    question_id = record.get("question_id")
    if isinstance(question_id, str) and question_id:
        return question_id
    name, number = record.get("dataset_name"), record.get("id")
    if isinstance(name, str) and isinstance(number, str | int | float):
        return f"{name}/{as_key(number)}"
    return None


def answers(path: Path, kind: Kind, fault: Fault) -> Iterator[RawAnswer]:
    """Stream the answers of a file; records that cannot be read go to ``fault``.

    A record that holds a list of responses gives one answer a response.
    """
    table = kind is Kind.VLMEVALKIT or path.suffix.lower() in TABLE_SUFFIXES
    found = _table_answers(path, kind, fault) if table else _record_answers(path, kind, fault)
    for answer in found:
        yield from _responses(answer)


def _responses(answer: RawAnswer) -> Iterator[RawAnswer]:
    output = _only(answer.prediction)
    if not isinstance(output, list) or not output:
        yield replace(answer, prediction=output)
        return
    for number, response in enumerate(output, start=1):
        yield replace(
            answer, prediction=_only(response), repeat=str(number), listed=True, loss=None
        )


def _table_answers(path: Path, kind: Kind, fault: Fault) -> Iterator[RawAnswer]:
    for row in iter_predictions(path, fault=fault):
        yield RawAnswer(
            f"row {row.number}",
            _named(row.fields) or row.index or None,
            _listed(row),
            condition=_condition(row.fields) if kind is Kind.PLAIN else None,
            model=_text(row.fields.get("model")),
            loss=row.loss,
            repeat=_repeat(row.fields),
        )


def _listed(row: PredictionRow) -> object:
    """The prediction; a list that a JSON file holds comes back as a list."""
    if row.loss is not None and row.loss == LIST_LOSS and row.prediction is not None:
        return json.loads(row.prediction)
    return row.prediction


def _record_answers(path: Path, kind: Kind, fault: Fault) -> Iterator[RawAnswer]:
    read = _lmms_answer if kind is Kind.LMMS_EVAL else _plain_answer
    for place, value in iter_records(path, fault):
        if isinstance(value, dict):
            yield read(place, value)
        else:
            fault(place, f"a {type(value).__name__} where a record is expected")


def _plain_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    output = record["predict"] if "predict" in record else record.get("prediction")
    index = record.get("index")
    return RawAnswer(
        place,
        _named(record) or (None if index in (None, "") else as_key(index)),
        record.get("raw_prediction", output),
        stored_scores(record),
        condition=_condition(record),
        model=_text(record.get("model")) or _text(record.get("model_name")),
        repeat=_repeat(record),
    )


def _lmms_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    ours = record.get("dtvqa")
    doc = record.get("doc")
    ours = ours if isinstance(ours, dict) else {}
    doc = doc if isinstance(doc, dict) else {}
    return RawAnswer(
        place,
        _named(ours) or _named(doc) or _named(record),
        _lmms_output(record, ours),
        stored_scores(record),
        condition=_condition(ours),
        repeat=_repeat(record),
    )


NULL_TEXT = "None"
"""How lmms-eval 0.6.0 to 0.7.3 log a null answer: every response goes through ``str``."""


def _lmms_output(record: Mapping[str, Any], ours: Mapping[str, Any]) -> object:
    """The raw output; where the host logged a null answer as text, our record decides."""
    output = record.get("resps", record.get("filtered_resps"))
    single = _only(output)
    if isinstance(single, list):
        return single
    reason = "failed" if ours.get("failed") is True else record.get("unanswered")
    if reason == "failed":
        return None
    return "" if reason == "empty" and single == NULL_TEXT else single


def _only(output: object) -> object:
    while isinstance(output, list) and len(output) == 1:
        output = output[0]
    return output


REPEAT_KEYS = ("repeat", "sample_index", "trial")
"""Fields that may say which of several responses to a question a record holds."""


def _repeat(record: Mapping[str, Any]) -> str | None:
    for key in REPEAT_KEYS:
        value = record.get(key)
        if isinstance(value, str | int | float) and value != "" and not isinstance(value, bool):
            return as_key(value)
    return None


def _condition(record: Mapping[str, Any]) -> str | None:
    """The condition that a record names; version 0.1.0 wrote it under ``prompt``."""
    return _text(record.get("condition")) or _text(record.get("prompt"))


def stored_scores(record: Mapping[str, Any]) -> dict[str, float]:
    """The scores a record holds; a whole number that no score can be counts as infinite."""
    found = {name: record[name] for name in METRICS if isinstance(record.get(name), int | float)}
    return {
        name: float(value) if isinstance(value, float) or abs(value) < 2**53 else math.inf
        for name, value in found.items()
        if not isinstance(value, bool)
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


# --- what a file's name and its neighbours say ------------------------------------------------

_CONDITIONS: dict[str | None, str] = {
    "PROMPTED": "paper",
    "NATIVE": "native",
    **{given.dataset_ending: name for name, given in INPUTS.items()},
    None: "none",
}
_DATASET = re.compile(
    r"(?P<model>.+)_(?P<dataset>DTVQA(?:_(?:DT[A-Za-z]+|MINI|CUSTOM))?"
    rf"(?:_(?P<ending>{'|'.join(filter(None, _CONDITIONS))}))?)"
)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """Model and condition from a VLMEvalKit file name ``MODEL_DATASET.xlsx``."""

    model: str
    dataset: str
    condition: str


def vlmevalkit_name(path: Path) -> NamedFile | None:
    """Read ``MODEL_DTVQA_DTScene_PROMPTED.xlsx``; None if the name is of another form."""
    match = _DATASET.fullmatch(path.stem)
    if match is None:
        return None
    return NamedFile(match["model"], match["dataset"], _CONDITIONS[match["ending"]])
