"""What a reviewer looks through: which pairs fit, and in which order.

Usually images come in the order of their hashes, which is a fixed shuffle: the first hundred
reviewed are a random sample. An image's pairs come together, those with the fewest flags first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions, Held

FILTERS = (
    *("todo", "second", "mine", "accepted", "rejected", "unsure", "edited", "noted"),
    *("disputed", "variants", "by_hand", "no_pair", "all"),
)
SORTS = ("image", "best", "worst", "recent")
UNFLAGGED = "none"


@dataclass(slots=True)
class Item:
    """A pair's place in the files, and what views ask about it; its texts stay on disk.

    ``image_only``: no pair, but an image whose answers gave none; ``offset`` is in unread.jsonl.
    """

    pair: str
    image: str
    style: str
    offset: int
    score: float = 1.0
    flags: tuple[str, ...] = ()
    by_hand: bool = False
    image_only: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What a reviewer looks through. ``flag`` is a code, "none" for pairs without, or empty."""

    reviewer: str
    filter: str = "todo"
    style: str = ""
    flag: str = ""
    search: str = ""
    sort: str = "image"


class Order:
    """All pairs in one order, with the place of each."""

    def __init__(self, items: Iterable[Item], sort: str, decisions: Decisions, who: str) -> None:
        if sort == "best":
            self.items = sorted(items, key=lambda i: (-i.score, i.image))
        elif sort == "worst":
            self.items = sorted(items, key=lambda i: (i.score, i.image))
        elif sort == "recent":
            self.items = sorted(items, key=lambda i: (i.image, -i.score))
            self.items.sort(key=lambda i: _decided(decisions, i.pair, who), reverse=True)
        else:
            self.items = sorted(items, key=lambda i: (i.image, -i.score))
        self.places = {item.pair: place for place, item in enumerate(self.items)}


def _decided(decisions: Decisions, pair: str, who: str) -> tuple[str, int]:
    return max(((held.at, held.offset) for held in decisions.heads(pair, who)), default=("", 0))


def fits(item: Item, view: View, decisions: Decisions) -> bool:
    """Whether a pair belongs to a view, the search aside."""
    if view.style not in ("", item.style):
        return False
    if view.flag and view.flag not in (item.flags or (UNFLAGGED,)):
        return False
    if item.image_only or view.filter == "no_pair":
        return item.image_only and view.filter == "no_pair"
    if view.filter == "all":
        return True
    if view.filter == "by_hand":
        return item.by_hand
    heads = decisions.heads(item.pair)
    if not heads:
        return view.filter == "todo"
    mine = [held for held in heads if held.reviewer == view.reviewer]
    if view.filter in ("todo", "second"):
        return not mine
    if view.filter in ("disputed", "variants"):
        return decisions.outcome(item.pair) == view.filter
    return any(_is(held, view.filter) for held in mine)


def _is(held: Held, filter: str) -> bool:
    verdicts = {"accepted": "accept", "rejected": "reject", "unsure": "unsure"}
    if filter in verdicts:
        return held.verdict == verdicts[filter]
    return {"edited": held.edited, "noted": bool(held.note)}.get(filter, True)


class Search:
    """Finds text in questions, answers and file names, and in the reviewer's own decisions.

    The pairs' file is read once for each text that is searched for; the last ones are remembered.
    """

    KEPT = 8

    def __init__(self, project: Project, decisions: Decisions) -> None:
        self.project = project
        self.decisions = decisions
        self._found: dict[str, set[str]] = {}

    def matching(self, items: Iterable[tuple[int, Item]], view: View) -> list[int]:
        """The places of those items that hold the view's text, case and width of letters aside."""
        wanted = folded(view.search)
        if not wanted:
            return [place for place, _ in items]
        there = self._pairs(wanted)
        return [
            place
            for place, item in items
            if item.pair in there or self._decided(item, view.reviewer, wanted)
        ]

    def _decided(self, item: Item, reviewer: str, wanted: str) -> bool:
        heads = self.decisions.heads(item.pair, None if item.by_hand else reviewer)
        return any(wanted in folded(f"{h.question}\n{_lines(h.answers)}\n{h.note}") for h in heads)

    def _pairs(self, wanted: str) -> set[str]:
        if wanted not in self._found:
            if len(self._found) >= self.KEPT:
                self._found.pop(next(iter(self._found)))
            self._found[wanted] = {
                str(entry["pair"])
                for _, entry in self.project.pairs.read()
                if wanted
                in folded(f"{entry['question']}\n{_lines(entry['answers'])}\n{entry.get('file')}")
            }
        return self._found[wanted]


def folded(text: str) -> str:
    """Text as it is searched: without case, compatibility forms and doubled blanks."""
    whole = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(whole.casefold().split())


def _lines(texts: Iterable[object]) -> str:
    return "\n".join(map(str, texts))
