"""Audits: what each output counts as, and scores with long hits taken away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_runs import BY_ID, SAMPLE, dump, first_answer, plain_run, write_lines

from dtvqa_plugin.analysis.audits import audit, is_phrase, leakage
from dtvqa_plugin.analysis.refusals import is_refusal
from dtvqa_plugin.data import Record
from dtvqa_plugin.report import Run, RunError, read_run
from dtvqa_plugin.utils.scripts import main_script

BOOKSHOP = "MiniScene/1"  # What is the name of the bookshop? Pennywhistle Books
PRICE = "MiniProdCap/2"  # What is the price of the product? 168 or 168元
GOALS = "MiniTabShot/4"  # What is the goal difference ...? -10


def run_of(tmp_path: Path, outputs: dict[str, str | None]) -> Run:
    rows = ({"question_id": name, "prediction": output} for name, output in outputs.items())
    return read_run(write_lines(tmp_path / "run.jsonl", rows))


@pytest.mark.parametrize(
    ("question_id", "output", "found"),
    [
        (BOOKSHOP, "Pennywhistle Books", []),
        (BOOKSHOP, "pennywhistle books.", []),
        (BOOKSHOP, "PennywhistleBooks", []),
        (BOOKSHOP, "xPennywhistle Bookstore", ["boundary"]),
        (PRICE, "168元", []),
        (PRICE, "1680", ["boundary"]),
        (PRICE, "价格是168元", []),
        (BOOKSHOP, "书店", ["other script"]),
        (BOOKSHOP, "Книжный", ["other script"]),
        (BOOKSHOP, "12345", []),
        (BOOKSHOP, "one two three four five six seven eight nine ten", []),
        (BOOKSHOP, "one two three four five six seven eight nine ten eleven", ["not a phrase"]),
        (BOOKSHOP, "x" * 81, ["not a phrase"]),
        (BOOKSHOP, "Pennywhistle Books\nBooks", ["not a phrase"]),
        (BOOKSHOP, "What is the name of the bookshop? No", ["repeats the question"]),
        (BOOKSHOP, "I'm sorry, no", ["refusal"]),
        (BOOKSHOP, "I cannot read it", ["refusal"]),
        (BOOKSHOP, "抱歉，看不清", ["other script", "refusal"]),
        (BOOKSHOP, "I cannot read more than Pennywhistle Books", []),
        (BOOKSHOP, "", ["empty"]),
        (BOOKSHOP, " \n", ["empty"]),
        (BOOKSHOP, "<think>well", ["cut off in its reasoning"]),
        (BOOKSHOP, "<think>well</think>", ["empty"]),
        (BOOKSHOP, None, ["failed"]),
        (BOOKSHOP, "Failed to obtain answer via API.", ["failed"]),
    ],
)
def test_what_an_output_counts_as(
    tmp_path: Path, question_id: str, output: str | None, found: list[str]
) -> None:
    findings = audit(run_of(tmp_path, {question_id: output})).all_findings
    assert [item.name for item in findings if item.count] == found
    assert all(item.question_ids in ((), (question_id,)) for item in findings)


def test_boundary_hits_show_where_they_stand(tmp_path: Path) -> None:
    outputs: dict[str, str | None] = {
        PRICE: f"{'a' * 30} ¥1680 {'b' * 30}",
        GOALS: "-105",
        BOOKSHOP: f"{'c' * 5000}Pennywhistle Bookstore",
    }
    hits = {hit.question_id: hit for hit in audit(run_of(tmp_path, outputs)).boundary_hits}
    assert hits[PRICE].answer == "¥168"
    assert hits[PRICE].shown == "…" + "a" * 19 + " ¥1680 " + "b" * 18 + "…"
    assert (hits[GOALS].answer, hits[GOALS].shown) == ("-10", "-105")
    # Beyond what is kept of an output the place cannot be shown; the question still is.
    assert hits[BOOKSHOP].shown == ""


def test_verbosity_bins_and_the_score_without_long_hits(tmp_path: Path) -> None:
    """Answers of 18 characters in outputs of 18, 27, 28, 72, 288 and 289; one near miss."""
    lengths = [18, 27, 28, 72, 288, 289]
    others = [name for name in BY_ID if BY_ID[name].subset == "MiniTabShot"]
    assert len("Pennywhistle Books") == 18
    answers = {BOOKSHOP: "Pennywhistle Books"}
    runs = [
        read_run(
            write_lines(
                tmp_path / f"{length}.jsonl",
                [{"question_id": BOOKSHOP, "prediction": "Pennywhistle Books".ljust(length, ".")}],
            )
        )
        for length in lengths
    ]
    filled = [next(b for b in audit(run).verbosity.bins if b.hits) for run in runs]
    assert [b.up_to for b in filled] == [1.5, 1.5, 4.0, 4.0, 16.0, None]
    assert [audit(run).verbosity.warn for run in runs] == [False] * 5 + [True]

    near = BY_ID[others[0]].answers[0]
    outputs = {BOOKSHOP: "Pennywhistle Books".ljust(28, "."), others[0]: near[:-1] + "~" + "~"}
    run = run_of(tmp_path, {**answers, **outputs, others[1]: BY_ID[others[1]].answers[0]})
    bins = audit(run).verbosity.bins
    anls = [answer.anls for answer in run.answers]
    # Without hits beyond 1.5 the padded answer counts by its ANLS, 1 - 10/28.
    assert bins[0].acc_up_to == pytest.approx(1 / 3)
    assert anls[0] == pytest.approx(18 / 28)
    assert bins[0].accanls_up_to == pytest.approx((18 / 28 + anls[1] + 1) / 3)
    assert bins[-1].accanls_up_to == pytest.approx(run.values[:, 2].mean())
    assert sum(b.share for b in bins) == pytest.approx(1.0)


def test_a_dump_is_warned_of_and_short_answers_are_not(tmp_path: Path) -> None:
    long = audit(read_run(plain_run(tmp_path / "dump.jsonl", dump)))
    assert long.verbosity.over_last == 1.0
    assert "100% of the Acc hits come from outputs over 16 times" in str(long.verbosity.warning())
    assert "without them AccANLS is 0.0" in str(long.verbosity.warning())
    short = audit(read_run(plain_run(tmp_path / "short.jsonl")))
    assert short.verbosity.warning() is None


@pytest.mark.parametrize(("verbose", "warned"), [(6, False), (7, True)])
def test_the_warning_is_due_above_a_tenth_of_the_hits(
    tmp_path: Path, verbose: int, warned: bool
) -> None:
    outputs = {
        r.question_id: dump(r) if i < verbose else r.answers[0] for i, r in enumerate(SAMPLE)
    }
    assert audit(run_of(tmp_path, dict(outputs))).verbosity.warn is warned


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("abc", "Latin"),
        ("é", "Latin"),
        ("价格 168", "Han"),
        ("かな", "Kana"),
        ("168", None),
        ("", None),
    ],
)
def test_main_script(text: str, script: str | None) -> None:
    assert main_script(text) == script


def test_no_reference_answer_of_the_release_reads_as_a_fault(shared_dir: Path) -> None:
    """The audits' rules leave the benchmark's own answers alone."""
    from dtvqa_plugin.data import records

    answers = [a for r in records("test", home=shared_dir / "hub" / "DT-VQA") for a in r.answers]
    assert [a for a in answers if is_refusal(a)] == []
    assert len([a for a in answers if not is_phrase(a, len(a))]) <= 1


# --- text-only leakage ------------------------------------------------------------------------


def guess(record: Record) -> str:
    return record.answers[0] if record.question_id in (BOOKSHOP, GOALS) else "a guess"


def test_leakage_is_the_blank_runs_score_and_the_rest_is_scored_without_it(tmp_path: Path) -> None:
    blank = read_run(plain_run(tmp_path / "blank.jsonl", guess))
    run = read_run(plain_run(tmp_path / "run.jsonl"))
    parts = {part.part: part for part in leakage(run, blank)}
    whole = parts["overall"]
    leaked = int((blank.values[:, 2] > 0).sum())
    assert (whole.n, whole.needs_reading) == (64, 64 - leaked)
    assert whole.blank_accanls == pytest.approx(blank.values[:, 2].mean())
    assert whole.accanls_needs_reading == 1.0
    assert list(parts) == ["overall", "MiniScene", "MiniNutrCap", "MiniProdCap", "MiniTabShot"]


@pytest.mark.parametrize(
    ("output", "more", "message"),
    [
        (first_answer, {"prompt": "paper"}, "not a run over blank images"),
        (first_answer, {"chosen": SAMPLE[32:]}, "share no question"),
    ],
    ids=["condition", "questions"],
)
def test_a_run_that_is_no_blank_run_is_refused(
    tmp_path: Path, output: Callable[[Record], str], more: dict[str, Any], message: str
) -> None:
    run = read_run(plain_run(tmp_path / "run.jsonl", chosen=SAMPLE[:32]))
    other = read_run(plain_run(tmp_path / "other.jsonl", output, **more))
    with pytest.raises(RunError, match=message):
        leakage(run, other)
