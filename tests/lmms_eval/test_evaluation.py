"""Whole evaluations in this process: the host asks a server on loopback, we score."""

from __future__ import annotations

import inspect
import io
import json
import logging
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

from lmms_host import evaluate, scores_of, task_manager
from loopback import LoopbackOpenAI, image_of, parts, text_of
from PIL import Image
from reference_scorer import slow_score
from released_layout import SIZES, answers_of, make_release

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.data import records
from dtvqa_plugin.metrics import prepare

PAPER_KEYS = ("accanls", "anls", "acc")


QUESTION = re.compile(r"What does label (\d+) of (\w+) say\?")


def label_of(request: dict[str, Any]) -> int:
    """The number of the question asked."""
    found = QUESTION.search(text_of(request))
    assert found is not None
    return int(found[1])


def reply(request: dict[str, Any]) -> str:
    """Right for even labels (wordy for 4), one letter off for odd ones."""
    found = QUESTION.search(text_of(request))
    assert found is not None
    number = int(found[1])
    answer = answers_of(found[2], number)[0]
    if number == 4:
        return f"The label in the picture clearly says {answer}, as far as one can see."
    return answer if number % 2 == 0 else f"{answer[:-1]}~"


@pytest.fixture
def server() -> Iterator[LoopbackOpenAI]:
    with LoopbackOpenAI(reply) as running:
        yield running


def expected_rows(tasks: dict[str, list[dict[str, Any]]], subsets: list[str]) -> dict[str, float]:
    rows = [sample for name in subsets for sample in tasks[name]]
    return {key: sum(sample[key] for sample in rows) / len(rows) for key in PAPER_KEYS}


def recompute(samples: list[dict[str, Any]], subset: str) -> None:
    """Each logged score equals the slow scorer's, from the raw output and the released answers."""
    answers = {record.question_id: list(record.answers) for record in records("test", subset)}
    for sample in samples:
        raw = sample["resps"][0][0]
        slow = slow_score(prepare(raw).text, answers[sample["dtvqa"]["question_id"]])
        assert (sample["anls"], sample["acc"], sample["accanls"]) == slow


@pytest.mark.parametrize("simple", [False, True], ids=["chat", "simple"])
def test_both_conditions_score_exactly_and_reach_the_model_word_for_word(
    small_home: Path, server: LoopbackOpenAI, simple: bool
) -> None:
    results = evaluate(server, ["dtvqa", "dtvqa_prompted"], log_samples=True, force_simple=simple)
    assert len(server.requests) == 2 * sum(SIZES.values())
    asked = sorted(text_of(request) for request in server.requests)
    questions = [record.question for record in records("test")]
    assert asked == sorted(questions + [PAPER_INSTRUCTION + question for question in questions])
    for request in server.requests:
        # The order is ours in chat runners; the host's simple openai runner puts the text first.
        order = ["text", "image"] if simple else ["image", "text"]
        assert [kind for kind, _ in parts(request)] == order
        assert Image.open(io.BytesIO(image_of(request))).size == (160, 64)
    for suffix, prompt in (("", "none"), ("_prompted", "paper")):
        names = [f"dtvqa_{subset.task}{suffix}" for subset in SUBSETS.values()]
        for name, subset in zip(names, SUBSETS, strict=True):
            recompute(results["samples"][name], subset)
            assert {sample["dtvqa"]["condition"] for sample in results["samples"][name]} == {prompt}
            alone = expected_rows(results["samples"], [name])
            assert scores_of(results, name) == pytest.approx(alone, abs=0)
        group = expected_rows(results["samples"], names)
        assert scores_of(results, f"dtvqa{suffix}") == pytest.approx(group, abs=1e-15)
        assert len(set(group.values())) == 3, "the three metrics must differ for this to say much"


def test_a_second_run_in_the_process_gives_the_same(
    small_home: Path, server: LoopbackOpenAI
) -> None:
    first = evaluate(server, ["dtvqa"], log_samples=True)
    second = evaluate(server, ["dtvqa"], log_samples=True)
    assert first["results"] == second["results"]
    for task, samples in first["samples"].items():
        assert [sample["dtvqa"] for sample in samples] == [
            sample["dtvqa"] for sample in second["samples"][task]
        ]


def test_every_row_has_the_same_keys_in_the_same_order_failed_ones_too(
    small_home: Path,
) -> None:
    from lmms_eval import evaluator

    outputs = ["", "<think>Word1 perhaps", "Failed to obtain answer via API.", "Word3", "x"]
    threads = "process_docs_parallel"  # not every version has it
    known = inspect.signature(evaluator.simple_evaluate).parameters
    more = {threads: 4} if threads in known else {}
    with LoopbackOpenAI(lambda request: outputs[label_of(request)]) as server:
        results = evaluate(server, ["dtvqa_scene"], log_samples=True, **more)
    samples = results["samples"]["dtvqa_scene"]
    assert len({json.dumps([list(s), list(s["dtvqa"])]) for s in samples}) == 1
    reasons = [sample["unanswered"] for sample in samples]
    assert reasons == ["empty", "truncated", "failed", None, None]
    assert results["results"]["dtvqa_scene"]["unanswered,none"] == 3
    assert results["results"]["dtvqa_scene"]["accanls,none"] == 1 / 5


@pytest.mark.parametrize(
    ("output", "reason", "warned"),
    [
        ("<think>It says Word0, Word1, Word2", "truncated", "--gen_kwargs max_new_tokens"),
        ("", "empty", "--gen_kwargs max_new_tokens"),
        ("Failed to obtain answer via API.", "failed", "5 failed"),
    ],
)
def test_outputs_without_an_answer_are_counted_and_reported(
    small_home: Path,
    output: str,
    reason: str,
    warned: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        LoopbackOpenAI(lambda request: output) as server,
        caplog.at_level(logging.WARNING, "dtvqa_plugin"),
    ):
        results = evaluate(server, ["dtvqa_scene"], log_samples=True)
    assert scores_of(results, "dtvqa_scene") == dict.fromkeys(PAPER_KEYS, 0.0)
    assert {s["unanswered"] for s in results["samples"]["dtvqa_scene"]} == {reason}
    (message,) = [r.getMessage() for r in caplog.records if "got no answer" in r.getMessage()]
    assert warned in message


def test_reasoning_is_stripped_and_the_raw_output_stays_in_the_log(small_home: Path) -> None:
    def think(request: dict[str, Any]) -> str:
        return f"<think>Word0 Word1 Word2 Word3 Word4</think>{reply(request)}"

    with LoopbackOpenAI(think) as server:
        results = evaluate(server, ["dtvqa_scene"], log_samples=True)
    for sample in results["samples"]["dtvqa_scene"]:
        assert "<think>" in sample["resps"][0][0]
        assert "<think>" not in sample["dtvqa"]["prediction"]
    assert results["results"]["dtvqa_scene"]["acc,none"] == 3 / 5


def one_question(folder: Path, answers: list[str]) -> Path:
    release = make_release(folder)
    path = release / "test/DTProdCap.json"
    rows = json.loads(path.read_text())[:1]
    rows[0]["answers"] = answers
    path.write_text(json.dumps(rows))
    return release


@pytest.mark.parametrize(
    ("answers", "output", "anls", "acc"),
    [
        (["cut", "zzz"], "cat", 1 - 1 / 3, 0.0),  # not 1: the nearest answer counts, by distance
        (["12g"], "12g or 15g", 0.0, 1.0),  # containment's known limit
        (["ab"], "ax", 0.0, 0.0),  # a normalised distance of exactly 0.5 scores 0
    ],
)
def test_awkward_cases_keep_their_value_through_the_hosts_aggregation(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: list[str],
    output: str,
    anls: float,
    acc: float,
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(one_question(tmp_path / "DT-VQA", answers)))
    with LoopbackOpenAI(lambda request: output) as server:
        results = evaluate(server, ["dtvqa_prodcap"])
    expected = {"accanls": acc or anls, "anls": anls, "acc": acc}
    assert scores_of(results, "dtvqa_prodcap") == expected


def doc_ids(results: dict[str, Any], task: str) -> list[int]:
    return [sample["doc_id"] for sample in results["samples"][task]]


@pytest.mark.parametrize(
    ("options", "scene", "tabshot"),
    [
        ({"limit": 2}, [0, 1], [0, 1]),
        ({"limit": 2, "offset": 1}, [1, 2], [1, 2]),
        ({"limit": -1, "offset": 3}, [3, 4], [3]),
        # The host turns the fraction into a count on the first task (5 questions: 2) and uses
        # that for all: give a whole number, or run one task at a time.
        ({"limit": 0.4}, [0, 1], [0, 1]),
    ],
)
def test_limit_and_offset_choose_the_rows_they_say(
    small_home: Path,
    server: LoopbackOpenAI,
    options: dict[str, Any],
    scene: list[int],
    tabshot: list[int],
) -> None:
    results = evaluate(server, ["dtvqa_scene", "dtvqa_tabshot"], log_samples=True, **options)
    assert doc_ids(results, "dtvqa_scene") == scene
    assert doc_ids(results, "dtvqa_tabshot") == tabshot
    alone = expected_rows(results["samples"], ["dtvqa_scene"])
    assert scores_of(results, "dtvqa_scene") == pytest.approx(alone, abs=0)


def test_predict_only_logs_outputs_and_gives_no_score(
    small_home: Path, server: LoopbackOpenAI
) -> None:
    results = evaluate(server, ["dtvqa_scene"], predict_only=True)
    assert results["results"]["dtvqa_scene"]["bypass,none"] == 999
    assert "accanls,none" not in results["results"]["dtvqa_scene"]
    assert len(results["samples"]["dtvqa_scene"]) == SIZES["DTScene"]


def counting(counter: list[int]) -> Callable[[dict[str, Any]], str]:
    def answers(request: dict[str, Any]) -> str:
        counter.append(1)
        return reply(request)

    return answers


@pytest.fixture
def no_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's cache keys hold the commit of the git repository around its installation.

    Here that is this repository, where ``.venv`` lies: a commit during a test changes the keys.
    """
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", sys.prefix)


@pytest.mark.usefixtures("no_repository")
def test_cached_answers_are_reused_until_the_data_change(
    small_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = make_release(tmp_path / "DT-VQA")
    monkeypatch.setenv("DTVQA_HOME", str(release))
    cache = {"use_cache": str(tmp_path / "cache")}
    calls: list[int] = []
    with LoopbackOpenAI(counting(calls)) as server:
        first = evaluate(server, ["dtvqa_scene"], **cache)
        assert len(calls) == 5
        again = evaluate(server, ["dtvqa_scene"], **cache)
        assert len(calls) == 5, "the second run asks nothing"
        assert first["results"] == again["results"]
        # The host's key does not hold the image; ours changes the table's name with it.
        image = release / "image/DTScene/test/0.png"
        Image.new("RGB", (99, 99)).save(image)
        evaluate(server, ["dtvqa_scene"], **cache)
        assert len(calls) == 10


@pytest.mark.usefixtures("no_repository")
def test_a_run_in_parts_through_the_cache_equals_the_whole(
    small_home: Path, tmp_path: Path
) -> None:
    # The host writes its cache when all answers are in: run in parts, then whole.
    cache = {"use_cache": str(tmp_path / "cache")}
    calls: list[int] = []
    with LoopbackOpenAI(counting(calls)) as server:
        whole = evaluate(server, ["dtvqa_scene"])
        calls.clear()
        evaluate(server, ["dtvqa_scene"], limit=3, **cache)
        evaluate(server, ["dtvqa_scene"], limit=3, offset=3, **cache)
        assert len(calls) == 5
        joined = evaluate(server, ["dtvqa_scene"], **cache)
        assert len(calls) == 5
    assert joined["results"] == whole["results"]


@pytest.mark.usefixtures("no_repository")
def test_the_host_caches_nothing_of_a_call_that_ends_half_way(
    small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Hence the recipe of running in parts.
    pytest.importorskip("rapidocr", reason="needs the extra: pip install 'dtvqa-plugin[ocr]'")
    from lmms_eval import evaluator

    asked: list[str] = []

    def answer(self: object, image: object, question: str) -> str:
        asked.append(question)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return question

    monkeypatch.setattr("dtvqa_plugin.ocr.OCRReader.answer", answer)
    run = {
        "model": "dtvqa_ocr",
        "tasks": ["dtvqa_scene"],
        "task_manager": task_manager(),
        "use_cache": str(tmp_path / "cache"),
    }
    with pytest.raises(KeyboardInterrupt):
        evaluator.simple_evaluate(**run)
    assert evaluator.simple_evaluate(**run)
    assert len(asked) == 4 + SIZES["DTScene"], "the three answers that were in are asked again"
    assert evaluator.simple_evaluate(**run)
    assert len(asked) == 4 + SIZES["DTScene"], "a whole call is kept"


def test_scores_are_python_floats_so_that_the_host_can_print_their_error(
    small_home: Path, server: LoopbackOpenAI
) -> None:
    results = evaluate(server, ["dtvqa_scene"], log_samples=True)
    for sample in results["samples"]["dtvqa_scene"]:
        assert all(type(sample[key]) is float for key in PAPER_KEYS)
    row = results["results"]["dtvqa_scene"]
    assert all(math.isfinite(row[f"{key}_stderr_clt,none"]) for key in PAPER_KEYS)
