"""What cannot be read as a run gets one line that names the file and the right cure."""

from __future__ import annotations

import io
import os
import re
import socket
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas
import pyarrow
import pytest
from pyarrow import parquet
from report_runs import SAMPLE, plain_run
from runs_command import refused, table_of

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
        ("a.csv", b"sep=,\n" + CSV, "first line is 'sep='. Remove that line"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1", r"an old workbook .* save it as plain \.xlsx"),
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


# --- standard input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "standard input is empty"),
        (b"\n", "standard input: the file is empty or holds no records"),
        (b'{"uid": 1}\n', "standard input: holds no predictions"),
        (b'{"id": 1, "prediction": "x"}\n', f"standard input: .*{NOT_TOLD}"),
        (b"question_id,prediction\nMiniScene/1,y, z\n", "standard input: .*row 1, line 2"),
        (LINE.replace(b"x", b"\xc9\xd5\xb1\xb8"), r"standard input: is not UTF-8 \(byte 0xc9"),
        (LINE.decode().encode("utf-16-le"), "standard input: is UTF-16LE"),
        (b"<html>", "standard input: .*a web page"),
        (LINE.replace(b"Mini", b"Text"), "standard input: none of its 1 predictions"),
        (b"\x1f\x8b\x08nonsense", "standard input: the packed file is damaged"),
    ],
)
def test_errors_name_standard_input(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    content: bytes,
    said: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    monkeypatch.setattr("dtvqa_plugin.runs.files._spooled", [])
    (line,) = refused(capsys, "score", "-")
    assert re.match(f"dtvqa: error: {said}", line), line
    assert "dtvqa-" not in line


def test_a_run_from_standard_input_names_no_temporary_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    same = plain_run(tmp_path / "same.jsonl")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(same.read_bytes())))
    monkeypatch.setattr("dtvqa_plugin.runs.files._spooled", [])
    table = table_of(capsys, Path("-"), same)
    assert "dtvqa-" not in str(table)
    assert "standard input" in str(table["remarks"])


# --- folders ----------------------------------------------------------------------------------


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def a_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("make", [a_pipe, a_socket, a_link_to_a_device])
@pytest.mark.parametrize("name", ["b.jsonl", "b.sock"])
def test_what_is_no_regular_file_is_listed_and_not_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], None],
    name: str,
) -> None:
    plain_run(tmp_path / "a.jsonl")
    monkeypatch.chdir(tmp_path)
    make(Path(name))
    table = table_of(capsys, Path())
    assert len(table["rows"]) == 1
    assert f"{name}: a pipe, socket or device, which is not opened" in str(table["remarks"])
