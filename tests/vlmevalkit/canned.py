"""A local model class of VLMEvalKit with fixed answers; the host around it is real."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vlmeval.vlm.base import BaseModel


class CannedModel(BaseModel):  # type: ignore[misc]  # the host ships no types
    """Answers by question text; ``asked`` holds every message, in order."""

    INTERLEAVE = True

    def __init__(self, answers: Mapping[str, str]) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[list[dict[str, Any]]] = []

    def generate_inner(self, message: list[dict[str, Any]], dataset: str | None = None) -> str:
        self.asked.append(message)
        return self.answers[message[-1]["value"]]
