"""Columns and ids that stand twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas
import pyarrow
import pytest
from host_files import SAMPLE
from pyarrow import parquet

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.predictions.kinds import Columns
from dtvqa_plugin.report import Run, read_run

A, B = SAMPLE[0], SAMPLE[1]


def said(run: Run) -> dict[str, str]:
    return {answer.question_id: answer.text for answer in run.answers}


def doubled_csv(path: Path, names: Sequence[str], row: Sequence[str]) -> Path:
    path.with_suffix(".csv").write_text(f"{','.join(names)}\n{','.join(row)}\n", encoding="utf-8")
    return path.with_suffix(".csv")


def doubled_xlsx(path: Path, names: Sequence[str], row: Sequence[str]) -> Path:
    frame = pandas.DataFrame([names, row])
    frame.to_excel(path.with_suffix(".xlsx"), header=False, index=False, engine="xlsxwriter")
    return path.with_suffix(".xlsx")


def doubled_parquet(path: Path, names: Sequence[str], row: Sequence[str]) -> Path:
    table = pyarrow.Table.from_arrays([pyarrow.array([cell]) for cell in row], names=list(names))
    parquet.write_table(table, path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


DoubledMaker = Callable[[Path, Sequence[str], Sequence[str]], Path]
ANY_TABLE = pytest.mark.parametrize("make", [doubled_csv, doubled_xlsx, doubled_parquet])


@ANY_TABLE
@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("question_id", "prediction", "prediction"), Columns()),
        (("question_id", "question_id", "prediction"), Columns()),
        (("question_id", "response", "said", "response"), Columns(prediction="response")),
        (("dataset_name", "dataset_name", "id", "prediction"), Columns()),
        (("dataset_name", "id", "id", "prediction"), Columns()),
        (("index", "index", "prediction"), Columns()),
        (("qid", "qid", "prediction"), Columns("qid")),
        (("question_id", "prediction", "repeat", "repeat"), Columns()),
        (("question_id", "prediction", "model", "model"), Columns()),
        (("image", "question", "question", "prediction"), Columns()),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, tuple) else "",
)
def test_a_column_that_is_read_must_not_stand_twice(
    tmp_path: Path, make: DoubledMaker, names: Sequence[str], columns: Columns
) -> None:
    name, _, number = A.question_id.partition("/")
    given = {"dataset_name": name, "id": number, "repeat": "1", "image": A.image}
    given |= dict.fromkeys(("question_id", "index", "qid"), A.question_id)
    given["question"] = A.question
    path = make(tmp_path / "run", names, [given.get(column, "x") for column in names])
    twice = next(column for column in names if names.count(column) > 1)
    with pytest.raises(DTVQAError, match=f"the column '{twice}' stands twice") as caught:
        read_run(path, columns=columns)
    assert str(path) in str(caught.value)


@ANY_TABLE
def test_a_column_whose_name_ends_in_a_number_is_another_column(
    tmp_path: Path, make: DoubledMaker
) -> None:
    names = ("question_id", "prediction", "prediction.1", "id.1", "id", "question_id.1")
    path = make(tmp_path / "run", names, (A.question_id, "a", "b", "7", "8", "c"))
    assert said(read_run(path)) == {A.question_id: "a"}
    other = read_run(path, columns=Columns(prediction="prediction.1"))
    assert said(other) == {A.question_id: "b"}


@pytest.mark.parametrize("make", [doubled_csv, doubled_xlsx])
def test_a_doubled_column_that_nothing_reads_does_no_harm(
    tmp_path: Path, make: DoubledMaker
) -> None:
    names = ("question_id", "note", "prediction", "note")
    assert said(read_run(make(tmp_path / "run", names, (A.question_id, "1", "a", "2")))) == {
        A.question_id: "a"
    }


def test_a_doubled_column_in_a_compressed_csv_with_a_mark_and_quotes(tmp_path: Path) -> None:
    text = f'\ufeff"question_id","prediction\n","prediction"\n{A.question_id},a,b\n'
    (tmp_path / "run.csv").write_text(text, encoding="utf-8")
    assert said(read_run(tmp_path / "run.csv")) == {A.question_id: "b"}
    twice = text.replace("prediction\n", "prediction")
    (tmp_path / "run.csv").write_text(twice, encoding="utf-8")
    with pytest.raises(DTVQAError, match="'prediction' stands twice"):
        read_run(tmp_path / "run.csv")


def test_a_nested_column_of_parquet_that_stands_twice_is_refused(tmp_path: Path) -> None:
    fields = [("text", pyarrow.string()), ("text", pyarrow.string())]
    said_twice = pyarrow.StructArray.from_arrays(
        [pyarrow.array(["a"]), pyarrow.array(["b"])], fields=[pyarrow.field(*f) for f in fields]
    )
    ids = pyarrow.array([A.question_id])
    table = pyarrow.Table.from_arrays([ids, said_twice], names=["question_id", "output"])
    parquet.write_table(table, tmp_path / "run.parquet")
    with pytest.raises(DTVQAError, match=r"the column 'output.text' stands twice"):
        read_run(tmp_path / "run.parquet", columns=Columns(prediction="output.text"))


@pytest.mark.parametrize(
    ("text", "found", "contradictory"),
    [
        ('{"MiniScene/1": "x", "MiniScene": {"1": "y"}, %s}', "y", 1),
        ('{"MiniScene": {"1": "y"}, "MiniScene/1": "x", %s}', "x", 1),
        ('{"MiniScene": {"1": "x"}, "MiniScene/1": "x", %s}', "x", 0),
    ],
)
def test_an_id_that_a_map_holds_flat_and_nested_is_answered_twice(
    tmp_path: Path, text: str, found: str, contradictory: int
) -> None:
    others = json.dumps({record.question_id: "a" for record in SAMPLE[1:]})[1:-1]
    (tmp_path / "map.json").write_text(text % others, encoding="utf-8")
    run = read_run(tmp_path / "map.json")
    assert said(run)[A.question_id] == found
    assert (run.faults.doubled, run.faults.contradictory) == ((A.question_id,), contradictory)


@pytest.mark.parametrize(
    ("second", "refused"),
    [(["question_id", "prediction"], True), (["note"], False), ([], False)],
)
def test_two_sheets_of_predictions_are_refused(
    tmp_path: Path, second: list[str], refused: bool
) -> None:
    path = tmp_path / "run.xlsx"
    with pandas.ExcelWriter(path, engine="xlsxwriter") as book:
        for name, head in (("first", ["question_id", "prediction"]), ("second", second)):
            row = [A.question_id, name][: len(head)]
            frame = pandas.DataFrame([row] if row else [], columns=head)
            frame.to_excel(book, sheet_name=name, index=False)
    if refused:
        with pytest.raises(DTVQAError, match="two sheets have a column 'prediction'"):
            read_run(path)
    else:
        assert said(read_run(path)) == {A.question_id: "first"}
