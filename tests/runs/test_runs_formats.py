"""Files of other programs and in other packings are read as JSON Lines of the same content are."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import datasets
import pandas
import pyarrow
import pytest
from pyarrow import parquet
from report_runs import SAMPLE, first_answer, write_lines

from dtvqa_plugin.data import Record
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.predictions.kinds import Columns, Kind, sniff
from dtvqa_plugin.report import Run, RunError, read_run, read_runs


def output(record: Record) -> str:
    """A third right, a third wrong, a third with what files trip over."""
    place = SAMPLE.index(record)
    awkward = ("007", "N/A", "=1+2", 'a "b", c', "小麦粉\u2028x", "tab\tand\nline", "")
    return (first_answer(record), "wrong", awkward[place // 3 % len(awkward)])[place % 3]


ROWS = [{"question_id": r.question_id, "prediction": output(r)} for r in SAMPLE]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return read_run(write_lines(tmp_path_factory.mktemp("plain") / "run.jsonl", ROWS))


def same(run: Run, expected: Run) -> bool:
    said = [(a.question_id, a.text, a.anls, a.acc, a.accanls, a.failed) for a in run.answers]
    return said == [
        (a.question_id, a.text, a.anls, a.acc, a.accanls, a.failed) for a in expected.answers
    ]


def saved(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def as_parquet(path: Path) -> None:
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)


def with_pictures(path: Path) -> None:
    rows = [{**row, "image": {"bytes": b"\x89PNG", "path": None}, "raw": b"\0"} for row in ROWS]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def saved_dataset(path: Path) -> None:
    datasets.Dataset.from_list(ROWS).select(range(len(ROWS))).save_to_disk(str(path))


def saved_splits(path: Path) -> None:
    halves = {"a": ROWS[:30], "b": ROWS[30:]}
    splits = {name: datasets.Dataset.from_list(rows) for name, rows in halves.items()}
    datasets.DatasetDict(splits).save_to_disk(str(path))


def filtered_dataset(path: Path) -> None:
    """A selection keeps its rows in a file of indices, not in the data."""
    doubled = datasets.Dataset.from_list([*ROWS, *({**row, "prediction": "x"} for row in ROWS)])
    doubled.select(range(len(ROWS))).save_to_disk(str(path))


PICTURE_FEATURES = datasets.Features(
    {
        "image": datasets.Image(),
        "question": datasets.Value("string"),
        "said": datasets.Value("string"),
    }
)


def embedded_pictures(path: Path) -> None:
    """Pictures with their bytes, as the hub stores them; no ids."""
    rows = [
        {
            "image": {"bytes": b"\x89PNG", "path": record.image.rpartition("/")[2]},
            "question": record.question,
            "said": output(record),
        }
        for record in SAMPLE
    ]
    made = datasets.Dataset.from_list(rows, features=PICTURE_FEATURES)
    if path.suffix == ".parquet":
        made.to_parquet(path)
    else:
        made.save_to_disk(str(path))


@pytest.mark.parametrize("name", ["run.parquet", "folder"])
def test_the_names_of_embedded_pictures_are_read(tmp_path: Path, expected: Run, name: str) -> None:
    embedded_pictures(tmp_path / name)
    run = read_run(tmp_path / name, columns=Columns(prediction="said"))
    assert same(run, expected)


def delimited(separator: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator)
    writer.writerows([("question_id", "prediction"), *(tuple(row.values()) for row in ROWS)])
    return out.getvalue().encode()


def nested() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in ROWS:
        name, _, number = row["question_id"].partition("/")
        found.setdefault(name, {})[number] = row["prediction"]
    return found


ZSTD = pyarrow.Codec("zstd").compress(LINES, asbytes=True)
FLAT = {row["question_id"]: row["prediction"] for row in ROWS}
LISTED = json.dumps(ROWS).encode()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("run.jsonl.gz", saved(gzip.compress(LINES))),
        ("run.JSONL.GZ", saved(gzip.compress(LINES[:900]) + gzip.compress(LINES[900:]))),
        ("run.json.gz", saved(gzip.compress(LISTED))),
        ("run.jsonl.bz2", saved(bz2.compress(LINES))),
        ("run.ndjson.xz", saved(lzma.compress(LINES))),
        ("run.jsonl.zst", saved(ZSTD)),
        ("run.jsonl", saved(gzip.compress(LINES))),
        ("run.ndjson", saved(LINES)),
        ("run.jsonlines", saved(b"\xef\xbb\xbf" + LINES)),
        ("run.txt", saved(LINES)),
        ("array.txt", saved(LISTED)),
        ("run", saved(LINES)),
        ("run.out", saved(LINES)),
        ("run.txt", saved(delimited("\t"))),
        ("comma.txt", saved(delimited(","))),
        ("run.tsv.gz", saved(gzip.compress(delimited("\t")))),
        ("run.csv.gz", saved(gzip.compress(delimited(",")))),
        ("run.parquet", as_parquet),
        ("pictures.parquet", with_pictures),
        ("parquet.bin", as_parquet),
        ("folder", saved_dataset),
        ("model-v1.5", saved_splits),
        ("filtered", filtered_dataset),
        ("map.json", saved(json.dumps(FLAT).encode())),
        ("map.json", saved(json.dumps(FLAT, indent=2).encode())),
        ("nested.json", saved(json.dumps(nested()).encode())),
        (
            "lines.jsonl",
            saved(b"".join(json.dumps({k: v}).encode() + b"\n" for k, v in FLAT.items())),
        ),
    ],
)
def test_the_same_content_in_another_form_is_the_same_run(
    tmp_path: Path, expected: Run, name: str, make: Callable[[Path], object]
) -> None:
    make(tmp_path / name)
    run = read_run(tmp_path / name)
    assert same(run, expected)
    if name not in ("run", "run.out", "parquet.bin"):
        assert same(read_runs(tmp_path)[0], expected)


def asked(record: Record) -> str:
    return f"Please answer in a word.\n{record.question}"


def llava(record: Record) -> dict[str, Any]:
    """A line of LLaVA's ``model_vqa_loader``."""
    given = {"question_id": record.question_id, "prompt": asked(record), "text": output(record)}
    return {**given, "answer_id": "8xK", "model_id": "llava-7b", "metadata": {}}


def llava_numbers(record: Record) -> dict[str, Any]:
    """The release's own ids, which several questions share: the prompt tells which."""
    return {**llava(record), "question_id": int(record.question_id.rpartition("/")[2])}


def swift_old(record: Record) -> dict[str, Any]:
    """A line of ms-swift 2."""
    given = {"system": None, "query": asked(record), "response": output(record), "history": []}
    return {**given, "label": "x", "images": [f"/data/{record.image}"]}


def swift_inline(record: Record) -> dict[str, Any]:
    parts = [{"type": "image", "image": record.image}, {"type": "text", "text": asked(record)}]
    said = {"role": "assistant", "content": [{"type": "text", "text": output(record)}]}
    return {"response": output(record), "messages": [{"role": "user", "content": parts}, said]}


def qwen_tag(record: Record) -> dict[str, Any]:
    text = f"Picture 1: <img>C:\\data\\{record.image.rpartition('/')[2]}</img>\n{asked(record)}"
    return {"query": text, "response": output(record)}


def by_picture(record: Record) -> dict[str, Any]:
    return {"image": record.image, "question": record.question, "prediction": output(record)}


def embedded(record: Record) -> dict[str, Any]:
    """A picture in the log; question and reference answer tell which it was."""
    parts = [{"type": "image", "image": "data:image/png;base64,AA"}, {"type": "text"}]
    parts[1]["text"] = asked(record)
    given = {"messages": [{"role": "user", "content": parts}], "labels": record.answers[0]}
    return {"response": output(record), **given}


def by_metadata(record: Record) -> dict[str, Any]:
    name, _, number = record.question_id.partition("/")
    given = {"dataset_name": name, "id": int(number)}
    return {"metadata": given, "response": output(record), "labels": "x"}


@pytest.mark.parametrize(
    ("line", "kind", "model"),
    [
        (llava, Kind.LLAVA, "llava-7b"),
        (llava_numbers, Kind.LLAVA, "llava-7b"),
        (swift_old, Kind.SWIFT, "run"),
        (swift_inline, Kind.SWIFT, "run"),
        (qwen_tag, Kind.SWIFT, "run"),
        (embedded, Kind.SWIFT, "run"),
        (by_metadata, Kind.SWIFT, "run"),
        (by_picture, Kind.PLAIN, "run"),
    ],
)
@pytest.mark.parametrize("style", ["jsonl", "parquet"])
def test_lines_of_other_programs(
    tmp_path: Path,
    expected: Run,
    line: Callable[[Record], dict[str, Any]],
    kind: Kind,
    model: str,
    style: str,
) -> None:
    path = tmp_path / f"run.{style}"
    rows = [line(record) for record in SAMPLE]
    if style == "jsonl":
        write_lines(path, rows)
    else:
        rows = [{k: v for k, v in row.items() if v not in ({}, [])} for row in rows]
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    assert sniff(path) is kind
    run = read_run(path)
    assert run.name == model
    assert run.condition == "unknown"
    assert same(run, expected)


FIRST = SAMPLE[0].question_id


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.jsonl", f'{{"question_id":"{FIRST}","prediction":"a","prediction":"b"}}\n'),
        ("run.json", f'[{{"question_id":"{FIRST}","prediction":"a","prediction":"b"}}]'),
        ("map.json", f'{{"{FIRST}":"a","{FIRST}":"b"}}'),
        ("nested.json", f'{{"{FIRST}":{{"prediction":"a","prediction":"b"}}}}'),
        ("run.csv", f"question_id,prediction,prediction\n{FIRST},a,b\n"),
        ("run.tsv", f"question_id\tquestion_id\tprediction\n{FIRST}\t{FIRST}\ta\n"),
    ],
)
def test_a_key_or_column_that_stands_twice_loses_no_answer_silently(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DTVQAError, match="stands twice"):
        read_run(tmp_path / name)


def test_what_holds_no_answers_is_named(tmp_path: Path) -> None:
    (tmp_path / "1_results.json").write_text('{"results": {}, "configs": {}}')
    with pytest.raises(RunError, match="a results file of lmms-eval, which holds no answers"):
        read_run(tmp_path / "1_results.json")
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(RunError, match="this is a pipe or a device; give - and pipe it in"):
        read_run(tmp_path / "pipe.jsonl")


def turns(*texts: str) -> list[dict[str, Any]]:
    """User turns, with an answer after each but the last."""
    said = [{"role": "assistant", "content": "an example"}] * len(texts)
    asked_in = [{"role": "user", "content": text} for text in texts]
    return [turn for pair in zip(asked_in, said, strict=True) for turn in pair][:-1]


@pytest.mark.parametrize(
    ("messages", "answered"),
    [
        (turns(SAMPLE[1].question, SAMPLE[2].question), SAMPLE[2].question_id),
        (turns(SAMPLE[2].question, SAMPLE[1].question), SAMPLE[1].question_id),
        (turns(SAMPLE[1].question, "Are you sure?"), None),
        (turns(f"{SAMPLE[1].question}\n{SAMPLE[2].question}"), None),
    ],
    ids=["last of two", "the other way round", "none in the last turn", "two in one text"],
)
def test_a_response_answers_the_last_turn_alone(
    tmp_path: Path, messages: list[dict[str, Any]], answered: str | None
) -> None:
    """Examples in the prompt are questions of the same picture; none of them is scored."""
    assert SAMPLE[1].image == SAMPLE[2].image
    line = {"response": "x", "messages": messages, "images": [SAMPLE[1].image]}
    whole = swift_inline(SAMPLE[-1])
    write_lines(tmp_path / "run.jsonl", [whole, line])
    run = read_run(tmp_path / "run.jsonl")
    found = {answer.question_id for answer in run.answers} - {SAMPLE[-1].question_id}
    assert found == ({answered} if answered else set())


@pytest.mark.parametrize("style", ["csv", "tsv", "jsonl", "parquet", "nested.jsonl"])
def test_columns_of_other_names_are_named_by_the_user(
    tmp_path: Path, expected: Run, style: str
) -> None:
    rows: list[Mapping[str, Any]] = [
        {"qid": row["question_id"], "answer_text": row["prediction"], "prediction": "not this"}
        for row in ROWS
    ]
    columns = Columns("qid", "answer_text")
    path = tmp_path / f"run.{style}"
    if style == "nested.jsonl":
        rows = [{"item": {"qid": r["qid"]}, "out": [{"text": r["answer_text"]}]} for r in rows]
        columns = Columns("item.qid", "out.0.text")
    if style.endswith("jsonl"):
        write_lines(path, rows)
    elif style == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), path)
    else:
        separator = "," if style == "csv" else "\t"
        pandas.DataFrame(rows).to_csv(path, index=False, sep=separator)
    assert same(read_run(path, columns=columns), expected)
    with pytest.raises(RunError, match=f"no column 'nope' .found: .*{min(rows[0])}"):
        read_run(path, columns=Columns("nope", columns.prediction))


def test_a_number_under_the_named_id_column_is_completed_by_its_set(
    tmp_path: Path, expected: Run
) -> None:
    rows = []
    for row in ROWS:
        name, _, number = row["question_id"].partition("/")
        rows.append({"dataset_name": name, "no": int(number), "prediction": row["prediction"]})
    path = write_lines(tmp_path / "run.jsonl", rows)
    assert same(read_run(path, columns=Columns(id="no")), expected)


def mangled_parquet(path: Path) -> None:
    as_parquet(path)
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize(
    ("name", "make", "said"),
    [
        ("a.jsonl", saved(b'{"uid": "MiniScene/1", "guess": "x"}\n'), "keys found: uid, guess"),
        ("a.csv", saved(b"uid,guess\n1,x\n"), "columns found: guess, uid"),
        ("a.xml", saved(b"<a/>"), "not text that could be JSON or a table"),
        ("a.json", saved(b'["a", "b"]'), "a str where a record is expected"),
        ("a.parquet", mangled_parquet, "not a readable Parquet file"),
        ("a.eval", saved(b"PK\x03\x04"), "not a readable .eval log"),
        ("a.jsonl.gz", saved(gzip.compress(LINES)[:-30]), "the packed file is damaged or cut off"),
        ("a.jsonl.gz", saved(b"\x1f\x8b\x08nonsense"), "the packed file is damaged or cut off"),
        ("a.jsonl.zst", saved(ZSTD[:-9]), "the packed file is damaged or cut off"),
        ("a.pkl", saved(b"\x80\x04\x95a,b\n"), "holds no predictions"),
        (
            "a.jsonl",
            saved(b'{"question_id": 12, "text": "x"}\n'),
            "the first: '12'; ids are such as 'DTScene/12'",
        ),
        (
            "a.jsonl",
            saved(b'{"response": "x", "labels": "y", "messages": []}\n'),
            "has no question .question_id, dataset_name and id, or picture and text",
        ),
    ],
)
def test_what_is_not_read_says_what_was_found(
    tmp_path: Path, name: str, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / name)
    with pytest.raises(DTVQAError, match=said):
        read_run(tmp_path / name)


def test_a_folder_without_runs_names_the_keys_of_its_files(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"uid": 1, "guess": "x"}])
    (tmp_path / "notes.txt").write_text("Dear all, nothing here\n")
    with pytest.raises(RunError, match=r"a\.jsonl: keys found: uid, guess"):
        read_runs(tmp_path)


def test_a_question_that_a_picture_does_not_tell_is_left_out_and_counted(tmp_path: Path) -> None:
    lines = [swift_old(record) for record in SAMPLE]
    lines[3]["query"] = "What else?"
    lines[4]["images"] = ["data:image/png;base64,AAAA"]  # and the label is no answer
    run = read_run(write_lines(tmp_path / "run.jsonl", lines))
    assert len(run.answers) == len(SAMPLE) - 2
    assert run.faults.unreadable_count == 2


DTVQA = ["-c", "from dtvqa_plugin.cli import main; main()"]
SCORE = [*DTVQA, "score", "-", "--format", "json", "--resamples", "100"]


@pytest.mark.parametrize("content", [LINES, gzip.compress(LINES), delimited("\t")])
def test_standard_input_is_read(tmp_path: Path, expected: Run, content: bytes) -> None:
    environment = {**os.environ, "DTVQA_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *SCORE], input=content, capture_output=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr.decode()
    (row,) = json.loads(done.stdout)["tables"][0]["rows"]
    assert row["name"] == "standard input"
    assert row["parts"]["overall"]["accanls"]["value"] == pytest.approx(
        100 * expected.values[:, 2].mean(), abs=1e-9
    )


def test_standard_input_is_given_once() -> None:
    done = subprocess.run(
        [sys.executable, *SCORE, "-"], input=LINES, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == b"dtvqa: error: standard input (-) can be given once\n"
