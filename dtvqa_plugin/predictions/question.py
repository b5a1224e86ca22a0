"""Which question a record is about: the ids that it names, and what it holds of the question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
    if isinstance(question_id, str) and "/" in question_id:
        found.append(question_id)
    number = record.get("id", None if found else question_id)
    if isinstance(name, str) and is_key(number):
        found.append(f"{name}/{as_key(number)}")
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

    ``images`` are names of its pictures, ``text`` is what was asked, ``answers`` are the reference
    answers that the record repeats, ``number`` is a ``question_id`` without its set's name.
    """

    images: tuple[str, ...]
    text: str
    answers: tuple[str, ...] = ()
    number: str = ""


TEXT_KEYS = ("question", "query", "prompt", "input", "text_prompt", "question_text")
IMAGE_KEYS = ("images", "image", "image_path", "image_file", "img_path", "image_name")
_ANSWER_KEYS = ("labels", "label", "target", "answer", "answers")
_IMAGE_TAG = re.compile(r"<img>(.*?)</img>")


def asked(record: Mapping[str, Any]) -> Asked | None:
    """The question's text, pictures and reference answers, from fields or a user's messages."""
    texts: list[str] = []
    images: list[str] = []
    for key in ("messages", *TEXT_KEYS):
        value = record.get(key)
        if isinstance(value, list):
            _read_messages(value, texts, images)
        elif isinstance(value, str):
            texts.append(value)
    for key in IMAGE_KEYS:
        images += _image_names(record.get(key))
    text = "\n".join(texts)
    images += _IMAGE_TAG.findall(text)
    answers = tuple(answer for key in _ANSWER_KEYS for answer in _answers(record.get(key)))
    given = "".join(number_of(record.get("question_id")))
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
