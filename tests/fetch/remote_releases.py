"""Releases made here: annotation files of three splits, and an ``image.zip`` with much more."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from PIL import Image

SUBSETS = ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot")
TEST_IMAGES = 6
TRAIN_FILES = {
    "DTNutrCap_train_val": "DTNutrCap/train",
    "DTProdCap_train_val": "DTProdCap/train",
    "DTScene_train": "DTScene/train",
    "DTScene_train_gpt-4v": "DTScene/train",
    "DTTabShot_train": "DTTabShot/train",
    "DTScene_val": "DTScene/val",
    "DTTabShot_val": "DTTabShot/val",
}


@cache
def picture(seed: str, side: int = 48) -> bytes:
    """A noisy PNG, a few kilobytes that hardly compress."""
    noise = random.Random(seed).randbytes(side * side * 3)
    buffer = io.BytesIO()
    Image.frombytes("RGB", (side, side), noise).save(buffer, "PNG")
    return buffer.getvalue()


def images_of(subset: str, number: int = TEST_IMAGES) -> list[str]:
    return [f"{subset}/test/{place}.png" for place in range(number)]


def train_images(name: str) -> list[str]:
    return [f"{TRAIN_FILES[name]}/{place}.png" for place in range(3)]


def make_remote(
    folder: Path,
    *,
    prefix: str = "image/",
    number: int = TEST_IMAGES,
    side: int = 48,
    compression: int = zipfile.ZIP_DEFLATED,
    decoys: int = 40,
) -> Path:
    """Write the release; ``prefix`` stands before SUBSET/SPLIT/FILE in the archive."""
    make_annotations(folder, number)
    wanted = [image for subset in SUBSETS for image in images_of(subset, number)]
    wanted += sorted({image for name in TRAIN_FILES for image in train_images(name)})
    unasked = [f"DTScene/train/unasked{place}.png" for place in range(decoys)]
    members = [*unasked[: decoys // 2], *wanted, *unasked[decoys // 2 :]]
    write_zip(
        folder / "image.zip",
        ((prefix + image, picture(image, side)) for image in members),
        compression,
    )
    return folder


def make_annotations(folder: Path, number: int = TEST_IMAGES) -> None:
    """Two questions an image in the test split; training files with one fault each."""
    for subset in SUBSETS:
        records = [
            {
                "dataset_name": subset,
                "id": place * 2 + turn,
                "image_path": f"./image/{image}",
                "question": f"Question {turn} about {place}?",
                "answers": [f"answer {place}"],
                "type": f"{subset} made here",
            }
            for place, image in enumerate(images_of(subset, number))
            for turn in (0, 1)
        ]
        write_json(folder / "test" / f"{subset}.json", records)
    for name in TRAIN_FILES:
        conversations: list[object] = [
            {"id": f"./image/{image}", "conversations": conversation(image)}
            for image in train_images(name)
        ]
        faulty = {"id": f"./image/{TRAIN_FILES[name]}/0.png", "conversations": None}
        write_json(folder / "train" / f"{name}.json", [*conversations, faulty])


def conversation(image: str) -> list[dict[str, str]]:
    return [
        {"from": "user", "value": f"<img>./image/{image}</img> What is first? Answer: "},
        {"from": "assistant", "value": "one"},
        {"from": "user", "value": "What is second? Answer: "},
        {"from": "assistant", "value": "two"},
    ]


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def write_zip(
    path: Path, members: Iterable[tuple[str, bytes]], compression: int = zipfile.ZIP_DEFLATED
) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
