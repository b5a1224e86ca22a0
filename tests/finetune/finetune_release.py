"""Releases in miniature with training splits, drawn so that no two pictures look alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

TEST_SUBSETS = ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot")


def picture(seed: int, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """Overlapping boxes of random place and shade."""
    rng = np.random.default_rng(seed)
    image = Image.new("RGB", size, tuple(rng.integers(120, 256, 3).tolist()))
    draw = ImageDraw.Draw(image)
    for _ in range(30):
        x, y = rng.random(2) * size
        w, h = rng.random(2) * (80, 60) + 8
        draw.rectangle((x, y, x + w, y + h), fill=tuple(rng.integers(0, 256, 3).tolist()))
    return image


def save(image: Image.Image, path: Path, **how: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, **how)
    return path


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def conversation(image: str, *pairs: tuple[Any, Any]) -> dict[str, Any]:
    """A record of the training format, as released."""
    turns: list[dict[str, Any]] = []
    for number, (question, answer) in enumerate(pairs):
        start = f"<img>./image/{image}</img> " if number == 0 else " "
        turns.append({"from": "user", "value": f"{start}{question} Answer: "})
        turns.append({"from": "assistant", "value": answer})
    return {"id": f"./image/{image}", "conversations": turns}


def make_test_part(root: Path, number: int = 3) -> None:
    """The four test files with ``number`` questions each, and their pictures."""
    for place, subset in enumerate(TEST_SUBSETS):
        records = [
            {
                "dataset_name": subset,
                "id": n,
                "image_path": f"./image/{subset}/test/{subset.lower()}-{n:04d}.jpg",
                "question": f"Which word stands in line {n} of the {subset} picture?",
                "answers": [f"word {n}", f"WORD {n}!"],
                "type": "miniature",
            }
            for n in range(number)
        ]
        write_json(root / "test" / f"{subset}.json", records)
        for n, record in enumerate(records):
            path = root / str(record["image_path"]).removeprefix("./")
            save(picture(1000 * (place + 1) + n), path, quality=90)


def make_train_file(
    root: Path, name: str, records: Sequence[Mapping[str, Any]], *, images: bool = True
) -> None:
    """A training file; each image that is not there yet is drawn from its own name."""
    write_json(root / "train" / f"{name}.json", list(records))
    for record in records if images else ():
        path = root / record["id"].removeprefix("./")
        if not path.exists():
            save(picture(sum(path.name.encode()) + len(path.name) * 7919), path)


def plain_records(subset: str, split: str, number: int, turns: int = 3) -> list[dict[str, Any]]:
    return [
        conversation(
            f"{subset}/{split}/{subset.lower()}-{split}-{n:05d}.jpg",
            *((f"What is item {t} of {subset} {n}?", f"item {n}-{t}") for t in range(turns)),
        )
        for n in range(number)
    ]


def make_release(root: Path, number: int = 6) -> Path:
    """Every test and training file, ``number`` records of three turns in each of the latter."""
    make_test_part(root)
    make_train_file(root, "DTNutrCap_train_val", plain_records("DTNutrCap", "train_val", number))
    make_train_file(root, "DTProdCap_train_val", plain_records("DTProdCap", "train_val", number))
    make_train_file(root, "DTScene_train", plain_records("DTScene", "train", number))
    second = [
        conversation(record["id"].removeprefix("./image/"), (f"And what is sign {n}?", f"sign {n}"))
        for n, record in enumerate(plain_records("DTScene", "train", number))
    ]
    make_train_file(root, "DTScene_train_gpt-4v", second)
    make_train_file(root, "DTTabShot_train", plain_records("DTTabShot", "train", number))
    make_train_file(root, "DTScene_val", plain_records("DTScene", "val", number))
    make_train_file(root, "DTTabShot_val", plain_records("DTTabShot", "val", number))
    return root


def tree(root: Path) -> dict[str, bytes]:
    """Every file under ``root`` with its content."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def rows(path: Path) -> list[dict[str, Any]]:
    """The samples of an exported file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    loaded: list[dict[str, Any]] = json.loads(text)
    return loaded


def image_of(row: Mapping[str, Any]) -> str:
    """The image of an exported sample, in any format."""
    if "images" in row:
        return str(row["images"][0])
    if "image" in row:
        return str(row["image"])
    first = str(row["conversations"][0]["value"])
    return first.partition("<img>")[2].partition("</img>")[0]


def pairs_of(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Questions (image mark, cue and blanks removed) and answers of an exported sample."""
    turns = row.get("messages") or row["conversations"]
    texts = [_text(turn.get("content", turn.get("value"))) for turn in turns]
    return list(zip(map(_bare, texts[::2]), texts[1::2], strict=True))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def _bare(text: str) -> str:
    text = text.rpartition("</img>")[2].removeprefix("<image>")
    return text.strip().removesuffix("Answer:").strip()
