"""Audits of a run, under names of this package: what the paper's figures do not show.

Acc asks only that a reference answer stands somewhere in the output, so it does not punish length;
AccANLS takes Acc where it is 1. These counts say how far a figure rests on that, and what else the
outputs are like. None of them changes a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dtvqa_plugin.analysis.hedging import Stance, stance
from dtvqa_plugin.analysis.refusals import is_refusal
from dtvqa_plugin.analysis.repeated import FrequentOutput, frequent_outputs
from dtvqa_plugin.data import Record
from dtvqa_plugin.metrics import suspected_reasoning
from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.scripts import OTHER, main_script, script_of
from dtvqa_plugin.utils.text import counted

BOUNDS = (1.5, 4.0, 16.0)
"""Length of the output over that of the matched answer: the edges of the verbosity bins."""

VERBOSE_SHARE = 0.1
"""A warning is due when a larger share of hits comes from outputs beyond the last bound."""

_AROUND = 20

SUSPECTED = "unremoved thought"
"""Name of the finding whose outputs hold reasoning that was not removed."""

MAX_PHRASE_WORDS = 10
MAX_PHRASE_LENGTH = 80
"""The paper's prompt asks for a word or phrase. All but one of the 1,200 test questions have
references of at most 10 words, and longer outputs are explanations or dumps."""


@dataclass(frozen=True, slots=True)
class VerbosityBin:
    """Acc hits whose length ratio is in (``above``, ``up_to``]; ``up_to`` None: no upper bound.

    ``accanls_up_to`` and ``acc_up_to`` (0-1) are the scores over all questions if hits beyond
    ``up_to`` did not count: Acc 0 and AccANLS what ANLS gives.
    """

    above: float
    up_to: float | None
    hits: int
    share: float
    acc_up_to: float
    accanls_up_to: float


@dataclass(frozen=True, slots=True)
class Verbosity:
    """Where a run's Acc hits come from, by length; ``warn`` as ``VERBOSE_SHARE`` says."""

    hits: int
    bins: tuple[VerbosityBin, ...]

    @property
    def over_last(self) -> float:
        """Share of the hits from outputs beyond the last bound; 0 without hits."""
        return self.bins[-1].share

    @property
    def warn(self) -> bool:
        """Whether the run's Acc and AccANLS rest on long outputs."""
        return self.over_last > VERBOSE_SHARE

    def warning(self) -> str | None:
        """The sentence that belongs under a table, None if none is due."""
        if not self.warn:
            return None
        without = self.bins[-2].accanls_up_to * 100
        return (
            f"{self.over_last:.0%} of the Acc hits come from outputs over {BOUNDS[-1]:g} times "
            f"as long as the answer; without them AccANLS is {without:.1f}"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """How many outputs show something, and which; ``of`` is the number that could."""

    name: str
    meaning: str
    of: int
    question_ids: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of outputs found."""
        return len(self.question_ids)


@dataclass(frozen=True, slots=True)
class BoundaryHit:
    """An Acc hit inside a longer word or number: ``shown`` is the output around the answer."""

    question_id: str
    answer: str
    shown: str


@dataclass(frozen=True, slots=True)
class DoubtfulHit:
    """An Acc hit that the output takes back: ``shown`` is the output around the answer."""

    question_id: str
    answer: str
    stance: Stance
    shown: str


@dataclass(frozen=True)
class Audit:
    """All audits of one run, each made when it is asked for.

    Attributes:
        run: The run.
    """

    run: Run

    @cached_property
    def verbosity(self) -> Verbosity:
        """Where the Acc hits come from, by length of the output."""
        return verbosity(self.run.answers)

    @cached_property
    def boundary_hits(self) -> tuple[BoundaryHit, ...]:
        """One entry for each question of `boundary`."""
        hits = (answer for answer in self.run.answers if answer.acc > 0)
        return tuple(_boundary_hit(answer) for answer in hits if not answer.acc_word)

    @cached_property
    def boundary(self) -> Finding:
        """Acc hits that are not on token boundaries."""
        return Finding(
            "boundary",
            "Acc hits inside a longer word or number (0g in 10g)",
            self.verbosity.hits,
            tuple(hit.question_id for hit in self.boundary_hits),
        )

    @cached_property
    def doubtful_hits(self) -> tuple[DoubtfulHit, ...]:
        """One entry for each hedged or negated hit."""
        return tuple(_doubtful_hits(self.run))

    @cached_property
    def frequent(self) -> tuple[FrequentOutput, ...]:
        """The outputs that the run gives most often."""
        return frequent_outputs(self.run.answers)

    @cached_property
    def suspected(self) -> Finding:
        """Outputs that hold reasoning that was not removed."""
        return _suspected(self.run)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The counts, in the order in which they are shown."""
        stances = _stance_findings(self.doubtful_hits, self.verbosity.hits)
        return (*stances, *_findings(self.run, self.suspected))

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The boundary audit and the counts, in the order in which they are shown."""
        return (self.boundary, *self.findings)

    def warnings(self) -> list[str]:
        """Sentences that belong under a table, besides that of ``verbosity``."""
        found = [item.warning() for item in self.frequent if item.warn]
        if self.suspected.count:
            found.append(
                f"{counted(self.suspected.count, 'output')} may hold reasoning that was not "
                "removed; Acc credits answers that they mention"
            )
        return found

    def every_warning(self) -> list[str]:
        """All sentences of what warns, that of ``verbosity`` first; empty if nothing does."""
        long = self.verbosity.warning()
        return [*([long] if long else []), *self.warnings()]


def audit(run: Run) -> Audit:
    """Audit a run."""
    return Audit(run)


def _doubtful_hits(run: Run) -> Iterator[DoubtfulHit]:
    for record, answer in zip(run.records, run.answers, strict=True):
        if answer.acc > 0 and answer.matched_answer and not answer.exact_match:
            found = stance(answer.text, answer.matched_answer, record.question)
            if found != "plain":
                shown = _shown_around(answer)
                yield DoubtfulHit(answer.question_id, answer.matched_answer, found, shown)


def _stance_findings(doubtful: Sequence[DoubtfulHit], hits: int) -> Iterator[Finding]:
    meanings: dict[Stance, str] = {
        "hedged": "Acc hits offered with another answer, or as unsure (heuristic)",
        "negated": "Acc hits that the output denies, such as 'not 12g' (heuristic)",
    }
    for name, meaning in meanings.items():
        ids = tuple(hit.question_id for hit in doubtful if hit.stance == name)
        yield Finding(f"{name} hit", meaning, hits, ids)


def _boundary_hit(answer: ScoredAnswer) -> BoundaryHit:
    return BoundaryHit(answer.question_id, answer.matched_answer or "", _shown_around(answer))


def _shown_around(answer: ScoredAnswer) -> str:
    """The output around its matched answer, lower-cased as both are when compared."""
    matched, text = answer.matched_answer or "", answer.text.lower()
    start = text.find(matched.lower())
    if start < 0:  # beyond the part of the text that is kept
        return ""
    first, last = max(0, start - _AROUND), start + len(matched) + _AROUND
    return ("…" if first else "") + text[first:last] + ("…" if last < answer.length else "")


# --- verbosity --------------------------------------------------------------------------------


def verbosity(answers: Sequence[ScoredAnswer]) -> Verbosity:
    """Bin the Acc hits by length ratio and score again with each bound."""
    hits = [answer for answer in answers if answer.acc > 0]
    edges: list[tuple[float, float | None]] = list(zip((0.0, *BOUNDS[:-1]), BOUNDS, strict=True))
    bins = [_bin(answers, hits, above, up_to) for above, up_to in [*edges, (BOUNDS[-1], None)]]
    return Verbosity(len(hits), tuple(bins))


def _bin(
    answers: Sequence[ScoredAnswer],
    hits: Sequence[ScoredAnswer],
    above: float,
    up_to: float | None,
) -> VerbosityBin:
    limit = float("inf") if up_to is None else up_to
    inside = sum([above < (hit.length_ratio or 0.0) <= limit for hit in hits])
    counted = [answer.acc > 0 and (answer.length_ratio or 0.0) <= limit for answer in answers]
    accanls = sum([1.0 if ok else a.anls for ok, a in zip(counted, answers, strict=True)])
    return VerbosityBin(
        above=above,
        up_to=up_to,
        hits=inside,
        share=inside / len(hits) if hits else 0.0,
        acc_up_to=sum(counted) / len(answers),
        accanls_up_to=accanls / len(answers),
    )


# --- counts -----------------------------------------------------------------------------------


def _suspected(run: Run) -> Finding:
    said = [answer for answer in run.answers if answer.text]
    return Finding(
        SUSPECTED,
        "looks like reasoning without a known mark, and is scored (heuristic)",
        len(said),
        tuple(a.question_id for a in said if suspected_reasoning(a.text) is not None),
    )


def _findings(run: Run, suspected: Finding) -> list[Finding]:
    said = [
        (record, answer)
        for record, answer in zip(run.records, run.answers, strict=True)
        if answer.text
    ]

    def count(name: str, meaning: str, test: Callable[[Record, ScoredAnswer], bool]) -> Finding:
        found = tuple(a.question_id for record, a in said if test(record, a))
        return Finding(name, meaning, len(said), found)

    def state(name: str, meaning: str, test: Callable[[ScoredAnswer], bool]) -> Finding:
        found = tuple(answer.question_id for answer in run.answers if test(answer))
        return Finding(name, meaning, len(run.answers), found)

    return [
        count(
            "not a phrase",
            f"more than {MAX_PHRASE_WORDS} words, {MAX_PHRASE_LENGTH} characters or one line, "
            "where the paper's prompt asks for a word or phrase",
            lambda record, answer: not is_phrase(answer.text, answer.length),
        ),
        count(
            "repeats the question",
            "the output contains the question's words",
            lambda record, answer: record.question.lower() in answer.text.lower(),
        ),
        count(
            "other script",
            "mostly letters of a script that neither question nor references use",
            lambda record, answer: is_other_script(answer.text, record),
        ),
        count(
            "refusal",
            "the model says that it cannot or will not answer, without a hit (heuristic)",
            lambda record, answer: answer.acc == 0 and is_refusal(answer.text),
        ),
        suspected,
        state("empty", "the model said nothing", lambda answer: answer.empty),
        state(
            "cut off in its reasoning",
            "the output ends inside its reasoning: raise max_new_tokens",
            lambda answer: answer.truncated,
        ),
        state("failed", "the host got no output", lambda answer: answer.failed),
    ]


def is_phrase(text: str, length: int) -> bool:
    """Whether an output is the word or phrase that the paper's prompt asks for."""
    return (
        length <= MAX_PHRASE_LENGTH
        and len(text.split()) <= MAX_PHRASE_WORDS
        and len(text.splitlines()) <= 1
    )


_SCRIPT_LOOK = 500
"""Characters of an output that are looked at for its script."""


def is_other_script(text: str, record: Record) -> bool:
    """Whether an output is mostly in a script that its question and references do not use."""
    script = main_script(text[:_SCRIPT_LOOK])
    if script in (None, OTHER):
        return False
    around = "".join((record.question, *record.answers))
    return all(script_of(char) != script for char in around if char.isalpha())


# --- leakage ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeakagePart:
    """One part: scores 0-1 of the blank run, and of the run where the blank one scored nothing.

    ``n`` questions are in both runs; ``needs_reading`` of them got AccANLS 0 from the blank run.
    """

    part: str
    n: int
    blank_anls: float
    blank_acc: float
    blank_accanls: float
    accanls: float
    needs_reading: int
    accanls_needs_reading: float | None


def leakage(run: Run, blank: Run) -> list[LeakagePart]:
    """Compare a run with the same model's run over blank images: the score that needs no reading.

    Raises RunError if ``blank`` is not over grey pictures (lmms-eval task ``dtvqa_blind``) as far
    as is known, or if the runs share no question.
    """
    if blank.condition not in ("blind", "unknown"):
        raise RunError(
            f"{blank.name}: its condition is {blank.condition!r}, not a run over blank images; "
            "make one with lmms-eval --tasks dtvqa_blind"
        )
    shared = [
        record.question_id for record in run.records if record.question_id in blank.by_question
    ]
    if not shared:
        raise RunError(f"{run.name} and {blank.name} share no question")
    seen, unseen = run.only(shared), blank.only(shared)
    return [_leakage_part(seen, unseen, part) for part in seen.design.parts]


def _leakage_part(run: Run, blank: Run, part: str) -> LeakagePart:
    names = [record.question_id for record in run.records if part in (OVERALL, record.subset)]
    pairs = [(run.by_question[name], blank.by_question[name]) for name in names]
    reading = [seen.accanls for seen, unseen in pairs if unseen.accanls == 0]
    total = len(pairs)
    return LeakagePart(
        part=part,
        n=total,
        blank_anls=sum(unseen.anls for _, unseen in pairs) / total,
        blank_acc=sum(unseen.acc for _, unseen in pairs) / total,
        blank_accanls=sum(unseen.accanls for _, unseen in pairs) / total,
        accanls=sum(seen.accanls for seen, _ in pairs) / total,
        needs_reading=len(reading),
        accanls_needs_reading=sum(reading) / len(reading) if reading else None,
    )
