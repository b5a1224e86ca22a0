"""Splits as hosts and reports read them: records, lazy dataset, coverage, signature."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtvqa_plugin.benchmark.annotations import (
    Problem,
    Reading,
    Record,
    raise_problems,
    read_test,
    read_train,
)
from dtvqa_plugin.benchmark.release import (
    BY_NAME,
    COMBINED_TEST,
    REPO_ID,
    AnnotationFile,
    check_split,
    check_subsets,
    split_files,
    split_subsets,
)
from dtvqa_plugin.data.splits.custom import custom_folder, read_custom
from dtvqa_plugin.data.store.store import Store
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import offline, switch

if TYPE_CHECKING:
    import datasets

logger = logging.getLogger(__name__)

PARTIAL_VARIABLE = "DTVQA_ALLOW_PARTIAL"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a subset (or of a whole split) has its image in the store."""

    questions: int
    questions_present: int
    images: int
    images_present: int

    @property
    def complete(self) -> bool:
        """Whether no image is missing."""
        return self.images_present == self.images

    def __str__(self) -> str:
        return f"{self.questions_present} of {self.questions}"


@dataclass(frozen=True, slots=True)
class SplitReading:
    """A split read from the store, before its images are looked for.

    ``readings`` holds each annotation file used, keyed by its path in the layout
    (``"test/DTScene.json"``), whole; ``records`` and ``problems`` only what was asked for.
    """

    split: str
    subsets: tuple[str, ...]
    store: Store
    readings: dict[str, Reading[Any]]
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def sample_dir() -> Path:
    """The embedded sample's folder, in the published layout (package data)."""
    return Path(str(importlib.resources.files("dtvqa_plugin.data") / "sample"))


def split_store(split: str, home: str | Path | None = None) -> Store:
    """The store a split is read from: the embedded sample for ``mini``, the folder that
    ``DTVQA_CUSTOM`` names for ``custom``, else the user's."""
    if split == "custom":
        return Store(custom_folder())
    return Store(sample_dir()) if check_split(split) == "mini" else Store(home)


def read_split(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> SplitReading:
    """Read the annotations of a split; records come in file order, subset by subset.

    ``sources`` keeps only some training files (``["DTScene_train"]`` leaves the GPT-4V round
    out). Raises `DataError` for an unknown name, for annotations not in the store, for a file
    that is not what it claims, and under ``strict`` for the first unusable record.
    """
    subsets = check_subsets(split, subset)
    store = split_store(split, home)
    readings: dict[str, Reading[Any]] = {}
    records: list[Record] = []
    problems: list[Problem] = []
    missing: list[AnnotationFile] = []
    for file, wanted in chosen_files(split, subsets, sources):
        used = stored_file(store, file)
        if used is None:
            missing.append(file)
            continue
        if used.path not in readings:
            readings[used.path] = read_file(used, store.annotation_path(used))
            problems.extend(readings[used.path].problems)
        found = readings[used.path].records
        as_records = found if used.kind == "test" else (record.as_record() for record in found)
        records.extend(record for record in as_records if record.subset in wanted)
    if missing:
        raise _missing_annotations(split, store, missing)
    if strict:
        for path, reading in readings.items():
            raise_problems(store.home / path, reading.problems)
    return SplitReading(split, subsets, store, readings, tuple(records), tuple(problems))


def read_file(file: AnnotationFile, path: Path) -> Reading[Any]:
    """Read an annotation file by its released kind, knowing which subsets it may hold."""
    if file.kind == "train":
        return read_train(path)
    names = split_subsets(file.split) if file.subset is None else (file.subset,)
    return read_test(path, subsets=names)


def records(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> list[Record]:
    """All usable records of a split, whether their images are there or not; imports no datasets.

    Raises as `read_split` does; unusable records are counted in one warning.
    """
    _ensure(split, subset, sources, home, images=False)
    reading = read_split(split, subset, sources=sources, home=home, strict=strict)
    _warn_problems(reading)
    return list(reading.records)


def load_split(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    allow_partial: bool | None = None,
    strict: bool = False,
) -> datasets.Dataset:
    """A split as `datasets.Dataset`: question_id, subset, image, question, answers, source.

    ``image`` holds absolute paths and is decoded when a row is read (upright RGB, see
    `dtvqa_plugin.utils.images`); no image bytes stand in the table. Rows are in file order.

    ``split`` is ``test``, ``val``, ``train``, ``mini`` (the embedded sample; no store needed) or
    ``custom`` (the set that ``DTVQA_CUSTOM`` names).
    What the store lacks is fetched from the hub first, unless ``DTVQA_AUTO_FETCH=0`` or
    ``HF_HUB_OFFLINE=1``. Raises `DataError` when annotations or images are missing then, with the
    command that brings them. ``allow_partial=True`` (default: ``DTVQA_ALLOW_PARTIAL=1``) keeps
    the questions whose image is there and warns "146 of 300"; it still raises when none is.
    """
    partial = partial_allowed() if allow_partial is None else allow_partial
    _ensure(split, subset, sources, home, allow_partial=partial)
    reading = read_split(split, subset, sources=sources, home=home, strict=strict)
    _warn_problems(reading)
    kept = _with_images(reading, partial)
    return _as_dataset(kept, reading.store)


def partial_allowed() -> bool:
    """Whether ``DTVQA_ALLOW_PARTIAL`` asks to evaluate what is there."""
    return switch(PARTIAL_VARIABLE, default=False)


def coverage(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
) -> dict[str, Coverage]:
    """`Coverage` by subset, and of them all under ``"overall"``; raises as `read_split` does."""
    return split_coverage(read_split(split, subset, sources=sources, home=home))


def benchmark_title(split: str) -> str:
    """What results of this split are results of: only the released data are titled DT-VQA."""
    if split == "custom":
        return read_custom().title
    return "embedded sample (not DT-VQA)" if split == "mini" else "DT-VQA"


def split_coverage(reading: SplitReading) -> dict[str, Coverage]:
    """`coverage` of a split that has been read already."""
    there = reading.store.present({record.image for record in reading.records})
    result: dict[str, Coverage] = {}
    for name in reading.subsets:
        result[name] = _covered([r for r in reading.records if r.subset == name], there)
    result["overall"] = _covered(reading.records, there)
    return result


def annotation_sha(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
) -> dict[str, str]:
    """SHA-256 (hex) of each annotation file that the split is read from, by path in the layout."""
    reading = read_split(split, subset, sources=sources, home=home)
    return {path: found.sha256 for path, found in reading.readings.items()}


def data_signature(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
) -> dict[str, Any]:
    """What data a result was made with, as plain JSON values.

    ``files``: SHA-256, revision and ``released`` (bytes equal to the known released ones;
    ``None``: no hash known) of each file; ``records_sha256`` over the questions and answers
    themselves, the same whichever files they came in; ``images_sha256`` over the name and size
    of each image present; ``coverage``: "146 of 300" by subset and overall. For the split
    ``custom`` also ``custom``: the set's name and hash.
    """
    reading = read_split(split, subset, sources=sources, home=home)
    manifest = reading.store.manifest()
    files: dict[str, dict[str, Any]] = {}
    for path, found in reading.readings.items():
        known = BY_NAME[Path(path).stem].sha256
        entry = manifest.files.get(path)
        files[path] = {
            "sha256": found.sha256,
            "released": None if known is None else known == found.sha256,
            "revision": entry.revision if entry and entry.sha256 == found.sha256 else None,
        }
    named = {"custom": read_custom().signature()} if split == "custom" else {}
    return {
        **named,
        "split": split,
        "subsets": list(reading.subsets),
        "questions": len(reading.records),
        "files": files,
        "records_sha256": _records_sha(reading.records),
        "images_sha256": _images_sha(reading),
        "coverage": {name: str(part) for name, part in split_coverage(reading).items()},
    }


# --- parts ---------------------------------------------------------------------------------------


def _ensure(
    split: str,
    subset: str | Iterable[str] | None,
    sources: Sequence[str] | None,
    home: str | Path | None,
    *,
    images: bool = True,
    allow_partial: bool = False,
) -> None:
    """Fetch what is missing, where that is allowed."""
    from dtvqa_plugin.data.transfer.auto_fetch import (
        ensure,  # which reads the store with this module
    )

    ensure(
        split,
        check_subsets(split, subset),
        sources=sources,
        home=home,
        images=images,
        allow_partial=allow_partial,
    )


def chosen_files(
    split: str, subsets: tuple[str, ...], sources: Sequence[str] | None
) -> list[tuple[AnnotationFile, tuple[str, ...]]]:
    """Each file to read with the subsets wanted from it."""
    files = [file for file in split_files(split) if file.subset is None or file.subset in subsets]
    if sources is not None:
        names = [file.name for file in files]
        for source in sources:
            if source not in names:
                raise DataError(f"no source {source!r} here; there are {', '.join(names)}")
        files = [file for file in files if file.name in sources]
    return [(file, subsets if file.subset is None else (file.subset,)) for file in files]


def stored_file(store: Store, file: AnnotationFile) -> AnnotationFile | None:
    """The file in the store that holds ``file``'s records: itself, or DT_test.json for it."""
    if store.has_annotations(file):
        return file
    if file.split == "test" and store.has_annotations(COMBINED_TEST):
        return COMBINED_TEST
    return None


def _missing_annotations(split: str, store: Store, missing: list[AnnotationFile]) -> DataError:
    names = ", ".join(file.path for file in missing)
    if split == "mini":
        return DataError(f"{store.home}: the embedded sample lacks {names}; reinstall dtvqa-plugin")
    if split == "custom":
        return DataError(f"{store.home}: {names} is missing; {cure(split)}")
    return DataError(f"{store.home}: the {split} annotations are missing ({names}); {cure(split)}")


def cure(split: str, subsets: Sequence[str] = ()) -> str:
    """The command that brings missing data, as a sentence."""
    if split == "custom":
        return "run 'dtvqa annotate export' again, or set DTVQA_CUSTOM to a complete export"
    chosen = f"--split {split}" + "".join(f" --subset {name}" for name in subsets)
    forbidden = " with HF_HUB_OFFLINE, which is set, unset" if offline() else ""
    return (
        f"run 'dtvqa data import FOLDER {chosen}' on a folder that holds the release, or "
        f"'dtvqa data fetch {chosen}'{forbidden} to get it from {REPO_ID} on the Hugging Face hub"
    )


def _warn_problems(reading: SplitReading) -> None:
    if reading.problems:
        logger.warning(
            "%s: %d unusable records or turns left out (first: %s); "
            "'dtvqa data status --problems' lists them",
            reading.split,
            len(reading.problems),
            reading.problems[0],
        )


def _with_images(reading: SplitReading, allow_partial: bool) -> tuple[Record, ...]:
    asked = {record.subset for record in reading.records}
    empty = [name for name in reading.subsets if name not in asked]
    if empty:
        raise DataError(
            f"{reading.store.home}: no usable question of {', '.join(empty)} in "
            f"{', '.join(reading.readings)}; {cure(reading.split, empty)}"
        )
    there = reading.store.present({record.image for record in reading.records})
    kept = tuple(record for record in reading.records if record.image in there)
    if len(kept) == len(reading.records):
        return kept
    parts = split_coverage(reading)
    lacking = [name for name in reading.subsets if not parts[name].complete]
    every = len(lacking) == len(split_subsets(reading.split))
    text = "; ".join(
        f"{name}: {parts[name].images - parts[name].images_present} of {parts[name].images} images"
        for name in lacking
    )
    if not allow_partial or not kept:
        evaluate = (
            f", or set {PARTIAL_VARIABLE}=1 to evaluate the {parts['overall']} questions "
            "whose image is there"
            if kept
            else ""
        )
        raise DataError(
            f"{reading.store.image_root}: images of the {reading.split} split are missing "
            f"({text}); {cure(reading.split, () if every else lacking)}{evaluate}"
        )
    logger.warning(
        "partial run on split %s: %s questions (missing %s); "
        "its scores do not compare with published ones",
        reading.split,
        parts["overall"],
        text,
    )
    return kept


def _covered(chosen: Sequence[Record], there: set[str]) -> Coverage:
    images = {record.image for record in chosen}
    return Coverage(
        questions=len(chosen),
        questions_present=sum(record.image in there for record in chosen),
        images=len(images),
        images_present=len(images & there),
    )


def _as_dataset(kept: Sequence[Record], store: Store) -> datasets.Dataset:
    import datasets

    from dtvqa_plugin.data.splits.features import RGBImage

    text = datasets.Value("string")
    features = datasets.Features(
        {
            "question_id": text,
            "subset": text,
            "image": RGBImage(),
            "question": text,
            "answers": [text],
            "source": text,
        }
    )
    columns: dict[str, list[Any]] = {
        "question_id": [record.question_id for record in kept],
        "subset": [record.subset for record in kept],
        "image": [str(store.image_path(record.image)) for record in kept],
        "question": [record.question for record in kept],
        "answers": [list(record.answers) for record in kept],
        "source": [record.source for record in kept],
    }
    return datasets.Dataset.from_dict(columns, features=features)


def _records_sha(chosen: Iterable[Record]) -> str:
    digest = hashlib.sha256()
    for record in chosen:
        row = [record.question_id, record.image, record.question, *record.answers]
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def _images_sha(reading: SplitReading) -> str:
    digest = hashlib.sha256()
    for image in sorted(reading.store.present({record.image for record in reading.records})):
        size = reading.store.image_path(image).stat().st_size
        digest.update(json.dumps([image, size]).encode() + b"\n")
    return digest.hexdigest()
