"""The commands as a user gives them."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest
from report_runs import SAMPLE, dump, plain_run

from dtvqa_plugin.cli import main
from dtvqa_plugin.data import Record
from dtvqa_plugin.report import parse_signature


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Run ``dtvqa``: (exit status, stdout, stderr)."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plain_run(tmp_path / "right.jsonl", model="right", prompt="none")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    def output(record: Record) -> str:
        number = SAMPLE.index(record)
        return "no" if number % 4 == 0 else SAMPLE[number].answers[0]

    return plain_run(tmp_path / "other.jsonl", output, model="right", prompt="paper")


def test_score_prints_table_notes_and_signature(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = dtvqa(capsys, "score", run)
    assert status == 0
    for expected in ("not DT-VQA", "100.0", "MiniTabShot", "DTVQA-SAMPLE|"):
        assert expected in out


def test_audits_are_shown_on_request_or_where_they_warn(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warns = plain_run(tmp_path / "dump.jsonl", dump)
    for path, options, table, counts in [
        (run, (), False, False),
        (run, ("--audits",), True, True),
        (warns, (), True, False),
        (warns, ("--audits",), True, True),
        (warns, ("--no-audits",), False, False),
    ]:
        _, out, _ = dtvqa(capsys, "score", path, *options)
        assert ("over 16x" in out, "boundary" in out) == (table, counts), options
        assert "boundary" in dtvqa(capsys, "score", path, "--format", "json", *options)[1]
    text = dtvqa(capsys, "score", run, "--format", "markdown")[1]
    assert "boundary" in text, "Markdown holds all audits unless --no-audits is given"


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".md", "### "), (".tex", "% Embedded"), (".csv", "run,condition"), (".json", "{")],
)
def test_score_writes_the_format_that_the_name_says(
    tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str], suffix: str, start: str
) -> None:
    target = tmp_path / f"table{suffix}"
    status, out, err = dtvqa(capsys, "score", run, "-o", target)
    assert (status, out) == (0, "")
    assert str(target) in err
    assert target.read_text(encoding="utf-8").startswith(start)
    assert dtvqa(capsys, "score", run, "-o", tmp_path / "table.txt")[0] == 0
    assert "100.0 [94.4, 100.0]" in (tmp_path / "table.txt").read_text(encoding="utf-8")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_score_warns_of_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = dtvqa(capsys, "score", plain_run(tmp_path / "dump.jsonl", dump))
    assert "‡" in out
    assert "100% of the Acc hits" in out


def test_score_options_reach_the_figures(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--format", "json", "--tau", "0.3", "--resamples", "200", "--seed", "7"]
    _, out, _ = dtvqa(capsys, "score", run, *options, "--level", "0.9")
    (table,) = json.loads(out)["tables"]
    assert table["bootstrap"] == {
        "resamples": 200,
        "seed": 7,
        "level": 0.9,
        "clustered_by": "image",
    }
    assert parse_signature(table["rows"][0]["signature"]).tau == 0.3


def test_runs_of_one_name_in_several_places_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [plain_run(tmp_path / folder / "m.jsonl", model="m") for folder in ("one", "two")]
    _, out, _ = dtvqa(capsys, "score", *paths, "--format", "json")
    assert [row["name"] for row in json.loads(out)["tables"][0]["rows"]] == ["m (one)", "m (two)"]


def test_score_with_a_blank_run(
    run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    blank = plain_run(tmp_path / "blank.jsonl", lambda record: "a guess", prompt="blind")
    _, out, _ = dtvqa(capsys, "score", run, "--blank", blank, "--format", "json")
    (leak,) = json.loads(out)["leakage"]
    assert leak["parts"][0]["blank_accanls"] == 0.0
    assert leak["parts"][0]["needs_reading"] == 64
    assert "Without reading" in dtvqa(capsys, "score", run, "--blank", blank)[1]
    assert (
        "Without reading"
        in dtvqa(capsys, "score", run, "--blank", blank, "--format", "markdown")[1]
    )


def test_compare(run: Path, other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = dtvqa(capsys, "compare", run, other, "--flips", "3")
    assert status == 0
    assert "+25.0 [" in out
    assert "16 questions flipped, 16 credited to A only, 0 to B only." in out
    assert "and 13 more" in out
    _, text, _ = dtvqa(capsys, "compare", run, other, "--format", "json", "--metric", "all")
    (comparison,) = json.loads(text)["comparisons"]
    assert len(comparison["flips"]["accanls"]) == 16
    assert {row["metric"] for row in comparison["differences"]} == {"anls", "acc", "accanls"}
    _, text, _ = dtvqa(capsys, "compare", run, other, "--format", "markdown")
    assert text.count("DTVQA-SAMPLE|") == 2


def test_compare_takes_a_folder_that_holds_two_runs(
    tmp_path: Path, run: Path, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = dtvqa(capsys, "compare", tmp_path)
    assert status == 0
    assert sorted(out.splitlines()[:2]) == ["A: right [paper]", "B: right [none]"]
    third = plain_run(tmp_path / "third.jsonl", model="third", prompt="none")
    status, _, err = dtvqa(capsys, "compare", tmp_path)
    assert status == 2
    assert "takes two runs, or --prompts; got 3:" in err
    assert f"third [none]: {third}" in err


def test_compare_prompts_finds_the_two_conditions_of_a_model(
    tmp_path: Path, run: Path, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = dtvqa(capsys, "compare", "--prompts", run, other)
    assert status == 0
    assert out.startswith("A: right [paper]\nB: right [none]\n")
    assert "-25.0 [" in out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["score", "absent"], 1, "dtvqa: error: absent: no such file or folder"),
        (["score"], 2, "Missing argument"),
        (["score", "RUN", "--tau", "0"], 2, "--tau"),
        (["score", "RUN", "--published-file", "absent.json"], 1, "absent.json: cannot be read"),
        (["score", "RUN", "-o", "no/such/folder/x.md"], 1, "cannot be written"),
        (["score", "RUN", "--resamples", "5"], 2, "--resamples"),
        (["compare", "RUN"], 2, "takes two runs, or --prompts; got 1"),
        (["compare", "RUN", "PART"], 1, "different questions"),
        (
            ["compare", "RUN", "RUN", "-o", "x.csv"],
            2,
            "x.csv: this command writes .md (markdown), .json (json) or text",
        ),
        (["power", "RUN"], 2, "two runs or none"),
        (["power", "--split", "exam"], 1, "no split 'exam'"),
        (["score", "RUN", "-o", ""], 1, "it is a folder"),
        (["score", "RUN", "-o", "."], 1, "it is a folder"),
        (["report", "RUN", "-o", "/"], 1, "it is a folder"),
        (["report", "RUN", "--tau", "5"], 2, "--tau"),
        (["score", "RUN", "--tau", "nan"], 2, "is not a number"),
        (["score", "RUN", "--level", "nan"], 2, "is not a number"),
        (["power", "--differing", "nan"], 2, "is not a number"),
    ],
)
def test_a_wrong_call_is_one_message(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    part = plain_run(tmp_path / "part.jsonl", chosen=SAMPLE[:9])
    given = [{"RUN": str(run), "PART": str(part)}.get(word, word) for word in arguments]
    ended, out, err = dtvqa(capsys, *given)
    assert (ended, out) == (status, "")
    assert message in " ".join(err.split())


def test_power_for_assumed_and_for_observed_differences(
    run: Path, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--differing", "0.1", "--differing", "0.4", "--image-correlation", "0"]
    _, out, _ = dtvqa(capsys, "power", "--split", "mini", *options, "--format", "json")
    none, some = [row for row in json.loads(out)["rows"] if row["part"] == "overall"]
    assert (none["questions"], none["images"]) == (64, 17)
    assert none["difference"] is None, "a tenth of 64 questions on 17 images cannot show anything"
    # d = 1.96 sqrt((0.4 - d**2 + 3.8125 d**2) / 64) + 0.8416 sqrt((0.4 - d**2) / 64)
    d = some["difference"]
    expected = 1.96 * ((0.4 + 2.8125 * d**2) / 64) ** 0.5 + 0.8416 * ((0.4 - d**2) / 64) ** 0.5
    assert d == pytest.approx(expected, abs=5e-4)
    assert "–" in dtvqa(capsys, "power", "--split", "mini", *options)[1]
    _, out, _ = dtvqa(capsys, "power", run, other, "--format", "json")
    assert json.loads(out)["rows"][0]["basis"] == "right against right, accanls"
    assert "Smallest difference" in dtvqa(capsys, "power", "--split", "mini")[1]


@pytest.mark.parametrize("style", ["terminal", "markdown", "latex", "csv", "json"])
def test_names_of_any_characters_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], style: str
) -> None:
    """JSON can spell a lone surrogate, which no encoding holds."""
    name = "m\ud800\x1b[31m"
    path = tmp_path / "r.jsonl"
    rows = [{"question_id": r.question_id, "prediction": "x", "model": name} for r in SAMPLE]
    rows.append({"question_id": f"TextVQA/{name}\nspoof", "prediction": "x", "model": name})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, out, _ = dtvqa(capsys, "score", path, "--format", style)
    assert status == 0
    assert "\x1b" not in out.encode("utf-8").decode()
    assert not [line for line in out.splitlines() if line.startswith("spoof")]
    assert dtvqa(capsys, "report", path, "-o", tmp_path / "page.html")[0] == 0


def test_an_error_drives_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question_id": r.question_id, "prediction": "x", "model": "m"} for r in SAMPLE]
    rows[0]["model"] = "\x1b[31m\u202e"
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, _, err = dtvqa(capsys, "score", path)
    assert (status, "\x1b" in err) == (1, False)
    assert r"(\x1b[31m\u202e, m)" in err


def test_published_rows_of_another_split_are_named(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, err = dtvqa(capsys, "score", run, "--published")
    (line,) = [line for line in err.splitlines() if line.startswith("not shown: ")]
    assert line.startswith("not shown: 2 published rows of split test (")
    assert "Monkey" in line


def test_links_and_pipes_stay_what_they_are(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.csv").write_text("before")
    link = tmp_path / "link.csv"
    link.symlink_to("there.csv")
    assert dtvqa(capsys, "score", run, "-o", link)[0] == 0
    assert link.is_symlink()
    assert (tmp_path / "there.csv").read_text().startswith("run,")
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert dtvqa(capsys, "score", run, "-o", pipe)[0] == 0
        assert os.read(reader, 4) == b"run,"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_csv_on_standard_output_is_a_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = dtvqa(capsys, "score", run, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 15
    assert {row["value"] for row in rows if row["metric"] == "acc"} == {"100.0"}
