"""Whether a run may be released: limits on its figures, and non-inferiority to a baseline.

A check passes, fails, or cannot tell: a run that lacks questions, that was asked otherwise than the
baseline, or whose answers are of an earlier run carries no decision. The drop is tested by the
lower end of the paired interval over images (non-inferiority): it passes where a drop beyond the
allowed one is excluded, so that a model whose true drop is the allowed one passes with probability
1 - confidence at most, but for the error of the interval (``benchmarks/coverage.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from dtvqa_plugin.analysis.bootstrap import RESAMPLES, SEED, Interval, intervals
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.metrics.names import HEADINGS, HEADLINE, METRICS
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import UNKNOWN
from dtvqa_plugin.utils.text import counted

PERCENT = 100.0
_TOLERANCE = 1e-9


class Verdict(Enum):
    """What a check says."""

    PASSED = "passed"
    FAILED = "failed"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Minimum:
    """The least figure (0-100) of a metric over a part: ``overall`` or a subset."""

    metric: str
    value: float
    part: str = OVERALL


@dataclass(frozen=True, slots=True)
class Rules:
    """What a run must satisfy.

    ``max_drop`` is in points (0-100) of ``metric``, overall, and needs a baseline; ``confidence``
    is that of the one-sided bound, above 0.5. ``complete`` asks for all subsets of the split.
    """

    minimums: tuple[Minimum, ...] = ()
    max_drop: float = 1.0
    metric: str = HEADLINE
    confidence: float = 0.95
    complete: bool = False
    max_failed: int | None = None
    resamples: int = RESAMPLES
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``value`` and ``limit`` are in the unit of the check, None where undecided.

    ``interval`` is the difference to the baseline in points; its ends hold with the confidence
    each, one-sided.
    """

    name: str
    verdict: Verdict
    sentence: str
    value: float | None = None
    limit: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """All checks of a run, in the order in which they were made."""

    run: Run
    baseline: Run | None
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """Failed if a check failed, else cannot tell if one cannot, else passed."""
        verdicts = {check.verdict for check in self.checks}
        for verdict in (Verdict.FAILED, Verdict.CANNOT_TELL):
            if verdict in verdicts:
                return verdict
        return Verdict.PASSED


def decide(run: Run, rules: Rules, baseline: Run | None = None) -> Decision:
    """Check a run against rules, and against a baseline where there is one."""
    if not 0.5 < rules.confidence < 1.0:
        raise ValueError(f"confidence is a share above 0.5 and below 1; got {rules.confidence!r}")
    obstacles = list(_obstacles(run, rules.complete))
    checks = [_usable("the run", obstacles)]
    checks += [_minimum(run, minimum, bool(obstacles)) for minimum in rules.minimums]
    if rules.max_failed is not None:
        checks.append(_failed(run, rules.max_failed, bool(obstacles)))
    if baseline is not None:
        against = [f"baseline: {line}" for line in _obstacles(baseline, rules.complete)]
        against += _unlike(run, baseline)
        checks.append(_usable("the baseline", against))
        checks.append(_undecided("drop") if obstacles or against else _drop(run, baseline, rules))
    return Decision(run, baseline, tuple(checks))


# --- what carries no decision -----------------------------------------------------------------


def _obstacles(run: Run, complete: bool) -> Iterator[str]:
    """Why figures of this run decide nothing."""
    if run.missing:
        total = len(run.missing) + len(run.answers)
        yield f"it is partial: {len(run.answers):,} of {counted(total, 'question')} are answered"
    lacking = [name for name in get_split(run.split).subsets if name not in run.subsets]
    if complete and lacking:
        yield f"it is partial: no question of {', '.join(lacking)} is answered"
    origin = run.context.answers
    if origin is not None and origin.reused and origin.record in ("", UNKNOWN):
        yield (
            f"its answers are stale: {origin.reused:,} of {origin.total:,} are of an earlier run, "
            "and how they were asked is not recorded"
        )
    if run.faults.other_annotations:
        yield f"it was made with other annotations: {', '.join(run.faults.other_annotations)}"


def _unlike(run: Run, baseline: Run) -> Iterator[str]:
    """Why two runs are not measured alike."""
    if run.split != baseline.split:
        yield f"other questions: the run is over split {run.split}, it over {baseline.split}"
        return
    ours, theirs = run.by_question.keys(), baseline.by_question.keys()
    if ours != theirs and not (run.missing or baseline.missing):
        yield (
            f"other questions: {len(ours - theirs)} are only in the run, "
            f"{len(theirs - ours)} only in the baseline"
        )
    if run.condition != baseline.condition:
        yield f"other condition: the run's is {run.condition}, its {baseline.condition}"
    if run.tau != baseline.tau:
        yield f"other threshold: the run's tau is {run.tau}, its {baseline.tau}"


def _usable(whose: str, obstacles: list[str]) -> Check:
    name = "usable" if whose == "the run" else "comparable"
    if obstacles:
        why = "; ".join(obstacles)
        return Check(name, Verdict.CANNOT_TELL, f"{whose} carries no decision: {why}")
    said = "can be judged" if name == "usable" else "has the same questions and condition"
    return Check(name, Verdict.PASSED, f"{whose} {said}")


def _undecided(name: str) -> Check:
    return Check(name, Verdict.CANNOT_TELL, "not decided, for the reasons above")


# --- checks -----------------------------------------------------------------------------------


def _minimum(run: Run, minimum: Minimum, blocked: bool) -> Check:
    part, metric = minimum.part, minimum.metric
    name = f"min {metric}" if part == OVERALL else f"min {part}:{metric}"
    if blocked:
        return _undecided(name)
    lacking = [name for name in get_split(run.split).subsets if name not in run.subsets]
    if part not in run.design.parts or (part == OVERALL and lacking):
        what = ", ".join(lacking) if part == OVERALL else part
        return Check(
            name,
            Verdict.CANNOT_TELL,
            f"the run has no {part} figure: no question of {what} is answered",
        )
    value = float(run.design.means(run.values)[part][METRICS.index(metric)]) * PERCENT
    passed = value >= minimum.value - _TOLERANCE
    return Check(
        name,
        Verdict.PASSED if passed else Verdict.FAILED,
        f"{part} {HEADINGS[metric]} is {_down(value)}, "
        f"{'not below' if passed else 'below'} {minimum.value:g}",
        value,
        minimum.value,
    )


def _failed(run: Run, most: int, blocked: bool) -> Check:
    if blocked:
        return _undecided("max failed")
    passed = run.failed <= most
    said = f"{counted(run.failed, 'question')} without an output, {most} allowed"
    verdict = Verdict.PASSED if passed else Verdict.FAILED
    return Check("max failed", verdict, said, run.failed, most)


def _drop(run: Run, baseline: Run, rules: Rules) -> Check:
    column = METRICS.index(rules.metric)
    order = {record.question_id: place for place, record in enumerate(baseline.records)}
    places = [order[record.question_id] for record in run.records]
    gaps = run.values[:, column] - baseline.values[places, column]
    level = 2.0 * rules.confidence - 1.0
    found = intervals(gaps, run.design, rules.resamples, rules.seed, level)[OVERALL][0]
    difference = found.scaled(PERCENT)
    passed = _excluded(difference, rules)
    return Check(
        "drop",
        Verdict.PASSED if passed else Verdict.FAILED,
        _drop_sentence(difference, rules),
        difference.value,
        rules.max_drop,
        difference,
    )


def _excluded(difference: Interval, rules: Rules) -> bool:
    """Whether the allowed drop itself is excluded; runs with equal scores have none."""
    equal = difference.low == difference.value == difference.high == 0.0
    return equal or difference.low > -rules.max_drop + _TOLERANCE


def _drop_sentence(difference: Interval, rules: Rules) -> str:
    """What was shown, and how surely."""
    heading, sure = HEADINGS[rules.metric], f"at {rules.confidence * PERCENT:.4g} % confidence"
    said = f"{heading} differs by {difference.value:+.1f} points from the baseline: "
    allowed = f"{rules.max_drop:g} points allowed"
    if difference.low > 0:
        return f"{said}a gain is shown {sure}, of {_down(difference.low)} points or more"
    drop = f"{_up(-difference.low)} points"
    if _excluded(difference, rules):
        return f"{said}a drop of more than {drop} is excluded {sure} ({allowed})"
    if difference.high < -rules.max_drop:
        worse = f"{_down(-difference.high)} points or more"
        return f"{said}a drop of {worse} is shown {sure} ({allowed})"
    return (
        f"{said}a drop of up to {drop} is not excluded {sure} ({allowed}); "
        "neither a larger drop than allowed nor its absence is shown"
    )


def _up(points: float) -> str:
    return f"{math.ceil(round(points * 10, 6)) / 10:.1f}"


def _down(points: float) -> str:
    """One decimal, never above the figure itself: 59.96 is below 60 and must look so."""
    return f"{math.floor(round(points * 10, 6)) / 10:.1f}"
