"""Reading order, lines and the grid of a table, from the boxes' places alone."""

from __future__ import annotations

import math
import random

import pytest
from ocr_sheets import HEIGHT, line, sheet, table, width

from dtvqa_plugin.ocr import TextBox
from dtvqa_plugin.ocr.layout import deskew, find_grid, group_lines, reading_order

ROWS = (
    ("rank", "nation", "gold", "silver"),
    ("1", "norway", "4", "2"),
    ("2", "south korea", "3", "5"),
    ("3", "france", "1", "0"),
)


def turned(boxes: list[TextBox], degrees: float) -> list[TextBox]:
    """The boxes when the page is turned."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [
        TextBox(
            box.text,
            tuple(
                value
                for x, y in zip(box.quad[0::2], box.quad[1::2], strict=True)
                for value in (x * cos - y * sin, x * sin + y * cos)
            ),
        )
        for box in boxes
    ]


def shuffled(boxes: list[TextBox]) -> list[TextBox]:
    return random.Random(5).sample(boxes, len(boxes))


def texts(boxes: list[TextBox]) -> list[str]:
    return [box.text for box in boxes]


@pytest.mark.parametrize("degrees", [0, 2, -8, 20])
def test_reading_order_is_line_by_line_on_a_slanted_page_too(degrees: float) -> None:
    boxes = turned(table(*ROWS), degrees)
    assert texts(reading_order(shuffled(boxes))) == [cell for row in ROWS for cell in row]


def test_a_taller_word_stays_on_its_line() -> None:
    tall = TextBox.upright("BIG", 0, 0, 60, 2 * HEIGHT)
    boxes = [*line(8, (80, "small"), (200, "print")), tall, *line(60, (0, "below"))]
    assert [texts(each) for each in group_lines(boxes)] == [["BIG", "small", "print"], ["below"]]


def test_upright_text_is_left_as_it_is() -> None:
    boxes = table(*ROWS)
    assert deskew(boxes) == boxes


@pytest.mark.parametrize("degrees", [0, 3])
def test_a_table_becomes_its_grid(degrees: float) -> None:
    grid = find_grid(shuffled(turned(table(*ROWS), degrees)))
    assert grid is not None
    assert (grid.head, *grid.rows) == ROWS


def test_an_empty_cell_stays_empty() -> None:
    rows = (*ROWS[:2], ("2", "", "3", "5"), ROWS[3])
    grid = find_grid(table(*rows))
    assert grid is not None
    assert grid.rows == rows[1:]


def test_a_title_above_the_table_is_not_its_head() -> None:
    boxes = [*line(-40, (0, "medal table of the games")), *table(*ROWS)]
    grid = find_grid(boxes)
    assert grid is not None
    assert grid.head == ROWS[0]


def test_prose_around_a_table_is_not_part_of_it() -> None:
    prose = [(0, "best kept cool and dry, away from light and children, all year")]
    below = [(b.left, b.top + 150, b.right, b.bottom + 150, b.text) for b in table(*ROWS)]
    boxes = [
        *sheet(prose, prose, prose),
        *(TextBox.upright(text, *place) for *place, text in below),
        *line(320, (0, "all figures without guarantee")),
    ]
    grid = find_grid(boxes)
    assert grid is not None
    assert (grid.head, *grid.rows) == ROWS


def test_boxes_that_touch_because_the_detector_widens_them_stay_apart() -> None:
    boxes = [
        TextBox.upright(box.text, box.left - 14, box.top - 4, box.right + 15, box.bottom + 4)
        for box in table(*ROWS)
    ]
    grid = find_grid(boxes)
    assert grid is not None
    assert (grid.head, *grid.rows) == ROWS


def wrapped_table(tops: tuple[float, float]) -> list[TextBox]:
    """Rows 60 apart; the last cell of each takes two lines, `tops` below the row's top."""
    boxes = line(0, (0, "no"), (100, "title"), (260, "written by"))
    for row, (number, title) in enumerate((("1", "dawn"), ("2", "noon"), ("3", "dusk")), start=1):
        boxes += line(60 * row, (0, number), (100, title))
        boxes += line(60 * row + tops[0], (260, "ann lee and"))
        boxes += line(60 * row + tops[1], (260, "bo ray"))
    return boxes


@pytest.mark.parametrize("tops", [(0, 22), (-11, 11)], ids=["top-aligned", "centred"])
def test_a_wrapped_cell_is_one_cell(tops: tuple[float, float]) -> None:
    grid = find_grid(wrapped_table(tops))
    assert grid is not None
    assert [row[2] for row in grid.rows] == ["ann lee and bo ray"] * 3


def test_close_full_lines_are_separate_rows() -> None:
    rows = table(*ROWS)
    apart = [
        TextBox.upright(b.text, b.left, b.top + 40, b.right, b.bottom + 40) if b.top > 60 else b
        for b in rows
    ]
    grid = find_grid(apart)
    assert grid is not None
    assert len(grid.rows) == 3


@pytest.mark.parametrize(
    "boxes",
    [
        [],
        line(0, (0, "alone")),
        table(*ROWS)[:4],
        sheet([(0, "a line of prose")], [(40, "that runs")], [(10, "ragged")], [(300, "over")]),
        sheet([(0, "Fat"), (300, "1g")], [(0, "Salt"), (300, "2g")]),
        sheet(
            [(0, "bakery"), (250, "open"), (480, "bus 14")],
            [(50, "fresh"), (210, "till"), (440, "north")],
            [(20, "rolls"), (290, "ten"), (520, "only")],
            [(70, "daily"), (230, "pm"), (460, "stop")],
        ),
        sheet([(0, "item"), (200, "size"), (400, "price")], *[[(0, "apples")]] * 8),
    ],
    ids=["nothing", "one box", "one line", "prose", "label and value", "ragged", "a list"],
)
def test_what_is_not_a_table_has_no_grid(boxes: list[TextBox]) -> None:
    assert find_grid(boxes) is None


def test_chinese_characters_count_double_in_the_sheets() -> None:
    assert width("ab") == width("字")
