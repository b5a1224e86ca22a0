"""Import a release into the store: everything is checked first, then moved in file by file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from dtvqa_plugin.benchmark.records import raise_problems
from dtvqa_plugin.benchmark.release import (
    ARCHIVE_NAME,
    COMBINED_TEST,
    TEST_FILES,
    AnnotationFile,
)
from dtvqa_plugin.data.archives import FolderSource, MemberSource, ZipSource
from dtvqa_plugin.data.splits import released_split
from dtvqa_plugin.data.store import Store, read_bytes
from dtvqa_plugin.data.transfer.annotation_files import (
    Annotations,
    parse_annotations,
    write_annotations,
)
from dtvqa_plugin.data.transfer.choice import Wanted
from dtvqa_plugin.data.transfer.mover import Mover, offers
from dtvqa_plugin.data.transfer.report import ImportReport, count_present, write_manifest
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, kind
from dtvqa_plugin.utils.progress import Progress
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)


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
    moved in one by one, annotations and manifest last. Run it again to continue.
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
    wanted = _wanted_images(chosen, splits, subsets)
    with ExitStack() as stack:
        sources = _open_sources(root, stack)
        offered = offers(sources, wanted)
        with store.lock(lock_timeout):
            mover = Mover(store, report, wanted, skip_bad, progress)
            mover.plan(offered)
            mover.move()
            write_annotations(store, report.files)
            count_present(store, report, wanted)
            write_manifest(store, report, revision or _snapshot(root), str(root))
    for warning in report.warnings:
        logger.warning("%s", warning)
    return report


def _check_root(root: Path) -> None:
    there = _kind(root)
    if there is None:
        raise DataError(f"{root}: no such folder or archive")
    if there == "other":
        raise DataError(f"{root}: it is a pipe or a device, not a folder or a zip archive")
    if there != "folder" and root.suffix.lower() != ".zip":
        raise DataError(
            f"{root}: this is not a release; a folder in the published layout (test/, train/, "
            f"image/ or {ARCHIVE_NAME}) or such a zip is needed"
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
        names = _subsets_of(split, splits, subsets)
        found: dict[str, Annotations] = {}
        for file in released_split(split).files:
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
        raise DataError(
            f"{folder}: no annotation file there or in the store (looked for {looked}). Name the "
            "folder that has test/, train/ and image/ or image.zip in it, and with --split what of "
            "it to import; or run 'dtvqa data fetch'"
        )
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
    chosen = released_split(split)
    if subsets is None or len(set(splits)) == 1:
        return chosen.check_subsets(subsets)
    there = {name: [s for s in splits if name in released_split(s).subsets] for name in subsets}
    for name, having in there.items():
        if not having:
            chosen.check_subsets([name])  # raises, naming what there is
    return tuple(name for name in chosen.subsets if name in there)


def _annotations(
    folder: Path, file: AnnotationFile, store: Store, found: dict[str, Annotations]
) -> Annotations | None:
    for candidate in file.candidates:
        if candidate.path in found:
            return found[candidate.path]
        path = _locate(folder, candidate)
        if path is not None:
            return _read(candidate, path, fresh=True)
    for candidate in file.candidates:
        if store.has_annotations(candidate):
            return _read(candidate, store.annotation_path(candidate), fresh=False)
    return None


def _check_agrees(part: Annotations, store: Store) -> None:
    """Refuse a DT_test.json whose records a subset file already in the store would overrule."""
    for file in TEST_FILES:
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


# --- images --------------------------------------------------------------------------------------


def _wanted_images(
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
        raise DataError(f"{archive}: this is a folder, not the archive")
    if there is not None:
        zipped = ZipSource(archive)
        stack.callback(zipped.close)
        sources.append(zipped)
    return sources
