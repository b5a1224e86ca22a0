"""Questions over several runs: how many solve each, what separates two, which references to check.

A question counts as solved by a run if its outcome is ``right``, ``inside`` or ``form``. A
suspected reference fault is a question for a person to judge, no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from dtvqa_plugin.analysis.failures.folding import folded
from dtvqa_plugin.analysis.failures.outcomes import Outcome
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.data import Record
from dtvqa_plugin.metrics.scored import ScoredAnswer

SOLVED = frozenset({"right", "inside", "form"})

WRONG = frozenset({"near", "computed", "other", "invented", "unplaced"})
"""Outcomes of outputs that are another answer than the references."""

LEAST_AGREEING = 2
"""So many runs must agree before their agreement says something of a reference."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A question whose reference answers may be faulty, with the reasons."""

    question_id: str
    question: str
    answers: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Separating:
    """Questions that exactly one of two runs solves, by run name."""

    a: str
    b: str
    a_only: tuple[str, ...]
    b_only: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Questions that all runs answer, by how many solve them.

    Attributes:
        runs: Number of runs.
        solved: For each question id, how many runs solve it.
        histogram: Number of questions solved by 0, 1, ..., ``runs`` runs.
        separating: One entry for each pair of runs.
        suspicions: Questions whose references should be checked, most reasons first.
    """

    runs: int
    solved: Mapping[str, int]
    histogram: tuple[int, ...]
    separating: tuple[Separating, ...]
    suspicions: tuple[Suspicion, ...]

    @property
    def unsolved(self) -> tuple[str, ...]:
        """Questions that no run solves."""
        return tuple(name for name, count in self.solved.items() if count == 0)


@dataclass(frozen=True, slots=True)
class Answered:
    """One run: its name, and outcome and output of each question by id."""

    name: str
    outcomes: Mapping[str, Outcome]
    answers: Mapping[str, ScoredAnswer]


def difficulty(
    records: Sequence[Record], runs: Sequence[Answered], pages: Mapping[str, Page]
) -> Difficulty | None:
    """Difficulty over the questions that all runs answer; None below two runs or without any."""
    shared = [r for r in records if all(r.question_id in run.outcomes for run in runs)]
    if len(runs) < 2 or not shared:
        return None
    solved = {
        r.question_id: sum(run.outcomes[r.question_id].name in SOLVED for run in runs)
        for r in shared
    }
    counts = Counter(solved.values())
    twice = _contradicting(shared)
    suspicions = [
        Suspicion(r.question_id, r.question, r.answers, reasons)
        for r in shared
        if (reasons := tuple(_reasons(r, runs, pages.get(r.image), r.question_id in twice)))
    ]
    suspicions.sort(key=lambda item: -len(item.reasons))
    return Difficulty(
        len(runs),
        solved,
        tuple(counts[number] for number in range(len(runs) + 1)),
        tuple(_separating(a, b, shared) for a, b in combinations(runs, 2)),
        tuple(suspicions),
    )


def _separating(a: Answered, b: Answered, records: Sequence[Record]) -> Separating:
    ids = [record.question_id for record in records]
    ours = {name for name in ids if a.outcomes[name].name in SOLVED}
    theirs = {name for name in ids if b.outcomes[name].name in SOLVED}
    ours, theirs = ours - theirs, theirs - ours
    return Separating(
        a.name,
        b.name,
        tuple(name for name in ids if name in ours),
        tuple(name for name in ids if name in theirs),
    )


def _reasons(
    record: Record, runs: Sequence[Answered], page: Page | None, contradicted: bool
) -> list[str]:
    found = [run.outcomes[record.question_id] for run in runs]
    reasons = []
    agreed = _agreement(record, runs)
    if agreed is not None:
        count, text = agreed
        seen = "" if page is None or page.find(text) is None else ", which is on the image"
        reasons.append(f"{count} of {len(runs)} runs answer {text[:60]!r}{seen}")
    forms = sum(item.name == "form" for item in found)
    if forms >= LEAST_AGREEING and forms * 2 > len(runs):
        reasons.append(f"{forms} of {len(runs)} runs have it in another form")
    nobody = not any(item.name in SOLVED for item in found)
    if nobody and page is not None and page.best(record.answers) is None:
        reasons.append("no run solves it and no reference is in the recognised text")
    if contradicted:
        reasons.append("the same question on the same image has other references")
    return reasons


def _agreement(record: Record, runs: Sequence[Answered]) -> tuple[int, str] | None:
    """The wrong answer that most runs share: how many, and its text."""
    texts = [
        run.answers[record.question_id].text
        for run in runs
        if run.outcomes[record.question_id].name
        in ("near", "computed", "other", "invented", "unplaced")
    ]
    if not texts:
        return None
    (most, count), *_ = Counter(folded(text) for text in texts).most_common(1)
    if count < LEAST_AGREEING or count * 2 <= len(runs):
        return None
    return count, next(text for text in texts if folded(text) == most)


def _contradicting(records: Sequence[Record]) -> set[str]:
    """Questions asked again on the same image with references of which none agrees."""
    asked: dict[tuple[str, tuple[str, ...]], list[Record]] = {}
    for record in records:
        asked.setdefault((record.image, folded(record.question)), []).append(record)
    return {
        one.question_id
        for same in asked.values()
        for one in same
        for other in same
        if not {folded(a) for a in one.answers} & {folded(a) for a in other.answers}
    }
