"""What a record of each kind says: the question, the output, and what else is known of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.predictions.rows import as_key


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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a record holds of the question itself.

    ``images`` are names of its pictures, ``text`` is what was asked, ``answers`` are the reference
    answers that the record repeats, ``number`` is a ``question_id`` without its set's name.
    """

    images: tuple[str, ...]
    text: str
    answers: tuple[str, ...] = ()
    number: str = ""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One output as a file holds it.

    ``question_id`` is None if the record names no question. ``prediction`` is text or None (no
    output); ``stored`` the scores that the host saved (0-1); ``loss`` what the file format
    destroyed. ``condition`` and ``model`` are given where the record itself says them.
    ``repeat`` tells several responses to one question apart, None where there is one; ``listed``
    means that the responses stand together in one record. ``record`` is the record itself.
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
    record: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


Reader = Callable[[str, Mapping[str, Any]], RawAnswer]


# --- the question -----------------------------------------------------------------------------

_NESTED = ("metadata", "sample_metadata", "doc", "extra")
_FULL_ID = re.compile(r"[^/\s]+/[^/]*[^/\s][^/]*")
"""``DTScene/12``: the set's name and the record's own id."""


def named(record: Mapping[str, Any]) -> str | None:
    """The question that a record names, here or in its metadata.

    ``question_id``, else ``dataset_name`` and ``id``, else an ``id`` of the form ``NAME/NUMBER``.
    """
    found = _named_here(record)
    if found is not None:
        return found
    for key in _NESTED:
        inner = record.get(key)
        if isinstance(inner, dict) and (found := _named_here(inner)) is not None:
            return found
    return None


def _named_here(record: Mapping[str, Any]) -> str | None:
    question_id, name = record.get("question_id"), record.get("dataset_name")
    number = record.get("id", question_id)
    if isinstance(question_id, str) and "/" in question_id:
        return question_id
    if isinstance(name, str) and is_key(number):
        return f"{name}/{as_key(number)}"
    if isinstance(question_id, str) and question_id:
        return question_id
    return number if isinstance(number, str) and _FULL_ID.fullmatch(number) else None


def is_key(value: object) -> bool:
    """Whether a value can be an id: text or a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def full_id(key: object) -> bool:
    """Whether a map's key has the form of a question id."""
    return isinstance(key, str) and _FULL_ID.fullmatch(key) is not None


_TEXT_KEYS = ("question", "query", "prompt", "input", "text_prompt", "question_text")
_IMAGE_KEYS = ("images", "image", "image_path", "image_file", "img_path", "image_name")
_ANSWER_KEYS = ("labels", "label", "target", "answer", "answers")
_IMAGE_TAG = re.compile(r"<img>(.*?)</img>")


def asked(record: Mapping[str, Any]) -> Asked | None:
    """The question's text, pictures and reference answers, from fields or a user's messages."""
    texts: list[str] = []
    images: list[str] = []
    for key in ("messages", *_TEXT_KEYS):
        value = record.get(key)
        if isinstance(value, list):
            _read_messages(value, texts, images)
        elif isinstance(value, str):
            texts.append(value)
    for key in _IMAGE_KEYS:
        images += _image_names(record.get(key))
    text = "\n".join(texts)
    images += _IMAGE_TAG.findall(text)
    answers = tuple(answer for key in _ANSWER_KEYS for answer in _answers(record.get(key)))
    given = _number(record.get("question_id")) or ""
    known = bool(text) and bool(images or answers or given)
    return Asked(tuple(dict.fromkeys(images)), text, answers, given) if known else None


def _answers(value: object) -> list[str]:
    """Reference answers: one, a list, or a list as JSON text."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [str(value)]
    found = value if isinstance(value, list) else [value]
    return [answer for answer in found if isinstance(answer, str) and answer]


def _read_messages(messages: Iterable[object], texts: list[str], images: list[str]) -> None:
    """The text of the last user turn, which the response answers, and the pictures of all."""
    last: list[str] = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in ("user", None):
            continue
        last, content = [], message.get("content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                last.append(part)
            elif isinstance(part, dict):
                if isinstance(part.get("text"), str):
                    last.append(part["text"])
                images += _image_names(part.get("image") or part.get("image_url"))
    texts += last


def _image_names(value: object) -> list[str]:
    """The names of pictures that are named; those that are embedded have none."""
    if isinstance(value, str):
        return [] if value.startswith(("data:", "attachment:")) else [value]
    if isinstance(value, list):
        return [name for item in value for name in _image_names(item)]
    if isinstance(value, dict):
        return _image_names(value.get("path") or value.get("url") or value.get("image"))
    return []


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


# --- one reader a kind ------------------------------------------------------------------------


def plain_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    output = record["predict"] if "predict" in record else record.get("prediction")
    index = record.get("index")
    return RawAnswer(
        place,
        named(record) or (None if index in (None, "") else as_key(index)),
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
        named(ours) or named(doc) or named(record),
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
        named(record) or _number(record.get("question_id")),
        record.get("text"),
        model=text_of(record.get("model_id")),
        repeat=repeat_in(record),
        record=record,
    )


def swift_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """``swift infer`` (2.x to 4.6): drops ids unless ``--remove_unused_columns false``."""
    return RawAnswer(
        place,
        named(record),
        record.get("response"),
        model=text_of(record.get("model")),
        repeat=repeat_in(record),
        record=record,
    )


def evalscope_answer(place: str, record: Mapping[str, Any]) -> RawAnswer:
    """EvalScope 1.x ``predictions``: the whole output of the model beside the messages."""
    return RawAnswer(
        place,
        named(record),
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
        named(record) or named(sample),
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
        named(record) or _number(record.get("id")),
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
    for key, value in flat_map(record).items():
        where = f"{place}, {key}"
        if isinstance(value, dict):
            yield plain_answer(where, {**value, "question_id": key})
        else:
            yield RawAnswer(where, key, value)


def flat_map(record: Mapping[str, Any]) -> dict[str, Any]:
    """A map with full ids as keys; the ids of a map inside get the name of the outer key."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and not full_id(key):
            flat.update({f"{key}/{name}": item for name, item in value.items()})
        else:
            flat[str(key)] = value
    return flat


def is_map(record: Mapping[str, Any]) -> bool:
    """Whether every key is a question id and every value an output."""
    flat = flat_map(record)
    return bool(flat) and all(
        full_id(key)
        and (
            value is None
            or isinstance(value, str | int | float | list)
            or (isinstance(value, dict) and ("prediction" in value or "predict" in value))
        )
        for key, value in flat.items()
    )


# --- fields that several kinds have -----------------------------------------------------------


def only(output: object) -> object:
    """The element of a list of one, however deep."""
    while isinstance(output, list) and len(output) == 1:
        output = output[0]
    return output


REPEAT_KEYS = ("repeat", "sample_index", "trial")
"""Fields that may say which of several responses to a question a record holds."""


def repeat_in(record: Mapping[str, Any]) -> str | None:
    for key in REPEAT_KEYS:
        value = record.get(key)
        if is_key(value):
            return as_key(value)
    return None


def condition_in(record: Mapping[str, Any]) -> str | None:
    """The condition that a record names.

    Version 0.1.0 wrote its name under ``prompt``, where others write the prompt itself.
    """
    prompt = text_of(record.get("prompt"))
    name = prompt if prompt is not None and _CONDITION_NAME.fullmatch(prompt) else None
    return text_of(record.get("condition")) or name


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


def _number(value: object) -> str | None:
    return as_key(value) if is_key(value) else None
