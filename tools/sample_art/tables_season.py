"""MiniTabShot: a team's season schedule."""

from __future__ import annotations

from .fonts import FontBook
from .grid import Grid, draw_row
from .sheet import Color, Sheet

_SEASON_HEAD = ("Week", "Date", "Opponent", "Result", "Record", "Game site", "Attendance")
_SEASON = (
    (
        "1",
        "September 7, 1986",
        "at Granite Bay Miners",
        "W 24\u201317",
        "1\u20130",
        "Quarry Bowl",
        "41,206",
    ),
    (
        "2",
        "September 14, 1986",
        "Lakemont Herons",
        "L 10\u201313",
        "1\u20131",
        "Calder Dome",
        "52,874",
    ),
    (
        "3",
        "September 21, 1986",
        "Fort Wexley Guard",
        "W 31\u20136",
        "2\u20131",
        "Calder Dome",
        "50,119",
    ),
    (
        "4",
        "September 28, 1986",
        "at Sun Valley Comets",
        "L 20\u201327",
        "2\u20132",
        "Comet Stadium",
        "63,452",
    ),
    (
        "5",
        "October 5, 1986",
        "Tri-Rivers Pilots",
        "W 17\u201314",
        "3\u20132",
        "Calder Dome",
        "51,338",
    ),
    (
        "6",
        "October 12, 1986",
        "at Northgate Owls",
        "W 38\u201335 (OT)",
        "4\u20132",
        "Hallam Field",
        "38,990",
    ),
    ("7", "Bye", "", "", "", "", ""),
    (
        "8",
        "October 26, 1986",
        "Granite Bay Miners",
        "W 13\u20139",
        "5\u20132",
        "Calder Dome",
        "53,407",
    ),
    (
        "9",
        "November 2, 1986",
        "at Lakemont Herons",
        "L 3\u201330",
        "5\u20133",
        "Heron Park",
        "47,615",
    ),
    (
        "10",
        "November 10, 1986",
        "Redwater Storm",
        "T 16\u201316",
        "5\u20133\u20131",
        "Calder Dome",
        "54,021",
    ),
    (
        "11",
        "November 16, 1986",
        "at Tri-Rivers Pilots",
        "W 28\u20137",
        "6\u20133\u20131",
        "Confluence Field",
        "36,248",
    ),
    (
        "12",
        "November 23, 1986",
        "Northgate Owls",
        "W 21\u201320",
        "7\u20133\u20131",
        "Calder Dome",
        "52,260",
    ),
)


def season(fonts: FontBook) -> Sheet:
    grid = Grid((62, 178, 206, 138, 84, 166, 110), "mllmmlr", 34, "#777777", 8)
    sheet = Sheet(grid.width + 40, 582, "#ffffff")
    sheet.text((20, 14), "1986 Port Calder Mariners season", fonts("serif-bold", 27), "#0b2f5b")
    y = sheet.paragraph(
        (20, 52),
        "Head coach: Walt Dunmore. Home field: Calder Dome. The Mariners finished second in the "
        "Coastal Division and missed the play-offs by half a game.",
        fonts("serif", 17),
        grid.width,
    )
    heads = draw_row(
        sheet,
        grid,
        (20, round(y) + 10),
        _SEASON_HEAD,
        fonts("serif-bold", 17),
        "#0b2f5b",
        "white",
        aligns="m" * 7,
    )
    y = heads
    for index, cells in enumerate(_SEASON):
        fill = {"W": "#dfffdf", "L": "#ffe1e1", "T": "#fffbd1"}.get(cells[3][:1], "#eeeeee")
        if cells[1] == "Bye":
            sheet.rect((20, y, 20 + grid.width, y + 34), fill, grid.line)
            sheet.text((20 + 31, y + 17), cells[0], fonts("serif", 17), anchor="mm")
            sheet.line([(82, y), (82, y + 34)], grid.line)
            sheet.text((20 + grid.width / 2, y + 17), "Bye", fonts("serif-italic", 17), anchor="mm")
            y += 34
            continue
        links: dict[int, Color] = {2: "#0000cc", 5: "#0000cc"} if index != 9 else {5: "#0000cc"}
        y = draw_row(sheet, grid, (20, round(y)), cells, fonts("serif", 17), fill, inks=links)
    sheet.text(
        (20, y + 8),
        "The week 10 game was played on a Monday night. All times Eastern.",
        fonts("serif-italic", 16),
        "#333333",
    )
    return sheet
