"""Runs: one model in one condition over the benchmark's questions, scored, with its faults counted.

Of each output at most ``TEXT_KEPT`` characters stay in memory once it is scored, so that a run's
size depends on the benchmark and not on how long the model thought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from dtvqa_plugin._version import __version__
from dtvqa_plugin.analysis.bootstrap import Design, Floats
from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits.custom import CUSTOM_SPLIT
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.metrics import DEFAULT_TAU, prepare, score
from dtvqa_plugin.predictions.kinds import METRICS, Kind
from dtvqa_plugin.runs.context import Context
from dtvqa_plugin.runs.references import SAMPLE_SPLIT, AnnotationStamp
from dtvqa_plugin.runs.signature import BENCHMARK, CUSTOM, SAMPLE, UNKNOWN, Signature
from dtvqa_plugin.utils.text import counted

TEXT_KEPT = 4_000
"""Characters of an output kept for audits and display; scores are of the whole output."""

EXAMPLES = 5
"""How many ids a remark shows of a longer list."""


class RunError(DTVQAError):
    """Predictions that cannot be read as one run of this benchmark."""


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One output, scored: ``anls``, ``acc``, ``accanls`` are 0-1.

    ``text`` is what was scored (reasoning and outer white space removed), cut at ``TEXT_KEPT``
    characters; ``length`` its full length in code points.
    """

    question_id: str
    text: str
    length: int
    anls: float
    acc: float
    accanls: float
    matched_answer: str | None
    exact_match: bool
    acc_word: bool
    length_ratio: float | None
    failed: bool
    truncated: bool
    loss: str | None = None

    @property
    def empty(self) -> bool:
        """Whether the model answered with nothing (and the call neither failed nor broke off)."""
        return not (self.text or self.failed or self.truncated)


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored figure (0-1) that is not the recomputed one; ``question_id`` may name a task."""

    question_id: str
    metric: str
    stored: float
    recomputed: float


@dataclass(frozen=True, slots=True)
class Faults:
    """What was odd in a run's files. Nothing here is dropped without being counted.

    ``doubled`` holds ids answered more than once (the last answer counts, as in VLMEvalKit),
    ``contradictory`` how many of these had another text; ``unknown`` is the number of answers to
    questions that the benchmark does not have, ``unknown_ids`` the first few of them;
    ``unreadable`` the records left out, as (file, place, reason).
    """

    doubled: tuple[str, ...] = ()
    contradictory: int = 0
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    unreadable: tuple[tuple[str, str, str], ...] = ()
    unreadable_count: int = 0
    differences: tuple[Difference, ...] = ()
    other_annotations: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One model in one condition over the questions of one split.

    ``records`` and ``answers`` are aligned and in the paper's order of subsets; ``missing`` are
    the questions of the same subsets that the run does not answer.
    """

    name: str
    kind: Kind
    paths: tuple[Path, ...]
    split: str
    context: Context
    records: tuple[Record, ...]
    answers: tuple[ScoredAnswer, ...]
    missing: tuple[Record, ...]
    annotations: AnnotationStamp
    tau: float = DEFAULT_TAU
    faults: Faults = field(default_factory=Faults)

    @property
    def condition(self) -> str:
        """``none``, ``paper``, ``blind``, ``native``, or ``unknown``."""
        return self.context.condition or UNKNOWN

    @property
    def is_sample(self) -> bool:
        """Whether this is the embedded sample, whose score is no DT-VQA score."""
        return self.split == SAMPLE_SPLIT

    @property
    def subsets(self) -> tuple[str, ...]:
        """Subsets that the run has answers for, in the paper's order."""
        return self.design.names

    @property
    def failed(self) -> int:
        """Number of questions for which the host got no output; each scores 0."""
        return sum(answer.failed for answer in self.answers)

    @cached_property
    def design(self) -> Design:
        """Subset and image of each question."""
        return Design(
            [record.subset for record in self.records], [record.image for record in self.records]
        )

    @cached_property
    def values(self) -> Floats:
        """Scores 0-1, shape (questions, 3), columns as in ``formats.METRICS``."""
        rows = [[getattr(answer, name) for name in METRICS] for answer in self.answers]
        return np.asarray(rows, dtype=np.float64)

    @cached_property
    def by_question(self) -> dict[str, ScoredAnswer]:
        """Answers by question id."""
        return {answer.question_id: answer for answer in self.answers}

    def only(self, question_ids: Iterable[str]) -> Run:
        """The same run over some of its questions, in its own order."""
        wanted = set(question_ids)
        kept = [i for i, record in enumerate(self.records) if record.question_id in wanted]
        if not kept:
            raise RunError(f"{self.name}: none of the chosen questions is in this run")
        dropped = tuple(r for r in self.records if r.question_id not in wanted)
        subsets = {self.records[i].subset for i in kept}
        missing = [record for record in (*self.missing, *dropped) if record.subset in subsets]
        return replace(
            self,
            records=tuple(self.records[i] for i in kept),
            answers=tuple(self.answers[i] for i in kept),
            missing=tuple(missing),
        )

    def signature(self) -> Signature:
        """The line that makes this run's figures reproducible."""
        return Signature(
            version=__version__,
            split=self.split,
            subsets={name: self.design.size(name) for name in self.subsets},
            annotations=self.annotations.short,
            revision=self.annotations.revision or UNKNOWN,
            prompt=self.context.prompt or self.condition,
            image=self.context.image,
            tau=self.tau,
            reasoning="stripped",
            host=self.context.host,
            host_version=self.context.host_version,
            model=self.context.model,
            generation=self.context.generation,
            failed=self.failed,
            partial=len(self.missing),
            benchmark={SAMPLE_SPLIT: SAMPLE, CUSTOM_SPLIT: CUSTOM}.get(self.split, BENCHMARK),
        )

    def oddities(self) -> dict[str, tuple[str, ...]]:
        """Ids of missing, doubled and failed questions, and the first few unknown ones."""
        return {
            "missing": tuple(record.question_id for record in self.missing),
            "doubled": self.faults.doubled,
            "failed": tuple(answer.question_id for answer in self.answers if answer.failed),
            "unknown": self.faults.unknown_ids,
        }

    def remarks(self) -> list[str]:
        """What a reader must know of this run's files, one sentence each; empty if nothing."""
        return list(_remarks(self))


def score_answer(
    prediction: object, record: Record, tau: float = DEFAULT_TAU, loss: str | None = None
) -> ScoredAnswer:
    """Score one raw output as the hosts' adapters do: reasoning and outer white space removed."""
    prepared = prepare(prediction)
    scored = score(prepared, record.answers, tau, question_id=record.question_id)
    return ScoredAnswer(
        question_id=record.question_id,
        text=prepared.text[:TEXT_KEPT],
        length=len(prepared.text),
        anls=scored.anls,
        acc=scored.acc,
        accanls=scored.accanls,
        matched_answer=scored.matched_answer,
        exact_match=scored.exact_match,
        acc_word=scored.acc_word,
        length_ratio=scored.length_ratio,
        failed=prepared.failed,
        truncated=prepared.truncated,
        loss=loss,
    )


# --- remarks ----------------------------------------------------------------------------------


def _remarks(run: Run) -> Iterator[str]:
    faults = run.faults
    if run.missing:
        lacking = Counter(record.subset for record in run.missing)
        total = len(run.missing) + len(run.answers)
        yield (
            f"partial: {len(run.answers)} of {total} questions "
            f"({', '.join(f'{part} lacks {count}' for part, count in lacking.items())}: "
            f"{_some([record.question_id for record in run.missing])}); "
            "means are over the questions that are there"
        )
    if faults.doubled:
        yield (
            f"{counted(len(faults.doubled), 'question')} answered more than once "
            f"({counted(faults.contradictory, 'time')} with another text), the last answer counts: "
            f"{_some(faults.doubled)}"
        )
    if run.failed:
        names = [answer.question_id for answer in run.answers if answer.failed]
        yield f"{counted(run.failed, 'question')} failed (no output), each scores 0: {_some(names)}"
    if faults.unknown:
        yield (
            f"{counted(faults.unknown, 'answer')} to questions that the benchmark does not have, "
            f"left out: "
            f"{_some(faults.unknown_ids, faults.unknown)}"
        )
    if faults.unreadable_count:
        shown = "; ".join(f"{file}, {place}: {why}" for file, place, why in faults.unreadable)
        yield f"{counted(faults.unreadable_count, 'record')} could not be read, left out: {shown}"
    lost = Counter(answer.loss for answer in run.answers if answer.loss)
    for loss, count in lost.items():
        yield f"{counted(count, 'output')} not as the model wrote it: {loss}"
    yield from _stored_remarks(faults)
    for line in faults.skipped:
        yield f"left out: {line}"


def _stored_remarks(faults: Faults) -> Iterator[str]:
    if faults.differences:
        names = dict.fromkeys(item.question_id for item in faults.differences)
        first = faults.differences[0]
        yield (
            f"stored scores differ from the recomputed ones for {counted(len(names), 'question')}: "
            f"{_some(list(names))} "
            f"({first.metric} stored {first.stored:.4f}, recomputed {first.recomputed:.4f}); "
            "the recomputed ones are shown"
        )
    if faults.other_annotations:
        yield f"the run was made with other annotations: {', '.join(faults.other_annotations)}"


def _some(names: Sequence[str], total: int | None = None) -> str:
    total = len(names) if total is None else total
    shown = ", ".join(names[:EXAMPLES])
    return shown if total <= EXAMPLES else f"{shown} and {total - len(names[:EXAMPLES])} more"
