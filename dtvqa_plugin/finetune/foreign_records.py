"""Records of other people's training sets: their images, questions and answers, in any form.

The forms are those that `export` writes, the released ones, OpenAI messages with ``image_url``
parts, and records with fields such as ``image``, ``question`` and ``answer``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.source import ListReader

IMAGE_SUFFIXES = frozenset(
    [".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".jp2", ".avif"]
)


def read_records(
    file: Path, skipped: Callable[[str], None]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The records of a JSON list or a JSON Lines file, one at a time.

    Args:
        file: The file.
        skipped: Called with a message about what is passed over: a record that is no object, a
            ``.json`` file that is neither form.

    Yields:
        Each record with its number, from 0.

    Raises:
        DataError: The file cannot be read, or is damaged.
    """
    for number, record in _items(file, skipped):
        if isinstance(record, Mapping):
            yield number, record
        else:
            skipped(f"{file}: record {number} is not an object")


def _items(file: Path, skipped: Callable[[str], None]) -> Iterator[tuple[int, object]]:
    with file.open("rb") as handle:
        start = handle.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        yield from ((number, item) for number, (_, _, item) in enumerate(ListReader(file)))
        return
    with file.open(encoding="utf-8-sig", errors="strict") as lines:
        number = -1
        try:
            for number, line in enumerate(lines):
                if line.strip():
                    yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            if file.suffix.lower() == ".json" and number <= 0:
                skipped(f"{file}: neither a JSON list nor JSON Lines")
                return
            raise DataError(f"{file}: line {number + 1}: not JSON: {error}") from None


_IMAGE_KEYS = ("image", "images", "image_path", "image_url", "path", "url", "base64")
_INLINE = re.compile(r"<img>(.*?)</img>", re.DOTALL)


def images_of(record: Mapping[str, Any]) -> Iterator[str]:
    """The record's images: paths, URLs, data URIs, or bare base64."""
    for key in _IMAGE_KEYS:
        yield from _image_values(record.get(key))
    name = record.get("id")
    if isinstance(name, str) and Path(name).suffix.lower() in IMAGE_SUFFIXES:
        yield name
    for turn in _turns(record):
        content = _content(turn)
        if isinstance(content, str):
            yield from _INLINE.findall(content)
            continue
        for part in content if isinstance(content, list) else ():
            if isinstance(part, Mapping) and "image" in str(part.get("type")):
                for key in _IMAGE_KEYS:
                    yield from _image_values(part.get(key))


def _image_values(value: object) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _image_values(item)
    elif isinstance(value, Mapping):
        for key in ("path", "url", "image", "base64"):
            yield from _image_values(value.get(key))


def _turns(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for key in ("messages", "conversations", "conversation"):
        turns = record.get(key)
        if isinstance(turns, list):
            return [turn for turn in turns if isinstance(turn, Mapping)]
    return []


def _content(turn: Mapping[str, Any]) -> object:
    return turn.get("content", turn.get("value"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def pairs_of(record: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The record's questions, each with the answers that it gives."""
    asked: str | None = None
    for turn in _turns(record):
        role = turn.get("role", turn.get("from"))
        text = _text(_content(turn))
        if role in ("user", "human"):
            if asked is not None:
                yield asked, ()
            asked = text
        elif role in ("assistant", "gpt", "bot") and asked is not None:
            yield asked, (text,)
            asked = None
    if asked is not None:
        yield asked, ()
    for key in ("question", "query", "instruction", "prompt"):
        question = record.get(key)
        if isinstance(question, str) and question.strip():
            yield question, tuple(_answers(record))
            return


def _answers(record: Mapping[str, Any]) -> Iterator[str]:
    for key in ("answers", "answer", "response", "output", "completion"):
        value = record.get(key)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item
