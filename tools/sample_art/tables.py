"""MiniTabShot: screenshots of dense tables, each in the dress of another kind of page."""

from __future__ import annotations

from collections.abc import Sequence

from .fonts import FontBook
from .grid import Grid, draw_row
from .page import Page
from .sheet import Color, Sheet, ask
from .tables_season import season

SUBSET = "MiniTabShot"
_KIND = "Table Screenshot (sample)"
Row = Sequence[str]


_LEAGUE_HEAD = ("Pos", "Team", "Pld", "W", "D", "L", "GF", "GA", "GD", "Pts", "Qualification")
_LEAGUE = (
    ("1", "Kestrel Park (C)", "22", "15", "3", "4", "44", "23", "+21", "48", "Northern Cup final"),
    ("2", "Alderwick Town", "22", "12", "2", "8", "36", "31", "+5", "38", "Promotion play-off"),
    ("3", "Dunmarsh Athletic", "22", "9", "7", "6", "34", "29", "+5", "34", "Promotion play-off"),
    ("4", "Carrow Vale United", "22", "9", "6", "7", "41", "33", "+8", "33", ""),
    ("5", "Ironstead", "22", "10", "3", "9", "36", "32", "+4", "33", ""),
    ("6", "Eastholm Rovers", "22", "8", "4", "10", "32", "32", "0", "28", ""),
    ("7", "Brackley Moor", "22", "8", "4", "10", "33", "35", "\u22122", "28", ""),
    ("8", "Lower Sable", "22", "8", "4", "10", "25", "28", "\u22123", "28", ""),
    ("9", "Marrowgate Albion", "22", "7", "7", "8", "29", "34", "\u22125", "28", ""),
    ("10", "Garth Hill Wanderers", "22", "7", "5", "10", "18", "28", "\u221210", "26", ""),
    ("11", "Holloway Quay", "22", "7", "2", "13", "24", "42", "\u221218", "23", "Relegation"),
    ("12", "Fennbridge City", "22", "5", "7", "10", "34", "39", "\u22125", "22", "Relegation"),
)


def _league(fonts: FontBook) -> Sheet:
    grid = Grid((46, 208, 46, 44, 44, 44, 48, 48, 56, 52, 178), "mlmmmmmmmmm", 31)
    sheet = Sheet(grid.width + 36, 564, "white")
    sheet.text((18, 14), "2030\u201331 Sable Valley League, First Division", fonts("serif", 28))
    sheet.line([(18, 52), (18 + grid.width, 52)], "#a2a9b1")
    sheet.text(
        (18, 60),
        "League table. Played from 9 August 2030 to 17 May 2031; twelve clubs, 22 rounds.",
        fonts("sans", 15),
        "#202122",
    )
    y = draw_row(
        sheet, grid, (18, 92), _LEAGUE_HEAD, fonts("sans-bold", 15), "#eaecf0", aligns="m" * 11
    )
    tints = {1: "#b9f0b9", 2: "#d3f4d3", 3: "#d3f4d3", 11: "#f6c9c9", 12: "#f6c9c9"}
    for place, cells in enumerate(_LEAGUE, start=1):
        links: dict[int, Color] = {1: "#3366cc", 10: "#3366cc"}
        fill = tints.get(place, "#f8f9fa")
        y = draw_row(sheet, grid, (18, y), cells, fonts("sans", 15), fill, inks=links)
    notes = (
        "Source: Sable Valley Football Combination. (C) Champions.",
        "Rules for classification: 1) points; 2) goal difference; 3) goals scored.",
    )
    for line in notes:
        sheet.text((18, y + 12), line, fonts("sans", 13), "#54595d")
        y += 20
    return sheet


# --- 2: election results in a newspaper's data page ---------------------------------------------

_WARD_HEAD = ("Ward", "Electorate", "Turnout", "Orchard", "Harbour", "Civic", "Ind.", "Majority")
_PARTY: tuple[str, ...] = ("#c8553d", "#2f6690", "#e3a72f", "#8a8d91")
_WARDS = (
    ("Ashcombe North", "11,885", "39.9%", "1,840", "909", "1,525", "463", "315"),
    ("Ashcombe South", "7,161", "39.7%", "657", "774", "1,007", "405", "233"),
    ("Birkdale Common", "8,487", "42.8%", "1,452", "865", "880", "438", "572"),
    ("Castle Ward", "10,428", "37.7%", "1,133", "1,137", "1,134", "528", "3"),
    ("Docklands", "9,375", "52.5%", "1,905", "1,301", "1,337", "378", "568"),
    ("Ferry Road", "11,042", "46.2%", "906", "1,779", "1,961", "455", "182"),
    ("Grange Park", "6,382", "37.0%", "588", "709", "875", "188", "166"),
    ("Hexley & Thorne", "9,663", "32.7%", "1,066", "1,330", "560", "207", "264"),
    ("Kingsmead", "7,063", "55.3%", "738", "1,527", "822", "817", "705"),
    ("Milltown", "11,516", "42.4%", "1,492", "1,201", "1,749", "440", "257"),
    ("Old Quarry", "9,960", "41.6%", "861", "1,571", "1,238", "478", "333"),
    ("Riverside", "10,601", "52.7%", "1,078", "2,252", "1,022", "1,238", "1,014"),
)


def _election(fonts: FontBook) -> Sheet:
    widths = (196, 116, 100, 104, 104, 104, 96, 110)
    left, right = 30, 30 + sum(widths)
    sheet = Sheet(right + 30, 690, "#fffdf8")
    sheet.rect((0, 0, sheet.width, 8), "#7d1128")
    sheet.text((left, 26), "THE VALE COURIER", fonts("condensed-bold", 17), "#7d1128", tracking=2)
    sheet.text((right, 26), "Friday 5 May 2034", fonts("condensed", 17), "#666666", "ra")
    sheet.text((left, 54), "Port Ashcombe council: how every ward voted", fonts("slab-bold", 30))
    sheet.text(
        (left, 98),
        "Votes by party list. Coloured cells mark the winner of the seat; majority is over the "
        "runner-up.",
        fonts("open", 15),
        "#444444",
    )
    y, height = 136, 38
    x = left
    for column, (head, width) in enumerate(zip(_WARD_HEAD, widths, strict=True)):
        if 3 <= column <= 6:
            sheet.rect((x + 8, y + 2, x + width - 1, y + 7), _PARTY[column - 3])
        at, align = (x, "l") if column == 0 else (x + width - 10, "r")
        sheet.text((at, y + 26), head, fonts("condensed-bold", 18), "#222222", align + "m")
        x += width
    y += 44
    sheet.line([(left, y), (right, y)], "#222222", 2)
    for index, cells in enumerate(_WARDS):
        if index % 2:
            sheet.rect((left, y + 1, right, y + height - 1), "#f4efe4")
        votes = [int(cell.replace(",", "")) for cell in cells[3:7]]
        winner = 3 + votes.index(max(votes))
        x = left
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            won = column == winner
            if won:
                box = (x + 8, y + 5, x + width - 1, y + height - 5)
                sheet.rect(box, _PARTY[column - 3], radius=4)
            font = fonts("roboto-bold" if won or column == 0 else "roboto", 17)
            at, align = (x + 4, "l") if column == 0 else (x + width - 10, "r")
            sheet.text((at, y + height / 2), cell, font, "white" if won else "#222222", align + "m")
            x += width
        y += height
        sheet.line([(left, y), (right, y)], "#d8d2c4")
    sheet.text(
        (left, y + 14),
        "Source: returning officer, Port Ashcombe. Turnout counts valid papers only. Ind. = "
        "independents.",
        fonts("open", 13),
        "#777777",
    )
    return sheet


# --- 3: a spreadsheet ---------------------------------------------------------------------------

_STOCK_HEAD = ("Batch", "Variety", "Picked", "Row", "Crates", "Kg", "Brix", "Grade", "Buyer")
_STOCK = (
    ("HV-0412", "Amber Queen", "03-Sep", "B7", "118", "2,124", "12.4", "A", "Pell & Sons"),
    ("HV-0413", "Winter Lantern", "03-Sep", "C2", "86", "1,591", "13.1", "A", "Moorside Dairy"),
    ("HV-0414", "Amber Queen", "04-Sep", "B8", "124", "2,207", "12.2", "A", "Pell & Sons"),
    ("HV-0415", "Foxglove Red", "05-Sep", "D1", "73", "1,277", "11.6", "B", "Cider House 9"),
    ("HV-0416", "Russet Knave", "06-Sep", "A4", "91", "1,647", "14.8", "A", "Tamsin's Larder"),
    ("HV-0417", "Winter Lantern", "07-Sep", "C3", "102", "1,866", "13.4", "A", "Moorside Dairy"),
    ("HV-0418", "Foxglove Red", "09-Sep", "D2", "67", "1,139", "11.2", "C", "Juice Works"),
    ("HV-0419", "Stour Pippin", "09-Sep", "E5", "140", "2,506", "12.9", "B", "Cider House 9"),
    ("HV-0420", "Russet Knave", "10-Sep", "A5", "88", "1,602", "15.0", "A", "Tamsin's Larder"),
    ("HV-0421", "Stour Pippin", "11-Sep", "E6", "133", "2,394", "12.7", "A", "Hotel Corvina"),
    ("HV-0422", "Amber Queen", "12-Sep", "B9", "97", "1,698", "12.0", "B", "Juice Works"),
    ("HV-0423", "Quillfeather", "13-Sep", "F1", "54", "961", "16.3", "A", "Hotel Corvina"),
    ("HV-0424", "Foxglove Red", "14-Sep", "D3", "79", "1,351", "11.9", "B", "Cider House 9"),
    ("HV-0425", "Quillfeather", "16-Sep", "F2", "49", "887", "16.1", "A", "Pell & Sons"),
)


def _spreadsheet(fonts: FontBook) -> Sheet:
    widths = (92, 140, 82, 58, 74, 78, 66, 68, 150)
    gutter, top, height = 44, 128, 28
    sheet = Sheet(gutter + sum(widths) + 26, top + height * 17 + 38, "#f3f3f3")
    ui, cell_font = fonts("lato", 15), fonts("lato", 15)
    sheet.rect((0, 0, sheet.width, 40), "#1f7246")
    sheet.text((14, 20), "harvest_log_2032.ods", fonts("lato-bold", 16), "white", "lm")
    sheet.text((sheet.width - 14, 20), "Saved 18:42", ui, "#d5ead9", "rm")
    x = 14.0
    for menu in ("File", "Edit", "View", "Insert", "Format", "Data", "Tools", "Help"):
        x += sheet.text((x, 58), menu, ui, "#333333", "lm") + 22
    sheet.rect((8, 78, 84, 104), "white", "#c4c4c4")
    sheet.text((46, 91), "F17", ui, "#222222", "mm")
    sheet.rect((92, 78, sheet.width - 8, 104), "white", "#c4c4c4")
    sheet.text((102, 91), "=SUM(F2:F15)", fonts("hack", 14), "#222222", "lm")
    grid = Grid(widths, "llmmrrrml", height, "#d0d0d0")
    header = Grid(widths, "m" * 9, height - 4, "#c0c0c0")
    sheet.rect((0, top - 18, gutter, top + 6), "#e4e4e4", "#c0c0c0")
    y = draw_row(sheet, header, (gutter, top - 18), tuple("ABCDEFGHI"), ui, "#e4e4e4", "#555555")
    blank = ("",) * 9
    total = ("", "", "", "Total", "1,301", "23,250", "", "", "")
    rows: list[tuple[Row, str]] = [(_STOCK_HEAD, "lato-bold")]
    rows += [(cells, "lato") for cells in _STOCK]
    rows += [(blank, "lato"), (blank, "lato")]
    for number, (cells, face) in enumerate(rows, start=1):
        sheet.rect((0, y, gutter, y + height), "#e4e4e4", "#c0c0c0")
        sheet.text((gutter / 2, y + height / 2), str(number), ui, "#555555", "mm")
        if number == 17:
            cells, face = total, "lato-bold"
        fill = "#dcebe1" if number == 1 else "white"
        inks: dict[int, Color] = {7: "#b3261e"} if cells[7] == "C" else {}
        font = fonts(face, 15) if face != "lato" else cell_font
        y = draw_row(sheet, grid, (gutter, y), cells, font, fill, "#222222", inks)
    selected = gutter + sum(widths[:5])
    sheet.rect((selected, y - height, selected + widths[5], y), outline="#1f7246", width=2)
    x = 14.0
    for tab in ("Summary", "September", "October", "Prices"):
        face = "lato-bold" if tab == "September" else "lato"
        x += sheet.text((x, y + 19), tab, fonts(face, 15), "#1f7246", "lm") + 30
    return sheet


# --- 4: a race classification on a dark timing page ---------------------------------------------

_RACE_HEAD = ("POS", "NO", "DRIVER", "TEAM", "LAPS", "TIME / RETIRED", "BEST LAP", "GRID", "PTS")
_RACE = (
    ("1", "27", "I. Maravel", "Corsair Orbit", "58", "1:31:04.218", "1:32.907", "3", "25"),
    ("2", "8", "T. Oyelund", "Halden GP", "58", "+4.761", "1:32.640", "1", "18"),
    ("3", "14", "S. Brightwater", "Corsair Orbit", "58", "+11.093", "1:33.118", "5", "15"),
    ("4", "61", "K. Desrosne", "Vantor Lynx", "58", "+23.550", "1:33.482", "2", "12"),
    ("5", "33", "A. Petrakova", "Halden GP", "58", "+31.807", "1:33.390", "9", "10"),
    ("6", "5", "R. Quillon", "Studio Ferro", "58", "+48.266", "1:33.951", "4", "8"),
    ("7", "90", "J. Tamsett", "Nordwind", "58", "+1:02.774", "1:34.207", "12", "6"),
    ("8", "42", "D. Achterberg", "Vantor Lynx", "57", "+1 lap", "1:34.118", "7", "4"),
    ("9", "19", "M. Sorrenti", "Studio Ferro", "57", "+1 lap", "1:34.655", "10", "2"),
    ("10", "77", "L. Wexcombe", "Quay Racing", "57", "+1 lap", "1:34.890", "14", "1"),
    ("11", "3", "P. Nakagiri", "Nordwind", "57", "+1 lap", "1:35.021", "11", "0"),
    ("12", "50", "E. Valcourt", "Ardent 1911", "56", "+2 laps", "1:35.477", "16", "0"),
    ("DNF", "22", "O. Hasselgren", "Quay Racing", "41", "Gearbox", "1:35.102", "13", "0"),
    ("DNF", "11", "F. Montclar", "Team Brisk", "29", "Hydraulics", "1:34.733", "8", "0"),
    ("DNF", "66", "B. Ilvaskis", "Team Brisk", "12", "Collision", "1:36.244", "6", "0"),
    ("DNF", "9", "G. Thornbury", "Ardent 1911", "0", "Collision", "\u2014", "15", "0"),
)


def _race(fonts: FontBook) -> Sheet:
    widths = (64, 54, 176, 156, 70, 164, 116, 72, 64)
    aligns = "mmllmrrmm"
    left, height = 22, 35
    sheet = Sheet(sum(widths) + 2 * left, 742, "#14161c")
    sheet.rect((0, 0, sheet.width, 84), "#0c0d11")
    sheet.rect((left, 20, left + 6, 66), "#ff4d2e")
    sheet.text(
        (left + 20, 16), "GRAND PRIX OF COSTA VERANO", fonts("bebas", 34), "white", tracking=1
    )
    sheet.text(
        (left + 20, 54),
        "Round 7 \u00b7 Circuito Lago Pardo \u00b7 58 laps \u00b7 5.317 km \u00b7 "
        "Final classification",
        fonts("open", 16),
        "#9aa3b2",
    )
    y = 96
    x = left
    for head, width, align in zip(_RACE_HEAD, widths, aligns, strict=True):
        at = {"l": x + 8, "m": x + width / 2, "r": x + width - 10}[align]
        sheet.text((at, y + 15), head, fonts("condensed-bold", 15), "#7f8896", align + "m")
        x += width
    y += 32
    medals = {"1": "#e8b923", "2": "#b8bec8", "3": "#c07a43"}
    for index, cells in enumerate(_RACE):
        sheet.rect(
            (left, y, sheet.width - left, y + height - 3), "#1c1f27" if index % 2 else "#20242d"
        )
        x = left
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            ink: str = "#e9edf3" if cells[0] != "DNF" else "#8d95a3"
            if column == 0 and cell in medals:
                sheet.rect((x + 14, y + 4, x + width - 14, y + height - 7), medals[cell], radius=5)
                ink = "#14161c"
            if cell == "1:32.640":
                ink = "#c77dff"
            face = "open-semibold" if column in (0, 2, 8) else "open"
            at = {"l": x + 8, "m": x + width / 2, "r": x + width - 10}[aligns[column]]
            sheet.text((at, y + height / 2 - 1), cell, fonts(face, 16), ink, aligns[column] + "m")
            x += width
        y += height
    sheet.text(
        (left, y + 10),
        "Fastest lap: T. Oyelund, lap 51. Track 41 \u00b0C, dry. Provisional until 17:30.",
        fonts("open", 14),
        "#9aa3b2",
    )
    return sheet


# --- 5: a season schedule with the borders of an old web page -----------------------------------

PAGES = (
    Page(
        SUBSET,
        "league-table.png",
        _KIND,
        _league,
        (
            ask("How many points did Carrow Vale United have?", "33", "33 points"),
            ask("Which team scored the most goals?", "Kestrel Park", "Kestrel Park (C)"),
            ask("Which team conceded the most goals?", "Holloway Quay"),
            ask("What is the goal difference of Garth Hill Wanderers?", "-10", "\u221210"),
        ),
    ),
    Page(
        SUBSET,
        "ward-results.png",
        _KIND,
        _election,
        (
            ask("Which ward had the smallest majority?", "Castle Ward"),
            ask("What was the turnout in Kingsmead?", "55.3%", "55.3 %", "55.3"),
            ask("How many votes did Harbour get in Riverside?", "2,252", "2252", "2,252 votes"),
        ),
    ),
    Page(
        SUBSET,
        "harvest-log.png",
        _KIND,
        _spreadsheet,
        (
            ask("Which variety has the highest Brix value?", "Quillfeather"),
            ask("Who bought batch HV-0416?", "Tamsin's Larder"),
            ask("What is the formula in the formula bar?", "=SUM(F2:F15)", "SUM(F2:F15)"),
        ),
    ),
    Page(
        SUBSET,
        "race-classification.png",
        _KIND,
        _race,
        (
            ask("Which driver started from grid position 9?", "A. Petrakova", "Petrakova"),
            ask("Why did F. Montclar retire?", "Hydraulics"),
            ask("What was K. Desrosne's best lap time?", "1:33.482"),
        ),
    ),
    Page(
        SUBSET,
        "season-schedule.png",
        _KIND,
        season,
        (
            ask(
                "Against which opponent was the attendance highest?",
                "Sun Valley Comets",
                "at Sun Valley Comets",
            ),
            ask(
                "What was the result of the game against Redwater Storm?",
                "T 16-16",
                "T 16\u201316",
                "16-16",
            ),
            ask("Where was the game on October 12, 1986 played?", "Hallam Field"),
        ),
    ),
)
