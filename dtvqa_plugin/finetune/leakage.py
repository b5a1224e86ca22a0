"""Whether an image is one of the test images: by its name, and by a perceptual hash.

The hash is ImageHash's ``phash`` of 256 bits. Over 130 rendered DTTabShot tables, copies that
were scaled (a quarter to 1.7 times), squashed or saved as JPEG of quality 20 to 30 differed from
their original in at most 16 bits, the two most similar different tables in 42: hence `MAX_BITS`.
Crops, mirror images and rotations are not found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from dtvqa_plugin.data.splits import PARTIAL_VARIABLE, partial_allowed, read_split
from dtvqa_plugin.errors import DataError, DTVQAError
from dtvqa_plugin.utils.images import load_rgb, open_bytes, open_image
from dtvqa_plugin.utils.progress import Progress

Bits = npt.NDArray[np.uint8]
"""A fingerprint: 32 bytes."""

HASH_SIZE = 16
MAX_BITS = 28
"""Most bits of 256 in which a copy may differ from the test image."""

_DRAFT = (512, 512)
_POPULATION = np.array([bin(value).count("1") for value in range(256)], dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class ImageMatch:
    """An image that is a test image: ``how`` is ``name`` or ``hash``, ``bits`` the distance."""

    image: str
    test_image: str
    how: str
    bits: int | None = None

    def __str__(self) -> str:
        by = "the same file name" if self.bits is None else f"{self.bits} of 256 bits differ"
        return f"{self.image} is the test image {self.test_image} ({by})"


def fingerprint(image: Path | bytes, name: str | None = None) -> Bits:
    """The image's 256-bit ``phash``, of an upright RGB copy. Raises `DataError` as `load_rgb`.

    A large JPEG is decoded at reduced size. Raises `DTVQAError` where ImageHash is missing.
    """
    imagehash = _imagehash()
    if isinstance(image, bytes):
        source = open_bytes(image, name or "image in memory")
    else:
        source = open_image(image, name)
    with source as opened:
        opened.draft("RGB", _DRAFT)
        bits = imagehash.phash(load_rgb(opened), hash_size=HASH_SIZE).hash
    return np.packbits(np.asarray(bits, dtype=np.bool_).reshape(-1))


def _imagehash() -> Any:
    try:
        import imagehash
    except ImportError as error:
        raise DTVQAError(
            f"comparing images with the test images needs ImageHash ({error}); "
            "pip install 'dtvqa-plugin[train]', or compare names alone"
        ) from None
    return imagehash


def fingerprints(
    images: Iterable[tuple[str, Path | bytes]], workers: int | None = None
) -> Iterator[tuple[str, Bits | DataError]]:
    """Name and fingerprint of each image, in order; a `DataError` for one that cannot be read."""
    count = workers or min(8, os.cpu_count() or 1)
    with ThreadPoolExecutor(count) as pool:
        yield from pool.map(_fingerprint_or_error, images)


def _fingerprint_or_error(item: tuple[str, Path | bytes]) -> tuple[str, Bits | DataError]:
    name, image = item
    try:
        return name, fingerprint(image, name if isinstance(image, bytes) else None)
    except DataError as error:
        return name, error


class BenchmarkImages:
    """The test images to compare with: all their names, and the fingerprints of those at hand."""

    def __init__(self, names: Iterable[str], prints: Mapping[str, Bits]) -> None:
        self.names = {PurePosixPath(image).stem.casefold(): image for image in names}
        self.hashed = list(prints)
        stacked = [prints[image] for image in self.hashed]
        self._bits = np.stack(stacked) if stacked else np.zeros((0, HASH_SIZE**2 // 8), np.uint8)

    @classmethod
    def from_store(
        cls,
        home: str | Path | None = None,
        *,
        names_only: bool = False,
        progress: Progress | None = None,
    ) -> BenchmarkImages:
        """All four subsets' test images of the store.

        Raises `DataError` when annotations are missing, when an image cannot be read, and, unless
        ``names_only`` or ``DTVQA_ALLOW_PARTIAL=1``, when images are missing.
        """
        reading = read_split("test", home=home)
        names = list(dict.fromkeys(record.image for record in reading.records))
        if names_only:
            return cls(names, {})
        there = reading.store.present(names)
        if len(there) < len(names) and not partial_allowed():
            raise DataError(
                f"{reading.store.image_root}: {len(names) - len(there)} of {len(names)} test "
                f"images are missing, so that training images cannot be compared with them; "
                f"{reading.split.cure()}, set {PARTIAL_VARIABLE}=1 to compare with those that are "
                "there, or compare names alone (--check names)"
            )
        chosen = [image for image in names if image in there]
        prints: dict[str, Bits] = {}
        for image, found in fingerprints((i, reading.store.image_path(i)) for i in chosen):
            if isinstance(found, DataError):
                raise found
            prints[image] = found
            if progress is not None:
                progress(len(prints), len(chosen))
        return cls(names, prints)

    def by_name(self, image: str) -> ImageMatch | None:
        """The test image whose file has this name, whatever folder and suffix it has."""
        stem = PurePosixPath(image.replace("\\", "/")).stem.casefold()
        found = self.names.get(stem)
        return None if found is None else ImageMatch(image, found, "name")

    def by_print(self, image: str, bits: Bits) -> ImageMatch | None:
        """The test image that ``bits`` is nearest to, if it is near enough for a copy."""
        if not self.hashed:
            return None
        distances = _POPULATION[self._bits ^ bits].sum(axis=1)
        best = int(distances.argmin())
        distance = int(distances[best])
        return (
            ImageMatch(image, self.hashed[best], "hash", distance) if distance <= MAX_BITS else None
        )
