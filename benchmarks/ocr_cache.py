"""What the OCR cache saves: seconds an image, read by the engine, from disk and from memory.

    python benchmarks/ocr_cache.py [FOLDER_OF_IMAGES]

Without a folder, pages drawn here are read. Ratios from one run; times depend on the machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from dtvqa_plugin.ocr import OCRReader

PAGES = 6
LINES = 18
MOST_IMAGES = 12


def drawn_pages() -> list[Image.Image]:
    """Pages of figures in three columns."""
    font = ImageFont.load_default(22)
    pages = []
    for number in range(PAGES):
        page = Image.new("RGB", (760, 40 * LINES + 20), "white")
        pen = ImageDraw.Draw(page)
        for row in range(LINES):
            for column, text in enumerate(
                (f"entry {number}-{row}", f"{row * 37} km", f"{row}.5 %")
            ):
                pen.text((20 + 260 * column, 12 + 40 * row), text, fill="black", font=font)
        pages.append(page)
    return pages


def images_of(folder: Path) -> list[Image.Image]:
    """The first images of a folder by name, decoded."""
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".png", ".jpg", ".jpeg"))
    return [Image.open(path).convert("RGB") for path in paths[:MOST_IMAGES]]


def seconds_an_image(reader: OCRReader, images: Sequence[Image.Image]) -> float:
    started = time.perf_counter()
    for image in images:
        reader.answer(image, "What is the total?")
    return (time.perf_counter() - started) / len(images)


def main() -> None:
    images = images_of(Path(sys.argv[1])) if len(sys.argv) > 1 else drawn_pages()
    with tempfile.TemporaryDirectory() as folder:
        first = OCRReader("dump", folder)
        first.engine.recognise(np.asarray(drawn_pages()[0]))  # loads the models
        engine = seconds_an_image(first, images)
        memory = seconds_an_image(first, images)
        disk = seconds_an_image(OCRReader("dump", folder), images)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.json")) / len(images)
    print(f"{len(images)} images, {first.engine.threads} threads, {size / 1024:.1f} KiB an entry")
    for name, value in (("engine", engine), ("disk", disk), ("memory", memory)):
        print(f"{name:7} {value * 1000:9.2f} ms an image  {engine / value:8.0f}x")


if __name__ == "__main__":
    main()
