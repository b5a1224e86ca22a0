"""The lines and cells of a table screenshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .fonts import Font
from .sheet import Color, Sheet


@dataclass(frozen=True)
class Grid:
    """How a table is ruled: column widths and alignments ("l", "m" or "r"), and row height."""

    widths: Sequence[int]
    aligns: str
    row_height: int
    line: Color = "#a2a9b1"
    padding: int = 7

    @property
    def width(self) -> int:
        return sum(self.widths)


def draw_row(
    sheet: Sheet,
    grid: Grid,
    xy: tuple[int, int],
    cells: Sequence[str],
    font: Font,
    fill: Color | None,
    ink: Color = "#202122",
    inks: dict[int, Color] | None = None,
    aligns: str | None = None,
) -> int:
    """Draw one row of cells and return the y below it."""
    x, y = xy
    for column, (cell, width) in enumerate(zip(cells, grid.widths, strict=True)):
        sheet.rect((x, y, x + width, y + grid.row_height), fill, grid.line)
        align = (aligns or grid.aligns)[column]
        at = {"l": x + grid.padding, "m": x + width / 2, "r": x + width - grid.padding}[align]
        if cell:
            color = (inks or {}).get(column, ink)
            sheet.text((at, y + grid.row_height / 2), cell, font, color, align + "m")
        x += width
    return y + grid.row_height


# --- 1: a league table on an encyclopaedia page -------------------------------------------------
