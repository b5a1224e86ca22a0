"""Records that say two things: two outputs, two questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pytest
from host_files import SAMPLE, lmms_sample, right, write_lines
from pyarrow import parquet

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.predictions.kinds import Columns
from dtvqa_plugin.report import Run, read_run
from dtvqa_plugin.runs.remarks import remarks

Fields = Mapping[str, Any]
A, B = SAMPLE[0], SAMPLE[1]


def as_jsonl(path: Path, rows: Sequence[Fields]) -> Path:
    return write_lines(path.with_suffix(".jsonl"), rows)


def as_json(path: Path, rows: Sequence[Fields]) -> Path:
    path.with_suffix(".json").write_text(json.dumps(list(rows)), encoding="utf-8")
    return path.with_suffix(".json")


def as_csv(path: Path, rows: Sequence[Fields]) -> Path:
    pandas.DataFrame(rows).to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def as_xlsx(path: Path, rows: Sequence[Fields]) -> Path:
    pandas.DataFrame(rows).to_excel(path.with_suffix(".xlsx"), index=False, engine="xlsxwriter")
    return path.with_suffix(".xlsx")


def as_parquet(path: Path, rows: Sequence[Fields]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    parquet.write_table(pyarrow.table(columns), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


Maker = Callable[[Path, Sequence[Fields]], Path]
ANY_FORM = pytest.mark.parametrize("make", [as_jsonl, as_json, as_csv, as_xlsx, as_parquet])


def said(run: Run) -> dict[str, str]:
    return {answer.question_id: answer.text for answer in run.answers}


def with_fields(**fields: Any) -> list[Fields]:
    """Records of three questions; the fields of the second are given, those of the others agree."""
    same = dict.fromkeys(fields, "x")
    return [
        {"question_id": record.question_id, **(fields if place == 1 else same)}
        for place, record in enumerate(SAMPLE[:3])
    ]


# --- two outputs ------------------------------------------------------------------------------

TWO_OUTPUTS = [
    {"prediction": "a", "predict": "b"},
    {"predict": "a", "prediction": "b"},
    {"prediction": "a", "response": "b"},
    {"response": "a", "prediction": "b"},
    {"prediction": "a", "text": "b"},
    {"predict": "a", "response": "b"},
    {"predict": "a", "text": "b"},
    {"raw_prediction": "The answer is a", "prediction": "a"},
    {"raw_prediction": "a", "predict": "b"},
    {"prediction": "", "response": "b"},
]


@ANY_FORM
@pytest.mark.parametrize("fields", TWO_OUTPUTS, ids=json.dumps)
def test_two_different_outputs_in_a_record_are_refused(
    tmp_path: Path, make: Maker, fields: Fields
) -> None:
    path = make(tmp_path / "run", with_fields(**fields))
    with pytest.raises(DTVQAError) as caught:
        read_run(path)
    message = str(caught.value)
    assert str(path) in message
    assert any(place in message for place in ("line 2", "record 2", "row 2"))
    assert all(repr(name) in message for name in fields)
    assert "--prediction-column" in message
    for name, value in fields.items():
        assert said(read_run(path, columns=Columns(prediction=name)))[B.question_id] == value


@ANY_FORM
@pytest.mark.parametrize(
    "fields",
    [
        {"prediction": "a", "predict": "a"},
        {"prediction": "a", "response": " a\n"},
        {"prediction": "a", "text": "a", "response": "a"},
        {"prediction": "a", "raw_prediction": "<think>hm</think> a"},
        {"prediction": "a", "text": f"{B.question}\nAnswer with a word."},
        {"prediction": "a", "response": None},
        {"prediction": "a", "output": "b", "answer": "c", "label": "d"},
    ],
    ids=json.dumps,
)
def test_fields_that_say_the_same_are_one_output(
    tmp_path: Path, make: Maker, fields: Fields
) -> None:
    run = read_run(make(tmp_path / "run", with_fields(**fields)))
    assert said(run)[B.question_id] == "a"
    assert remarks(run)[1:] == []


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("prediction", "response", "has no 'prediction' (it has 'response')"),
        ("prediction", "text", "has no 'prediction' (it has 'text')"),
        ("predict", "response", "has no 'predict' (it has 'response')"),
        ("response", "prediction", "has no 'response' (it has 'prediction')"),
        ("text", "response", "has no 'text' (it has 'response')"),
        ("prediction", "output", "has no 'prediction'"),
    ],
)
def test_a_record_without_the_output_of_its_file_is_left_out_and_counted(
    tmp_path: Path, first: str, second: str, reason: str
) -> None:
    rows = [
        {"question_id": record.question_id, (second if place == 1 else first): "a"}
        for place, record in enumerate(SAMPLE[:3])
    ]
    run = read_run(write_lines(tmp_path / "run.jsonl", rows))
    assert said(run).keys() == {A.question_id, SAMPLE[2].question_id}
    assert run.failed == 0
    assert any(
        f"1 record could not be read, left out: run.jsonl, line 2: {reason}" in line
        for line in remarks(run)
    ), remarks(run)


def test_records_of_two_kinds_in_one_parquet_file_are_refused(tmp_path: Path) -> None:
    rows = [
        {"question_id": A.question_id, "prediction": "a"},
        {"question_id": B.question_id, "response": "b"},
    ]
    with pytest.raises(DTVQAError, match="row 2: 'prediction' and 'response'"):
        read_run(as_parquet(tmp_path / "run", rows))


def test_files_of_hosts_hold_several_outputs_lawfully(tmp_path: Path) -> None:
    logged = lmms_sample(A, 0, ["<think>x</think>a"], "a")
    logged |= {"prediction": "other", "response": "other"}
    assert said(read_run(write_lines(tmp_path / "lmms.jsonl", [logged]))) == {A.question_id: "a"}
    ours = {"question_id": A.question_id, "prediction": "a", "accanls": 0.0}
    ours |= {"raw_prediction": "<think>b</think>a [sic]"}
    read = said(read_run(write_lines(tmp_path / "scores.jsonl", [ours])))
    assert read == {A.question_id: "a [sic]"}
    ours["response"] = "c"
    with pytest.raises(DTVQAError, match="'raw_prediction' and 'response' hold different"):
        read_run(write_lines(tmp_path / "scores.jsonl", [ours]))


# --- two questions ----------------------------------------------------------------------------

A_NAME, _, A_NUMBER = A.question_id.partition("/")
B_NUMBER = B.question_id.partition("/")[2]
A_IDS = {"dataset_name": A_NAME, "id": int(A_NUMBER)}
OTHER_SET = next(
    record.question_id
    for record in SAMPLE
    if record.question_id.partition("/")[2] == A_NUMBER and record.subset != A.subset
)
B_IDS = {"dataset_name": A_NAME, "id": int(B_NUMBER)}


@pytest.mark.parametrize(
    "record",
    [
        {"question_id": A.question_id, **B_IDS},
        {"question_id": A.question_id, **B_IDS, "id": B_NUMBER},
        {"question_id": A.question_id, "id": B.question_id},
        {"question_id": A.question_id, "index": B.question_id},
        {"question_id": A.question_id, "metadata": B_IDS},
        {"question_id": A.question_id, "metadata": {"question_id": B.question_id}},
        {"question_id": A.question_id, "doc": {"question_id": B.question_id}},
        {**A_IDS, "extra": {"question_id": B.question_id}},
        {"id": A.question_id, "metadata": B_IDS},
        {**A_IDS, "question_id": int(B_NUMBER)},
        {**A_IDS, "question_id": B_NUMBER},
        {"question_id": A.question_id, "dataset_name": OTHER_SET.partition("/")[0]},
    ],
    ids=json.dumps,
)
def test_a_record_that_names_two_questions_is_left_out_and_counted(
    tmp_path: Path, record: Fields
) -> None:
    rows = [
        {**record, "prediction": "a"},
        {"question_id": SAMPLE[2].question_id, "prediction": "b"},
    ]
    run = read_run(write_lines(tmp_path / "run.jsonl", rows))
    assert said(run) == {SAMPLE[2].question_id: "b"}
    other = OTHER_SET if record.get("dataset_name") not in (None, A_NAME) else B.question_id
    reason = f"names two questions ('{A.question_id}' and '{other}')"
    assert run.faults.unreadable == (("run.jsonl", "line 1", reason),)


@pytest.mark.parametrize(
    "record",
    [
        {"question_id": A.question_id, **A_IDS},
        {"question_id": A.question_id, "id": 99_999, "dataset_name": A_NAME},
        {"question_id": A.question_id, "id": int(B_NUMBER)},
        {"question_id": A.question_id, "id": "b7c1-uuid"},
        {"question_id": A.question_id, "id": "run/7"},
        {"question_id": A.question_id, "index": 1},
        {"question_id": A.question_id, "dataset_name": "DTVQA_MINI", "id": 2},
        {"question_id": 99_999, **A_IDS},
        {"question_id": int(B_NUMBER), "metadata": A_IDS},
        {"question_id": A.question_id, "dataset_name": "DT-VQA"},
        {"question_id": A.question_id, "metadata": {"id": 2, "dataset_name": "val"}},
        {"question_id": A.question_id, "metadata": {**A_IDS, "question_id": A.question_id}},
    ],
    ids=json.dumps,
)
def test_other_numbers_beside_an_id_are_no_second_question(tmp_path: Path, record: Fields) -> None:
    run = read_run(write_lines(tmp_path / "run.jsonl", [{**record, "prediction": "a"}]))
    assert said(run) == {A.question_id: "a"}


@pytest.mark.parametrize("make", [as_csv, as_xlsx, as_parquet])
def test_a_row_that_names_two_questions_is_left_out_and_counted(
    tmp_path: Path, make: Maker
) -> None:
    rows = [
        {"question_id": A.question_id, **B_IDS, "prediction": "a"},
        {"question_id": B.question_id, **B_IDS, "prediction": "b"},
    ]
    run = read_run(make(tmp_path / "run", rows))
    assert said(run) == {B.question_id: "b"}
    assert run.faults.unreadable_count == 1
    given = read_run(make(tmp_path / "run", rows), columns=Columns("question_id"))
    assert said(given) == {A.question_id: "a", B.question_id: "b"}


def test_a_map_whose_record_names_another_question(tmp_path: Path) -> None:
    record = {"question_id": B.question_id, "prediction": "a"}
    content = {A.question_id: record, SAMPLE[2].question_id: {"prediction": "c"}}
    (tmp_path / "map.json").write_text(json.dumps(content))
    run = read_run(tmp_path / "map.json")
    assert said(run) == {SAMPLE[2].question_id: "c"}
    assert run.faults.unreadable_count == 1


def test_a_log_of_lmms_eval_whose_records_name_two_questions(tmp_path: Path) -> None:
    rows = [lmms_sample(record, place, right(record)) for place, record in enumerate(SAMPLE[:3])]
    rows[1]["doc"] = {"question_id": SAMPLE[5].question_id}
    run = read_run(write_lines(tmp_path / "log.jsonl", rows))
    assert said(run).keys() == {A.question_id, SAMPLE[2].question_id}
    assert run.faults.unreadable_count == 1


# --- an id and the text of another question ---------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({"question": B.question}, 0),
        ({"question": f"  {B.question}\n"}, 0),
        ({"question": SAMPLE[20].question}, 0),
        ({"question": A.question}, 1),
        ({"question": A.question.replace(" ", "\n")}, 1),
        ({"question": f"Answer with a word. {A.question}"}, 1),
        ({"question": f"{A.question} (not: {B.question})"}, 1),
        ({"question": A.question.lower()}, 1),
        ({"question": "Wie heißt der Laden?"}, 1),
        ({"question": f"Answer with a word. {B.question}"}, 0),
        ({"prompt": B.question}, 0),
        ({"prompt": B.question, "question": A.question}, 1),
        ({"prompt": "none"}, 1),
        ({"question": None}, 1),
        ({"question": {"text": B.question}}, 1),
    ],
    ids=str,
)
def test_an_id_beside_the_text_of_another_question(
    tmp_path: Path, fields: Fields, number: int
) -> None:
    """An id of another revision of the annotations, or a column that was shifted by a row."""
    rows = [{"question_id": A.question_id, "prediction": "a", **fields}]
    rows.append({"question_id": SAMPLE[2].question_id, "prediction": "c"})
    run = read_run(write_lines(tmp_path / "run.jsonl", rows))
    expected = {SAMPLE[2].question_id: "c", **({A.question_id: "a"} if number else {})}
    assert said(run) == expected
    if not number:
        reason = f"names {A.question_id!r} but holds the text of another question"
        assert run.faults.unreadable == (("run.jsonl", "line 1", reason),)


def test_rows_of_vlmevalkit_that_hold_the_text_of_another_question(tmp_path: Path) -> None:
    rows = [
        {"index": A.question_id, "question": B.question, "prediction": "a"},
        {"index": B.question_id, "question": B.question, "prediction": "b"},
    ]
    run = read_run(as_xlsx(tmp_path / "m_DTVQA_MINI", rows))
    assert said(run) == {B.question_id: "b"}
    assert run.faults.unreadable_count == 1


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({"image": SAMPLE[5].image}, 0),
        ({"image_path": f"/data/image/{SAMPLE[5].image}"}, 0),
        ({"images": [{"path": f"C:\\data\\{SAMPLE[5].image}".replace("/", "\\")}]}, 0),
        ({"images": [SAMPLE[5].image, A.image]}, 1),
        ({"image": A.image}, 1),
        ({"image": SAMPLE[5].image.rpartition("/")[2]}, 1),
        ({"image": "grey.png"}, 1),
        ({"image": "data:image/png;base64,AA"}, 1),
        ({"image": None}, 1),
    ],
    ids=str,
)
def test_an_id_beside_another_picture(tmp_path: Path, fields: Fields, number: int) -> None:
    """Only a whole path tells: hosts number the copies of pictures, and so do sets."""
    rows = [{"question_id": A.question_id, "prediction": "a", **fields}]
    rows.append({"question_id": SAMPLE[2].question_id, "prediction": "c"})
    run = read_run(write_lines(tmp_path / "run.jsonl", rows))
    expected = {SAMPLE[2].question_id: "c", **({A.question_id: "a"} if number else {})}
    assert said(run) == expected
    if not number:
        reason = f"names {A.question_id!r} but holds the picture of another question"
        assert run.faults.unreadable == (("run.jsonl", "line 1", reason),)


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"text": A.question}, False),
        ({"text": f"{A.question}\nAnswer the question using a single word or phrase."}, False),
        ({"text": A.question, "prompt": A.question}, True),
        ({"text": f"{A.question} Foo"}, True),
        ({"text": "Foo"}, True),
    ],
    ids=str,
)
def test_a_file_of_questions_is_no_file_of_outputs(
    tmp_path: Path, fields: Fields, output: bool
) -> None:
    """LLaVA has the question under the name that the output has in its results."""
    rows = [{"question_id": A.question_id, "image": A.image, **fields}]
    rows.append({"question_id": B.question_id, "text": "b"})
    assert (A.question_id in said(read_run(write_lines(tmp_path / "run.jsonl", rows)))) == output


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('"2.50"', "2.50", True),
        ("true", "1", False),
        ("true", '"true"', True),
        ("1.0", "1", False),
        ('["a"]', '"a"', True),
        ('["a", "b"]', '["a", "b"]', True),
        ('["a", "b"]', '["b", "a"]', False),
        ('["a", "b"]', '"a"', False),
        ("null", '"a"', False),
        ("null", "null", True),
    ],
)
def test_outputs_are_the_same_if_their_texts_are(
    tmp_path: Path, one: str, other: str, same: bool
) -> None:
    line = f'{{"question_id": "{A.question_id}", "prediction": {one}, "response": {other}}}\n'
    (tmp_path / "run.jsonl").write_text(line)
    if same:
        assert said(read_run(tmp_path / "run.jsonl")).keys() == {A.question_id}
    else:
        with pytest.raises(DTVQAError, match="hold different outputs"):
            read_run(tmp_path / "run.jsonl")


def test_a_map_of_records_with_two_outputs(tmp_path: Path) -> None:
    content = {A.question_id: {"prediction": "a", "predict": "b"}, B.question_id: {"predict": "c"}}
    (tmp_path / "map.json").write_text(json.dumps(content))
    with pytest.raises(DTVQAError, match="'predict' and 'prediction' hold different outputs"):
        read_run(tmp_path / "map.json")
    run = read_run(tmp_path / "map.json", columns=Columns(prediction="predict"))
    assert said(run) == {A.question_id: "b", B.question_id: "c"}
