"""Prediction files come back as they were written, or the row says what is lost."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.predictions.reader import iter_records, read_predictions

TEXTS = [
    *("N/A", "None", "nan", "NULL", "#N/A", "", " ", "  leading", "trailing \t"),
    *("007", "7.0", "1e5", "-1", "+1", "True", "@x", "'quoted", "1,234"),
    *("=SUM(1,2)", "={1}", "{=A1+B1}", "=UNIQUE(A1)", "==x"),
    *(
        "\x0b",
        "a\x00b",
        "_x000D_",
        "_x005F_",
        "_x005F_x000D_",
        "_x005F_x005F_x000D_",
        "a\r\nb",
        "a\rb",
        "a\nb",
        "\u2028x",
    ),
    *("http://a.b/c d#e f", "mailto:a b@c", "internal:Sheet1!A1", "internal: 5g", "https://q"),
    *(
        "<r>a</r>",
        "<script>&amp;\"'",
        "\ufffe\uffff",
        "é中文😀",
        "[1, 2]",
        '"q"',
        "\\n",
        "y" * 32_000,
    ),
]
"""Each of these comes back whole from every format."""
NUL = "\ue000"


def write(path: Path, texts: list[str]) -> Path:
    """Write as VLMEvalKit does: pandas, xlsxwriter for xlsx, all cells quoted in tsv and csv."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"index": range(len(texts)), "prediction": texts}, dtype=object)
    if path.suffix == ".xlsx":
        pytest.importorskip("xlsxwriter")
        frame.to_excel(path, index=False, engine="xlsxwriter")
    elif path.suffix == ".json":
        path.write_text(json.dumps(frame.to_dict("records"), indent=4, ensure_ascii=False))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        # Through a placeholder: the csv writer of Python 3.10 refuses NUL.
        frame = frame.replace("\0", NUL, regex=True)
        written = frame.to_csv(sep=separator, index=False, quoting=csv.QUOTE_ALL)
        path.write_text(written.replace(NUL, "\0"), encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("suffix", [".xlsx", ".tsv", ".csv", ".json", ".jsonl"])
def test_every_text_comes_back(tmp_path: Path, suffix: str) -> None:
    table = read_predictions(write(tmp_path / f"m{suffix}", TEXTS))
    assert [row.prediction for row in table.rows] == TEXTS
    assert [row.index for row in table.rows] == [str(i) for i in range(len(TEXTS))]
    assert not table.faults


@pytest.mark.parametrize(
    ("text", "read", "loss"),
    [
        ("y" * 40_000, "y" * 32_767, "cut at 32,767"),
        ("external:c/d", "c\\d", "file link"),
        ("file:///x/y", "x\\y", "file link"),
    ],
    ids=["long", "external", "file"],
)
@pytest.mark.filterwarnings("ignore:.*(too long|exceeds Excel)")
def test_what_xlsx_destroys_is_reported(tmp_path: Path, text: str, read: str, loss: str) -> None:
    table = read_predictions(write(tmp_path / "m.xlsx", ["whole", text]))
    assert table.rows[1].prediction == read
    assert loss in str(table.rows[1].loss)
    assert [row.number for row in table.losses] == [2]


def test_numbers_that_a_rerun_wrote_are_reported(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"index": [1, 2], "prediction": [7, True]}, dtype=object)
    pytest.importorskip("xlsxwriter")
    frame.to_excel(tmp_path / "m.xlsx", index=False, engine="xlsxwriter")
    rows = read_predictions(tmp_path / "m.xlsx").rows
    assert [row.prediction for row in rows] == ["7", "True"]
    assert all("read back" in str(row.loss) for row in rows)


def spoiled(path: Path, old: bytes, new: bytes) -> Path:
    """The file with bytes of its first sheet exchanged, or of the archive's own if not there."""
    content = write(path, ["a", "b"]).read_bytes()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if old in parts["xl/worksheets/sheet1.xml"]:
        parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"].replace(old, new)
        with zipfile.ZipFile(path, "w") as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
    else:
        path.write_bytes(content.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"<v>3</v>", b"<v>99</v>"),
        (b"<v>3</v>", b"<v>-1</v>"),
        (b"<v>3</v>", b"<v>x</v>"),
        (b"</sheetData>", b""),
        (b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"),
        (b"\x08\x00", b"\x61\x00"),
    ],
    ids=["beyond", "negative", "no-number", "cut", "encrypted", "compression"],
)
def test_a_damaged_xlsx_is_one_error(tmp_path: Path, old: bytes, new: bytes) -> None:
    pytest.importorskip("xlsxwriter")
    path = spoiled(tmp_path / "m.xlsx", old, new)
    with pytest.raises(DataError, match="not a readable xlsx"):
        read_predictions(path)


@pytest.mark.parametrize(
    ("value", "text", "told"),
    [
        ("7", "7", False),
        (None, None, False),
        (float("nan"), None, False),
        (7, "7", True),
        (["a", "b"], '["a", "b"]', True),
        ({"a": "é"}, '{"a": "é"}', True),
    ],
    ids=["text", "null", "nan", "number", "list", "record"],
)
def test_json_values(tmp_path: Path, value: object, text: str | None, told: bool) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps([{"index": 5, "prediction": value}]))
    (row,) = read_predictions(path).rows
    assert (row.prediction, row.loss is not None, row.index) == (text, told, "5")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.pkl", b"\x80\x04", "never opened"),
        ("m.xlsx", b"not a zip", "not a readable xlsx"),
        ("m.tsv", b"index\tanswer\n1\tx\n", "no column 'prediction'"),
        ("m.tsv", b"", "not a readable table"),
        ("m.tsv", b"index\tprediction\n1\t\xff\n", "not UTF-8"),
        ("m.json", b'[{"index": 1}]', "no column 'prediction'"),
        ("m.csv", b'index,prediction\n1,"open', "not a readable table"),
        (
            "m.csv",
            b"index,prediction\n1,2,000 g\n",
            "row 1, line 2: 3 cells where the header has 2",
        ),
        ("m.csv", b"index,prediction\n1,a\n2,2,000,000 g\n", "row 2, line 3: 4 cells"),
    ],
    ids=[
        "pickle",
        "xlsx",
        "column",
        "empty",
        "encoding",
        "json-column",
        "open-quote",
        "long",
        "longer",
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_predictions(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "values", "faults"),
    [
        ("a.json", '[{"a": 1}, {"a": 2}]', 2, []),
        ("a.json", "[]", 0, []),
        ("a.json", ' \ufeff[1, "]", [2, [3]], -4.5e3]\n', 4, []),
        ("a.json", '[{"a": 1}, {"a": ', 1, ["record 2"]),
        ("a.json", '[{"a": 1}, {"a": 2}', 2, ["record 3"]),
        ("a.json", '[{"a": 1}, {a}, {"a": 3}]', 1, ["record 2"]),
        ("a.json", '{\n  "a": 1\n}', 1, []),
        ("a.jsonl", '{"a": 1}\n\n{"a": 2}', 2, []),
        ("a.jsonl", '{"a": 1}\n{"a": 2', 1, ["line 2"]),
        ("a.jsonl", '{"a": \n{"a": 2}\n{"a": 3}\n', 2, ["line 1"]),
        ("a.jsonl", '{"a": 1}\n' + "[" * 100_000 + "\n{}\n", 2, ["line 2"]),
        ("a.jsonl", "", 0, []),
    ],
    ids=[
        *("array", "empty-array", "scalars", "cut-record", "cut-array", "bad-record", "document"),
        *("lines", "cut-line", "bad-first-line", "nesting", "empty"),
    ],
)
def test_json_streams_with_faults_counted(
    tmp_path: Path, name: str, content: str, values: int, faults: list[str]
) -> None:
    path = tmp_path / name
    path.write_text(content.replace("\ufeff", ""), encoding="utf-8")
    told: list[str] = []
    found = list(iter_records(path, lambda place, why: told.append(place)))
    assert (len(found), told) == (values, faults)


def test_a_long_array_streams_across_chunks(tmp_path: Path) -> None:
    rows = [{"number": number, "text": "é" * (number % 3000)} for number in range(1500)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    assert [value for _, value in iter_records(path)] == rows
