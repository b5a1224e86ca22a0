"""How much of a split has its images in the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dtvqa_plugin.benchmark.records import Record
from dtvqa_plugin.data.splits.reading import SplitReading, read_split
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import switch
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

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


def partial_allowed() -> bool:
    """Whether ``DTVQA_ALLOW_PARTIAL`` asks to evaluate a store that lacks images.

    Returns:
        True for ``1``, False for ``0`` or if it is not set.
    """
    return switch(PARTIAL_VARIABLE, default=False)


def coverage(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
) -> dict[str, Coverage]:
    """How many questions of a split have their image in the store.

    Args:
        split: A name of `SPLITS`: ``test``, ``val``, ``train``, ``mini`` or ``custom``.
        subset: One subset or several; ``None`` means all.
        sources: The only training files to read; ``None`` means all.
        home: The store (default: ``DTVQA_HOME``).

    Returns:
        `Coverage` by subset, and of all under ``"overall"``.

    Raises:
        DataError: The split or subset is unknown, or its annotations are missing or damaged.
    """
    return split_coverage(read_split(split, subset, sources=sources, home=home))


def split_coverage(reading: SplitReading) -> dict[str, Coverage]:
    """`coverage` of a split that has been read already."""
    there = reading.store.present({record.image for record in reading.records})
    result: dict[str, Coverage] = {}
    for name in reading.subsets:
        result[name] = _covered([r for r in reading.records if r.subset == name], there)
    result["overall"] = _covered(reading.records, there)
    return result


def _covered(chosen: Sequence[Record], there: set[str]) -> Coverage:
    images = {record.image for record in chosen}
    return Coverage(
        questions=len(chosen),
        questions_present=sum(record.image in there for record in chosen),
        images=len(images),
        images_present=len(images & there),
    )


def records_with_images(reading: SplitReading, *, allow_partial: bool) -> tuple[Record, ...]:
    """The records whose image is in the store: all, or (``allow_partial``) those with a warning.

    Raises:
        DataError: A subset has no usable question; an image is missing and ``allow_partial`` is
            false; no image is there at all.
    """
    asked = {record.subset for record in reading.records}
    empty = [name for name in reading.subsets if name not in asked]
    if empty:
        raise DataError(
            f"{reading.store.home}: no usable question of {', '.join(empty)} in "
            f"{', '.join(reading.readings)}; {reading.split.cure(empty)}"
        )
    there = reading.store.present({record.image for record in reading.records})
    kept = tuple(record for record in reading.records if record.image in there)
    if len(kept) == len(reading.records):
        return kept
    parts = split_coverage(reading)
    lacking = [name for name in reading.subsets if not parts[name].complete]
    text = "; ".join(
        f"{name}: {parts[name].images - parts[name].images_present} of {parts[name].images} images"
        for name in lacking
    )
    if not allow_partial or not kept:
        raise _images_missing(reading, lacking, text, str(parts["overall"]) if kept else "")
    logger.warning(
        "partial run on split %s: %s questions (missing %s); "
        "its scores do not compare with published ones",
        reading.split.name,
        parts["overall"],
        text,
    )
    return kept


def _images_missing(
    reading: SplitReading, lacking: list[str], text: str, evaluable: str
) -> DataError:
    every = len(lacking) == len(reading.split.subsets)
    evaluate = (
        f", or set {PARTIAL_VARIABLE}=1 to evaluate the {evaluable} questions whose image is in "
        "the store"
        if evaluable
        else ""
    )
    return DataError(
        f"{reading.store.image_root}: images of the {reading.split.name} split are missing "
        f"({text}); {reading.split.cure(() if every else lacking)}{evaluate}"
    )
