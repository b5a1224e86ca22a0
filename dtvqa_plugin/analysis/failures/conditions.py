"""One model under several conditions: what each does to its score, question by question.

Every finding is a paired difference over the same questions, with the interval and the p-value of
`analysis.comparison` (bootstrap and sign-flip over images). P-values are corrected over all
findings (Holm).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dtvqa_plugin.analysis.bootstrap import LEVEL, RESAMPLES, SEED, Interval, intervals
from dtvqa_plugin.analysis.comparison import compare
from dtvqa_plugin.analysis.significance import holm
from dtvqa_plugin.benchmark.inputs import INPUTS, input_of
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.run import Run

BASE = ("none", "paper")
"""What the others are compared with: the first of these that is there."""

_ORDER = ("none", "paper", "native", *INPUTS)


@dataclass(frozen=True, slots=True)
class ConditionScore:
    """One condition. Figures are 0-100.

    Attributes:
        condition: Its name.
        image: The picture as the signature states it.
        given: The recognised text as the signature states it; empty without any.
        scores: Interval by metric, over all questions.
        by_subset: AccANLS by subset.
        difference: AccANLS minus that of the base condition; None for the base itself.
        signature: The run's signature.
    """

    condition: str
    image: str
    given: str
    scores: Mapping[str, Interval]
    by_subset: Mapping[str, Interval]
    difference: Interval | None
    signature: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One paired difference and what it says.

    Attributes:
        a: A condition.
        b: The condition that it is compared with.
        difference: AccANLS of a minus AccANLS of b, 0-100.
        p_holm: Two-sided p-value, corrected over all findings.
        sentence: The finding in words.
    """

    a: str
    b: str
    difference: Interval
    p_holm: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """A model under several conditions.

    Attributes:
        model: Its name.
        split: The split.
        base: The condition that the others are compared with.
        questions: Number of questions that all runs answer; only these count.
        left_out: Number of questions that some run lacks.
        scores: One entry a condition.
        findings: The paired differences.
        level: Share that the intervals cover.
        resamples: Bootstrap resamples behind them.
        seed: Of the drawing.
    """

    model: str
    split: str
    base: str
    questions: int
    left_out: int
    scores: tuple[ConditionScore, ...]
    findings: tuple[Finding, ...]
    level: float
    resamples: int
    seed: int


def conditions(
    runs: Sequence[Run], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> Conditions:
    """Join runs of one model under several conditions.

    Args:
        runs: At least two runs of one model over one split, each in another condition; one of
            them in condition ``none`` or ``paper``.
        resamples: Bootstrap resamples of images.
        seed: Of the drawing.
        level: Share that the intervals cover.

    Raises:
        RunError: Several models or splits, a condition twice, no base, no question in common.
    """
    known = _by_condition(runs)
    shared = set.intersection(*(set(run.by_question) for run in known.values()))
    everything = set().union(*(run.by_question for run in known.values()))
    if not shared:
        raise RunError("the runs have no question in common")
    known = {name: run.only(shared) for name, run in known.items()}
    base = next(name for name in BASE if name in known)
    pairs = list(dict.fromkeys(_pairs(known, base)))
    compared = {pair: _difference(known, pair, resamples, seed, level) for pair in pairs}
    corrected = holm({f"{a} {b}": p_value for (a, b), (_, p_value) in compared.items()})
    first = known[base]
    return Conditions(
        model=first.context.model,
        split=first.split,
        base=base,
        questions=len(shared),
        left_out=len(everything) - len(shared),
        scores=tuple(
            _score(run, compared.get((name, base)), resamples, seed, level)
            for name, run in known.items()
        ),
        findings=tuple(
            _finding(pair, found, corrected[" ".join(pair)], level)
            for pair, (found, _) in compared.items()
        ),
        level=level,
        resamples=resamples,
        seed=seed,
    )


def joinable(runs: Sequence[Run]) -> bool:
    """Whether runs are of one model over one split in several conditions, as `conditions` asks."""
    try:
        known = _by_condition(runs)
    except RunError:
        return False
    return bool(set.intersection(*(set(run.by_question) for run in known.values())))


def _by_condition(runs: Sequence[Run]) -> dict[str, Run]:
    """The runs by condition, in the order in which they are shown."""
    for what, found in (
        ("models", {run.context.model for run in runs}),
        ("splits", {run.split for run in runs}),
    ):
        if len(found) > 1:
            raise RunError(
                f"runs of several {what}: {', '.join(sorted(found))}; --conditions joins runs of "
                "one model over one split"
            )
    known: dict[str, Run] = {}
    for run in runs:
        if run.condition in known:
            raise RunError(
                f"two runs in condition {run.condition!r} ({known[run.condition].paths[0]} and "
                f"{run.paths[0]}); name one of them"
            )
        known[run.condition] = run
    if len(known) < 2 or not any(name in known for name in BASE):
        raise RunError(
            f"--conditions needs a run in condition {' or '.join(BASE)} and at least one in "
            f"another; there are: {', '.join(known) or 'none'}"
        )
    return dict(sorted(known.items(), key=lambda item: _place(item[0])))


def _place(condition: str) -> int:
    return _ORDER.index(condition) if condition in _ORDER else len(_ORDER)


def _pairs(known: Mapping[str, Run], base: str) -> Iterator[tuple[str, str]]:
    """Which conditions are compared: each with the base, and those that differ in one step."""
    for name in known:
        if name != base:
            yield name, base
    sizes = [name for name in known if input_of(name).longest_side is not None]
    yield from pairwise(sizes)
    for pair in (("text", "blind"), ("image_text", "text")):
        if all(name in known for name in pair):
            yield pair


def _difference(
    known: Mapping[str, Run], pair: tuple[str, str], resamples: int, seed: int, level: float
) -> tuple[Interval, float]:
    found = compare(known[pair[0]], known[pair[1]], resamples=resamples, seed=seed, level=level)
    overall = next(row for row in found.rows("accanls") if row.part == OVERALL)
    return overall.difference.scaled(100), overall.p_value


def _score(
    run: Run,
    compared: tuple[Interval, float] | None,
    resamples: int,
    seed: int,
    level: float,
) -> ConditionScore:
    bounds = intervals(run.values, run.design, resamples, seed, level, scale=(0.0, 1.0))
    signature = run.signature()
    column = METRICS.index("accanls")
    return ConditionScore(
        condition=run.condition,
        image=signature.image,
        given=signature.given,
        scores={
            metric: interval.scaled(100)
            for metric, interval in zip(METRICS, bounds[OVERALL], strict=True)
        },
        by_subset={
            name: found[column].scaled(100) for name, found in bounds.items() if name != OVERALL
        },
        difference=None if compared is None else compared[0],
        signature=str(signature),
    )


# --- in words ---------------------------------------------------------------------------------


def _finding(pair: tuple[str, str], found: Interval, p_holm: float, level: float) -> Finding:
    return Finding(*pair, found, p_holm, _sentence(*pair, found, p_holm, level))


def _sentence(a: str, b: str, found: Interval, p_holm: float, level: float) -> str:
    """The finding in words, which claim no more than the interval and the p-value allow."""
    what = _what(a, b)
    points = f"points ({level:.0%} interval {found.low:+.1f} to {found.high:+.1f})"
    if found.low <= 0 <= found.high:
        return f"{what}: no difference is shown, {found.value:+.1f} {points}"
    if p_holm > 1 - level:
        return (
            f"{what}: not certain, {found.value:+.1f} {points}. The interval excludes 0, but "
            "chance explains it when all comparisons are counted"
        )
    gained = found.value > 0
    change = f"{'gains' if gained else 'costs'} {abs(found.value):.1f} {points}"
    return f"{what}: {change}. {_meaning(a, b, gained=gained)}".rstrip()


def _what(a: str, b: str) -> str:
    """What changes from b to a."""
    first, second = input_of(a), input_of(b)
    against = {"none": "the original picture", "paper": "the original picture"}.get(b, b)
    if second.longest_side is not None:
        against = f"{second.longest_side} pixels"
    if first.longest_side is not None:
        return f"Longest side {first.longest_side} pixels against {against}"
    texts = {
        "blind": "A grey picture",
        "text": "Recognised text without the picture",
        "image_text": "Recognised text beside the picture",
        "paper": "The paper's prompt",
        "native": "The model class's own words",
    }
    against = {
        "blind": "a grey picture",
        "text": "the text alone",
    }.get(b, against)
    return f"{texts.get(a, a)} against {against}"


def _meaning(a: str, b: str, *, gained: bool) -> str:
    """What a difference whose interval excludes 0 says."""
    said = {
        ("blind", False): "So much of the score needs the picture.",
        ("text", True): "The engine's text serves the model better than its own reading does.",
        ("text", False): "The picture holds what the recognised text lacks: its errors or layout.",
        ("image_text", True): "So much of the loss is reading: the text was there to be read.",
        ("image_text", False): "The text given distracts the model.",
    }
    if b == "text":
        return "The picture adds so much to the text." if gained else "The picture distracts."
    if b == "blind":
        return "So much the recognised text alone brings." if gained else "The text distracts."
    if input_of(a).longest_side is not None:
        return "" if gained else "The model loses print that the larger picture shows."
    return said.get((a, gained), "")
