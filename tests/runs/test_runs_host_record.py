"""What hosts log of one question: the bytes are fixed, and what 0.1.0 wrote is still read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtvqa_plugin.data import records
from dtvqa_plugin.predictions.record import failed_output, score_output
from dtvqa_plugin.report import read_run

Q, S = "MiniScene/2", "MiniScene"
STOP = ["STOP"]


def line(scores: str, unanswered: str, condition: str, rest: str) -> str:
    """A log line as version 0.1.0 wrote it, with ``condition`` for ``prompt``."""
    return (
        f'{{{scores}, "unanswered": {unanswered}, "dtvqa": {{"question_id": "MiniScene/2", '
        f'"subset": "MiniScene", "condition": "{condition}", {rest}}}}}'
    )


ZERO = '"accanls": 0.0, "anls": 0.0, "acc": 0.0'
NOTHING = (
    '"prediction": "", "matched_answer": null, "failed": {}, "truncated": {}, '
    '"exact_match": false, "acc_word": false, "length_ratio": null'
)
FROZEN = {
    "contained": (
        (["12 g", "Tea"], "It has 12 g of sugar", "none"),
        line(
            '"accanls": 1.0, "anls": 0.0, "acc": 1.0',
            "null",
            "none",
            '"prediction": "It has 12 g of sugar", "matched_answer": "12 g", "failed": false, '
            '"truncated": false, "exact_match": false, "acc_word": true, "length_ratio": 5.0',
        ),
    ),
    "near": (
        (STOP, ["STQP"], "none"),
        line(
            '"accanls": 0.75, "anls": 0.75, "acc": 0.0',
            "null",
            "none",
            '"prediction": "STQP", "matched_answer": "STOP", "failed": false, '
            '"truncated": false, "exact_match": false, "acc_word": false, "length_ratio": 1.0',
        ),
    ),
    "reasoning removed": (
        (STOP, "<think>go</think> stop", "paper"),
        line(
            '"accanls": 1.0, "anls": 1.0, "acc": 1.0',
            "null",
            "paper",
            '"prediction": "stop", "matched_answer": "STOP", "failed": false, '
            '"truncated": false, "exact_match": true, "acc_word": true, "length_ratio": 1.0',
        ),
    ),
    "null": (
        (STOP, None, "paper"),
        line(ZERO, '"failed"', "paper", NOTHING.format("true", "false")),
    ),
    "failure text": (
        (STOP, "Failed to obtain answer via API.", "none"),
        line(ZERO, '"failed"', "none", NOTHING.format("true", "false")),
    ),
    "cut off": (
        (STOP, "<think>stop?", "none"),
        line(ZERO, '"truncated"', "none", NOTHING.format("false", "true")),
    ),
    "empty": (
        (STOP, " \n", "none"),
        line(ZERO, '"empty"', "none", NOTHING.format("false", "false")),
    ),
}


@pytest.mark.parametrize("name", FROZEN)
def test_the_logged_record_is_fixed_to_the_byte(name: str) -> None:
    (answers, raw, condition), expected = FROZEN[name]
    assert json.dumps(score_output(Q, S, answers, raw, condition)) == expected


def test_the_record_of_a_question_that_cannot_be_scored_ends_in_the_error() -> None:
    _, expected = FROZEN["null"]
    record = failed_output(Q, S, "paper", ValueError("no answers"))
    assert json.dumps(record) == expected.removesuffix("}}") + ', "error": "no answers"}}'


def test_the_logged_text_is_whole_however_long() -> None:
    record = score_output(Q, S, STOP, "x" * 50_000 + "STOP", "none")
    assert len(record["dtvqa"]["prediction"]) == 50_004
    assert (record["acc"], record["dtvqa"]["length_ratio"]) == (1.0, 50_004 / 4)


@pytest.mark.parametrize("key", ["condition", "prompt"])
@pytest.mark.parametrize("host", [True, False], ids=["lmms-eval", "plain"])
def test_the_condition_is_read_under_its_new_and_its_old_name(
    tmp_path: Path, key: str, host: bool
) -> None:
    rows = []
    for number, record in enumerate(records("mini")):
        named = {"question_id": record.question_id, key: "paper"}
        output = record.answers[0]
        rows.append(
            {"doc_id": number, "resps": [[output]], "dtvqa": named}
            if host
            else {**named, "prediction": output}
        )
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_run(path).condition == "paper"
