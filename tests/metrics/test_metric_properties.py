"""Invariants of the scorer, searched for counterexamples."""

from __future__ import annotations

import sys

from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import answer_lists, answers, taus, texts
from reference_scorer import slow_score

from dtvqa_plugin.metrics import Score, corpus, score, score_corpus

searched = settings(deadline=None, max_examples=300)


def values(result: Score) -> tuple[float, float, float]:
    return result.anls, result.acc, result.accanls


@st.composite
def near_pairs(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A prediction made from one of its answers by a few edits, up to several machine words."""
    answer = draw(st.text("abİ1 ", min_size=1, max_size=160).filter(str.strip))
    edited = list(answer)
    for position in draw(st.lists(st.integers(0, len(answer) - 1), max_size=100)):
        edited[position] = draw(st.sampled_from(["", "a", "B", "xy", "İ"]))
    return "".join(edited), [answer, *draw(st.lists(answers.filter(str.strip), max_size=2))]


cases = st.tuples(texts, answer_lists) | near_pairs()


@searched
@given(cases, taus)
def test_the_cut_off_never_changes_a_value(case: tuple[str, list[str]], tau: float) -> None:
    prediction, references = case
    assert values(score(prediction, references, tau)) == slow_score(prediction, references, tau)


@searched
@given(st.lists(cases, min_size=1, max_size=6), taus)
def test_a_corpus_scores_as_its_questions_do(
    questions: list[tuple[str, list[str]]], tau: float
) -> None:
    scores = score_corpus([p for p, _ in questions], [a for _, a in questions], tau=tau)
    assert list(scores) == [score(p, a, tau) for p, a in questions]
    assert [values(s) for s in scores] == [slow_score(p, a, tau) for p, a in questions]


@searched
@given(cases, st.randoms(use_true_random=False))
def test_the_order_of_answers_does_not_matter(
    case: tuple[str, list[str]], random: st.random.Random
) -> None:
    prediction, references = case
    shuffled = random.sample(references, len(references))
    assert values(score(prediction, references)) == values(score(prediction, shuffled))


@searched
@given(cases, taus)
def test_accanls_is_at_least_anls_and_acc(case: tuple[str, list[str]], tau: float) -> None:
    result = score(*case, tau)
    assert 1.0 >= result.accanls >= result.anls >= 0.0
    assert result.accanls >= result.acc
    assert result.acc in (0.0, 1.0)


@searched
@given(cases, answers.filter(str.strip))
def test_another_answer_never_lowers_a_score(case: tuple[str, list[str]], more: str) -> None:
    prediction, references = case
    before, after = score(prediction, references), score(prediction, [*references, more])
    assert all(b <= a for b, a in zip(values(before), values(after), strict=True))


ascii_texts = st.text("abAB01 .gG", max_size=15)


@searched
@given(ascii_texts, st.lists(ascii_texts.filter(str.strip), min_size=1, max_size=3))
def test_the_case_of_ascii_letters_does_not_matter(prediction: str, references: list[str]) -> None:
    swapped = [answer.swapcase() for answer in references]
    original = score(prediction, references)
    for other in (score(prediction.swapcase(), references), score(prediction, swapped)):
        assert values(other) == values(original)
        assert (other.exact_match, other.acc_word) == (original.exact_match, original.acc_word)


@searched
@given(cases)
def test_diagnostics_agree_with_the_metrics(case: tuple[str, list[str]]) -> None:
    result = score(*case)
    assert result.acc_word <= bool(result.acc)
    assert result.exact_match <= result.acc_word
    assert not result.exact_match or result.anls == 1.0
    assert (result.matched_answer is None) == (result.accanls == 0.0)
    assert (result.length_ratio is None) == (result.matched_answer is None)


def test_one_character_alone_is_longer_in_lower_case_and_none_is_shorter() -> None:
    """The corpus pass relies on it; sigma depends on its place, but one for one."""
    characters = map(chr, range(sys.maxunicode + 1))
    assert [char for char in characters if len(char.lower()) != 1] == [corpus.LENGTHENED]
    assert ("ΑΣ".lower(), "ΣΑ".lower()) == ("ας", "σα")
