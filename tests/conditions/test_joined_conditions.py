"""``dtvqa diagnose --conditions``: runs of one model joined, differences by hand, and the words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from condition_text import ENGINE

from dtvqa_plugin.analysis.comparison import compare
from dtvqa_plugin.analysis.failures.conditions import conditions
from dtvqa_plugin.cli import main
from dtvqa_plugin.data import records
from dtvqa_plugin.predictions.record import score_output
from dtvqa_plugin.report import read_run
from dtvqa_plugin.report.conditions import chart
from dtvqa_plugin.runs.faults import RunError

SAMPLE = records("mini")
NAMES = {"none": "dtvqa_mini", "blind": "dtvqa_mini_blind"}


def lmms_log(
    folder: Path, condition: str, right: int, *, model: str = "m", leave_out: int = 0
) -> Path:
    """A log as lmms-eval writes it, in which the first ``right`` answers are right."""
    task = NAMES.get(condition, f"dtvqa_mini_{condition}")
    folder = folder / condition
    folder.mkdir(parents=True)
    metadata: dict[str, Any] = {"condition": condition, "image_path_to_model": {}}
    pictures = {"text": "none", "blind": "plain grey", "px448": "longest-side=448"}
    metadata["image"] = pictures.get(condition, "original")
    if condition == "blind":
        metadata["condition"] = "none"
    if "text" in condition:
        metadata["recognised_by"] = ENGINE
    results = {
        "configs": {task: {"task": task, "metadata": metadata}},
        "config": {
            "model": "openai",
            "model_args": f"model_version={model}",
            "model_backend": "x.Y (chat)",
        },
    }
    (folder / "1_results.json").write_text(json.dumps(results))
    rows = []
    for number, record in enumerate(SAMPLE[leave_out:], leave_out):
        output = record.answers[0] if number < right else "no such thing at all"
        scored = score_output(record.question_id, record.subset, record.answers, output, condition)
        rows.append({"doc_id": number, "filtered_resps": output, **scored})
    path = folder / f"1_samples_{task}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def logs(folder: Path, right: Mapping[str, int]) -> list[Path]:
    return [lmms_log(folder, condition, count) for condition, count in right.items()]


RIGHT = {"none": 40, "blind": 0, "px448": 10, "px896": 39, "text": 44, "image_text": 60}


def test_scores_and_differences_are_those_of_the_runs(tmp_path: Path) -> None:
    runs = {name: read_run(path) for name, path in zip(RIGHT, logs(tmp_path, RIGHT), strict=True)}
    found = conditions(list(runs.values()), resamples=500)
    assert [score.condition for score in found.scores] == list(RIGHT)
    for score in found.scores:
        values = runs[score.condition].values.mean(axis=0) * 100
        means = [score.scores[metric].value for metric in ("anls", "acc", "accanls")]
        assert means == pytest.approx(list(values))
    for finding in found.findings:
        compared = compare(runs[finding.a], runs[finding.b], resamples=500)
        assert finding.difference == compared.rows("accanls")[0].difference.scaled(100)
    pairs = [(finding.a, finding.b) for finding in found.findings]
    assert pairs == [
        *((name, "none") for name in RIGHT if name != "none"),
        ("px448", "px896"),
        ("text", "blind"),
        ("image_text", "text"),
    ]


def test_a_sentence_claims_no_more_than_its_interval_and_p_value(tmp_path: Path) -> None:
    """40 of 64 against 34, on 17 images: the interval excludes 0, the corrected p does not."""
    runs = [read_run(path) for path in logs(tmp_path, {**RIGHT, "px896": 34})]
    said = set()
    for finding in conditions(runs, resamples=500).findings:
        interval = finding.difference
        shown = "gains" if interval.value > 0 else "costs"
        if interval.low <= 0 <= interval.high:
            wanted = "no difference is shown"
        else:
            wanted = shown if finding.p_holm <= 0.05 else "not certain"
        assert f": {wanted}" in finding.sentence
        assert f"{abs(interval.value):.1f} points" in finding.sentence
        said.add(wanted)
    assert said == {"no difference is shown", "not certain", "gains", "costs"}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"none": "m", "blind": "n"}, "several models: openai"),
        ({"text": "m", "blind": "m"}, "needs a run in condition none or paper"),
        ({"none": "m"}, "at least one in another"),
    ],
)
def test_runs_that_cannot_be_joined(made: dict[str, str], message: str, tmp_path: Path) -> None:
    runs = [read_run(lmms_log(tmp_path, name, 9, model=model)) for name, model in made.items()]
    with pytest.raises(RunError, match=message):
        conditions(runs)


def test_two_runs_in_one_condition_are_named(tmp_path: Path) -> None:
    runs = [read_run(lmms_log(tmp_path / place, "none", 9)) for place in "ab"]
    with pytest.raises(RunError, match=r"two runs in condition 'none' .*a.*b"):
        conditions(runs)


def test_questions_that_a_run_lacks_are_left_out_and_counted(tmp_path: Path) -> None:
    runs = [
        read_run(lmms_log(tmp_path, "none", 40)),
        read_run(lmms_log(tmp_path, "px448", 40, leave_out=5)),
    ]
    found = conditions(runs, resamples=200)
    assert (found.questions, found.left_out) == (len(SAMPLE) - 5, 5)
    assert found.findings[0].difference.value == 0


def test_the_chart_draws_each_interval_on_its_axis(tmp_path: Path) -> None:
    """Read back from the drawing, every figure is right to half a column."""
    found = conditions([read_run(path) for path in logs(tmp_path, RIGHT)], resamples=500)
    *rows, ruler, labels = chart(found)
    assert max(map(len, (*rows, ruler, labels))) <= 96
    assert "".join((*rows, ruler, labels)).isascii()
    ticks = [(match.start(), float(match[0])) for match in re.finditer(r"\d+", labels)]
    (first, low), *_, (last, high) = ticks
    assert [ruler[place] for place, _ in ticks] == ["+"] * len(ticks)
    points = (high - low) / (last - first)
    for row, score in zip(rows, found.scores, strict=True):
        assert row.startswith(f"{score.condition} ")
        interval = score.scores["accanls"]
        start = len(score.condition)
        drawn = [place for place, mark in enumerate(row) if place >= start and mark != " "]
        marks = [drawn[0], row.index("o", start), drawn[-1]]
        read = [low + (place - first) * points for place in marks]
        wanted = [interval.low, interval.value, interval.high]
        assert read == pytest.approx(wanted, abs=0.51 * points)


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert not done.value.code
    return capsys.readouterr().out


def test_the_command_shows_table_chart_and_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    logs(tmp_path, RIGHT)
    shown = dtvqa(capsys, "diagnose", "--conditions", tmp_path, "--resamples", 200)
    assert max(len(x) for x in shown.splitlines() if not x.startswith("DTVQA")) <= 100
    words = " ".join(shown.split())
    for expected in (
        "64 questions in 6 conditions",
        "AccANLS with 95% intervals",
        "Longest side 448 pixels against the original picture: costs",
        "Recognised text beside the picture against the original picture: not certain, +",
        f"|image:none|input:text({ENGINE})|",
        "not of the paper",
    ):
        assert expected in words
    text = dtvqa(
        capsys, "diagnose", "--conditions", tmp_path, "--resamples", 200, "--format", "markdown"
    )
    assert "#### Findings" in text
    assert "#### AccANLS with 95% intervals" in text
    out = tmp_path / "out.json"
    dtvqa(capsys, "diagnose", "--conditions", tmp_path, "--resamples", 200, "-o", out)
    document = json.loads(out.read_text(encoding="utf-8"))
    assert [score["condition"] for score in document["scores"]] == list(RIGHT)
    assert document["findings"][0]["sentence"] in words
