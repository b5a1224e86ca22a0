"""Which kind of file holds predictions, told by its content, and its answers one by one.

Known are the logs of lmms-eval, EvalScope and inspect_ai, VLMEvalKit's prediction files (``index``,
``question`` and ``prediction``, or ``index`` and ``prediction`` in a file that is named as
VLMEvalKit names it), result files of ms-swift, LLaVA and the paper's runners, per-question score
files of this plugin, maps from question ids to outputs, and plain records or tables
``{"question_id" or "dataset_name" + "id", "prediction"}``. `Columns` names other keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.inputs import INPUTS
from dtvqa_plugin.predictions.columnar import columns_of_bytes
from dtvqa_plugin.predictions.inspect_log import is_log, log_samples
from dtvqa_plugin.predictions.opening import (
    TEXT_SUFFIX,
    Form,
    bare_name,
    check_content,
    form_of,
    stranger,
    suffix_of,
)
from dtvqa_plugin.predictions.question import asked, is_key, named, names_in
from dtvqa_plugin.predictions.reader import iter_predictions, iter_records
from dtvqa_plugin.predictions.rows import (
    LIST_LOSS,
    ONCE,
    Fault,
    NoPredictionsError,
    PredictionFileError,
    PredictionRow,
    as_key,
    json_text,
    no_column,
    unescaped,
)
from dtvqa_plugin.predictions.shapes import (
    FIELDS,
    NO_COLUMNS,
    READ_ONCE,
    Columns,
    Kind,
    RawAnswer,
    Reader,
    condition_in,
    evalscope_answer,
    inspect_answer,
    is_map,
    lacking,
    llava_answer,
    lmms_answer,
    map_answers,
    only,
    plain_answer,
    repeat_in,
    review_answer,
    swift_answer,
    text_of,
    value_at,
    with_index,
    with_output,
    with_rivals,
)

__all__ = ["Columns", "Kind", "RawAnswer", "answers", "found_names", "sniff", "vlmevalkit_name"]

_LOOKED_AT = 20
_NO_RECORDS = "the file is empty or holds no records. Copy it again, or run the inference again."
_NO_SUCH = "\ufdd0"
"""A column that no table has: asking for it names those that are there."""
_READERS: Mapping[Kind, Reader] = {
    Kind.LMMS_EVAL: lmms_answer,
    Kind.LLAVA: llava_answer,
    Kind.SWIFT: swift_answer,
    Kind.EVALSCOPE: evalscope_answer,
    Kind.EVALSCOPE_REVIEW: review_answer,
    Kind.INSPECT: inspect_answer,
}
_TABLE_COLUMNS: Mapping[str, Kind] = {
    "prediction": Kind.PLAIN,
    "predict": Kind.RELEASED,
    "response": Kind.SWIFT,
    "text": Kind.LLAVA,
}
"""The columns of outputs in tables, in the order in which they are looked for."""


# --- the kind ---------------------------------------------------------------------------------


def sniff(path: Path, columns: Columns = NO_COLUMNS) -> Kind | None:
    """The kind of a file, None if it holds no predictions. Looks at its first records only.

    Raises PredictionFileError for a file so damaged that nothing in it can be read, and
    NoPredictionsError for one without the columns that ``columns`` names.
    """
    form = form_of(path)
    if form is None:
        return None
    if form is not Form.DATASET and path.stat().st_size == 0:
        raise PredictionFileError(f"{path}: {_NO_RECORDS}")
    check_content(path, form)
    if form is Form.INSPECT:
        return Kind.INSPECT
    if form.is_table:
        return _sniff_table(path, columns)
    if is_log(path):
        return Kind.INSPECT
    faults: list[str] = []
    values = iter_records(path, lambda place, why: faults.append(f"{place}: {why}"))
    first = [value for _, value in islice(values, _LOOKED_AT)]
    records = [value for value in first if isinstance(value, dict)]
    if columns and records and not is_map(records[0]):
        _check_columns(path, records[0], columns)
    for value in first:
        if isinstance(value, dict) and (kind := _kind_of_record(value, path, columns)) is not None:
            return kind
    if faults and not first and suffix_of(path) != TEXT_SUFFIX:
        raise PredictionFileError(f"{path}, {faults[0]}. {_cure(faults[0])}")
    if not (first or faults or suffix_of(path) == TEXT_SUFFIX):
        raise PredictionFileError(f"{path}: {_NO_RECORDS}")
    return None


def _cure(fault: str) -> str:
    if "cut off" in fault or "Unterminated" in fault:
        return "Copy the file again; if it is cut off at its source too, run the inference again."
    return "Write the file again with a JSON library (json.dumps), one record a line."


def _check_columns(path: Path, record: Mapping[str, Any], columns: Columns) -> None:
    for name in (columns.id, columns.prediction):
        if name is not None and not value_at(record, name)[0]:
            if form_of(path) is Form.PARQUET and name in columns_of_bytes(path):
                raise PredictionFileError(
                    f"{path}: the column {name!r} holds bytes, which are not read. Cast it to "
                    "string."
                )
            raise no_column(path, name, record)


def _sniff_table(path: Path, columns: Columns) -> Kind | None:
    try:
        column, row = _table_start(path, columns)
    except NoPredictionsError:
        if columns:
            raise
        return None
    except PredictionFileError:
        if suffix_of(path) == TEXT_SUFFIX:  # a text that is no table
            return None
        raise
    if row is None:
        raise PredictionFileError(f"{path}: {_NO_RECORDS}")
    if columns.id is not None:
        return Kind.PLAIN
    if row.index and _is_vlmevalkit(path, row.fields) and column == "prediction":
        return Kind.VLMEVALKIT
    if not (row.index or named(row.fields) or asked(row.fields)):
        return Kind.PLAIN if columns.prediction and is_key(row.fields.get("id")) else None
    if column == "prediction" and "accanls" in row.fields and "outcome" in row.fields:
        return Kind.SCORES
    return _TABLE_COLUMNS.get(column, Kind.PLAIN)


def _table_start(path: Path, columns: Columns) -> tuple[str, PredictionRow | None]:
    """The column of outputs, and the first row. Raises NoPredictionsError where there is none."""
    missing: NoPredictionsError | None = None
    for column in (columns.prediction,) if columns.prediction else _TABLE_COLUMNS:
        try:
            row = next(iter_predictions(path, column, once=_once(columns)), None)
        except NoPredictionsError as error:
            missing = missing or error
            continue
        if row is not None and columns.id is not None:
            index = {"index": row.index} if row.index else {}
            _check_columns(path, {**row.fields, column: "", **index}, Columns(columns.id))
        return column, row
    assert missing is not None
    raise missing


def _once(columns: Columns) -> Collection[str]:
    """The columns of a table that must not stand twice."""
    if columns.id is None:
        return READ_ONCE
    return READ_ONCE - ONCE | {columns.id, "dataset_name"}


def _is_vlmevalkit(path: Path, columns: Collection[str]) -> bool:
    """Whether a table with an ``index`` is one that VLMEvalKit wrote: it keeps the question."""
    return "question" in columns or vlmevalkit_name(path) is not None


def _kind_of_record(value: Mapping[str, Any], path: Path, columns: Columns) -> Kind | None:
    keys = value.keys()
    if is_map(value):
        return Kind.MAP
    if "doc_id" in keys and ("filtered_resps" in keys or "resps" in keys):
        return Kind.LMMS_EVAL
    if "model_output" in keys and "messages" in keys:
        return Kind.EVALSCOPE
    if "sample_score" in keys:
        return Kind.EVALSCOPE_REVIEW
    if "predict" in keys:
        return Kind.RELEASED
    if columns.prediction is not None or "prediction" in keys:
        return _kind_of_prediction(value, path, columns)
    if "response" in keys and ({"messages", "query", "labels"} & keys or _says_question(value)):
        return Kind.SWIFT
    if isinstance(value.get("text"), str) and "question_id" in keys:
        return Kind.LLAVA
    return None


def _kind_of_prediction(value: Mapping[str, Any], path: Path, columns: Columns) -> Kind | None:
    if "index" in value and "prediction" in value and _is_vlmevalkit(path, value.keys()):
        return Kind.VLMEVALKIT
    inner = value.get("prediction")
    if isinstance(inner, dict) and columns.prediction is None:
        keys = ", ".join(islice(map(str, inner), 5))
        raise PredictionFileError(
            f"{path}: its predictions are records with the keys {keys}, not text. Name the one "
            "that holds the output, as in --prediction-column prediction.text."
        )
    if columns or "index" in value or _says_question(value):
        return Kind.SCORES if "accanls" in value else Kind.PLAIN
    return None


def _says_question(value: Mapping[str, Any]) -> bool:
    return named(value) is not None or asked(value) is not None


def found_names(path: Path) -> tuple[str, str]:
    """The keys or columns of a file's first record, or what it is without them; and the cure.

    The cure is empty where the names do not tell one. Raises PredictionFileError or OSError.
    """
    try:
        form = form_of(path)
        if form is None:
            return "not text that could be JSON or a table", stranger(path) or ""
        if form.is_table:
            next(iter_predictions(path, _NO_SUCH), None)
            return "an empty table", ""
        for _, value in islice(iter_records(path), 1):
            if isinstance(value, dict):
                unread = columns_of_bytes(path) if form is Form.PARQUET else []
                return _found("keys", list(value), unread)
            return f"a {type(value).__name__} where a record is expected", ""
    except NoPredictionsError as error:
        return _found("columns", error.found)
    return "no records", ""


def _found(what: str, names: Sequence[str], unread: Sequence[str] = ()) -> tuple[str, str]:
    cure = ""
    if unread:
        cure = f"columns of bytes are not read ({', '.join(unread)}): cast text to string"
    elif "id" in names and not {"dataset_name", "question_id"} & set(names):
        cure = (
            "an id alone does not tell a question: write 'DTScene/12' in place of 12, or add "
            "dataset_name"
        )
    return f"{what} found: {', '.join(map(str, names[:12])) or 'none'}", cure


# --- the answers ------------------------------------------------------------------------------


def answers(
    path: Path, kind: Kind, fault: Fault, columns: Columns = NO_COLUMNS
) -> Iterator[RawAnswer]:
    """Stream the answers of a file; records that cannot be read go to ``fault``.

    A record that holds a list of responses gives one answer a response.
    """
    form = form_of(path)
    if form is not None and (form.is_table or (kind is Kind.VLMEVALKIT and form is Form.JSON)):
        found = _table_answers(path, kind, fault, columns)
    else:
        found = _record_answers(path, kind, fault, columns)
    for answer in found:
        if isinstance(answer.prediction, str) or answer.prediction is None:
            yield answer
        else:
            yield from _responses(answer)


def _responses(answer: RawAnswer) -> Iterator[RawAnswer]:
    output = only(answer.prediction)
    if not isinstance(output, list) or not output:
        yield _as_text(answer, output)
        return
    for number, response in enumerate(output, start=1):
        one = replace(answer, repeat=str(number), listed=True, loss=None)
        yield _as_text(one, only(response))


def _as_text(answer: RawAnswer, output: object) -> RawAnswer:
    """The answer with the text of its output; a value of another type is a loss."""
    text, loss = json_text(output)
    return replace(answer, prediction=text, loss=loss or answer.loss)


def _table_answers(path: Path, kind: Kind, fault: Fault, columns: Columns) -> Iterator[RawAnswer]:
    column = _table_start(path, columns)[0]
    own = kind is Kind.SCORES
    for row in iter_predictions(path, column, fault=fault, once=_once(columns)):
        if own:
            fields = {name: unescaped(value) for name, value in row.fields.items()}
            row = replace(row, fields=fields)
        answer = RawAnswer(
            f"row {row.number}",
            with_index(names_in(row.fields), row.index),
            unescaped(_listed(row)) if own else _listed(row),
            condition=condition_in(row.fields) if kind is not Kind.VLMEVALKIT else None,
            model=text_of(row.fields.get("model")),
            loss=row.loss,
            repeat=repeat_in(row.fields),
            record=row.fields,
        )
        if columns.id is not None:
            fields = {**row.fields, "index": row.index}
            answer = replace(answer, names=_given_id(fields, columns.id))
        if columns.prediction is None:
            answer = with_rivals(answer, column, empty=(None, ""))
        yield answer


def _listed(row: PredictionRow) -> object:
    """The prediction; a list that a JSON file holds comes back as a list."""
    if row.loss is not None and row.loss == LIST_LOSS and row.prediction is not None:
        return json.loads(row.prediction)
    return row.prediction


def _record_answers(path: Path, kind: Kind, fault: Fault, columns: Columns) -> Iterator[RawAnswer]:
    read = _READERS.get(kind, plain_answer)
    records = log_samples(path, fault) if kind is Kind.INSPECT else iter_records(path, fault)
    for place, value in records:
        if not isinstance(value, dict):
            fault(place, f"a {type(value).__name__} where a record is expected")
        elif kind is Kind.MAP:
            for answer in map_answers(place, value):
                own = Columns(prediction=columns.prediction)
                found = _with_columns(answer, answer.record, kind, own, fault)
                if found is not None:
                    yield found
        else:
            found = _with_columns(read(place, value), value, kind, columns, fault)
            if found is not None:
                yield found


def _with_columns(
    answer: RawAnswer, record: Mapping[str, Any], kind: Kind, columns: Columns, fault: Fault
) -> RawAnswer | None:
    """The answer with what the named columns hold in place of the kind's own."""
    if columns.id is not None:
        answer = replace(answer, names=_given_id(record, columns.id))
    if columns.prediction is None:
        return _with_output(answer, record, kind, fault)
    there, prediction = value_at(record, columns.prediction)
    if there:
        return replace(answer, prediction=prediction)
    fault(answer.place, f"has no {columns.prediction!r}")
    return None


def _with_output(
    answer: RawAnswer, record: Mapping[str, Any], kind: Kind, fault: Fault
) -> RawAnswer | None:
    """The answer, unless its record lacks the output of its kind."""
    fields = FIELDS.get(kind)
    chosen = answer if fields is None else with_output(answer, record, fields)
    if chosen is None:
        fault(answer.place, lacking(record, kind))
    return chosen


def _given_id(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The id under a name; the record's ``dataset_name`` completes one without a set's name."""
    value = value_at(record, name)[1]
    if not is_key(value):
        return ()
    key, dataset = as_key(value), record.get("dataset_name")
    return (f"{dataset}/{key}" if "/" not in key and isinstance(dataset, str) else key,)


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
    match = _DATASET.fullmatch(bare_name(path))
    if match is None:
        return None
    return NamedFile(match["model"], match["dataset"], _CONDITIONS[match["ending"]])
