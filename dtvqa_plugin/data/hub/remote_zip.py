"""Members of a zip archive on the hub, read without the rest of the archive.

The archive's directory is read by the standard library through a file object that fetches what
it is asked for. The members wanted are then fetched ahead of being read: neighbours share a
request, requests run side by side, each member is handed over as soon as its last byte is here,
and what waits in memory is bounded.
"""

from __future__ import annotations

import bisect
import io
import itertools
import struct
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, cast

from dtvqa_plugin.data.archives import Member, MemberError, ZipSource
from dtvqa_plugin.data.hub.client import HubFile
from dtvqa_plugin.data.hub.faults import StoppedError

WORKERS = 8
"""Requests side by side."""

MAX_DIRECTORY = 64 * 2**20
"""Most bytes an archive's directory may take: 600,000 members and more."""

_TAIL = 8 * 1024
_AHEAD = 4 * 2**20
_GROUP = 4 * 2**20
_LARGE_GROUP = 8 * 2**20
_LARGE = 16 * 2**20
_WAITING = 32 * 2**20
_GAPS = 0.01
# A local header (30 bytes), its name and extra field, and a ZIP64 data descriptor.
_FRAME = 30 + 2 * 0xFFFF + 24


class RangeFile(io.RawIOBase):
    """A seekable file over byte ranges. Each thread has its own position and window."""

    def __init__(self, file: HubFile) -> None:
        self.file = file
        self._tail = b""
        self._local = threading.local()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(getattr(self._local, "position", 0))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self.file.size}[whence]
        if base + offset < 0:
            raise OSError("the archive is shorter than its directory says")
        self._local.position = base + offset
        return base + offset

    def hold(self, start: int, content: bytes, end: int) -> None:
        """Serve this thread's reads from ``content``; fetch no further than ``end`` beyond it."""
        self._local.window, self._local.end = (start, content), end

    def read(self, size: int = -1) -> bytes:
        position = self.tell()
        end = self.file.size if size < 0 else min(position + size, self.file.size)
        if position >= end:
            return b""
        start, content = getattr(self._local, "window", (0, b""))
        if not start <= position <= end <= start + len(content):
            start, content = self._fetched(position, end)
        self._local.position = end
        return content[position - start : end - start]

    def _fetched(self, position: int, end: int) -> tuple[int, bytes]:
        limit = getattr(self._local, "end", None)
        if limit is None:
            return self._directory(position, end)
        stop = max(end, min(position + _AHEAD, limit))
        content = b"".join(self.file.stream(position, stop))
        self.hold(position, content, limit)
        return position, content

    def _directory(self, position: int, end: int) -> tuple[int, bytes]:
        """Keep the archive's end, from wherever the directory turns out to begin."""
        size = self.file.size
        if size - position > MAX_DIRECTORY:
            raise OSError(f"its directory claims to be over {MAX_DIRECTORY // 2**20} MiB long")
        begin = size - len(self._tail)
        if position < begin:
            first = min(position, max(0, size - _TAIL))
            self._tail = b"".join(self.file.stream(first, begin)) + self._tail
            begin = first
        return begin, self._tail

    def forget(self) -> None:
        """Give the directory's memory back, once it is parsed."""
        self._tail = b""


@dataclass(frozen=True, slots=True)
class Span:
    """One request: the bytes ``start`` to ``end``, which hold ``members``."""

    start: int
    end: int
    members: tuple[Member, ...]


class RemoteZip(ZipSource):
    """A `MemberSource` over an archive on the hub; ``workers`` requests run side by side."""

    def __init__(self, file: HubFile, workers: int = WORKERS) -> None:
        """Read the archive's directory. Raises `DataError` when it is no archive."""
        self.file = file
        self.workers = workers
        self._ranges = RangeFile(file)
        super().__init__(cast(IO[bytes], self._ranges), file.label)
        self._ranges.forget()

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        """Members in order of arrival. Raises `FetchError` when the hub does not deliver."""
        chosen = list(members)
        regions = self._regions(chosen)
        large = [member for member in chosen if max(member.size, member.packed) > _LARGE]
        taken = {member.image for member in large}
        rest = [member for member in chosen if member.image not in taken]
        yield from self._side_by_side(plan(rest, regions))
        for member in large:
            start, end = regions[member.image]
            self._ranges.hold(start, b"", end)
            yield member, self._chunks(member)

    def _regions(self, members: Iterable[Member]) -> dict[str, tuple[int, int]]:
        """Where each member lies, header included: up to the next member or the directory."""
        starts = sorted(info.header_offset for info in self._zip.infolist())
        starts.append(self._zip.start_dir)
        regions: dict[str, tuple[int, int]] = {}
        for member in members:
            place = bisect.bisect_right(starts, member.offset)
            end = min(starts[place] if place < len(starts) else self.file.size, self.file.size)
            regions[member.image] = (
                member.offset,
                max(member.offset + 1, min(end, member.offset + _FRAME + member.packed)),
            )
        return regions

    def _side_by_side(self, spans: Sequence[Span]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        todo = deque(spans)
        arrivals = _Arrivals(self.file.hub.stop)
        running = 0
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="dtvqa-fetch")
        try:
            while todo or running:
                while todo and running < self.workers:
                    future = pool.submit(self._fetch, todo.popleft(), arrivals)
                    future.add_done_callback(arrivals.end)
                    running += 1
                arrived = arrivals.get()
                if isinstance(arrived, Future):
                    arrived.result()
                    running -= 1
                else:
                    yield arrived.member, arrived.chunks()
        finally:
            if running:
                self.file.hub.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """End what is still under way, and give the archive up."""
        self.file.hub.stop.set()
        super().close()

    def _fetch(self, span: Span, arrivals: _Arrivals) -> None:
        """Fetch a span; its members arrive one by one, as their bytes do."""
        buffer, begin = bytearray(), span.start
        pending = deque(span.members)
        for chunk in self.file.stream(span.start, span.end):
            buffer += chunk
            while pending and (place := _data(buffer, pending[0].offset - begin, pending[0])):
                member = pending.popleft()
                arrivals.put(self._checked(member, buffer, begin, place))
                done = min((pending[0].offset if pending else span.end) - begin, len(buffer))
                del buffer[:done]
                begin += done
        for member in pending:  # whose local header claims more than there is room for
            arrivals.put(self._asked_again(member, span.end))

    def _checked(self, member: Member, buffer: bytearray, begin: int, place: slice) -> _Got:
        """The member's content; asked for again where it is not what the directory says."""
        content = _unpacked(buffer[place], self._infos[member.image])
        if content is None:
            return self._asked_again(member, begin + place.stop)
        return _Got(member, content)

    def _asked_again(self, member: Member, end: int) -> _Got:
        """Damage on the way is put right by asking again; damage in the archive is not."""
        self._ranges.hold(0, b"", end)
        try:
            return _Got(member, b"".join(self._chunks(member)))
        except MemberError as error:
            return _Got(member, b"", error)
        finally:
            self._ranges.hold(0, b"", 0)


_LOCAL_HEADER = struct.Struct("<4s22xHH")
"""Signature, then the lengths of the name and of the extra field."""


def _data(buffer: bytearray, at: int, member: Member) -> slice | None:
    """Where the packed data of the member stand whose local header begins at ``at``.

    ``None`` where they have not all come, or no local header is there.
    """
    if len(buffer) < at + _LOCAL_HEADER.size:
        return None
    signature, name, extra = _LOCAL_HEADER.unpack_from(buffer, at)
    begin = at + _LOCAL_HEADER.size + name + extra
    end = begin + member.packed
    return slice(begin, end) if signature == b"PK\3\4" and end <= len(buffer) else None


def _unpacked(packed: bytearray, info: zipfile.ZipInfo) -> bytes | None:
    """The content, or ``None`` where its length or CRC-32 is not the directory's."""
    content = bytes(packed)
    if info.compress_type == zipfile.ZIP_DEFLATED:
        try:
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, info.file_size + 1)
        except zlib.error:
            return None
    right = len(content) == info.file_size and zlib.crc32(content) == info.CRC
    return content if right else None


@dataclass(slots=True)
class _Got:
    member: Member
    content: bytes
    error: MemberError | None = None

    def chunks(self) -> Iterable[bytes]:
        """A list where the content has been checked, as `MemberSource.read` says."""
        return [self.content] if self.error is None else self._failing(self.error)

    def _failing(self, error: MemberError) -> Iterator[bytes]:
        yield b""
        raise error


class _Arrivals:
    """Members on their way from the requests to the one reader; bounded by bytes."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._waiting: deque[_Got | Future[None]] = deque()
        self._bytes = 0
        self._changed = threading.Condition()

    def put(self, got: _Got) -> None:
        """Add a member; waits while too much is waiting. Raises `StoppedError` at the end."""
        with self._changed:
            while self._bytes and self._bytes + len(got.content) > _WAITING:
                if self._stop.is_set():
                    raise StoppedError
                self._changed.wait(0.2)
            self._bytes += len(got.content)
            self._waiting.append(got)
            self._changed.notify_all()

    def end(self, future: Future[None]) -> None:
        """Add the end of a request, after all its members."""
        with self._changed:
            self._waiting.append(future)
            self._changed.notify_all()

    def get(self) -> _Got | Future[None]:
        """The next arrival; waits for it."""
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            arrived = self._waiting.popleft()
            if isinstance(arrived, _Got):
                self._bytes -= len(arrived.content)
            self._changed.notify_all()
            return arrived


def plan(members: Iterable[Member], regions: dict[str, tuple[int, int]]) -> list[Span]:
    """Requests for the members, in archive order.

    Members with nothing between them share a request, and small gaps are read over as long as
    all of them together stay under 1 % of what is wanted.
    """
    ordered = sorted(members, key=lambda member: member.offset)
    gaps: list[tuple[int, int]] = []
    for place, (left, right) in enumerate(itertools.pairwise(ordered)):
        gaps.append((max(0, regions[right.image][0] - regions[left.image][1]), place))
    budget = int(_GAPS * sum(member.packed for member in ordered))
    bridged: set[int] = set()
    for gap, place in sorted(gaps):
        if gap > budget:
            break
        budget -= gap
        bridged.add(place)
    # Enough requests to keep all workers busy to the end, and no more.
    total = sum(max(part.packed, part.size) for part in ordered)
    group = min(_LARGE_GROUP, max(_GROUP, total // (2 * WORKERS)))
    spans: list[Span] = []
    run: list[Member] = []
    held = 0
    for place, member in enumerate(ordered):
        run.append(member)
        held += max(member.packed, member.size)
        if held >= group or place not in bridged:
            spans.append(_span(run, regions))
            run, held = [], 0
    return spans


def _span(run: Sequence[Member], regions: dict[str, tuple[int, int]]) -> Span:
    end = max(regions[member.image][1] for member in run)
    return Span(regions[run[0].image][0], end, tuple(run))
