"""Bring what is needed of the release from the hub into the store, and nothing else.

Annotation files are small and come whole; of ``image.zip`` only the directory and the members
that the chosen questions name. See `fetch_release` for what is checked, `ensure` for the fetch
that a host's run does by itself.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.annotations import raise_problems, read_bytes
from dtvqa_plugin.benchmark.release import (
    ARCHIVE_NAME,
    RELEASED_SPLITS,
    AnnotationFile,
    check_split,
    check_subsets,
)
from dtvqa_plugin.data.archives.sources import MemberSource, ZipSource
from dtvqa_plugin.data.hub.client import (
    FetchError,
    Hub,
    HubFile,
    OfflineError,
    Patience,
    RangeIgnoredError,
    secrets_unlogged,
)
from dtvqa_plugin.data.hub.remote_zip import RemoteZip
from dtvqa_plugin.data.splits.reading import chosen_files, cure, partial_allowed, stored_file
from dtvqa_plugin.data.store.checksums import file_crc32, read_checks
from dtvqa_plugin.data.store.store import FileEntry, ImageEntry, Store
from dtvqa_plugin.data.transfer.import_release import (
    Annotations,
    ImageCount,
    ImportReport,
    Mover,
    Progress,
    Wanted,
    count_present,
    offers,
    parse_annotations,
    write_annotations,
    write_manifest,
)
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import offline, switch
from dtvqa_plugin.utils.files import explained

logger = logging.getLogger(__name__)

AUTO_VARIABLE = "DTVQA_AUTO_FETCH"

PINNED_REVISION: str | None = None
"""The commit that published results were made with; ``None`` until there are such results."""

DEFAULT_REVISION = "main"
_DOWNLOADS = ".download"
_LOOKUPS = 4

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is wanted of the release."""

    splits: tuple[str, ...]
    subsets: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    images: bool = True

    @classmethod
    def of(
        cls,
        splits: Sequence[str],
        subsets: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        *,
        images: bool = True,
    ) -> Choice:
        """A choice from any sequences; ``None`` stands for all."""
        return cls(
            tuple(splits),
            None if subsets is None else tuple(subsets),
            None if sources is None else tuple(sources),
            images,
        )

    def files(self) -> list[tuple[str, AnnotationFile, tuple[str, ...]]]:
        """Split, annotation file and the subsets wanted of it. Raises `DataError`."""
        found = []
        for split in dict.fromkeys(self.splits):
            check_split(split, RELEASED_SPLITS)
            names = check_subsets(split, self.subsets)
            found += [(split, *chosen) for chosen in chosen_files(split, names, self.sources)]
        return found


@dataclass(slots=True)
class Lack:
    """What the store lacks of a choice: annotation files, and images by what is the matter."""

    files: list[AnnotationFile] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.files or self.missing or self.damaged)

    def __str__(self) -> str:
        parts = [", ".join(file.path for file in self.files)] if self.files else []
        parts += [f"{len(self.missing)} images"] if self.missing else []
        parts += [f"{len(self.damaged)} damaged images"] if self.damaged else []
        return " and ".join(parts)


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
    archive's CRC-32, so that an interrupted fetch goes on where it was. Of several processes on
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
    lack = lacking(store, choice, recheck)
    if not lack and revision is None:
        return _settled(store, choice)
    if offline():
        raise OfflineError(
            f"{store.home}: {lack or f'revision {revision}'} to be fetched, but HF_HUB_OFFLINE is "
            "set, so nothing was tried; unset it where there is a network, or bring the data over "
            "with 'dtvqa data export' there and 'dtvqa data import' here"
        )
    with secrets_unlogged(), store.lock(lock_timeout):
        lack = lacking(store, choice, recheck)
        if not lack and revision is None:
            return _report(store, choice)
        hub = Hub(revision or _default_revision(store), patience)
        job = _Job(store, choice, lack, hub, revision is not None, note)
        return job.run(full=full, strict=strict, skip_bad=skip_bad, progress=progress)


def lacking(store: Store, choice: Choice, recheck: bool = False) -> Lack:
    """What of the choice is not in the store, or (``recheck``) no longer what was fetched."""
    lack = Lack()
    images: set[str] = set()
    for _, file, subsets in choice.files():
        stored = _stored(store, file)
        if stored is None:
            lack.files.append(file)
        elif choice.images:
            images.update(stored.images(subsets))
    there = store.present(images)
    lack.missing = sorted(images - there)
    if recheck:
        lack.damaged = sorted(changed(store, there))
    return lack


def changed(store: Store, images: set[str]) -> set[str]:
    """Those of the images whose size or CRC-32 is no longer the recorded one."""
    found = set()
    for image, (size, crc32) in read_checks(store, images).items():
        path = store.image_path(image)
        with explained(path, "read"):
            if path.stat().st_size != size or file_crc32(path) != crc32:
                found.add(image)
    return found


# --- by itself, when a host needs data -----------------------------------------------------------

_given_up: set[Path] = set()


def ensure(
    split: str,
    subsets: Sequence[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    images: bool = True,
    allow_partial: bool | None = None,
) -> None:
    """Fetch what the split lacks, unless ``DTVQA_AUTO_FETCH=0`` or ``HF_HUB_OFFLINE`` is set.

    Where partial runs are allowed a fetch that fails is a warning; else it raises `DataError`.
    """
    if split not in RELEASED_SPLITS or not auto_fetch():
        return
    names = check_subsets(split, subsets)
    choice = Choice.of((split,), names, sources, images=images)
    store = Store(home)
    lack = lacking(store, choice)
    if not lack or store.home in _given_up or offline():
        return
    partial = partial_allowed() if allow_partial is None else allow_partial
    logger.warning("%s: fetching what split %s lacks: %s", store.home, split, lack)
    try:
        with progress_bar() as progress:
            report = fetch_release(
                (split,),
                names,
                sources=sources,
                images=images,
                home=home,
                recheck=False,
                progress=progress,
                note=logger.warning,
            )
    except DataError as error:
        if not partial:
            raise DataError(
                f"{store.home}: {lack} of split {split} are missing and could not be fetched: "
                f"{error}. Otherwise {cure(split, names)}"
            ) from None
        _given_up.add(store.home)
        logger.warning("not fetched, going on with what is there: %s", error)
    else:
        if any(count.present < count.expected for count in report.images.values()):
            _given_up.add(store.home)  # the release has no more; do not ask for every subset


def auto_fetch() -> bool:
    """Whether data that a run lacks are fetched: yes, unless ``DTVQA_AUTO_FETCH=0``."""
    return switch(AUTO_VARIABLE, default=True)


@contextmanager
def progress_bar(what: str = "images", unit: str = "B") -> Iterator[Progress]:
    """Bytes, rate and time left on standard error; in a log file, a line now and then."""
    from huggingface_hub import utils
    from tqdm import tqdm

    disabled = utils.are_progress_bars_disabled  # type: ignore[attr-defined]  # re-exported

    every = 0.2 if sys.stderr.isatty() else 15.0
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(
                desc=what,
                total=total,
                unit=unit,
                unit_scale=True,
                mininterval=every,
                maxinterval=2 * every,
                disable=disabled(),
            )
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()


# --- one fetch, under the lock -------------------------------------------------------------------


class _Job:
    """Everything is looked at first (`run` up to ``plan``), then written."""

    def __init__(
        self, store: Store, choice: Choice, lack: Lack, hub: Hub, renew: bool, note: Note
    ) -> None:
        self.store = store
        self.choice = choice
        self.lack = lack
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
                f"{error}. 'dtvqa data fetch --full' downloads the whole archive all the same, "
                "going on where it broke off if the server lets it; or set HF_ENDPOINT to "
                "another mirror"
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
            write_annotations(self.store, self.report)
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
        if self.choice.images and (self.renew or self.lack):
            archive = self.hub.file(ARCHIVE_NAME)
        with ThreadPoolExecutor(_LOOKUPS) as pool:
            try:
                opening = pool.submit(self._open, archive, stack) if archive and not full else None
                wanted = self._annotations(strict, pool)
                there = self.store.present(wanted)
                complete = len(there) == len(wanted) and not self.lack.damaged
                source = opening.result() if opening is not None else None
            except BaseException:
                self.hub.stop.set()
                raise
        if archive is None or (complete and not self.renew):
            return wanted, None
        if source is None:
            source = ZipSource(self._whole(archive, self.store.home / ARCHIVE_NAME))
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
        chosen = self.choice.files()
        stored = [None if self.renew else _stored(self.store, file) for _, file, _ in chosen]
        absent = [file for (_, file, _), part in zip(chosen, stored, strict=True) if part is None]
        if absent and self.hub.commit is None:
            self.hub.file(absent[0].path)  # settles the commit for all that follow
        fetched = dict(zip(absent, pool.map(self._fetched, absent), strict=True))
        wanted: Wanted = {}
        for (split, file, subsets), kept in zip(chosen, stored, strict=True):
            part = fetched[file] if kept is None else kept
            if strict:
                raise_problems(Path(part.origin), part.reading.problems)
            for image, subset in part.images(subsets).items():
                wanted.setdefault(image, (split, subset))
        self.report.files += fetched.values()
        for part in fetched.values():
            if part.released is False:
                self.report.warnings.append(
                    f"{part.origin}: differs from the released {part.file.path} that is known; "
                    "scores made with it may not compare with published ones"
                )
        return wanted if self.choice.images else {}

    def _fetched(self, file: AnnotationFile) -> Annotations:
        found = self.hub.file(file.path)
        self.note(f"{found.label}: {found.size / 1e6:.2f} MB")
        path = self.store.annotation_path(file)
        return parse_annotations(file, found.content(), path, origin=found.label)

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
            self.note(f"{source.label}: {mover.total / 1e6:.1f} MB of images to come")

    # the whole archive

    def _whole(self, file: HubFile, target: Path) -> Path:
        """The archive on disk, checked against the hub's SHA-256; taken up again if begun."""
        if target.is_file() and target.stat().st_size == file.size and _sha_agrees(target, file):
            return target
        key = hashlib.sha256(f"{file.tag} {file.size}".encode()).hexdigest()[:16]
        partial = self.store.home / _DOWNLOADS / f"{key}.part"
        with explained(partial, "write"):
            partial.parent.mkdir(parents=True, exist_ok=True)
            _download(file, partial, self.note)
            if not _sha_agrees(partial, file):
                partial.unlink()
                raise FetchError(f"{file.label}: damaged on the way (its digest differs); again")
            partial.replace(target)
        self.note(f"{target}: kept for further splits; delete it to free {file.size / 1e9:.2f} GB")
        return target


def _download(file: HubFile, partial: Path, note: Note) -> None:
    with partial.open("ab") as handle, progress_bar(file.name) as progress:
        done = min(handle.tell(), file.size)
        free = shutil.disk_usage(partial.parent).free
        if file.size - done > free:
            raise DataError(
                f"{partial}: {(file.size - done) / 1e9:.2f} GB do not fit, {free / 1e9:.2f} GB "
                "are free; free some space or set DTVQA_HOME to another folder"
            )
        for last in (False, False, True):
            try:
                handle.truncate(done)
                _append(file, handle.fileno(), done, progress)
            except RangeIgnoredError:
                if last:
                    raise
                note(f"{file.label}: the server cannot take it up where it broke off; once more")
                done = 0
            else:
                return


def _append(file: HubFile, descriptor: int, done: int, progress: Progress) -> None:
    for chunk in file.stream(done, file.size):
        view = memoryview(chunk)
        while view:
            view = view[os.write(descriptor, view) :]
        done += len(chunk)
        progress(done, file.size)


def _sha_agrees(path: Path, file: HubFile) -> bool:
    """Whether the file has the SHA-256 that is the ETag; true where the ETag is no SHA-256."""
    if not re.fullmatch("[0-9a-f]{64}", file.tag or ""):
        return True
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest() == file.tag


# --- what the store has --------------------------------------------------------------------------


def _stored(store: Store, file: AnnotationFile) -> Annotations | None:
    used = stored_file(store, file)
    if used is None:
        return None
    path = store.annotation_path(used)
    return parse_annotations(used, read_bytes(path), path, fresh=False)


def _settled(store: Store, choice: Choice) -> ImportReport:
    """The report of a fetch that has nothing to do; counts that a killed one left are put right."""
    report = _report(store, choice)
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


def _report(store: Store, choice: Choice) -> ImportReport:
    """The report of a fetch that had nothing to do."""
    report = ImportReport(store.home)
    wanted: Wanted = {}
    for split, file, subsets in choice.files():
        part = _stored(store, file)
        for image, subset in (part.images(subsets) if part else {}).items():
            wanted.setdefault(image, (split, subset))
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
