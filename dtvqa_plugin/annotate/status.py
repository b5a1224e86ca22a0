"""Counts of every stage, for ``status`` and the data card."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dtvqa_plugin.annotate.project.journal import Damage
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.agreement import agreements
from dtvqa_plugin.annotate.review.decisions import Decisions


@dataclass(slots=True)
class Overview:
    """What a project holds. Counters are by style unless named otherwise."""

    images: int = 0
    images_unreadable: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    first_answer: str | None = None
    last_answer: str | None = None
    failures: int = 0
    usd: float = 0.0
    refusals: int = 0
    unread: int = 0
    pairs: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    proposals: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    disputed: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)
    unsure: Counter[str] = field(default_factory=Counter)
    decisions: int = 0
    last_decision: str | None = None
    agreement: list[dict[str, Any]] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {k: dict(v) if isinstance(v, Counter) else v for k, v in values.items()}


def overview(project: Project, adjudicator: str | None = None) -> Overview:
    """Count through all files of a project, a line at a time."""
    found = Overview()
    usable: set[bytes] = set()
    bad: set[tuple[str, str]] = set()
    for _, entry in _told(project, "images", found):
        place = (entry["source"], entry["file"])
        if "error" in entry:
            bad.add(place)
        else:
            bad.discard(place)
            usable.add(bytes.fromhex(entry["sha256"])[:16])
    found.images, found.images_unreadable = len(usable), len(bad)
    for _, entry in _told(project, "raw", found):
        found.answers[str(entry.get("style", ""))] += 1
        found.models[f"{entry['round']}: {entry['model']}"] += 1
        found.usd += float(entry.get("usd") or 0)
        at = str(entry["at"])
        found.first_answer = min(found.first_answer or at, at)
        found.last_answer = max(found.last_answer or at, at)
    for name in ("failures", "textonly"):
        for _, entry in _told(project, name, found):
            found.failures += name == "failures"
            found.usd += float(entry.get("usd") or 0)
    for _, entry in _told(project, "unread", found):
        found.refusals += bool(entry.get("refusal"))
        found.unread += not entry.get("refusal")
    for _, entry in _told(project, "pairs", found):
        found.pairs[str(entry["style"])] += 1
    for _, entry in _told(project, "flags", found):
        found.flags.update({str(flag[0]) for flag in entry["flags"]})
    found.proposals = sum(len(e["proposals"]) for _, e in _told(project, "proposals", found))
    _decided(project, found, adjudicator)
    return found


def _told(project: Project, name: str, found: Overview) -> Any:
    journal = getattr(project, name)
    damage = Damage(journal.path)
    yield from journal.read(damage=damage)
    if damage.count:
        found.damage.append(str(damage))


def _decided(project: Project, found: Overview, adjudicator: str | None) -> None:
    decisions = Decisions(project)
    decisions.refresh()
    found.decisions = decisions.count
    found.last_decision = decisions.latest
    for pair in decisions.pairs():
        outcome = decisions.outcome(pair, adjudicator)
        if outcome is not None:
            counter: Counter[str] = getattr(found, outcome)
            first = decisions.heads(pair)[0]
            counter[str(project.decisions.at(first.offset).get("style") or "")] += 1
    for part in agreements(decisions):
        found.agreement.append({name: getattr(part, name) for name in part.__slots__})
