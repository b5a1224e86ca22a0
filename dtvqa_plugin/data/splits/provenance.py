"""What data a result was made with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from functools import lru_cache
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.records import Record
from dtvqa_plugin.data.splits.coverage import split_coverage
from dtvqa_plugin.data.splits.reading import SplitReading, read_split
from dtvqa_plugin.data.splits.registry import get_split
from dtvqa_plugin.data.store import Store, file_crc32
from dtvqa_plugin.utils.files import explained

_THREADS = 4


def benchmark_title(split: str) -> str:
    """What results of this split are results of: only the released data are titled DT-VQA."""
    return get_split(split).benchmark


def annotation_sha(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
) -> dict[str, str]:
    """SHA-256 (hex) of each annotation file that the split is read from, by path in the layout.

    Args:
        split: A name of `SPLITS`: ``test``, ``val``, ``train``, ``mini`` or ``custom``.
        subset: One subset or several; ``None`` means all.
        sources: The only training files to read; ``None`` means all.
        home: The store (default: ``DTVQA_HOME``).

    Returns:
        Digests by path in the published layout.

    Raises:
        DataError: The split or subset is unknown, or its annotations are missing or damaged.
    """
    reading = read_split(split, subset, sources=sources, home=home)
    return {path: found.sha256 for path, found in reading.readings.items()}


def data_signature(
    split: str = "test",
    subset: str | Iterable[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
) -> dict[str, Any]:
    """The data that a result was made with, as plain JSON values.

    ``files``: SHA-256, revision and ``released`` of each file (whether its bytes equal the released
    ones; ``None``: no hash is known). ``records_sha256``: over the questions and answers, equal for
    the joined and the separate files. ``images_sha256``: over name and size of each present image.
    ``coverage``: "146 of 300" by subset and overall. ``custom`` (split ``custom`` only): the set's
    name and hash.

    Args:
        split: A name of `SPLITS`: ``test``, ``val``, ``train``, ``mini`` or ``custom``.
        subset: One subset or several; ``None`` means all.
        sources: The only training files to read; ``None`` means all.
        home: The store (default: ``DTVQA_HOME``).

    Returns:
        The values by name.

    Raises:
        DataError: The split or subset is unknown, or its annotations are missing or damaged.
    """
    reading = read_split(split, subset, sources=sources, home=home)
    manifest = reading.store.manifest()
    files: dict[str, dict[str, Any]] = {}
    for path, found in reading.readings.items():
        known = reading.files[path].sha256
        entry = manifest.files.get(path)
        files[path] = {
            "sha256": found.sha256,
            "released": None if known is None else known == found.sha256,
            "revision": entry.revision if entry and entry.sha256 == found.sha256 else None,
        }
    return {
        **reading.split.signature(),
        "split": reading.split.name,
        "subsets": list(reading.subsets),
        "questions": len(reading.records),
        "files": files,
        "records_sha256": _records_sha(reading.records),
        "images_sha256": _images_sha(reading),
        "coverage": {name: str(part) for name, part in split_coverage(reading).items()},
    }


def content_digest(records: Iterable[Record], store: Store) -> str:
    """SHA-256 (hex) over questions, answers and the content of their images.

    Paths outside the store and file times have no influence: a store that was moved or copied gives
    the same digest. An image that was changed in place gives another one, also if its size and time
    are unchanged. Every image is read, once per process while it is unchanged.

    Args:
        records: The questions, in order.
        store: Where their images are.

    Returns:
        64 hexadecimal digits.

    Raises:
        DataError: An image cannot be read.
    """
    chosen = list(records)
    images = list(dict.fromkeys(record.image for record in chosen))
    with ThreadPoolExecutor(_THREADS) as pool:
        found = pool.map(lambda image: _content(store.image_path(image)), images)
        checks = dict(zip(images, found, strict=True))
    digest = hashlib.sha256()
    for record in chosen:
        digest.update(json.dumps([astuple(record), checks[record.image]]).encode() + b"\n")
    return digest.hexdigest()


def _content(path: Path) -> tuple[int, int]:
    """Size and CRC-32 of a file."""
    with explained(path, "read"):
        stat = path.stat()
        # The change time (ctime) moves with every write, and no program can set it back.
        state = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        return stat.st_size, _crc32(path, state)


@lru_cache(maxsize=100_000)
def _crc32(path: Path, state: tuple[int, ...]) -> int:
    return file_crc32(path)


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
