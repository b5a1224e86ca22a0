"""Reading pairs out of models' answers: tables of shapes, and that nothing is lost."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from annotate.answer_shapes import SHAPES, Shape
from hypothesis import given
from hypothesis import strategies as st

from dtvqa_plugin.annotate.answers import DEFAULT, read_answer

HERE = Path(__file__).parent


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_answer_shape(shape: Shape) -> None:
    parsed = read_answer(shape.text)
    wanted = [(q, a if isinstance(a, tuple) else (a,)) for q, a in shape.pairs]
    assert [(pair.question, pair.answers) for pair in parsed.pairs] == wanted
    assert parsed.refusal is shape.refusal
    unread = "\n".join(parsed.unread)
    assert all(text in unread for text in shape.unread)
    assert bool(parsed.unread) is bool(shape.unread), parsed.unread


def cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


CASES = [
    case
    for part in ("seen", "held", "late", "odd", "fresh", "unseen")
    for case in cases(HERE / f"answer_cases_{part}.jsonl")
]
UNREAD_FOR_NOW = {"json key residue"}
"""Shapes whose pairs are not read; they must be unread as a whole."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['name']}")
def test_answer_case(case: dict[str, Any]) -> None:
    reading = read_answer(case["text"])
    found = [[pair.question, *pair.answers] for pair in reading.pairs]
    if case["name"] in UNREAD_FOR_NOW or case.get("unread_for_now"):
        assert (found, bool(reading.unread)) == ([], True)
        return
    assert found == case["pairs"] if case.get("read_for_now") is None else case["read_for_now"]
    assert reading.refusal is case["refusal"]
    assert reading.unread or not case["unread"]


def _every_line(text: str, before: str, after: str) -> str:
    lines = text.split("\n")
    return "\n".join(f"{before}{line}{after}" if line.strip() else line for line in lines)


def _other_label(text: str, words: str, label: str) -> str:
    return re.sub(rf"(?m)^(\W*)(?:{words})( ?\d*)[:：]", rf"\1{label}\2:", text)


DAMAGES: dict[str, Callable[[str], str]] = {
    **{f"lead {mark!r}": partial(_every_line, before=mark, after="") for mark in "❓※◆…}|→"},
    "lead of a task": partial(_every_line, before="- [ ] ", after=""),
    **{
        f"tail {mark!r}": partial(_every_line, before="", after=mark)
        for mark in ("\\", ";", ",", " |", " ✅", "**", " //", " →", "```", " --", " #")
    },
    "labels of an unknown language": lambda text: _other_label(
        _other_label(text, "Q|Question|Frage", "Ceist"), "A|Answer|Antwort", "Freagra"
    ),
    "questions' labels unknown": partial(_other_label, words="Q|Question|Frage", label="Ceist"),
    "signs in place of colons": lambda text: re.sub(r"(?m)^(\W*\w+ ?\d*)[:：] ", r"\1 ~ ", text),
    "an unknown remark": lambda text: text.replace("\n", "\nBounding box: [1, 2, 3, 4]\n"),
    "a remark in Chinese": lambda text: text.replace("\n", "\n依据：图片左上角\n"),
}
"""Ways to write an answer that no rule knows. What is read of it must be right as it is."""


@pytest.mark.parametrize("damage", DAMAGES)
def test_no_pair_holds_what_no_rule_knows(damage: str) -> None:
    wrong = []
    for case in CASES:
        right = {(pair[0], *pair[1:]) for pair in case["pairs"]}
        reading = read_answer(DAMAGES[damage](case["text"]))
        found = {(pair.question, *pair.answers) for pair in reading.pairs}
        wrong += [(case["name"], *pair) for pair in found - right]
    assert wrong == []


def test_shared_answer_cases(shared_dir: Path) -> None:
    for case in cases(shared_dir / "cases" / "annotate_answers.jsonl"):
        reading = read_answer(case["text"])
        found = [[pair.question, *pair.answers] for pair in reading.pairs]
        assert found == case["pairs"], case["name"]


def test_labels_can_be_extended() -> None:
    text = "Ceist 1: Cad é an praghas?\nFreagra 1: 3 €"
    assert not read_answer(text).pairs
    (pair,) = read_answer(text, DEFAULT.extended(["Ceist"], ["Freagra"])).pairs
    assert (pair.question, pair.answers, pair.number) == ("Cad é an praghas?", ("3 €",), 1)


@pytest.mark.parametrize("text", [s.text for s in SHAPES] + [case["text"] for case in CASES])
def test_every_word_is_in_a_pair_or_reported(text: str) -> None:
    _assert_nothing_lost(text)


_PIECES = st.sampled_from(
    [
        *(
            "Q1: ",
            "A1: ",
            "Question: ",
            "答：",
            "1. ",
            "- ",
            "**",
            "```json\n",
            "```",
            "{",
            "}",
            "[",
        ),
        *('"question": ', '"a"', ",", "|", "|---|---|\n", "<q>", "</q>", "<a>", "</a>", "<think>"),
        *("What?", "42", "？", "\n", "\n\n", " ", "Sorry, I can't", "\\", "\x00", "\ud800", "\r\n"),
    ]
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_any_text_is_read_without_loss(text: str) -> None:
    _assert_nothing_lost(text)


_SAID = {
    *(
        "q",
        "a",
        "question",
        "answer",
        "ques",
        "ans",
        "questions",
        "answers",
        "pair",
        "user",
        "human",
    ),
    *("assistant", "input", "output", "correct", "final", "short", "ground", "truth", "no", "json"),
    *(
        "python",
        "csv",
        "answer:",
        "easy",
        "pairs",
        "b",
        "br",
        "p",
        "strong",
        "qa",
        "li",
        "dl",
        "dt",
    ),
    *("dd", "details", "summary", "td", "tr", "th", "table", "im_end", "n", "r", "x", "key"),
}
"""Words of labels and markup: all that may stand outside pairs, remarks and unread stretches."""


def _assert_nothing_lost(text: str) -> None:
    reading = read_answer(text)
    covered = bytearray(len(text))
    spans = [*reading.unread_spans, *reading.remarks]
    for pair in reading.pairs:
        assert pair.question.strip()
        assert pair.answers
        assert all(answer.strip() for answer in pair.answers)
        spans += [pair.question_span, *pair.answer_spans]
        start, end = pair.question_span
        assert pair.question[:3] in html.unescape(text[start:end]) or "\\" in text[start:end]
    for start, end in spans:
        assert 0 <= start <= end <= len(text)
        covered[start:end] = b"\1" * (end - start)
    if reading.refusal:
        return
    left = "".join(" " if held else char for char, held in zip(text, covered, strict=True))
    left = re.sub(r"\b(?:Q|A|Question) ?\d* \([^()\n]{1,30}\)", " ", left)
    left = re.sub(r"```[\w+-]*|<\|\w+\|>|\\n|[一二三]", " ", left)
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", left).casefold())
    known = {word for side in (DEFAULT.questions, DEFAULT.answers) for word in side}
    known |= {part for word in known for part in re.findall(r"[^\W\d_]+", word)} | {
        *("one", "two", "i", "ii", "č", "id"),
        "p",
        "r",
        "в",
        "о",
        "第",
        "س",
        "ج",
        "of",
    }
    assert [word for word in words if word not in _SAID | known] == []


HOSTILE = {
    "brackets": "[" * 100_000,
    "objects": '{"a":' * 20_000,
    "open strings": '{"a":"' * 15_000,
    "stars": "**" * 50_000,
    "labels": "Q: " * 30_000,
    "numbered labels": "Q1: " * 15_000,
    "answer labels": "?A:" * 30_000,
    "bars": "| " * 50_000,
    "rules": "|---" * 20_000,
    "fences": "```\n" * 20_000,
    "tags": "<q>a</q><a>" * 8_000,
    "notes": "(Note: " * 15_000,
    "blanks": " " * 50_000 + "x",
    "one long answer": "Q: a?\nA: " + "b\n" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_to_its_end(name: str) -> None:
    read_answer(HOSTILE[name])
