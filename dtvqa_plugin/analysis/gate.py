"""Whether a run may be released: limits on its figures, and non-inferiority to a baseline.

A check passes, fails, or cannot tell: a run that lacks questions, that was asked otherwise than the
baseline, or whose answers are of an earlier run carries no decision. The drop is tested by the
lower end of a paired interval over images (non-inferiority; `cautious_interval`), with repeats over
images and repeats: it passes where a drop beyond the allowed one is excluded, so that a model whose
true drop is the allowed one passes with probability 1 - confidence at most, but for the error of
the interval (``benchmarks/coverage.py``). Equal scores on all questions pass: they are no drop.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from dtvqa_plugin.analysis.bootstrap import RESAMPLES, SEED, Interval, cautious_interval
from dtvqa_plugin.analysis.seeds import between, over_repeats
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.metrics.names import HEADINGS, HEADLINE, METRICS
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import UNKNOWN
from dtvqa_plugin.utils.text import counted

PERCENT = 100.0
_TOLERANCE = 1e-9
_NOT_DECIDED = "not decided, for the reasons above"


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
    """All checks of a run, in the order in which they were made.

    ``run`` and ``baseline`` are None where they were not read, ``baseline`` also where there is
    none.
    """

    run: Run | None
    baseline: Run | None
    checks: tuple[Check, ...]
    rules: Rules

    @property
    def verdict(self) -> Verdict:
        """Failed if a check failed, else cannot tell if one cannot, else passed."""
        verdicts = {check.verdict for check in self.checks}
        for verdict in (Verdict.FAILED, Verdict.CANNOT_TELL):
            if verdict in verdicts:
                return verdict
        return Verdict.PASSED

    @property
    def reason(self) -> str | None:
        """Why the verdict is not passed."""
        if self.verdict is Verdict.PASSED:
            return None
        said = [check.sentence for check in self.checks if check.verdict is self.verdict]
        return "; ".join(line for line in said if line != _NOT_DECIDED)


def decide(
    run: Run, rules: Rules, baseline: Run | None = None, *, questions: int | None = None
) -> Decision:
    """Check a run against rules, and against a baseline where there is one.

    Args:
        run: The run.
        rules: What it must satisfy.
        baseline: The run that it must not be worse than.
        questions: Number of questions of the whole split, where it is known.

    Returns:
        All checks, in the order in which they were made.

    Raises:
        ValueError: The confidence is not above 0.5 and below 1.
    """
    if not 0.5 < rules.confidence < 1.0:
        raise ValueError(f"confidence is a share above 0.5 and below 1; got {rules.confidence!r}")
    obstacles = list(_obstacles(run))
    checks = [_usable("the run", obstacles)]
    if rules.complete:
        lacking = _incomplete(run, questions)
        checks.append(_complete(run, lacking))
        obstacles += lacking
    checks += [_minimum(run, minimum, bool(obstacles)) for minimum in rules.minimums]
    if rules.max_failed is not None:
        checks.append(_failed(run, rules.max_failed, bool(obstacles)))
    if baseline is not None:
        against = list(_obstacles(baseline))
        against += _incomplete(baseline, questions) if rules.complete else []
        against += _unlike(run, baseline)
        checks.append(_usable("the baseline", against))
        checks.append(_undecided("drop") if obstacles or against else _drop(run, baseline, rules))
    return Decision(run, baseline, tuple(checks), rules)


def undecided(rules: Rules, why: str) -> Decision:
    """The decision about a run that cannot be judged.

    Args:
        rules: What it must satisfy.
        why: Such as the error that its file was read with.

    Returns:
        One check, which cannot tell.
    """
    return Decision(None, None, (Check("readable", Verdict.CANNOT_TELL, why),), rules)


def part_named(run: Run, name: str) -> str | None:
    """The part of a run's split that a name means; None if it has none of that name.

    Args:
        run: The run.
        name: ``overall`` or a subset, in upper or lower case.

    Returns:
        The part's name as the split has it.
    """
    parts = (OVERALL, *get_split(run.split).subsets)
    alike = [part for part in parts if part.lower() == name.lower()]
    return name if name in parts else alike[0] if len(alike) == 1 else None


# --- what carries no decision -----------------------------------------------------------------


def _obstacles(run: Run) -> Iterator[str]:
    """Why figures of this run decide nothing."""
    if run.missing:
        lacking = Counter(record.subset for record in run.missing)
        total = len(run.missing) + len(run.answers)
        yield (
            f"it is partial: {len(run.answers):,} of the {counted(total, 'question')} of its "
            "subsets are answered "
            f"({', '.join(f'{part} lacks {count:,}' for part, count in lacking.items())})"
        )
    if run.faults.contradictory:
        yield (
            f"its answers contradict each other: {counted(len(run.faults.doubled), 'question')} "
            f"answered more than once, {counted(run.faults.contradictory, 'time')} with another "
            "text; keep one answer to each question"
        )
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
        yield (
            f"other questions: the run is over split {run.split}, the baseline over "
            f"{baseline.split}"
        )
        return
    ours, theirs = run.by_question.keys(), baseline.by_question.keys()
    if ours != theirs and not (run.missing or baseline.missing):
        yield (
            f"other questions: {len(ours - theirs)} are only in the run, "
            f"{len(theirs - ours)} only in the baseline"
        )
    if run.condition != baseline.condition:
        yield (
            f"other condition: the run's is {run.condition}, the baseline's {baseline.condition}"
        )
    if run.tau != baseline.tau:
        yield f"other threshold: the run's tau is {run.tau}, the baseline's {baseline.tau}"


def _absent(run: Run) -> list[str]:
    """Subsets of the split of which the run answers no question."""
    return [name for name in get_split(run.split).subsets if name not in run.subsets]


def _incomplete(run: Run, questions: int | None) -> list[str]:
    """Why a run is not over the whole split; empty if it is, or lacks single questions only."""
    absent = _absent(run)
    if not absent:
        return []
    of = "" if questions is None else f" of {questions:,}"
    return [
        f"{len(run.answers):,}{of} questions of split {run.split} are answered: no question of "
        f"{', '.join(absent)}"
    ]


def _complete(run: Run, lacking: list[str]) -> Check:
    """Whether all subsets of the split are there, whole."""
    if lacking:
        return Check("complete", Verdict.CANNOT_TELL, lacking[0])
    if run.missing:
        return _undecided("complete")
    subsets = get_split(run.split).subsets
    said = (
        f"all {len(subsets)} subsets of split {run.split} are answered, "
        f"{counted(len(run.answers), 'question')}"
    )
    return Check("complete", Verdict.PASSED, said)


def _usable(whose: str, obstacles: list[str]) -> Check:
    name = "usable" if whose == "the run" else "comparable"
    if obstacles:
        why = "; ".join(obstacles)
        return Check(name, Verdict.CANNOT_TELL, f"{whose} carries no decision: {why}")
    said = "can be judged" if name == "usable" else "has the same questions and condition"
    return Check(name, Verdict.PASSED, f"{whose} {said}")


def _undecided(name: str) -> Check:
    return Check(name, Verdict.CANNOT_TELL, _NOT_DECIDED)


# --- checks -----------------------------------------------------------------------------------


def _minimum(run: Run, minimum: Minimum, blocked: bool) -> Check:
    part, metric = minimum.part, minimum.metric
    name = f"min {metric}" if part == OVERALL else f"min {part}:{metric}"
    if blocked:
        return _undecided(name)
    lacking = _absent(run)
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
        f"{part} {HEADINGS[metric]} is {_apart(value, minimum.value)}, "
        f"{'at least' if passed else 'below'} {_exact(minimum.value)}",
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
    found = cautious_interval(gaps, run.design, rules.resamples, rules.seed, level)
    added = between(run.repeat_values[:, :, [column]], run.design, OVERALL) + between(
        baseline.repeat_values[:, places][:, :, [column]], run.design, OVERALL
    )
    (found,) = over_repeats([found], gaps[:, None], added, run.design, OVERALL, level)
    difference = found.scaled(PERCENT)
    equal = bool((gaps == 0.0).all())
    passed = equal or _excluded(difference, rules)
    sentence = (
        _equal_sentence(run, difference, rules) if equal else _drop_sentence(difference, rules)
    )
    return Check(
        "drop",
        Verdict.PASSED if passed else Verdict.FAILED,
        sentence + _repeats_remark(run, baseline),
        difference.value,
        rules.max_drop,
        difference,
    )


def _excluded(difference: Interval, rules: Rules) -> bool:
    """Whether the allowed drop itself is excluded."""
    return difference.low > -rules.max_drop + _TOLERANCE


def _equal_sentence(run: Run, difference: Interval, rules: Rules) -> str:
    """Equal scores pass: there is no drop. What they show of other questions is said as well."""
    drop = _apart(-difference.low, rules.max_drop, math.ceil)
    return (
        f"{HEADINGS[rules.metric]} is that of the baseline on each of the "
        f"{counted(run.design.questions, 'question')}; so many exclude a drop of more than {drop} "
        f"points at {rules.confidence * PERCENT:.4g} % confidence"
    )


def _repeats_remark(run: Run, baseline: Run) -> str:
    """Over what the bound is, where one of the runs has repeats."""
    if run.repeats and baseline.repeats:
        return "; the bound is over images and repeats"
    if run.repeats or baseline.repeats:
        single = "baseline" if run.repeats else "run"
        return f"; the bound is over images and repeats, the {single} has only one"
    return ""


def _drop_sentence(difference: Interval, rules: Rules) -> str:
    """What was shown, and how surely."""
    heading, sure = HEADINGS[rules.metric], f"at {rules.confidence * PERCENT:.4g} % confidence"
    said = f"{heading} differs by {difference.value:+.1f} points from the baseline: "
    most = rules.max_drop
    allowed = f"{_exact(most)} {'point' if most == 1 else 'points'} allowed"
    if difference.low > 0:
        gain = _apart(difference.low, 0.0, math.floor)
        return f"{said}a gain is shown {sure}, of {gain} points or more"
    if _excluded(difference, rules):
        drop = _apart(-difference.low, most, math.ceil)
        return f"{said}a drop of more than {drop} points is excluded {sure} ({allowed})"
    if difference.high < -most:
        worse = _apart(-difference.high, most, math.floor)
        return f"{said}a drop of {worse} points or more is shown {sure} ({allowed})"
    drop = _apart(-difference.low, most, math.ceil)
    return (
        f"{said}a drop of up to {drop} points is not excluded {sure} ({allowed}); "
        "neither a larger drop than allowed nor its absence is shown"
    )


_MOST_DECIMALS = 12


def _exact(limit: float) -> str:
    """A limit as it was given: ``60``, ``65.625``."""
    return f"{limit:.{_MOST_DECIMALS}f}".rstrip("0").rstrip(".")


def _apart(value: float, limit: float, rounded: Callable[[float], float] = round) -> str:
    """A figure with one decimal, or as many as show that it is not the limit."""
    first = max(1, len(_exact(limit).partition(".")[2]))
    for decimals in range(first, _MOST_DECIMALS + 1):
        scale = 10.0**decimals
        shown = rounded(round(value * scale, 6)) / scale
        if abs(value - limit) <= _TOLERANCE or shown != round(limit, decimals):
            break
    return f"{shown + 0.0:.{decimals}f}"
