"""Which pair comes next: the pairs in reviewing order, filtered for one reviewer.

Images come in the order of their hashes, which is a fixed shuffle: the first hundred reviewed are a
random sample. An image's pairs come together, those with the fewest flags first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions, Held, agreements

Filter = Literal["todo", "second", "accepted", "rejected", "disputed", "all"]
FILTERS: tuple[str, ...] = get_args(Filter)


@dataclass(slots=True)
class _Item:
    pair: str
    image: str
    style: str
    offset: int
    score: float = 1.0


@dataclass(slots=True)
class View:
    """What a reviewer looks through."""

    reviewer: str
    filter: str = "todo"
    style: str = ""


@dataclass
class Queue:
    """The pairs of a project, with flags and proposals where those stages have run.

    Memory: some 300 bytes a pair (places in the files, no texts).
    """

    project: Project
    decisions: Decisions = field(init=False)

    def __post_init__(self) -> None:
        self.decisions = Decisions(self.project)
        self.decisions.refresh()
        self._flags: dict[str, int] = {}
        scores: dict[str, float] = {}
        for offset, entry in self.project.flags.read():
            if entry["flags"]:
                self._flags[str(entry["pair"])] = offset
                scores[str(entry["pair"])] = float(entry["score"])
        self._proposals = {str(e["pair"]): o for o, e in self.project.proposals.read()}
        self._items: dict[str, _Item] = {}
        for offset, entry in self.project.pairs.read():
            pair = str(entry["pair"])
            self._items[pair] = _Item(
                pair, str(entry["image"]), str(entry["style"]), offset, scores.get(pair, 1.0)
            )
        if not self._items:
            raise AnnotateError(
                f"{self.project.pairs.path}: nothing to review; run 'dtvqa annotate extract'"
            )
        self._order = sorted(self._items.values(), key=lambda i: (i.image, -i.score))
        self._places = {item.pair: place for place, item in enumerate(self._order)}
        self._by_image: Counter[str] = Counter(item.image for item in self._order)
        self._matching: tuple[object, list[int]] = (None, [])

    def pair(self, pair: str) -> Entry:
        """A pair's record. Raises `AnnotateError` for an unknown one."""
        item = self._items.get(pair)
        if item is None:
            raise AnnotateError(f"no pair {pair[:20]!a} here; reload the page")
        entry = self.project.pairs.at(item.offset)
        if entry["pair"] != pair:
            raise AnnotateError("the pairs were extracted again; end this review and restart it")
        return entry

    def styles(self) -> list[str]:
        """The styles that have pairs, in the config's order."""
        there = {item.style for item in self._order}
        configured = dict.fromkeys(source.style for source in self.project.config.sources)
        return [s for s in configured if s in there] + sorted(there - configured.keys())

    def step(self, view: View, start: str | None, step: int) -> tuple[Entry | None, int, int]:
        """The next pair of the view from ``start`` on: (pair, place from 1, number of pairs).

        ``step`` is 1, -1, or 0 for ``start`` itself with any filter. Past either end the
        search continues from the other.
        """
        matching = self._match(view)
        here = self._places.get(start or "", -1)
        if step == 0 and here >= 0:
            chosen = here
        elif not matching:
            return None, 0, 0
        elif step < 0:
            chosen = matching[bisect_left(matching, here) - 1]
        else:
            chosen = matching[bisect_right(matching, here) % len(matching)]
        place = bisect_right(matching, chosen)
        if not place or matching[place - 1] != chosen:
            place = 0
        return self.describe(self._order[chosen].pair, view.reviewer), place, len(matching)

    def describe(self, pair: str, reviewer: str) -> Entry:
        """Everything the page shows of a pair; others' decisions only after the reviewer's own."""
        entry, item = self.pair(pair), self._items[pair]
        flags = self._flags.get(pair)
        proposals = self._proposals.get(pair)
        decided = self.decisions.of(pair)
        mine = decided.get(reviewer)
        others = {who: held for who, held in decided.items() if who != reviewer}
        place = self._places[pair]
        first = place
        while first > 0 and self._order[first - 1].image == item.image:
            first -= 1
        return {
            "pair": pair,
            "image": item.image,
            "style": item.style,
            "file": entry.get("file", ""),
            "round": entry["round"],
            "model": entry["model"],
            "question": entry["question"],
            "answers": entry["answers"],
            "score": item.score,
            "flags": self.project.flags.at(flags)["flags"] if flags is not None else [],
            "proposals": (
                self.project.proposals.at(proposals)["proposals"] if proposals is not None else []
            ),
            "of_image": [place - first + 1, self._by_image[item.image]],
            "mine": _shown(mine) if mine else None,
            "others": {who: _shown(held) for who, held in others.items()} if mine else {},
        }

    def state(self, reviewer: str) -> dict[str, Any]:
        """Progress towards the targets, and how reviewers agree."""
        self.decisions.refresh()
        outcomes: dict[str, Counter[str]] = {style: Counter() for style in self.styles()}
        decided_by_me = 0
        for pair in self.decisions.held:
            decided = self.decisions.of(pair)
            decided_by_me += reviewer in decided
            outcome = self.decisions.outcome(pair)
            if outcome is not None and decided:
                item = self._items.get(pair)
                style = item.style if item else self._style_of(next(iter(decided.values())))
                outcomes.setdefault(style, Counter())[outcome] += 1
        pairs = Counter(item.style for item in self._order)
        return {
            "name": self.project.config.name,
            "target": self.project.config.review.target,
            "styles": [
                {"name": style, "pairs": pairs[style], **_counts(counter)}
                for style, counter in outcomes.items()
            ],
            "mine": decided_by_me,
            "reviewers": self.decisions.reviewers,
            "agreement": [
                {name: getattr(part, name) for name in part.__slots__}
                for part in agreements(self.decisions)
            ],
        }

    def _style_of(self, held: Held) -> str:
        return str(self.project.decisions.at(held.offset).get("style") or "")

    def _match(self, view: View) -> list[int]:
        self.decisions.refresh()
        key = (view.reviewer, view.filter, view.style, self.decisions.count)
        if self._matching[0] != key:
            places = [
                place
                for place, item in enumerate(self._order)
                if view.style in ("", item.style) and self._fits(item.pair, view)
            ]
            self._matching = (key, places)
        return self._matching[1]

    def _fits(self, pair: str, view: View) -> bool:
        if view.filter == "all":
            return True
        if pair not in self.decisions.held:
            return view.filter == "todo"
        decided = self.decisions.of(pair)
        mine = decided.get(view.reviewer)
        if view.filter == "todo":
            return mine is None
        if view.filter == "second":
            return mine is None and bool(decided)
        if view.filter == "disputed":
            return self.decisions.outcome(pair) == "disputed"
        return mine is not None and f"{mine.verdict}ed" == view.filter


def _shown(held: Held) -> Entry:
    return {"verdict": held.verdict, "question": held.question, "answers": list(held.answers)}


def _counts(counter: Counter[str]) -> dict[str, int]:
    return {name: counter[name] for name in ("accepted", "rejected", "disputed")}
