"""A shell glob over a folder of results names files that are no runs: what belongs to a run that
is given too is skipped with one note, anything else that cannot be read is an error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from host_files import SAMPLE, lmms_run, vlmevalkit_run, write_lines, wrong
from runs_command import refused

from dtvqa_plugin.cli import main
from dtvqa_plugin.utils.text import counted

PRODUCERS = Path(__file__).parent / "producers"


def lmms_eval(folder: Path) -> None:
    lmms_run(folder)
    lmms_run(folder, wrong, stamp="20261201_100000", task="dtvqa_mini_prompted")


def vlmevalkit(folder: Path) -> None:
    """A model's folder: the latest evaluation's files, and links as the host makes them."""
    dated = folder / "T20261130_G1234abcd"
    path = vlmevalkit_run(dated, summary={})
    (dated / f"{path.stem}_acc.csv").write_text("split,Overall\nnone,1.0\n")
    (dated / f"{path.stem}_score.csv").write_text('"accanls","acc"\n"1","2"\n')
    (dated / f"{path.stem}.log").write_text("INFO started\n")
    for name in (f"{path.stem}_checkpoint.pkl", "01_DTVQA_MINI.pkl", f"{path.stem}_PREV.pkl"):
        (dated / name).write_bytes(b"\x80\x04\x95\x01")
    scored = {"question_id": SAMPLE[0].question_id, "prediction": "x", "accanls": 0.0}
    write_lines(dated / f"{path.stem}_questions.jsonl", [{**scored, "outcome": "wrong"}])
    (dated / "status.json").write_text(json.dumps({"eval_id": "T20261130"}))
    for file in dated.iterdir():
        (folder / file.name).symlink_to(file)


def vlmevalkit_outputs(folder: Path) -> None:
    """The host's output folder: a model's folder beside the logs of its evaluations."""
    vlmevalkit_run(folder / "m", summary={})
    (folder / "m" / "T20261201-050822").mkdir()
    (folder / "logs").mkdir()
    (folder / "logs" / "T20261201-050822_20261201050854.log").write_text("INFO started\n")


def evalscope(folder: Path) -> None:
    shutil.copytree(PRODUCERS / "evalscope", folder)
    (folder / "reports" / "loop").mkdir(parents=True)
    (folder / "reports" / "loop" / "general_vqa.json").write_text(json.dumps({"score": 0.5}))
    (folder / "logs").mkdir()
    (folder / "logs" / "eval_log.log").write_text("started\n")


LAYOUTS: dict[str, tuple[Callable[[Path], None], int, int]] = {
    "lmms-eval": (lmms_eval, 2, 2),
    "VLMEvalKit": (vlmevalkit, 1, 10),
    "VLMEvalKit's outputs": (vlmevalkit_outputs, 1, 1),
    "EvalScope": (evalscope, 1, 4),
}
"""Each layout, its runs, and how many entries of its folder are none."""


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return said.out, said.err


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_glob_reads_each_run_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str
) -> None:
    make, runs, others = LAYOUTS[layout]
    make(tmp_path / "out")
    paths = sorted((tmp_path / "out").iterdir())
    out, err = run(capsys, "score", *paths, "--format", "json", "--resamples", "100")
    assert len(json.loads(out)["tables"][0]["rows"]) == runs
    assert len(paths) - runs == others
    (note,) = [line for line in err.splitlines() if line.startswith("note: ")]
    assert note.startswith(f"note: skipped {counted(others, 'by-product')} of the runs given: ")


@pytest.mark.parametrize(
    ("make", "depths"), [(evalscope, ("*/*", "*/*/*")), (vlmevalkit_outputs, ("*/*",))]
)
def test_files_deeper_in_a_folder_of_results(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], None],
    depths: tuple[str, ...],
) -> None:
    make(tmp_path / "out")
    for depth in depths:
        paths = sorted((tmp_path / "out").glob(depth))
        out, _ = run(capsys, "score", *paths, "--format", "json", "--resamples", "100")
        assert len(json.loads(out)["tables"][0]["rows"]) == 1


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--resamples", "100"),
        ("rank", "--resamples", "100"),
        ("diagnose", "--resamples", "100"),
        ("report", "-o", "page.html", "--resamples", "100"),
        ("publish", "-o", "rows.csv"),
    ],
)
def test_every_command_over_runs_skips_by_products(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    lmms_run(tmp_path / "out")
    lmms_run(tmp_path / "out", wrong, stamp="20261201_100000")
    monkeypatch.chdir(tmp_path)
    name, *options = command
    _, err = run(capsys, name, *sorted((tmp_path / "out").iterdir()), *options)
    assert "by-product" in err


def test_gate_skips_the_results_file_beside_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lmms_run(tmp_path)
    _, err = run(capsys, "gate", *sorted(tmp_path.iterdir()), "--min", "accanls=10")
    assert "by-product" in err


def alone(name: str, content: str = "{}") -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        path = folder / name
        path.write_text(content)
        return [path, lmms_run(folder / "other"), vlmevalkit_run(folder / "another")]

    return make


def results_of_another_run(folder: Path) -> list[Path]:
    log = lmms_run(folder)
    lmms_run(folder, stamp="20270101_100000")
    return [log, folder / "20270101_100000_results.json"]


def results_file_alone(folder: Path) -> list[Path]:
    lmms_run(folder)
    return [folder / "20261130_100000_results.json"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (results_file_alone, "results file of lmms-eval"),
        (results_of_another_run, "20270101_100000_results.json: this is a results file"),
        (alone("20261130_100000_results.json"), "results file of lmms-eval"),
        (alone("m_DTVQA_MINI_acc.csv", "split,Overall\nnone,1\n"), "holds no predictions"),
        (alone("status.json"), "holds no predictions"),
        (alone("notes.log", "started\n"), "holds no predictions"),
    ],
)
def test_what_belongs_to_no_given_run_is_an_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], list[Path]],
    said: str,
) -> None:
    lines = refused(capsys, "score", *map(str, make(tmp_path)), "--resamples", "100")
    assert said in lines[-1]


def test_a_run_of_another_condition_is_no_by_product(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``m_DTVQA_MINI_PROMPTED.tsv`` begins as what belongs to ``m_DTVQA_MINI.tsv`` does."""
    vlmevalkit_run(tmp_path)
    vlmevalkit_run(tmp_path, wrong, dataset="DTVQA_MINI_PROMPTED")
    copy = tmp_path / "m_DTVQA_MINI_mine.tsv"
    shutil.copy(vlmevalkit_run(tmp_path / "x", wrong), copy)
    out, err = run(
        capsys, "score", *sorted(tmp_path.glob("*.tsv")), "--format", "json", "--resamples", "100"
    )
    assert len(json.loads(out)["tables"][0]["rows"]) == 3
    assert "by-product" not in err


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_hosts_write_beside_predictions_is_not_pointed_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str
) -> None:
    LAYOUTS[layout][0](tmp_path / "out")
    out, err = run(capsys, "score", tmp_path / "out", "--resamples", "100")
    assert "no predictions in a form that is known" not in out + err


def test_other_files_without_predictions_in_a_folder_are_counted_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "g"
    folder.mkdir()
    write_lines(
        folder / "good.jsonl",
        [{"question_id": r.question_id, "prediction": "no idea"} for r in SAMPLE],
    )
    write_lines(folder / "bareid.jsonl", [{"id": 7, "prediction": "x"}])
    (folder / "doc.json").write_text('{"results": [{"a": 1}]}')
    (folder / "answers.csv").write_text("qid,answer_text\n1,x\n")
    (folder / "more.csv").write_text("a,b\n1,x\n")
    out, _ = run(capsys, "score", folder, "--resamples", "100", "--format", "markdown")
    (line,) = [line for line in out.splitlines() if "in a form that is known" in line]
    for name in ("answers.csv", "bareid.jsonl", "doc.json", "and 1 more"):
        assert name in line.replace("\\", "")
