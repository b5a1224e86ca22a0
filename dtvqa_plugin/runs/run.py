"""Runs: one model in one condition over the benchmark's questions, scored, with its faults counted.

Of each output at most ``TEXT_KEPT`` characters stay in memory once it is scored, so that a run's
size depends on the benchmark and not on how long the model thought.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path

import numpy as np

from dtvqa_plugin._version import __version__
from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.metrics.reasoning import REASONING_VERSION
from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.predictions.shapes import Kind
from dtvqa_plugin.runs.context import Context
from dtvqa_plugin.runs.design import Design, Floats, shared_design
from dtvqa_plugin.runs.faults import Faults, RunError
from dtvqa_plugin.runs.references import AnnotationStamp
from dtvqa_plugin.runs.signature import UNKNOWN, Signature

TEXT_KEPT = 4_000
"""Characters of an output kept for audits and display; scores are of the whole output."""


@dataclass(frozen=True)
class Run:
    """One model in one condition over the questions of one split.

    ``records`` and ``answers`` are aligned and in the paper's order of subsets; ``missing`` are
    the questions of the same dataset that the run does not answer. Where each question has several
    responses, ``repeats`` holds the answers of each repeat, aligned with ``records``, and
    ``answers`` are those of the first. ``title`` is the name before what tells runs apart.
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
    repeats: tuple[tuple[ScoredAnswer, ...], ...] = ()
    title: str = ""

    @property
    def condition(self) -> str:
        """``none``, ``paper``, ``native``, one of `benchmark.inputs`, or ``unknown``."""
        return self.context.condition or UNKNOWN

    @property
    def is_sample(self) -> bool:
        """Whether this is the embedded sample, whose score is no DT-VQA score."""
        return get_split(self.split).embedded

    @property
    def subsets(self) -> tuple[str, ...]:
        """Subsets that the run has answers for, in the paper's order."""
        return self.design.names

    @property
    def failed(self) -> int:
        """Number of questions for which the host got no output; each scores 0.

        Of several repeats, the number of questions that failed in one of them.
        """
        return len(self.failed_ids)

    @cached_property
    def failed_ids(self) -> tuple[str, ...]:
        """The questions for which the host got no output, in one repeat at least."""
        every = self.repeats or (self.answers,)
        failed = {answer.question_id for answers in every for answer in answers if answer.failed}
        return tuple(answer.question_id for answer in every[0] if answer.question_id in failed)

    @cached_property
    def design(self) -> Design:
        """Subset and image of each question."""
        return shared_design(
            tuple(record.subset for record in self.records),
            tuple(record.image for record in self.records),
        )

    @cached_property
    def repeat_values(self) -> Floats:
        """Scores 0-1 of each repeat, shape (repeats, questions, 3), at least one repeat."""
        scores = attrgetter(*METRICS)
        every = self.repeats or (self.answers,)
        return np.asarray([list(map(scores, answers)) for answers in every], dtype=np.float64)

    @cached_property
    def values(self) -> Floats:
        """Scores 0-1, shape (questions, 3), columns as in ``metrics.names.METRICS``.

        Of several repeats the mean of each question's scores.
        """
        repeats = self.repeat_values
        values: Floats = repeats[0] if len(repeats) == 1 else repeats.mean(axis=0)
        return values

    @cached_property
    def by_question(self) -> dict[str, ScoredAnswer]:
        """Answers by question id."""
        return {answer.question_id: answer for answer in self.answers}

    def only(self, question_ids: Iterable[str]) -> Run:
        """The same run over some of its questions.

        Args:
            question_ids: The questions to keep.

        Returns:
            A new run, in the order of this one; the other questions count as missing.

        Raises:
            RunError: The run has none of the questions.
        """
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
            repeats=tuple(tuple(answers[i] for i in kept) for answers in self.repeats),
            missing=tuple(missing),
        )

    def signature(self) -> Signature:
        """The line that makes this run's figures reproducible.

        Returns:
            The signature; ``str`` gives the line.
        """
        return Signature(
            version=__version__,
            split=self.split,
            subsets={name: self.design.size(name) for name in self.subsets},
            annotations=self.annotations.short,
            revision=self.annotations.revision or UNKNOWN,
            prompt=self.context.prompt or self.condition,
            image=self.context.image,
            given=self.context.given,
            tau=self.tau,
            reasoning=f"stripped-{REASONING_VERSION}",
            host=self.context.host,
            host_version=self.context.host_version,
            model=self.context.model,
            generation=self.context.generation,
            runner=self.context.runner,
            answers="" if self.context.answers is None else str(self.context.answers),
            repeats=max(1, len(self.repeats)),
            failed=self.failed,
            partial=len(self.missing),
            benchmark=get_split(self.split).signed_as,
        )

    def oddities(self) -> dict[str, tuple[str, ...]]:
        """Ids of missing, doubled and failed questions, and the first few unknown ones.

        Returns:
            Ids under ``missing``, ``doubled``, ``failed`` and ``unknown``.
        """
        return {
            "missing": tuple(record.question_id for record in self.missing),
            "doubled": self.faults.doubled,
            "failed": self.failed_ids,
            "unknown": self.faults.unknown_ids,
        }
