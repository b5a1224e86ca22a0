"""Marks and edits: what is shown of an output, checked against the texts themselves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from dtvqa_plugin.metrics.scored import score_answer
from dtvqa_plugin.report.html.edits import (
    EXTRA,
    GAP,
    MATCH,
    MISSING,
    PLAIN,
    Piece,
    edit,
    excerpt,
    excerpt_beyond,
    mark_match,
    nearest,
)

# İ is two characters when lower-cased; ß and the final sigma have their own rules.
TEXT = st.text(st.sampled_from("abAB 12.İßΣς中é\u0301\n"), max_size=24)


def joined(pieces: list[Piece], *kinds: str) -> str:
    return "".join(str(text) for kind, text in pieces if kind in kinds)


@pytest.mark.parametrize(
    ("text", "answer", "marked"),
    [
        ("It says Harbour Lane.", "harbour lane", ["Harbour Lane"]),
        ("5 and 15", "5", ["5", "5"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("İstanbul Café", "café", ["Café"]),
        ("İİ x", "x", ["x"]),
        ("净含量：250克", "250克", ["250克"]),
        ("nothing here", "absent", []),
        ("anything", "", []),
    ],
)
def test_every_occurrence_of_the_answer_is_marked(
    text: str, answer: str, marked: list[str]
) -> None:
    assert [text[start:stop] for start, stop in mark_match(text, answer)] == marked


def folded(text: str) -> str:
    """A sigma at the end of a text lower-cases to another letter than one inside it."""
    return text.replace("ς", "σ")


@given(TEXT, TEXT)
@settings(max_examples=300, deadline=None)
def test_marks_are_where_the_metric_finds_the_answer(text: str, answer: str) -> None:
    spans = mark_match(text, answer)
    assert bool(spans) == (answer != "" and answer.lower() in text.lower())
    for start, stop in spans:
        assert folded(answer.lower()) in folded(text[start:stop].lower())
    assert all(a[1] <= b[0] or a[1] - 1 == b[0] for a, b in pairwise(spans))


@given(TEXT, TEXT)
@settings(max_examples=300, deadline=None)
def test_an_edit_spells_the_output_as_it_was_written(answer: str, text: str) -> None:
    pieces = edit(answer, text)
    assert joined(pieces, PLAIN, EXTRA) == text
    assert all(piece[1] for piece in pieces)


@given(st.text("abc12 ", max_size=16), st.text("abc12 ", max_size=16))
@settings(max_examples=200, deadline=None)
def test_an_edit_starts_at_the_reference_and_is_a_smallest_one(answer: str, text: str) -> None:
    pieces = edit(answer, text)
    assert joined(pieces, PLAIN, MISSING) == answer
    steps = 0
    for place, (kind, piece) in enumerate(pieces):
        size = len(str(piece))
        replaced = kind == EXTRA and place and pieces[place - 1][0] == MISSING
        before = len(str(pieces[place - 1][1])) if replaced else 0
        steps += max(0, size - before) if replaced else (size if kind != PLAIN else 0)
    assert steps == Levenshtein.distance(answer, text)


def test_case_is_no_edit() -> None:
    assert edit("Harbour Lane", "HARBOUR LANES") == [(PLAIN, "HARBOUR LANE"), (EXTRA, "S")]


@pytest.mark.parametrize(
    ("text", "answers", "best", "distance"),
    [
        ("helo", ["world", "Hello"], "Hello", 0.2),
        ("3.5", ["3.5g", "3.5"], "3.5", 0.0),
        ("", ["a"], "a", 1.0),
    ],
)
def test_the_nearest_reference(text: str, answers: list[str], best: str, distance: float) -> None:
    assert nearest(text, answers) == (best, distance)


@pytest.mark.parametrize(
    ("length", "answer_at"), [(10, 0), (3000, 0), (3000, 90), (3000, 1500), (3000, 2994)]
)
def test_an_excerpt_is_bounded_counts_what_it_leaves_out_and_keeps_the_match(
    length: int, answer_at: int
) -> None:
    text = "." * answer_at + "answer" + "." * (length - answer_at - 6)
    pieces = excerpt(text[:length], mark_match(text, "answer"), 120, len(text))
    shown = joined(pieces, PLAIN, MATCH)
    left_out = sum(int(count) for kind, count in pieces if kind == GAP)
    assert len(shown) <= 120
    assert len(shown) + left_out == len(text)
    assert joined(pieces, MATCH) == "answer"


def test_an_output_cut_before_it_reached_the_page_says_so() -> None:
    assert excerpt("abc", [], 100, 5000) == [(PLAIN, "abc"), (GAP, 4997)]


@pytest.mark.parametrize("limit", [300, 833, 4_000])
@pytest.mark.parametrize("answer", ["Harbour Lane", "x" * 3_000], ids=["short", "long"])
def test_an_answer_beyond_what_was_kept_is_shown_with_what_stands_around_it(
    limit: int, answer: str
) -> None:
    output = "." * 9_000 + f"it says {answer.upper()} twice, {answer}" + "." * 2_000
    kept = score_answer(output, [answer], "Q/1").cut(4_000)
    assert kept.passage is not None
    pieces = excerpt_beyond(kept.text, kept.passage, limit, kept.length)
    shown = joined(pieces, PLAIN, MATCH)
    assert len(shown) <= limit
    assert len(shown) + sum(int(n) for kind, n in pieces if kind == GAP) == len(output)
    assert joined(pieces, MATCH) == answer.upper()[: len(joined(pieces, MATCH))] != ""
    assert "it says " in joined(pieces, PLAIN)


@pytest.mark.parametrize(
    ("output", "answers"), [("no " * 5_000, ["absent"]), ("early " + "." * 9_000, ["early"])]
)
def test_an_output_without_a_later_answer_keeps_its_beginning_alone(
    output: str, answers: list[str]
) -> None:
    assert score_answer(output, answers, "Q/1").cut(4_000).passage is None
