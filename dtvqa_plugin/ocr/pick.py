"""Picking a short answer out of recognised boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from dtvqa_plugin.ocr.layout import reading_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.boxes import TextBox


def pick_answer(boxes: Sequence[TextBox], question: str) -> str:
    """A short answer to `question`; "" where there are no boxes."""
    ordered = reading_order(boxes)
    if not ordered:
        return ""
    return max(ordered, key=lambda box: fuzz.token_set_ratio(box.text, question)).text
