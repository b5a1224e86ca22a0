"""Splits as users and hosts ask for them; what is missing is fetched first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtvqa_plugin.benchmark.records import Record
from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.splits.coverage import partial_allowed, records_with_images
from dtvqa_plugin.data.splits.reading import read, stored_file
from dtvqa_plugin.data.splits.registry import get_split
from dtvqa_plugin.data.store import Store, read_file

if TYPE_CHECKING:
    import datasets


def records(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    strict: bool = False,
) -> list[Record]:
    """All usable records of a split, with or without their images; does not import datasets.

    Unusable records are counted in one warning.

    Args:
        split: A name of `SPLITS`: ``test``, ``val``, ``train``, ``mini`` or ``custom``.
        subset: One subset or several; ``None`` means all.
        sources: The only training files to read; ``None`` means all.
        home: The store (default: ``DTVQA_HOME``).
        strict: Whether an unusable record is an error.

    Returns:
        The records in file order.

    Raises:
        DataError: The split or subset is unknown, or its annotations are missing or damaged.
    """
    found = get_split(split)
    subsets = found.check_subsets(subset)
    _fetch(found, subsets, sources, home, images=False)
    reading = read(found, subsets, sources=sources, home=home, strict=strict)
    reading.warn_problems()
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
    `dtvqa_plugin.utils.images`); the table holds no image bytes. Missing files are fetched from the
    hub first, unless ``DTVQA_AUTO_FETCH=0`` or ``HF_HUB_OFFLINE=1``.

    Args:
        split: ``test``, ``val``, ``train``, ``mini`` (the embedded sample; no store needed) or
            ``custom`` (the set that ``DTVQA_CUSTOM`` names).
        subset: One subset or several; ``None`` means all.
        sources: The only training files to read; ``None`` means all.
        home: The store (default: ``DTVQA_HOME``).
        allow_partial: Whether to keep the questions whose image is in the store, with a warning
            ("146 of 300"), where others are missing (default: ``DTVQA_ALLOW_PARTIAL=1``).
        strict: Whether an unusable record is an error.

    Returns:
        The rows in file order, one per question.

    Raises:
        DataError: Annotations or images are missing; the message names the command that
            downloads them. Under ``allow_partial`` only where no image is there at all.
    """
    partial = partial_allowed() if allow_partial is None else allow_partial
    found = get_split(split)
    subsets = found.check_subsets(subset)
    _fetch(found, subsets, sources, home, allow_partial=partial)
    reading = read(found, subsets, sources=sources, home=home, strict=strict)
    reading.warn_problems()
    return _as_dataset(records_with_images(reading, allow_partial=partial), reading.store)


def _fetch(
    split: Split,
    subsets: tuple[str, ...],
    sources: Sequence[str] | None,
    home: str | Path | None,
    *,
    images: bool = True,
    allow_partial: bool = False,
) -> None:
    """Fetch what is missing, where that is allowed."""
    if not split.released or (
        not images and _has_annotations(split, subsets, sources, Store(home))
    ):
        return
    from dtvqa_plugin.data.transfer.auto_fetch import ensure  # here: it imports the hub's client

    ensure(
        split,
        subsets,
        sources=sources,
        home=home,
        images=images,
        allow_partial=allow_partial,
    )


def _has_annotations(
    split: Split, subsets: tuple[str, ...], sources: Sequence[str] | None, store: Store
) -> bool:
    """Whether the store holds usable records in each annotation file."""
    used = [stored_file(store, file) for file, _ in split.choose(subsets, sources)]
    return all(
        file is not None and read_file(file, store.annotation_path(file)).records for file in used
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
