"""One recognised piece of text and where it stands. Pure Python; needs no OCR engine."""

from __future__ import annotations

from dataclasses import dataclass

Quad = tuple[float, float, float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class TextBox:
    """A recognised piece of text.

    `quad` holds the corners x, y (pixels, y downwards) clockwise from the text's top left;
    `score` is the engine's confidence, 0-1.
    """

    text: str
    quad: Quad
    score: float = 1.0

    @classmethod
    def upright(cls, text: str, left: float, top: float, right: float, bottom: float) -> TextBox:
        """A box parallel to the image's edges."""
        return cls(text, (left, top, right, top, right, bottom, left, bottom))

    @property
    def left(self) -> float:
        return min(self.quad[0::2])

    @property
    def right(self) -> float:
        return max(self.quad[0::2])

    @property
    def top(self) -> float:
        return min(self.quad[1::2])

    @property
    def bottom(self) -> float:
        return max(self.quad[1::2])

    @property
    def centre_x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def centre_y(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def width(self) -> float:
        return self.right - self.left
