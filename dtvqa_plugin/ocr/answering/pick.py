"""Picking a short answer: out of the table where the boxes form one, else out of the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtvqa_plugin.ocr.answering.fields import value_by_label, value_without_label
from dtvqa_plugin.ocr.answering.question import parse
from dtvqa_plugin.ocr.answering.table import pick_cell
from dtvqa_plugin.ocr.layout import deskew, find_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.boxes import TextBox


def pick_answer(boxes: Sequence[TextBox], question: str) -> str:
    """A short answer to `question`, prompted or bare; "" where there is no text.

    In this order: the cell of a table whose row or column the question names, the value of a
    label, any cell of the table, and what stands out without a label.
    """
    parsed = parse(question)
    level = deskew([box for box in boxes if box.text.strip()])
    grid = find_grid(level)
    cell, named = pick_cell(grid, parsed) if grid else ("", False)
    if named:
        return cell
    return value_by_label(level, parsed) or cell or value_without_label(level, parsed)
