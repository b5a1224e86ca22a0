"""The training formats: what each trainer reads, one renderer each.

Every renderer takes a sample's id, its question/answer pairs (questions already with their
prompt) and the image as it is to be written: a path, or a data URI where the format can hold one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from dtvqa_plugin.benchmark.prompts import ANSWER_ENDING
from dtvqa_plugin.errors import DTVQAError

Pairs: TypeAlias = Sequence[tuple[str, str]]
Row: TypeAlias = dict[str, Any]
Renderer: TypeAlias = Callable[[str, Pairs, str], Row]

IMAGE_TAG = "<image>"


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        name: Its name (``--to``).
        readers: The trainers that read it.
        render: Makes a row from a sample's id, pairs and image.
        lines: Whether it is JSON Lines rather than one JSON list.
        shards: Whether it can be split into several JSON Lines files.
        embeds: Whether it can hold an image as a data URI.
        mark: The text that marks the image's place; a question or answer that contains it cannot
            be exported.
    """

    name: str
    readers: str
    render: Renderer
    lines: bool = False
    shards: bool = True
    embeds: bool = False
    mark: str | None = IMAGE_TAG


def _turns(pairs: Pairs, first: str, roles: tuple[str, str]) -> list[Row]:
    turns: list[Row] = []
    for place, (question, answer) in enumerate(pairs):
        turns.append({"from": roles[0], "value": f"{first if place == 0 else ''}{question}"})
        turns.append({"from": roles[1], "value": answer})
    return turns


def _llava(name: str, pairs: Pairs, image: str) -> Row:
    conversations = _turns(pairs, f"{IMAGE_TAG}\n", ("human", "gpt"))
    return {"id": name, "image": image, "conversations": conversations}


def _swift(name: str, pairs: Pairs, image: str) -> Row:
    messages: list[Row] = []
    for place, (question, answer) in enumerate(pairs):
        tag = IMAGE_TAG if place == 0 else ""
        messages.append({"role": "user", "content": f"{tag}{question}"})
        messages.append({"role": "assistant", "content": answer})
    return {"id": name, "messages": messages, "images": [image]}


def _messages(name: str, pairs: Pairs, image: str) -> Row:
    messages: list[Row] = []
    for place, (question, answer) in enumerate(pairs):
        asked: list[Row] = [{"type": "text", "text": question}]
        if place == 0:
            asked.insert(0, {"type": "image"})
        messages.append({"role": "user", "content": asked})
        messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
    return {"id": name, "messages": messages, "images": [image]}


def _qwen_vl_v1(name: str, pairs: Pairs, image: str) -> Row:
    first = f"Picture 1: <img>{image}</img>\n"
    return {"id": name, "conversations": _turns(pairs, first, ("user", "assistant"))}


def _monkey(_: str, pairs: Pairs, image: str) -> Row:
    cued = [(f" {q.removesuffix(ANSWER_ENDING)}{ANSWER_ENDING} ", answer) for q, answer in pairs]
    conversations = _turns(cued, f"<img>{image}</img>", ("user", "assistant"))
    return {"id": image, "conversations": conversations}


FORMATS: dict[str, Format] = {
    made.name: made
    for made in (
        Format("llava", "LLaMA-Factory (sharegpt), LLaVA", _llava),
        Format("ms-swift", "ms-swift", _swift, lines=True, embeds=True),
        Format("qwen-vl", "qwen-vl-finetune of Qwen2-VL to Qwen3-VL", _llava),
        Format("qwen-vl-v1", "the first Qwen-VL", _qwen_vl_v1, shards=False, mark="<img>"),
        Format("messages", "TRL, Axolotl", _messages, lines=True, embeds=True, mark=None),
        Format("monkey", "Monkey; the released form", _monkey, shards=False, mark="<img>"),
    )
}


def get_format(name: str) -> Format:
    """The format called ``name``. Raises `DTVQAError` listing the names there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise DTVQAError(f"no format {name!r}; there are {', '.join(FORMATS)}") from None


def dataset_info(files: dict[str, str]) -> dict[str, Any]:
    """LLaMA-Factory's ``dataset_info.json`` for parts (``train``, ``held_out``) and their files."""
    return {
        f"dtvqa_{part}": {
            "file_name": file,
            "formatting": "sharegpt",
            "columns": {"messages": "conversations", "images": "image"},
        }
        for part, file in files.items()
    }
