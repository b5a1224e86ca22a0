"""Several responses to one question are repeats: each is scored, none are joined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_files import SAMPLE, lmms_run, vlmevalkit_run, write_lines
from runs_command import dtvqa

from dtvqa_plugin.analysis.comparison import compare
from dtvqa_plugin.data import Record
from dtvqa_plugin.report import Run, RunError, parse_signature, read_run
from dtvqa_plugin.runs import join_repeats, remarks


def responses(record: Record) -> list[str]:
    """The first is right, the second never, the third on every second question."""
    third = record.answers[0] if SAMPLE.index(record) % 2 == 0 else "no idea"
    return [record.answers[0], "no idea", third]


MEANS = (1.0, 0.0, 0.5)


def lmms_list(folder: Path) -> Path:
    return lmms_run(folder, responses)


def plain_list(folder: Path) -> Path:
    rows = ({"question_id": r.question_id, "prediction": responses(r)} for r in SAMPLE)
    return write_lines(folder / "p.jsonl", rows)


def numbered(folder: Path, key: str = "repeat", first: int = 0) -> Path:
    rows = (
        {"question_id": r.question_id, "prediction": said, key: number}
        for r in SAMPLE
        for number, said in enumerate(responses(r), start=first)
    )
    return write_lines(folder / "p.jsonl", rows)


def trials(folder: Path) -> Path:
    return numbered(folder, "trial", first=9)


def table(folder: Path) -> Path:
    lines = ["question_id,repeat,prediction"]
    lines += [
        f'{r.question_id},{number},"{said.replace(chr(34), chr(34) * 2)}"'
        for number in range(3)
        for r in SAMPLE
        for said in responses(r)[number : number + 1]
    ]
    path = folder / "p.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def vlmevalkit_json(folder: Path) -> Path:
    rows = [
        {"index": r.question_id, "question": r.question, "prediction": responses(r)} for r in SAMPLE
    ]
    path = folder / "m_DTVQA_MINI.json"
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("write", [lmms_list, plain_list, numbered, trials, table, vlmevalkit_json])
def test_each_response_is_scored_and_the_mean_is_shown(tmp_path: Path, write: Any) -> None:
    run = read_run(write(tmp_path))
    assert len(run.repeats) == 3
    assert run.repeat_values[:, :, 1].mean(axis=1).tolist() == list(MEANS)
    assert (run.values == run.repeat_values.mean(axis=0)).all()
    assert run.values[:, 1].mean() == pytest.approx(0.5)
    assert not any(answer.loss for answer in run.answers)
    assert parse_signature(str(run.signature())).repeats == 3
    assert run.faults.differences == (), "the host's score is that of the first response"


def test_mean_and_spread_are_beside_the_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lmms_list(tmp_path)
    run = read_run(path)
    (remark,) = [line for line in remarks(run) if "responses to each question" in line]
    spread = np.std(MEANS, ddof=1) * 100
    assert f"Acc 100.0, 0.0, 50.0 (standard deviation {spread:.2f})" in remark
    said = dtvqa(capsys, "score", str(path), "--format", "json", "--resamples", "200")
    (row,) = json.loads(said)["tables"][0]["rows"]
    cell = row["parts"]["overall"]["acc"]
    assert cell["value"] == pytest.approx(50)
    assert cell["low"] < 50 < cell["high"]
    assert row["repeats"]["overall"]["acc"] == {
        "values": [100.0, 0.0, 50.0],
        "standard_deviation": pytest.approx(spread),
        "over_images": row["repeats"]["overall"]["acc"]["over_images"],
    }
    images = row["repeats"]["overall"]["acc"]["over_images"]
    assert cell["low"] < images["low"] < 50 < images["high"] < cell["high"]


def test_one_response_has_no_spread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = lmms_run(tmp_path)
    said = dtvqa(capsys, "score", str(path), "--format", "json", "--resamples", "200")
    (row,) = json.loads(said)["tables"][0]["rows"]
    assert row["repeats"] == {}


def test_runs_with_repeats_compare_by_their_means(tmp_path: Path) -> None:
    several = read_run(lmms_list(tmp_path / "a"))
    single = read_run(lmms_run(tmp_path / "b"))
    row = compare(single, several, resamples=200).rows("acc")[0]
    assert row.difference.value == pytest.approx(0.5)
    half = several.only([record.question_id for record in SAMPLE[:10]])
    assert half.repeat_values.shape == (3, 10, 3)


def test_a_failure_in_a_later_response_is_counted(tmp_path: Path) -> None:
    def fails(record: Record) -> list[str | None]:
        return ["x", None]

    rows = ({"question_id": r.question_id, "prediction": fails(r)} for r in SAMPLE)
    run = read_run(write_lines(tmp_path / "p.jsonl", rows))
    assert run.failed == len(SAMPLE)


def test_the_host_was_asked_for_more_responses_than_it_logged(tmp_path: Path) -> None:
    run = read_run(lmms_run(tmp_path, config={"resolved_cli_args": {"repeats": 4}}))
    assert any("asked for 4 responses to each question" in said for said in remarks(run))


def ragged(folder: Path) -> Path:
    rows = [{"question_id": r.question_id, "prediction": responses(r)} for r in SAMPLE]
    rows[7]["prediction"] = "only one"
    return write_lines(folder / "p.jsonl", rows)


def unnumbered(folder: Path) -> Path:
    rows = (
        {"question_id": r.question_id, "prediction": said} for r in SAMPLE for said in responses(r)
    )
    return write_lines(folder / "p.jsonl", rows)


def mostly_alike(folder: Path) -> Path:
    """A model that says nearly the same each time: every question twice, two of them otherwise."""
    rows = [{"question_id": r.question_id, "prediction": "same"} for r in SAMPLE] * 2
    rows += [{"question_id": r.question_id, "prediction": "other"} for r in SAMPLE[:2]]
    return write_lines(folder / "p.jsonl", rows)


def incomplete(folder: Path) -> Path:
    path = numbered(folder)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    return path


def in_a_table(folder: Path) -> Path:
    path = vlmevalkit_run(folder)
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(text) + "".join(line.replace("\n", " no\n") for line in text[1:]))
    return path


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (ragged, "repeat 2 has 63 of 64 questions .*list of the same length"),
        (unnumbered, "nothing tells the answers apart.*number them in each record"),
        (mostly_alike, "nothing tells the answers apart"),
        (incomplete, "repeat 2 has 63 of 64 questions .*incomplete repeat"),
        (in_a_table, "nothing tells the answers apart"),
    ],
)
def test_repeats_that_cannot_be_told_apart_are_refused(
    tmp_path: Path, write: Any, message: str
) -> None:
    path = write(tmp_path)
    with pytest.raises(RunError, match=message) as caught:
        read_run(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_given_twice_in_one_is_no_repeat(tmp_path: Path) -> None:
    rows = [{"question_id": r.question_id, "prediction": "same"} for r in SAMPLE] * 2
    run: Run = read_run(write_lines(tmp_path / "p.jsonl", rows))
    assert (len(run.repeats), len(run.faults.doubled)) == (0, len(SAMPLE))


def seeds(folder: Path) -> list[Path]:
    """lmms-eval output of three seeds, in folders of their own."""
    return [
        lmms_run(
            folder / f"seed{number}",
            lambda record, number=number: responses(record)[number],
            model_args=f"pretrained=Q/q,seed={number}",
            generation={"max_new_tokens": 100, "seed": number},
        )
        for number in range(3)
    ]


def nameless_seeds(folder: Path) -> list[Path]:
    return [
        write_lines(
            folder / f"tuned-{number}.jsonl",
            ({"question_id": r.question_id, "prediction": responses(r)[number]} for r in SAMPLE),
        )
        for number in range(3)
    ]


@pytest.mark.parametrize("write", [seeds, nameless_seeds])
def test_runs_that_differ_in_their_seed_are_repeats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Any
) -> None:
    paths = write(tmp_path / "seeds")
    (run,) = join_repeats([read_run(path) for path in paths])
    assert run.repeat_values[:, :, 1].mean(axis=1).tolist() == list(MEANS)
    assert run.paths == tuple(sorted(paths))
    assert run.name in ("qwen2_5_vl(Q/q)", "tuned")
    options = ("--repeats", "--format", "json", "--resamples", "200")
    (row,) = json.loads(dtvqa(capsys, "score", str(tmp_path), *options))["tables"][0]["rows"]
    assert row["repeats"]["overall"]["acc"]["values"] == [100.0, 0.0, 50.0]
    assert "|repeats:3|" in row["signature"]
    dtvqa(capsys, "gate", *map(str, paths), "--repeats", "--min", "acc=50", "--resamples", "200")


def test_shards_of_several_seeds_are_joined_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        for part, chosen in enumerate((SAMPLE[:30], SAMPLE[30:])):
            lmms_run(
                tmp_path / f"{number}-{part}",
                lambda record, number=number: responses(record)[number],
                chosen=chosen,
                model_args=f"pretrained=Q/q,seed={number}",
            )
    options = ("--join", "--repeats", "--format", "json", "--resamples", "200")
    (row,) = json.loads(dtvqa(capsys, "score", str(tmp_path), *options))["tables"][0]["rows"]
    assert (row["missing"], row["repeats"]["overall"]["acc"]["values"]) == (0, [100.0, 0.0, 50.0])


def test_other_questions_and_other_settings_are_no_repeats(tmp_path: Path) -> None:
    first, *_ = seeds(tmp_path)
    part = lmms_run(tmp_path / "part", model_args="pretrained=Q/q", chosen=SAMPLE[1:])
    other = lmms_run(
        tmp_path / "other",
        model_args="pretrained=Q/q,max_pixels=9",
        generation={"max_new_tokens": 100},
    )
    for path, said in (
        (part, r"1 question \(.* is one\) are in one of them only"),
        (other, "max_pixels is not set in the first and 9 in the second"),
    ):
        with pytest.raises(RunError, match=said) as caught:
            join_repeats([read_run(first), read_run(path)])
        assert str(first) in str(caught.value)
        assert str(path) in str(caught.value)


def test_equal_repeats_are_pointed_out(tmp_path: Path) -> None:
    rows = [{"question_id": r.question_id, "prediction": ["a", "b", "a"]} for r in SAMPLE]
    said = remarks(read_run(write_lines(tmp_path / "p.jsonl", rows)))
    assert any("repeats 1 and 3 hold the same answers" in line for line in said)
