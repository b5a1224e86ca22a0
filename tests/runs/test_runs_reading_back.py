"""Whose answers a file holds: nulls, thresholds, partial files, links, damage, kinds, commits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from host_files import SAMPLE, lmms_run, lmms_sample, right, vlmevalkit_run, write_lines, wrong

from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.data import records
from dtvqa_plugin.predictions import Kind, score_output, sniff
from dtvqa_plugin.report import References, RunError, read_run, read_runs
from dtvqa_plugin.runs import remarks


@pytest.mark.parametrize(
    ("output", "logged", "reasons"),
    [
        (None, "None", {"failed"}),  # the chat runner hands the null on
        ("", "None", {"empty"}),  # the simple runner makes it an empty text
        (None, ["None"], {"failed"}),
        (float("nan"), "nan", {"failed"}),
        ("", "", {"empty"}),
        ("<think>None", "<think>None", {"truncated"}),
        ("None", "None", {None}),  # a model that says the word
    ],
    ids=["null", "null-as-empty", "listed", "nan", "empty", "cut", "word"],
)
def test_our_record_says_whether_a_logged_none_was_an_answer(
    tmp_path: Path, output: Any, logged: Any, reasons: set[str | None]
) -> None:
    rows = [lmms_sample(record, i, output, logged) for i, record in enumerate(SAMPLE)]
    run = read_run(write_lines(tmp_path / "log.jsonl", rows))
    assert {answer.unanswered for answer in run.answers} == reasons
    assert run.faults.differences == ()


def test_nulls_over_the_whole_test_set(tmp_path: Path, shared_dir: Path) -> None:
    known = records("test", home=shared_dir / "hub" / "DT-VQA")
    rows = []
    for number, record in enumerate(known):
        row = lmms_sample(record, number, None, "None")
        row["unanswered"] = "empty"
        row["dtvqa"]["failed"] = False
        rows.append(row)
    path = write_lines(tmp_path / "log.jsonl", rows)
    run = read_run(path, References(shared_dir / "hub" / "DT-VQA"))
    assert [answer.unanswered for answer in run.answers] == ["empty"] * 1200


@pytest.mark.parametrize("tau", [0.3, 0.5, 0.7])
def test_stored_means_are_compared_at_the_threshold_they_were_made_with(
    tmp_path: Path, tau: float
) -> None:
    def near(record: Any) -> str:
        return record.answers[0] + "?" * max(1, len(record.answers[0]) // 2)

    means = [score_output("x", "y", r.answers, near(r), "none") for r in SAMPLE]
    stored = {f"{m},none": sum(row[m] for row in means) / len(SAMPLE) for m in ("anls", "accanls")}
    results = {"dtvqa_mini": {"alias": "dtvqa_mini", **stored}}
    run = read_run(lmms_run(tmp_path, near, results=results).parent, tau=tau)
    assert run.faults.differences == ()
    assert not any("stored scores" in said for said in remarks(run))


@pytest.mark.parametrize(
    ("write", "name", "lacking"),
    [
        (vlmevalkit_run, "DTVQA_MINI", 64 - 20),
        (vlmevalkit_run, "DTVQA_MINI_PROMPTED", 64 - 20),
        (lmms_run, "dtvqa_mini", 64 - 20),
        (lmms_run, "dtvqa_mini_blind", 64 - 20),
        (lmms_run, "renamed", 32 - 20),
    ],
)
def test_a_partial_file_counts_against_the_dataset_that_it_names(
    tmp_path: Path, write: Callable[..., Path], name: str, lacking: int
) -> None:
    """Twenty rows lie in two of the four subsets; a name that says nothing promises these two."""
    named = {"dataset": name} if write is vlmevalkit_run else {"task": name}
    run = read_run(write(tmp_path, chosen=SAMPLE[:20], **named))
    assert len(run.missing) == lacking
    assert str(run.signature()).endswith(f"|partial:missing={lacking}")


@pytest.mark.parametrize(
    ("dataset", "rows", "missing"),
    [
        ("DTVQA", 400, 800),
        ("DTVQA_PROMPTED", 400, 800),
        ("DTVQA_NATIVE", 1, 1199),
        ("DTVQA_DTScene", 100, 200),
        ("DTVQA", 1200, 0),
        ("DTVQA_MINI", 400, 200),  # named wrongly: counted by the subsets that it answers
    ],
)
def test_rows_of_the_test_set_count_against_the_dataset(
    tmp_path: Path, shared_dir: Path, dataset: str, rows: int, missing: int
) -> None:
    home = shared_dir / "hub" / "DT-VQA"
    subset = dataset.partition("_")[2]
    known = records("test", subset if subset in SUBSETS else None, home=home)
    chosen = known[:rows]
    path = vlmevalkit_run(tmp_path, dataset=dataset, chosen=chosen)
    assert len(read_run(path, References(home)).missing) == missing


def test_linked_run_folders_are_entered_each_real_folder_once(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    lmms_run(here / "a")
    lmms_run(elsewhere / "deep" / "b", wrong, model_args="pretrained=other/model")
    (here / "linked").symlink_to(elsewhere)
    (here / "again").symlink_to(elsewhere / "deep")
    (here / "same").symlink_to(here / "a")
    (elsewhere / "back").symlink_to(here)
    (here / "loop").symlink_to(here / "loop")
    (here / "gone.jsonl").symlink_to(here / "nothing.jsonl")
    runs = read_runs(here)
    assert [run.name for run in runs] == [
        "qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)",
        "qwen2_5_vl(other/model)",
    ]
    for run in runs:
        assert any("gone.jsonl: a link to a file that is not there" in s for s in remarks(run))


READ_AS_NOBODY = """
import os, sys
from dtvqa_plugin.report import read_runs
from dtvqa_plugin.runs import remarks
read_runs(sys.argv[1])  # loads what Python loads late: nobody may not read the interpreter's files
os.setuid(65534)
for run in read_runs(sys.argv[1]):
    print(len(run.answers), *remarks(run), sep="|")
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become nobody")
def test_an_unreadable_file_or_folder_among_runs_is_a_named_omission(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path))
    for parent in (top, *list(top.parents)[:3]):
        if parent.stat().st_uid == 0 and parent != Path(parent.root):
            parent.chmod(parent.stat().st_mode | 0o055)
    lmms_run(top / "runs")
    locked = write_lines(top / "runs" / "locked.jsonl", [{"question_id": "MiniScene/1"}])
    locked.chmod(0)
    (top / "runs" / "closed").mkdir(mode=0)
    done = subprocess.run(
        [sys.executable, "-c", READ_AS_NOBODY, str(top / "runs")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "DTVQA_HOME": str(top / "home")},
    )
    assert done.returncode == 0, done.stderr
    assert "64|" in done.stdout
    assert "locked.jsonl: cannot be opened (Permission denied)" in done.stdout
    assert "closed: cannot be opened (Permission denied)" in done.stdout


NOISE = bytes(range(256)) * 40


@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "csv", "json", "jsonl"])
@pytest.mark.parametrize(
    "content",
    [NOISE, b"\x00" * 500, b"index,prediction\n\x00\n", b'"' * 999, b"PK\x05\x06" + b"\0" * 18],
    ids=["noise", "zeros", "nul-cell", "quotes", "empty-zip"],
)
def test_no_damaged_file_hides_the_runs_beside_it(
    tmp_path: Path, suffix: str, content: bytes
) -> None:
    lmms_run(tmp_path)
    (tmp_path / f"bad.{suffix}").write_bytes(content)
    (run,) = read_runs(tmp_path)
    assert len(run.answers) == len(SAMPLE)


@pytest.mark.parametrize(
    ("name", "columns", "kind"),
    [
        ("out.csv", ("question_id",), Kind.PLAIN),
        ("out.csv", ("index",), Kind.PLAIN),
        ("out.tsv", ("question_id", "model"), Kind.PLAIN),
        ("m_DTVQA_MINI.tsv", ("index",), Kind.VLMEVALKIT),
        ("renamed.csv", ("index", "subset", "question"), Kind.VLMEVALKIT),
    ],
)
def test_a_table_is_vlmevalkits_only_if_it_looks_like_it(
    tmp_path: Path, name: str, columns: tuple[str, ...], kind: Kind
) -> None:
    def cell(column: str, record: Any) -> str:
        return "mine" if column == "model" else record.question_id

    mark = "\t" if name.endswith("tsv") else ","
    lines = [mark.join((*columns, "prediction"))]
    lines += [mark.join([*(cell(c, r) for c in columns), "x"]) for r in SAMPLE]
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    run = read_run(path)
    assert sniff(path) is kind
    assert run.signature().host == ("VLMEvalKit" if kind is Kind.VLMEVALKIT else "unknown")
    assert len(run.answers) == len(SAMPLE)
    if "model" in columns:
        assert run.name == "mine"


@pytest.mark.parametrize(
    ("metadata", "top", "version"),
    [
        ({"host_version": "0.7.3"}, {}, "0.7.3"),
        ({"host_version": "0.7.3", "host_commit": None}, {"git_hash": "aaaa111"}, "0.7.3"),
        (
            {"host_version": "0.7.2", "host_commit": "75571cfe0fa3"},
            {"git_hash": "aaaa111"},
            "0.7.2+git.75571cfe0fa3",
        ),
        ({"host_version": "0.7.2"}, {"git_hash": "75571cf"}, "0.7.2+started-in.75571cf"),
        ({"host_version": "unknown"}, {"git_hash": None}, "unknown"),
    ],
    ids=["wheel", "wheel-in-a-repository", "checkout", "log-of-0.1.0", "unknown"],
)
def test_a_checkout_of_lmms_eval_is_signed_with_its_commit(
    tmp_path: Path, metadata: dict[str, Any], top: dict[str, Any], version: str
) -> None:
    run = read_run(lmms_run(tmp_path, metadata={"condition": "none", **metadata}, **top))
    assert run.signature().host_version == version


@pytest.mark.parametrize(
    ("host", "version"),
    [
        ({"distribution": "ms-vlmeval", "version": "0.0.20"}, "ms-vlmeval=0.0.20"),
        (
            {"distribution": "checkout", "version": "0.3rc1", "commit": "0123abcd"},
            "checkout=0.3rc1+git.0123abcd",
        ),
    ],
)
def test_a_checkout_of_vlmevalkit_is_signed_with_its_commit(
    tmp_path: Path, host: dict[str, Any], version: str
) -> None:
    run = read_run(vlmevalkit_run(tmp_path, summary={"host": host}))
    assert run.signature().host_version == version


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_folder_without_any_readable_run_names_each_file(tmp_path: Path, repeats: int) -> None:
    for number in range(repeats):
        (tmp_path / f"cut{number}.xlsx").write_bytes(b"PK")
    with pytest.raises(RunError) as caught:
        read_runs(tmp_path)
    assert all(f"cut{number}.xlsx" in str(caught.value) for number in range(repeats))


def test_right_is_right(tmp_path: Path) -> None:
    """The helpers of this folder write what a host would score as they say."""
    assert read_run(lmms_run(tmp_path, right)).values.min() == 1.0
