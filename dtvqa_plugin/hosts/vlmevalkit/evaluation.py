"""From a prediction file to scores and saved results. Imports no host.

Reference answers come from the data, never from the file; rows are joined by question id. What
was irregular about the file is counted and reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data import Record
from dtvqa_plugin.metrics.names import HEADINGS, HEADLINE_FIRST
from dtvqa_plugin.predictions.record import failed_output, score_output, unanswered_message
from dtvqa_plugin.predictions.rows import PredictionRow, PredictionTable
from dtvqa_plugin.utils.files import written

OVERALL = "Overall"

_FORMULA = ("=", "{=")
_ESCAPE = "_x"
_STORED_AS = "stored as "


@dataclass(frozen=True, slots=True)
class Joined:
    """One raw prediction a question, in the questions' order, and what was odd about the file.

    ``raw`` is None for a question without a row. ``losses`` names, by question id, what the file
    format destroyed and could not be recovered; ``recovered`` counts predictions taken from memory
    because the file no longer holds them whole.
    """

    raw: dict[str, object]
    losses: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    unknown: int = 0
    doubled: int = 0
    contradictory: int = 0
    reordered: bool = False
    recovered: int = 0
    blank_cells: int = 0

    def remarks(self, total: int) -> list[str]:
        """Say each oddity in one sentence, none if there was none."""
        said = []
        if self.missing:
            said.append(
                f"{self.missing} of {total} questions have no row in the file: "
                "each scores 0 and counts as failed."
            )
        if self.unknown:
            said.append(f"{self.unknown} rows do not belong to this dataset: left out.")
        if self.doubled:
            said.append(
                f"{self.doubled} rows repeat a question ({self.contradictory} with another "
                "prediction): the last one counts, as in the host's own reuse."
            )
        if self.reordered:
            said.append("The rows are not in the dataset's order: joined by question id.")
        if self.recovered:
            said.append(
                f"{self.recovered} predictions that the file does not hold whole "
                "were taken from this run's memory."
            )
        for loss, count in Counter(self.losses.values()).items():
            said.append(f"{count} predictions are not as the model wrote them: {loss}.")
        if self.blank_cells:
            said.append(
                f"{self.blank_cells} cells are empty: the model gave no output, or the xlsx format "
                "lost an answer that begins as a link and has over 2,079 characters."
            )
        if self.losses or self.blank_cells:
            said.append("PRED_FORMAT=tsv keeps every character ('dtvqa vlmeval' sets it).")
        return said


def join(
    question_ids: Sequence[str],
    table: PredictionTable,
    memory: Mapping[str, object] | None = None,
) -> Joined:
    """Give each question its row's prediction.

    ``memory`` holds the predictions of this process's inference by question id. It stands in
    where the file is damaged, and only if the file is evidently of the same run: the same
    questions, and the same text wherever the file's text is whole. Where it says the same as a
    damaged row, it may have been read from that file, so the damage still counts.
    """
    wanted = set(question_ids)
    rows: dict[str, PredictionRow] = {}
    order: list[str] = []
    unknown = doubled = contradictory = 0
    for row in table.rows:
        if row.index not in wanted:
            unknown += 1
            continue
        if row.index in rows:
            doubled += 1
            contradictory += rows[row.index].prediction != row.prediction
        else:
            order.append(row.index)
        rows[row.index] = row
    raw: dict[str, object] = {}
    losses: dict[str, str] = {}
    recovered = blank_cells = 0
    known = memory if memory is not None and _same_run(rows, memory) else {}
    is_xlsx = table.path.suffix.lower() == ".xlsx"
    for name in question_ids:
        if name not in rows:
            raw[name] = None
            continue
        row = rows[name]
        raw[name] = _value(row)
        if name in known and known[name] != raw[name]:
            recovered += 1
            raw[name] = known[name]
        elif row.loss is not None:
            losses[name] = row.loss
        elif is_xlsx and row.prediction == "":
            blank_cells += 1
    return Joined(
        raw=raw,
        losses=losses,
        missing=len(question_ids) - len(rows),
        unknown=unknown,
        doubled=doubled,
        contradictory=contradictory,
        reordered=order != [name for name in question_ids if name in rows],
        recovered=recovered,
        blank_cells=blank_cells,
    )


def _value(row: PredictionRow) -> object:
    """The prediction; a list or record that a JSON file holds comes back as what it is."""
    if row.loss is not None and row.loss.startswith(_STORED_AS) and row.prediction is not None:
        try:
            return json.loads(row.prediction)
        except ValueError:
            return row.prediction
    return row.prediction


def _same_run(rows: Mapping[str, PredictionRow], memory: Mapping[str, object]) -> bool:
    if set(rows) != set(memory):
        return False
    return all(_may_be(row, memory[name]) for name, row in rows.items())


def _may_be(row: PredictionRow, remembered: object) -> bool:
    """Whether a file's row can be what became of the remembered text.

    Some formulas and character escapes come back changed without a trace (xlsx).
    """
    if row.loss is not None or not row.prediction or remembered == row.prediction:
        return True
    return str(remembered).startswith(_FORMULA) or _ESCAPE in str(remembered)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``questions``: one record a question; ``scores``: by subset and ``Overall``, 0-100."""

    questions: list[dict[str, Any]]
    scores: dict[str, dict[str, float | int]]
    unanswered: Counter[str]
    message: str | None


def evaluate(records: Sequence[Record], joined: Joined, prompt: str) -> Evaluation:
    """Score every record's joined prediction; a question that cannot be scored is a failed one."""
    questions = [_scored(record, joined, prompt) for record in records]
    asked = dict.fromkeys(record.subset for record in records)
    known = [name for name in (*SUBSETS, *SAMPLE_SUBSETS) if name in asked]
    subsets = dict.fromkeys([*known, *asked])
    parts = {name: [q for q in questions if q["subset"] == name] for name in subsets}
    scores = {name: _means(part) for name, part in {**parts, OVERALL: questions}.items()}
    reasons = [question["unanswered"] for question in questions]
    counts = Counter(reason for reason in reasons if reason is not None)
    return Evaluation(questions, scores, counts, unanswered_message(reasons))


def _means(questions: Sequence[Mapping[str, Any]]) -> dict[str, float | int]:
    """Times 100. The built-in sum over the count, as in lmms-eval: equal inputs, equal bits."""
    n = len(questions)
    means = {HEADINGS[key]: sum(q[key] for q in questions) / n * 100 for key in HEADLINE_FIRST}
    return {**means, "n": n, "failed": sum(q["failed"] for q in questions)}


def _scored(record: Record, joined: Joined, prompt: str) -> dict[str, Any]:
    raw = joined.raw[record.question_id]
    name, subset = record.question_id, record.subset
    try:
        scored = score_output(name, subset, record.answers, raw, prompt)
    except ValueError as error:
        scored = failed_output(name, subset, prompt, error)
    details = scored.pop("dtvqa")
    return {
        "question_id": name,
        "subset": subset,
        "question": record.question,
        "answers": list(record.answers),
        **details,
        **scored,
        "raw_prediction": raw,
        "loss": joined.losses.get(name),
    }


def write_results(
    prediction_file: Path, questions: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]
) -> tuple[Path, Path]:
    """Write ``*_questions.jsonl`` and ``*_summary.json`` beside the prediction file, whole or not
    at all, and return their paths.

    The names continue the dataset's with a word that no dataset name continues with: the host takes
    files of ``MODEL_DTVQA_DTScene...`` for another dataset's.
    """
    lines = "".join(json.dumps(question, default=str) + "\n" for question in questions)
    text = json.dumps(summary, indent=2) + "\n"
    details = prediction_file.with_name(f"{prediction_file.stem}_questions.jsonl")
    overview = prediction_file.with_name(f"{prediction_file.stem}_summary.json")
    for path, content in ((details, lines), (overview, text)):
        with written(path) as partial:
            partial.write_text(content, encoding="utf-8")
    return details, overview
