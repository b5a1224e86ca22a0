"""The report page over what both hosts wrote; the page's own tests are in ``tests/page``."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from report_runs import SAMPLE

from dtvqa_plugin.cli.report import report
from dtvqa_plugin.report import read_runs
from dtvqa_plugin.report.html import page_document
from dtvqa_plugin.report.html.document import Sampling


def test_a_page_of_an_lmms_eval_folder(lmms_output: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = CliRunner().invoke(report, [str(lmms_output), "-o", str(out), "--resamples", "200"])
    assert done.exit_code == 0, done.output
    assert f"{len(SAMPLE)} questions, 3 of up to 4 runs" in done.output


def test_runs_of_both_hosts_are_side_by_side(lmms_output: Path, vlmevalkit_output: Path) -> None:
    runs = [run for path in (lmms_output, vlmevalkit_output) for run in read_runs(path)]
    runs = [run for run in runs if run.condition != "blind"]
    shown = page_document(runs, {}, sampling=Sampling(resamples=200))
    assert sorted((run["host"], run["condition"]) for run in shown["runs"]) == [
        ("VLMEvalKit", "none"),
        ("VLMEvalKit", "paper"),
        ("lmms-eval", "none"),
        ("lmms-eval", "paper"),
    ]
    assert all(result for question in shown["questions"] for result in question["results"])
    for run in shown["runs"]:
        assert run["counts"]["overall"] == len(SAMPLE)
