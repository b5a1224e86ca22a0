"""Answers of an earlier run in every way to start the host, and after a run that broke off."""

from __future__ import annotations

import inspect
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("vlmeval")

from vlm_bench import NAME, QUESTIONS, Bench
from vlm_host import HostRun
from vlmeval.inference import infer_data_job

from dtvqa_plugin.hosts.vlmevalkit.earlier.asked import read_asked, write_asked
from dtvqa_plugin.hosts.vlmevalkit.earlier.guard import fitting_record, record_of
from dtvqa_plugin.hosts.vlmevalkit.earlier.kept import Place, find_kept
from dtvqa_plugin.hosts.vlmevalkit.host import need_host
from dtvqa_plugin.hosts.vlmevalkit.launcher import run_vlmutil
from dtvqa_plugin.predictions.reader import read_predictions

HOST = need_host()


def api_mode(bench: Bench, *arguments: str) -> HostRun:
    options = ["--model", "org/served", "--base-url", bench.server.url, "--retry", "1"]
    options += ["--api-mode", "--debug", "--monitor-interval", "1", "--reuse"]
    return bench.start("--data", NAME, "--work-dir", str(bench.out), *options, *arguments)


@pytest.mark.skipif(
    not (HOST.package / "inference_api.py").is_file(),
    reason=f"{HOST.distribution} {HOST.version} has no --api-mode",
)
def test_api_mode_keeps_and_refuses_like_the_local_mode(bench: Bench) -> None:
    first = api_mode(bench, "--max-tokens", "100")
    assert first.status == 0, first.output
    asked = bench.server.count
    assert asked >= len(QUESTIONS)
    again = api_mode(bench, "--max-tokens", "100")
    assert again.status == 0, again.output
    assert "3 of 3 answers are from the run of " in again.output
    refused = api_mode(bench, "--max-tokens", "4096")
    assert refused.status == 1, refused.output
    assert "max_tokens: 100 -> 4096" in refused.output
    assert "--ask-again" in refused.output
    bench.write({**QUESTIONS, "Food/1": "Protein?"})
    edited = api_mode(bench, "--max-tokens", "100")
    assert edited.status == 1, edited.output
    assert '"Calories?" -> "Protein?"' in edited.output
    assert bench.server.count == asked

    moved = api_mode(bench, "--max-tokens", "100", "--ask-again")
    assert moved.status == 0, moved.output
    assert bench.server.count == 2 * asked


def test_scoring_alone_refuses_answers_to_other_questions(bench: Bench) -> None:
    assert bench.run("--reuse").status == 0
    path = bench.predictions()
    summary = path.with_name(f"{path.stem}_summary.json")
    before = summary.read_bytes()
    bench.write({**QUESTIONS, "Food/1": "Protein?"})
    tool = bench.call(run_vlmutil, "eval", str(path))
    assert tool.status == 1, tool.output
    assert '"Calories?" -> "Protein?"' in tool.output
    script = bench.run("--mode", "eval", "--reuse")
    assert script.status == 1, script.output
    if "invalid choice: 'eval'" not in script.output:  # nvidia-vlmeval 26.3 has no such mode
        assert '"Calories?" -> "Protein?"' in script.output
    assert summary.read_bytes() == before


def test_an_answer_file_that_breaks_off_is_moved_away_and_asked_again(bench: Bench) -> None:
    """The host writes these files in place: a kill may leave one that it cannot read itself."""
    assert bench.run("--reuse").status == 0
    path = bench.predictions()
    answers = {name: f"answer to {text}" for name, text in QUESTIONS.items()}
    whole = pickle.dumps(answers)
    for name in ("checkpoint", "supp"):
        path.with_name(f"mine_{NAME}_{name}.pkl").write_bytes(whole[: len(whole) // 2])
    path.unlink()
    again = bench.run("--reuse")
    assert again.status == 0, again.output
    assert ".pkl.broken, asking again" in again.output
    assert bench.server.count == 2 * len(QUESTIONS)
    assert bench.summary()["answers"]["asked"] == len(QUESTIONS)
    assert list(bench.out.rglob("*.pkl.broken"))


def test_the_record_of_answers_that_the_host_copied_without_it(bench: Bench) -> None:
    """nvidia-vlmeval copies the prediction file, or the pickles, to the folder of a new day."""
    assert bench.run("--reuse").status == 0
    path = bench.predictions()
    first, second = (bench.folder / name for name in ("T20290101_G1", "T20290102_G1"))
    first.mkdir()
    second.mkdir()
    copied = Path(shutil.copy(path, second))
    record = Path(shutil.copy(path.with_name(f"{path.stem}_asked.json"), first))
    found = fitting_record(copied, read_predictions(copied))
    assert found == read_asked(record)
    assert found is not None

    write_asked(record, replace(found, answers="of other answers"))
    assert fitting_record(copied, read_predictions(copied)) is None

    copied.unlink()
    place = Place(second, "mine", NAME)
    (second / f"mine_{NAME}_checkpoint.pkl").write_bytes(pickle.dumps({"Food/0": "answer"}))
    assert record_of(place, find_kept(place, copied)) is None
    write_asked(record, replace(found, answers=None))  # as a run that was killed leaves it
    assert record_of(place, find_kept(place, copied)) == read_asked(record)


def fewer_questions(bench: Bench) -> list[str]:
    bench.write({"Food/0": QUESTIONS["Food/0"]})
    return []


def limit(bench: Bench) -> list[str]:
    if "limit" not in inspect.signature(infer_data_job).parameters:
        pytest.skip(f"{HOST.distribution} {HOST.version} has no --limit")
    return ["--limit", "1"]


@pytest.mark.parametrize("narrow", [fewer_questions, limit])
def test_a_run_with_fewer_questions_loses_no_answer(narrow: object, bench: Bench) -> None:
    """The host writes the file again with this run's rows alone."""
    assert callable(narrow)
    bench.failing = {"Weight?"}
    assert bench.run("--reuse").status == 0
    bench.failing = set()
    before = bench.predictions().read_bytes()
    narrower = bench.run("--reuse", *narrow(bench))
    assert narrower.status == 0, narrower.output
    assert bench.summary()["scores"]["Overall"]["n"] == 1
    assert "2 earlier answers are to questions that this run does not ask" in narrower.output
    copies = [path.read_bytes() for path in bench.out.rglob(f".moved-aside/*/mine_{NAME}.*")]
    assert before in copies
    asked = read_asked(bench.predictions().with_name(f"mine_{NAME}_asked.json"))
    assert asked is not None
    assert set(asked.questions) == set(QUESTIONS)


def test_only_the_answers_that_the_host_takes_up_are_counted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run killed with two processes leaves files that a run with one does not read."""
    place = Place(bench.folder, "mine", NAME)
    for rank, name in enumerate(("Food/0", "Food/1")):
        content = pickle.dumps({name: "answer"})
        (bench.folder / f"{rank}2_{NAME}.pkl").write_bytes(content)
    path = bench.folder / f"mine_{NAME}.tsv"
    assert find_kept(place, path).names == frozenset()
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert find_kept(place, path).names == {"Food/0", "Food/1"}
    assert len(place.pickles()) == 2
