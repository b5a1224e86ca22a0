"""Reading pairs out of models' answers: the table of shapes, and that nothing is lost."""

from __future__ import annotations

import time

import pytest
from annotate.answer_shapes import SHAPES, Shape
from hypothesis import given
from hypothesis import strategies as st

from dtvqa_plugin.annotate.answers import read_answer


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_answer_shape(shape: Shape) -> None:
    parsed = read_answer(shape.text)
    wanted = [(q, a if isinstance(a, tuple) else (a,)) for q, a in shape.pairs]
    assert [(pair.question, pair.answers) for pair in parsed.pairs] == wanted
    assert parsed.refusal is shape.refusal
    unread = "\n".join(parsed.unread)
    assert all(text in unread for text in shape.unread)
    assert bool(parsed.unread) is bool(shape.unread), parsed.unread


def test_table_is_large_enough() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 60


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_segments_are_the_whole_text(shape: Shape) -> None:
    _assert_tiles(shape.text)


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
    _assert_tiles(text)


def _assert_tiles(text: str) -> None:
    parsed = read_answer(text)
    assert "".join(text[s.start : s.end] for s in parsed.segments) == text
    for pair in parsed.pairs:
        assert pair.question.strip()
        assert pair.answers
        assert all(answer.strip() for answer in pair.answers)


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
def test_hostile_text_takes_no_time(name: str) -> None:
    started = time.process_time()
    _assert_tiles(HOSTILE[name])
    assert time.process_time() - started < 5
