"""What RapidOCR reads on the sample's pictures (the file of the outcome tests)."""

from __future__ import annotations

import json
from pathlib import Path

from dtvqa_plugin.ocr.recognised import Line, RecognisedText

ENGINE = "rapidocr-3.10.0-s1"
_FILE = Path(__file__).parents[1] / "failures" / "sample_recognised.json"


def texts() -> dict[str, RecognisedText]:
    """The recognised text by image name."""
    found = json.loads(_FILE.read_text(encoding="utf-8"))["images"]
    return {
        name: RecognisedText(
            text["width"],
            text["height"],
            tuple(Line(line[0], tuple(line[1:5]), line[5]) for line in text["lines"]),
        )
        for name, text in found.items()
    }
