"""What became of each question: one outcome each, with the evidence. Ours, never the paper's.

The tests run in the order of `OUTCOMES`; the first that holds decides. Those from ``near`` on
look at outputs that are wrong. Where the image's recognised text is missing, what is neither
near nor any of the earlier ones is ``unplaced``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from dtvqa_plugin.analysis.failures.folding import contains, folded, is_form_only, squeezed
from dtvqa_plugin.analysis.failures.placing import Box, Page, Place, similarity
from dtvqa_plugin.analysis.hedging import stance
from dtvqa_plugin.analysis.refusals import is_refusal
from dtvqa_plugin.data import Record
from dtvqa_plugin.metrics.scored import ScoredAnswer

OUTCOMES: Mapping[str, str] = {
    "failed": "the host got no output",
    "cut": "the output ends inside its reasoning",
    "empty": "the model said nothing",
    "right": "the output is a reference answer, case aside",
    "hedged": "the output contains a reference answer but denies it, or offers another answer "
    "as well",
    "inside": "a reference answer occurs as whole words in a longer output",
    "form": "right but for width, blanks, punctuation, units or number marks",
    "refused": "the model says that it cannot answer",
    "near": "a few characters off a reference answer: misread",
    "computed": "no reference answer is on the image: counted, computed, translated or inferred",
    "other": "the output is other text of the image: read, but the wrong place",
    "invented": "the output is not on the image",
    "unplaced": "wrong, and the image has no recognised text",
}
"""Outcomes by name, in the order in which they are tested, with their meaning."""

NEAR = 0.75
"""Least similarity (0-1, after folding) of an output with a reference, to count as misread."""

SHORT = 5
"""In answers of at most so many characters one edit counts as misread."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one question.

    Attributes:
        question_id: The question.
        name: One of `OUTCOMES`.
        evidence: What decided, in a few words; "" where the name says it all.
        answer: The reference answer that it was held against; None where there was no output.
        answer_box: Where that answer stands on the image, if known (pixels, upright image).
        output_box: Where the output stands on the image, if it does.
    """

    question_id: str
    name: str
    evidence: str = ""
    answer: str | None = None
    answer_box: Box | None = None
    output_box: Box | None = None


def outcomes(
    records: Sequence[Record], answers: Sequence[ScoredAnswer], pages: Mapping[str, Page]
) -> tuple[Outcome, ...]:
    """The outcome of each question of a run.

    Args:
        records: The questions.
        answers: The outputs, scored, in the same order.
        pages: Recognised text by the records' ``image``; images may be missing.
    """
    return tuple(
        outcome(record, answer, pages.get(record.image))
        for record, answer in zip(records, answers, strict=True)
    )


def outcome(record: Record, answer: ScoredAnswer, page: Page | None) -> Outcome:
    """The outcome of one question; ``page`` is its image's recognised text, if known."""
    if answer.unanswered is not None:
        names = {"failed": "failed", "truncated": "cut", "empty": "empty"}
        return Outcome(record.question_id, names[answer.unanswered])
    place = page.best(record.answers) if page is not None else None
    found = _credited(record, answer) or _wrong(record, answer, page, place)
    return Outcome(
        record.question_id,
        found.name,
        found.evidence,
        found.answer,
        place.box if place is not None else None,
        found.place.box if found.place is not None else None,
    )


_TAKEN_BACK = {"hedged": "unsure, or one of several", "negated": "denied"}


@dataclass(frozen=True, slots=True)
class _Verdict:
    name: str
    evidence: str
    answer: str
    place: Place | None = None


def _credited(record: Record, answer: ScoredAnswer) -> _Verdict | None:
    """Outcomes that rest on the answer being there in some form, and refusals."""
    matched = answer.matched_answer or record.answers[0]
    if answer.exact_match:
        return _Verdict("right", "", matched)
    if answer.acc > 0:
        taken_back = stance(answer.text, matched, record.question)
        if taken_back != "plain":
            return _Verdict("hedged", _TAKEN_BACK[taken_back], matched)
        if answer.acc_word:
            return _Verdict("inside", f"{answer.length_ratio or 1:.1f} times as long", matched)
    for reference in record.answers:
        if is_form_only(answer.text, reference):
            return _Verdict("form", "", reference)
    for reference in record.answers:
        if _folded_inside(answer.text, reference):
            if stance(answer.text, reference, record.question) != "plain":
                return _Verdict("hedged", "in another form", reference)
            return _Verdict("form", "in a longer output", reference)
    if is_refusal(answer.text):
        return _Verdict("refused", "", matched)
    return None


def _folded_inside(text: str, reference: str) -> bool:
    wanted = folded(reference)
    return bool(wanted) and contains(folded(text), wanted)


def _wrong(
    record: Record, answer: ScoredAnswer, page: Page | None, place: Place | None
) -> _Verdict:
    said = list(dict.fromkeys(core for core in cores(answer.text, record.question)))
    alike, core, reference = max(
        ((similarity(core, ref), core, ref) for core in said for ref in record.answers),
        key=lambda item: item[0],
    )
    near = _is_near(core, reference, alike)
    edit = edits(core, reference) if near else ""
    if page is None:
        return _Verdict(*(("near", edit) if near else ("unplaced", "")), reference)
    there = page.find(core) if near else None
    # An output that is on the image unchanged was read there, unless that is the answer's place.
    if near and (there is None or there.similarity < 1.0 or _same_place(there, place)):
        return _Verdict("near", edit, reference, there)
    there = page.best(said)
    if place is None:
        return _Verdict("computed", "no reference is in the recognised text", reference, there)
    if there is not None:
        return _Verdict("other", f"{there.text[:60]!r} is on the image", reference, there)
    if page.holds_words(answer.text[:_LONG]):
        return _Verdict("other", "its words are on the image, apart", reference)
    return _Verdict("invented", "not in the recognised text", reference)


def _same_place(there: Place, place: Place | None) -> bool:
    return place is not None and place.similarity < 1.0 and there.box == place.box


def _is_near(core: str, reference: str, alike: float) -> bool:
    """A few characters off; one in a short answer, whose first letter or digit may be the one."""
    mine, theirs = squeezed(core), squeezed(reference)
    if max(len(mine), len(theirs)) <= SHORT:
        return min(len(mine), len(theirs)) > 1 and Levenshtein.distance(mine, theirs) <= 1
    return alike >= NEAR


_LEAD = re.compile(r"\b(?:is|are|was|were|says|reads|shows)\b|[:：]|是|为|显示", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“「『《]([^\"”」』》]{1,200})[\"”」』》]")
_LONG = 400


def cores(text: str, question: str) -> list[str]:
    """The parts of an output that may be the answer: all of it, what is quoted, what comes last.

    A repetition of the question is left out.
    """
    text = text[:_LONG].replace(question, " ").strip() or text[:_LONG]
    found = [text, *_QUOTED.findall(text)]
    leads = list(_LEAD.finditer(text))
    if leads:
        found += [text[leads[0].end() :], text[leads[-1].end() :]]
    return [part.strip() for part in found if folded(part)] or [text]


def edits(text: str, answer: str) -> str:
    """The edits that make the answer of a text, ``[said→answer]`` between what is equal."""
    parts = []
    for step in Levenshtein.opcodes(text, answer):
        said, wanted = text[step.src_start : step.src_end], answer[step.dest_start : step.dest_end]
        parts.append(said if step.tag == "equal" else f"[{said}→{wanted}]")
    return "".join(parts)
