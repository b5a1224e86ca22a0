"""Tables: golden text in each format, any name of a run, and the required marks."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from report_runs import SAMPLE, dump, plain_run
from rich.console import Console

from dtvqa_plugin.analysis.published import published_rows
from dtvqa_plugin.analysis.tables import ResultTable, result_tables
from dtvqa_plugin.data import Record
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.report import parse_signature, read_run
from dtvqa_plugin.report.html.document import page_document
from dtvqa_plugin.report.latex import escape_latex, to_latex
from dtvqa_plugin.report.rendering import (
    escape_markdown,
    spreadsheet_safe,
    tables_document,
    to_csv,
    to_json,
    to_markdown,
)
from dtvqa_plugin.report.terminal import print_tables

GOLDEN = Path(__file__).parent / "golden"


def half_right(record: Record) -> str:
    return record.answers[0] if SAMPLE.index(record) % 2 else "no idea"


def two_runs(tmp_path: Path) -> list[ResultTable]:
    """A run that is right every other time, and one that says everything."""
    paths = [
        plain_run(tmp_path / "half.jsonl", half_right, model="half_right", prompt="paper"),
        plain_run(tmp_path / "dump.jsonl", dump, model="dump & co", prompt="none"),
    ]
    published = published_rows(GOLDEN / "published.json")
    return result_tables([read_run(path) for path in paths], published)


def terminal_text(tables: Sequence[ResultTable], width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_tables(console, tables)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


RENDERERS: dict[str, Callable[[Sequence[ResultTable]], str]] = {
    "table.md": to_markdown,
    "table.tex": to_latex,
    "table.csv": to_csv,
    "table.json": lambda tables: to_json(tables_document(tables)),
    **{f"table-{w}.txt": partial(terminal_text, width=w) for w in (80, 100, 160)},
}


@pytest.mark.parametrize("name", RENDERERS)
def test_golden(tmp_path: Path, name: str) -> None:
    """DTVQA_GOLDEN=write python -m pytest tests/report/test_report_tables.py renews the files."""
    text = RENDERERS[name](two_runs(tmp_path))
    # A new version or another edition of the sample leaves the tables as they are.
    text = re.sub(r"\|v:[^|]*", "|v:VERSION", re.sub(r"\|ann:[^|]*", "|ann:DIGEST", text))
    path = GOLDEN / name
    if os.environ.get("DTVQA_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_figures_are_the_means_times_100(tmp_path: Path) -> None:
    (table,) = two_runs(tmp_path)
    row = table.rows[0]
    value, interval = row.cells["overall", "acc"]
    assert value == 50.0
    assert interval is not None
    assert interval.low < 50.0 < interval.high
    assert row.counts == dict.fromkeys(
        ("overall", "MiniScene", "MiniNutrCap", "MiniProdCap", "MiniTabShot"), 16
    ) | {"overall": 64}


def test_json_and_csv_hold_the_same_figures_and_a_signature_that_reads_back(
    tmp_path: Path,
) -> None:
    tables = two_runs(tmp_path)
    document = json.loads(to_json(tables_document(tables)))
    rows = {row["name"]: row for row in document["tables"][0]["rows"]}
    for line in csv.DictReader(io.StringIO(to_csv(tables))):
        figure = rows[line["run"]]["parts"][line["part"]][line["metric"]]
        assert float(line["value"]) == figure["value"]
        assert line["low"] == ("" if figure["low"] is None else str(figure["low"]))
        if not line["source"]:
            assert parse_signature(line["signature"]).prompt == line["condition"]
            assert line["signature"] == rows[line["run"]]["signature"]


def test_the_sample_is_never_called_dt_vqa(tmp_path: Path) -> None:
    (table,) = two_runs(tmp_path)
    assert "not DT-VQA" in table.title
    assert all(line.startswith("DTVQA-SAMPLE|") for line in table.signatures())
    # The paper's figures are of the test split: they are never shown with the sample's.
    runs = [read_run(plain_run(tmp_path / "r.jsonl"))]
    assert all(row.source is None for row in result_tables(runs, published_rows())[0].rows)


def test_a_custom_set_is_titled_by_its_name_and_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    (own / "test").mkdir(parents=True)
    records = [
        {
            "dataset_name": name,
            "id": number,
            "image_path": "./image/Menu/a.png",
            "question": "?",
            "answers": ["a"],
            "type": "made for a test",
        }
        for number, name in enumerate(["Menu", "Bill"])
    ]
    (own / "test" / "DT_custom.json").write_text(json.dumps(records))
    (own / "custom.json").write_text('{"name": "shops"}')
    digest = hashlib.sha256((own / "test" / "DT_custom.json").read_bytes()).hexdigest()[:16]
    monkeypatch.setenv("DTVQA_CUSTOM", str(own))
    path = tmp_path / "m_DTVQA_CUSTOM_PROMPTED.tsv"
    path.write_text("index\tprediction\nBill/1\tb\nMenu/0\ta\n")
    run = read_run(path)
    (table,) = result_tables([run])
    assert (run.name, run.condition) == ("m", "paper")
    assert table.parts == ("overall", "Menu", "Bill")
    assert table.title.startswith(f"shops@{digest}: your own question set: not DT-VQA")
    assert f"|rev:shops@{digest}|" in table.signatures()[0]
    page = page_document([run], {})
    assert page["heading"] == table.title
    assert not page["title"].startswith("DT-VQA")


def test_exactly_the_two_known_figures_are_published() -> None:
    figures = {(row.name, row.condition): row.figures for row in published_rows()}
    assert figures == {
        ("GPT-4V", "paper"): {"overall": {"accanls": 76.8}},
        ("Monkey", None): {"overall": {"accanls": 56.6}},
    }
    assert all("2405.06706" in row.source for row in published_rows())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", 'list "rows"'),
        ('{"rows": [1]}', "row 1: not an object"),
        ('{"rows": [{"name": "x"}]}', '"source" must be a text'),
        ('{"rows": [{"name": "x", "source": "s"}]}', '"figures" must map'),
        (
            '{"rows": [{"name": "x", "source": "s", "figures": {"overall": 5}}]}',
            "must be an object",
        ),
        (
            '{"rows": [{"name": "x", "source": "s", "figures": {"overall": {"bleu": 5}}}]}',
            "'bleu' is not one of anls, acc, accanls",
        ),
        (
            '{"rows": [{"name": "x", "source": "s", "figures": {"overall": {"acc": 101}}}]}',
            "from 0 to 100, got 101",
        ),
        ("[" * 100_000, "not valid JSON"),
        ('{"rows": [{"name": "x", "source": "s", "split": "exam"}]}', "'exam', not one of test"),
        (
            '{"rows": [{"name": "x", "source": "s", "figures": {"DTTabs": {"acc": 1}}}]}',
            "'DTTabs' is no part of split test: overall, DT",
        ),
    ],
    ids=[
        *("json", "rows", "object", "source", "figures", "part", "metric", "range"),
        *("deep", "split", "no-part"),
    ],
)
def test_a_faulty_published_file_is_one_error(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "published.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        published_rows(path)
    assert str(path) in str(caught.value)


def test_a_partial_run_is_marked(tmp_path: Path) -> None:
    paths = [
        plain_run(tmp_path / "some.jsonl", chosen=SAMPLE[1:]),
        plain_run(tmp_path / "subset.jsonl", chosen=[r for r in SAMPLE if r.subset == "MiniScene"]),
        plain_run(tmp_path / "whole.jsonl"),
    ]
    (table,) = result_tables([read_run(path) for path in paths])
    assert [row.label for row in table.rows] == ["some†", "subset†", "whole"]
    assert ("overall", "acc") in table.rows[0].cells
    # A mean over one subset is no overall figure, and must not be in its column.
    assert {part for part, _ in table.rows[1].cells} == {"MiniScene"}
    (alone,) = result_tables([read_run(paths[1])])
    assert alone.parts == ("MiniScene",)
    assert any(note.startswith("†") for note in table.notes())


HOSTILE = (
    "=cmd|'/c x'!A1 <script>alert(1)</script> \\input{x} $x$ %_^~#& [b]`*\x1b[2J\r\n|"
    "\x9b2J\u2028\u202e\ud800"
)


@pytest.mark.parametrize("name", RENDERERS)
def test_no_name_gets_out_of_its_cell(tmp_path: Path, name: str) -> None:
    run = read_run(plain_run(tmp_path / "r.jsonl"), name=HOSTILE)
    text = RENDERERS[name](result_tables([run]))
    text.encode("utf-8")
    assert not set("\x1b\x9b\u2028\u202e") & set(text)
    assert "\r" not in text or name == "table.csv"
    if name.endswith(".md"):
        assert "<script>" not in text
        (line,) = [line for line in text.splitlines() if line.startswith("| =cmd")]
        assert line.replace(r"\|", "").count("|") == 19
    elif name.endswith(".tex"):
        (line,) = [line for line in text.splitlines() if line.startswith("=cmd")]
        assert r"\textbackslash{}input\{x\} \$x\$ \%\_\textasciicircum{}" in line
        comments = [line for line in text.splitlines() if "alert" in line and line != text]
        assert all(line.startswith(("%", "=cmd")) for line in comments)
    elif name.endswith(".csv"):
        rows = list(csv.DictReader(io.StringIO(text)))
        assert {row["run"][:6] for row in rows} == {"'=cmd|"}
    elif name.endswith(".json"):
        assert json.loads(text)["tables"][0]["rows"][0]["name"] == HOSTILE


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1", "'=1"),
        ("\t=1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ("-m", "'-m"),
        ("m=1", "m=1"),
        ("", ""),
    ],
)
def test_no_cell_of_a_csv_is_a_formula(text: str, safe: str) -> None:
    assert spreadsheet_safe(text) == safe


@pytest.mark.parametrize(
    ("escape", "text", "escaped"),
    [
        (escape_markdown, "a|b_c*`<x>&\n", r"a\|b\_c\*\`&lt;x&gt;&amp; "),
        (escape_latex, "50% a_b & {c} #1 ^~\\", None),
    ],
    ids=["markdown", "latex"],
)
def test_escaping(escape: Callable[[str], str], text: str, escaped: str | None) -> None:
    expected = escaped or (
        r"50\% a\_b \& \{c\} \#1 \textasciicircum{}\textasciitilde{}\textbackslash{}"
    )
    assert escape(text) == expected
