"""score_corpus: arrays, means, and what it checks."""

from __future__ import annotations

import numpy as np
import pytest
from reference_scorer import mean, slow_score

from dtvqa_plugin.metrics import References, prepare, score, score_corpus

PREDICTIONS = ["12g", "cat", None, "dog", "I see 5 g here"]
ANSWERS = [["12g"], ["cut", "zzz"], ["left"], ["cat"], ["5g", "5 g"]]
SUBSETS = ["tab", "scene", "tab", "scene", "tab"]


def test_arrays_follow_the_questions() -> None:
    scores = score_corpus(PREDICTIONS, ANSWERS)
    assert scores.anls.tolist() == [1.0, 1 - 1 / 3, 0.0, 0.0, 0.0]
    assert scores.acc.tolist() == [1.0, 0.0, 0.0, 0.0, 1.0]
    assert scores.accanls.tolist() == [1.0, 1 - 1 / 3, 0.0, 0.0, 1.0]
    assert scores.failed.tolist() == [False, False, True, False, False]
    assert scores.matched_answers == ["12g", "cut", None, None, "5 g"]
    assert scores.anls.dtype == scores.acc.dtype == scores.accanls.dtype == np.float64
    assert len(scores) == 5


def test_each_entry_is_the_score_of_its_question() -> None:
    scores = score_corpus(PREDICTIONS, ANSWERS)
    singles = [score(p, a) for p, a in zip(PREDICTIONS, ANSWERS, strict=True)]
    assert list(scores) == singles
    assert scores[-1] == singles[-1]
    assert type(scores[1].anls) is float
    with pytest.raises(IndexError):
        scores[5]


def test_means_are_over_all_questions_failed_ones_too() -> None:
    scores = score_corpus(PREDICTIONS, ANSWERS, SUBSETS)
    assert scores.overall.n == 5
    assert scores.overall.failed == 1
    assert scores.overall.accanls == mean([1.0, 1 - 1 / 3, 0.0, 0.0, 1.0])
    assert list(scores.by_subset) == ["tab", "scene"]
    assert (scores.by_subset["tab"].n, scores.by_subset["tab"].failed) == (3, 1)
    assert scores.by_subset["tab"].acc == mean([1.0, 0.0, 1.0])
    assert scores.by_subset["scene"].anls == mean([1 - 1 / 3, 0.0])
    assert score_corpus(PREDICTIONS, ANSWERS).by_subset == {}


def test_means_are_sums_in_order() -> None:
    generator = np.random.default_rng(0)
    predictions = ["".join(generator.choice(list("abc"), 7)) for _ in range(3_000)]
    answers = [["".join(generator.choice(list("abc"), 7))] for _ in range(3_000)]
    slow = [slow_score(p, a) for p, a in zip(predictions, answers, strict=True)]
    overall = score_corpus(predictions, answers).overall
    columns = zip(*slow, strict=True)
    assert [overall.anls, overall.acc, overall.accanls] == [mean(c) for c in columns]


def test_diagnostics_of_every_question() -> None:
    diagnostics = score_corpus(PREDICTIONS, ANSWERS).diagnostics
    assert diagnostics.exact_match.tolist() == [True, False, False, False, False]
    assert diagnostics.acc_word.tolist() == [True, False, False, False, True]
    np.testing.assert_array_equal(diagnostics.length_ratio, [1.0, 1.0, np.nan, np.nan, 14 / 3])


def test_answers_checked_once_serve_many_models() -> None:
    references = References(ANSWERS, ["a", "b", "c", "d", "e"])
    for predictions in (PREDICTIONS, PREDICTIONS[::-1]):
        reused = score_corpus(predictions, references, SUBSETS)
        fresh = score_corpus(predictions, ANSWERS, SUBSETS)
        assert list(reused) == list(fresh)
        assert reused.by_subset == fresh.by_subset
    with pytest.raises(ValueError, match="question c: "):
        score_corpus(["x", "x", 3, "x", "x"], references)


def test_later_changes_to_what_was_given_have_no_effect() -> None:
    predictions, answers, subsets = ["12g"], [["12g"]], ["tab"]
    scores = score_corpus(predictions, answers, subsets)
    predictions[0], answers[0][0], subsets[0] = "dog", "cat", "scene"
    assert scores[0] == score("12g", ["12g"])
    assert list(scores.by_subset) == ["tab"]


def test_iterables_and_prepared_predictions_are_taken() -> None:
    scores = score_corpus(
        (prepare(f"<think>5</think> {text}") for text in ("12g", "dog")),
        (answers for answers in (["12g"], ["cat"])),
        np.array(["tab", "tab"]),
    )
    assert scores.accanls.tolist() == [1.0, 0.0]
    assert scores.by_subset["tab"].n == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(([], []), "no questions", id="no questions"),
        pytest.param((["a"], [["a"], ["b"]]), "1 predictions but 2 answers", id="answers"),
        pytest.param((["a"], [["a"]], ["x", "y"]), "1 predictions but 2 subsets", id="subsets"),
        pytest.param(
            ("a", [["a"]]), "predictions must hold one entry per question", id="bare text"
        ),
        pytest.param((["a"], "a"), "answers must hold one entry per question", id="bare answers"),
        pytest.param(({"q": "a"}, [["a"]]), "predictions must hold one entry", id="mapping"),
        pytest.param((3, [["a"]]), "predictions must hold one entry", id="number"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_corpus(*arguments)


def test_question_ids_must_fit_the_answers() -> None:
    with pytest.raises(ValueError, match="2 answers but 1 question_ids"):
        score_corpus(["a", "b"], [["a"], ["b"]], question_ids=["A/1"])
