"""Counts behind the figures: words, lengths in words, image sizes; plain JSON values."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data import Record, data_signature, records
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.stats.words import words_of
from dtvqa_plugin.utils.images import open_image

OVERALL = "overall"
_EXIF_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)
_EXAMPLES = 5


def split_statistics(split: str = "test", home: str | Path | None = None) -> dict[str, Any]:
    """Statistics of a split, by part: ``overall`` and each subset.

    Answers are the first reference of each question; its other references are spellings of the
    same answer, counted under ``all_references``. Lengths are in words, image sizes in pixels,
    upright, of the images in the store. Raises DataError when the annotations are missing.
    """
    chosen = records(split, home=home)
    if not chosen:
        raise DataError(f"the {split} split holds no usable question: nothing to count")
    there = dict.fromkeys(record.subset for record in chosen)
    known = [name for name in (*SUBSETS, *SAMPLE_SUBSETS) if name in there]
    subsets = list(dict.fromkeys([*known, *there]))
    parts = {OVERALL: chosen}
    parts.update({name: [r for r in chosen if r.subset == name] for name in subsets})
    sizes = image_sizes((record.image for record in chosen), get_split(split).store(home))
    signature = data_signature(split, home=home)
    return {
        "split": split,
        "plugin_version": __version__,
        "segmentation": f"jieba {version('jieba')}",
        "annotations_sha256": signature["records_sha256"],
        "parts": {name: _part(found, sizes) for name, found in parts.items()},
    }


def _part(
    found: Sequence[Record], sizes: dict[str, tuple[int, int] | str | None]
) -> dict[str, Any]:
    questions = [words_of(record.question) for record in found]
    answers = [words_of(record.answers[0]) for record in found]
    every = [words_of(answer) for record in found for answer in record.answers]
    images = list(dict.fromkeys(record.image for record in found))
    return {
        "questions": len(found),
        "images": len(images),
        "references": len(every),
        "question_words": _counted(questions),
        "answer_words": _counted(answers),
        "question_length": _lengths(questions),
        "answer_length": _lengths(answers),
        "all_references_length": _lengths(every),
        "image_sizes": _sizes({name: sizes[name] for name in images}),
    }


def _counted(texts: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Word counts, the most frequent first, equal ones in alphabetical order."""
    counts = Counter(word for words in texts for word in words)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {"total": counts.total(), "distinct": len(counts), "counts": dict(ordered)}


def _lengths(texts: Sequence[Sequence[str]]) -> dict[str, Any]:
    values = [len(words) for words in texts]
    histogram = Counter(values)
    return {
        **_summary(values),
        "without_words": histogram.get(0, 0),
        "histogram": {str(length): histogram[length] for length in sorted(histogram)},
    }


def _summary(values: Sequence[int]) -> dict[str, float | int]:
    return {
        "n": len(values),
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
    }


def image_sizes(images: Iterable[str], store: Store) -> dict[str, tuple[int, int] | str | None]:
    """(width, height) of each image from its header, None if it is missing, else what is wrong."""
    names = list(dict.fromkeys(images))
    there = store.present(names)
    return {name: _size(store.image_path(name)) if name in there else None for name in names}


def _size(path: Path) -> tuple[int, int] | str:
    try:
        with open_image(path) as image:
            turned = image.getexif().get(_EXIF_ORIENTATION) in _TURNED
            width, height = image.size
    except DataError as error:
        return str(error)
    return (height, width) if turned else (width, height)


def _sizes(found: dict[str, tuple[int, int] | str | None]) -> dict[str, Any]:
    known = [size for size in found.values() if isinstance(size, tuple)]
    bad = [problem for problem in found.values() if isinstance(problem, str)]
    result: dict[str, Any] = {
        "measured": len(known),
        "missing": sum(size is None for size in found.values()),
        "unreadable": len(bad),
        "unreadable_examples": bad[:_EXAMPLES],
    }
    if known:
        result["width"] = _summary([width for width, _ in known])
        result["height"] = _summary([height for _, height in known])
        counts = Counter(known)
        result["sizes"] = [[*size, counts[size]] for size in sorted(counts)]
    return result
