"""Which question a record is about: the ids that it names, and what it holds of the question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dtvqa_plugin.predictions.prompts import one_line
from dtvqa_plugin.predictions.rows import as_key

# --- ids --------------------------------------------------------------------------------------

_NESTED = ("metadata", "sample_metadata", "doc", "extra")
_NAMING = frozenset((*_NESTED, "dataset_name", "id"))
_FULL_ID = re.compile(r"[^/\s]+/[^/]*[^/\s][^/]*")
"""``DTScene/12``: the set's name and the record's own id."""


def named(record: Mapping[str, Any]) -> str | None:
    """The question that a record names, here or in its metadata: the first of `names_in`."""
    return next(iter(names_in(record)), None)


def names_in(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The questions that a record and its metadata name, each once, the one that counts first.

    ``question_id``, else ``dataset_name`` and ``id``, else an ``id`` of the form ``NAME/NUMBER``.
    """
    question_id = record.get("question_id")
    if _NAMING.isdisjoint(record) and isinstance(question_id, str) and question_id:
        return (question_id,)
    found = _named_here(record)
    for key in _NESTED:
        inner = record.get(key)
        if isinstance(inner, dict):
            found += _named_here(inner)
    return tuple(dict.fromkeys(found))


def _named_here(record: Mapping[str, Any]) -> list[str]:
    question_id, name = record.get("question_id"), record.get("dataset_name")
    found: list[str] = []
    bare = question_id
    if isinstance(question_id, str) and "/" in question_id:
        found.append(question_id)
        bare = question_id.partition("/")[2]
    number = record.get("id")
    if isinstance(name, str):
        found += [f"{name}/{as_key(key)}" for key in (number, bare) if is_key(key)]
    if not found and isinstance(question_id, str) and question_id:
        found.append(question_id)
    if full_id(number):
        found.append(str(number))
    return found


def is_key(value: object) -> bool:
    """Whether a value can be an id: text or a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def full_id(key: object) -> bool:
    """Whether a value has the form of a question id."""
    return isinstance(key, str) and _FULL_ID.fullmatch(key) is not None


def number_of(value: object) -> tuple[str, ...]:
    """An id without its set's name; empty where the value is none."""
    return (as_key(value),) if is_key(value) else ()


# --- picture and text -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What a record holds of the question itself.

    ``images`` are names of its pictures, ``turns`` the user's turns, of which the response answers
    the last, ``fields`` other texts by their field, ``answers`` the reference answers that the
    record repeats, ``number`` is a ``question_id`` without its set's name. Turns and texts are in
    one line each.
    """

    images: tuple[str, ...]
    turns: tuple[str, ...]
    fields: Mapping[str, str]
    answers: tuple[str, ...] = ()
    number: str = ""

    @property
    def text(self) -> str:
        """What may say what was asked: the last turn and the fields."""
        return "\n".join((*self.turns[-1:], *self.fields.values()))


TEXT_KEYS = ("question", "query", "prompt", "input", "text_prompt", "question_text")
IMAGE_KEYS = ("images", "image", "image_path", "image_file", "img_path", "image_name")
_ANSWER_KEYS = ("labels", "label", "target", "answer", "answers")
_IMAGE_TAG = re.compile(r"<img>(.*?)</img>")


def asked(record: Mapping[str, Any]) -> Asked | None:
    """The question's text, pictures and reference answers, from fields or a user's messages."""
    images: list[str] = []
    turns = _turns(record.get("messages"), images)
    texts = {key: "\n".join(_turns(record.get(key), images)[-1:]) for key in TEXT_KEYS}
    fields = {key: text for key, text in texts.items() if text}
    images += pictures_in(record)
    for text in (*turns[-1:], *fields.values()):
        images += _IMAGE_TAG.findall(text)
    answers = tuple(answer for key in _ANSWER_KEYS for answer in _answers(record.get(key)))
    given = "".join(number_of(record.get("question_id")))
    if not (fields or any(turns[-1:])) or not (images or answers or given):
        return None
    return Asked(
        tuple(dict.fromkeys(images)),
        tuple(map(one_line, turns)),
        {key: one_line(text) for key, text in fields.items()},
        answers,
        given,
    )


def _answers(value: object) -> list[str]:
    """Reference answers: one, a list, or a list as JSON text."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [str(value)]
    found = value if isinstance(value, list) else [value]
    return [answer for answer in found if isinstance(answer, str) and answer]


def _turns(messages: object, images: list[str]) -> list[str]:
    """The texts of the user's turns; a text is one. Their pictures are added to ``images``."""
    if not isinstance(messages, list):
        return [messages] if isinstance(messages, str) else []
    turns: list[str] = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in ("user", None):
            continue
        said: list[str] = []
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                said.append(part)
            elif isinstance(part, dict):
                if isinstance(part.get("text"), str):
                    said.append(part["text"])
                images += _image_names(part.get("image") or part.get("image_url"))
        turns.append("\n".join(said))
    return turns


def pictures_in(record: Mapping[str, Any]) -> list[str]:
    """The names of the pictures in a record's own fields."""
    return [name for key in IMAGE_KEYS if key in record for name in _image_names(record[key])]


def _image_names(value: object) -> list[str]:
    """The names of pictures that are named; those that are embedded have none."""
    if isinstance(value, str):
        return [] if value.startswith(("data:", "attachment:")) else [value]
    if isinstance(value, list):
        return [name for item in value for name in _image_names(item)]
    if isinstance(value, dict):
        return _image_names(value.get("path") or value.get("url") or value.get("image"))
    return []
