"""From prediction rows to scores and files. No host needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dtvqa_plugin.data import Record
from dtvqa_plugin.hosts.vlmevalkit.evaluation import Joined, evaluate, join, write_results
from dtvqa_plugin.predictions.rows import PredictionRow, PredictionTable

IDS = ["DTScene/1", "DTScene/2", "DTTabShot/1"]
FAILED = "Failed to obtain answer via API."


def table(
    rows: Sequence[tuple[str, str | None] | tuple[str, str | None, str]], name: str = "m.tsv"
) -> PredictionTable:
    found = [
        PredictionRow(number, row[0], row[1], {}, row[2] if len(row) == 3 else None)
        for number, row in enumerate(rows, start=1)
    ]
    return PredictionTable(Path(name), tuple(found))


WHOLE: list[Any] = [(name, f"answer {name}") for name in IDS]


@pytest.mark.parametrize(
    ("rows", "expected", "odd"),
    [
        (WHOLE, [row[1] for row in WHOLE], {}),
        (WHOLE[::-1], [row[1] for row in WHOLE], {"reordered": True}),
        (WHOLE[:2], [WHOLE[0][1], WHOLE[1][1], None], {"missing": 1}),
        ([], [None, None, None], {"missing": 3}),
        ([*WHOLE, WHOLE[1]], [row[1] for row in WHOLE], {"doubled": 1}),
        (
            [*WHOLE, (IDS[1], "later")],
            [WHOLE[0][1], "later", WHOLE[2][1]],
            {"doubled": 1, "contradictory": 1},
        ),
        ([("DTScene/9", "stray"), *WHOLE], [row[1] for row in WHOLE], {"unknown": 1}),
        (
            [(IDS[0], "x" * 9, "cut"), *WHOLE[1:]],
            ["x" * 9, WHOLE[1][1], WHOLE[2][1]],
            {"losses": {IDS[0]: "cut"}},
        ),
    ],
    ids=["whole", "reordered", "short", "empty", "doubled", "contradictory", "stray", "damaged"],
)
def test_rows_are_joined_by_question_and_irregularities_reported(
    rows: Any, expected: list[Any], odd: dict[str, Any]
) -> None:
    joined = join(IDS, table(rows))
    assert list(joined.raw.values()) == expected
    assert joined == Joined(raw=joined.raw, **odd)
    assert bool(joined.remarks(len(IDS))) is bool(odd)


@pytest.mark.parametrize(
    ("rows", "memory", "expected", "recovered"),
    [
        pytest.param(
            [(IDS[0], "cut", "cut at 32,767 characters"), *WHOLE[1:]],
            ["cut no more", WHOLE[1][1], WHOLE[2][1]],
            "cut no more",
            1,
            id="damaged row comes from memory",
        ),
        pytest.param(
            [(IDS[0], ""), *WHOLE[1:]],
            ["https://a.b/" + "x" * 3000, WHOLE[1][1], WHOLE[2][1]],
            "https://a.b/" + "x" * 3000,
            1,
            id="lost link comes from memory",
        ),
        pytest.param(
            [(IDS[0], "cut", "cut at 32,767 characters"), *WHOLE[1:]],
            ["cut no more", "of another run", WHOLE[2][1]],
            "cut",
            0,
            id="memory of another run is not used",
        ),
        pytest.param(
            [(IDS[0], "cut", "cut"), *WHOLE[1:2]],
            ["cut no more", WHOLE[1][1], WHOLE[2][1]],
            "cut",
            0,
            id="memory of other questions is not used",
        ),
    ],
)
def test_memory_replaces_damage_of_the_same_run_only(
    rows: Any, memory: list[Any], expected: str, recovered: int
) -> None:
    joined = join(IDS, table(rows, "m.xlsx"), dict(zip(IDS, memory, strict=True)))
    assert joined.raw[IDS[0]] == expected
    assert joined.recovered == recovered


def test_an_empty_xlsx_cell_is_reported_because_it_may_have_been_a_long_link() -> None:
    rows = [(IDS[0], ""), *WHOLE[1:]]
    assert join(IDS, table(rows, "m.xlsx")).blank_cells == 1
    assert join(IDS, table(rows, "m.tsv")).blank_cells == 0


def record(name: str, *answers: str) -> Record:
    subset = name.split("/")[0]
    return Record(name, subset, f"{subset}/test/1.png", "What?", answers, "table")


@pytest.mark.parametrize(
    ("raw", "accanls", "failed", "unanswered"),
    [
        ("So it is word", 1.0, False, None),
        ("  WORD \r\n", 1.0, False, None),
        ("wort", 0.75, False, None),
        (["word"], 1.0, False, None),
        ({"answer": "word"}, 1.0, False, None),
        (["a", "word"], 1.0, False, None),
        ("<think>word</think>none", 0.0, False, None),
        ("<think>word, or", 0.0, False, "truncated"),
        (FAILED, 0.0, True, "failed"),
        (f"{FAILED[:-1]}: <class 'RuntimeError'> word", 0.0, True, "failed"),
        (None, 0.0, True, "failed"),
        ("", 0.0, False, "empty"),
    ],
)
def test_one_prediction(raw: object, accanls: float, failed: bool, unanswered: str | None) -> None:
    joined = Joined(raw={"DTScene/1": raw})
    result = evaluate([record("DTScene/1", "word")], joined, "none")
    (question,) = result.questions
    assert (question["accanls"], question["failed"], question["unanswered"]) == (
        accanls,
        failed,
        unanswered,
    )
    assert result.scores["Overall"]["failed"] == failed


def test_means_are_over_all_questions_times_100_in_the_papers_order() -> None:
    records = [record("DTTabShot/1", "a"), record("DTScene/1", "b"), record("DTScene/2", "c")]
    joined = Joined(raw={"DTTabShot/1": "a", "DTScene/1": FAILED, "DTScene/2": "so c"})
    scores = evaluate(records, joined, "none").scores
    assert list(scores) == ["DTScene", "DTTabShot", "Overall"]
    assert scores["DTScene"] == {"AccANLS": 50.0, "ANLS": 0.0, "Acc": 50.0, "n": 2, "failed": 1}
    assert scores["Overall"]["AccANLS"] == 2 / 3 * 100
    assert scores["Overall"]["ANLS"] == 1 / 3 * 100


def test_results_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    predictions = tmp_path / "model_DTVQA.tsv"
    write_results(predictions, [{"prediction": "\ud800 \x00 �"}], {"n": 1})
    before = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert set(before) == {"model_DTVQA_questions.jsonl", "model_DTVQA_summary.json"}
    assert json.loads(before["model_DTVQA_questions.jsonl"])["prediction"] == "\ud800 \x00 �"
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(ValueError, match="Circular"):
        write_results(predictions, [{"prediction": "new"}], endless)
    after = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert after == before
