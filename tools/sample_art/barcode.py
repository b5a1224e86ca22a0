"""A bar code as packs print it."""

from __future__ import annotations

import numpy as np

from .fonts import FontBook
from .sheet import Sheet


def barcode(
    sheet: Sheet, box: tuple[float, float, float, float], digits: str, fonts: FontBook
) -> None:
    """Draw a made-up bar code with its digits below."""
    left, top, right, bottom = box
    sheet.rect(box, "white")
    rng = np.random.default_rng(int(digits.replace(" ", "")))
    size = (right - left) / 15
    x, end = left + size, right - size
    bars_bottom = bottom - size * 1.5
    while x < end:
        width = size / 8 * int(rng.integers(1, 4))
        sheet.rect((x, top + size * 0.7, min(x + width, end), bars_bottom), "black")
        x += width + size / 8 * int(rng.integers(1, 4))
    font = fonts("hack", size * 1.3)
    sheet.text(((left + right) / 2, bottom - size * 0.15), digits, font, anchor="mb")


# --- 1: a carton with the panel used in the United States ---------------------------------------
