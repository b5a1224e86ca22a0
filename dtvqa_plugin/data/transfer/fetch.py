"""Download the needed part of the release from the hub into the store.

Annotation files are small and come whole; of ``image.zip`` only the directory and the members
that the chosen questions name. See `fetch_release` for what is checked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from dtvqa_plugin.benchmark.records import raise_problems
from dtvqa_plugin.benchmark.release import ARCHIVE_NAME, AnnotationFile
from dtvqa_plugin.data.archives import MemberSource, ZipSource
from dtvqa_plugin.data.hub import (
    FetchError,
    Hub,
    HubFile,
    OfflineError,
    Patience,
    RangeIgnoredError,
    RemoteZip,
    download,
    secrets_unlogged,
)
from dtvqa_plugin.data.store import FileEntry, ImageEntry, Store
from dtvqa_plugin.data.transfer.annotation_files import (
    Annotations,
    parse_annotations,
    write_annotations,
)
from dtvqa_plugin.data.transfer.choice import Choice, Holdings, Wanted, holdings
from dtvqa_plugin.data.transfer.mover import Mover, offers
from dtvqa_plugin.data.transfer.report import (
    ImageCount,
    ImportReport,
    count_present,
    write_manifest,
)
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import offline
from dtvqa_plugin.utils.progress import Note, Progress
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

PINNED_REVISION: str | None = None
"""The commit that published results were made with; ``None`` until there are such results."""

DEFAULT_REVISION = "main"
_DOWNLOADS = ".download"
_LOOKUPS = 4


def fetch_release(
    splits: Sequence[str] = ("test",),
    subsets: Sequence[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    images: bool = True,
    home: str | Path | None = None,
    revision: str | None = None,
    full: bool = False,
    strict: bool = False,
    skip_bad: bool = False,
    recheck: bool = True,
    lock_timeout: float | None = None,
    progress: Progress | None = None,
    note: Note = logger.info,
    patience: Patience | None = None,
) -> ImportReport:
    """Fetch the annotation files of the chosen splits and the images that they name.

    Nothing is asked of the network when everything is there (``recheck``: and unchanged since it
    came, by size and CRC-32). Annotation files, the archive's directory and the free space are
    checked before anything is written; then images appear one by one, each checked against the
    archive's CRC-32, so that an interrupted fetch continues. Of several processes on
    one store one fetches and the others wait.

    ``revision``: commit, tag or branch. Default: the commit that the store's data came from, else
    `PINNED_REVISION`, else ``main``; resolved to a commit, which the manifest records. With a
    revision given, what is there is compared with it. ``full`` permits to download the whole
    archive, for servers that ignore byte ranges. ``sources`` limits the annotation files;
    ``images=False`` leaves images out.

    Raises `DataError` (`OfflineError`, `FetchError`) with what is missing and what cures it.
    """
    choice = Choice.of(splits, subsets, sources, images=images)
    store = Store(home)
    held = holdings(store, choice, recheck)
    if held.complete and revision is None:
        return _settled(store, choice, held)
    if offline():
        raise OfflineError(
            f"{store.home}: {held.lack or f'revision {revision}'} must be fetched, but "
            "HF_HUB_OFFLINE is set; unset it, or copy the data from a machine with a network: "
            "'dtvqa data export' there, 'dtvqa data import' here"
        )
    with secrets_unlogged(), store.lock(lock_timeout):
        held = holdings(store, choice, recheck)
        if held.complete and revision is None:
            return _report(store, choice, held)
        hub = Hub(revision or _default_revision(store), patience, note)
        job = _Job(store, choice, held, hub, revision is not None, note)
        return job.run(full=full, strict=strict, skip_bad=skip_bad, progress=progress)


# --- one fetch, under the lock -------------------------------------------------------------------


class _Job:
    """Everything is looked at first (`run` up to ``plan``), then written."""

    def __init__(
        self, store: Store, choice: Choice, held: Holdings, hub: Hub, renew: bool, note: Note
    ) -> None:
        self.store = store
        self.choice = choice
        self.held = held
        self.hub = hub
        self.renew = renew
        self.note = note
        self.report = ImportReport(store.home)

    def run(
        self, *, full: bool, strict: bool, skip_bad: bool, progress: Progress | None
    ) -> ImportReport:
        try:
            self._run(full, strict, skip_bad, progress)
        except RangeIgnoredError as error:
            raise FetchError(
                f"{error}. 'dtvqa data fetch --full' downloads the whole archive; or set "
                "HF_ENDPOINT to another mirror"
            ) from None
        for warning in self.report.warnings:
            logger.warning("%s", warning)
        return self.report

    def _run(self, full: bool, strict: bool, skip_bad: bool, progress: Progress | None) -> None:
        with ExitStack() as stack:
            wanted, source = self._looked_at(full, strict, stack)
            mover = Mover(self.store, self.report, wanted, skip_bad, progress)
            if source is not None:
                self._offer(mover, source, wanted)
            write_annotations(self.store, self.report.files)
            self._note_manifest(images=source is not None)
            if source is not None:
                mover.move()
            count_present(self.store, self.report, wanted)
            self._note_manifest(images=source is not None)

    def _looked_at(
        self, full: bool, strict: bool, stack: ExitStack
    ) -> tuple[Wanted, MemberSource | None]:
        """The images wanted, and an archive to take them from if any is missing or damaged.

        The archive's directory is read while the annotation files come.
        """
        archive = None
        if self.choice.images and (self.renew or not self.held.complete):
            archive = self.hub.file(ARCHIVE_NAME)
        with ThreadPoolExecutor(_LOOKUPS) as pool:
            try:
                opening = pool.submit(self._open, archive, stack) if archive and not full else None
                wanted = self._annotations(strict, pool)
                there = self.store.present(wanted)
                complete = len(there) == len(wanted) and not self.held.damaged
                source = opening.result() if opening is not None else None
            except BaseException:
                self.hub.stop.set()
                raise
        if archive is None or (complete and not self.renew):
            return wanted, None
        if source is None:
            kept = self.store.home / ARCHIVE_NAME
            source = ZipSource(download(archive, kept, self.store.home / _DOWNLOADS, self.note))
            stack.callback(source.close)
        return wanted, source

    def _open(self, archive: HubFile, stack: ExitStack) -> ZipSource:
        kept = self.store.home / ARCHIVE_NAME
        if kept.is_file() and kept.stat().st_size == archive.size:
            source = ZipSource(kept)
        else:
            source = RemoteZip(archive)
        stack.callback(source.close)
        return source

    def _note_manifest(self, *, images: bool) -> None:
        revision = self.hub.commit or self.hub.revision
        report = self.report if images else ImportReport(self.store.home, self.report.files)
        write_manifest(self.store, report, revision, f"{self.hub.label}/{ARCHIVE_NAME}")

    # annotations

    def _annotations(self, strict: bool, pool: Executor) -> Wanted:
        kept = {} if self.renew else self.held.stored
        absent = [chosen.file for chosen in self.choice.files if chosen.file not in kept]
        if absent and self.hub.commit is None:
            self.hub.file(absent[0].path)  # settles the commit for all that follow
        fetched = dict(zip(absent, pool.map(self._fetched, absent), strict=True))
        parts = {**kept, **fetched}
        if strict:
            for part in parts.values():
                raise_problems(Path(part.origin), part.reading.problems)
        self.report.files += fetched.values()
        for part in fetched.values():
            if part.released is False:
                self.report.warnings.append(
                    f"{part.origin}: differs from the released {part.file.path}; "
                    "scores made with it may not compare with published ones"
                )
        return self.choice.wanted(parts) if self.choice.images else {}

    def _fetched(self, file: AnnotationFile) -> Annotations:
        found = self.hub.file(file.path)
        self.note(f"{found.label}: {found.size / 1e6:.2f} MB")
        path = self.store.annotation_path(file)
        content = found.content()
        try:
            return parse_annotations(file, content, path, origin=found.label)
        except DataError as error:  # nothing is stored yet: the address is where it came from
            raise FetchError(str(error).replace(str(path), found.label)) from None

    # images

    def _offer(self, mover: Mover, source: MemberSource, wanted: Wanted) -> None:
        offered = offers([source], wanted)
        found = {member.image for _, members in offered for member in members}
        absent = sorted(set(wanted) - found)
        if absent and not found:
            raise DataError(
                f"{source.label}: holds none of the {len(wanted)} images wanted, such as "
                f"{absent[0]} (under any prefix); is it the archive of the release?"
            )
        if absent:
            self.report.warnings.append(
                f"{source.label}: {len(absent)} of {len(wanted)} images are not in it "
                f"(first: {absent[0]})"
            )
        mover.plan(offered)
        if mover.total:
            self.note(f"{source.label}: {mover.total / 1e6:.1f} MB of images to download")


# --- nothing to do -------------------------------------------------------------------------------


def _settled(store: Store, choice: Choice, held: Holdings) -> ImportReport:
    """The report of a fetch that has nothing to do; counts that a killed one left are put right."""
    report = _report(store, choice, held)
    entries = store.manifest().images
    stale = [
        f"{subset}/{split}"
        for (split, subset), count in report.images.items()
        if f"{subset}/{split}" in entries
        and entries[f"{subset}/{split}"].present < count.present == count.expected
    ]
    if stale and os.access(store.home, os.W_OK):
        with store.lock():
            manifest = store.manifest()
            for key in stale:
                manifest.images[key].present = manifest.images[key].expected
            store.write_manifest(manifest)
    return report


def _report(store: Store, choice: Choice, held: Holdings) -> ImportReport:
    """The report of a fetch that had nothing to do."""
    report = ImportReport(store.home)
    wanted = choice.wanted(held.stored)
    for key in wanted.values():
        report.images.setdefault(key, ImageCount()).expected += 1
    count_present(store, report, wanted)
    return report


def _default_revision(store: Store) -> str:
    if PINNED_REVISION is not None:
        return PINNED_REVISION
    manifest = store.manifest()
    entries: list[FileEntry | ImageEntry] = [*manifest.files.values(), *manifest.images.values()]
    commits = [e for e in entries if re.fullmatch("[0-9a-f]{40}", e.revision or "")]
    latest = max(commits, key=lambda entry: entry.imported, default=None)
    return DEFAULT_REVISION if latest is None or latest.revision is None else latest.revision
