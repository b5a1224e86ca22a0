"""Picking a short answer out of recognised boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from dtvqa_plugin.ocr.layout import find_grid, reading_order
from dtvqa_plugin.ocr.question import parse
from dtvqa_plugin.ocr.table import pick_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.boxes import TextBox


def pick_answer(boxes: Sequence[TextBox], question: str) -> str:
    """A short answer to `question`; "" where there are no boxes."""
    parsed = parse(question)
    grid = find_grid(boxes)
    if grid is not None:
        answer = pick_cell(grid, parsed)
        if answer:
            return answer
    ordered = reading_order(boxes)
    if not ordered:
        return ""
    return max(ordered, key=lambda box: fuzz.token_set_ratio(box.text, parsed.text)).text
