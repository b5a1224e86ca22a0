"""How far reviewers agree on the pairs that both decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dtvqa_plugin.annotate.review.decisions import Decisions, Held


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two reviewers on the pairs both decided; ``kappa`` is over accept and reject."""

    first: str
    second: str
    both: int
    same_verdict: int
    same_text: int
    kappa: float | None


def agreements(decisions: Decisions) -> list[Agreement]:
    """Every two reviewers who decided on the same pairs; unsure is not a decision here."""
    both: dict[tuple[str, str], list[tuple[Held, Held]]] = {}
    for pair in decisions.pairs():
        decided = [held for held in decisions.of(pair).values() if held.verdict != "unsure"]
        decided.sort(key=lambda held: held.reviewer)
        for place, first in enumerate(decided):
            for second in decided[place + 1 :]:
                both.setdefault((first.reviewer, second.reviewer), []).append((first, second))
    return [
        Agreement(
            first,
            second,
            len(rated),
            sum(a.verdict == b.verdict for a, b in rated),
            sum(a.agrees(b) for a, b in rated),
            cohen_kappa((a.verdict, b.verdict) for a, b in rated),
        )
        for (first, second), rated in sorted(both.items())
    ]


def cohen_kappa(labels: Iterable[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two raters' labels of the same things (Cohen, 1960).

    ``None`` where it is not defined: nothing rated, or chance agreement is 1 (a single label).
    """
    pairs = list(labels)
    if not pairs:
        return None
    names = {label for pair in pairs for label in pair}
    observed = sum(first == second for first, second in pairs) / len(pairs)
    expected = (
        sum(
            sum(first == name for first, _ in pairs) * sum(second == name for _, second in pairs)
            for name in names
        )
        / len(pairs) ** 2
    )
    return None if expected == 1 else (observed - expected) / (1 - expected)
