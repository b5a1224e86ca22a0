"""The paper's metrics once more, slow and independent of the package: plain dynamic programming.

Other tests recompute logged scores with it, so it imports nothing from the package and no library.
"""

from __future__ import annotations

from collections.abc import Sequence


def edit_distance(first: str, second: str) -> int:
    """Levenshtein distance by the full table, one row at a time."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(second, start=1):
            substitution = diagonal + (left != right)
            diagonal = row[j]
            row[j] = min(substitution, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def slow_score(
    prediction: str, answers: Sequence[str], tau: float = 0.5
) -> tuple[float, float, float]:
    """(anls, acc, accanls) of one question, each from 0 to 1."""
    anls = acc = 0.0
    for answer in answers:
        if prediction.lower().find(answer.lower()) != -1:
            acc = 1.0
        longest = max(len(answer), len(prediction))
        if longest == 0:
            continue
        nl = edit_distance(answer.lower(), prediction.lower()) / longest
        if nl < tau:
            anls = max(anls, 1 - nl)
    return anls, acc, acc if acc > 0 else anls


def mean(values: Sequence[float]) -> float:
    """Sum in order over count, as the released scorer and the hosts compute it."""
    return sum(values) / len(values)
