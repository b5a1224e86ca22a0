"""Reading order and lines, from the boxes' places alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtvqa_plugin.ocr.boxes import TextBox

Line = list["TextBox"]


def group_lines(boxes: Sequence[TextBox]) -> list[Line]:
    """Boxes grouped into lines, top to bottom, each from left to right.

    A box joins the line whose vertical band covers more than half of the lower of the two.
    """
    lines: list[Line] = []
    for box in sorted(boxes, key=lambda b: (b.centre_y, b.left)):
        if lines and _same_line(lines[-1], box):
            lines[-1].append(box)
        else:
            lines.append([box])
    for line in lines:
        line.sort(key=lambda b: (b.left, b.top))
    return lines


def reading_order(boxes: Sequence[TextBox]) -> list[TextBox]:
    """All boxes line by line."""
    return [box for line in group_lines(boxes) for box in line]


def _same_line(line: Line, box: TextBox) -> bool:
    # The latest member only: a running band would let slanted lines swallow the next one.
    last = line[-1]
    overlap = min(last.bottom, box.bottom) - max(last.top, box.top)
    return overlap > 0.5 * min(last.height, box.height)
