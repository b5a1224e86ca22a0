"""Files in other encodings, packings and layouts are read exactly, or refused with the cure."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from report_runs import SAMPLE, first_answer, write_lines
from runs_command import figures_of, refused, table_of

from dtvqa_plugin.data import Record
from dtvqa_plugin.utils.encoding import unmarked

WORDS = {
    "gb18030": "营养成分表每百克蛋白质",
    "gbk": "净含量五百毫升",
    "big5": "營養標示",
    "shift_jis": "表示ソース十能",
    "euc_jp": "栄養成分表示",
    "euc_kr": "영양 정보",
    "latin-1": "café crème brûlée",
    "cp1252": "“naïve” – 5 €",
    "koi8_r": "пищевая ценность",
}
CJK = "高さ 标准 영양"


def in_ascii(record: Record) -> str:
    return first_answer(record).encode("ascii", "ignore").decode()


def rows(word: str = CJK, every: int = 3) -> list[dict[str, str]]:
    """A run over the sample: each ``every``-th output holds a word, the others are right."""
    return [
        {
            "question_id": record.question_id,
            "prediction": f"{word} {number}" if number % every == 0 else in_ascii(record),
        }
        for number, record in enumerate(SAMPLE)
    ]


def dumped(records: Sequence[Mapping[str, str]], indent: int | None = None) -> list[str]:
    return [json.dumps(record, ensure_ascii=False, indent=indent) for record in records]


def lines(records: Sequence[Mapping[str, str]], end: str = "\n") -> str:
    return "".join(line + end for line in dumped(records))


def table(records: Sequence[Mapping[str, str]], separator: str = ",", end: str = "\r\n") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=end)
    writer.writerow(records[0].keys())
    writer.writerows(record.values() for record in records)
    return out.getvalue()


def listed(records: Sequence[Mapping[str, str]]) -> str:
    return json.dumps(records, ensure_ascii=False, indent=1)


FORMS = {"run.jsonl": lines, "run.csv": table, "run.json": listed}


# --- another encoding -------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("encoding", WORDS)
def test_a_file_in_another_encoding_is_one_error_with_the_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name](rows(WORDS[encoding], every=9)).encode(encoding))
    (said,) = refused(capsys, "score", str(path))
    assert re.search(rf"{name}: is not UTF-8 \(byte 0x[0-9a-f]{{2}} at line \d+\)", said)
    assert "iconv -f " in said
    assert "-t UTF-8" in said
    assert "inference again" not in said


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mark: str, name: str
) -> None:
    whole = figures_of(capsys, write_lines(tmp_path / "whole" / "run.jsonl", rows()))
    path = tmp_path / name
    path.write_bytes(FORMS[name](rows()).encode(mark))
    assert figures_of(capsys, path) == whole


def test_unicode_text_of_a_spreadsheet_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = figures_of(capsys, write_lines(tmp_path / "whole" / "run.jsonl", rows()))
    for name, encoding in (("run.txt", "utf-16"), ("run.tsv", "utf-16")):
        (tmp_path / name).write_bytes(table(rows(), "\t").encode(encoding))
        assert figures_of(capsys, tmp_path / name) == whole
    (tmp_path / "be.tsv").write_bytes(b"\xfe\xff" + table(rows(), "\t").encode("utf-16-be"))
    assert figures_of(capsys, tmp_path / "be.tsv") == whole


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE"), ("utf-32-le", "UTF-32LE")],
)
def test_utf_16_without_a_mark_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str, named: str, name: str
) -> None:
    reversed_keys = [dict(reversed(row.items())) for row in rows()]  # text beyond ASCII is early
    (tmp_path / name).write_bytes(FORMS[name](reversed_keys).encode(encoding))
    (said,) = refused(capsys, "score", str(tmp_path / name))
    assert f"{name}: is {named}" in said
    assert f"iconv -f {named} -t UTF-8" in said


@pytest.mark.parametrize("start", ['{"id":"高', '[\n{"p":', "预测,question_id", "a", '{"'])
def test_text_that_is_utf_8_is_not_taken_for_utf_16(start: str) -> None:
    assert unmarked(start.encode()) is None
    assert unmarked(b"") is None


def test_damaged_utf_16_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines(rows()).encode("utf-16")[:-1])
    (said,) = refused(capsys, "score", str(path))
    assert "run.jsonl: is damaged UTF-16" in said


# --- one broken record ------------------------------------------------------------------------

MANY = 4


def many_lines(word: str) -> list[bytes]:
    """Four hundred lines and more: the sample several times, under ids that no question has."""
    records = rows(word)
    more = [
        {**record, "question_id": f"Other/{number}-{record['question_id'][-1]}"}
        for number in range(MANY)
        for record in records
    ]
    return [line.encode() for line in dumped([*records, *more])]


def spoiled(place: str, content: list[bytes], word: str) -> list[bytes]:
    broken = content[3]
    cut = broken.index(word.encode()) + 2 if word else len(broken) // 2
    if place == "torn in the middle":
        content[3] = broken[:cut]
    elif place == "torn, the next record behind it":
        content[3:5] = [broken[:cut] + content[4]]
    elif place == "one byte changed":
        content[3] = broken.replace(b'n": "', b'n": "\xff', 1)
    elif place == "torn at the end":
        content[len(SAMPLE) :] = [broken[:cut]]
        del content[3]
    return content


@pytest.mark.parametrize(
    "place",
    [
        "torn in the middle",
        "torn, the next record behind it",
        "one byte changed",
        "torn at the end",
    ],
)
@pytest.mark.parametrize("word", [CJK, "é"])
def test_one_broken_record_is_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, word: str
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join(spoiled(place, many_lines(word), word)) + b"\n")
    table = table_of(capsys, path)
    said = str(table["remarks"])
    assert re.search(r"1 record.* left out", said), said
    assert table["rows"][0]["missing"] == (1 + ("behind" in place))


def test_one_broken_item_of_a_list_is_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json"
    content = b",\n".join(spoiled("one byte changed", many_lines(CJK), CJK))
    path.write_bytes(b"[" + content + b"]")
    table = table_of(capsys, path)
    assert table["rows"][0]["missing"] == 1
    assert "not UTF-8" in str(table["remarks"])


def test_one_damaged_row_of_a_table_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(table(rows()).encode().replace("高".encode(), b"\xe9\xab", 1))
    (said,) = refused(capsys, "score", str(path))
    assert "run.csv: line 2 is damaged (byte 0xe9 is not UTF-8)" in said


# --- other layouts of the same content --------------------------------------------------------

PACKED_TWICE = gzip.compress(gzip.compress(lines(rows()).encode()))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.jsonl.gz", PACKED_TWICE),
        ("run.jsonl.gz", gzip.compress(PACKED_TWICE)),
        ("run.csv.gz", gzip.compress(gzip.compress(table(rows()).encode("utf-16")))),
        ("run.jsonl", lines(rows(), "\r")),
        ("run.jsonl", lines(rows(), "\r\n")),
        ("run.csv", table(rows(), end="\r")),
        ("run.tsv", table(rows(), "\t", "\r")),
        ("run.txt", table(rows(), end="\r")),
        ("run.jsonl", lines(rows(), "")),
        ("run.json", lines(rows(), "")),
        ("run.jsonl", lines(rows(), " ")),
        ("run.jsonl", lines(rows()[:9], "") + "\n" + lines(rows()[9:], "")),
        ("run.jsonl", lines(rows()[:9]) + lines(rows()[9:11], "") + "\n" + lines(rows()[11:])),
        ("run.json", listed(rows()[:9]) + listed(rows()[9:])),
        ("run.json", listed(rows()[:9]) + "\n" + listed(rows()[9:]) + "\n"),
        ("run.jsonl", "\n".join(json.dumps([row]) for row in rows())),
        ("run.json", "\n".join(dumped(rows(), 2))),
        ("run.jsonl", "\n\n".join(dumped(rows(), 4))),
        ("run.json", "".join(dumped(rows(), 2))),
        ("run.jsonl", lines(rows(), ",\n")),
        ("run.jsonl", ",\n".join(dumped(rows()))),
        ("run.json", "[" + lines(rows(), ",\n") + "]"),
        ("run.json", ",\n".join(dumped(rows(), 2))),
        ("run.json", "[" + lines(rows()) + "]"),
        ("run.jsonl", "\n\n" + "\ufeff".join(["", *lines(rows()).splitlines(keepends=True)])),
    ],
)
def test_the_same_records_in_another_layout_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | bytes
) -> None:
    whole = figures_of(capsys, write_lines(tmp_path / "whole" / "run.jsonl", rows()))
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert figures_of(capsys, path) == whole


PYTHON_ROWS = "".join(f"{row}\n" for row in rows())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", PYTHON_ROWS, r"Python's notation.*json\.dumps"),
        ("a.json", str(rows()), r"Python's notation.*json\.dumps"),
        ("a.jsonl", lines(rows()).replace('"prediction": ', '"prediction": None, "p": '), "None"),
        ("a.jsonl", lines(rows()).replace('"}', '", "x": nan}'), r"nan.*null"),
        ("a.jsonl", lines(rows()).replace('"}', '", "x": True}'), r"True.*true"),
        ("a.jsonl", lines(rows()).replace('"}', '",}'), "comma before the closing"),
        ("a.json", listed(rows()).replace('"\n }', '",\n }'), "comma before the closing"),
        ("a.jsonl", lines(rows()).replace('"', "“"), "typographic quotes"),
        ("a.jsonl", lines(rows()).replace('{"question_id"', "{question_id"), "key.*quotes"),
        ("a.json", lines(rows()).replace('", "pred', '", // id\n"pred'), "comment"),
        ("a.jsonl", table(rows()), r"JSON.* Rename it to \.csv"),
        ("a.jsonl", "<!DOCTYPE html>\n<html><body>Not found</body></html>", "web page"),
        (
            "a.jsonl",
            "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
            "Git LFS.*git lfs pull",
        ),
        ("a.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n", "LFS"),
        ("a.jsonl", '{"question_id": "MiniSc', "cut off"),
        ("a.jsonl", '{"question_id": "MiniSc\n', "cut off"),
        (
            "a.jsonl",
            lines(rows()).replace('"prediction": "', '"prediction": "\n'),
            "line break ins",
        ),
        ("a.jsonl", "".join(f"data: {line}\n" for line in dumped(rows())), "Expecting value"),
        ("a.json", '[{"question_id": "MiniScene/1", "prediction": "a', "cut off"),
    ],
)
def test_what_is_not_json_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    (line,) = refused(capsys, "score", str(tmp_path / name))
    assert re.search(said, line), line
    assert name in line
    if said != "cut off":
        assert "inference again" not in line
