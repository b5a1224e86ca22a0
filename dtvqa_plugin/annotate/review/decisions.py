"""What reviewers decided: an append-only record with who and when, and what follows from it.

A decision carries the question, answers and image it was made on, so it stays valid when pairs are
extracted anew. Undoing is a record as well.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.journal import Damage, Entry
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.utils.text import now

Verdict = Literal["accept", "reject"]
Outcome = Literal["accepted", "rejected", "disputed"]


@dataclass(frozen=True, slots=True)
class Held:
    """A reviewer's present decision on a pair."""

    id: str
    verdict: Verdict
    question: str
    answers: tuple[str, ...]
    offset: int

    def agrees(self, other: Held) -> bool:
        """Whether both lead to the same: both reject, or both accept the same texts."""
        if self.verdict != other.verdict:
            return False
        same = self.question == other.question and set(self.answers) == set(other.answers)
        return self.verdict == "reject" or same


@dataclass
class Decisions:
    """All decisions of a project; `refresh` takes in what other processes have added."""

    project: Project
    held: dict[str, dict[str, list[Held]]] = field(default_factory=dict)
    """Pair -> reviewer -> decisions not undone, the last one holds."""
    reviewers: list[str] = field(default_factory=list)
    count: int = 0
    _read_to: int = 0
    _damage_told: int = 0

    def refresh(self) -> None:
        """Read what was appended since the last time; bad lines are reported once."""
        path = self.project.decisions.path
        size = path.stat().st_size if path.exists() else 0
        if size == self._read_to:
            return
        if size < self._read_to:
            # Shortened by hand: what is there is what counts.
            self.held, self.reviewers, self.count, self._read_to = {}, [], 0, 0
        damage = Damage(path)
        for offset, entry in self.project.decisions.read(self._read_to, damage):
            self._apply(offset, entry)
        self._read_to = size
        if damage.count:
            report_damage(damage)

    def record(
        self,
        pair: Entry,
        reviewer: str,
        verdict: Verdict,
        question: str,
        answers: Iterable[str],
        note: str = "",
    ) -> Entry:
        """Save a decision; it is on disk when this returns."""
        entry = {
            "id": uuid.uuid4().hex[:12],
            "pair": pair["pair"],
            "reviewer": reviewer,
            "at": now(),
            "action": verdict,
            "question": question,
            "answers": list(answers),
            "edited": question != pair["question"] or list(answers) != list(pair["answers"]),
            **({"note": note} if note else {}),
            **{key: pair.get(key) for key in _CARRIED},
        }
        self.project.decisions.append(entry)
        self.refresh()
        return entry

    def undo(self, reviewer: str) -> Entry | None:
        """Take back the reviewer's last decision that still holds; ``None`` without one."""
        self.refresh()
        last: tuple[int, str, Held] | None = None
        for pair, by_reviewer in self.held.items():
            for held in by_reviewer.get(reviewer, ()):
                if last is None or held.offset > last[0]:
                    last = (held.offset, pair, held)
        if last is None:
            return None
        _, pair, held = last
        entry = {
            "id": uuid.uuid4().hex[:12],
            "pair": pair,
            "reviewer": reviewer,
            "at": now(),
            "action": "undo",
            "undoes": held.id,
        }
        self.project.decisions.append(entry)
        self.refresh()
        return entry

    def of(self, pair: str) -> dict[str, Held]:
        """Each reviewer's present decision on a pair."""
        return {who: stack[-1] for who, stack in self.held.get(pair, {}).items() if stack}

    def outcome(self, pair: str, adjudicator: str | None = None) -> Outcome | None:
        """What all decisions on a pair come to; the adjudicator's settles it; ``None``: undecided.

        Reviewers who accept different texts are a dispute as well.
        """
        decided = self.of(pair)
        if not decided:
            return None
        if adjudicator in decided:
            first, rest = decided[adjudicator], []
        else:
            first, *rest = decided.values()
        if not all(first.agrees(other) for other in rest):
            return "disputed"
        return "accepted" if first.verdict == "accept" else "rejected"

    def final(self, pair: str, adjudicator: str | None = None) -> Entry | None:
        """The record of an accepted pair, ``None`` for any other outcome."""
        if self.outcome(pair, adjudicator) != "accepted":
            return None
        decided = self.of(pair)
        held = decided[adjudicator] if adjudicator in decided else next(iter(decided.values()))
        return self.project.decisions.at(held.offset)

    def _apply(self, offset: int, entry: Entry) -> None:
        pair, reviewer = str(entry["pair"]), str(entry["reviewer"])
        stack = self.held.setdefault(pair, {}).setdefault(reviewer, [])
        action = entry["action"]
        self.count += 1
        if reviewer not in self.reviewers:
            self.reviewers.append(reviewer)
        if action == "undo":
            stack[:] = [held for held in stack if held.id != entry.get("undoes")]
        elif action in ("accept", "reject"):
            answers = entry.get("answers")
            if not isinstance(entry.get("question"), str) or not isinstance(answers, list):
                raise AnnotateError(
                    f"{self.project.decisions.path}: decision {entry['id']} has no question or no "
                    "list of answers; it was edited by hand, repair or remove that line"
                )
            texts = tuple(str(answer) for answer in answers)
            stack.append(Held(str(entry["id"]), action, entry["question"], texts, offset))
        else:
            raise AnnotateError(
                f"{self.project.decisions.path}: decision {entry['id']}: unknown action {action!a}"
            )


_CARRIED = ("image", "source", "style", "file", "round", "model", "prompt")


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
    """Every two reviewers who decided on the same pairs."""
    found = []
    names = decisions.reviewers
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            both: list[tuple[Held, Held]] = []
            for pair in decisions.held:
                decided: Mapping[str, Held] = decisions.of(pair)
                if first in decided and second in decided:
                    both.append((decided[first], decided[second]))
            if both:
                found.append(
                    Agreement(
                        first,
                        second,
                        len(both),
                        sum(a.verdict == b.verdict for a, b in both),
                        sum(a.agrees(b) for a, b in both),
                        cohen_kappa((a.verdict, b.verdict) for a, b in both),
                    )
                )
    return found
