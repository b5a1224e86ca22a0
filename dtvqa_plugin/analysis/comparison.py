"""Two runs over the same questions: paired differences, their intervals and p-values, flips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dtvqa_plugin.analysis.audits import audit
from dtvqa_plugin.analysis.bootstrap import LEVEL, RESAMPLES, SEED, Interval, intervals
from dtvqa_plugin.analysis.seeds import between, over_repeats, t_test_p
from dtvqa_plugin.analysis.significance import holm, signflip_p
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.run import Run


@dataclass(frozen=True, slots=True)
class PartDifference:
    """Run A minus run B on one part and metric; all figures 0-1.

    ``p_value`` is two-sided (sign-flip over images; with repeats the greater of that and of a
    t-test over images and repeats). ``p_holm`` is corrected over the subsets;
    None for ``overall``, which is a single hypothesis.
    """

    part: str
    metric: str
    n: int
    images: int
    a: float
    b: float
    difference: Interval
    p_value: float
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class Flip:
    """A question to which one run gets credit (a score above 0) and the other none."""

    question_id: str
    subset: str
    a: float
    b: float

    @property
    def gained(self) -> bool:
        """Whether run A is the one with the credit."""
        return self.a > self.b


@dataclass(frozen=True)
class Comparison:
    """Everything `compare` finds. ``flips`` maps each metric to its flipped questions.

    ``remarks`` says where the two runs were not made alike, one sentence each.
    """

    a: Run
    b: Run
    differences: tuple[PartDifference, ...]
    flips: dict[str, tuple[Flip, ...]]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    resamples: int
    seed: int
    level: float
    remarks: tuple[str, ...] = ()

    def rows(self, metric: str) -> list[PartDifference]:
        """The differences of one metric, overall first."""
        return [row for row in self.differences if row.metric == metric]


def compare(
    a: Run,
    b: Run,
    *,
    common: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Comparison:
    """Compare two runs question by question.

    Raises RunError if they are of different splits or thresholds, or over different questions
    unless ``common`` allows the intersection to be taken.
    """
    if a.split != b.split:
        raise RunError(f"{a.name} is over split {a.split}, {b.name} over {b.split}: no comparison")
    if a.tau != b.tau:
        raise RunError(f"{a.name} is scored with tau {a.tau}, {b.name} with {b.tau}")
    only_a = tuple(r.question_id for r in a.records if r.question_id not in b.by_question)
    only_b = tuple(r.question_id for r in b.records if r.question_id not in a.by_question)
    if only_a or only_b:
        if not common:
            raise RunError(_different_questions(a, b, only_a, only_b))
        shared = a.by_question.keys() & b.by_question.keys()
        if not shared:
            raise RunError(f"{a.name} and {b.name} have no question in common")
        a, b = a.only(shared), b.only(shared)
    return Comparison(
        a=a,
        b=b,
        differences=tuple(_differences(a, b, resamples, seed, level)),
        flips={metric: _flips(a, b, metric) for metric in METRICS},
        only_a=only_a,
        only_b=only_b,
        resamples=resamples,
        seed=seed,
        level=level,
        remarks=tuple(_remarks(a, b)),
    )


def _remarks(a: Run, b: Run) -> Iterator[str]:
    """Differences in what the models were given, runs that only their files tell apart, audits."""
    first, second = a.signature(), b.signature()
    if first.image != second.image:
        yield (
            "the two models may have received different pictures: "
            f"A image:{first.image}, B image:{second.image}"
        )
    if str(first) == str(second):
        told = "the same" if (a.values == b.values).all() else "different"
        yield (
            f"both runs have the same signature and {told} scores: what differs between "
            f"{a.paths[0]} and {b.paths[0]} is not recorded"
        )

    for letter, run in (("A", a), ("B", b)):
        for sentence in audit(run).every_warning():
            yield f"{letter}, {run.name}: {sentence}"


def _different_questions(a: Run, b: Run, only_a: Sequence[str], only_b: Sequence[str]) -> str:
    shared = len(a.records) - len(only_a)
    example = (*only_a, *only_b)[0]
    return (
        f"{a.name} and {b.name} are over different questions: {len(only_a)} only in the first, "
        f"{len(only_b)} only in the second ({example} is one), {shared} in both. "
        "--common compares on the questions that both have."
    )


def _differences(a: Run, b: Run, resamples: int, seed: int, level: float) -> list[PartDifference]:
    design = a.design
    gaps = a.values - b.values
    bounds = intervals(gaps, design, resamples, seed, level, scale=(-1.0, 1.0))
    p_values = signflip_p(gaps, design, resamples, seed)
    if a.repeats or b.repeats:
        for part in design.parts:
            added = between(a.repeat_values, design, part) + between(b.repeat_values, design, part)
            bounds[part] = over_repeats(bounds[part], gaps, added, design, part, level)
            p_values[part] = np.maximum(p_values[part], t_test_p(gaps, added, design, part))
    means_a, means_b = design.means(a.values), design.means(b.values)
    rows = []
    for column, metric in enumerate(METRICS):
        corrected = holm({name: float(p_values[name][column]) for name in design.names})
        for part in design.parts:
            rows.append(
                PartDifference(
                    part=part,
                    metric=metric,
                    n=design.size(part),
                    images=design.images(part),
                    a=float(means_a[part][column]),
                    b=float(means_b[part][column]),
                    difference=bounds[part][column],
                    p_value=float(p_values[part][column]),
                    p_holm=None if part == OVERALL else corrected[part],
                )
            )
    return rows


def _flips(a: Run, b: Run, metric: str) -> tuple[Flip, ...]:
    column = METRICS.index(metric)
    pairs = zip(a.records, a.values[:, column].tolist(), b.values[:, column].tolist(), strict=True)
    return tuple(
        Flip(record.question_id, record.subset, x, y)
        for record, x, y in pairs
        if (x > 0) != (y > 0)
    )


def prompt_pairs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Pair each model's run with the paper's prompt with its run without: (with, without).

    Raises RunError if no model has both, or if a model has one of them more than once.
    """
    found: dict[tuple[str, str], dict[str, Run]] = {}
    for run in runs:
        pair = found.setdefault((run.context.model, run.split), {})
        if run.condition in pair:
            raise RunError(
                f"{run.context.model}: two runs in condition {run.condition!r} "
                f"({pair[run.condition].paths[0]} and {run.paths[0]}); name one of them"
            )
        pair[run.condition] = run
    pairs = [
        (pair["paper"], pair["none"]) for pair in found.values() if {"paper", "none"} <= pair.keys()
    ]
    if not pairs:
        have = ", ".join(f"{model} [{', '.join(pair)}]" for (model, _), pair in found.items())
        raise RunError(f"no model with both prompt conditions (none and paper); there are: {have}")
    return pairs
