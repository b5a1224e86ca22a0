"""One portable file of chosen splits: a plain tar of the store's layout (see `import_archive`).

It holds ``manifest.json``, the annotation files, the images that they name, ``checksums/`` and the
recognised text of those images that have it.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.data.splits import released_split
from dtvqa_plugin.data.store import (
    CHECKSUMS,
    IMAGES,
    MANIFEST,
    Checks,
    FileEntry,
    ImageEntry,
    Manifest,
    Store,
    dump_checks,
    dump_manifest,
    read_checks,
    recognised_files,
)
from dtvqa_plugin.data.transfer.choice import Choice, holdings
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, whole_file
from dtvqa_plugin.utils.progress import Progress


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
    held = holdings(store, choice)
    if not held.complete:
        raise DataError(
            f"{store.home}: {held.lack} are missing, nothing is exported; "
            f"{released_split(choice.splits[0]).cure()}"
        )
    files = list({part.file.path: part.file for part in held.stored.values()}.values())
    images = sorted(choice.wanted(held.stored))
    with explained(path, "write", in_store=False):
        if path.is_dir():
            raise DataError(f"{path}: cannot write the archive: a folder has its name")
        if path.exists() and not force:
            raise DataError(f"{path}: exists already; --force replaces it")
        with whole_file(path) as partial, partial.open("xb") as handle:
            _write_tar(handle, store, files, images, progress)
            handle.flush()
            os.fsync(handle.fileno())
        size = path.stat().st_size
    return ExportReport(path, tuple(file.path for file in files), len(images), size)


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
    contents: set[str] = set()
    done = 0
    with tarfile.open(fileobj=handle, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, MANIFEST, dump_manifest(_manifest_of(store, files, images)))
        for file in files:
            _add(archive, file.path, store.annotation_path(file).read_bytes())
        for image in images:
            check, sha256 = _add_image(archive, store.image_path(image), f"{IMAGES}/{image}")
            contents.add(sha256)
            if recorded.get(image, check) != check:
                raise DataError(
                    f"{store.image_path(image)}: changed since it was imported; "
                    "'dtvqa data fetch' (or import) restores it"
                )
            checks[image] = check
            done += check[0]
            if progress is not None:
                progress(done, total)
        for folder, part in _by_folder(checks).items():
            _add(archive, f"{CHECKSUMS}/{folder}.json", dump_checks(part))
        for name, path in recognised_files(store, contents).items():
            _add(archive, name, path.read_bytes())


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_info(name, len(content)), io.BytesIO(content))


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    return info


def _add_image(archive: tarfile.TarFile, path: Path, name: str) -> tuple[tuple[int, int], str]:
    """Add an image; its size and CRC-32, and its SHA-256 (hex)."""
    size = path.stat().st_size
    with path.open("rb") as handle:
        counted = _Counted(handle)
        archive.addfile(_info(name, size), counted)
    return (size, counted.crc32), counted.sha256.hexdigest()


class _Counted:
    """A readable that keeps the CRC-32 and the SHA-256 of what was read."""

    def __init__(self, handle: IO[bytes]) -> None:
        self.handle = handle
        self.crc32 = 0
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self.handle.read(size)
        self.crc32 = zlib.crc32(content, self.crc32)
        self.sha256.update(content)
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


def report_json(report: ExportReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    return {**asdict(report), "path": str(report.path)}
