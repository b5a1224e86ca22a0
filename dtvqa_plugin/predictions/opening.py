"""The form of a prediction file, told by its bytes and its name, and its bytes unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from dtvqa_plugin.predictions.rows import PredictionFileError
from dtvqa_plugin.utils.encoding import LOOKED_AT, UTF8_MARK, Converted, marked, to_utf8, unmarked

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".jsonlines")
TEXT_SUFFIX = ".txt"


class Form(Enum):
    """How a file holds its records."""

    JSON = "JSON or JSON Lines"
    TSV = "tsv"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "Parquet"
    DATASET = "a folder saved by datasets"
    INSPECT = "an .eval log of inspect_ai"

    @property
    def is_table(self) -> bool:
        """Whether its cells are text, read row by row."""
        return self in (Form.TSV, Form.CSV, Form.XLSX)


_BY_SUFFIX = {
    **dict.fromkeys(JSON_SUFFIXES, Form.JSON),
    ".tsv": Form.TSV,
    ".csv": Form.CSV,
    ".xlsx": Form.XLSX,
    ".parquet": Form.PARQUET,
    ".eval": Form.INSPECT,
}
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_DATASET_FILES = ("dataset_dict.json", "state.json")
_MOST_PACKINGS = 4
_BUFFER = 1 << 16
_DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError)


def suffix_of(path: Path) -> str:
    """The suffix that names the form, in lower case: ``.jsonl`` of ``a.JSONL.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def bare_name(path: Path) -> str:
    """The name without the suffixes that say how a file is packed and read; a folder's name."""
    name = path.name
    if path.is_dir():
        return name
    if path.suffix.lower() in PACKED_SUFFIXES:
        name = name[: -len(path.suffix)]
    known = Path(name).suffix.lower()
    return name[: -len(known)] if known in (*_BY_SUFFIX, TEXT_SUFFIX) else Path(name).stem


def is_candidate(path: Path) -> bool:
    """Whether a file found in a folder may hold predictions, by its name."""
    return suffix_of(path) in (*_BY_SUFFIX, TEXT_SUFFIX)


def is_dataset_folder(path: Path) -> bool:
    """Whether a folder was written by ``save_to_disk`` of ``datasets``."""
    try:
        return any((path / name).is_file() for name in _DATASET_FILES)
    except OSError:  # a folder that may not be entered
        return False


def form_of(path: Path) -> Form | None:
    """The form of a file or folder; None for one that no reader takes.

    The name decides. Without a telling name (``.txt``, none) the content does: JSON, a table
    whose first line has a tab or a comma, Parquet, xlsx or an ``.eval`` log. Nothing is
    unpickled. Raises OSError.
    """
    if path.is_dir():
        return Form.DATASET if is_dataset_folder(path) else None
    named = _BY_SUFFIX.get(suffix_of(path))
    if named is not None:
        return named
    with opened(path) as handle:
        start = handle.read(1 << 16)
    return _form_of_content(start)


def _form_of_content(start: bytes) -> Form | None:
    if start.startswith(b"PAR1"):
        return Form.PARQUET
    if start.startswith(_ZIP):
        if any(name in start for name in _XLSX_MEMBERS):
            return Form.XLSX
        return Form.INSPECT if any(name in start for name in _LOG_MEMBERS) else None
    text = start.removeprefix(UTF8_MARK).lstrip()
    if text[:1] in (b"{", b"[") or (start and not text):  # blanks alone: JSON Lines without one
        return Form.JSON
    if _stranger(start):
        return None
    header = text.partition(b"\n")[0]
    if _CONTROL.search(header):
        return None
    return Form.TSV if b"\t" in header else Form.CSV if b"," in header else None


# --- content of another form than the name says -------------------------------------------------

_ZIP = b"PK\x03\x04"
_XLSX_MEMBERS = (b"[Content_Types]", b"xl/")
_LOG_MEMBERS = (b"_journal/", b"samples/", b"header.json")
_PICKLE = "a pickle, which is never opened: write it as JSON Lines"
_STRANGERS = {
    b"version https://git-lfs": "a pointer of Git LFS: get the file itself with git lfs pull",
    b"<!doctype html": "a web page, mostly of a failed download: download the file again",
    b"<html": "a web page, mostly of a failed download: download the file again",
    b"<?xml": "XML, mostly of a failed download: download the file again",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95"), _PICKLE),
    b"arrow1": "Arrow data: write it as Parquet, or give the folder that save_to_disk wrote",
    b"sqlite format 3": "a database of SQLite: export the table as csv",
    b"%pdf": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an old workbook (.xls) or a locked one: save it as plain .xlsx",
    _ZIP: "a zip archive: unpack it",
    b"7z\xbc\xaf": "an archive: unpack it",
    b"Rar!": "an archive: unpack it",
}
_TAR = b"ustar"
_TAR_PLACE = 257
_OF_CONTENT = {
    Form.JSON: ("JSON", ".jsonl"),
    Form.XLSX: ("an xlsx workbook", ".xlsx"),
    Form.PARQUET: ("Parquet", ".parquet"),
    Form.CSV: ("a table with commas", ".csv"),
    Form.TSV: ("a table with tabs", ".tsv"),
    Form.INSPECT: ("a log of inspect_ai", ".eval"),
}


def stranger(path: Path) -> str | None:
    """What a file is by its first bytes, and the cure, where it is something that no reader takes.

    Raises OSError.
    """
    with opened(path) as handle:
        return _stranger(handle.read(1 << 12))


def _stranger(start: bytes) -> str | None:
    lower = start.removeprefix(UTF8_MARK).lstrip()[:LOOKED_AT].lower()
    if start[_TAR_PLACE:].startswith(_TAR):
        return _STRANGERS[b"Rar!"]
    return next(
        (what for magic, what in _STRANGERS.items() if lower.startswith(magic.lower())), None
    )


def check_content(path: Path, form: Form) -> None:
    """Raise PredictionFileError for a file whose content is of another form than its name says."""
    if form is Form.DATASET or suffix_of(path) not in _BY_SUFFIX:
        return
    with opened(path) as handle:
        start = handle.read(1 << 12)
    found = _form_of_content(start)
    if form in (Form.CSV, Form.TSV):
        _check_separator(path, start, found)
    zipped = start.startswith(_ZIP) and form in (Form.XLSX, Form.INSPECT)
    if found is None and not zipped and (what := _stranger(start)) is not None:
        raise PredictionFileError(f"{path}: is {what}.")
    if found in (None, form) or zipped or not _is_another(form, found, start):
        return
    what, suffix = _OF_CONTENT[found]
    raise PredictionFileError(
        f"{path}: its content is {what}, its name says {form.value}. Rename it to {suffix}."
    )


def _check_separator(path: Path, start: bytes, found: Form | None) -> None:
    header = start.removeprefix(UTF8_MARK).partition(b"\n")[0]
    if header.lower().startswith(b"sep="):
        raise PredictionFileError(f"{path}: its first line is 'sep='. Remove that line.")
    for separator, name in ((b";", "semicolons"), (b"|", "bars")):
        if found is None and separator in header:
            raise PredictionFileError(
                f"{path}: its cells are separated by {name}. Save it with commas or tabs."
            )


def _is_another(form: Form, found: Form, start: bytes) -> bool:
    """Whether the content's form is surely another one than the name's."""
    header = start.removeprefix(UTF8_MARK).lstrip().partition(b"\n")[0]
    if form is Form.JSON and found in (Form.CSV, Form.TSV):
        return b"{" not in start and b'":' not in start
    if form is Form.CSV and found is Form.TSV:
        return b"," not in header
    if form is Form.TSV and found is Form.CSV:
        return True
    if form in (Form.CSV, Form.TSV) and found is Form.JSON:
        return header.startswith((b'{"', b"[{"))
    return True


# --- bytes ------------------------------------------------------------------------------------


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """The file's bytes, unpacked where gzip, bzip2, xz or Zstandard packed them, once or again.

    UTF-16 and UTF-32 with a byte order mark come as UTF-8. Raises PredictionFileError where the
    packed data are damaged or the encoding cannot be read, then or while reading, else OSError.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(path.open("rb"))
        for _ in range(_MOST_PACKINGS):
            start = stream.peek(LOOKED_AT)[:LOOKED_AT]
            packed = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
            if packed is None:
                break
            unpacked = stack.enter_context(_unpacked(stream, packed))
            stream = io.BufferedReader(_Checked(unpacked, path), _BUFFER)
        else:
            raise PredictionFileError(
                f"{path}: packed more than {_MOST_PACKINGS} times. Unpack it first."
            )
        yield _as_utf8(path, stream, start)


def _as_utf8(path: Path, stream: io.BufferedReader, start: bytes) -> io.BufferedReader:
    named = marked(start)
    if named is not None:
        convert = to_utf8(named)

        def checked(content: bytes, final: bool) -> bytes:
            try:
                return convert(content, final)
            except UnicodeDecodeError as error:
                raise PredictionFileError(
                    f"{path}: is damaged {named} ({error.reason}). Copy it again, or save it as "
                    "UTF-8."
                ) from error

        return io.BufferedReader(Converted(stream, checked), _BUFFER)
    wide = unmarked(start)
    if wide is not None:
        raise PredictionFileError(
            f"{path}: is {wide} without a byte order mark. Convert it with "
            f"iconv -f {wide} -t UTF-8, or save it as UTF-8."
        )
    return stream


@contextmanager
def _unpacked(handle: BinaryIO, packed: str) -> Iterator[BinaryIO]:
    if packed == ".zst":
        import pyarrow  # heavy

        yield cast(BinaryIO, pyarrow.CompressedInputStream(pyarrow.PythonFile(handle, "r"), "zstd"))
    elif packed == ".gz":
        with gzip.open(handle) as stream:
            yield cast(BinaryIO, stream)
    elif packed == ".bz2":
        with bz2.open(handle) as stream:
            yield cast(BinaryIO, stream)
    else:
        with lzma.open(handle) as stream:
            yield cast(BinaryIO, stream)


class _Checked(io.RawIOBase):
    """An unpacked stream whose damage is a PredictionFileError that names the file."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream = stream
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stub says Buffer
        try:
            content = self._stream.read(len(buffer))
        except (*_DAMAGE, OSError) as error:
            raise PredictionFileError(
                f"{self._path}: the packed file is damaged or cut off ({error}). Copy it again."
            ) from error
        buffer[: len(content)] = content
        return len(content)
