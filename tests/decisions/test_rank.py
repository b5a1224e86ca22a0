"""Ranks, groups and pairs of runs over the same questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_gate import SAMPLE, plain_run, wrong

from dtvqa_plugin.analysis.bootstrap import bootstrap_means
from dtvqa_plugin.analysis.ranking import _letters, _surely_better, rank
from dtvqa_plugin.analysis.significance import holm, pairwise_p
from dtvqa_plugin.cli import main
from dtvqa_plugin.report import RunError, read_run
from dtvqa_plugin.runs.design import OVERALL, Design


def test_clear_runs_have_ranks_of_their_own_and_equal_ones_share_them(tmp_path: Path) -> None:
    misses = {"best": (), "twin": (), "worst": tuple(range(64))}
    runs = [
        read_run(plain_run(tmp_path / f"{name}.jsonl", wrong(*places), model=name))
        for name, places in misses.items()
    ]
    found = rank(runs[::-1], resamples=1000)
    rows = {p.run.name: (p.rank, p.first, p.last, p.groups) for p in found.places}
    assert rows == {"best": (1, 1, 2, "a"), "twin": (1, 1, 2, "a"), "worst": (3, 3, 3, "b")}
    assert found.pairs[0].p_value == 1.0
    assert all(pair.p_holm >= pair.p_value for pair in found.pairs)


def test_runs_over_other_questions_are_refused(tmp_path: Path) -> None:
    a = read_run(plain_run(tmp_path / "a.jsonl"))
    b = read_run(plain_run(tmp_path / "b.jsonl", count=60))
    with pytest.raises(RunError, match="different questions"):
        rank([a, b], resamples=100)
    with pytest.raises(RunError, match="two or more"):
        rank([a], resamples=100)


@pytest.mark.parametrize(
    ("differing", "letters"),
    [
        ([], ["a", "a", "a"]),
        ([(0, 2)], ["a", "a b", "b"]),
        ([(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        ([(0, 1)], ["a", "b", "a b"]),
    ],
)
def test_letters_are_shared_if_and_only_if_runs_cannot_be_told_apart(
    differing: list[tuple[int, int]], letters: list[str]
) -> None:
    pairs = [(0, 1), (0, 2), (1, 2)]
    p_values = {pair: 0.01 if pair in differing else 0.5 for pair in pairs}
    assert _letters(3, p_values, 0.05) == letters


def test_many_runs_are_told_apart_though_holm_corrects_for_all_their_pairs() -> None:
    """60 runs are 1,770 pairs: the correction is larger than the drawn patterns can carry."""
    design = Design(["S"] * 300, [str(place) for place in range(300)])
    hard = np.random.default_rng(3).random((300, 60))
    values = (hard < np.linspace(0.9, 0.3, 60)).astype(float)
    letters = _letters(60, holm(pairwise_p(values, design, "S", 1000)), 0.05)
    assert not set(letters[0].split()) & set(letters[59].split())
    assert set(letters[0].split()) & set(letters[1].split())


def test_equal_models_are_told_apart_in_no_more_trials_than_the_level_says() -> None:
    """Five equally good models, 300 trials: any rank that is surely better is an error."""
    rng = np.random.default_rng(23)
    design = Design(["S"] * 200, [str(place) for place in range(200)])
    errors = 0
    for _ in range(300):
        values = (rng.random((200, 5)) < 0.6).astype(float)
        means = values.mean(axis=0)
        drawn = bootstrap_means(values, design, 500, 1)[OVERALL]
        errors += bool(_surely_better(drawn, means, 0.95).any())
    assert errors / 300 <= 0.09


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        str(plain_run(tmp_path / f"{name}.jsonl", wrong(*range(count)), model=name))
        for name, count in (("a", 0), ("b", len(SAMPLE)))
    ]
    with pytest.raises(SystemExit):
        main(["rank", *paths, "--format", "json", "--resamples", "200"])
    document = json.loads(capsys.readouterr().out)
    assert [run["rank_interval"] for run in document["runs"]] == [[1, 1], [2, 2]]
    with pytest.raises(SystemExit):
        main(["rank", *paths, "--resamples", "200"])
    assert "1 to 1" in capsys.readouterr().out
    target = tmp_path / "ranks.md"
    with pytest.raises(SystemExit):
        main(["rank", *paths, "--resamples", "200", "-o", str(target)])
    rows = [line for line in target.read_text(encoding="utf-8").splitlines() if "|" in line]
    assert [row.split("|")[1].strip() for row in rows] == [
        "Run",
        ":--",
        "a",
        "b",
        "Run",
        ":--",
        "a",
    ]
    assert rows[2].split("|")[4].strip() == "1 to 1"


def test_equal_runs_are_not_called_better_and_one_pair_is_not_corrected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(plain_run(tmp_path / f"{name}.jsonl", model=name)) for name in ("a", "b", "c")]
    for chosen, said in ((paths[:2], "one pair"), (paths, "Holm over all 3 pairs")):
        with pytest.raises(SystemExit):
            main(["rank", *chosen, "--resamples", "200"])
        out = capsys.readouterr().out
        assert said in " ".join(out.split())
        assert "Against" in out
        assert not {"better", "worse"} & set(out.lower().split())


def test_rank_gate_and_compare_say_what_the_audits_warn_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Acc does not punish a dump of the whole text: 64 answers with 40 words around each."""
    around = " ".join(f"word{place}" for place in range(40))
    dump = plain_run(tmp_path / "d.jsonl", lambda r: f"{around} {r.answers[0]}", model="dump")
    plain = plain_run(tmp_path / "p.jsonl", wrong(1, 2, 3), model="plain")
    said = "of the Acc hits come from outputs over 16 times as long as the answer"
    for command, marked in (
        (("rank", dump, plain), "\u2021 dump [unknown]: "),
        (("compare", dump, plain), "Note: A, dump: "),
        (("gate", dump, "--min", "acc=60"), "note: the run: "),
        (("gate", plain, "--baseline", dump, "--min", "acc=60"), "note: the baseline: "),
    ):
        with pytest.raises(SystemExit):
            main([*map(str, command), "--resamples", "200"])
        out = " ".join(capsys.readouterr().out.split())
        assert f"{marked}" in out
        assert out.count(said) == 1
    with pytest.raises(SystemExit) as ended:
        main(["gate", str(dump), "--min", "acc=60", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert (ended.value.code, document["verdict"]) == (0, "passed")
    assert said in document["run"]["remarks"][0]
