"""One portable file of a chosen split: a plain tar of the store's layout, out and in again.

An archive holds ``manifest.json``, the annotation files, the images that they name and
``checksums/``. What comes in is not trusted: every member is looked at before anything is written,
nothing is unpacked under a member's own name, and every image is checked against its checksum.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
import uuid
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from dtvqa_plugin.benchmark.annotations import raise_problems, read_bytes
from dtvqa_plugin.benchmark.image_paths import EscapingPathError, UnsafePathError, safe_components
from dtvqa_plugin.benchmark.release import (
    COMBINED_TEST,
    FILES,
    RELEASED_SPLITS,
    AnnotationFile,
    check_split,
    split_subsets,
)
from dtvqa_plugin.data.archives.sources import MAX_IMAGE_BYTES, Member, MemberError
from dtvqa_plugin.data.hub.client import MAX_SMALL_FILE
from dtvqa_plugin.data.splits.reading import cure, stored_file
from dtvqa_plugin.data.store.checksums import FOLDER as CHECKSUMS
from dtvqa_plugin.data.store.checksums import Checks, dump_checks, parse_checks, read_checks
from dtvqa_plugin.data.store.store import (
    IMAGES,
    MANIFEST,
    FileEntry,
    ImageEntry,
    Manifest,
    Store,
    dump_manifest,
    parse_manifest,
)
from dtvqa_plugin.data.transfer.fetch import Choice, lacking
from dtvqa_plugin.data.transfer.import_release import (
    Annotations,
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
from dtvqa_plugin.utils.files import explained

_CHUNK = 1024 * 1024
_BY_PATH = {file.path: file for file in FILES}


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: annotation files by their path in the layout, number of images, bytes."""

    path: Path
    files: tuple[str, ...]
    images: int
    size: int


# --- out -----------------------------------------------------------------------------------------


def export_archive(
    target: str | Path,
    splits: Sequence[str] = ("test",),
    subsets: Sequence[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> ExportReport:
    """Write the chosen splits to ``target``, which appears complete or not at all.

    The same store gives the same bytes. Raises `DataError` when something is missing or damaged
    in the store, and when ``target`` exists (``force`` replaces it).
    """
    path = Path(target).expanduser().absolute()
    store = Store(home)
    choice = Choice.of(splits, subsets, sources)
    _check_complete(store, choice)
    files, images = _chosen(store, choice)
    with explained(path, "write"):
        if path.is_dir():
            raise DataError(f"{path}: a folder stands where the archive is to be written")
        if path.exists() and not force:
            raise DataError(f"{path}: exists already; --force replaces it")
        partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
        try:
            with partial.open("xb") as handle:
                _write_tar(handle, store, files, images, progress)
                handle.flush()
                os.fsync(handle.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        size = path.stat().st_size
    return ExportReport(path, tuple(file.path for file in files), len(images), size)


def _check_complete(store: Store, choice: Choice) -> None:
    lack = lacking(store, choice)
    if lack:
        split = choice.splits[0]
        raise DataError(f"{store.home}: {lack} are missing, nothing is exported; {cure(split)}")


def _chosen(store: Store, choice: Choice) -> tuple[list[AnnotationFile], list[str]]:
    files: dict[str, AnnotationFile] = {}
    images: set[str] = set()
    for _, file, subsets in choice.files():
        used = stored_file(store, file)
        assert used is not None, "lacking() has said that it is there"
        path = store.annotation_path(used)
        files[used.path] = used
        images |= parse_annotations(used, read_bytes(path), path).images(subsets).keys()
    return list(files.values()), sorted(images)


def _write_tar(
    handle: IO[bytes],
    store: Store,
    files: Sequence[AnnotationFile],
    images: Sequence[str],
    progress: Progress | None,
) -> None:
    total = sum(store.image_path(image).stat().st_size for image in images)
    recorded = read_checks(store, images)
    checks: Checks = {}
    done = 0
    with tarfile.open(fileobj=handle, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, MANIFEST, dump_manifest(_manifest_of(store, files, images)))
        for file in files:
            _add(archive, file.path, store.annotation_path(file).read_bytes())
        for image in images:
            check = _add_image(archive, store.image_path(image), f"{IMAGES}/{image}")
            if recorded.get(image, check) != check:
                raise DataError(
                    f"{store.image_path(image)}: changed since it was imported; "
                    "'dtvqa data fetch' (or import) puts it right"
                )
            checks[image] = check
            done += check[0]
            if progress is not None:
                progress(done, total)
        for folder, part in _by_folder(checks).items():
            _add(archive, f"{CHECKSUMS}/{folder}.json", dump_checks(part))


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_info(name, len(content)), io.BytesIO(content))


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    return info


def _add_image(archive: tarfile.TarFile, path: Path, name: str) -> tuple[int, int]:
    size = path.stat().st_size
    with path.open("rb") as handle:
        counted = _Counted(handle)
        archive.addfile(_info(name, size), counted)
    return size, counted.crc32


class _Counted:
    """A readable that keeps the CRC-32 of what was read."""

    def __init__(self, handle: IO[bytes]) -> None:
        self.handle = handle
        self.crc32 = 0

    def read(self, size: int = -1) -> bytes:
        content = self.handle.read(size)
        self.crc32 = zlib.crc32(content, self.crc32)
        return content


def _by_folder(checks: Checks) -> dict[str, dict[str, tuple[int, int]]]:
    found: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for image, check in checks.items():
        folder, _, name = image.rpartition("/")
        found[folder][name] = check
    return found


def _manifest_of(
    store: Store, files: Sequence[AnnotationFile], images: Collection[str]
) -> Manifest:
    """What the manifest says of the exported part; sources on this machine are left out."""
    manifest = store.manifest()
    folders = {image.split("/")[0] for image in images}
    kept = Manifest(created=manifest.created, updated=manifest.updated)
    for file in files:
        if file.path in manifest.files:
            kept.files[file.path] = manifest.files[file.path]
    for key, entry in manifest.images.items():
        subset, _, split = key.partition("/")
        if subset in folders and split in {file.split for file in files}:
            kept.images[key] = entry
    parts: list[FileEntry | ImageEntry] = [*kept.files.values(), *kept.images.values()]
    for part in parts:
        if "://" not in part.source:
            part.source = "a local import"
    return kept


# --- in ------------------------------------------------------------------------------------------


def is_tar(path: str | Path) -> bool:
    """Whether the file begins as a tar archive does, compressed or not."""
    path = Path(path)
    with explained(path, "read", in_store=False):
        return path.is_file() and path.stat().st_size > 0 and tarfile.is_tarfile(path)


def import_archive(
    path: str | Path,
    splits: Sequence[str] | None = None,
    subsets: Sequence[str] | None = None,
    *,
    home: str | Path | None = None,
    strict: bool = False,
    skip_bad: bool = False,
    lock_timeout: float | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import what `export_archive` wrote: all of it, or only some splits and subsets.

    The whole archive is looked at before anything is written; then as `import_release` does.
    Raises `DataError` for an archive that is no such export, with nothing written.
    """
    store = Store(home)
    store.manifest()
    report = ImportReport(store.home)
    for split in splits or ():
        check_split(split, RELEASED_SPLITS)
    source = TarSource(Path(path).expanduser().absolute())
    try:
        wanted: Wanted = {}
        for part in source.annotations():
            if splits is not None and part.file.split not in splits:
                continue
            names = [n for n in split_subsets(part.file.split) if not subsets or n in subsets]
            if strict:
                raise_problems(Path(part.origin), part.reading.problems)
            report.files.append(part)
            for image, subset in part.images(names).items():
                if part.file is not COMBINED_TEST or subset in source.subsets:
                    wanted.setdefault(image, (part.file.split, subset))
        if not wanted:
            raise DataError(f"{source.label}: holds nothing of what was chosen")
        revision = source.revision()
        offered = offers([source], wanted)
        with store.lock(lock_timeout):
            mover = Mover(store, report, wanted, skip_bad, progress)
            mover.plan(offered)
            mover.move()
            write_annotations(store, report)
            count_present(store, report, wanted)
            write_manifest(store, report, revision, source.label)
    finally:
        source.close()
    return report


class TarSource:
    """The members of an exported archive; a `MemberSource` for its images."""

    def __init__(self, path: Path) -> None:
        """Open the archive and look at every member. Raises `DataError` unless all belong."""
        self.path = path
        self._members: dict[str, tarfile.TarInfo] = {}
        with explained(path, "read", in_store=False):
            try:
                self._tar = tarfile.open(path, "r:")  # noqa: SIM115  # closed by close()
            except tarfile.TarError as error:
                raise DataError(
                    f"{path}: no plain tar ({error}); unpack a compressed one first "
                    "(gunzip and the like) and import the .tar"
                ) from None
            try:
                self._look()
            except BaseException:
                self._tar.close()
                raise

    @property
    def label(self) -> str:
        return str(self.path)

    @property
    def subsets(self) -> set[str]:
        """The subsets that images are there of."""
        return {name.split("/")[1] for name in self._members if name.startswith(f"{IMAGES}/")}

    def _look(self) -> None:
        try:
            for info in self._tar:
                if not info.isdir():
                    self._check(info)
        except tarfile.TarError as error:
            raise DataError(f"{self.path}: cut off or damaged ({error}); copy it again") from None
        end = max((i.offset_data + i.size for i in self._members.values()), default=0)
        if not self._members or end > self.path.stat().st_size:
            raise DataError(f"{self.path}: cut off, or no export of 'dtvqa data export'")

    def _check(self, info: tarfile.TarInfo) -> None:
        refused = f"{self.path}: refused: the member {info.name[:200]!a}"
        try:
            name = "/".join(safe_components(info.name))
        except EscapingPathError as error:
            raise DataError(f"{refused} {error}") from None
        except UnsafePathError as error:
            raise DataError(f"{refused} {error}") from None
        if not info.isreg() or info.issparse():
            kind = "a link" if info.issym() or info.islnk() else "no regular file"
            raise DataError(f"{refused} is {kind}")
        limit = _limit(name)
        if limit is None:
            raise DataError(f"{refused} is no part of an export of 'dtvqa data export'")
        if info.size > limit:
            raise DataError(f"{refused} has {info.size} bytes, over the limit of {limit}")
        if name in self._members:
            raise DataError(f"{refused} stands in it twice")
        self._members[name] = info

    def annotations(self) -> Iterator[Annotations]:
        """The annotation files, checked. Raises `DataError`."""
        for name, file in _BY_PATH.items():
            if name in self._members:
                where = self.path / name
                yield parse_annotations(file, self._content(name), where, origin=self.label)

    def revision(self) -> str | None:
        """The commit that all of it came from, if the manifest in it says so."""
        if MANIFEST not in self._members:
            return None
        manifest = parse_manifest(self._content(MANIFEST), self.path / MANIFEST)
        named = {entry.revision for entry in manifest.files.values()}
        (commit,) = named if len(named) == 1 else (None,)
        return commit if commit and re.fullmatch("[0-9a-f]{40}", commit) else None

    def _content(self, name: str) -> bytes:
        return b"".join(self._chunks_of(name, self._members[name]))

    def find(self, wanted: Collection[str]) -> dict[str, Member]:
        checks: Checks = {}
        for name in self._members:
            if name.startswith(f"{CHECKSUMS}/"):
                folder = name.removeprefix(f"{CHECKSUMS}/").removesuffix(".json")
                part = parse_checks(self._content(name), f"{self.path}: {name}")
                checks.update((f"{folder}/{file}", check) for file, check in part.items())
        found: dict[str, Member] = {}
        for image in wanted:
            info = self._members.get(f"{IMAGES}/{image}")
            if info is None:
                continue
            if image not in checks:
                raise DataError(f"{self.path}: the image {image} has no checksum in it")
            size, crc32 = checks[image]
            if size != info.size:
                raise DataError(f"{self.path}: the image {image} is not as long as recorded")
            found[image] = Member(image, info.name, size, crc32, info.offset, size)
        return found

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        for member in sorted(members, key=lambda member: member.offset):
            yield member, self._image(member)

    def _image(self, member: Member) -> Iterator[bytes]:
        crc32 = 0
        name = f"{IMAGES}/{member.image}"
        for chunk in self._chunks_of(name, self._members[name]):
            crc32 = zlib.crc32(chunk, crc32)
            yield chunk
        if crc32 != member.crc32:
            raise MemberError(f"{self.path}: {member.name}: damaged (its CRC-32 differs)")

    def _chunks_of(self, name: str, info: tarfile.TarInfo) -> Iterator[bytes]:
        left = info.size
        try:
            handle = self._tar.extractfile(info)
            assert handle is not None, "only regular files are members"
            while left and (chunk := handle.read(min(_CHUNK, left))):
                left -= len(chunk)
                yield chunk
        except (tarfile.TarError, OSError) as error:
            raise MemberError(f"{self.path}: {name}: cannot be read: {error}") from error
        if left:
            raise MemberError(f"{self.path}: {name}: cut off")

    def close(self) -> None:
        self._tar.close()


def _limit(name: str) -> int | None:
    """Most bytes a member of this name may have; ``None`` where no export has such a member."""
    if name == MANIFEST or name in _BY_PATH:
        return MAX_SMALL_FILE
    if re.fullmatch(rf"{CHECKSUMS}/[^/]+/[^/]+\.json", name):
        return MAX_SMALL_FILE
    return MAX_IMAGE_BYTES if re.fullmatch(rf"{IMAGES}/[^/]+/[^/]+/[^/]+", name) else None


def report_json(report: ExportReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    return {**asdict(report), "path": str(report.path)}
