"""Append-only JSON lines: what is written stays; a line that a kill cut off is reported.

Nothing here ever rewrites or shortens a journal. A line that holds no record, such as the last one
of a process that was killed while writing, stays where it is and is passed over with a count.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.utils.files import whole_file

Entry = dict[str, Any]


@dataclass(slots=True)
class Damage:
    """Lines of a journal that hold no record: their number, and the first one's place."""

    path: Path
    count: int = 0
    first: int = 0
    reason: str = ""

    def add(self, line: int, reason: str) -> None:
        """Count one more bad line (``line`` from 1)."""
        if not self.count:
            self.first, self.reason = line, reason
        self.count += 1

    def __str__(self) -> str:
        lines = "line is" if self.count == 1 else "lines are"
        return (
            f"{self.path.name}: {self.count} {lines} no record (the first: line {self.first}, "
            f"{self.reason}); left unchanged and skipped"
        )


@dataclass
class Journal:
    """One file of JSON objects, a line each. Several processes may append to it.

    ``needs`` names the keys every record must have: a line without them counts as damaged.
    """

    path: Path
    needs: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def append(self, record: Mapping[str, Any], *, sync: bool = True) -> int:
        """Write one record and return its offset; on disk for good when ``sync``."""
        return self.extend([record], sync=sync)

    def extend(self, records: Iterable[Mapping[str, Any]], *, sync: bool = True) -> int:
        """Write records in one piece and return the first one's offset."""
        data = b"".join(dump_line(record) for record in records)
        with self._lock, _file_lock(self.path), self._writing() as handle:
            handle.seek(0, os.SEEK_END)
            if handle.tell() and not _ends_line(handle):
                # A writer was killed here: close its line, so that ours stands alone.
                handle.seek(0, os.SEEK_END)
                handle.write(b"\n")
            start: int = handle.tell()
            handle.write(data)
            handle.flush()
            if sync:
                os.fsync(handle.fileno())
        return start

    def read(self, start: int = 0, damage: Damage | None = None) -> Iterator[tuple[int, Entry]]:
        """Each record with its offset, from byte ``start`` on; bad lines go to ``damage``.

        A last line without its line break counts only if it is a whole record. Memory: one line.
        """
        for number, (offset, line) in enumerate(self.lines(start), start=1):
            record = self.parse(line, number, damage)
            if record is not None:
                yield offset, record

    def lines(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Each line with its offset, from byte ``start`` on; none where there is no file."""
        try:
            handle = self.path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise AnnotateError(f"{self.path}: cannot be read: {error.strerror}") from error
        with handle:
            handle.seek(start)
            offset = start
            for line in handle:
                yield offset, line
                offset += len(line)

    def at(self, offset: int) -> Entry:
        """The record that begins at ``offset``, as `read` or `append` gave it."""
        with self.path.open("rb") as handle:
            handle.seek(offset)
            record = self.parse(handle.readline(), 0, None)
        if record is None:
            raise AnnotateError(
                f"{self.path}: changed by another program while in use; start again"
            )
        return record

    def exists(self) -> bool:
        """Whether anything has been written."""
        return self.path.is_file()

    def parse(self, line: bytes, number: int, damage: Damage | None) -> Entry | None:
        """The record of a line; None for a blank or bad one, which goes to ``damage``."""
        if not line.strip():
            return None
        reason = ""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            reason = "cut off" if not line.endswith(b"\n") else "cut off or not JSON"
        else:
            if not isinstance(record, dict):
                reason = "no object"
            elif not self.needs <= record.keys():
                reason = f"without {', '.join(sorted(self.needs - record.keys()))}"
            else:
                return record
        if damage is not None:
            damage.add(number, reason)
        return None

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as handle:
                yield handle
        except OSError as error:
            raise AnnotateError(
                f"{self.path}: cannot be written: {error.strerror}; earlier records are kept"
            ) from error


@dataclass
class Follower:
    """Reads what was appended to a journal since the last time, each record once.

    It goes on from where reading ended, whatever is appended meanwhile. A last line that is
    not finished yet is left for the next time.
    """

    journal: Journal
    offset: int = 0
    """Where the first line that was not read yet begins."""
    lines: int = 0
    unfinished: bool = False
    """Whether the last reading ended before a line that holds no whole record yet."""

    def shortened(self) -> bool:
        """Whether the journal is shorter than what was read of it: it was edited by hand."""
        path = self.journal.path
        return (path.stat().st_size if path.exists() else 0) < self.offset

    def read(self, damage: Damage) -> Iterator[tuple[int, Entry]]:
        """Each new record with its offset; bad lines go to ``damage``."""
        self.unfinished = False
        for offset, line in self.journal.lines(self.offset):
            whole = line.endswith(b"\n")
            record = self.journal.parse(line, self.lines + 1, damage if whole else None)
            if record is None and not whole:
                self.unfinished = True
                return
            self.offset, self.lines = offset + len(line), self.lines + whole
            if record is not None:
                yield offset, record


class Rewritten:
    """A file of JSON lines made anew as a whole: it appears when complete, or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Rewritten:
        scratch = self.path.parent / ".locks" / f"{self.path.name}.partial"
        with ExitStack() as stack:
            stack.enter_context(_file_lock(self.path))  # one writer at a time
            shutil.rmtree(scratch, ignore_errors=True)  # what a killed one left
            scratch.mkdir()
            partial = stack.enter_context(whole_file(self.path, scratch=scratch))
            self._handle = stack.enter_context(partial.open("wb"))
            self._open = stack.pop_all()
        return self

    def write(self, record: Mapping[str, Any]) -> None:
        """Add one record."""
        self._handle.write(dump_line(record))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._open:
            if error is not None:
                raise error
            self._handle.flush()
            os.fsync(self._handle.fileno())


def dump_line(record: Mapping[str, Any]) -> bytes:
    """One record as a line; lone surrogates (which UTF-8 has no bytes for) are escaped."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _file_lock(path: Path) -> FileLock:
    folder = path.parent / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{path.name}.lock")


def _ends_line(handle: Any) -> bool:
    handle.seek(-1, os.SEEK_END)
    return bool(handle.read(1) == b"\n")
