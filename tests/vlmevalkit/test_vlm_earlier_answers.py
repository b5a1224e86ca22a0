"""Answers of an earlier run: kept where they agree with what would be asked now, else refused."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

pytest.importorskip("vlmeval")

from click.testing import CliRunner
from vlm_bench import KEY, NAME, QUESTIONS, Bench, Settings
from vlm_host import api_model

from dtvqa_plugin.cli.results import score

Change = Callable[[Bench], Settings | None]


def other_model(bench: Bench) -> Settings:
    return {"model": "another", "max_tokens": 4096}


def other_prompt(bench: Bench) -> Settings:
    return {"system_prompt": "Answer in one word."}


def smaller_pictures(bench: Bench) -> Settings:
    return {"img_size": 64, "img_detail": "high"}


def edited_question(bench: Bench) -> None:
    bench.write({**QUESTIONS, "Food/1": "Protein?"})


def another_set(bench: Bench) -> None:
    bench.write({name: f"{text} In grams." for name, text in QUESTIONS.items()})


def changed_picture(bench: Bench) -> None:
    bench.write(QUESTIONS, colour="black")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (other_model, ['model: "loopback" -> "another"', "max_tokens: 100 -> 4096"]),
        (other_prompt, ['system_prompt: not set -> "Answer in one word."']),
        (smaller_pictures, ['img_detail: "low" -> "high"', " -> 64"]),
        (
            edited_question,
            ['1 question has another text, first Food/1: "Calories?" -> "Protein?"'],
        ),
        (another_set, ['3 questions have another text, first Food/0: "Weight?" ->']),
        (changed_picture, ["1 question has another image, first Food/1"]),
    ],
)
def test_answers_asked_otherwise_are_refused(
    change: Change, named: list[str], bench: Bench
) -> None:
    first = bench.run("--reuse")
    assert first.status == 0, first.output
    assert bench.summary()["answers"] == {
        "total": 3,
        "reused": 0,
        "asked": 3,
        "from": None,
        "record": "agrees",
    }
    before = bench.predictions().read_bytes()
    settings = change(bench)
    second = bench.run("--reuse", model=settings)
    assert second.status == 1, second.output
    assert bench.server.count == 3
    for line in named:
        assert line in second.output
    assert "another --work-dir" in second.output
    assert "--ask-again" in second.output
    assert "Using API Base" not in second.output, "refused before a model is built"
    assert bench.predictions().read_bytes() == before

    third = bench.run("--reuse", "--ask-again", model=settings)
    assert third.status == 0, third.output
    assert bench.server.count == 6
    assert bench.summary()["answers"]["asked"] == 3
    kept = [path.read_bytes() for path in bench.out.rglob(f".moved-aside/*/*{NAME}.*")]
    assert before in kept


def test_answers_that_agree_are_kept_and_reported(bench: Bench) -> None:
    assert bench.run("--reuse").status == 0
    before = bench.predictions().read_bytes()
    bench.write(QUESTIONS)  # exported again, equal content
    settings = {"retry": 3, "wait": 2, "key": "another key"}
    again = bench.run("--reuse", model=settings)
    assert again.status == 0, again.output
    assert bench.server.count == 3
    assert "3 of 3 answers are from the run of " in again.output
    assert "nothing was asked again" in again.output
    summary = bench.summary()
    answers = summary["answers"]
    assert (answers["total"], answers["reused"], answers["asked"]) == (3, 3, 0)
    assert answers["record"] == "agrees"
    assert answers["from"]
    assert bench.predictions().read_bytes() == before
    assert summary["image_path_to_model"]["img_detail"] == "low"
    assert summary["image_path_to_model"]["encoding"].startswith("JPEG")
    assert summary["model_settings"]["settings"]["max_tokens"] == 100
    for path in bench.out.rglob("*.json*"):
        assert KEY not in path.read_text(encoding="utf-8")

    command = [str(bench.predictions().parent), "--format", "json", "--resamples", "200"]
    told = CliRunner().invoke(score, command, catch_exceptions=False)
    assert "|answers:reused=3,asked=0,from=" in told.output
    assert "3 of 3 answers are from the run of " in told.output


def test_a_file_without_a_record_is_scored_as_unknown(bench: Bench) -> None:
    assert bench.run("--reuse").status == 0
    for path in bench.out.rglob("*_asked.json"):
        path.unlink()
    before = bench.predictions().read_bytes()
    again = bench.run("--reuse")
    assert again.status == 0, again.output
    assert bench.server.count == 3
    assert "asked how, unknown" in again.output
    summary = bench.summary()
    assert summary["answers"]["record"] == "unknown"
    assert summary["prompt_enforced"] is None
    assert bench.predictions().read_bytes() == before

    bench.write({**QUESTIONS, "Food/1": "Protein?"})
    refused = bench.run("--reuse")
    assert refused.status == 1, refused.output
    assert "'Calories?' -> 'Protein?'" in refused.output
    assert bench.predictions().read_bytes() == before


def test_a_model_key_with_a_slash_is_refused_before_the_start(bench: Bench) -> None:
    text = json.dumps({"model": {"org/mine": api_model(bench.server)}, "data": {NAME: {}}})
    (bench.folder / "slash.json").write_text(text, encoding="utf-8")
    run = bench.start("--config", str(bench.folder / "slash.json"))
    assert run.status == 1, run.output
    assert "'org/mine'" in run.output
    assert "org--mine" in run.output
    assert not (bench.folder / "outputs").exists()
