"""Read a file of predictions without changing one character of them.

The evaluation hosts and the paper's runners store predictions as xlsx, tsv, csv, json or jsonl.
Reading such a file back the usual way turns ``N/A`` into NaN, ``=SUM(1,2)`` into 0 and ``007``
into 7. The readers here give the text as the model wrote it, and say of each row whether the file
format has already destroyed something (``PredictionRow.loss``). Nothing is unpickled.

Three entry points:

- :func:`iter_records` streams a JSON array or JSON Lines file, record by record.
- :func:`iter_predictions` streams the rows of any of the five formats.
- :func:`read_predictions` collects them (for a host's ``evaluate``).
"""

from __future__ import annotations

import json
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from dtvqa_plugin.errors import DataError

XLSX_CELL_LIMIT = 32_767
"""Most characters (UTF-16 units) that an xlsx cell holds; writers cut longer text there."""

MAX_RECORD_BYTES = 64 * 2**20
"""Longest JSON Lines record that is read: it bounds the memory a damaged file can claim."""

SUFFIXES = (".xlsx", ".tsv", ".csv", ".json", ".jsonl")

Fault = Callable[[str, str], None]
"""Called with a place ("line 812") and what is wrong there, once for each record left out."""


class PredictionFileError(DataError):
    """A file that is no prediction file, or a damaged one."""


class NoPredictionsError(PredictionFileError):
    """A readable table without a column of predictions."""


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One row of a prediction file.

    ``number`` counts data rows from 1 (a header is not counted). ``index`` is the text of the
    ``index`` column, "" where there is none. ``prediction`` is the exact text, None where the file
    has no value; a JSON list or record comes as its JSON text. ``loss`` says what the file format
    or an earlier reader has destroyed or may have changed, None when the text is whole. ``fields``
    holds the other columns: text, or in JSON whatever value stands there.
    """

    number: int
    index: str
    prediction: str | None
    fields: Mapping[str, Any]
    loss: str | None = None


@dataclass(frozen=True, slots=True)
class PredictionTable:
    """All rows of one file, in file order, and what could not be read (place, reason)."""

    path: Path
    rows: tuple[PredictionRow, ...]
    faults: tuple[tuple[str, str], ...] = field(default=())

    @property
    def losses(self) -> tuple[PredictionRow, ...]:
        """The rows whose prediction the file does not hold as the model wrote it."""
        return tuple(row for row in self.rows if row.loss is not None)


def read_predictions(path: Path | str, column: str = "prediction") -> PredictionTable:
    """Read every row of a VLMEvalKit-style prediction file (xlsx, tsv, csv, json, jsonl).

    Raises PredictionFileError if the file is none of these, has no ``column``, or is damaged as a
    whole; single records that cannot be read are in ``PredictionTable.faults``.
    """
    faults: list[tuple[str, str]] = []
    rows = tuple(iter_predictions(path, column, lambda place, why: faults.append((place, why))))
    return PredictionTable(Path(path), rows, tuple(faults))


def iter_predictions(
    path: Path | str, column: str = "prediction", fault: Fault | None = None
) -> Iterator[PredictionRow]:
    """Stream the rows of a prediction file; see :func:`read_predictions`.

    Without ``fault`` a record that cannot be read raises PredictionFileError.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        yield from _xlsx_rows(path, column)
    elif suffix in (".tsv", ".csv"):
        yield from _delimited_rows(path, column, "\t" if suffix == ".tsv" else ",")
    elif suffix in (".json", ".jsonl"):
        yield from _json_rows(path, column, fault)
    else:
        raise PredictionFileError(
            f"{path}: not a prediction file this reader takes "
            f"({', '.join(SUFFIXES)}; pickles are never opened). "
            "Set PRED_FORMAT=tsv and rerun, or convert the file."
        )


# --- JSON -------------------------------------------------------------------------------------


def iter_records(path: Path | str, fault: Fault | None = None) -> Iterator[tuple[str, Any]]:
    """Stream (place, value) from a JSON array, JSON Lines, or a single JSON document.

    Memory is bounded by the largest record. A record that is not valid JSON goes to ``fault``
    (place, reason) and is left out; without ``fault`` it raises PredictionFileError.
    """
    path = Path(path)

    def complain(place: str, why: str) -> None:
        if fault is None:
            raise PredictionFileError(
                f"{path}, {place}: {why}. Remove the record or write the file again."
            )
        fault(place, why)

    if first_character(path) == "[":
        yield from _array_items(path, complain)
    elif _first_line_is_whole(path):
        yield from _lines(path, complain)
    else:
        yield from _document(path, complain)


def first_character(path: Path) -> str:
    """The first character of a text file that is neither white space nor a byte order mark."""
    with path.open("rb") as handle:
        while chunk := handle.read(4096):
            text = chunk.lstrip(b"\xef\xbb\xbf").lstrip()
            if text:
                return chr(text[0])
    return ""


def _first_line_is_whole(path: Path) -> bool:
    """Whether the file's first line is JSON by itself, or is the start of JSON Lines cut off."""
    with path.open("rb") as handle:
        line = b""
        while not line.strip():
            line = handle.readline(MAX_RECORD_BYTES)
            if not line:
                return True
        try:
            json.loads(line)
        except (ValueError, RecursionError):
            return len(line.strip()) > 1 and handle.readline(2).startswith(b"{")
        return True


def _lines(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    with path.open("rb") as handle:
        number = 0
        while line := handle.readline(MAX_RECORD_BYTES):
            number += 1
            place = f"line {number}"
            if len(line) == MAX_RECORD_BYTES and not line.endswith(b"\n"):
                complain(place, f"longer than {MAX_RECORD_BYTES // 2**20} MiB")
                _skip_line(handle)
                continue
            if line.strip():
                try:
                    value = json.loads(line.decode("utf-8-sig"))
                except (ValueError, RecursionError) as error:
                    end = "" if line.endswith(b"\n") else ", cut off before the end of the line"
                    complain(place, f"not valid JSON ({_reason(error)}{end})")
                    continue
                yield place, value


def _skip_line(handle: IO[bytes]) -> None:
    while (rest := handle.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
        pass


def _document(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    if path.stat().st_size > MAX_RECORD_BYTES:
        complain("record 1", f"one JSON document over {MAX_RECORD_BYTES // 2**20} MiB")
        return
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        complain("record 1", f"not valid JSON ({_reason(error)})")
        return
    yield "record 1", value


def _array_items(path: Path, complain: Fault) -> Iterator[tuple[str, Any]]:
    decoder = json.JSONDecoder()
    with path.open(encoding="utf-8-sig", errors="strict", newline="") as handle:
        buffer, start, number, ended = "", 0, 0, False
        step = 2**18
        opened = False
        try:
            while True:
                start = _skip(buffer, start, " \t\r\n" if not opened else " \t\r\n,")
                if start < len(buffer) and not opened:
                    opened, start = True, start + 1
                    continue
                if start < len(buffer) and buffer[start] == "]":
                    return
                if start < len(buffer):
                    try:
                        value, end = decoder.raw_decode(buffer, start)
                    except (ValueError, RecursionError) as error:
                        if ended or len(buffer) - start > MAX_RECORD_BYTES:
                            place = f"record {number + 1}"
                            complain(place, f"not valid JSON from here on ({_reason(error)})")
                            return
                    else:
                        # A bare number may go on in the next chunk.
                        if ended or end < len(buffer):
                            number, start, step = number + 1, end, 2**18
                            yield f"record {number}", value
                            continue
                if ended:
                    complain(f"record {number + 1}", "the file is cut off: no closing bracket")
                    return
                chunk = handle.read(step)
                step = min(step * 2, 2**26)
                ended = not chunk
                buffer, start = buffer[start:] + chunk, 0
        except UnicodeDecodeError as error:
            complain(f"record {number + 1}", f"not UTF-8 from here on ({error.reason})")


def _skip(text: str, start: int, characters: str) -> int:
    while start < len(text) and text[start] in characters:
        start += 1
    return start


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _json_rows(path: Path, column: str, fault: Fault | None) -> Iterator[PredictionRow]:
    number = 0
    for place, value in iter_records(path, fault):
        number += 1
        if not isinstance(value, dict):
            message = f"a {type(value).__name__} where a record is meant"
            if fault is None:
                raise PredictionFileError(
                    f"{path}, {place}: {message}. Give one record a question."
                )
            fault(place, message)
            continue
        if number == 1 and column not in value:
            raise _no_column(path, column, value)
        fields = {str(key): item for key, item in value.items() if key not in ("index", column)}
        text, loss = json_text(value.get(column))
        yield PredictionRow(number, as_key(value.get("index", "")), text, fields, loss)


def json_text(value: object) -> tuple[str | None, str | None]:
    """A JSON value as (text, loss): text is exact, null and NaN are None, the rest is told."""
    if value is None or isinstance(value, str):
        return value, None
    if isinstance(value, float) and math.isnan(value):
        return None, None
    text = json.dumps(value, ensure_ascii=False)
    return text, f"stored as {type(value).__name__}, not as text"


def as_key(value: object) -> str:
    """An index as text: 7, 7.0 and "7" are one index."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _no_column(path: Path, column: str, columns: Any) -> NoPredictionsError:
    found = ", ".join(sorted(map(str, columns))[:12]) or "none"
    return NoPredictionsError(
        f"{path}: no column {column!r} (found: {found}). Give the file that the inference wrote."
    )


# --- tsv and csv ------------------------------------------------------------------------------


def _delimited_rows(path: Path, column: str, separator: str) -> Iterator[PredictionRow]:
    from pandas.errors import EmptyDataError, ParserError, ParserWarning  # heavy

    number = 0
    try:
        for chunk in _chunks(path, separator):
            names = [str(name) for name in chunk.columns]
            if column not in names:
                raise _no_column(path, column, names)
            for values in chunk.itertuples(index=False, name=None):
                number += 1
                yield _text_row(number, dict(zip(names, values, strict=True)), column)
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 ({error.reason}). Write the file again."
        raise PredictionFileError(message) from error
    except (ParserError, ParserWarning, EmptyDataError) as error:
        message = f"{path}: not a readable table ({error}). Write the file again."
        raise PredictionFileError(message) from error
    except OSError as error:
        raise PredictionFileError(f"{path}: cannot be opened ({error.strerror}).") from error


def _chunks(path: Path, separator: str) -> Iterator[Any]:
    """Frames of text. Raises pandas' ParserWarning for rows that are longer than the header, of
    which pandas would drop cells."""
    import pandas  # already there through `datasets`

    chunks = pandas.read_csv(
        path,
        sep=separator,
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        chunksize=2000,
        encoding="utf-8",
        index_col=False,
    )
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("error", category=pandas.errors.ParserWarning)
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


def _text_row(
    number: int, cells: dict[str, str], column: str, loss: str | None = None
) -> PredictionRow:
    prediction = cells.pop(column, None)
    index = cells.pop("index", "")
    whole = re.fullmatch(r"(-?\d+)\.0", index)
    return PredictionRow(number, whole[1] if whole else index, prediction, cells, loss)


# --- xlsx -------------------------------------------------------------------------------------

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


def _xlsx_rows(path: Path, column: str) -> Iterator[PredictionRow]:
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
            with archive.open(_SHEET) as sheet:
                yield from _sheet_rows(path, sheet, strings, links, column)
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise PredictionFileError(f"{path}: cannot be opened ({error.strerror}).") from error
    except _DAMAGE as error:
        raise PredictionFileError(
            f"{path}: not a readable xlsx file ({error}). "
            "Rerun the inference with PRED_FORMAT=tsv, which holds any text."
        ) from error


def _sheet_rows(
    path: Path, sheet: IO[bytes], strings: list[str], links: dict[str, str], column: str
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
                raise _no_column(path, column, names.values())
            continue
        number += 1
        # A cell that is not in the file was the empty string.
        row = {name: cells.get(letters, _Cell("")) for letters, name in names.items()}
        loss = row[column].loss
        yield _text_row(number, {name: cell.text for name, cell in row.items()}, column, loss)


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
        return "mailto:" + _percent_decoded(target[len("mailto:") :])
    if not target and element.get("location"):
        return "internal:" + element.get("location", "")
    return "" if re.match(r"(?:ftp|http)s?://", target) else f"link to {target}\0"


def _percent_decoded(text: str) -> str:
    from urllib.parse import unquote

    return unquote(text)


def _link_targets(archive: zipfile.ZipFile) -> dict[str, str]:
    name = "xl/worksheets/_rels/sheet1.xml.rels"
    if name not in archive.namelist():
        return {}
    with archive.open(name) as handle:
        root = ElementTree.parse(handle).getroot()
    return {item.get("Id", ""): item.get("Target", "") for item in root}
