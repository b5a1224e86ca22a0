"""Which pair comes next, and everything that the page shows of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.extract import pair_id
from dtvqa_plugin.annotate.project.inventory import ImageIndex
from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.agreement import agreements
from dtvqa_plugin.annotate.review.decisions import Decisions, Held
from dtvqa_plugin.annotate.review.views import Item, Order, Search, View, fits

BY_HAND = "by hand"
"""The round of pairs that reviewers made."""
MAX_UNREAD = 20


@dataclass
class Queue:
    """The pairs of a project, with flags and proposals where those stages have run.

    Memory: some 300 bytes a pair (places in the files, no texts).
    """

    project: Project
    decisions: Decisions = field(init=False)
    images: ImageIndex = field(init=False)

    def __post_init__(self) -> None:
        self.images = ImageIndex(self.project)
        self.decisions = Decisions(self.project)
        self.decisions.refresh()
        self._flags: dict[str, int] = {}
        scores: dict[str, float] = {}
        codes: dict[str, tuple[str, ...]] = {}
        alike: dict[tuple[str, ...], tuple[str, ...]] = {}
        for offset, entry in self.project.flags.read():
            if entry["flags"]:
                pair = str(entry["pair"])
                found = tuple(sorted({str(flag[0]) for flag in entry["flags"]}))
                self._flags[pair] = offset
                scores[pair] = float(entry["score"])
                codes[pair] = alike.setdefault(found, found)
        self._flag_counts = Counter(
            code for found in codes.values() for code in found
        ).most_common()
        self._proposals = {str(e["pair"]): o for o, e in self.project.proposals.read()}
        self._unread: dict[str, list[int]] = {}
        for offset, entry in self.project.unread.read():
            self._unread.setdefault(str(entry["image"]), []).append(offset)
        self._items: dict[str, Item] = {}
        for offset, entry in self.project.pairs.read():
            pair = str(entry["pair"])
            self._items[pair] = Item(
                pair,
                str(entry["image"]),
                str(entry["style"]),
                offset,
                scores.get(pair, 1.0),
                codes.get(pair, ()),
            )
        self._add_images()
        self._seen_decisions = -1
        self._orders: dict[object, Order] = {}
        self._matching: tuple[object, list[int]] = (None, [])
        self.refresh()
        if not self._items:
            raise AnnotateError(
                f"{self.project.pairs.path}: nothing to review; run 'dtvqa annotate extract'"
            )
        self._search = Search(self.project, self.decisions)

    def _add_images(self) -> None:
        """Images whose answers could not be read and gave no pair: people may make some."""
        with_pairs = {item.image for item in self._items.values()}
        for image in self._unread.keys() - with_pairs:
            seen = self.images.entry(image)
            source = self.project.source(str(seen["source"])) if seen else None
            if source is not None:
                name, offset = f"image {image}", self._unread[image][0]
                self._items[name] = Item(name, image, source.style, offset, image_only=True)

    def refresh(self) -> None:
        """Take in what was decided meanwhile, and the pairs that reviewers made or took back."""
        self.decisions.refresh()
        if self._seen_decisions == self.decisions.count:
            return
        self._seen_decisions = self.decisions.count
        made = self.decisions.by_hand()
        gone = [pair for pair, item in self._items.items() if item.by_hand and pair not in made]
        new = [pair for pair in made if pair not in self._items]
        for pair in gone:
            del self._items[pair]
        for pair in new:
            entry = self.project.decisions.at(made[pair].offset)
            image, style = str(entry.get("image")), str(entry.get("style") or "")
            self._items[pair] = Item(pair, image, style, made[pair].offset, by_hand=True)
        if gone or new:
            self._orders = {}

    # --- pairs ---

    def has(self, pair: str) -> bool:
        """Whether the pair is here; one made by hand is not once it is taken back."""
        return pair in self._items

    def pair(self, pair: str) -> Entry:
        """A pair's record. Raises `AnnotateError` for an unknown one."""
        item = self._items.get(pair)
        if item is None:
            raise AnnotateError(f"no pair {pair[:20]!a} here; reload the page")
        if item.image_only:
            return self._no_pair(item)
        journal = self.project.decisions if item.by_hand else self.project.pairs
        entry = journal.at(item.offset)
        if entry["pair"] != pair:
            raise AnnotateError("the pairs were extracted again; end this review and restart it")
        return entry

    def _no_pair(self, item: Item) -> Entry:
        seen = self.images.entry(item.image) or {}
        return {
            **{"pair": item.pair, "image": item.image, "style": item.style},
            **{"source": seen.get("source", ""), "file": seen.get("file", "")},
            **{"question": "", "answers": []},
        }

    def beside(self, pair: str, question: str, answers: Sequence[str]) -> Entry:
        """The record of a new pair on the image of another.

        Raises `AnnotateError` when the image has that pair already.
        """
        of = self.pair(pair)
        name = pair_id(str(of["image"]), question, tuple(answers))
        if name in self._items:
            raise AnnotateError("this pair is here already")
        return {
            **{key: of.get(key) for key in ("image", "source", "style", "file")},
            **{"pair": name, "question": question, "answers": list(answers)},
            **{"round": BY_HAND, "model": "", "prompt": ""},
        }

    def styles(self) -> list[str]:
        """The styles that have pairs, in the config's order."""
        there = {item.style for item in self._items.values() if not item.image_only}
        configured = dict.fromkeys(source.style for source in self.project.config.sources)
        return [s for s in configured if s in there] + sorted(there - configured.keys())

    # --- stepping ---

    def step(self, view: View, start: str | None, step: int) -> tuple[Entry | None, int, int]:
        """The next pair of the view from ``start`` on: (pair, place from 1, number of pairs).

        ``step`` is 1, -1, or 0 for ``start`` itself with any filter. Past either end the
        search continues from the other.
        """
        self.refresh()
        order = self._order(view.sort, view.reviewer)
        matching = self._match(view, order)
        here = order.places.get(start or "", -1)
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
        return self.describe(order.items[chosen].pair, view.reviewer), place, len(matching)

    def _order(self, sort: str, reviewer: str) -> Order:
        key: object = (sort, reviewer, self.decisions.count) if sort == "recent" else sort
        if key not in self._orders:
            kept: dict[object, Order] = {
                k: o for k, o in self._orders.items() if isinstance(k, str)
            }
            made = Order(self._items.values(), sort, self.decisions, reviewer)
            self._orders = {**kept, key: made}
        return self._orders[key]

    def _match(self, view: View, order: Order) -> list[int]:
        key = (view, self.decisions.count)
        if self._matching[0] != key:
            fitting = (
                (place, item)
                for place, item in enumerate(order.items)
                if fits(item, view, self.decisions)
            )
            places = self._search.matching(fitting, view)
            self._matching = (key, places)
        return self._matching[1]

    # --- what the page shows ---

    def describe(self, pair: str, reviewer: str) -> Entry:
        """Everything the page shows of a pair; others' decisions only after the reviewer's own."""
        entry, item = self.pair(pair), self._items[pair]
        flags, proposals = self._flags.get(pair), self._proposals.get(pair)
        heads = self.decisions.heads(pair)
        mine = self.decisions.of(pair).get(reviewer)
        variants = bool(mine) and self.decisions.outcome(pair) == "variants"
        unread = self._unread.get(item.image, [])
        return {
            "pair": pair,
            "image": item.image,
            "style": item.style,
            "file": entry.get("file", ""),
            "round": entry.get("round", ""),
            "model": entry.get("model", ""),
            "by_hand": item.by_hand,
            "image_only": item.image_only,
            "box": entry.get("box"),
            "question": entry["question"],
            "answers": entry["answers"],
            "score": item.score,
            "flags": self.project.flags.at(flags)["flags"] if flags is not None else [],
            "proposals": (
                self.project.proposals.at(proposals)["proposals"] if proposals is not None else []
            ),
            "unread": [self._unread_text(offset) for offset in unread[:MAX_UNREAD]],
            "unread_more": max(0, len(unread) - MAX_UNREAD),
            "of_image": self._of_image(item),
            "mine": _shown(mine) if mine else None,
            "seen": [held.id for held in heads if held.reviewer == reviewer],
            "others": [_shown(held) for held in heads if held != mine] if mine else [],
            "variants": variants and bool(mine and mine.verdict == "accept"),
        }

    def _unread_text(self, offset: int) -> Entry:
        entry = self.project.unread.at(offset)
        return {"text": str(entry["text"]), "refusal": bool(entry.get("refusal"))}

    def _of_image(self, item: Item) -> list[int]:
        """The pair's place from 1 among those of its image, and their number."""
        order = self._order("image", "")
        first = order.places[item.pair]
        while first > 0 and order.items[first - 1].image == item.image:
            first -= 1
        group = takewhile(lambda other: other.image == item.image, islice(order.items, first, None))
        pairs = [other.pair for other in group if not other.image_only]
        return [pairs.index(item.pair) + 1 if item.pair in pairs else 0, len(pairs)]

    def state(self, reviewer: str) -> dict[str, Any]:
        """Progress towards the targets, and how reviewers agree."""
        self.refresh()
        outcomes: dict[str, Counter[str]] = {style: Counter() for style in self.styles()}
        decided_by_me = 0
        for pair in self.decisions.pairs():
            decided = self.decisions.of(pair)
            decided_by_me += reviewer in decided
            outcome = self.decisions.outcome(pair)
            item = self._items.get(pair)
            style = item.style if item else self._style_of(next(iter(decided.values())))
            outcomes.setdefault(style, Counter())[str(outcome)] += 1
        pairs = Counter(item.style for item in self._items.values() if not item.image_only)
        last = self.decisions.last(reviewer)
        return {
            "name": self.project.config.name,
            "target": self.project.config.review.target,
            "styles": [
                {"name": style, "pairs": pairs[style], **_counts(counter)}
                for style, counter in outcomes.items()
            ],
            "flags": self._flag_counts,
            "mine": decided_by_me,
            "last": last[1].id if last else None,
            "no_pair": sum(item.image_only for item in self._items.values()),
            "reviewers": self.decisions.reviewers,
            "agreement": [
                {name: getattr(part, name) for name in part.__slots__}
                for part in agreements(self.decisions)
            ],
        }

    def _style_of(self, held: Held) -> str:
        return str(self.project.decisions.at(held.offset).get("style") or "")


def _shown(held: Held) -> Entry:
    return {
        "reviewer": held.reviewer,
        "verdict": held.verdict,
        "question": held.question,
        "answers": list(held.answers),
        "note": held.note,
    }


def _counts(counter: Counter[str]) -> dict[str, int]:
    return {
        name: counter[name] for name in ("accepted", "rejected", "disputed", "variants", "unsure")
    }
