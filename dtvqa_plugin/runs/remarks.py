"""Sentences about a run that belong under its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dtvqa_plugin.metrics.names import HEADINGS, METRICS
from dtvqa_plugin.runs.context import AnswerOrigin
from dtvqa_plugin.runs.faults import EXAMPLES, Faults
from dtvqa_plugin.runs.paper_settings import paper_remarks
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import UNKNOWN
from dtvqa_plugin.utils.text import counted


def remarks(run: Run) -> list[str]:
    """What a reader must know of this run's files, one sentence each; empty if nothing."""
    return list(_remarks(run))


def left_out(run: Run) -> list[str]:
    """What does not count in a run's figures, or otherwise than its files say.

    Args:
        run: The run.

    Returns:
        The remarks of `remarks` on answers, records and files, but not on settings.
    """
    skipped = (f"left out: {line}" for line in run.faults.skipped)
    return [*_answer_remarks(run), *_stored_remarks(run.faults), *skipped]


def _remarks(run: Run) -> Iterator[str]:
    faults = run.faults
    if run.missing:
        lacking = Counter(record.subset for record in run.missing)
        total = len(run.missing) + len(run.answers)
        yield (
            f"partial: {len(run.answers)} of {total} questions "
            f"({', '.join(f'{part} lacks {count}' for part, count in lacking.items())}: "
            f"{_some([record.question_id for record in run.missing])}); "
            "means are over the questions in the run"
        )
    yield from _answer_remarks(run)
    yield from _stored_remarks(faults)
    yield from _repeat_remarks(run)
    if run.context.answers is not None:
        yield from _origin_remarks(run.context.answers)
    yield from paper_remarks(run.context)
    yield from faults.doubles
    for line in faults.skipped:
        yield f"left out: {line}"


def _answer_remarks(run: Run) -> Iterator[str]:
    """What was left out, what counts of several answers, which outputs are not as written."""
    faults = run.faults
    if faults.doubled:
        yield (
            f"{counted(len(faults.doubled), 'question')} answered more than once "
            f"({counted(faults.contradictory, 'time')} with another text), the last answer counts: "
            f"{_some(faults.doubled)}"
        )
    if run.failed:
        yield (
            f"{counted(run.failed, 'question')} failed (no output), each scores 0: "
            f"{_some(run.failed_ids)}"
        )
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


def _repeat_remarks(run: Run) -> Iterator[str]:
    count, asked = len(run.repeats), run.context.asked_repeats
    if not count:
        if asked > 1:
            yield (
                f"the host was asked for {asked} responses to each question; "
                "the files hold one, and only that one is scored"
            )
        return
    means = run.repeat_values.mean(axis=1) * 100
    figures = "; ".join(
        f"{HEADINGS[name]} {', '.join(f'{value:.1f}' for value in column)} "
        f"(standard deviation {column.std(ddof=1):.2f})"
        for name, column in zip(METRICS, means.T, strict=True)
    )
    yield (
        f"{count} responses to each question, each scored separately; over all questions: "
        f"{figures}. The table shows the mean over repeats; "
        "audits and single outputs are of the first repeat"
    )
    said = [tuple((a.text, a.length) for a in answers) for answers in run.repeats]
    same = [number for number, one in enumerate(said, start=1) if said.index(one) != number - 1]
    if same:
        first = said.index(said[same[0] - 1]) + 1
        yield (
            f"repeats {first} and {same[0]} hold the same answers: a copy, or decoding that no "
            "seed changes"
        )


def _origin_remarks(origin: AnswerOrigin) -> Iterator[str]:
    """Which answers VLMEvalKit reused; nothing where the run asked for all of them."""
    if not origin.reused and origin.record != UNKNOWN:
        return
    since = f" of {origin.since}" if origin.since else ""
    again = f"{origin.asked} were asked for" if origin.asked else "nothing was asked again"
    said = f"{origin.reused} of {origin.total} answers are from the run{since}; {again}"
    yield f"{said}; how they were asked is unknown" if origin.record == UNKNOWN else said


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
