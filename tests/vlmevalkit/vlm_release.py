"""Releases with any questions and answers, one picture for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image

from dtvqa_plugin.benchmark.subsets import SUBSETS


def write_release(folder: Path, questions: Iterable[Sequence[str]]) -> Path:
    """Spread questions evenly over the four subsets, in order; each item is a list of answers.

    Question ``n`` of the whole asks "Question n?".
    """
    answers = [list(item) for item in questions]
    (folder / "test").mkdir(parents=True)
    each = -(-len(answers) // len(SUBSETS))
    for place, subset in enumerate(sorted(SUBSETS)):
        numbers = range(place * each, min((place + 1) * each, len(answers)))
        path = f"image/{subset}/test/all.png"
        (folder / path).parent.mkdir(parents=True)
        Image.new("RGB", (32, 32), "white").save(folder / path)
        records = [
            {
                "dataset_name": subset,
                "id": number,
                "image_path": f"./{path}",
                "question": f"Question {number}?",
                "answers": answers[number],
                "type": "made for a test",
            }
            for number in numbers
        ]
        (folder / "test" / f"{subset}.json").write_text(json.dumps(records), encoding="utf-8")
    return folder
