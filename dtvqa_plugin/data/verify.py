"""Re-check a store: every annotation file, and every image that the questions name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.records import Reading
from dtvqa_plugin.benchmark.release import RELEASED_SPLITS, AnnotationFile
from dtvqa_plugin.data.splits import Split, released_split, stored_file
from dtvqa_plugin.data.store import Checks, Manifest, Store, file_crc32, read_checks, read_file
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained
from dtvqa_plugin.utils.images import load_rgb
from dtvqa_plugin.utils.progress import Progress

_THREADS = 4


@dataclass(slots=True)
class Verification:
    """What a check found.

    ``checked`` images agree with their recorded size and CRC-32, ``decoded`` ones have no record
    and were decoded whole instead. ``faults`` are what must be put right, ``notes`` what one
    should know (a file that differs from the released one).
    """

    home: Path
    files: list[str] = field(default_factory=list)
    checked: int = 0
    decoded: int = 0
    missing: int = 0
    damaged: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """There is something, and no fault in it."""
        return bool(self.files) and not self.faults

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "home": str(self.home), "ok": self.ok}


def verify_store(
    splits: Sequence[str] | None = None,
    *,
    home: str | Path | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check the store without the network (default: every split that it has).

    Raises `DataError` only when the store as a whole cannot be read.
    """
    store = Store(home)
    manifest = store.manifest()
    result = Verification(store.home)
    images: set[str] = set()
    for split in RELEASED_SPLITS if splits is None else splits:
        images |= _check_split(
            store, manifest, released_split(split), result, named=splits is not None
        )
    _check_images(store, images, result, progress)
    if not result.files and not result.faults:
        result.faults.append(f"{store.home}: no annotation file in the store")
    return result


def _check_split(
    store: Store, manifest: Manifest, split: Split, result: Verification, *, named: bool
) -> set[str]:
    images: set[str] = set()
    for file in split.files:
        try:
            used = stored_file(store, file)
            if used is None:
                if named:
                    result.faults.append(f"{file.path}: missing")
                continue
            reading = read_file(used, store.annotation_path(used))
        except DataError as error:
            result.faults.append(str(error))
            continue
        if used.path not in result.files:
            result.files.append(used.path)
            _check_digest(manifest, used, reading, result)
        images |= {r.image for r in reading.records if file.subset in (None, r.subset)}
    return images


def _check_digest(
    manifest: Manifest, file: AnnotationFile, reading: Reading[Any], result: Verification
) -> None:
    path, known = file.path, file.sha256
    entry = manifest.files.get(path)
    if entry is not None and entry.sha256 != reading.sha256:
        result.faults.append(f"{path}: changed since it was imported (its SHA-256 differs)")
    if known is not None and known != reading.sha256:
        result.notes.append(
            f"{path}: differs from the released file; scores made with it may not compare "
            "with published ones"
        )


def _check_images(
    store: Store, images: set[str], result: Verification, progress: Progress | None
) -> None:
    there = sorted(store.present(images))
    result.missing = len(images) - len(there)
    if result.missing:
        first = min(images - set(there))
        result.faults.append(f"{result.missing} images missing (first: {first})")
    checks = read_checks(store, there)
    with explained(store.image_root, "read"):
        sizes = {image: store.image_path(image).stat().st_size for image in there}
    total, done = sum(sizes.values()), 0
    with ThreadPoolExecutor(_THREADS) as pool:
        for image, fault in zip(
            there, pool.map(lambda image: _fault(store, image, checks), there), strict=True
        ):
            done += sizes[image]
            if progress is not None:
                progress(done, total)
            if fault is not None:
                result.damaged.append(image)
                result.faults.append(fault)
            elif image in checks:
                result.checked += 1
            else:
                result.decoded += 1


def _fault(store: Store, image: str, checks: Checks) -> str | None:
    path = store.image_path(image)
    try:
        if image not in checks:
            load_rgb(path)
            return None
        with explained(path, "read"):
            same = (path.stat().st_size, file_crc32(path)) == checks[image]
    except DataError as error:
        return str(error)
    return None if same else f"{path}: changed since it was stored (its size or CRC-32 differs)"
