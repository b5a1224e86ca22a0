"""A release in miniature: the published layout, every subset, images drawn here.

Group rows weigh tasks by their number of questions, so the subsets differ in size.
"""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIZES = {"DTNutrCap": 3, "DTProdCap": 2, "DTScene": 5, "DTTabShot": 4}


def answers_of(subset: str, number: int) -> list[str]:
    """Return the reference answers of a question in the small release."""
    return [f"{number}.5 g", f"{number}.5g"] if subset == "DTNutrCap" else [f"Word{number}"]


def make_release(folder: Path, *, without_images: frozenset[str] = frozenset()) -> Path:
    """Write test annotations for all four subsets and an image for each question."""
    (folder / "test").mkdir(parents=True)
    font = ImageFont.load_default(24)
    for subset, size in SIZES.items():
        records = []
        for number in range(size):
            path = f"image/{subset}/test/{number}.png"
            answers = answers_of(subset, number)
            if subset not in without_images:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                picture = Image.new("RGB", (160, 64), (250, 250, 240 - number))
                ImageDraw.Draw(picture).text((8, 16), answers[0], fill="black", font=font)
                picture.save(folder / path)
            records.append(
                {
                    "dataset_name": subset,
                    "id": number,
                    "image_path": f"./{path}",
                    "question": f"What does label {number} of {subset} say?",
                    "answers": answers,
                    "type": f"{subset} in miniature",
                }
            )
        text = json.dumps(records, ensure_ascii=False, indent=1)
        (folder / "test" / f"{subset}.json").write_text(text, encoding="utf-8")
    return folder
