"""strip_reasoning and prepare: the same text is scored whichever host hands it over."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reasoning_cases as cases
from hypothesis import given, settings
from hypothesis import strategies as st

from dtvqa_plugin.metrics import (
    Prepared,
    is_truncated_reasoning,
    prepare,
    score,
    strip_reasoning,
    suspected_reasoning,
)

# output, what is left of it
FINISHED = [
    ("12g", "12g"),
    (" 12g\n", " 12g\n"),
    ("", ""),
    ("<think>5g?</think>12g", "12g"),
    ("<think>\n5g?\n</think>\n\n12g", "\n\n12g"),
    ("A <think>5g?</think> 12g", "A  12g"),
    ("<THINK>5g</Think>12g", "12g"),
    ('<think budget="low">5g</think >12g', "12g"),
    ("<think>5g</think>12<think>6g</think>g", "12g"),
    ("<think></think>12g", "12g"),
    ("<think/>12g", "12g"),
    ("<thinking>5g</thinking>12g", "12g"),
    ("<thought>5g</thought>12g", "12g"),
    ("<analysis>5g</analysis>12g", "12g"),
    ("<reasoning>5g</reasoning>12g", "12g"),
    ("◁think▷5g◁/think▷12g", "12g"),
    # The prompt held the opening tag.
    ("5g?</think>12g", "12g"),
    ("5g <analysis>6g</analysis> 7g</think>12g", "12g"),
    # A thought that speaks of its tags, or a tag given twice.
    ("<think>I use <think> tags: 5g</think>12g", "12g"),
    ("<think>5g<think>6g</think>7g</think>12g", "12g"),
    ("<think>5g</analysis>6g</think>12g", "12g"),
    ("<think>5g</think>", ""),
    # No tags.
    ("a < b > c", "a < b > c"),
    ("<thinker>5g</thinker>", "<thinker>5g</thinker>"),
    ("<answer>12g</answer>", "<answer>12g</answer>"),
    ("think>12g", "think>12g"),
]

TRUNCATED = [
    "<think>It could be 12g",
    "<think>",
    "12g <think>or is it 15g",
    "<think>5g</think>12g<think>or",
    "<think>5g</thinking>12g",
    "◁think▷12g",
    "<think>5g</think",
    "<thi<think>x</think>nk>12g",  # built so that removal leaves a tag
    "</thi<think>x</think>nk>12g",
]


@pytest.mark.parametrize(("output", "rest"), FINISHED)
def test_reasoning_is_removed(output: str, rest: str) -> None:
    assert strip_reasoning(output) == rest
    assert not is_truncated_reasoning(output)
    assert prepare(output) == Prepared(rest.strip())


@pytest.mark.parametrize("output", TRUNCATED)
def test_reasoning_that_never_ends_leaves_no_answer(output: str) -> None:
    assert strip_reasoning(output) == ""
    assert is_truncated_reasoning(output)
    assert prepare(output) == Prepared("", truncated=True)
    assert score(prepare(output), ["12g"]).accanls == 0.0


@pytest.mark.parametrize(
    ("output", "rest"), [*cases.DEVELOPMENT, *cases.HELD_OUT], ids=lambda value: repr(value)[:60]
)
def test_other_notations_are_removed_too(output: str, rest: str | None) -> None:
    assert prepare(output) == Prepared(rest or "", truncated=rest is None)
    assert prepare(prepare(output).text) == Prepared(rest or "")


@pytest.mark.parametrize("output", [*cases.LEFT_ALONE, *cases.SUSPECTED, *cases.NOT_SUSPECTED])
def test_outputs_without_certain_marks_stay_as_they_are(output: str) -> None:
    assert strip_reasoning(output) == output
    assert not is_truncated_reasoning(output)


def test_thoughts_that_nothing_marks_are_suspected() -> None:
    assert [text for text in cases.SUSPECTED if suspected_reasoning(text) is None] == []
    assert [text for text in cases.NOT_SUSPECTED if suspected_reasoning(text)] == []


def test_neither_the_releases_answers_nor_ordinary_outputs_change(shared_dir: Path) -> None:
    """The released scorer's values hold through `prepare`, for the outputs without `<think>`."""
    with gzip.open(shared_dir / "golden" / "scores.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = {text for row in rows for text in (row["prediction"], *row["answers"])}
    texts = {text for text in texts if "think>" not in text.lower()}
    assert len(texts) > 5_000
    assert [text for text in texts if strip_reasoning(text) != text] == []
    answers = {answer for row in rows for answer in row["answers"]} & texts
    assert [answer for answer in answers if suspected_reasoning(answer)] == []


PIECES = [
    "<think>", "</think>", "<Think a=1>", "<think/>", "<thi", "nk>", "</", "<", ">", "/",
    "<analysis>", "</analysis>", "</thinking>", "◁think▷", "◁/think▷", "◁", "think", "▷",
    "[THINK]", "[/THINK]", "[TH", "<reason>", "</reason>", "<|channel|>analysis", "<|message|>",
    "<|channel|>final", "<|end|>", "analysis", "assistant", "final", "analysisWe need to do ",
    "12g", " ", "\n", "é",
]  # fmt: skip


@settings(deadline=None, max_examples=1_000)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_removal_is_idempotent(output: str) -> None:
    rest = strip_reasoning(output)
    assert strip_reasoning(rest) == rest
    assert not is_truncated_reasoning(rest)
    assert len(rest) <= len(output)
    prepared = prepare(output)
    assert prepare(prepared.text).text == prepared.text


@settings(deadline=None)
@given(st.text())
def test_text_without_tags_is_returned_as_it_is(text: str) -> None:
    if not any(word in text.lower() for word in ("think", "[", "<", "analysis")):
        assert strip_reasoning(text) == text


HOSTILE_UNITS = [
    "<think>", "<think>x</think>", "<think ", "<think/", "<", "◁think▷", "<\n", "[THINK]",
    "[think]<think/> ", "<scratchpad>", "<|channel|>analysis", "<|channel|>final<|end|>",
    "<|message|>", "analysis", "assistantfinal", "here is my thought process:", "wait, a ",
]  # fmt: skip


def test_hostile_outputs_are_scanned_in_linear_time() -> None:
    """Each unit 60,000 times: a few CPU seconds; a quadratic scan is stopped by the limit."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (120, 120));"
        "from dtvqa_plugin.metrics import strip_reasoning, suspected_reasoning;"
        "[(strip_reasoning(u * 60_000), suspected_reasoning(u * 60_000)) for u in sys.argv[1:]];"
        "print('done')"
    )
    command = [sys.executable, "-c", code, *HOSTILE_UNITS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


# what a host hands over, the text that is scored
VALUES = [
    (" 12g \n", "12g"),
    (["12g"], "12g"),
    (("12g",), "12g"),
    ([12], "12"),
    (12, "12"),
    (7.0, "7.0"),
    (np.int64(12), "12"),
    (np.float32(0.5), "0.5"),
    (np.str_("12g"), "12g"),
    (True, "true"),
    ([], "[]"),
    (["a", "b"], '["a", "b"]'),
    ({"answer": "12个月"}, '{"answer": "12个月"}'),
    ([["a"]], '["a"]'),
    (b"12g", '"<bytes>"'),
    (10**5_000, "<int>"),
    ({(1, 2): "a"}, "<dict>"),
    ({"x": object()}, '{"x": "<object>"}'),
    (Prepared("12g"), "12g"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=lambda value: type(value).__name__)
def test_prepare_makes_text_of_anything(value: object, text: str) -> None:
    assert prepare(value) == Prepared(text)


@pytest.mark.parametrize("value", [None, float("nan"), [None], "Failed to obtain answer via API."])
def test_prepare_keeps_a_failure(value: object) -> None:
    assert prepare(value) == Prepared("", failed=True)
    assert score(prepare(value), ["12g"]).failed


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no text for you")

    __str__ = __repr__


def test_prepare_never_raises_on_hostile_values() -> None:
    circular: list[object] = []
    circular.extend([circular, 1])
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep, 1]
    for value in (Hostile(), [Hostile()], [Hostile(), 1], circular, deep, object, np.zeros(3)):
        assert isinstance(prepare(value).text, str)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(json_values)
def test_prepare_takes_any_json_value(value: object) -> None:
    prepared = prepare(json.loads(json.dumps(value)))
    assert score(prepared, ["12g"]).failed == prepared.failed
