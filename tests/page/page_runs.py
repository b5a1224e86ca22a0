"""Runs made up for the page: over the embedded sample, and as large as the test set."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dtvqa_plugin.data import Record, records
from dtvqa_plugin.report import References, Run, read_run

SAMPLE: tuple[Record, ...] = tuple(records("mini"))

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    "</script><script>alert(3)</script>",
    "<!--<script>",
    "-->]]><svg onload=alert(4)>",
    "javascript:alert(5)",
    "{{7*7}} ${alert(6)} `alert(7)`",
    "&lt;b&gt; &amp;",
    "\u202egnp.exe\u202c \u2028 \u2029",
    "bell \x07, escape \x1b[31m, nul \x00",
    "half a pair \ud83d and \udc00",
    "</p></article></main></body></html>",
)


def swapped(text: str) -> str:
    """The text with one character replaced: near enough for ANLS alone if it is long enough."""
    return text[:-1] + ("x" if text[-1] != "x" else "y")


def skilled(record: Record, number: int) -> str | None:
    """A good reader: mostly right, at times near, chatty, silent, broken off or failed."""
    answer = record.answers[0]
    says = (answer, answer, answer, f"The answer is {answer}.", swapped(answer), "", None)
    return says[number % len(says)]


def weak(record: Record, number: int) -> str | None:
    """A poor reader: one right in three, refusals and broken thoughts otherwise."""
    answer = record.answers[-1]
    says = (answer, "I'm sorry, I cannot read the text.", "<think>let me look", swapped(answer))
    return says[number % len(says)]


def dump(record: Record, number: int) -> str | None:
    """A transcript of the picture that holds the answer somewhere."""
    words = "total energy serving per 100 g net weight player club score " * 12
    return f"{words}{record.answers[0] if number % 3 else ''} {words[:200]}"


def hostile(record: Record, number: int) -> str | None:
    """Text that would run, or break the page, if it were ever taken for markup. At times right."""
    if number >= len(HOSTILE) and number % 5 == 0:
        return record.answers[0]
    return HOSTILE[number % len(HOSTILE)]


Model = Callable[[Record, int], "str | None"]
MODELS: dict[str, Model] = {"skilled": skilled, "weak": weak, "dump": dump, "hostile": hostile}


def write_run(path: Path, model: Model, chosen: Sequence[Record] = SAMPLE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[Mapping[str, Any]] = [
        {"question_id": record.question_id, "prediction": model(record, number)}
        for number, record in enumerate(chosen)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sample_runs(folder: Path, *names: str) -> list[Run]:
    """Runs of some of the models over the sample."""
    return [read_run(write_run(folder / f"{name}.jsonl", MODELS[name])) for name in names]


def noise_jpeg(seed: int, side: int = 900) -> bytes:
    """A picture that compresses as badly as any."""
    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=85)
    return out.getvalue()


def large_release(folder: Path, questions: int = 1200, images: int = 940) -> Path:
    """Annotations of as many questions and images as the test set has; no image files."""
    subsets = ("DTScene", "DTNutrCap", "DTProdCap", "DTTabShot")
    (folder / "test").mkdir(parents=True)
    for place, subset in enumerate(subsets):
        each, pictures = questions // 4, images // 4
        rows = [
            {
                "dataset_name": subset,
                "id": number,
                "image_path": f"./image/{subset}/test/{number % pictures}.jpg",
                "question": f"What does label {number} of the {subset} picture say in full?",
                "answers": [f"label {place}-{number} 标签", f"label{number}"],
                "type": "made for a test",
            }
            for number in range(each)
        ]
        text = json.dumps(rows, ensure_ascii=False)
        (folder / "test" / f"{subset}.json").write_text(text, encoding="utf-8")
    return folder


def large_runs(folder: Path) -> list[Run]:
    """Four runs over the large release."""
    home = large_release(folder / "release")
    references = References(home)
    chosen = list(references.split("test").values())
    return [
        read_run(write_run(folder / f"{name}.jsonl", model, chosen), references)
        for name, model in MODELS.items()
    ]
