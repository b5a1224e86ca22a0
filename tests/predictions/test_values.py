"""Outputs that are not text are scored as their text and counted."""

from __future__ import annotations

import io
from pathlib import Path

import pandas
import pyarrow
import pytest
from host_files import SAMPLE
from pyarrow import parquet

from dtvqa_plugin.report import Run, read_run
from dtvqa_plugin.runs.remarks import remarks

A, B = SAMPLE[0], SAMPLE[1]


def said(run: Run) -> dict[str, str]:
    return {answer.question_id: answer.text for answer in run.answers}


@pytest.mark.parametrize(
    ("value", "text", "stored"),
    [
        ("2.50", "2.50", "number"),
        ("4.0", "4.0", "number"),
        ("1e3", "1e3", "number"),
        ("7", "7", "number"),
        ("-0.10", "-0.10", "number"),
        ("true", "true", "boolean"),
        ("[]", "[]", "list"),
        ('"2.50"', "2.50", None),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "json", "map", "released", "swift", "vlmevalkit"])
def test_a_value_that_is_no_text_is_scored_as_its_text_and_counted(
    tmp_path: Path, value: str, text: str, stored: str | None, form: str
) -> None:
    lines = [
        f'{{"question_id": "{r.question_id}", "prediction": {v}}}'
        for r, v in ((A, value), (B, '"b"'))
    ]
    forms = {
        "jsonl": "\n".join(lines),
        "json": f"[{','.join(lines)}]",
        "map": f'{{"{A.question_id}": {value}, "{B.question_id}": {{"prediction": "b"}}}}',
        "released": "\n".join(lines).replace('"prediction"', '"predict"'),
        "swift": "\n".join(lines).replace('"prediction"', '"response"'),
        "vlmevalkit": f"[{','.join(lines)}]".replace('"question_id"', '"question": "q", "index"'),
    }
    path = tmp_path / ("m_DTVQA_MINI.json" if form == "vlmevalkit" else "run.jsonl")
    path.write_text(forms[form], encoding="utf-8")
    run = read_run(path)
    assert said(run) == {A.question_id: text, B.question_id: "b"}
    counted = [line for line in remarks(run) if "not as the model wrote it" in line]
    expected = f"1 output not as the model wrote it: stored as {stored}, not as text"
    assert counted == ([expected] if stored else [])


def test_columns_of_parquet_that_are_no_text_are_counted(tmp_path: Path) -> None:
    days = pandas.to_datetime(["2024-03-01", "2024-03-02"]).date
    for values, text, stored in (
        ([2.5, None], "2.5", "number"),
        ([True, False], "true", "boolean"),
        (list(days), "2024-03-01", "date"),
    ):
        ids = [A.question_id, B.question_id]
        table = pyarrow.table({"question_id": ids, "prediction": values})
        parquet.write_table(table, tmp_path / "run.parquet")
        run = read_run(tmp_path / "run.parquet")
        assert said(run)[A.question_id] == text
        assert any(f"stored as {stored}, not as text" in line for line in remarks(run))


@pytest.mark.parametrize(
    ("value", "text", "stored"),
    [('{"a": "é"}', '{"a": "é"}', "object"), ("[2.50]", "2.50", "number")],
)
def test_an_object_and_a_list_of_one_number_are_counted(
    tmp_path: Path, value: str, text: str, stored: str
) -> None:
    """An object in the first record is an error: all predictions may be objects."""
    lines = [
        f'{{"question_id": "{record.question_id}", "prediction": {output}}}\n'
        for record, output in ((A, '"a"'), (B, value))
    ]
    (tmp_path / "run.jsonl").write_text("".join(lines), encoding="utf-8")
    answer = read_run(tmp_path / "run.jsonl").answers[1]
    assert (answer.text, answer.loss) == (text, f"stored as {stored}, not as text")


def test_responses_of_a_list_that_are_no_text_are_counted(tmp_path: Path) -> None:
    text = io.StringIO()
    for record in (A, B):
        text.write(f'{{"question_id": "{record.question_id}", "prediction": ["a", 2.50]}}\n')
    (tmp_path / "run.jsonl").write_text(text.getvalue())
    run = read_run(tmp_path / "run.jsonl")
    assert [answers[0].text for answers in run.repeats] == ["a", "2.50"]
    assert [answers[0].loss for answers in run.repeats] == [None, "stored as number, not as text"]


LONG = "y" * 200_000


@pytest.mark.parametrize(
    ("text", "kept", "left_out"),
    [
        ("question_id,prediction\n{A},a\n{B}", "{A}", ["row 2"]),
        ("question_id,model,prediction\n{A},m,a\n{B},m", "{A}", ["row 2"]),
        ("question_id\tmodel\tprediction\n{B}\tm\n{A}\tm\ta\n", "{A}", ["row 1"]),
        ("question_id,prediction,model\n{A},a,m\n\n{B}\n", "{A}", ["row 2"]),
        ('question_id,prediction\n{A},"a\n\nb"\n{B}\n', "{A}", ["row 2"]),
        ("question_id,prediction,model\n{A},a,m\n  \n{B}\n", "{A}", ["row 2"]),
        ("model,question_id,prediction\n,{A},a\n,{B}\n", "{A}", ["row 2"]),
        ("question_id,prediction\n{A},a\n{B},\n", "{A}{B}", []),
        ('question_id,prediction\n{A},a\n{B},""', "{A}{B}", []),
        ("question_id,prediction,model\n{A},a,\n{B},b,\n", "{A}{B}", []),
        (f"question_id,prediction,model\n{{A}},{LONG},\n{{B}},b,\n", "{A}{B}", []),
        (f"question_id,prediction,model\n{{A}},{LONG},m\n{{B}}\n", "{A}", ["row 2"]),
    ],
    ids=range(12),
)
def test_a_row_that_is_cut_off_is_left_out_and_counted(
    tmp_path: Path, text: str, kept: str, left_out: list[str]
) -> None:
    """pandas fills it with empty cells, which would be an empty answer."""
    path = tmp_path / ("run.tsv" if "\t" in text else "run.csv")
    path.write_text(text.replace("{A}", A.question_id).replace("{B}", B.question_id))
    run = read_run(path)
    assert "".join(said(run)) == kept.replace("{A}", A.question_id).replace("{B}", B.question_id)
    assert [place for _, place, _ in run.faults.unreadable] == left_out
    assert all("is cut off" in why for _, _, why in run.faults.unreadable)
