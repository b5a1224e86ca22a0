"""The form of a prediction file, told by its bytes and its name, and its bytes unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from dtvqa_plugin.predictions.rows import PredictionFileError
from dtvqa_plugin.utils.json_list import BOM

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
    if start.startswith(b"PK\x03\x04"):
        return Form.XLSX if b"[Content_Types]" in start or b"xl/" in start else Form.INSPECT
    text = start.removeprefix(BOM).lstrip()
    if text[:1] in (b"{", b"["):
        return Form.JSON
    header = text.partition(b"\n")[0]
    if _CONTROL.search(header):
        return None
    return Form.TSV if b"\t" in header else Form.CSV if b"," in header else None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked where gzip, bzip2, xz or Zstandard packed them.

    Raises PredictionFileError while reading where the packed data are damaged, else OSError.
    """
    with path.open("rb") as handle:
        start = handle.read(6)
        handle.seek(0)
        packed = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
        if packed is None:
            yield handle
            return
        with _unpacked(handle, packed) as stream:
            yield cast(BinaryIO, io.BufferedReader(_Checked(stream, path), 1 << 16))


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
