"""Picking a short answer: out of the table where the boxes form one, else out of the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtvqa_plugin.ocr.fields import pick_field
from dtvqa_plugin.ocr.layout import find_grid
from dtvqa_plugin.ocr.question import parse
from dtvqa_plugin.ocr.table import pick_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.boxes import TextBox


def pick_answer(boxes: Sequence[TextBox], question: str) -> str:
    """A short answer to `question`, prompted or bare; "" where there are no boxes."""
    parsed = parse(question)
    grid = find_grid(boxes)
    answer = pick_cell(grid, parsed) if grid is not None else ""
    return answer or pick_field(boxes, parsed)
