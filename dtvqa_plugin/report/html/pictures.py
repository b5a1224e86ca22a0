"""Thumbnails for the report page: JPEG in data URIs, together within a budget of bytes."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from tqdm import tqdm

from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.images import load_rgb, open_image

BUDGET = 17_000_000
"""Bytes that all thumbnails of a page may take as JPEG; base64 makes a third more of them."""

LARGEST = 90_000
"""Bytes of one thumbnail, however few there are."""

STEPS = ((720, 76), (600, 72), (480, 68), (400, 62), (320, 56), (256, 48), (192, 40), (128, 32))
"""(longer side in pixels, JPEG quality), tried in turn until a thumbnail is small enough."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as the page has it.

    ``data`` is a data URI or None; ``size`` (width, height) of the original, upright, or None;
    ``file`` a file URI or None; ``problem`` says why there is no thumbnail.
    """

    data: str | None = None
    size: tuple[int, int] | None = None
    file: str | None = None
    problem: str | None = None


def pictures(
    images: Iterable[str],
    store: Store,
    *,
    thumbnails: bool = True,
    links: bool = True,
    progress: bool = False,
) -> dict[str, Picture]:
    """Pictures by store-relative path; ``problem`` names a missing or damaged image."""
    names = list(dict.fromkeys(images))
    there = store.present(names)
    limit = min(LARGEST, BUDGET // max(1, len(there)))

    def make(name: str) -> Picture:
        if name not in there:
            return Picture(problem="not in the store")
        path = store.image_path(name)
        file = path.resolve().as_uri() if links else None
        if not thumbnails:
            return Picture(file=file, problem="the page was made without thumbnails")
        try:
            data, size = thumbnail(path, limit)
        except DataError as error:
            reason = str(error).removeprefix(f"{path}: ")
            return Picture(file=file, problem=reason)
        return Picture(data, size, file)

    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        made: Iterator[Picture] = pool.map(make, names)
        bar = tqdm(made, "thumbnails", len(names), disable=None if progress else True, leave=False)
        return dict(zip(names, bar, strict=True))


def thumbnail(path: Path, limit: int) -> tuple[str, tuple[int, int]]:
    """A data URI of at most ``limit`` JPEG bytes (more only if 128 pixels need it), and the size.

    Raises DataError when the file is no image that can be read.
    """
    with open_image(path) as opened:
        width, height = opened.size
        opened.draft("RGB", (2 * STEPS[0][0], 2 * STEPS[0][0]))
        image = load_rgb(opened)
    if (image.width > image.height) != (width > height):  # turned upright by its EXIF data
        width, height = height, width
    encoded = b""
    for side, quality in STEPS:
        encoded = _jpeg(image, side, quality)
        if len(encoded) <= limit:
            break
    return f"data:image/jpeg;base64,{base64.b64encode(encoded).decode()}", (width, height)


def _jpeg(image: Image.Image, side: int, quality: int) -> bytes:
    small = image.copy()
    small.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=3.0)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=quality, optimize=True, progressive=True)
    return out.getvalue()
