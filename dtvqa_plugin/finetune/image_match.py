"""Whether an image is one of the test images: by its name, and by its picture in two stages.

A perceptual hash (ImageHash's ``phash``, 256 bits) finds candidates. It is kept for each test
image as it is, cropped and turned a little, with and without its margins; the image in question
is looked up with and without margins, mirrored, and with light and dark exchanged. Then
`likeness` compares the image with each candidate and decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from dtvqa_plugin.data import Store, get_split, partial_allowed, read_split
from dtvqa_plugin.data.splits import PARTIAL_VARIABLE
from dtvqa_plugin.errors import DataError, DTVQAError
from dtvqa_plugin.finetune.image_compare import LONGEST_SIDE, Picture, likeness, opencv
from dtvqa_plugin.utils.images import load_rgb, open_bytes, open_image
from dtvqa_plugin.utils.progress import Progress

MIN_LIKENESS = 0.96
"""Least likeness (0-1) of an image that is reported to look like a test image."""

ImageData: TypeAlias = "Path | bytes"
Bits: TypeAlias = npt.NDArray[np.uint8]
"""A hash: 32 bytes."""

_HASH_SIZE = 16
_MOST_BITS = 84
"""Most bits of 256 in which a candidate may differ."""

_MOST_CANDIDATES = 32
_CERTAIN = 0.99
_SMALL = 256
_PICTURES_IN_MEMORY = 64
_MARGIN_SPREAD = 40
"""Most grey levels between which the pixels of a margin's row or column lie."""

_POPULATION = np.array([bin(value).count("1") for value in range(256)], dtype=np.uint16)

_CROPS = (
    (0.0, 0.0, 0.0, 0.0),
    (0.025, 0.025, 0.025, 0.025),
    (0.05, 0.05, 0.05, 0.05),
    (0.08, 0.08, 0.08, 0.08),
    *((0.05 * a, 0.05 * b, 0.05 * (1 - a), 0.05 * (1 - b)) for a in (0, 1) for b in (0, 1)),
    *(tuple(0.05 if side == cut else 0.0 for side in range(4)) for cut in range(4)),
)
"""Shares of width and height cut from the left, top, right and bottom."""

_TURNS = (-2.0, -1.0, 1.0, 2.0)
"""Degrees."""


@dataclass(frozen=True, slots=True)
class ImageMatch:
    """An image that may be a test image.

    Attributes:
        image: The image's name.
        test_image: The test image's name.
        how: ``name`` or ``picture``.
        score: The likeness of the pictures, 0-1; None where names were compared.
        change: ``mirrored``, ``inverted``, ``mirrored and inverted``, or nothing.
    """

    image: str
    test_image: str
    how: str
    score: float | None = None
    change: str = ""

    def __str__(self) -> str:
        if self.score is None:
            return f"{self.image} has the file name of the test image {self.test_image}"
        change = f"{self.change}, " if self.change else ""
        return (
            f"{self.image} looks like the test image {self.test_image} ({change}{self.score:.2f})"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


class BenchmarkImages:
    """The test images to compare with: all their names, and the hashes of those in the store."""

    def __init__(self, names: Iterable[str], paths: Iterable[tuple[str, Path]] = ()) -> None:
        """Hash the images at ``paths``. Raises `DataError` for one that cannot be read."""
        self.names = {PurePosixPath(image).stem.casefold(): image for image in names}
        self._paths = dict(paths)
        self.hashed = list(self._paths)
        self._bits: Bits = np.zeros((0, _HASH_SIZE**2 // 8), np.uint8)
        self._owner: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._picture = lru_cache(_PICTURES_IN_MEMORY)(self._read_picture)

    @classmethod
    def from_store(
        cls,
        home: str | Path | None = None,
        *,
        names_only: bool = False,
        progress: Progress | None = None,
    ) -> BenchmarkImages:
        """The test images of all four subsets in the store.

        Args:
            home: The store (default: ``DTVQA_HOME``).
            names_only: Whether names alone are compared.
            progress: Called after each image that was hashed.

        Raises:
            DataError: Annotations are missing, an image cannot be read, or (unless
                ``names_only`` or ``DTVQA_ALLOW_PARTIAL=1``) images are missing.
            DTVQAError: The extra ``train`` is not installed.
        """
        reading = read_split("test", home=home)
        names = list(dict.fromkeys(record.image for record in reading.records))
        if names_only:
            return cls(names)
        there = reading.store.present(names)
        if len(there) < len(names) and not partial_allowed():
            raise DataError(_missing(reading.store, len(names) - len(there), len(names)))
        chosen = [(i, reading.store.image_path(i)) for i in names if i in there]
        found = cls(names, chosen)
        found.hash_all(progress)
        return found

    def hash_all(self, progress: Progress | None = None) -> None:
        """Hash every test image in the store. Raises `DataError` for one that cannot be read."""
        _imagehash(), opencv()
        bits: list[Bits] = []
        owner: list[int] = []
        with ThreadPoolExecutor(_threads()) as pool:
            for number, found in enumerate(pool.map(_test_hashes, self._paths.values())):
                bits += found
                owner += [number] * len(found)
                if progress is not None:
                    progress(number + 1, len(self._paths))
        if bits:
            self._bits, self._owner = np.stack(bits), np.array(owner)

    def by_name(self, image: str) -> ImageMatch | None:
        """The test image whose file has this name, in any folder and with any suffix."""
        stem = PurePosixPath(image.replace("\\", "/")).stem.casefold()
        found = self.names.get(stem)
        return None if found is None else ImageMatch(image, found, "name")

    def by_picture(
        self, images: Iterable[tuple[str, ImageData]], *, min_likeness: float = MIN_LIKENESS
    ) -> Iterator[tuple[str, ImageMatch | DataError | None]]:
        """Compare pictures with the test images, several at a time.

        Args:
            images: Names, and files or the bytes of files.
            min_likeness: Least likeness (0-1) of a match.

        Yields:
            Each name, in order, with the test image that it looks like most, with None, or with
            a `DataError` for an image that cannot be read.
        """

        def look(item: tuple[str, ImageData]) -> tuple[str, ImageMatch | DataError | None]:
            name, image = item
            try:
                return name, self._most_alike(name, _decoded(name, image), min_likeness)
            except DataError as error:
                return name, error

        with ThreadPoolExecutor(_threads()) as pool:
            yield from pool.map(look, images)

    def _most_alike(self, name: str, image: Image.Image, bar: float) -> ImageMatch | None:
        best: ImageMatch | None = None
        picture = Picture.of(image)
        changed: dict[tuple[bool, bool], Picture] = {}
        for number, mirrored, inverted in self._candidates(image):
            change = (mirrored, inverted)
            if change not in changed:
                changed[change] = picture.changed(mirrored=mirrored, inverted=inverted)
            score = likeness(self._picture(number), changed[change])
            if score >= bar and (best is None or score > (best.score or 0)):
                words = [w for w, on in zip(("mirrored", "inverted"), change, strict=True) if on]
                test_image = self.hashed[number]
                best = ImageMatch(name, test_image, "picture", round(score, 3), " and ".join(words))
            if score >= _CERTAIN:
                break
        return best

    def _candidates(self, image: Image.Image) -> list[tuple[int, bool, bool]]:
        """Numbers of test images near by hash, with the change to undo, the nearest first."""
        if not len(self._bits):
            return []
        found: dict[tuple[int, bool, bool], int] = {}
        for mirrored, bits in _asked_hashes(image):
            distances = _POPULATION[self._bits ^ bits].sum(axis=1).astype(np.int64)
            for inverted, apart in ((False, distances), (True, 8 * bits.size - distances)):
                for place in np.flatnonzero(apart <= _MOST_BITS).tolist():
                    key = (int(self._owner[place]), mirrored, inverted)
                    found[key] = min(found.get(key, _MOST_BITS), int(apart[place]))
        return sorted(found, key=lambda key: (found[key], key))[:_MOST_CANDIDATES]

    def _read_picture(self, number: int) -> Picture:
        name = self.hashed[number]
        return Picture.of(_decoded(name, self._paths[name]))


def _missing(store: Store, lacking: int, number: int) -> str:
    return (
        f"{store.image_root}: {lacking} of {number} test images are missing, so training images "
        f"cannot be compared with them; {get_split('test').cure()}, set {PARTIAL_VARIABLE}=1 to "
        "compare with those that are there, or compare names alone (--check names)"
    )


def _threads() -> int:
    return min(8, os.cpu_count() or 1)


def _imagehash() -> Any:
    try:
        import imagehash
    except ImportError as error:
        raise DTVQAError(
            f"comparing images with the test images needs ImageHash ({error}); "
            "pip install 'dtvqa-plugin[leakage]', or compare names alone"
        ) from None
    return imagehash


# --- hashes ----------------------------------------------------------------------------------


def _decoded(name: str, image: ImageData) -> Image.Image:
    """An upright RGB image of at least `LONGEST_SIDE` pixels where the file has as many."""
    source = open_bytes(image, name) if isinstance(image, bytes) else open_image(image)
    with source as opened:
        opened.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        return load_rgb(opened)


def _test_hashes(path: Path) -> list[Bits]:
    small = _small(_decoded(str(path), path))
    seen = [_cropped(small, crop) for crop in _CROPS]
    for angle in _TURNS:
        seen.append(small.rotate(angle, Image.Resampling.BILINEAR, fillcolor=255))
    return [_hash(view) for view in [*seen, *map(_trimmed, seen)]]


def _asked_hashes(image: Image.Image) -> Iterator[tuple[bool, Bits]]:
    small = _small(image)
    for view in (small, _trimmed(small)):
        yield False, _hash(view)
        yield True, _hash(ImageOps.mirror(view))


def _small(image: Image.Image) -> Image.Image:
    small = image.convert("L")
    small.thumbnail((_SMALL, _SMALL), Image.Resampling.BILINEAR)
    return small


def _hash(image: Image.Image) -> Bits:
    bits = _imagehash().phash(image, hash_size=_HASH_SIZE).hash
    return np.packbits(np.asarray(bits, dtype=np.bool_).reshape(-1))


def _cropped(image: Image.Image, crop: tuple[float, ...]) -> Image.Image:
    width, height = image.size
    left, top, right, bottom = crop
    return image.crop(
        (
            round(left * width),
            round(top * height),
            max(1, round((1 - right) * width)),
            max(1, round((1 - bottom) * height)),
        )
    )


def _trimmed(image: Image.Image) -> Image.Image:
    """The image without outer rows and columns of one shade."""
    grey = np.asarray(image)
    for _ in range(2):  # a border around a margin
        for axis in (1, 0):
            full = np.flatnonzero(np.ptp(grey, axis=axis) > _MARGIN_SPREAD)
            if len(full) >= _HASH_SIZE:
                kept = slice(full[0], full[-1] + 1)
                grey = grey[kept] if axis == 1 else grey[:, kept]
    return Image.fromarray(grey)
