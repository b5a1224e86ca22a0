"""Bit-identity with the paper's released scorer: equality, not closeness."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from reference_scorer import mean, slow_score

from dtvqa_plugin.metrics import score, score_corpus


class Golden(NamedTuple):
    """What the released scorer gave: one entry a vector."""

    predictions: list[str]
    answers: list[list[str]]
    scores: list[tuple[float, float, float]]


@pytest.fixture(scope="module")
def golden(shared_dir: Path) -> Golden:
    with gzip.open(shared_dir / "golden" / "scores.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    assert len(records) == 12_000
    return Golden(
        [record["prediction"] for record in records],
        [record["answers"] for record in records],
        [(record["anls"], record["acc"], record["accanls"]) for record in records],
    )


def test_score_is_bit_identical_to_the_released_scorer(golden: Golden) -> None:
    ours = [score(p, a) for p, a in zip(golden.predictions, golden.answers, strict=True)]
    assert [(s.anls, s.acc, s.accanls) for s in ours] == golden.scores
    assert {type(value) for s in ours for value in (s.anls, s.acc, s.accanls)} == {float}


def test_score_corpus_is_bit_identical_to_the_released_scorer(golden: Golden) -> None:
    ours = score_corpus(golden.predictions, golden.answers)
    columns = (ours.anls.tolist(), ours.acc.tolist(), ours.accanls.tolist())
    assert list(zip(*columns, strict=True)) == golden.scores
    means = [mean(column) for column in zip(*golden.scores, strict=True)]
    assert [ours.overall.anls, ours.overall.acc, ours.overall.accanls] == means


def test_the_slow_scorer_of_the_tests_agrees_too(golden: Golden) -> None:
    slow = [slow_score(p, a) for p, a in zip(golden.predictions, golden.answers, strict=True)]
    assert slow == golden.scores


def test_every_real_reference_answer_is_a_perfect_prediction(shared_dir: Path) -> None:
    path = shared_dir / "hub" / "DT-VQA" / "test" / "DT_test.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    assert len(records) == 1_200
    pairs = [(answer, record["answers"]) for record in records for answer in record["answers"]]
    ours = score_corpus([answer for answer, _ in pairs], [answers for _, answers in pairs])
    assert ours.overall.n == len(pairs) > 1_200
    assert (ours.overall.anls, ours.overall.acc, ours.overall.accanls) == (1.0, 1.0, 1.0)
    assert ours.diagnostics.exact_match.all()
    assert ours.diagnostics.acc_word.all()
