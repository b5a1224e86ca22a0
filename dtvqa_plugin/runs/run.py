"""Runs: one model in one condition over the benchmark's questions, scored, with its faults counted.

Of each output at most ``TEXT_KEPT`` characters stay in memory once it is scored, so that a run's
size depends on the benchmark and not on how long the model thought.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from dtvqa_plugin._version import __version__
from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.predictions.kinds import Kind
from dtvqa_plugin.runs.context import Context
from dtvqa_plugin.runs.design import Design, Floats
from dtvqa_plugin.runs.faults import Faults, RunError
from dtvqa_plugin.runs.references import AnnotationStamp
from dtvqa_plugin.runs.signature import UNKNOWN, Signature

TEXT_KEPT = 4_000
"""Characters of an output kept for audits and display; scores are of the whole output."""


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
        return get_split(self.split).embedded

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
        """Scores 0-1, shape (questions, 3), columns as in ``metrics.names.METRICS``."""
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
            benchmark=get_split(self.split).signed_as,
        )

    def oddities(self) -> dict[str, tuple[str, ...]]:
        """Ids of missing, doubled and failed questions, and the first few unknown ones."""
        return {
            "missing": tuple(record.question_id for record in self.missing),
            "doubled": self.faults.doubled,
            "failed": tuple(answer.question_id for answer in self.answers if answer.failed),
            "unknown": self.faults.unknown_ids,
        }
