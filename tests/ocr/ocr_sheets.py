"""Handmade recognised boxes and small drawn pages for the OCR tests."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from dtvqa_plugin.ocr import TextBox

LETTER = 10.0
HEIGHT = 20.0
GAP = 30.0


def width(text: str) -> float:
    """The width of `text` in a sheet's units; a Chinese character is as wide as two letters."""
    return sum(2 * LETTER if char > "\u2fff" else LETTER for char in text)


def line(top: float, *placed: tuple[float, str]) -> list[TextBox]:
    """One line of boxes, each given by its left edge and text."""
    return [TextBox.upright(t, x, top, x + width(t), top + HEIGHT) for x, t in placed]


def sheet(*lines: Sequence[tuple[float, str]]) -> list[TextBox]:
    """Lines below one another with half a line between."""
    return [box for i, placed in enumerate(lines) for box in line(i * 1.5 * HEIGHT, *placed)]


def table(*rows: Sequence[str]) -> list[TextBox]:
    """A table with left-aligned columns, one line a row."""
    columns = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    lefts = [sum(columns[:i]) + GAP * i for i in range(len(columns))]
    return sheet(*([(x, t) for x, t in zip(lefts, row, strict=True) if t] for row in rows))


def draw(*lines: str, columns: Sequence[int] = (20,), size: int = 24) -> Image.Image:
    """Black text on white, one line a string; "|" moves on to the next of `columns` (pixels)."""
    page = Image.new("RGB", (max(columns) + 260, 20 + 44 * len(lines)), "white")
    pen = ImageDraw.Draw(page)
    font = ImageFont.load_default(size)
    for i, text in enumerate(lines):
        for x, cell in zip(columns, text.split("|"), strict=False):
            pen.text((x, 14 + 44 * i), cell, fill="black", font=font)
    return page
