"""Size and CRC-32 of each image as it came from its source, so that a copy can be re-checked.

``HOME/checksums/SUBSET/SPLIT.json`` maps file names to ``[size, crc32]``. A store without them (an
unpacked release) works; its images can then only be checked by decoding them.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from dtvqa_plugin.data.store.store import Store
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, read_regular

CHECKSUMS = "checksums"
"""Folder of these files inside the store."""

Checks: TypeAlias = dict[str, tuple[int, int]]
"""Size in bytes and CRC-32 by image (``SUBSET/SPLIT/FILE``)."""


def file_crc32(path: Path) -> int:
    """CRC-32 of a file's content."""
    value = 0
    with path.open("rb") as handle:
        while chunk := handle.read(1024 * 1024):
            value = zlib.crc32(chunk, value)
    return value


def checks_path(store: Store, folder: str) -> Path:
    """Where the checksums of the images in ``SUBSET/SPLIT`` are."""
    return store.home / CHECKSUMS / f"{folder}.json"


def read_checks(store: Store, images: Iterable[str]) -> Checks:
    """What is recorded of the images. Raises `DataError` for a damaged record."""
    found: Checks = {}
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for image in images:
        folder, _, name = image.rpartition("/")
        wanted[folder].append(name)
    for folder, names in wanted.items():
        recorded = _read(store, folder)
        found.update((f"{folder}/{name}", recorded[name]) for name in names if name in recorded)
    return found


def record_checks(store: Store, checks: Checks) -> None:
    """Add to what is recorded, under the store's lock; unchanged files are not rewritten."""
    by_folder: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for image, check in checks.items():
        folder, _, name = image.rpartition("/")
        by_folder[folder][name] = check
    for folder, new in by_folder.items():
        before = _read(store, folder)
        after = {**before, **new}
        if after != before:
            with store.writing(checks_path(store, folder), sync=True) as handle:
                handle.write(dump_checks(after))


def dump_checks(checks: dict[str, tuple[int, int]]) -> bytes:
    """The file's bytes, one image a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(checks[name])}" for name in sorted(checks)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _read(store: Store, folder: str) -> dict[str, tuple[int, int]]:
    path = checks_path(store, folder)
    with explained(path, "read"):
        try:
            content = read_regular(path)
        except FileNotFoundError:
            return {}
    return parse_checks(content, str(path))


def parse_checks(content: bytes, label: str) -> dict[str, tuple[int, int]]:
    """Read the file's bytes. Raises `DataError`, with ``label`` for the file, if damaged."""
    try:
        raw: object = json.loads(content.decode())
        if not isinstance(raw, dict):
            raise ValueError("not an object")
        return {name: _pair(value) for name, value in raw.items()}
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{label}: the checksums are damaged ({error}); delete the file and run "
            "'dtvqa data fetch' or 'dtvqa data import' again (images stay)"
        ) from None


def _pair(value: object) -> tuple[int, int]:
    if isinstance(value, list) and len(value) == 2:
        size, crc32 = value
        if isinstance(size, int) and isinstance(crc32, int):
            return size, crc32
    raise ValueError(f"{value!a} is no size and CRC-32")
