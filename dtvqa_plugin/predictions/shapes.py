"""What a record of each kind says: the question, the output, and what else is known of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.metrics.predictions import prepare
from dtvqa_plugin.predictions.question import (
    IMAGE_KEYS,
    TEXT_KEYS,
    full_id,
    is_key,
    names_in,
    number_of,
)
from dtvqa_plugin.predictions.rows import ONCE, as_key, json_text


class Kind(Enum):
    """What wrote a file."""

    LMMS_EVAL = "lmms-eval"
    VLMEVALKIT = "VLMEvalKit"
    RELEASED = "released runner"
    PLAIN = "plain"
    SCORES = "per-question scores"
    MAP = "map of question ids"
    LLAVA = "LLaVA"
    SWIFT = "ms-swift"
    EVALSCOPE = "EvalScope"
    EVALSCOPE_REVIEW = "EvalScope reviews"
    INSPECT = "inspect_ai"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns or keys that the user names; None where the file's kind says them.

    A dotted name leads into nested records: ``metadata.id``.
    """

    id: str | None = None
    prediction: str | None = None

    def __bool__(self) -> bool:
        return self.id is not None or self.prediction is not None


NO_COLUMNS = Columns()
"""The file's kind says all columns."""


def value_at(record: Mapping[str, Any], name: str) -> tuple[bool, Any]:
    """Whether a record has a field, and its value; ``a.b.0`` leads into nested ones."""
    if name in record:
        return True, record[name]
    value: Any = record
    for step in name.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
    return True, value


@dataclass(slots=True)
class RawAnswer:
    """One output as a file holds it.

    ``names`` are the ids that the record names, the one that counts first. ``prediction`` is text
    or None (no output), ``held_as`` the field that it was read from; ``rivals`` are fields of the
    record with another output. ``stored`` are the scores that the host saved (0-1), ``loss`` is
    what the file format destroyed. ``condition`` and ``model`` are what the record says.
    ``repeat`` tells several responses to one question apart, None where there is one; ``listed``
    means that the responses stand together in one record. ``record`` is the record itself.
    """

    place: str
    names: tuple[str, ...]
    prediction: object
    stored: Mapping[str, float] = field(default_factory=dict)
    condition: str | None = None
    model: str | None = None
    loss: str | None = None
    repeat: str | None = None
    listed: bool = False
    record: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    held_as: str = ""
    rivals: tuple[tuple[str, object], ...] = ()

    @property
    def question_id(self) -> str | None:
        """The id that counts, None if the record names no question."""
        return self.names[0] if self.names else None


Reader = Callable[[str, Mapping[str, Any]], RawAnswer]


# --- one reader a kind ------------------------------------------------------------------------


def plain_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    output = record["predict"] if "predict" in record else record.get("prediction")
    names = names_in(record)
    return RawAnswer(
        place,
        with_index(names, record["index"]) if "index" in record else names,
        record.get("raw_prediction", output),
        stored_scores(record),
        condition=condition_in(record),
        model=model_in(record),
        repeat=repeat_in(record),
        record=record,
    )


def lmms_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    ours, doc = mapping(record.get("dtvqa")), mapping(record.get("doc"))
    return RawAnswer(
        place,
        tuple(dict.fromkeys((*names_in(ours), *names_in(doc), *names_in(record)))),
        _lmms_output(record, ours),
        stored_scores(record),
        condition=condition_in(ours),
        repeat=repeat_in(record),
        record=doc,
    )


NULL_TEXT = "None"
"""How lmms-eval 0.6.0 to 0.7.3 log a null answer: every response goes through ``str``."""


def _lmms_output(record: Mapping[str, Any], ours: Mapping[str, Any]) -> object:
    """The raw output; where the host logged a null answer as text, our record decides."""
    output = record.get("resps", record.get("filtered_resps"))
    single = only(output)
    if isinstance(single, list):
        return single
    reason = "failed" if ours.get("failed") is True else record.get("unanswered")
    if reason == "failed":
        return None
    return "" if reason == "empty" and single == NULL_TEXT else single


def llava_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """LLaVA's ``model_vqa``: ``prompt`` there is the question, ``metadata`` the asker's own."""
    return RawAnswer(
        place,
        names_in(record) or number_of(record.get("question_id")),
        record.get("text"),
        model=text_of(record.get("model_id")),
        repeat=repeat_in(record),
        record=record,
    )


def swift_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """``swift infer`` (2.x to 4.6): drops ids unless ``--remove_unused_columns false``."""
    return RawAnswer(
        place,
        names_in(record),
        record.get("response"),
        model=text_of(record.get("model")),
        repeat=repeat_in(record),
        record=record,
    )


def evalscope_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """EvalScope 1.x ``predictions``: the whole output of the model beside the messages."""
    return RawAnswer(
        place,
        names_in(record),
        chosen(mapping(record.get("model_output"))),
        model=text_of(record.get("model")),
        record=record,
    )


def review_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """EvalScope 1.x ``reviews``: what was scored; ``generation_index`` counts repeats from 0."""
    sample = mapping(record.get("sample_score"))
    score = mapping(sample.get("score"))
    number = sample.get("generation_index")
    return RawAnswer(
        place,
        tuple(dict.fromkeys((*names_in(record), *names_in(sample)))),
        score.get("prediction", score.get("extracted_prediction")),
        repeat=str(number + 1) if isinstance(number, int) else None,
        record=record,
    )


def inspect_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """A sample of an inspect_ai log; ``epoch`` counts repeats from 1."""
    said = None if record.get("error") else chosen(mapping(record.get("output")))
    kept = record.get("attachments")
    if isinstance(said, str) and said.startswith(_ATTACHMENT) and isinstance(kept, dict):
        said = kept.get(said.removeprefix(_ATTACHMENT), said)
    epoch = record.get("epoch")
    return RawAnswer(
        place,
        names_in(record) or number_of(record.get("id")),
        said,
        repeat=str(epoch) if isinstance(epoch, int) else None,
        record=record,
    )


_ATTACHMENT = "attachment://"


def chosen(output: Mapping[str, Any]) -> object:
    """The texts of an output's choices, one or a list; None where the model gave none."""
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices or output.get("error"):
        return None
    said = [_message_text(choice.get("message")) for choice in choices if isinstance(choice, dict)]
    return said[0] if len(said) == 1 else said


def _message_text(message: object) -> str | None:
    """A message's text; parts of another type (reasoning, tools) are not the answer."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def map_answers(place: str, record: Mapping[str, Any]) -> Iterator[RawAnswer]:
    """The answers of ``{"DTScene/12": "text"}`` or ``{"DTScene": {"12": "text"}}``.

    A record in place of the text is read as one (``{"DTScene/12": {"prediction": "text"}}``).
    """
    for key, value in _map_items(record):
        where = f"{place}, {key}"
        answer = plain_answer(where, value if isinstance(value, dict) else {"prediction": value})
        yield replace(answer, names=tuple(dict.fromkeys((key, *answer.names))))


def _map_items(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """A map's items with full ids; the ids of a map inside get the name of the outer key."""
    for key, value in record.items():
        if isinstance(value, dict) and not full_id(key):
            yield from ((f"{key}/{name}", item) for name, item in value.items())
        else:
            yield str(key), value


def is_map(record: Mapping[str, Any]) -> bool:
    """Whether every key is a question id and every value an output."""
    items = list(_map_items(record))
    return bool(items) and all(
        full_id(key)
        and (
            value is None
            or isinstance(value, str | int | float | list)
            or (isinstance(value, dict) and ("prediction" in value or "predict" in value))
        )
        for key, value in items
    )


# --- the output -------------------------------------------------------------------------------

FIELDS: Mapping[Kind, tuple[str, ...]] = {
    **dict.fromkeys(
        (Kind.PLAIN, Kind.RELEASED, Kind.SCORES, Kind.MAP),
        ("raw_prediction", "predict", "prediction"),
    ),
    Kind.SWIFT: ("response",),
    Kind.LLAVA: ("text",),
    Kind.LMMS_EVAL: ("resps", "filtered_resps"),
}
"""The fields of which a record of a kind has its output, the first that is there."""

_OUTPUTS = frozenset(("raw_prediction", "predict", "prediction", "response", "text"))


def with_output(
    answer: RawAnswer, record: Mapping[str, Any], fields: tuple[str, ...]
) -> RawAnswer | None:
    """The answer with the fields that hold another output; None where ``fields`` are absent."""
    held = _OUTPUTS.intersection(record)
    if len(held) == 1 and not held.isdisjoint(fields):
        return answer
    held_as = next((name for name in fields if name in record), None)
    return None if held_as is None else with_rivals(answer, held_as)


def lacking(record: Mapping[str, Any], kind: Kind) -> str:
    """What a record has in place of the output of its kind."""
    wanted = {Kind.RELEASED: "predict", Kind.LMMS_EVAL: "resps"}.get(kind, FIELDS[kind][-1])
    instead = ", ".join(repr(name) for name in record if name in _OUTPUTS)
    return f"has no {wanted!r}" + (f" (it has {instead})" if instead else "")


def with_rivals(
    answer: RawAnswer, held_as: str, empty: tuple[str | None, ...] = (None,)
) -> RawAnswer:
    """The answer with the fields of its record that hold another output than ``held_as``.

    What is ``empty`` is no output, nor is an object. The scores that this package writes hold the
    raw output and what was scored of it.
    """
    record = answer.record
    held = _OUTPUTS & record.keys()
    if "raw_prediction" in held and "accanls" in record:
        held -= {"prediction", "raw_prediction"}
    if held <= {held_as} or held_as not in _OUTPUTS:
        return answer
    rivals = tuple(
        (name, record[name])
        for name in sorted(held - {held_as})
        if not (isinstance(record[name], dict) or record[name] in empty)
        and not _same_output(record[name], answer.prediction)
    )
    return replace(answer, held_as=held_as, rivals=rivals) if rivals else answer


def _same_output(one: object, other: object) -> bool:
    """Whether the same text is scored of both."""
    return prepare(json_text(only(one))[0]) == prepare(json_text(only(other))[0])


# --- fields that several kinds have -----------------------------------------------------------


def with_index(names: tuple[str, ...], index: object) -> tuple[str, ...]:
    """The ids that a record names and its ``index``, where that is one or nothing else is."""
    if index is None or index == "" or (names and not full_id(index)):
        return names
    return tuple(dict.fromkeys((*names, as_key(index))))


def only(output: object) -> object:
    """The element of a list of one, however deep."""
    while isinstance(output, list) and len(output) == 1:
        output = output[0]
    return output


REPEAT_KEYS = ("repeat", "sample_index", "trial")
"""Fields that may say which of several responses to a question a record holds."""

READ_ONCE = frozenset((*ONCE, *TEXT_KEYS, *IMAGE_KEYS, *REPEAT_KEYS, "condition", "model"))
"""Columns of a table, beside that of the outputs, that must not stand twice."""


def repeat_in(record: Mapping[str, Any]) -> str | None:
    for key in REPEAT_KEYS:
        if key in record and is_key(record[key]):
            return as_key(record[key])
    return None


def condition_in(record: Mapping[str, Any]) -> str | None:
    """The condition that a record names.

    Version 0.1.0 wrote its name under ``prompt``, where others write the prompt itself.
    """
    condition = text_of(record.get("condition"))
    if condition is None:
        prompt = record.get("prompt")
        return prompt if isinstance(prompt, str) and _CONDITION_NAME.fullmatch(prompt) else None
    return condition


_CONDITION_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def model_in(record: Mapping[str, Any]) -> str | None:
    return text_of(record.get("model")) or text_of(record.get("model_name"))


_METRICS = frozenset(METRICS)


def stored_scores(record: Mapping[str, Any]) -> dict[str, float]:
    """The scores a record holds; a whole number that no score can be counts as infinite."""
    if _METRICS.isdisjoint(record):
        return {}
    found = {name: record[name] for name in METRICS if isinstance(record.get(name), int | float)}
    return {
        name: float(value) if isinstance(value, float) or abs(value) < 2**53 else math.inf
        for name, value in found.items()
        if not isinstance(value, bool)
    }


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
