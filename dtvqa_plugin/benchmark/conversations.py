"""Records of the training format: an image and a conversation about it.

``conversations`` alternates user and assistant turns in the Monkey format: the first user turn
begins ``<img>PATH</img> `` and every user turn ends `` Answer: ``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dtvqa_plugin.benchmark._checks import (
    FaultError,
    checked_text,
    image_of,
    kind_of,
    mapping,
    shown,
    text_field,
)
from dtvqa_plugin.benchmark.image_paths import UnsafePathError, image_key
from dtvqa_plugin.benchmark.records import Problem, TrainRecord
from dtvqa_plugin.benchmark.release import BY_NAME


def parse_conversation(
    item: object, key: str, path: Path, index: int
) -> tuple[list[TrainRecord], list[Problem]]:
    """The usable pairs of one training record and what is wrong with the rest of it.

    ``key`` begins the pairs' keys (see `record_keys`); ``path`` and ``index`` name the record.
    """
    records: list[TrainRecord] = []
    problems: list[Problem] = []
    name = _train_name(item)
    try:
        image, conversations = _train_parts(item, path.stem)
    except FaultError as fault:
        return records, [fault.problem(path, index, name)]
    for turn, pair in enumerate(_pairs(conversations), start=1):
        try:
            question, answer = _exchange(pair, image, turn)
        except FaultError as fault:
            problems.append(fault.problem(path, index, name, turn))
            continue
        subset = image.split("/")[0]
        records.append(
            TrainRecord(f"{key}#{turn}", subset, path.stem, image, question, answer, turn)
        )
    return records, problems


_IMAGE_TAG = re.compile(r"^<img>(.*?)</img> ?", re.DOTALL)
_ANSWER_CUE = re.compile(r"\s*Answer:\s*\Z")


def _train_name(item: object) -> str | None:
    name = item.get("id") if isinstance(item, dict) else None
    return shown(name)[1:-1] if isinstance(name, str) else None


def _train_parts(item: object, stem: str) -> tuple[str, list[object]]:
    fields = mapping(item)
    image = image_of(text_field(fields, "id"))
    known = BY_NAME.get(stem)
    if known is not None and known.subset not in (None, image.split("/")[0]):
        raise FaultError(
            "wrong-subset", f"image {shown(image)} does not belong to subset {known.subset}"
        )
    if "conversations" not in fields:
        raise FaultError("missing-field", "has no 'conversations'")
    conversations = fields["conversations"]
    if conversations is None:
        raise FaultError("null-conversations", "'conversations' is null")
    if not isinstance(conversations, list):
        raise FaultError(
            "conversations-not-a-list",
            f"'conversations' is {kind_of(conversations)}, not a list",
        )
    if not conversations:
        raise FaultError("empty-conversations", "'conversations' is an empty list")
    return image, conversations


def record_stem(item: object, index: int) -> str:
    """What names a training record in its file: its image's stem, else its place."""
    name = item.get("id") if isinstance(item, dict) else None
    try:
        return Path(image_key(name)).stem if isinstance(name, str) else f"@{index}"
    except UnsafePathError:
        return f"@{index}"


def record_keys(stems: list[str], file: str) -> list[str]:
    """One key a record, ``FILE/IMAGE-STEM``, with ``~2`` and so on where a stem comes again."""
    taken = set(stems)
    counts: Counter[str] = Counter()
    keys: list[str] = []
    for name in stems:
        counts[name] += 1
        key = name
        if counts[name] > 1:
            while (key := f"{name}~{counts[name]}") in taken:
                counts[name] += 1
        keys.append(f"{file}/{key}")
    return keys


def _pairs(conversations: list[object]) -> Iterator[tuple[object, ...]]:
    """Group turns: a user turn with the assistant turn right behind it; strays stand alone."""
    place = 0
    while place < len(conversations):
        turn = conversations[place]
        follows = conversations[place + 1] if place + 1 < len(conversations) else None
        if _role(turn) == "user" and _role(follows) == "assistant":
            yield turn, follows
            place += 2
        else:
            yield (turn,)
            place += 1


def _role(turn: object) -> object:
    return turn.get("from") if isinstance(turn, dict) else None


def _exchange(pair: tuple[object, ...], image: str, turn: int) -> tuple[str, str]:
    if len(pair) != 2:
        role = _role(pair[0])
        if role == "user":
            raise FaultError("unanswered", "a user turn with no assistant turn after it")
        if role == "assistant":
            raise FaultError("unasked", "an assistant turn with no user turn before it")
        raise FaultError("unknown-role", f"a turn from {shown(role)}, not user or assistant")
    user, assistant = (mapping(part) for part in pair)
    question = _question(_said(user, "question"), image, first=turn == 1)
    return question, _said(assistant, "answer")


def _said(turn: dict[str, object], what: str) -> str:
    if "value" not in turn:
        raise FaultError("missing-field", f"the {what} turn has no 'value'")
    return checked_text(turn["value"], what)


def _question(value: str, image: str, *, first: bool) -> str:
    tag = _IMAGE_TAG.match(value) if first else None
    if tag is not None:
        if image_of(tag.group(1)) != image:
            raise FaultError(
                "image-mismatch",
                f"the turn shows {shown(tag.group(1))}, the record's id is another image",
            )
        value = value[tag.end() :]
    return checked_text(_ANSWER_CUE.sub("", value).strip(), "question")
