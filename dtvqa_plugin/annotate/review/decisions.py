"""What reviewers decided: an append-only record with who and when, and what follows from it.

A decision carries the question, answers and image it was made on, so it stays valid when pairs are
extracted anew. Undoing is a record as well. What holds follows from the set of records, not from
their order in the file: each decision names those of the same reviewer that it replaces. So the
records of two machines can be joined. Two decisions of one reviewer, of which neither replaces the
other, both hold; they are a dispute where they differ.

Records of dtvqa-plugin 0.1.0 name nothing: they replace what the reviewer had decided above them in
the file. 0.1.0 in turn refuses a file that it would read otherwise: it knows neither the action
``unsure`` nor ``merged`` and says so. Decisions that join variants are disputed pairs to it.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.journal import Damage, Entry, Follower, Journal
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.utils.text import now

Verdict = Literal["accept", "reject", "unsure"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
Outcome = Literal["accepted", "rejected", "disputed", "variants", "unsure"]

UNDO = "undo"
MERGED = "merged"
"""Action of the record that `merge` puts above what it appends. It decides nothing."""

_CARRIED = ("image", "source", "style", "file", "round", "model", "prompt")


@dataclass(frozen=True, slots=True)
class Held:
    """A decision on a pair. ``joins``: decisions of others whose answers this one unites."""

    id: str
    reviewer: str
    verdict: Verdict
    question: str
    answers: tuple[str, ...]
    at: str
    offset: int
    replaces: tuple[str, ...] = ()
    joins: frozenset[str] = frozenset()
    note: str = ""
    edited: bool = False
    by_hand: bool = False

    def agrees(self, other: Held) -> bool:
        """Whether both lead to the same: the same verdict, and on accept the same texts."""
        if self.verdict != other.verdict:
            return False
        same = self.question == other.question and set(self.answers) == set(other.answers)
        return self.verdict != "accept" or same


@dataclass
class Decisions:
    """All decisions of a project; `refresh` takes in what other processes have added."""

    source: Project | Journal
    journal: Journal = field(init=False)
    reviewers: list[str] = field(default_factory=list)
    count: int = 0
    latest: str | None = None
    """Time of the last record."""
    _made: dict[str, dict[str, Held]] = field(default_factory=dict)
    """Pair -> id -> decision, undone ones included."""
    _undone: set[str] = field(default_factory=set)
    _known: dict[str, bytes] = field(default_factory=dict)
    """Record -> digest of what it says."""
    _heads: dict[str, list[Held]] = field(default_factory=dict)
    """What `heads` found; a pair is looked at again when a record about it arrives."""

    def __post_init__(self) -> None:
        source = self.source
        self.journal = source.decisions if isinstance(source, Project) else source
        self._follower = Follower(self.journal)

    def refresh(self) -> None:
        """Read what was appended since the last time; bad lines are reported once.

        Raises `AnnotateError` naming a record that was edited by hand into nonsense.
        """
        if self._follower.shortened():
            # By hand: what is there is what counts.
            self._forget()
        damage, first = Damage(self.journal.path), self._follower.offset == 0
        for offset, entry in self._follower.read(damage):
            try:
                self._apply(offset, entry)
            except AnnotateError:
                self._forget()  # so that the next reading meets the record again
                raise
        if first and self._follower.unfinished:
            damage.add(self._follower.lines + 1, "cut off")
        report_damage(damage)

    def _forget(self) -> None:
        self.reviewers, self.count, self.latest = [], 0, None
        self._made, self._undone, self._known, self._heads = {}, set(), {}, {}
        self._follower = Follower(self.journal)

    # --- deciding ---

    def record(
        self,
        pair: Entry,
        reviewer: str,
        verdict: Verdict,
        question: str,
        answers: Iterable[str],
        note: str = "",
        **more: Any,
    ) -> Entry:
        """Save a decision; it is on disk when this returns. ``more``: further fields."""
        texts = list(answers)
        entry = {
            **self._stamp(str(pair["pair"]), reviewer, verdict),
            "question": question,
            "answers": texts,
            "edited": question != pair["question"] or texts != list(pair["answers"]),
            "replaces": [held.id for held in self.heads(str(pair["pair"]), reviewer)],
            **({"note": note} if note else {}),
            **more,
            **{key: pair.get(key) for key in _CARRIED},
        }
        self.journal.append(entry)
        self.refresh()
        return entry

    def join(self, pair: Entry, reviewer: str, note: str = "") -> Entry:
        """Accept with the variants of all reviewers who accepted the same question.

        Raises `AnnotateError` unless the reviewer is one of them.
        """
        votes = self._votes(str(pair["pair"]))
        mine = [held for held in votes if held.reviewer == reviewer]
        if not mine or settle(votes)[0] != "variants":
            raise AnnotateError("there are no variants of this pair to join; reload the page")
        answers = dict.fromkeys(answer for held in (*mine, *votes) for answer in held.answers)
        others = [held.id for held in votes if held.reviewer != reviewer]
        return self.record(pair, reviewer, "accept", mine[0].question, answers, note, joins=others)

    def last(self, reviewer: str) -> tuple[str, Held] | None:
        """The reviewer's last decision that still holds, with its pair."""
        mine = ((pair, held) for pair in self._made for held in self.heads(pair, reviewer))
        return max(mine, key=lambda one: (one[1].at, one[1].offset), default=None)

    def undo(self, reviewer: str) -> Entry | None:
        """Take back the reviewer's last decision that still holds; ``None`` without one."""
        self.refresh()
        last = self.last(reviewer)
        if last is None:
            return None
        entry = {**self._stamp(last[0], reviewer, UNDO), "undoes": last[1].id}
        self.journal.append(entry)
        self.refresh()
        return entry

    @staticmethod
    def _stamp(pair: str, reviewer: str, action: str) -> Entry:
        return {
            "id": uuid.uuid4().hex[:12],
            "pair": pair,
            "reviewer": reviewer,
            "at": now(),
            "action": action,
        }

    # --- what holds ---

    def pairs(self) -> Iterator[str]:
        """Every pair that somebody decided on and has not taken back, in the order of ids."""
        return (pair for pair in sorted(self._made) if self.heads(pair))

    def heads(self, pair: str, reviewer: str | None = None) -> list[Held]:
        """The decisions on a pair that hold, by reviewer and time; of one reviewer if named."""
        made = self._made.get(pair)
        if made is None:
            return []
        if pair not in self._heads:
            standing = [held for held in made.values() if held.id not in self._undone]
            replaced = {old for held in standing for old in held.replaces}
            heads = [held for held in standing if held.id not in replaced]
            heads.sort(key=lambda held: (held.reviewer, held.at, held.id))
            self._heads[pair] = heads
        heads = self._heads[pair]
        return heads if reviewer is None else [held for held in heads if held.reviewer == reviewer]

    def of(self, pair: str) -> dict[str, Held]:
        """Each reviewer's present decision on a pair; of several that hold, the last one."""
        return {held.reviewer: held for held in self.heads(pair)}

    def twice(self, pair: str) -> list[str]:
        """Reviewers of whom two decisions on the pair hold that differ."""
        heads, present = self.heads(pair), self.of(pair)
        return [
            who
            for who, last in present.items()
            if not all(last.agrees(held) for held in heads if held.reviewer == who)
        ]

    def outcome(self, pair: str, adjudicator: str | None = None) -> Outcome | None:
        """What all decisions on a pair come to; the adjudicator's settle it.

        ``None``: undecided. ``variants``: all accept the same question, with other answers, and
        nobody has joined them. Reviewers who accept different questions are a dispute.
        """
        heads = self.heads(pair)
        return settle(self._votes(pair, adjudicator))[0] or ("unsure" if heads else None)

    def final(self, pair: str, adjudicator: str | None = None) -> Entry | None:
        """The record of an accepted pair, ``None`` for any other outcome."""
        outcome, held = settle(self._votes(pair, adjudicator))
        return self.journal.at(held.offset) if outcome == "accepted" and held else None

    def by_hand(self) -> dict[str, Held]:
        """The pairs that reviewers made and that still hold, with the first decision on each."""
        found = {}
        for pair, made in self._made.items():
            first = min(made.values(), key=lambda held: (held.at, held.id))
            if any(held.by_hand for held in made.values()) and self.heads(pair):
                found[pair] = first
        return found

    def _votes(self, pair: str, adjudicator: str | None = None) -> list[Held]:
        votes = [held for held in self.heads(pair) if held.verdict != "unsure"]
        settling = [held for held in votes if held.reviewer == adjudicator]
        return settling or votes

    # --- reading ---

    def digest(self, record: str) -> bytes | None:
        """What a record says, as a digest; ``None`` for one that is not here."""
        return self._known.get(record)

    def replaced_by(self, entry: Entry) -> tuple[str, ...]:
        """The decisions that a decision of this file replaces, named by it or standing above."""
        return self._made[str(entry["pair"])][str(entry["id"])].replaces

    def _apply(self, offset: int, entry: Entry) -> None:
        action, record = entry["action"], str(entry["id"])
        if action == MERGED:
            return
        if action not in (*VERDICTS, UNDO):
            raise AnnotateError(
                f"{self.journal.path}: decision {record}: unknown action {action!a}; it was edited "
                "by hand, or made by a newer dtvqa-plugin"
            )
        held = None if action == UNDO else self._held(offset, entry)
        digest, pair = digest_of(entry), str(entry["pair"])
        if record in self._known:
            if self._known[record] == digest:
                return
            raise AnnotateError(
                f"{self.journal.path}: two different decisions with id {record}; remove the line "
                "that was edited by hand"
            )
        self._known[record] = digest
        self.count += 1
        self.latest = max(self.latest or "", str(entry["at"]))
        reviewer = str(entry["reviewer"])
        if reviewer not in self.reviewers:
            self.reviewers = sorted([*self.reviewers, reviewer])
        if held is None:
            self._undone.add(str(entry.get("undoes")))
        else:
            self._made.setdefault(pair, {})[record] = held
        self._heads.pop(pair, None)

    def _held(self, offset: int, entry: Entry) -> Held:
        reviewer, answers = str(entry["reviewer"]), entry.get("answers")
        named, joins = entry.get("replaces"), entry.get("joins", [])
        texts = isinstance(entry.get("question"), str) and isinstance(answers, list)
        if not texts or not isinstance(named, list | None) or not isinstance(joins, list):
            raise AnnotateError(
                f"{self.journal.path}: decision {entry['id']} has no question or no list of "
                "answers; it was edited by hand, repair or remove that line"
            )
        if named is None:
            named = [held.id for held in self.heads(str(entry["pair"]), reviewer)]
        return Held(
            str(entry["id"]),
            reviewer,
            cast(Verdict, entry["action"]),
            entry["question"],
            tuple(str(answer) for answer in cast(list[Any], answers)),
            str(entry["at"]),
            offset,
            tuple(str(one) for one in named),
            frozenset(str(one) for one in joins),
            str(entry.get("note") or ""),
            bool(entry.get("edited")),
            bool(entry.get("by_hand")),
        )


def settle(votes: Sequence[Held]) -> tuple[Outcome | None, Held | None]:
    """What decisions that hold come to, and the one that says it. The order does not matter."""
    if not votes:
        return None, None
    votes = sorted(votes, key=lambda held: (held.at, held.id)) if len(votes) > 1 else votes
    first = votes[0]
    if any(held.verdict != first.verdict for held in votes):
        return "disputed", None
    if first.verdict == "reject":
        return "rejected", first
    if any(held.question != first.question for held in votes):
        return "disputed", None
    if all(held.agrees(first) for held in votes):
        return "accepted", first
    for held in reversed(votes):
        if {other.id for other in votes} - {held.id} <= held.joins:
            return "accepted", held
    return "variants", None


def digest_of(entry: Mapping[str, Any]) -> bytes:
    """What a record says. ``replaces`` is left out: `merge` adds it to records of 0.1.0."""
    said = {key: value for key, value in entry.items() if key != "replaces"}
    text = json.dumps(said, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
