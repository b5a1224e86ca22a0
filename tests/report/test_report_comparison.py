"""Comparisons: paired by question, over the same questions, every flip listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report_runs import SAMPLE, plain_run, write_lines

from dtvqa_plugin.analysis.comparison import compare, prompt_pairs
from dtvqa_plugin.data import Record
from dtvqa_plugin.report import RunError, read_run, read_runs


def misses(record: Record) -> str:
    """Wrong on the first ten questions."""
    return "no" if SAMPLE.index(record) < 10 else record.answers[0]


def misses_others(record: Record) -> str:
    """Wrong on the sixth to twentieth question."""
    return "no" if 5 <= SAMPLE.index(record) < 20 else record.answers[0]


def test_differences_flips_and_p_values(tmp_path: Path) -> None:
    a = read_run(plain_run(tmp_path / "a.jsonl", misses))
    b = read_run(plain_run(tmp_path / "b.jsonl", misses_others))
    found = compare(a, b)
    flips = found.flips["acc"]
    assert [f.question_id for f in flips if not f.gained] == [r.question_id for r in SAMPLE[:5]]
    assert [f.question_id for f in flips if f.gained] == [r.question_id for r in SAMPLE[10:20]]
    rows = {row.part: row for row in found.rows("acc")}
    assert rows["overall"].difference.value == pytest.approx((15 - 10) / 64)
    assert rows["overall"].a == pytest.approx(54 / 64)
    assert rows["MiniTabShot"].difference.value == 0.0
    assert rows["MiniTabShot"].p_value == 1.0
    assert rows["overall"].p_holm is None
    subsets = [row for part, row in rows.items() if part != "overall"]
    smallest = min(subsets, key=lambda row: row.p_value)
    assert smallest.p_holm == pytest.approx(min(1.0, 4 * smallest.p_value))
    assert all(row.p_holm is not None and row.p_holm >= row.p_value for row in subsets)


def test_exchanging_the_runs_turns_the_sign_and_keeps_p(tmp_path: Path) -> None:
    a = read_run(plain_run(tmp_path / "a.jsonl", misses))
    b = read_run(plain_run(tmp_path / "b.jsonl", misses_others))
    for there, back in zip(compare(a, b).differences, compare(b, a).differences, strict=True):
        assert back.difference.value == pytest.approx(-there.difference.value)
        assert back.difference.low == pytest.approx(-there.difference.high)
        assert back.p_value == there.p_value


def test_the_paired_interval_is_narrower_than_two_single_ones(tmp_path: Path) -> None:
    """Both runs fail on the same images: their difference is known better than either figure."""
    rng = np.random.default_rng(0)
    hard = set(rng.choice(64, 30, replace=False).tolist())
    a = read_run(
        plain_run(tmp_path / "a.jsonl", lambda r: "no" if SAMPLE.index(r) in hard else r.answers[0])
    )
    extra = hard | {min(set(range(64)) - hard)}
    b = read_run(
        plain_run(
            tmp_path / "b.jsonl", lambda r: "no" if SAMPLE.index(r) in extra else r.answers[0]
        )
    )
    row = compare(a, b).rows("acc")[0]
    assert row.difference.high - row.difference.low < 0.06


def test_runs_over_different_questions_are_refused_unless_the_common_ones_are_asked_for(
    tmp_path: Path,
) -> None:
    a = read_run(plain_run(tmp_path / "a.jsonl", chosen=SAMPLE[:40]))
    b = read_run(plain_run(tmp_path / "b.jsonl", chosen=SAMPLE[10:]))
    with pytest.raises(RunError, match=r"10 only in the first, 24 only in the second .*30 in both"):
        compare(a, b)
    found = compare(a, b, common=True)
    assert (len(found.a.records), found.a.records) == (30, found.b.records)
    assert (len(found.only_a), len(found.only_b)) == (10, 24)
    # What was left out makes both runs partial, as their signatures state.
    assert "|partial:missing=18" in str(found.a.signature())


@pytest.mark.parametrize("case", ["disjoint", "tau", "split"])
def test_what_cannot_be_compared(tmp_path: Path, case: str) -> None:
    a = read_run(plain_run(tmp_path / "a.jsonl", chosen=SAMPLE[:30]))
    if case == "disjoint":
        b = read_run(plain_run(tmp_path / "b.jsonl", chosen=SAMPLE[30:]))
        with pytest.raises(RunError, match="no question in common"):
            compare(a, b, common=True)
    elif case == "tau":
        b = read_run(plain_run(tmp_path / "b.jsonl"), tau=0.4)
        with pytest.raises(RunError, match=r"tau 0\.5, .* with 0\.4"):
            compare(a, b)
    else:
        from dataclasses import replace

        with pytest.raises(RunError, match=r"over split mini, .* over test"):
            compare(a, replace(a, split="test"))


def conditions(tmp_path: Path, *prompts: str, model: str = "m") -> None:
    for prompt in prompts:
        plain_run(tmp_path / f"{model}-{prompt}.jsonl", model=model, prompt=prompt)


def test_prompt_pairs_are_with_against_without_for_each_model(tmp_path: Path) -> None:
    conditions(tmp_path, "none", "paper")
    conditions(tmp_path, "none", "paper", model="other")
    conditions(tmp_path, "none", model="single")
    pairs = prompt_pairs(read_runs(tmp_path))
    assert [(a.name, a.condition, b.condition) for a, b in pairs] == [
        ("m", "paper", "none"),
        ("other", "paper", "none"),
    ]


def test_prompt_pairs_that_are_not_there_or_not_clear(tmp_path: Path) -> None:
    conditions(tmp_path, "none")
    with pytest.raises(RunError, match=r"no model with both .*m \[none\]"):
        prompt_pairs(read_runs(tmp_path))
    rows = [
        {"question_id": r.question_id, "prediction": "x", "model": "m", "prompt": "none"}
        for r in SAMPLE
    ]
    write_lines(tmp_path / "again.jsonl", rows)
    with pytest.raises(RunError, match=r"m: two runs in condition 'none'"):
        prompt_pairs(read_runs(tmp_path))
