"""Runs that both hosts really made, over the embedded sample, read and scored again."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from report_runs import SAMPLE

from dtvqa_plugin.analysis.audits import audit, leakage
from dtvqa_plugin.analysis.comparison import compare, prompt_pairs
from dtvqa_plugin.report import Run, read_run, read_runs

pytestmark = pytest.mark.slow

METRICS = ("anls", "acc", "accanls")


def by_condition(folder: Path) -> dict[str, Run]:
    runs = read_runs(folder)
    found = {run.condition: run for run in runs}
    assert len(found) == len(runs)
    return found


def test_one_lmms_eval_folder_holds_three_runs(lmms_output: Path) -> None:
    runs = by_condition(lmms_output)
    assert set(runs) == {"none", "paper", "blind"}
    for run in runs.values():
        assert (len(run.answers), run.missing, run.split) == (len(SAMPLE), (), "mini")
        assert run.name == "openai(loopback)"
        assert run.faults.differences == ()
        assert run.faults.unreadable_count == 0


def test_lmms_evals_own_figures_are_the_recomputed_ones(lmms_output: Path) -> None:
    (results,) = lmms_output.rglob("*_results.json")
    rows = json.loads(results.read_text(encoding="utf-8"))["results"]
    tasks = {"none": "dtvqa_mini", "paper": "dtvqa_mini_prompted", "blind": "dtvqa_mini_blind"}
    for condition, run in by_condition(lmms_output).items():
        means = run.design.means(run.values)["overall"]
        for metric, mean in zip(METRICS, means, strict=True):
            stored = rows[tasks[condition]][f"{metric},none"]
            assert stored == pytest.approx(mean, abs=1e-12)


def test_lmms_eval_signatures_say_how_each_run_was_made(lmms_output: Path) -> None:
    runs = by_condition(lmms_output)
    lines = {condition: str(run.signature()) for condition, run in runs.items()}
    assert all(f"|host:lmms-eval={version('lmms_eval')}|" in line for line in lines.values())
    assert all("|model:openai(loopback)|runner:chat|gen:" in line for line in lines.values())
    assert all("max_new_tokens=100" in line for line in lines.values())
    assert "|prompt:none|image:original,host-default|" in lines["none"]
    assert "|prompt:paper|image:original,host-default|" in lines["paper"]
    assert "|prompt:none|image:grey,host-default|" in lines["blind"]


def test_vlmevalkit_folder_holds_two_runs_and_its_own_scores_agree(
    vlmevalkit_output: Path,
) -> None:
    runs = by_condition(vlmevalkit_output)
    assert set(runs) == {"none", "paper"}
    for run in runs.values():
        assert len(run.answers) == len(SAMPLE)
        assert run.faults.differences == ()
        assert run.context.stored
        assert run.context.host == "VLMEvalKit"
        assert "=" in run.context.host_version
        assert run.paths[0].suffix == ".xlsx"


def test_both_hosts_give_the_same_answers_and_so_the_same_figures(
    lmms_output: Path, vlmevalkit_output: Path
) -> None:
    """The same model behind both: text by text and figure by figure, xlsx in between or not."""
    for condition, theirs in by_condition(vlmevalkit_output).items():
        ours = by_condition(lmms_output)[condition]
        assert [a.text for a in ours.answers] == [a.text for a in theirs.answers]
        assert (ours.values == theirs.values).all()
        assert all(row.difference.value == 0 for row in compare(ours, theirs).differences)


def test_kinds_of_output_are_told_apart(lmms_output: Path) -> None:
    run = by_condition(lmms_output)["none"]
    counts = {item.name: item.count for item in audit(run).all_findings}
    # One answer in eight breaks off in its reasoning; every other kind is an answer.
    assert counts["cut off in its reasoning"] == len(SAMPLE) // 8
    assert counts["failed"] == 0
    texts = {answer.text for answer in run.answers}
    assert {"N/A", "=SUM(1,2)", "no idea"} <= texts


@pytest.mark.parametrize("host", ["lmms_output", "vlmevalkit_output"])
def test_thoughts_of_every_notation_are_removed_in_either_host(
    host: str, request: pytest.FixtureRequest
) -> None:
    """One output in eight thinks aloud: in tags, in Harmony channels, with their marks dropped."""
    run = by_condition(request.getfixturevalue(host))["none"]
    texts = run.by_question
    thinking = [record for number, record in enumerate(SAMPLE) if number % 8 == 5]
    assert [texts[r.question_id].text for r in thinking] == [r.answers[0] for r in thinking]


def test_the_grey_pictures_show_what_needs_no_reading(lmms_output: Path) -> None:
    runs = by_condition(lmms_output)
    whole = leakage(runs["none"], runs["blind"])[0]
    assert whole.blank_acc == pytest.approx(4 / 64)
    assert whole.needs_reading == 60


def test_prompt_conditions_pair_up_in_either_host(
    lmms_output: Path, vlmevalkit_output: Path
) -> None:
    for folder in (lmms_output, vlmevalkit_output):
        ((prompted, bare),) = prompt_pairs(read_runs(folder))
        assert (prompted.condition, bare.condition) == ("paper", "none")


def test_a_renamed_sample_log_is_still_known(lmms_output: Path, tmp_path: Path) -> None:
    (log,) = lmms_output.rglob("*_samples_dtvqa_mini_prompted.jsonl")
    copy = tmp_path / "mine.jsonl"
    copy.write_bytes(log.read_bytes())
    run = read_run(copy)
    assert (run.condition, len(run.answers)) == ("paper", len(SAMPLE))
    assert run.faults.differences == ()


def test_a_changed_prediction_file_shows_against_the_stored_scores(
    vlmevalkit_output: Path, tmp_path: Path
) -> None:
    (source,) = {p.resolve() for p in vlmevalkit_output.rglob("*_DTVQA_MINI_questions.jsonl")}
    stem = source.stem.removesuffix("_questions")
    (tmp_path / source.name).write_bytes(source.read_bytes())
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    table = [{"index": row["question_id"], "prediction": row["raw_prediction"]} for row in rows]
    table[0]["prediction"] = "something else"
    path = tmp_path / f"{stem}.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    run = read_run(path)
    assert {item.question_id for item in run.faults.differences} == {rows[0]["question_id"]}
