"""Bring a release into the store: everything is checked first, then moved in file by file."""

from __future__ import annotations

import filecmp
import logging
import re
import shutil
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.annotations import (
    Problem,
    Reading,
    parse_test,
    parse_train,
    raise_problems,
    read_bytes,
)
from dtvqa_plugin.benchmark.release import (
    ARCHIVE_NAME,
    COMBINED_TEST,
    RELEASED_SPLITS,
    REPO_ID,
    AnnotationFile,
    check_split,
    check_subsets,
    split_files,
    split_subsets,
)
from dtvqa_plugin.data.archives.sources import (
    FolderSource,
    Member,
    MemberError,
    MemberSource,
    ZipSource,
)
from dtvqa_plugin.data.store.checksums import Checks, file_crc32, record_checks
from dtvqa_plugin.data.store.store import FileEntry, ImageEntry, Store
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, kind
from dtvqa_plugin.utils.images import check_image
from dtvqa_plugin.utils.text import now

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all, as images are written."""


_WRITERS = 4


@dataclass(frozen=True, slots=True)
class Annotations:
    """An annotation file checked and ready to be stored; ``fresh`` when the store has it not."""

    file: AnnotationFile
    content: bytes
    reading: Reading[Any]
    origin: str
    fresh: bool = True

    @property
    def released(self) -> bool | None:
        """Whether the bytes are the known released ones; ``None`` where no hash is known."""
        known = self.file.sha256
        return None if known is None else known == self.reading.sha256

    def images(self, subsets: Collection[str]) -> dict[str, str]:
        """Subset by image (``SUBSET/SPLIT/FILE``) of the usable records in ``subsets``."""
        return {r.image: r.subset for r in self.reading.records if r.subset in subsets}


@dataclass(slots=True)
class ImageCount:
    """Images of one subset and split: how many a full store holds and what the import did."""

    expected: int = 0
    present: int = 0
    added: int = 0
    replaced: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import did; ``images`` is keyed ``(split, subset)``."""

    home: Path
    files: list[Annotations] = field(default_factory=list)
    absent: list[AnnotationFile] = field(default_factory=list)
    images: dict[tuple[str, str], ImageCount] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[Problem]:
        """Unusable records of the files imported."""
        return [problem for part in self.files for problem in part.reading.problems]


def import_release(
    path: str | Path,
    splits: Sequence[str] = ("test",),
    subsets: Sequence[str] | None = None,
    *,
    home: str | Path | None = None,
    strict: bool = False,
    skip_bad: bool = False,
    revision: str | None = None,
    lock_timeout: float | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a release from a folder in the published layout, or from its ``image.zip``.

    Copies the annotation files of the chosen splits and the images that they name. Annotations,
    archive directory and member names are checked before anything is written; images are then
    moved in one by one, annotations and manifest last. Interrupted, it is run again and goes on.
    Images in the store that differ from those offered are replaced, and counted.

    Raises `DataError` for anything unusable. ``skip_bad`` leaves out images that cannot be read
    (and reports them) where the first would otherwise end the import.
    """
    root = Path(path).expanduser().absolute()
    _check_root(root)
    store = Store(home)
    store.manifest()  # a damaged or newer one ends the import before anything is written
    report = ImportReport(store.home)
    chosen = _choose(root, splits, subsets, store, report, strict)
    wanted = wanted_images(chosen, splits, subsets)
    with ExitStack() as stack:
        sources = _open_sources(root, stack)
        offered = offers(sources, wanted)
        with store.lock(lock_timeout):
            mover = Mover(store, report, wanted, skip_bad, progress)
            mover.plan(offered)
            mover.move()
            write_annotations(store, report)
            count_present(store, report, wanted)
            write_manifest(store, report, revision or _snapshot(root), str(root))
    for warning in report.warnings:
        logger.warning("%s", warning)
    return report


def _check_root(root: Path) -> None:
    there = _kind(root)
    if there is None:
        raise DataError(f"{root}: no such folder or archive")
    if there != "folder" and root.suffix.lower() != ".zip":
        raise DataError(
            f"{root}: a file stands where a folder in the published layout (test/, train/, "
            f"image/ or {ARCHIVE_NAME}) or such a zip is expected"
        )


def _snapshot(root: Path) -> str | None:
    """The revision that a Hugging Face cache folder, ``snapshots/<commit>``, names."""
    named = root.parent.name == "snapshots" and re.fullmatch("[0-9a-f]{40}", root.name)
    return root.name if named else None


# --- annotations ---------------------------------------------------------------------------------


def _choose(
    root: Path,
    splits: Sequence[str],
    subsets: Sequence[str] | None,
    store: Store,
    report: ImportReport,
    strict: bool,
) -> dict[str, list[Annotations]]:
    """Annotations by split, from ``root`` or else from the store; fills the report's lists."""
    chosen: dict[str, list[Annotations]] = {}
    folder = root if root.is_dir() else root.parent
    for split in dict.fromkeys(splits):
        check_split(split, RELEASED_SPLITS)
        names = _subsets_of(split, splits, subsets)
        found: dict[str, Annotations] = {}
        for file in split_files(split):
            if file.subset not in names:
                continue
            part = _annotations(folder, file, store, found)
            if part is None:
                report.absent.append(file)
            else:
                found[part.file.path] = part
        chosen[split] = list(found.values())
        report.files.extend(part for part in found.values() if part.fresh)
    if not any(chosen.values()):
        looked = ", ".join(file.path for file in report.absent)
        raise DataError(f"{folder}: no annotation file there or in the store (looked for {looked})")
    for part in report.files:
        if part.file is COMBINED_TEST:
            _check_agrees(part, store)
        if strict:
            raise_problems(Path(part.origin), part.reading.problems)
        if part.released is False:
            report.warnings.append(
                f"{part.origin}: differs from the released {part.file.path}; "
                "scores made with it may not compare with published ones"
            )
    return chosen


def _subsets_of(
    split: str, splits: Sequence[str], subsets: Sequence[str] | None
) -> tuple[str, ...]:
    """The chosen subsets that ``split`` has; one that none of ``splits`` has is an error."""
    if subsets is None or len(set(splits)) == 1:
        return check_subsets(split, subsets)
    there = {name: [s for s in splits if name in split_subsets(s)] for name in subsets}
    for name, having in there.items():
        if not having:
            check_subsets(split, [name])  # raises, naming what there is
    return tuple(name for name in split_subsets(split) if name in there)


def _annotations(
    folder: Path, file: AnnotationFile, store: Store, found: dict[str, Annotations]
) -> Annotations | None:
    candidates = [file] if file.split != "test" else [file, COMBINED_TEST]
    for candidate in candidates:
        if candidate.path in found:
            return found[candidate.path]
        path = _locate(folder, candidate)
        if path is not None:
            return _read(candidate, path, fresh=True)
    for candidate in candidates:
        if store.has_annotations(candidate):
            return _read(candidate, store.annotation_path(candidate), fresh=False)
    return None


def _check_agrees(part: Annotations, store: Store) -> None:
    """Refuse a DT_test.json whose records a subset file already in the store would overrule."""
    for file in split_files("test"):
        if not store.has_annotations(file):
            continue
        path = store.annotation_path(file)
        stored = _read(file, path, fresh=False).reading.records
        if stored != tuple(r for r in part.reading.records if r.subset == file.subset):
            raise DataError(
                f"{part.origin}: its {file.subset} records differ from {path}, which is read in "
                f"preference; import {file.path} of the same release too, or remove that file"
            )


def _locate(folder: Path, file: AnnotationFile) -> Path | None:
    """The file in the published layout, lying beside the archive, or under a ``data/`` folder."""
    name = Path(file.path).name
    for place in (file.path, name, f"data/{file.path}", f"data/{name}"):
        path = folder / place
        if _kind(path) is not None:
            return path
    return None


def _kind(path: Path) -> str | None:
    with explained(path, "look at", in_store=False):
        return kind(path)


def _read(file: AnnotationFile, path: Path, *, fresh: bool) -> Annotations:
    return parse_annotations(file, read_bytes(path), path, fresh=fresh)


def parse_annotations(
    file: AnnotationFile, content: bytes, path: Path, *, fresh: bool = True, origin: str = ""
) -> Annotations:
    """Check annotation bytes; ``path`` names them in messages, ``origin`` in the manifest.

    Raises `DataError` when they are not what the file is to hold, or hold no usable record.
    """
    reading: Reading[Any]
    if file.kind == "train":
        reading = parse_train(content, path)
    else:
        names = split_subsets(file.split) if file.subset is None else (file.subset,)
        reading = parse_test(content, path, subsets=names)
    if not reading.records:
        first = f" (the first: {reading.problems[0]})" if reading.problems else ""
        raise DataError(
            f"{path}: holds no usable record{first}; get the file again from {REPO_ID} on the "
            "Hugging Face hub"
        )
    return Annotations(file, content, reading, origin or str(path), fresh)


def write_annotations(store: Store, report: ImportReport) -> None:
    for part in report.files:
        target = store.annotation_path(part.file)
        if store.has_annotations(part.file) and read_bytes(target) == part.content:
            continue
        with store.writing(target, sync=True) as handle:
            handle.write(part.content)


# --- images --------------------------------------------------------------------------------------

Wanted = dict[str, tuple[str, str]]
"""``(split, subset)`` by image."""


def wanted_images(
    chosen: dict[str, list[Annotations]], splits: Sequence[str], subsets: Sequence[str] | None
) -> Wanted:
    wanted: Wanted = {}
    for split in dict.fromkeys(splits):
        names = _subsets_of(split, splits, subsets)
        for part in chosen[split]:
            for image, subset in part.images(names).items():
                wanted.setdefault(image, (split, subset))
    return wanted


def _open_sources(root: Path, stack: ExitStack) -> list[MemberSource]:
    """The image tree first, then the archive for what the tree lacks."""
    sources: list[MemberSource] = []
    archive = root / ARCHIVE_NAME if root.is_dir() else root
    if root.is_dir():
        sources.append(FolderSource(root))
    there = _kind(archive)
    if there == "folder":
        raise DataError(f"{archive}: a folder stands where the archive is expected")
    if there is not None:
        zipped = ZipSource(archive)
        stack.callback(zipped.close)
        sources.append(zipped)
    return sources


Offer = tuple[MemberSource, list[Member]]


def offers(sources: Iterable[MemberSource], wanted: Wanted) -> list[Offer]:
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


def count_present(store: Store, report: ImportReport, wanted: Wanted) -> None:
    there = store.present(wanted)
    for image, key in wanted.items():
        report.images[key].present += image in there


# --- manifest ------------------------------------------------------------------------------------


def write_manifest(store: Store, report: ImportReport, revision: str | None, origin: str) -> None:
    """Bring the manifest up to date; an import that changed nothing leaves it as it was."""
    manifest = store.manifest()
    files, images = dict(manifest.files), dict(manifest.images)
    for part in report.files:
        entry = FileEntry(
            sha256=part.reading.sha256,
            split=part.file.split,
            subset=part.file.subset,
            source=part.origin,
            revision=revision,
            released=part.released,
            records=len(part.reading.records),
            problems=len(part.reading.problems),
            imported=now(),
        )
        old = files.get(part.file.path)
        files[part.file.path] = old if old and _same_but_time(old, entry) else entry
    for (split, subset), count in report.images.items():
        image = ImageEntry(count.present, count.expected, origin, revision, now())
        known = images.get(f"{subset}/{split}")
        images[f"{subset}/{split}"] = known if known and _same_but_time(known, image) else image
    if not store.manifest_path.exists() or (files, images) != (manifest.files, manifest.images):
        manifest.files, manifest.images = files, images
        store.write_manifest(manifest)


def _same_but_time(old: FileEntry | ImageEntry, new: FileEntry | ImageEntry) -> bool:
    return {**asdict(old), "imported": ""} == {**asdict(new), "imported": ""}
