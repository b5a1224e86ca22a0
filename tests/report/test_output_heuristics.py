"""Refusals, hedged and negated hits, repeated outputs: precision and recall on labelled outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import hit_cases
import pytest
import refusal_cases
from hypothesis import given, settings
from hypothesis.strategies import from_regex
from report_runs import BY_ID, SAMPLE, plain_run

from dtvqa_plugin.analysis.audits import audit
from dtvqa_plugin.analysis.hedging import stance
from dtvqa_plugin.analysis.refusals import LATIN, OTHER_SCRIPTS, is_refusal
from dtvqa_plugin.analysis.tables import result_tables
from dtvqa_plugin.data import Record, records
from dtvqa_plugin.report import read_run

BOOKSHOP = next(name for name, r in BY_ID.items() if r.answers[0] == "Pennywhistle Books")


def precision_and_recall(labelled: Sequence[tuple[bool, bool]]) -> tuple[float, float]:
    """Of pairs (label, found)."""
    right = sum(label and found for label, found in labelled)
    return right / sum(found for _, found in labelled), right / sum(label for label, _ in labelled)


# Measured values, rounded down: a change of the rule may not lower them.
REFUSALS = {"DEVELOPMENT": (1.0, 1.0), "HELD_OUT": (1.0, 1.0), "AFTERWARDS": (1.0, 0.97),
            "FRESH": (1.0, 0.98)}  # fmt: skip
STANCES = {"DEVELOPMENT": (1.0, 1.0), "HELD_OUT": (1.0, 1.0), "AFTERWARDS": (1.0, 0.81),
           "FRESH": (1.0, 0.91)}  # fmt: skip


@pytest.mark.parametrize("part", REFUSALS)
def test_refusals_are_found(part: str) -> None:
    cases: list[tuple[str, bool]] = getattr(refusal_cases, part)
    assert len(cases) > 70
    precision, recall = precision_and_recall([(label, is_refusal(text)) for text, label in cases])
    assert (precision, recall) >= REFUSALS[part]
    assert recall >= REFUSALS[part][1]


@pytest.mark.parametrize("part", STANCES)
def test_hedged_and_negated_hits_are_found(part: str) -> None:
    cases: list[tuple[str, str, str]] = getattr(hit_cases, part)
    assert len(cases) > 35
    found = [(label, stance(text, answer)) for text, answer, label in cases]
    doubtful = [(label != "plain", given != "plain") for label, given in found]
    precision, recall = precision_and_recall(doubtful)
    assert precision >= STANCES[part][0]
    assert recall >= STANCES[part][1]
    # Of what is found, the kind is right too.
    assert [pair for pair in found if "plain" not in pair and pair[0] != pair[1]] == []


def test_a_repeated_question_is_not_read_as_the_models_words() -> None:
    question = "Is the weight 12g or 15g?"
    assert stance(f"{question} 12g", "12g", question) == "plain"
    assert stance(f"{question} 12g", "12g") == "hedged"


def test_printed_text_is_rarely_taken_for_a_doubtful_hit() -> None:
    """Every line on the sample's pictures that holds an answer, given as the output."""
    path = Path(__file__).parents[1] / "data" / "sample_transcripts.json"
    transcripts = json.loads(path.read_text(encoding="utf-8"))
    texts = {line for line in _strings(transcripts) if len(line) < 300}
    answers = {answer for record in SAMPLE for answer in record.answers}
    hits = [(text, a) for text in texts for a in answers if a.lower() in text.lower()]
    assert len(hits) > 100
    wrong = [(text, answer) for text, answer in hits if stance(text, answer) != "plain"]
    assert len(wrong) / len(hits) < 0.02, wrong


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inside for text in _strings(item)]


def test_the_released_answers_are_no_refusals(shared_dir: Path) -> None:
    released = records("test", home=shared_dir / "hub" / "DT-VQA")
    assert [a for record in released for a in record.answers if is_refusal(a)] == []


# --- in a run ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("not Pennywhistle Books", "negated hit"),
        ("Pennywhistle Books or Penny Lane", "hedged hit"),
        ("I cannot read whether it is Pennywhistle Books", "hedged hit"),
        ("Okay, let me look at the picture. The shop is Pennywhistle Books", "unremoved thought"),
        ("不知道", "refusal"),
    ],
)
def test_the_audit_counts_them_with_their_questions(
    tmp_path: Path, output: str, found: str
) -> None:
    path = plain_run(
        tmp_path / "run.jsonl",
        lambda record: output if record.question_id == BOOKSHOP else record.answers[0],
    )
    counts = {item.name: item.question_ids for item in audit(read_run(path)).all_findings}
    assert counts[found] == (BOOKSHOP,)


def test_doubtful_hits_show_the_output(tmp_path: Path) -> None:
    path = plain_run(tmp_path / "run.jsonl", lambda record: f"not {record.answers[0]}")
    hits = audit(read_run(path)).doubtful_hits
    assert len(hits) > 60
    assert (hits[0].stance, hits[0].shown[:4]) == ("negated", "not ")


def one_word(record: Record) -> str:
    return "Books." if SAMPLE.index(record) % 2 else "books"


def test_a_run_that_says_one_thing_is_noticed(tmp_path: Path) -> None:
    run = read_run(plain_run(tmp_path / "run.jsonl", one_word))
    (most,) = audit(run).frequent
    assert (most.text, most.count, most.share) == ("books", 64, 1.0)
    (table,) = result_tables([run], resamples=100)
    assert any("100% of the outputs are 'books' (64 questions" in note for note in table.notes())


def test_a_run_of_right_answers_is_not_warned_of(tmp_path: Path) -> None:
    (table,) = result_tables([read_run(plain_run(tmp_path / "run.jsonl"))], resamples=100)
    assert not [note for note in table.notes() if "of the outputs are" in note]


def test_thoughts_that_stay_are_warned_of(tmp_path: Path) -> None:
    run = read_run(
        plain_run(
            tmp_path / "run.jsonl",
            lambda r: f"Reasoning: the picture shows several words.\nAnswer: {r.answers[0]}",
        )
    )
    (table,) = result_tables([run], resamples=100)
    assert any("64 outputs may hold reasoning that was not removed" in n for n in table.notes())


PHRASES = [
    (hint, phrase, ascii_too)
    for groups, ascii_too in ((LATIN, True), (OTHER_SCRIPTS, False))
    for hint, *phrases in groups
    for phrase in phrases
]


@pytest.mark.parametrize(("hint", "phrase", "ascii_too"), PHRASES)
def test_every_phrase_holds_the_hint_of_its_group(hint: str, phrase: str, ascii_too: bool) -> None:
    """Hints only save time: no text with a phrase is passed over for want of one."""

    @settings(max_examples=30, derandomize=True, database=None, deadline=None)
    @given(from_regex(phrase))
    def holds(text: str) -> None:
        assert re.search(hint, text)
        assert ascii_too or not text.isascii()

    holds()
