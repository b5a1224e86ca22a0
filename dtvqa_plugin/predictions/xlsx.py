"""Rows of an xlsx prediction file, read from its XML, as the model wrote them."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote
from xml.etree import ElementTree

from dtvqa_plugin.predictions.rows import (
    ONCE,
    PredictionFileError,
    PredictionRow,
    check_once,
    no_column,
    text_row,
)

XLSX_CELL_LIMIT = 32_767
"""Most characters (UTF-16 units) that an xlsx cell holds; writers cut longer text there."""

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ESCAPE = re.compile(r"_x005[Ff](_x[0-9A-Fa-f]{4}_)|_x([0-9A-Fa-f]{4})_")
_SHEET = "xl/worksheets/sheet1.xml"
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
    *(RuntimeError, NotImplementedError),  # encrypted, or packed in a way zipfile does not know
    *(ElementTree.ParseError, KeyError, IndexError, ValueError),  # parts that do not fit together
)
_FUTURE = re.compile(r"_xlfn\.(?:_xlws\.)?")


@dataclass(slots=True)
class _Cell:
    text: str
    loss: str | None = None


def xlsx_rows(path: Path, column: str, once: Collection[str] = ONCE) -> Iterator[PredictionRow]:
    """Rows of the first sheet, read from its XML.

    Spreadsheet libraries take ``_x005F_`` out of literal text and give formulas as values; here
    text comes back as it was written. What the format itself loses without a trace: one of the
    closing braces of a text like ``=a}``, the text ``_x005F`` before a control character, and
    link-like text of over 2,080 characters, whose cell is empty.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            links = _hyperlinks(archive)
            strings = _shared_strings(archive)
            _check_sheets(path, archive, strings, column)
            with archive.open(_SHEET) as sheet:
                yield from _sheet_rows(path, sheet, strings, links, column, once)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise PredictionFileError(f"{path}: cannot be opened ({error.strerror}).") from error
    except _DAMAGE as error:
        raise PredictionFileError(
            f"{path}: not a readable xlsx file ({error}). "
            "Rerun the inference with PRED_FORMAT=tsv, which holds any text."
        ) from error


def _check_sheets(path: Path, archive: zipfile.ZipFile, strings: list[str], column: str) -> None:
    """Raise where another sheet has the column as well: nothing says which sheet is meant."""
    for name in archive.namelist():
        if name == _SHEET or not re.fullmatch(r"xl/worksheets/[^/]+\.xml", name):
            continue
        with archive.open(name) as sheet:
            rows = (
                element
                for _, element in ElementTree.iterparse(sheet, events=("end",))
                if element.tag == f"{_MAIN}row"
            )
            header = next(rows, None)
            cells = () if header is None else _row_cells(header, strings, {})
            if any(cell.text == column for _, cell in cells):
                raise PredictionFileError(
                    f"{path}: two sheets have a column {column!r}. Save each as a file."
                )


def _sheet_rows(
    path: Path,
    sheet: IO[bytes],
    strings: list[str],
    links: dict[str, str],
    column: str,
    once: Collection[str],
) -> Iterator[PredictionRow]:
    names: dict[str, str] | None = None
    number = 0
    for _, element in ElementTree.iterparse(sheet, events=("end",)):
        if element.tag != f"{_MAIN}row":
            continue
        cells = dict(_row_cells(element, strings, links))
        element.clear()
        if names is None:
            names = {letters: cell.text for letters, cell in cells.items()}
            if column not in names.values():
                raise no_column(path, column, names.values())
            check_once(path, names.values(), column, once)
            continue
        number += 1
        # A cell that is not in the file was the empty string.
        row = {name: cells.get(letters, _Cell("")) for letters, name in names.items()}
        loss = row[column].loss
        yield text_row(number, {name: cell.text for name, cell in row.items()}, column, loss)


def _row_cells(
    row: ElementTree.Element, strings: list[str], links: dict[str, str]
) -> Iterator[tuple[str, _Cell]]:
    for cell in row.iter(f"{_MAIN}c"):
        place = cell.get("r", "")
        yield place.rstrip("0123456789"), _cell(cell, strings, links.get(place))


def _cell(cell: ElementTree.Element, strings: list[str], link: str | None) -> _Cell:
    formula = cell.find(f"{_MAIN}f")
    if formula is not None:
        return _formula(formula, cell.get("cm") is not None)
    kind, value = cell.get("t", "n"), cell.findtext(f"{_MAIN}v")
    if kind == "inlineStr":
        inline = cell.find(f"{_MAIN}is")
        return _string("" if inline is None else _plain(inline), link)
    if value is None:
        return _Cell("")
    if kind == "s":
        return _string(_shared(strings, value), link)
    if kind == "b":
        return _Cell("True" if value == "1" else "False", "read back and rewritten as a boolean")
    if kind == "n":
        return _Cell(value, "read back and rewritten as a number: zeros may be lost")
    return _string(_unescape(value), link)


def _shared(strings: list[str], place: str) -> str:
    if not (place.isdecimal() and int(place) < len(strings)):
        raise ValueError(f"a cell names text {place!r} of {len(strings)}")
    return strings[int(place)]


def _string(text: str, link: str | None) -> _Cell:
    if link is not None and not link.endswith(text):
        return _Cell(text, "stored as a file link: slashes and prefix are changed")
    if link is not None and link in (f"mailto:{text}", f"internal:{text}"):
        text = link
    if len(text.encode("utf-16-le", "surrogatepass")) // 2 >= XLSX_CELL_LIMIT:
        return _Cell(text, f"cut at {XLSX_CELL_LIMIT:,} characters")
    return _Cell(text)


def _formula(formula: ElementTree.Element, dynamic: bool) -> _Cell:
    text = formula.text or ""
    loss = "stored as a formula: function names may have got a prefix"
    if text.count("{") > text.count("}"):
        text += "}"  # the writer takes one closing brace off the end
    if formula.get("t") == "array" and not dynamic:
        return _Cell("{=" + text + "}", loss if _FUTURE.search(text) else None)
    return _Cell("=" + _FUTURE.sub("", text), loss if _FUTURE.search(text) else None)


def _shared_strings(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    strings = []
    with archive.open("xl/sharedStrings.xml") as handle:
        for _, element in ElementTree.iterparse(handle, events=("end",)):
            if element.tag == f"{_MAIN}si":
                strings.append(_plain(element))
                element.clear()
    return strings


def _plain(element: ElementTree.Element) -> str:
    """The text of a string item: its runs joined, phonetic hints left out."""
    direct = [part.text or "" for part in element.findall(f"{_MAIN}t")]
    runs = [part.text or "" for part in element.findall(f"{_MAIN}r/{_MAIN}t")]
    # A prediction that is itself "<r>..</r>" is written as bare markup by the hosts' writer.
    bare = [f"<r>{part.text}</r>" for part in element.findall(f"{_MAIN}r") if part.text]
    return _unescape("".join(direct + runs + bare))


def _unescape(text: str) -> str:
    """Undo the writer's escapes: ``_x000B_`` for a control, ``_x005F_x000B_`` for that very text.

    The second form is taken as a whole, as it was written, or ``_x005F_x000B_`` written as text
    would lose its middle.
    """
    return _ESCAPE.sub(lambda match: match[1] or chr(int(match[2], 16)), text)


def _hyperlinks(archive: zipfile.ZipFile) -> dict[str, str]:
    """Cell name -> what the text of a link cell was before the writer made a link of it."""
    targets = _link_targets(archive)
    links: dict[str, str] = {}
    with archive.open(_SHEET) as sheet:
        for _, element in ElementTree.iterparse(sheet, events=("end",)):
            if element.tag == f"{_MAIN}hyperlink":
                links[element.get("ref", "")] = _link_source(element, targets)
            elif element.tag == f"{_MAIN}row":
                element.clear()
    return {place: link for place, link in links.items() if link}


def _link_source(element: ElementTree.Element, targets: dict[str, str]) -> str:
    target = targets.get(element.get(_LINK_ID, ""), "")
    if target.startswith("mailto:"):
        return "mailto:" + unquote(target[len("mailto:") :])
    if not target and element.get("location"):
        return "internal:" + element.get("location", "")
    return "" if re.match(r"(?:ftp|http)s?://", target) else f"link to {target}\0"


def _link_targets(archive: zipfile.ZipFile) -> dict[str, str]:
    name = "xl/worksheets/_rels/sheet1.xml.rels"
    if name not in archive.namelist():
        return {}
    with archive.open(name) as handle:
        root = ElementTree.parse(handle).getroot()
    return {item.get("Id", ""): item.get("Target", "") for item in root}
