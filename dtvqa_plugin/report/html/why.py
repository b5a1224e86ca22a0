"""A diagnosis as the report page shows it: outcomes, curves, bins and boxes, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.failures.curves import Binning, Curve
from dtvqa_plugin.analysis.failures.diagnosis import Diagnosis
from dtvqa_plugin.analysis.failures.outcomes import OUTCOMES, Outcome
from dtvqa_plugin.analysis.failures.placing import Box

BEST_FIRST = (
    "right", "inside", "form", "hedged", "near", "other", "invented", "computed", "unplaced",
    "refused", "empty", "cut", "failed",
)  # fmt: skip
"""The outcomes in the order in which bars show them."""

DECIMALS = 9
"""Decimals of figures (0-100): so many that rounding them again to one shows the tables' figure."""

EVIDENCE = 200
"""Characters of an outcome's evidence on the page."""


class Why:
    """What the page says of each question and output, beside the tables of `document`."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.diagnosis = diagnosis
        self._outcomes = [
            {item.question_id: item for item in run.outcomes} for run in diagnosis.runs
        ]
        self._rows = {name: row for row, name in enumerate(diagnosis.question_ids)}

    def document(self) -> dict[str, Any]:
        """Outcomes with their meaning, one entry a feature, and the notes. Scores 0-100."""
        runs = self.diagnosis.runs
        return {
            "engine": self.diagnosis.engine,
            "notes": self.diagnosis.notes(),
            "outcomes": [{"key": name, "text": OUTCOMES[name]} for name in BEST_FIRST],
            "features": [
                _feature(cut, [run.curves[number] for run in runs])
                for number, cut in enumerate(self.diagnosis.binnings)
            ],
        }

    def question(self, question_id: str) -> dict[str, Any]:
        """The bin of each feature (its place, or None), and the box of the answer if known."""
        row = self._rows.get(question_id)
        if row is None:  # no run answers it
            return {}
        boxes = [
            of_run[question_id].answer_box for of_run in self._outcomes if question_id in of_run
        ]
        found: dict[str, Any] = {"bins": [cut.places[row] for cut in self.diagnosis.binnings]}
        box = next((box for box in boxes if box is not None), None)
        return found if box is None else {**found, "box": _box(box)}

    def result(self, run: int, question_id: str) -> dict[str, Any]:
        """The outcome of one output, its evidence, and the box of the output if known."""
        item: Outcome = self._outcomes[run][question_id]
        found: dict[str, Any] = {"why": item.name}
        if item.evidence:
            cut = len(item.evidence) > EVIDENCE
            found["evidence"] = item.evidence[:EVIDENCE] + "…" * cut
        if item.output_box is not None:
            found["box"] = _box(item.output_box)
        return found

    def size(self, image: str) -> tuple[int, int] | None:
        """Width and height that the boxes of an image refer to; None without recognised text."""
        return self.diagnosis.sizes.get(image)


def _feature(cut: Binning, curves: Sequence[Curve]) -> dict[str, Any]:
    return {
        "name": curves[0].feature,
        "title": curves[0].title,
        "bins": list(cut.labels),
        "curves": [_curve(cut, curve) for curve in curves],
    }


def _curve(cut: Binning, curve: Curve) -> dict[str, Any]:
    by_label = {item.label: item for item in curve.bins}
    points = []
    for label in cut.labels:
        item = by_label.get(label)
        points.append(
            None
            if item is None or item.score is None
            else {
                "score": figures(item.score),
                "n": item.questions,
                "images": item.images,
                "thin": item.thin,
            }
        )
    return {
        "points": points,
        "trend": None if curve.trend is None else figures(curve.trend),
        "unknown": curve.unknown,
    }


def figures(interval: Interval) -> list[float]:
    """Value, low and high of an interval."""
    return [round(value, DECIMALS) for value in (interval.value, interval.low, interval.high)]


def _box(box: Box) -> list[int]:
    return [round(value) for value in box]
