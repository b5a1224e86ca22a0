"""Awkward cases with their right values, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from reference_scorer import slow_score

from dtvqa_plugin.metrics import (
    DEFAULT_TAU,
    Score,
    corpus,
    is_failure,
    prepare,
    question,
    score,
    score_corpus,
)

NUTRITION = ["12g", "12 g", "12 grams"]

# prediction, answers, ANLS, Acc, AccANLS
CASES = [
    pytest.param("a" * 51 + "b" * 49, ["a" * 100], 1 - 0.49, 0.0, 1 - 0.49, id="NL 0.49 scores"),
    pytest.param("a" * 50 + "b" * 50, ["a" * 100], 0.0, 0.0, 0.0, id="NL 0.50 scores 0"),
    pytest.param("a" * 49 + "b" * 51, ["a" * 100], 0.0, 0.0, 0.0, id="NL 0.51 scores 0"),
    pytest.param("ab", ["ac"], 0.0, 0.0, 0.0, id="NL 0.50 of short texts"),
    pytest.param("cat", ["cut", "zzz"], 1 - 1 / 3, 0.0, 1 - 1 / 3, id="best answer, no mean"),
    pytest.param("12g", NUTRITION, 1.0, 1.0, 1.0, id="right"),
    pytest.param("12G", NUTRITION, 1.0, 1.0, 1.0, id="case"),
    pytest.param("12g.", NUTRITION, 0.75, 1.0, 1.0, id="full stop after it"),
    pytest.param("not 12g", ["12g"], 0.0, 1.0, 1.0, id="negation: known limit"),
    pytest.param("12g or 15g", ["12g"], 0.0, 1.0, 1.0, id="two answers: known limit"),
    pytest.param("112g", ["12g"], 0.75, 1.0, 1.0, id="part of a number: known limit"),
    pytest.param("１２ｇ", ["12g"], 0.0, 0.0, 0.0, id="full-width: no hit"),
    pytest.param("12  g", ["12 g"], 1 - 1 / 5, 0.0, 1 - 1 / 5, id="white space counts"),
    pytest.param(" 12 g\n", ["12 g"], 1 - 2 / 6, 1.0, 1.0, id="not stripped"),
    pytest.param("", NUTRITION, 0.0, 0.0, 0.0, id="empty output"),
    pytest.param("   ", ["a b c"], 0.0, 0.0, 0.0, id="blank output"),
    pytest.param("12个月", ["12 months", "12个月"], 1.0, 1.0, 1.0, id="Chinese"),
    # 'İ' is one code point; in lower case it is two, and NL divides by the length before.
    pytest.param("İ", ["İ"], 1.0, 1.0, 1.0, id="longer in lower case, equal"),
    pytest.param("abcde", ["İabcde"], 1 - 2 / 6, 0.0, 1 - 2 / 6, id="longer in lower case, near"),
    pytest.param("ab", ["İab"], 0.0, 0.0, 0.0, id="longer in lower case, far"),
    pytest.param("", ["İİ"], 0.0, 0.0, 0.0, id="longer in lower case, NL of 2"),
    pytest.param("\ud800x", ["\ud800y", "z"], 0.0, 0.0, 0.0, id="lone surrogate"),
    pytest.param("x" * 4000 + "12g", ["12g"], 0.0, 1.0, 1.0, id="long output with the answer"),
    pytest.param("x" * 4000, ["12g"], 0.0, 0.0, 0.0, id="long output without it"),
]


@pytest.mark.parametrize(("prediction", "answers", "anls", "acc", "accanls"), CASES)
def test_awkward_cases(
    prediction: str, answers: list[str], anls: float, acc: float, accanls: float
) -> None:
    expected = (anls, acc, accanls)
    single = score(prediction, answers)
    together = score_corpus([prediction], [answers])
    assert (single.anls, single.acc, single.accanls) == expected
    assert (together.anls[0], together.acc[0], together.accanls[0]) == expected
    assert slow_score(prediction, answers) == expected
    assert together[0] == single


@pytest.mark.parametrize("tau", [0.0, -0.5, 1.01, float("nan")])
def test_a_threshold_outside_its_range_is_refused(tau: float) -> None:
    with pytest.raises(ValueError, match="tau"):
        score("a", ["a"], tau)
    with pytest.raises(ValueError, match="tau"):
        score_corpus(["a"], [["a"]], tau=tau)


@pytest.mark.parametrize(
    ("prediction", "answers", "matched"),
    [
        pytest.param("2 grams", ["2", "2g", "2 grams"], "2 grams", id="whole output"),
        pytest.param("It is 2 grams.", ["2", "2 grams", "2g"], "2 grams", id="longest contained"),
        pytest.param("ab cd", ["cd", "ab"], "cd", id="first of equal length"),
        pytest.param("cat", ["zzz", "cut", "cit"], "cut", id="nearest, first of equal ones"),
        pytest.param("Cat", ["A", "Cats"], "A", id="contained before nearer"),
        pytest.param("dog", ["cat"], None, id="nothing near enough"),
        pytest.param("", ["cat"], None, id="empty output"),
        pytest.param(None, ["cat"], None, id="failed"),
    ],
)
def test_the_answer_that_matched(
    prediction: str | None, answers: list[str], matched: str | None
) -> None:
    assert score(prediction, answers).matched_answer == matched
    assert score_corpus([prediction], [answers]).matched_answers == [matched]


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(["cut", "zzz"], id="list"),
        pytest.param(("cut", "zzz"), id="tuple"),
        pytest.param(np.array(["cut", "zzz"]), id="array of text"),
        pytest.param(np.array(["cut", "zzz"], dtype=object), id="array of objects"),
        pytest.param(list(np.array(["cut", "zzz"])), id="list of numpy strings"),
    ],
)
def test_forms_of_answer_lists_that_are_taken(answers: list[str]) -> None:
    assert score("cat", answers) == score("cat", ["cut", "zzz"])
    assert score_corpus(["cat"], [answers])[0] == score("cat", ["cut", "zzz"])


BAD_ANSWERS = [
    pytest.param([], "no reference answers", id="none"),
    pytest.param((), "no reference answers", id="no answers in a tuple"),
    pytest.param(np.array([]), "no reference answers", id="no answers in an array"),
    pytest.param([""], "answer 0 is blank", id="empty answer"),
    pytest.param(["a", " \t\n"], "answer 1 is blank", id="blank answer"),
    pytest.param(["a", "\u3000"], "answer 1 is blank", id="ideographic space"),
    pytest.param(["a", None], "answer 1 is not a string but NoneType", id="None"),
    pytest.param([12], "answer 0 is not a string but int", id="number"),
    pytest.param([["a"]], "answer 0 is not a string but list", id="nested list"),
    pytest.param(np.array([1.5]), "answer 0 is not a string but float", id="array of numbers"),
    pytest.param("12g", "bare value '12g'; wrap it in a list", id="bare string"),
    pytest.param(b"12g", "bare value b'12g'; wrap it in a list", id="bytes"),
    pytest.param(np.array("12g"), "bare value '12g'; wrap it in a list", id="array without axes"),
    pytest.param("['a', 'b']", "list written as text", id="list as text"),
    pytest.param('["a", "b"]', "list written as text", id="JSON as text"),
    pytest.param({"a": 1}, "must be a list of strings, got dict", id="mapping"),
    pytest.param({"a"}, "must be a list of strings, got set", id="set"),
    pytest.param(None, "must be a list of strings, got NoneType", id="missing"),
    pytest.param(5, "must be a list of strings, got int", id="a number for a list"),
]


@pytest.mark.parametrize(("answers", "message"), BAD_ANSWERS)
def test_bad_answers_are_refused_by_name(answers: list[str], message: str) -> None:
    with pytest.raises(ValueError, match="question DTTabShot/5037: ") as single:
        score("12g", answers, question_id="DTTabShot/5037")
    with pytest.raises(ValueError, match="question B/2: ") as named:
        score_corpus(["x", "y"], [["x"], answers], question_ids=["A/1", "B/2"])
    with pytest.raises(ValueError, match="question at index 1: ") as numbered:
        score_corpus(["x", "y"], [["x"], answers])
    assert all(message in str(caught.value) for caught in (single, named, numbered))


def test_answers_written_as_text_are_never_evaluated() -> None:
    with pytest.raises(ValueError, match="list written as text"):
        score("x", "[print('evaluated')]")


def test_an_answer_that_looks_like_a_list_is_an_answer() -> None:
    assert score("[1]", ["[1]"]).accanls == 1.0


@pytest.mark.parametrize(
    "prediction",
    [12, 1.5, ["12g"], {"a": 1}, b"12g", True, 10**5_000],
    ids=lambda value: type(value).__name__,
)
def test_a_prediction_that_is_no_text_is_refused_by_name(prediction: object) -> None:
    with pytest.raises(ValueError, match=r"question A/1: .*metrics\.prepare"):
        score(prediction, ["12g"], question_id="A/1")
    with pytest.raises(ValueError, match=r"question at index 1: .*metrics\.prepare"):
        score_corpus(["x", prediction], [["12g"], ["12g"]])
    assert not score(prepare(prediction), ["12g"]).failed


FAILURES = [
    None,
    float("nan"),
    np.float64("nan"),
    np.float32("nan"),
    "Failed to obtain answer via API.",
    "Failed to obtain answer. Status code 500, content: 12g",
    "[LMMS_EVAL_REQUEST_FAILED after 3 retries] Error code: 500 - 12g",
    prepare(None),
]


@pytest.mark.parametrize("prediction", FAILURES, ids=repr)
def test_a_failed_question_scores_0_and_is_counted(prediction: object) -> None:
    assert is_failure(prediction)
    single = score(prediction, ["12g"])
    assert single == Score(0.0, 0.0, 0.0, None, True, "", ("12g",))
    assert (single.exact_match, single.acc_word, single.length_ratio) == (False, False, None)
    together = score_corpus(["12g", prediction], [["12g"], ["12g"]])
    assert together.failed.tolist() == [False, True]
    assert together[1] == single
    overall = together.overall
    assert (overall.n, overall.failed, overall.accanls) == (2, 1, 0.5)


def test_missing_values_of_pandas_are_failures() -> None:
    pandas = pytest.importorskip("pandas")
    assert is_failure(pandas.NA)
    assert is_failure(pandas.NaT)
    assert score_corpus(pandas.Series([None, "12g"]), [["12g"], ["12g"]]).failed.tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    "prediction", ["", "nan", "None", "N/A", "I failed to obtain answer", "[LMMS_EVAL] 12g"]
)
def test_text_is_not_a_failure(prediction: str) -> None:
    assert not is_failure(prediction)
    assert not score(prediction, ["12g"]).failed


@pytest.mark.parametrize("prediction", ["x" * 4000, "12g " * 1000, ""])
def test_where_the_length_rules_a_score_out_no_distance_is_computed(
    prediction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError("a distance was computed")

    monkeypatch.setattr(question.Levenshtein, "distance", unexpected)
    assert score(prediction, ["12g"]).anls == 0.0
    with pytest.raises(AssertionError):  # the guard works
        score("12x", ["12g"])


def test_a_long_output_that_cannot_score_costs_a_corpus_no_distance() -> None:
    """With the cut-off the distance of such a pair is not computed: 1.0 is returned for it."""
    prediction = "12g" + "x" * 3_997
    assert corpus._distances(["12g"], [prediction], DEFAULT_TAU).tolist() == [1.0]
    assert corpus._distances(["12g"], [prediction], 1.0).tolist() == [1 - 3 / 4_000]
    assert score_corpus([prediction] * 2, [["12g"]] * 2).overall.anls == 0.0
