"""A drawing surface that remembers every piece of text drawn on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from .fonts import Font

Color = str | tuple[int, int, int] | tuple[int, int, int, int]
Point = tuple[float, float]

_CJK = "\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
_BREAKABLE = re.compile(rf"\s+|[{_CJK}]|[^\s{_CJK}]+")
_NO_LINE_START = "，。、；：！？）》」”"


@dataclass(frozen=True)
class Question:
    """A question on one image with its reference answers, the canonical one first."""

    text: str
    answers: tuple[str, ...]


def ask(text: str, *answers: str) -> Question:
    """Shorthand that keeps the tables of questions readable."""
    return Question(text, answers)


class Sheet:
    """An RGBA image with text and shape helpers; ``texts`` lists what can be read on it."""

    def __init__(self, width: float, height: float, color: Color = (0, 0, 0, 0)) -> None:
        self.image = Image.new("RGBA", (round(width), round(height)), color)
        self.texts: list[str] = []
        self.draw = ImageDraw.Draw(self.image)

    @classmethod
    def of(cls, image: Image.Image) -> Sheet:
        """A sheet that begins as a copy of ``image``."""
        sheet = cls(1, 1)
        sheet.replace(image)
        return sheet

    @property
    def width(self) -> int:
        return self.image.width

    @property
    def height(self) -> int:
        return self.image.height

    def replace(self, image: Image.Image) -> None:
        """Put ``image`` in the place of the sheet's own, keeping its texts."""
        self.image = image.convert("RGBA")
        self.draw = ImageDraw.Draw(self.image)

    def text(
        self,
        xy: Point,
        text: str,
        font: Font,
        fill: Color = "black",
        anchor: str = "la",
        *,
        outline: Color | None = None,
        outline_width: int = 0,
        tracking: float = 0,
    ) -> float:
        """Draw one line and return its width in pixels; ``tracking`` spaces the letters."""
        self.texts.append(text)
        if not tracking:
            self.draw.text(
                xy, text, fill, font, anchor, stroke_width=outline_width, stroke_fill=outline
            )
            return font.getlength(text)
        width = sum(font.getlength(c) + tracking for c in text) - tracking
        x = xy[0] - {"l": 0.0, "m": width / 2, "r": width}[anchor[0]]
        for char in text:
            self.draw.text(
                (x, xy[1]),
                char,
                fill,
                font,
                "l" + anchor[1],
                stroke_width=outline_width,
                stroke_fill=outline,
            )
            x += font.getlength(char) + tracking
        return width

    def fit(
        self,
        xy: Point,
        text: str,
        font: Font,
        width: float,
        fill: Color = "black",
        anchor: str = "la",
        *,
        outline: Color | None = None,
        outline_width: int = 0,
    ) -> None:
        """Draw one line, in a smaller size where it would be wider than ``width``."""
        while font.getlength(text) > width and font.size > 6:
            font = font.font_variant(size=font.size - 1)
        self.text(xy, text, font, fill, anchor, outline=outline, outline_width=outline_width)

    def paragraph(
        self,
        xy: Point,
        text: str,
        font: Font,
        width: float,
        fill: Color = "black",
        *,
        leading: float = 1.3,
        align: str = "l",
    ) -> float:
        """Draw ``text`` broken to ``width``; return the y below its last line."""
        x = xy[0] + {"l": 0.0, "m": width / 2, "r": width}[align]
        y = xy[1]
        for line in wrap(text, font, width):
            self.draw.text((x, y), line, fill, font, align + "a")
            y += font.size * leading
        self.texts.append(text.replace("\n", " "))
        return y

    def paste(self, other: Sheet, xy: Point) -> None:
        """Lay ``other`` on this sheet and take over its texts."""
        self.image.alpha_composite(other.image, (round(xy[0]), round(xy[1])))
        self.texts.extend(other.texts)

    def rect(
        self,
        box: Sequence[float],
        fill: Color | None = None,
        outline: Color | None = None,
        width: int = 1,
        radius: float = 0,
    ) -> None:
        """Draw a rectangle ``(x0, y0, x1, y1)``, with round corners if asked."""
        if radius:
            self.draw.rounded_rectangle(list(box), radius, fill, outline, width)
        else:
            self.draw.rectangle(list(box), fill, outline, width)

    def line(self, points: Sequence[Point], fill: Color = "black", width: float = 1) -> None:
        self.draw.line(list(points), fill, round(width))


def wrap(text: str, font: Font, width: float) -> list[str]:
    """Break ``text`` into lines no wider than ``width``, at spaces or between CJK characters."""
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for piece in _BREAKABLE.findall(part):
            fits = font.getlength((line + piece).rstrip()) <= width
            if line and not fits and piece not in _NO_LINE_START:
                lines.append(line.rstrip())
                line = piece.lstrip()
            else:
                line += piece
        lines.append(line.rstrip())
    return lines
