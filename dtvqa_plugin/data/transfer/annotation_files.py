"""Annotation files that were checked and may enter the store."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.annotations import parse_file
from dtvqa_plugin.benchmark.records import Reading
from dtvqa_plugin.benchmark.release import REPO_ID, AnnotationFile
from dtvqa_plugin.data.store import Store, read_bytes
from dtvqa_plugin.errors import DataError


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


def parse_annotations(
    file: AnnotationFile, content: bytes, path: Path, *, fresh: bool = True, origin: str = ""
) -> Annotations:
    """Check annotation bytes; ``path`` names them in messages, ``origin`` in the manifest.

    Raises `DataError` when they are not what the file is to hold, or hold no usable record.
    """
    reading = parse_file(file, content, path)
    if not reading.records:
        first = f" (the first: {reading.problems[0]})" if reading.problems else ""
        raise DataError(
            f"{path}: holds no usable record{first}; get the file again from {REPO_ID} on the "
            "Hugging Face hub"
        )
    return Annotations(file, content, reading, origin or str(path), fresh)


def write_annotations(store: Store, parts: Iterable[Annotations]) -> None:
    """Put the files into the store, under its lock; those that are there already stay."""
    for part in parts:
        target = store.annotation_path(part.file)
        if store.has_annotations(part.file) and read_bytes(target) == part.content:
            continue
        with store.writing(target, sync=True) as handle:
            handle.write(part.content)
