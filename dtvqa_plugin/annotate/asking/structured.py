"""Asking for structure: a JSON schema through ``response_format``, else a tool call, else text.

Seen on: openai 1.50 to 3.57 against the loopback endpoint of the tests. Which way an endpoint
takes is found out with its first questions (every answer counts) and kept in ``endpoints.jsonl``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dtvqa_plugin.annotate.project.config import Round
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.utils.text import now

Mode = Literal["schema", "tool", "text"]
ORDER: tuple[Mode, ...] = ("schema", "tool", "text")
NAME = "question_answer_pairs"


class AskedPair(BaseModel):
    """One question about the image, and its answer."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="One question about text in the image.")
    answer: str = Field(description="Its answer: a word or phrase from the image.")


class AskedPairs(BaseModel):
    """All pairs of one answer."""

    model_config = ConfigDict(extra="forbid")

    pairs: list[AskedPair]


def request_fields(mode: Mode) -> dict[str, Any]:
    """What a request of this mode holds beside its messages."""
    schema = AskedPairs.model_json_schema()
    if mode == "schema":
        wanted = {"name": NAME, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if mode == "tool":
        description = "Hand over the questions and answers about the image."
        function = {"name": NAME, "description": description, "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": NAME}},
        }
    return {}


def read_pairs(text: str) -> list[AskedPair] | None:
    """The pairs of a structured answer; None where the text does not keep to the schema."""
    try:
        return AskedPairs.model_validate_json(text).pairs
    except (ValidationError, RecursionError):
        return None


@dataclass
class ModeFinder:
    """Which mode an endpoint takes. ``settled``: it is known; until then one question at a time.

    ``settle`` is called once with the mode found.
    """

    mode: Mode = "schema"
    settled: bool = False
    settle: Callable[[Mode], None] = lambda mode: None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refused(self, mode: Mode) -> Mode | None:
        """The next mode to try after a request in this one was refused; None if there is none."""
        if self.settled or mode == "text":
            return None
        return ORDER[ORDER.index(mode) + 1]

    def answered(self, mode: Mode, text: str, finish: str | None) -> None:
        """Learn from an answer: structure settles the mode, free text moves on to the next."""
        if self.settled or not text.strip() or finish in ("length", "content_filter"):
            return
        if mode == "text" or read_pairs(text) is not None:
            self.mode, self.settled = mode, True
            self.settle(mode)
        else:
            self.mode = ORDER[ORDER.index(mode) + 1]


def find_mode(project: Project, turn: Round) -> ModeFinder:
    """The mode for a round's endpoint: as configured, as found before, or still to be found."""
    if turn.structured != "auto":
        mode: Mode = "text" if turn.structured == "off" else turn.structured
        return ModeFinder(mode, settled=True)
    endpoint = {"base_url": turn.base_url, "model": turn.model}
    for _, entry in project.endpoints.read():
        if endpoint.items() <= entry.items() and entry["mode"] in ORDER:
            return ModeFinder(entry["mode"], settled=True)

    def keep(mode: Mode) -> None:
        project.endpoints.append({**endpoint, "mode": mode, "at": now()})

    return ModeFinder(settle=keep)
