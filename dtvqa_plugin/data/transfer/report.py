"""What an import or a fetch did, for people and for the store's manifest."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from dtvqa_plugin.benchmark.records import Problem
from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.data.store import FileEntry, ImageEntry, Store
from dtvqa_plugin.data.transfer.annotation_files import Annotations
from dtvqa_plugin.data.transfer.choice import Wanted
from dtvqa_plugin.utils.text import now


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
    def complete(self) -> bool:
        """Whether every image that the chosen questions name is in the store."""
        return not self.bad and all(c.present == c.expected for c in self.images.values())

    @property
    def problems(self) -> list[Problem]:
        """Unusable records of the files imported."""
        return [problem for part in self.files for problem in part.reading.problems]


def count_present(store: Store, report: ImportReport, wanted: Wanted) -> None:
    """Count the wanted images that are in the store now."""
    there = store.present(wanted)
    for image, key in wanted.items():
        report.images[key].present += image in there


def write_manifest(store: Store, report: ImportReport, revision: str | None, origin: str) -> None:
    """Update the manifest; an import that changed nothing leaves it unchanged."""
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
