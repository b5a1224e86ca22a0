"""The annotations of a split, read from its store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.records import Problem, Reading, Record, raise_problems
from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.splits.registry import get_split
from dtvqa_plugin.data.store import Store, read_file
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)


@dataclass(frozen=True, slots=True)
class SplitReading:
    """A split read from the store, before its images are looked for.

    Attributes:
        split: The split.
        subsets: The subsets that were asked for, in reading order.
        store: Where it was read from.
        files: Each annotation file used, by its path in the layout (``"test/DTScene.json"``).
        readings: What each of these files yielded, whole.
        records: The usable records that were asked for.
        problems: The unusable records of all files used.
    """

    split: Split
    subsets: tuple[str, ...]
    store: Store
    files: dict[str, AnnotationFile]
    readings: dict[str, Reading[Any]]
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]

    def warn_problems(self) -> None:
        """Say in one warning how many records are unusable, if any is."""
        if self.problems:
            logger.warning(
                "%s: %d unusable records or turns left out (first: %s); "
                "'dtvqa data status --problems' lists them",
                self.split.name,
                len(self.problems),
                self.problems[0],
            )


def read_split(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> SplitReading:
    """Read the annotations of a split; records come in file order, subset by subset.

    Args:
        split: A name of `SPLITS`.
        subset: One subset or several; ``None`` means all.
        sources: The only training files to read (``["DTScene_train"]`` leaves the GPT-4V round
            out).
        home: The user's store (default: ``DTVQA_HOME``).
        strict: Whether an unusable record is an error.

    Returns:
        The records, the problems and the store.

    Raises:
        DataError: For an unknown name, for annotations not in the store, for a file that is not
            what it claims, and under ``strict`` for the first unusable record.
    """
    found = get_split(split)
    return read(found, found.check_subsets(subset), sources=sources, home=home, strict=strict)


def read(
    split: Split,
    subsets: tuple[str, ...],
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> SplitReading:
    """`read_split` for a split and subsets that have been looked up already."""
    store = split.store(home)
    files: dict[str, AnnotationFile] = {}
    readings: dict[str, Reading[Any]] = {}
    records: list[Record] = []
    problems: list[Problem] = []
    missing: list[AnnotationFile] = []
    for file, wanted in split.choose(subsets, sources):
        used = stored_file(store, file)
        if used is None:
            missing.append(file)
            continue
        if used.path not in readings:
            files[used.path] = used
            readings[used.path] = read_file(used, store.annotation_path(used))
            problems.extend(readings[used.path].problems)
        found = readings[used.path].records
        as_records = found if used.kind == "test" else (record.as_record() for record in found)
        records.extend(record for record in as_records if record.subset in wanted)
    if missing:
        raise split.missing(store, missing)
    if strict:
        for path, reading in readings.items():
            raise_problems(store.home / path, reading.problems)
    return SplitReading(split, subsets, store, files, readings, tuple(records), tuple(problems))


def stored_file(store: Store, file: AnnotationFile) -> AnnotationFile | None:
    """The file in the store that holds ``file``'s records: itself, or the one it is joined in."""
    return next((f for f in file.candidates if store.has_annotations(f)), None)
