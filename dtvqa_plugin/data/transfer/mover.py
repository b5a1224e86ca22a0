"""Images on their way into the store: what to write is chosen first, then written."""

from __future__ import annotations

import filecmp
import shutil
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from dtvqa_plugin.data.archives import Member, MemberError, MemberSource
from dtvqa_plugin.data.store import Checks, Store, file_crc32, record_checks
from dtvqa_plugin.data.transfer.choice import Wanted
from dtvqa_plugin.data.transfer.report import ImageCount, ImportReport
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained
from dtvqa_plugin.utils.images import check_image
from dtvqa_plugin.utils.progress import Progress

_WRITERS = 4

Offer = tuple[MemberSource, list[Member]]


def offers(sources: Iterable[MemberSource], wanted: Wanted) -> list[Offer]:
    """What each source has of the wanted images that no source before it has."""
    taken: set[str] = set()
    offered: list[Offer] = []
    for source in sources:
        with explained(Path(source.label), "read", in_store=False):
            found = source.find(wanted)
        offered.append((source, [found[image] for image in found if image not in taken]))
        taken.update(found)
    return offered


class Mover:
    """Writes offered images that the store lacks, or holds differently."""

    def __init__(
        self,
        store: Store,
        report: ImportReport,
        wanted: Wanted,
        skip_bad: bool,
        progress: Progress | None,
    ) -> None:
        self.store = store
        self.report = report
        self.wanted = wanted
        self.skip_bad = skip_bad
        self.progress = progress
        self.done = 0
        self.total = 0
        self.checks: Checks = {}
        for key in wanted.values():
            report.images.setdefault(key, ImageCount()).expected += 1
        self._lock = threading.Lock()
        self._stored: set[str] = set()
        self._todo: list[Offer] = []

    def plan(self, offered: Sequence[Offer]) -> None:
        """Choose what to write; writes nothing. Raises `DataError` when it would not fit."""
        self._stored = self.store.present(self.wanted)
        for source, members in offered:
            needed = [m for m in members if m.image not in self._stored or not self._same(m)]
            self._todo.append((source, needed))
        self.total = sum(member.size for _, members in self._todo for member in members)
        self._check_space()
        self._advance(0)

    def move(self) -> None:
        """Write what was chosen; what is complete stays when an error ends it."""
        try:
            for source, members in self._todo:
                with ThreadPoolExecutor(_WRITERS) as pool:
                    self._move_all(source.read(members), pool)
        finally:
            record_checks(self.store, self.checks)

    def _move_all(
        self, arriving: Iterator[tuple[Member, Iterable[bytes]]], pool: ThreadPoolExecutor
    ) -> None:
        """Content that is in memory already is written side by side with what still comes."""
        writing: set[Future[None]] = set()
        for member, chunks in arriving:
            if not isinstance(chunks, list):
                self._move_one(member, chunks)
                continue
            writing.add(pool.submit(self._move_one, member, chunks))
            if len(writing) >= 2 * _WRITERS:
                done, writing = wait(writing, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        for future in writing:
            future.result()

    def _check_space(self) -> None:
        free = shutil.disk_usage(self.store.home).free
        if self.total > free:
            raise DataError(
                f"{self.store.home}: {self.total / 1e6:.0f} MB of images do not fit, "
                f"{free / 1e6:.0f} MB are free; free some space or choose fewer subsets"
            )

    def _same(self, member: Member) -> bool:
        """Whether the store's copy has the member's content (by CRC where the source knows it)."""
        path = self.store.image_path(member.image)
        with explained(path, "compare"):
            if path.stat().st_size != member.size:
                return False
            if member.crc32 is None:
                return filecmp.cmp(path, member.name, shallow=False)
            same = file_crc32(path) == member.crc32
        if same:
            self.checks[member.image] = (member.size, member.crc32)
        return same

    def _move_one(self, member: Member, chunks: Iterable[bytes]) -> None:
        written = 0
        crc32 = 0
        try:
            with self.store.writing(
                self.store.image_path(member.image), check=lambda path: _check(path, member)
            ) as handle:
                for chunk in chunks:
                    handle.write(chunk)
                    if member.crc32 is None:
                        crc32 = zlib.crc32(chunk, crc32)
                    written += len(chunk)
                    self._advance(len(chunk))
        except MemberError as error:
            if not self.skip_bad:
                raise DataError(
                    f"{error} (--skip-bad imports the other images and leaves this one missing)"
                ) from error
            self.report.bad.append(str(error))
            self._advance(member.size - written)
            return
        self.checks[member.image] = (member.size, crc32 if member.crc32 is None else member.crc32)
        count = self.report.images[self.wanted[member.image]]
        with self._lock:
            if member.image in self._stored:
                count.replaced += 1
            else:
                count.added += 1

    def _advance(self, size: int) -> None:
        with self._lock:
            self.done += size
            if self.progress is not None:
                self.progress(self.done, self.total)


def _check(path: Path, member: Member) -> None:
    try:
        check_image(path, member.name)
    except DataError as error:
        raise MemberError(str(error)) from error
