"""What is wanted of the release, and what of it the store holds and lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.data.splits import released_split, stored_file
from dtvqa_plugin.data.store import Store, file_crc32, read_bytes, read_checks
from dtvqa_plugin.data.transfer.annotation_files import Annotations, parse_annotations
from dtvqa_plugin.utils.files import explained

Wanted = dict[str, tuple[str, str]]
"""``(split, subset)`` by image (``SUBSET/SPLIT/FILE``)."""


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """One annotation file of a split, and the subsets that are wanted of it."""

    split: str
    file: AnnotationFile
    subsets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is wanted of the release: its files, and whether their images are wanted too."""

    splits: tuple[str, ...]
    files: tuple[ChosenFile, ...]
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
        """Resolve names to files; ``None`` means all.

        Raises:
            DataError: There is no such split, subset or source.
        """
        files: list[ChosenFile] = []
        for split in dict.fromkeys(splits):
            found = released_split(split)
            names = found.check_subsets(subsets)
            files += [ChosenFile(split, *chosen) for chosen in found.choose(names, sources)]
        return cls(tuple(splits), tuple(files), images)

    def wanted(self, parts: Mapping[AnnotationFile, Annotations]) -> Wanted:
        """The images that the chosen questions name, as far as ``parts`` holds their files."""
        wanted: Wanted = {}
        for chosen in self.files:
            part = parts.get(chosen.file)
            for image, subset in (part.images(chosen.subsets) if part else {}).items():
                wanted.setdefault(image, (chosen.split, subset))
        return wanted


@dataclass(slots=True)
class Holdings:
    """What the store holds of a choice, and what it lacks.

    ``stored`` is keyed by the chosen file; its content may come from DT_test.json. ``missing`` and
    ``damaged`` are images.
    """

    stored: dict[AnnotationFile, Annotations] = field(default_factory=dict)
    absent: list[AnnotationFile] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is lacking."""
        return not (self.absent or self.missing or self.damaged)

    @property
    def lack(self) -> str:
        """What is lacking, for messages."""
        parts = [", ".join(file.path for file in self.absent)] if self.absent else []
        parts += [f"{len(self.missing)} images"] if self.missing else []
        parts += [f"{len(self.damaged)} damaged images"] if self.damaged else []
        return " and ".join(parts)


def holdings(store: Store, choice: Choice, recheck: bool = False) -> Holdings:
    """Look at the store; with ``recheck`` also whether images are still what was fetched.

    Raises:
        DataError: An annotation file in the store cannot be read.
    """
    held = Holdings()
    for chosen in choice.files:
        used = stored_file(store, chosen.file)
        if used is None:
            held.absent.append(chosen.file)
        else:
            path = store.annotation_path(used)
            held.stored[chosen.file] = parse_annotations(used, read_bytes(path), path, fresh=False)
    images = set(choice.wanted(held.stored)) if choice.images else set()
    there = store.present(images)
    held.missing = sorted(images - there)
    if recheck:
        held.damaged = sorted(_changed(store, there))
    return held


def _changed(store: Store, images: set[str]) -> set[str]:
    """Those of the images whose size or CRC-32 is no longer the recorded one."""
    found = set()
    for image, (size, crc32) in read_checks(store, images).items():
        path = store.image_path(image)
        with explained(path, "read"):
            if path.stat().st_size != size or file_crc32(path) != crc32:
                found.add(image)
    return found
