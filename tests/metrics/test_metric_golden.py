"""Bit-identity with the paper's released scorer: equality, not closeness.

The repository's own vectors carry the values of the slow scorer in ``reference_scorer``. The slow
scorer is checked against the released scorer's vectors where ``../shared`` has them.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import make_vectors
import pytest
from reference_scorer import mean, slow_score

from dtvqa_plugin.metrics import score, score_corpus


class Golden(NamedTuple):
    """What the released scorer gave: one entry a vector."""

    predictions: list[str]
    answers: list[list[str]]
    scores: list[tuple[float, float, float]]


RELEASED = 12_000
OWN = 4_728


@pytest.fixture(scope="module", params=["own vectors", "released scorer's vectors"])
def golden(request: pytest.FixtureRequest) -> Golden:
    """The repository's own vectors, and those of the released scorer where they are present."""
    if request.param == "own vectors":
        return read_vectors(make_vectors.VECTORS, OWN)
    shared: Path = request.getfixturevalue("shared_dir")
    return read_vectors(shared / "golden" / "scores.jsonl.gz", RELEASED)


def read_vectors(path: Path, count: int) -> Golden:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    assert len(records) == count
    return Golden(
        [record["prediction"] for record in records],
        [record["answers"] for record in records],
        [(record["anls"], record["acc"], record["accanls"]) for record in records],
    )


def test_score_is_bit_identical(golden: Golden) -> None:
    ours = [score(p, a) for p, a in zip(golden.predictions, golden.answers, strict=True)]
    assert [(s.anls, s.acc, s.accanls) for s in ours] == golden.scores
    assert {type(value) for s in ours for value in (s.anls, s.acc, s.accanls)} == {float}


def test_score_corpus_is_bit_identical(golden: Golden) -> None:
    ours = score_corpus(golden.predictions, golden.answers)
    columns = (ours.anls.tolist(), ours.acc.tolist(), ours.accanls.tolist())
    assert list(zip(*columns, strict=True)) == golden.scores
    means = [mean(column) for column in zip(*golden.scores, strict=True)]
    assert [ours.overall.anls, ours.overall.acc, ours.overall.accanls] == means


def test_the_slow_scorer_gives_the_same_values(golden: Golden) -> None:
    slow = [slow_score(p, a) for p, a in zip(golden.predictions, golden.answers, strict=True)]
    assert slow == golden.scores


def test_the_own_vectors_cover_every_branch_of_the_metric() -> None:
    """Hits and misses of Acc, each with ANLS 0, 1 and between."""
    scores = read_vectors(make_vectors.VECTORS, OWN).scores
    kinds = Counter((acc, anls if anls in (0.0, 1.0) else 0.5) for anls, acc, _ in scores)
    assert set(kinds) == {(0.0, 0.0), (0.0, 0.5), (1.0, 0.0), (1.0, 0.5), (1.0, 1.0)}
    assert min(kinds.values()) >= 300


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
