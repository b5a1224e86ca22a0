"""Logs of inspect_ai: the ``.eval`` archive and the JSON document, sample by sample.

Seen on 0.3.285. Members of an archive are packed by deflate or, since 2026, by Zstandard, which
`zipfile` does not know before Python 3.14.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from dtvqa_plugin.predictions.json_records import MAX_RECORD_BYTES
from dtvqa_plugin.predictions.opening import Form, form_of, opened
from dtvqa_plugin.predictions.rows import Fault, PredictionFileError
from dtvqa_plugin.utils.json_list import BrokenListError, JsonList, reason

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_SAMPLES = b'\n  "samples": ['
"""How the JSON log begins its samples: it is indented by two, and text holds no line breaks."""
_START = 1 << 16
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, struct.error, KeyError)


def is_log(path: Path) -> bool:
    """Whether a JSON document begins as a log of inspect_ai does."""
    if form_of(path) is not Form.JSON:
        return False
    with opened(path) as handle:
        start = handle.read(_START)
    return start.lstrip()[:1] == b"{" and b'"eval"' in start and b'"task_id"' in start


def log_samples(path: Path, fault: Fault) -> Iterator[tuple[str, Any]]:
    """Stream (place, sample). Damaged samples go to ``fault``.

    Raises PredictionFileError for a log that cannot be opened.
    """
    if form_of(path) is Form.INSPECT:
        yield from _archive_samples(path, fault)
    else:
        yield from _document_samples(path, fault)


def log_header(path: Path) -> Mapping[str, Any]:
    """What a log says of its run (``eval``, ``plan``, ``status``); empty where it is damaged."""
    try:
        if form_of(path) is Form.INSPECT:
            with zipfile.ZipFile(path) as archive:
                names = set(archive.namelist())
                name = "header.json" if "header.json" in names else "_journal/start.json"
                value = json.loads(_member(archive, archive.getinfo(name)))
        else:
            value = _document_header(path)
    except (*_DAMAGE, ValueError, RecursionError, PredictionFileError):
        return {}
    return value if isinstance(value, dict) else {}


# --- .eval ------------------------------------------------------------------------------------


def _archive_samples(path: Path, fault: Fault) -> Iterator[tuple[str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                info
                for info in archive.infolist()
                if info.filename.startswith("samples/") and info.filename.endswith(".json")
            ]
            for info in members:
                try:
                    yield info.filename, json.loads(_member(archive, info))
                except (ValueError, RecursionError, *_DAMAGE) as error:
                    fault(info.filename, f"not readable ({reason(error)})")
    except _DAMAGE as error:
        raise PredictionFileError(
            f"{path}: not a readable .eval log ({error}). Run 'inspect log convert' on it."
        ) from error


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member's bytes, also where Zstandard packed them."""
    if info.file_size > MAX_RECORD_BYTES * 4:
        raise ValueError(f"over {MAX_RECORD_BYTES * 4 // 2**20} MiB")
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    import pyarrow  # heavy

    packed = pyarrow.BufferReader(_packed(archive, info))
    content: bytes = pyarrow.CompressedInputStream(packed, "zstd").read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile("size or checksum differ")
    return content


def _packed(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    file: IO[bytes] | None = archive.fp
    assert file is not None
    file.seek(info.header_offset)
    header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if header[0] != b"PK\x03\x04":
        raise zipfile.BadZipFile("no local header")
    file.seek(header[9] + header[10], 1)
    return file.read(info.compress_size)


# --- .json ------------------------------------------------------------------------------------


def _document_samples(path: Path, fault: Fault) -> Iterator[tuple[str, Any]]:
    with opened(path) as handle:
        if not _skip_to_samples(handle):
            yield from _whole_document(path, fault)
            return
        read = _Rest(handle)
        number = 0
        try:
            for _, _, value in JsonList(read, MAX_RECORD_BYTES * 4):
                number += 1
                yield f"sample {number}", value
        except BrokenListError as error:
            if "text after the closing bracket" not in str(error):
                fault(f"sample {number + 1}", f"not valid JSON from here on ({error})")


class _Rest:
    """``read`` of a file from a list's opening bracket on, which has been passed already."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle
        self._first = True

    def __call__(self, size: int) -> bytes:
        if self._first:
            self._first = False
            return b"["
        return self._handle.read(size)


def _skip_to_samples(handle: IO[bytes]) -> bool:
    """Read up to behind the opening bracket of the samples; False where there is none."""
    while line := handle.readline(MAX_RECORD_BYTES):
        if line.startswith(_SAMPLES[1:]):
            rest = line[len(_SAMPLES) - 1 :].strip()
            return not rest
    return False


def _document_header(path: Path) -> Any:
    """The part of the document before its samples."""
    lines: list[bytes] = []
    with opened(path) as handle:
        while line := handle.readline(MAX_RECORD_BYTES):
            if line.startswith(_SAMPLES[1:]):
                return json.loads(b"".join(lines).rstrip().rstrip(b",") + b"}")
            lines.append(line)
    return json.loads(b"".join(lines))


def _whole_document(path: Path, fault: Fault) -> Iterator[tuple[str, Any]]:
    """The samples of a document that another program laid out."""
    limit = MAX_RECORD_BYTES * 4
    with opened(path) as handle:
        content = handle.read(limit + 1)
    if len(content) > limit:
        fault("record 1", f"one JSON document over {limit // 2**20} MiB")
        return
    try:
        samples = json.loads(content).get("samples")
    except (ValueError, RecursionError, AttributeError) as error:
        fault("record 1", f"not valid JSON ({reason(error)})")
        return
    for number, value in enumerate(samples if isinstance(samples, list) else [], start=1):
        yield f"sample {number}", value
