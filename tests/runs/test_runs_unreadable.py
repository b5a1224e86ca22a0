"""What cannot be read as a run gets one line that names the file and the right cure."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from pathlib import Path

import pandas
import pyarrow
import pytest
from pyarrow import parquet
from report_runs import SAMPLE
from runs_command import refused

ID = SAMPLE[0].question_id
LINE = f'{{"question_id": "{ID}", "prediction": "x"}}\n'.encode()
CSV = f"question_id,prediction\n{ID},x\n".encode()
ROW = {"question_id": ID, "prediction": "x"}


def workbook() -> bytes:
    content = io.BytesIO()
    pandas.DataFrame([ROW]).to_excel(content, index=False)
    return content.getvalue()


def table(row: dict[str, object]) -> bytes:
    content = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([row]), content)
    return content.getvalue()


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("run.jsonl", LINE)
    return content.getvalue()


def tarred() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        info = tarfile.TarInfo("run.jsonl")
        info.size = len(LINE)
        archive.addfile(info, io.BytesIO(LINE))
    return content.getvalue()


NOT_TOLD = "write 'DTScene/12' in place of 12, or add dataset_name"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        # another form than the name says
        ("a.csv", workbook(), r"is an xlsx workbook.* Rename it to \.xlsx"),
        ("a.jsonl", workbook(), r"Rename it to \.xlsx"),
        ("a.jsonl", table(ROW), r"Rename it to \.parquet"),
        ("a.tsv", table(ROW), r"Rename it to \.parquet"),
        ("a.csv", LINE, r"Rename it to \.jsonl"),
        ("a.tsv", b"[" + LINE + b"]", r"Rename it to \.jsonl"),
        ("a.xlsx", LINE, r"Rename it to \.jsonl"),
        ("a.xlsx", CSV, r"Rename it to \.csv"),
        ("a.parquet", CSV, r"Rename it to \.csv"),
        ("a.eval", LINE, r"Rename it to \.jsonl"),
        ("a.json", CSV, r"Rename it to \.csv"),
        ("a.csv", CSV.replace(b",", b"\t"), r"Rename it to \.tsv"),
        ("a.tsv", CSV, r"Rename it to \.csv"),
        ("a.csv", CSV.replace(b",", b";"), "separated by semicolons"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1", r"old form \.xls: save it as \.xlsx"),
        ("a.zip", zipped(), "a zip archive: unpack it"),
        ("a.jsonl", zipped(), "a zip archive: unpack it"),
        ("a.tar.gz", tarred(), "an archive: unpack it"),
        ("a.jsonl.gz", tarred(), "an archive: unpack it"),
        ("a.json", b"\x80\x04\x95\x10", "a pickle, which is never opened"),
        ("a.parquet", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("a.tsv", b"\n <HTML><body>404", "a web page"),
        # tables
        ("a.csv", CSV + f"{ID},y, z\n".encode(), "row 2, line 3: 3 cells where .* has 2. Put quo"),
        ("a.csv", f"question_id,prediction\n{ID},y, z\n".encode(), "row 1, line 2: 3 cells"),
        ("a.tsv", f"question_id\tprediction\n{ID}\ty\tz\n".encode(), "a cell that holds a tab"),
        ("a.csv", CSV + f'{ID},"y\n'.encode(), "a quote is opened and never closed"),
        ("a.csv", CSV[:23], "holds no records"),
        ("a.json", b"[]", "holds no records"),
        ("a.jsonl", b"", "the file is empty"),
        # columns
        ("a.parquet", table({**ROW, "prediction": b"x"}), r"\(prediction\): cast text to string"),
        ("a.parquet", table({**ROW, "prediction": {"text": "x"}}), "the keys text, not text. Name"),
        ("a.jsonl", LINE.replace(b'"x"', b'{"text": "x"}'), "--prediction-column prediction.text"),
        ("a.parquet", table({"id": "1", "prediction": "x"}), NOT_TOLD),
        ("a.jsonl", b'{"id": 1, "prediction": "x"}\n', NOT_TOLD),
        ("a.csv", b"id,prediction\n1,x\n", NOT_TOLD),
        ("a.jsonl", b'{"id": 1, "response": "x"}\n', NOT_TOLD),
    ],
)
def test_one_line_says_what_it_is_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (line,) = refused(capsys, "score", str(tmp_path / name))
    assert line.startswith(f"dtvqa: error: {tmp_path / name}: ")
    assert re.search(said, line), line
