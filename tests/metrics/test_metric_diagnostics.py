"""Diagnostics of this project: exact match, containment on token boundaries, length ratio."""

from __future__ import annotations

import pytest

from dtvqa_plugin.metrics import score

# prediction, answers, acc_word; every one of them is an Acc hit.
WORDS = [
    ("10g", ["0g"], False),
    ("10g", ["10g"], True),
    ("12g.", ["12g"], True),
    ("(12g)", ["12g"], True),
    ("12g or 15g", ["12g"], True),
    ("110g and 10g", ["10g"], True),  # a later occurrence stands on boundaries
    ("10g", ["0g", "10g"], True),  # another answer does
    ("12g", ["12"], False),
    ("12 g", ["12"], True),
    ("12%", ["12"], True),
    ("1.5", ["5"], False),
    ("1.5", ["1"], False),
    ("1.5", ["1.5"], True),
    ("5.", ["5"], True),
    ("1,200", ["200"], False),
    ("1, 200", ["200"], True),
    ("pages 5.12", ["12"], False),
    ("v.5", ["5"], True),  # no digit before the full stop
    ("state-of-the-art", ["art"], True),
    ("restart", ["art"], False),
    ("12\u3000g", ["12"], True),
    ("保质期12个月", ["12个月"], True),
    ("保质期12个月", ["12"], True),
    ("保质期112个月", ["12个月"], False),
    ("生产日期", ["日期"], True),
    ("ビタミンC", ["ビタミン"], True),
    ("ビタミンC", ["c"], True),
    ("ปริมาณ", ["มาณ"], True),  # Thai is written without spaces
    ("๑๒", ["๒"], False),  # but its digits form numbers
    ("우유를", ["우유"], False),  # Korean is written with spaces
    ("１２ｇ", ["２ｇ"], False),
    ("１．５", ["５"], False),
    ("cafe\u0301", ["cafe"], False),  # the accent belongs to the e
    ("e\u0301t", ["t"], False),
    ("e\u0301 t", ["t"], True),
    ("m²", ["m"], False),
    ("x\U0001f600y", ["y"], True),
]


@pytest.mark.parametrize(("prediction", "answers", "expected"), WORDS)
def test_acc_word_wants_token_boundaries(
    prediction: str, answers: list[str], expected: bool
) -> None:
    result = score(prediction, answers)
    assert result.acc == 1.0
    assert result.acc_word is expected


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("12G", ["12g"], True),
        ("12g", ["15g", "12g"], True),
        ("12g.", ["12g"], False),
        (" 12g", ["12g"], False),
        ("１２ｇ", ["12g"], False),
        ("", ["12g"], False),
    ],
)
def test_exact_match_is_the_whole_output(
    prediction: str, answers: list[str], expected: bool
) -> None:
    assert score(prediction, answers).exact_match is expected


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("12g", ["12g"], 1.0),
        ("The answer is 12g", ["12g"], 17 / 3),
        ("2 grams", ["2", "2 grams"], 1.0),
        ("cat", ["cats"], 3 / 4),
        ("dog", ["cat"], None),
    ],
)
def test_length_ratio_is_output_over_matched_answer(
    prediction: str, answers: list[str], expected: float | None
) -> None:
    assert score(prediction, answers).length_ratio == expected


def test_no_acc_word_without_a_hit() -> None:
    assert score("12x", ["12g"]).acc_word is False
    assert score("12x", ["12g"]).anls > 0
