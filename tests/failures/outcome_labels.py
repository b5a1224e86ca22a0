"""The labelled outputs of ``outcome_cases.jsonl`` and the sample's recognised text.

The outputs are made from the sample's questions and the text on its pictures: answers as they are,
in sentences, hedged, in another form, with one character changed (and then not on the picture),
other text of the picture, text that is on none, refusals, and questions whose answer is on no
picture. ``sample_recognised.json`` is what RapidOCR reads on the pictures, faults included.

``development`` and ``held out`` are the two halves of one list; the latter was first scored when
the rules were done (206 of 216). What it showed led to three corrections, so ``fresh`` was made
then, with other words, sentences and places, and scored once.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from dtvqa_plugin.analysis.failures.outcomes import Outcome, outcome
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.data import Record, records
from dtvqa_plugin.metrics.scored import score_answer
from dtvqa_plugin.ocr.recognised import Line, RecognisedText

FOLDER = Path(__file__).parent
Labelled = tuple[str, str | None, Record, Outcome]
"""The label, the output, the question, the outcome found."""


def sample_texts() -> dict[str, RecognisedText]:
    """The recognised text of the sample's pictures, by image name."""
    found = json.loads((FOLDER / "sample_recognised.json").read_text(encoding="utf-8"))["images"]
    return {
        name: RecognisedText(
            text["width"],
            text["height"],
            tuple(Line(line[0], tuple(line[1:5]), line[5]) for line in text["lines"]),
        )
        for name, text in found.items()
    }


PARTS = ("development", "held out", "fresh")


def _lines(part: str) -> list[str]:
    name = "outcome_cases_fresh.jsonl" if part == "fresh" else "outcome_cases.jsonl"
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return lines if part == "fresh" else lines[PARTS.index(part) :: 2]


def labelled(part: str, *, with_text: bool = True) -> list[Labelled]:
    """One part of the labelled outputs, with the outcomes found."""
    known = {record.question_id: record for record in records("mini")}
    pages = {name: Page(text) for name, text in sample_texts().items()} if with_text else {}
    result: list[Labelled] = []
    for line in _lines(part):
        case = json.loads(line)
        record = known.get(case["question_id"]) or Record(
            case["question_id"], "Made", case["image"], case["question"],
            tuple(case["answers"]), "made",
        )  # fmt: skip
        scored = score_answer(case["output"], record.answers, record.question_id)
        found = outcome(record, scored, pages.get(record.image))
        result.append((case["outcome"], case["output"], record, found))
    return result


def confusion(cases: list[Labelled]) -> Counter[tuple[str, str]]:
    """Number of outputs by label and outcome found."""
    return Counter((label, found.name) for label, _, _, found in cases)
