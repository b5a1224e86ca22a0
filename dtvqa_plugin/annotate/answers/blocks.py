"""Pairs out of a sequence of items: a question's block is read whole, or it is unread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dtvqa_plugin.annotate.answers.lines import Item
from dtvqa_plugin.annotate.answers.values import Span, clean

_QUESTION_END = re.compile(r"[?？؟][\s*_`\"'”’」)）]*\Z")
_FOREIGN_LABEL = re.compile(r"[^\W\d]{1,15}\s?\d{0,3}\s?(?:[:.)\-]|[~|>]\s)")
"""What a question without a label does not begin with: a label of a language not in the table."""
_LABEL_LIKE = re.compile(r"[^:]{1,30}:(?:\s|[^\x00-\x7f])|\W")
"""A line that is a remark of its own rather than the rest of a value."""
_COLON = re.compile(
    r"[^:]{1,30}:(?:\s|[^\x00-\x7f])|[^\W\d]{1,15}\s?\d{0,3}(?:\s?[~|>]\s|:(?!//)|\s[-–~])"
)
"""What an answer without a label does not begin with."""
_ASIDE = re.compile(r"[(\[].*[)\]]")
_SENTENCE = re.compile(r"[.。!！:：…]\Z")
_SILENT = ("blank", "rule", "remark", "note")
_MAX_CONTINUATION_WORDS = 8
_MAX_CONTINUATION_LINES = 6
_MAX_BARE_WORDS = 15


@dataclass(slots=True)
class Found:
    """Pairs as spans of (question, answers, number); what is unread; what is remark."""

    pairs: list[tuple[Span, list[Span], int | None]] = field(default_factory=list)
    unread: list[Span] = field(default_factory=list)
    remarks: list[Span] = field(default_factory=list)

    def drop(self, items: Sequence[Item]) -> None:
        """Give all of these up."""
        self.unread += [item.line for item in items if item.kind not in ("blank", "rule")]


class Reader:
    """Reads the items of a text."""

    def __init__(self, view: str, items: Sequence[Item]) -> None:
        self.view = view
        self.items = list(items)
        self.found = Found()
        self.questions_labelled = any(item.kind == "q" for item in items)
        self.answers_labelled = any(item.kind == "a" for item in items)

    def read(self) -> Found:
        """Everything: pairs, unread stretches, remarks."""
        if self._sections() or self._questions_first() or self._answers_first():
            return self.found
        starts = [n for n in range(len(self.items)) if self._starts(n)]
        self._preface(self.items[: starts[0]] if starts else self.items)
        for place, start in enumerate(starts):
            end = starts[place + 1] if place + 1 < len(starts) else len(self.items)
            self._block(self.items[start:end])
        return self.found

    def _clean(self, span: Span) -> str:
        return clean(self.view[slice(*span)])

    def asks(self, item: Item) -> bool:
        """Whether an item without a label is one question and nothing else."""
        text = self.view[slice(*item.text)]
        return _QUESTION_END.search(text) is not None and item.kind in ("item", "bullet", "text")

    # --- where questions begin -------------------------------------------------------------------

    def _starts(self, place: int) -> bool:
        item = self.items[place]
        if item.kind == "q":
            return True
        if not self.asks(item):
            return self._inline(item) is not None
        if item.kind == "text" and not item.strong and self.questions_labelled:
            return False
        if place and self.view[slice(*self.items[place - 1].line)].rstrip().endswith((",", "，")):
            return False  # the second half of a question
        earlier = (self.items[n] for n in range(place - 1, -1, -1))
        before = next((i for i in earlier if i.kind != "blank"), None)
        if before is not None and before.kind == "q":
            # The text of an empty label, or a question in several lines.
            empty = before.text[0] >= before.text[1]
            return not empty and _QUESTION_END.search(self.view[slice(*before.text)]) is not None
        # A question mark within an answer line does not begin a question.
        return not (before is not None and before.kind == "a" and before.text[0] >= before.text[1])

    def _inline(self, item: Item) -> tuple[Span, Span] | None:
        """``What? Answer`` on one line of a list, where it can be divided in one way only."""
        if item.kind not in ("item", "bullet") or self.answers_labelled:
            return None
        start, end = item.text
        text = self.view[start:end]
        marks = list(re.finditer(r"[?？؟]", text))
        if len(marks) != 1:
            return None
        rest = re.compile(r"[*_`\"'”]{0,3}\s*(?:(?:[-–—:|]|->|=>|→|⇒)\s+)?").match(
            text, marks[0].end()
        )
        assert rest is not None
        said = clean(text[rest.end() :])
        if not re.search(r"\w", said) or _COLON.match(said) or re.fullmatch(r"\[\d{1,2}\]", said):
            return None
        answer = (start + rest.end(), end)
        inner = re.fullmatch(r"\(([^(]*)\)|\[([^\[]*)\]", self.view[slice(*answer)])
        if inner:
            answer = (answer[0] + 1, answer[1] - 1)
        head = start + marks[0].end()
        closing = re.match(r"[*_`\"'”]{0,3}", text[marks[0].end() :])
        return (start, head + (len(closing.group()) if closing else 0)), answer

    # --- whole texts -----------------------------------------------------------------------------

    def _sections(self) -> bool:
        """``Questions:`` with a numbered list, then ``Answers:`` with another."""
        kinds = [item.kind for item in self.items]
        if (
            kinds.count("qs") != 1
            or kinds.count("as") != 1
            or kinds.index("qs") > kinds.index("as")
        ):
            return False
        at, then = kinds.index("qs"), kinds.index("as")
        asked = [i for i in self.items[at + 1 : then] if i.kind not in _SILENT]
        said = [i for i in self.items[then + 1 :] if i.kind not in _SILENT]
        self._preface([*self.items[:at]])
        self._by_number(asked, said)
        return True

    def _questions_first(self) -> bool:
        """All labelled questions, then all labelled answers."""
        told = [item for item in self.items if item.kind not in _SILENT]
        asked = [item for item in told if item.kind == "q"]
        said = [item for item in told if item.kind == "a"]
        if len(asked) < 2 or told != asked + said or not said:
            return False
        self._preface([item for item in self.items if item.kind in _SILENT])
        self._by_number(asked, said)
        return True

    def _answers_first(self) -> bool:
        """Each labelled answer above its question: which belongs to which is in doubt."""
        labelled = [item.kind for item in self.items if item.kind in ("q", "a")]
        if not labelled or labelled[0] != "a" or labelled[-1] != "q":
            return False
        self.found.drop(self.items)
        return True

    def _by_number(self, asked: Sequence[Item], said: Sequence[Item]) -> None:
        numbers = [item.number if item.kind != "bullet" else None for item in asked]
        others = {item.number: item for item in said}
        same = set(numbers) == set(others) and len(numbers) == len(said) == len(set(numbers))
        if None in numbers or not same or not all(_filled(i) for i in (*asked, *said)):
            self.found.drop([*asked, *said])
            return
        for item in said:
            question = next(i for i in asked if i.number == item.number)
            self.found.pairs.append((question.text, [item.text], item.number))

    def _preface(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.kind in ("remark", "note", "qs", "as"):
                self.found.remarks.append(item.line)
            elif item.kind not in ("blank", "rule"):
                self.found.unread.append(item.line)

    # --- one question ----------------------------------------------------------------------------

    def _block(self, block: list[Item]) -> None:
        """One question with all that follows it until the next."""
        inline = self._inline(block[0]) if block[0].kind not in ("q", "text") else None
        if inline is not None and not self.asks(block[0]):
            rest = self._after(block[1:])
            if rest is None:
                self.found.drop(block)
            else:
                self._keep(inline[0], [inline[1]], block[0].number, rest)
            return
        question, rest_items = self._question(block)
        if block[0].kind != "q" and _FOREIGN_LABEL.match(self.view[slice(*block[0].text)]):
            question = None
        if question is None:
            self.found.drop(block)
            return
        labelled = any(item.kind == "a" for item in rest_items)
        read = (
            self._labelled(block[0], rest_items) if labelled else self._bare(block[0], rest_items)
        )
        if read is None:
            self.found.drop(block)
        else:
            answers, number, rest = read
            self._keep(question, answers, number, rest)

    def _keep(
        self, question: Span, answers: list[Span], number: int | None, rest: Sequence[Item]
    ) -> None:
        self.found.pairs.append((question, answers, number))
        for item in rest:
            if item.kind in ("note", "remark", "option"):
                self.found.remarks.append(item.line)
            elif item.kind not in ("blank", "rule"):
                self.found.unread.append(item.line)

    def _question(self, block: list[Item]) -> tuple[Span | None, list[Item]]:
        """The question's span, and the items after it."""
        first, rest = block[0], block[1:]
        span = first.text
        if not _filled(first):
            while rest and rest[0].kind in ("blank", "rule"):
                rest = rest[1:]
            if not rest or rest[0].kind != "text":
                return None, rest
            span, rest = rest[0].text, rest[1:]
        while (
            rest
            and rest[0].kind == "text"
            and first.kind == "q"
            and not _QUESTION_END.search(self.view[slice(*span)])
            and any(item.kind == "a" for item in rest)
        ):
            if _LABEL_LIKE.match(self.view[slice(*rest[0].text)]):
                return None, rest
            span, rest = (span[0], rest[0].text[1]), rest[1:]
        return span, rest

    def _labelled(
        self, asked: Item, items: list[Item]
    ) -> tuple[list[Span], int | None, list[Item]] | None:
        """Options or notes, the labelled answer, and what may follow one."""
        at = next(n for n, item in enumerate(items) if item.kind == "a")
        before, answer, after = items[:at], items[at], items[at + 1 :]
        options = [item for item in before if item.kind in ("option", "bullet")]
        if any(i.kind not in (*_SILENT, "option", "bullet") for i in before):
            return None
        own = asked.number if asked.number is not None else asked.item
        if None not in (own, answer.number) and own != answer.number:
            return None
        spans, after = self._answer(answer, after)
        rest = self._after(after)
        if rest is None or not spans:
            return None
        said = clean(self.view[slice(*spans[0])])
        if options and not self._chosen(said, options):
            return None
        notes = [Item("note", item.line, item.text) for item in before if item.kind != "blank"]
        return spans, own, [*(n for n in notes if self.view[slice(*n.line)].strip()), *rest]

    def _chosen(self, said: str, options: Sequence[Item]) -> bool:
        """Whether an answer is more than an option's letter, and bulleted options hold it."""
        if re.fullmatch(r"\W?[A-Ha-h]\W?", said):
            return False
        bullets = [clean(self.view[slice(*i.text)]) for i in options if i.kind == "bullet"]
        return not bullets or (len(bullets) > 1 and said in bullets)

    def _answer(self, answer: Item, after: list[Item]) -> tuple[list[Span], list[Item]]:
        """The answer's spans (none where it is in doubt), and the items after it."""
        if _filled(answer):
            span = answer.text
        else:
            while after and after[0].kind == "blank":
                after = after[1:]
            bullets = 0
            while bullets < len(after) and after[bullets].kind == "bullet":
                bullets += 1
            if bullets:
                return [item.text for item in after[:bullets]], after[bullets:]
            if not after or after[0].kind not in ("text", "item"):
                return [], after
            span, after = after[0].text, after[1:]
            if _COLON.match(self._clean(span)) or _ASIDE.fullmatch(self._clean(span)):
                return [], after
        taken = 0
        while after and after[0].kind == "text":
            taken += 1
            if taken > _MAX_CONTINUATION_LINES:
                return [], after
            line = self.view[slice(*after[0].text)]
            ended = _SENTENCE.search(self.view[slice(*span)]) or after[0].strong
            if (
                ended
                or len(line.split()) > _MAX_CONTINUATION_WORDS
                or _LABEL_LIKE.match(line)
                or _LABEL_LIKE.match(self._clean(span))
            ):
                return [], after
            if _SENTENCE.search(line) or "|" in line:
                return [], after
            span, after = (span[0], after[0].text[1]), after[1:]
        return [span], after

    def _bare(
        self, asked: Item, items: list[Item]
    ) -> tuple[list[Span], int | None, list[Item]] | None:
        """A question whose answer is the one line that follows it."""
        told = [item for item in items if item.kind not in _SILENT]
        if asked.kind == "q" and self.answers_labelled:
            return None
        if not told or told[0].kind not in ("text", "bullet", "item"):
            return None
        answer = told[0]
        same_list = answer.kind == "item" and answer.number != asked.number
        line = self.view[slice(*answer.text)]
        said = self._clean(answer.text)
        if _COLON.match(said) or _ASIDE.fullmatch(said):
            return None
        if same_list or (asked.kind == "text" and answer.kind == "bullet" and not asked.strong):
            return None
        words = len(line.split())
        if (
            words > _MAX_BARE_WORDS
            or len(line) > 120
            or (words > 5 and re.search(r"[.。]\s", line))
        ):
            return None
        after = items[items.index(answer) + 1 :]
        if any(i.kind in ("bullet", "item", "option") for i in after) or (
            after and after[0].kind == "text"
        ):
            return None
        rest = self._after(after)
        return None if rest is None else ([answer.text], asked.number, rest)

    def _after(self, items: Sequence[Item]) -> list[Item] | None:
        """What follows a whole answer; None where it may belong to the answer."""
        noted = blank = False
        for item in items:
            blank = blank or item.kind in ("blank", "rule", "remark")
            noted = (noted or item.kind == "note") and item.kind != "blank"
            if item.kind in ("a", "option", "item", "bullet") and not noted:
                return None
            if item.kind == "text" and not noted:
                line = self.view[slice(*item.text)]
                words = len(line.split())
                sentence = _SENTENCE.search(line) is not None and words > 2
                if not blank or not (sentence or words > _MAX_CONTINUATION_WORDS):
                    return None
        kept: list[Item] = []
        noted = False
        for item in items:
            noted = (noted or item.kind == "note") and item.kind != "blank"
            kept.append(Item("note", item.line, item.text) if noted else item)
        return kept


def _filled(item: Item) -> bool:
    return item.text[1] > item.text[0]
