"""Annotation files on this machine; only regular files are opened, up to a size limit."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.annotations import parse_file, parse_test, parse_train
from dtvqa_plugin.benchmark.records import Reading, Record, TrainRecord
from dtvqa_plugin.benchmark.release import MAX_ANNOTATION_BYTES, AnnotationFile
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import TooLargeError, read_regular


def read_test(
    path: str | Path, *, strict: bool = False, subsets: Collection[str] | None = None
) -> Reading[Record]:
    """Read a file in the test format.

    Args:
        path: The JSON file.
        strict: Whether an unusable record is an error.
        subsets: The known ``dataset_name`` values; other records become problems.

    Returns:
        The usable records, and a problem for each unusable one.

    Raises:
        DataError: The file is missing or not such a list, or ``strict`` found an unusable record.
    """
    path = Path(path)
    return parse_test(read_bytes(path), path, strict=strict, subsets=subsets)


def read_train(path: str | Path, *, strict: bool = False) -> Reading[TrainRecord]:
    """Read a file in the multi-turn training format: one `TrainRecord` per question-answer pair.

    A faulty turn is left out alone; a faulty record is left out completely.

    Args:
        path: The JSON file.
        strict: Whether an unusable record or turn is an error.

    Returns:
        The usable pairs, and a problem for each unusable record or turn.

    Raises:
        DataError: The file is missing or not such a list, or ``strict`` found a problem.
    """
    path = Path(path)
    return parse_train(read_bytes(path), path, strict=strict)


def read_file(file: AnnotationFile, path: Path) -> Reading[Any]:
    """Read one of the known annotation files. Raises `DataError` as `read_test` does.

    What a test file of usual size holds is kept, and parsed again only when its bytes change.
    """
    content = read_bytes(path)
    kept = file.kind == "test" and len(content) <= _KEPT_BYTES
    return _parsed(file, content, path) if kept else parse_file(file, content, path)


_KEPT_BYTES = 4 * 1024 * 1024


@lru_cache(maxsize=8)
def _parsed(file: AnnotationFile, content: bytes, path: Path) -> Reading[Any]:
    return parse_file(file, content, path)


def read_bytes(path: Path) -> bytes:
    """The bytes of an annotation file; raises one `DataError` where they cannot be had.

    Only a regular file is read, and only up to `MAX_ANNOTATION_BYTES`.
    """
    try:
        return read_regular(path, MAX_ANNOTATION_BYTES)
    except FileNotFoundError:
        raise DataError(f"{path}: no such annotation file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder, not an annotation file") from None
    except TooLargeError as error:
        raise DataError(
            f"{path}: {error.strerror} for an annotation file; is it the right file?"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
