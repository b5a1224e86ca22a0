"""What the store holds, split by split, and its faults."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.records import Problem
from dtvqa_plugin.benchmark.release import RELEASED_SPLITS, AnnotationFile
from dtvqa_plugin.data.splits import (
    CUSTOM_FILE,
    CUSTOM_VARIABLE,
    INFO_FILE,
    released_split,
    stored_file,
)
from dtvqa_plugin.data.splits.custom import CUSTOM_SPLIT, IMPORTED, custom_folder
from dtvqa_plugin.data.store import Manifest, Store, read_file, read_test
from dtvqa_plugin.errors import DataError


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One subset of one split in one annotation file.

    ``state``: ``released`` (the known released bytes), ``differs`` (not those), ``unlisted`` (no
    hash known to compare with), ``damaged``, ``missing``, or ``custom`` (a set of the user's).
    ``changed``: its bytes are no longer those imported. ``problems`` are the unusable records of
    the whole file.
    """

    split: str
    subset: str
    file: str
    state: str
    changed: bool = False
    sha256: str | None = None
    revision: str | None = None
    questions: int = 0
    images: int = 0
    images_present: int = 0
    problems: tuple[Problem, ...] = ()
    error: str | None = None

    @property
    def complete(self) -> bool:
        """Readable, with questions, and no image missing."""
        readable = self.state not in ("missing", "damaged")
        return readable and self.questions > 0 and self.images == self.images_present

    def as_json(self) -> dict[str, Any]:
        """Plain values; problems as their number and, listed, their sentences."""
        values = {name: getattr(self, name) for name in self.__slots__ if name != "problems"}
        return {
            **values,
            "complete": self.complete,
            "problems": len(self.problems),
            "problem_list": [str(problem) for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """``files`` has a row for every subset and split there is, ``missing`` ones included."""

    home: Path
    files: tuple[FileStatus, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Something is imported, all of it is readable, and no image of it is missing."""
        there = [row for row in self.files if row.state != "missing"]
        return bool(there) and all(row.complete for row in there)

    def as_json(self) -> dict[str, Any]:
        """The whole status as plain JSON values."""
        return {
            "home": str(self.home),
            "ok": self.ok,
            "files": [row.as_json() for row in self.files],
            "notes": list(self.notes),
        }


def store_status(home: str | Path | None = None) -> StoreStatus:
    """Look at every file and count images. Raises `DataError` only for a home or a manifest that
    cannot be read; a damaged annotation file is a row with that state.
    """
    store = Store(home)
    manifest = store.manifest()
    rows = [
        _row(store, manifest, file, split)
        for split in RELEASED_SPLITS
        for file in released_split(split).files
    ]
    rows += [row for folder in _custom_folders(store) for row in _custom_rows(folder)]
    return StoreStatus(store.home, tuple(rows), tuple(_notes(rows)))


def _custom_folders(store: Store) -> list[Path]:
    """The imported sets, and the one that ``DTVQA_CUSTOM`` names."""
    folders = sorted((store.home / IMPORTED).glob(f"*/{INFO_FILE}"))
    found = [path.parent for path in folders]
    if os.environ.get(CUSTOM_VARIABLE):
        try:
            named = custom_folder()
        except DataError:
            return found
        found += [named] if named not in found else []
    return found


def _custom_rows(folder: Path) -> list[FileStatus]:
    path = folder / CUSTOM_FILE.path
    try:
        reading = read_test(path)
    except DataError as error:
        return [FileStatus(CUSTOM_SPLIT, "", str(path), "damaged", error=str(error))]
    source = Store(folder)
    rows = []
    for subset in dict.fromkeys(record.subset for record in reading.records):
        chosen = [record for record in reading.records if record.subset == subset]
        images = {record.image for record in chosen}
        rows.append(
            FileStatus(
                split=CUSTOM_SPLIT,
                subset=subset,
                file=f"{folder.name}/{CUSTOM_FILE.path}",
                state="custom",
                sha256=reading.sha256,
                questions=len(chosen),
                images=len(images),
                images_present=len(source.present(images)),
                problems=reading.problems,
            )
        )
    return rows


def _row(store: Store, manifest: Manifest, file: AnnotationFile, split: str) -> FileStatus:
    subset = file.subset or ""
    used = file
    try:
        found = stored_file(store, file)
        if found is None:
            return FileStatus(split, subset, file.path, "missing")
        used = found
        reading = read_file(used, store.annotation_path(used))
    except DataError as error:
        return FileStatus(split, subset, used.path, "damaged", error=str(error))
    entry = manifest.files.get(used.path)
    chosen = [record for record in reading.records if record.subset == subset]
    images = {record.image for record in chosen}
    same = None if used.sha256 is None else used.sha256 == reading.sha256
    return FileStatus(
        split=split,
        subset=subset,
        file=used.path,
        state={None: "unlisted", True: "released", False: "differs"}[same],
        changed=entry is not None and entry.sha256 != reading.sha256,
        sha256=reading.sha256,
        revision=entry.revision if entry else None,
        questions=len(chosen),
        images=len(images),
        images_present=len(store.present(images)),
        problems=reading.problems,
    )


def _notes(rows: list[FileStatus]) -> list[str]:
    notes = [row.error for row in rows if row.error]
    for row in rows:
        if row.state == "differs":
            notes.append(
                f"{row.file}: differs from the released file; scores made with it may not "
                "compare with published ones"
            )
        if row.state not in ("missing", "damaged") and not row.questions:
            notes.append(f"{row.file}: holds no usable question of {row.subset}; import it again")
        if row.changed:
            notes.append(f"{row.file}: changed since it was imported; import it again")
    for split in RELEASED_SPLITS:
        lacking = [row for row in rows if row.split == split and not row.complete]
        lacking = [row for row in lacking if row.state not in ("missing", "damaged")]
        if lacking:
            gone = sum(row.images - row.images_present for row in lacking)
            names = list(dict.fromkeys(row.subset for row in lacking))
            known = released_split(split)
            every = len(names) == len(known.subsets)
            notes.append(f"{split}: {gone} images missing; {known.cure(() if every else names)}")
    if all(row.state == "missing" for row in rows):
        notes.append(f"nothing of the release is in the store; {released_split('test').cure()}")
    return list(dict.fromkeys(notes))
