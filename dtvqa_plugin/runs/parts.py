"""One prediction file scored against the questions: a part for each split that it answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits import CUSTOM_VARIABLE
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.metrics.scored import ScoredAnswer, score_answer
from dtvqa_plugin.predictions.kinds import answers
from dtvqa_plugin.predictions.prompts import one_line
from dtvqa_plugin.predictions.question import TEXT_KEYS, asked, pictures_in
from dtvqa_plugin.predictions.shapes import NO_COLUMNS, Columns, Kind, RawAnswer
from dtvqa_plugin.runs.context import Context
from dtvqa_plugin.runs.faults import EXAMPLES, Difference, RunError
from dtvqa_plugin.runs.log_context import context_of
from dtvqa_plugin.runs.references import References, asks
from dtvqa_plugin.runs.run import TEXT_KEPT

STORED_TOLERANCE = 1e-9
MIXED_SHARE = 0.2
"""Above this share of questions answered again and differently, a file holds several runs."""

FIRST_REPEAT = "1"
_TEXTS = frozenset(TEXT_KEYS)


@dataclass(slots=True)
class Part:
    """What one file says of one split."""

    path: Path
    kind: Kind
    split: str
    context: Context
    by_repeat: dict[str, dict[str, ScoredAnswer]] = field(default_factory=dict)
    listed: bool = False
    doubled: dict[str, None] = field(default_factory=dict)
    contradictory: int = 0
    differences: list[Difference] = field(default_factory=list)
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    unreadable: list[tuple[str, str, str]] = field(default_factory=list)
    unreadable_count: int = 0

    @property
    def answers(self) -> dict[str, ScoredAnswer]:
        """The answers by question; of several responses to each question, the first."""
        return next(iter(self.by_repeat.values()), {})


_Named: TypeAlias = tuple[str | None, str | None]
"""Model and condition of a run of several in one file."""

_Key: TypeAlias = tuple[str, _Named]
_PUBLISHED = frozenset(("model", "condition", "split", "repeat", "subset", "accanls", "outcome"))
"""Columns by which a file of questions that this package wrote is known."""


def read_file(
    path: Path,
    kind: Kind,
    references: References,
    tau: float,
    columns: Columns = NO_COLUMNS,
    text_kept: int = TEXT_KEPT,
) -> list[Part]:
    """Score the answers of one file: a part for each split that it answers.

    A file of questions that this package wrote has a part for each of its runs. Raises RunError
    where no answer belongs to a question, or another file holds several runs.
    """
    context = context_of(path, kind)
    parts: dict[_Key, Part] = {}
    unknown, total = 0, 0
    unknown_ids: list[str] = []
    unreadable: list[tuple[str, str, str]] = []
    count: Counter[str] = Counter()
    said: dict[_Named, dict[str, set[str]]] = {}
    stored: dict[_Key, dict[str, Mapping[str, float]]] = {}

    def fault(place: str, why: str) -> None:
        count["unreadable"] += 1
        if len(unreadable) < EXAMPLES:
            unreadable.append((path.name, place, why))

    for raw in answers(path, kind, fault, columns):
        total += 1
        found = _question(raw, references)
        if found is None and raw.question_id is None:
            fault(
                raw.place, "has no question (question_id, dataset_name and id, or picture and text)"
            )
            continue
        if found is None:
            unknown += 1
            if len(unknown_ids) < EXAMPLES:
                unknown_ids.append(str(raw.question_id))
            continue
        split, record = found
        contradiction = _contradiction(raw, kind, split, record, references)
        if contradiction is not None:
            fault(raw.place, contradiction)
            continue
        if raw.rivals:
            _check_rivals(path, raw, record)
        run = _named_run(raw, kind)
        if run not in said:
            said[run] = {"model": set(), "condition": set()}
        for what, value in (("model", raw.model), ("condition", raw.condition)):
            if value is not None and len(said[run][what]) < EXAMPLES:
                said[run][what].add(value)
        key = (split, run)
        part = parts.get(key)
        if part is None:
            part = parts[key] = Part(path, kind, split, context)
        raw = _numbered(raw, kind, context)
        _add(part, raw, record, tau, text_kept)
        if raw.stored and (raw.repeat or FIRST_REPEAT) == next(iter(part.by_repeat)):
            stored.setdefault(key, {})[record.question_id] = raw.stored
    for values_of_run in said.values():
        _check_single(path, values_of_run)
    if not parts:
        if references.lacking is not None:
            raise references.lacking
        raise RunError(_nothing_known(context, path, total, unknown_ids, unreadable))
    for (split, run), part in parts.items():
        part.context = _completed(context, said[run])
        _check_mixed(part)
        _check_repeats(part)
        if tau == DEFAULT_TAU:
            _check_stored(part, stored.get((split, run), {}))
            _check_means(part)
    first = next(iter(parts.values()))
    first.unknown, first.unknown_ids = unknown, tuple(unknown_ids)
    first.unreadable, first.unreadable_count = unreadable, count["unreadable"]
    return list(parts.values())


def _named_run(raw: RawAnswer, kind: Kind) -> _Named:
    """What tells the runs of a file apart: nothing but in our own files of questions."""
    if kind is Kind.SCORES and raw.record.keys() >= _PUBLISHED:
        return raw.model, raw.condition
    return None, None


def _question(raw: RawAnswer, references: References) -> tuple[str, Record] | None:
    """The question that an answer names, else the one that its picture and text tell."""
    found = None if raw.question_id is None else references.find(raw.question_id)
    if found is not None or not raw.record:
        return found
    said = asked(raw.record)
    return None if said is None else references.find_asked(said)


def _contradiction(
    raw: RawAnswer, kind: Kind, split: str, record: Record, references: References
) -> str | None:
    """Why a record is not only about the question that it is taken to be about."""
    if len(raw.names) > 1 and (other := _other_question(raw, record, references)) is not None:
        return f"names two questions ({record.question_id!r} and {other!r})"
    texts = [raw.record[key] for key in _TEXTS.intersection(raw.record)]
    if texts and texts != [raw.condition] and references.asks_another(split, record, texts):
        return f"names {record.question_id!r} but holds the text of another question"
    if references.shows_another(split, record, pictures_in(raw.record)):
        return f"names {record.question_id!r} but holds the picture of another question"
    if kind is Kind.LLAVA and not texts and _is_question(record, raw.prediction):
        return "has the question under 'text', not an output"
    return None


_INSTRUCTION = re.compile(r"\s*Answer the question[^.]*\.\s*", re.IGNORECASE)


def _is_question(record: Record, output: object) -> bool:
    """Whether an output is the question, with LLaVA's instruction or without."""
    said = _INSTRUCTION.sub("", output) if isinstance(output, str) else ""
    return one_line(said) == one_line(record.question)


def _other_question(raw: RawAnswer, record: Record, references: References) -> str | None:
    """Another question of the benchmark that the record names as well."""
    for name in raw.names:
        try:
            found = references.find(name)
        except DataError:  # of a split whose annotations are not here
            continue
        if found is not None and found[1].question_id != record.question_id:
            return found[1].question_id
    return None


def _check_rivals(path: Path, raw: RawAnswer, record: Record) -> None:
    """Refuse a record with two outputs; a ``text`` that asks the question is none."""
    for name, value in raw.rivals:
        if name == "text" and asks(record, str(value)):
            continue
        raise RunError(
            f"{path}, {raw.place}: {raw.held_as!r} and {name!r} hold different outputs. Say which "
            f"of them is the model's with --prediction-column {raw.held_as} (or {name})."
        )


def _numbered(raw: RawAnswer, kind: Kind, context: Context) -> RawAnswer:
    """EvalScope's ``predictions`` count samples on through the repeats of each question."""
    if kind is not Kind.EVALSCOPE or context.asked_repeats < 2:
        return raw
    index = raw.record.get("index")
    if not isinstance(index, int):
        return raw
    return replace(raw, repeat=str(index % context.asked_repeats + 1))


def _nothing_known(
    context: Context,
    path: Path,
    total: int,
    unknown_ids: Sequence[str],
    unreadable: Sequence[tuple[str, str, str]],
) -> str:
    if unknown_ids and "custom" in context.task.lower():
        return (
            f"{path}: none of its {total:,} predictions belongs to a known question (the first: "
            f"{unknown_ids[0]!r}); set {CUSTOM_VARIABLE} to the question set that was asked"
        )
    if unknown_ids:
        return (
            f"{path}: none of its {total:,} predictions belongs to a question of DT-VQA "
            f"(the first: {', '.join(map(repr, unknown_ids))}; ids are such as 'DTScene/12'): "
            "another benchmark's file, or another column (--id-column)?"
        )
    detail = "".join(f" {place}: {why}." for _, place, why in unreadable[:1])
    return f"{path}: no prediction in it can be used.{detail}"


def _check_single(path: Path, said: Mapping[str, set[str]]) -> None:
    for key, values in said.items():
        if len(values) > 1:
            raise RunError(
                f"{path}: mixes several values of {key} ({', '.join(sorted(values))}); "
                "a file holds one run: split it"
            )


def _check_mixed(part: Part) -> None:
    """Refuse responses to one question of which nothing says which run or repeat each is of."""
    several = part.contradictory > MIXED_SHARE * len(part.answers)
    everywhere = part.contradictory and len(part.doubled) == len(part.answers)
    if several or everywhere:
        raise RunError(
            f"{part.path}: {len(part.doubled)} of {len(part.answers)} questions are answered more "
            f"than once, {part.contradictory} of them differently, and nothing tells the answers "
            "apart. If they are several runs, split the file. If they are repeats of one run, "
            'number them in each record ("repeat": 1) or give each question one list of responses.'
        )


def _check_repeats(part: Part) -> None:
    """Refuse repeats that do not answer the same questions: their means would not compare."""
    everything = {name for given in part.by_repeat.values() for name in given}
    for repeat, given in part.by_repeat.items():
        lacking = sorted(everything - given.keys())
        if lacking:
            cure = (
                "Each question needs a list of the same length."
                if part.listed
                else "Remove the incomplete repeat, or complete it."
            )
            raise RunError(
                f"{part.path}: repeat {repeat} has {len(given)} of {len(everything)} questions "
                f"({lacking[0]} is not in it), so repeats cannot be told apart. {cure}"
            )


def _completed(context: Context, said: Mapping[str, set[str]]) -> Context:
    model = next(iter(said["model"]), context.model)
    condition = context.condition or next(iter(said["condition"]), None)
    prompt = context.prompt or condition
    nameless = context.nameless and not said["model"]
    return replace(context, model=model, condition=condition, prompt=prompt, nameless=nameless)


_KEPT_LENGTH = 100
_scored = lru_cache(maxsize=20_000)(score_answer)
"""Runs give the same short answers: each is scored once."""


def _add(part: Part, raw: RawAnswer, record: Record, tau: float, text_kept: int) -> None:
    short = isinstance(raw.prediction, str) and len(raw.prediction) <= _KEPT_LENGTH
    score = _scored if short else score_answer
    answer = score(raw.prediction, record.answers, record.question_id, tau, loss=raw.loss)
    answer = answer.cut(text_kept)
    part.listed |= raw.listed
    given = part.by_repeat.setdefault(raw.repeat or FIRST_REPEAT, {})
    earlier = given.get(record.question_id)
    if earlier is not None:
        part.doubled[record.question_id] = None
        part.contradictory += (earlier.text, earlier.length) != (answer.text, answer.length)
    given[record.question_id] = answer


def _check_stored(part: Part, stored: Mapping[str, Mapping[str, float]]) -> None:
    """Compare the scores that the host saved; of several responses it scores the first or all."""
    if not (stored or part.context.stored):
        return
    for name, answer in part.answers.items():
        for metric, value in (stored.get(name) or part.context.stored.get(name, {})).items():
            scores = [getattr(given[name], metric) for given in part.by_repeat.values()]
            recomputed = getattr(answer, metric)
            means = (recomputed, _mean(scores))
            if not any(abs(value - mean) <= STORED_TOLERANCE for mean in means):
                part.differences.append(Difference(name, metric, value, recomputed))


def _check_means(part: Part) -> None:
    """Compare the mean that the host saved for the task, if every answer of it is here."""
    if part.unreadable_count or part.doubled:
        return
    for metric, stored in part.context.stored_means.items():
        means = []
        for given in part.by_repeat.values():
            values = [getattr(answer, metric) for answer in given.values()]
            means.append(_mean(values))
        if not any(abs(mean - stored) <= STORED_TOLERANCE for mean in (means[0], _mean(means))):
            part.differences.append(Difference(part.context.task, metric, stored, means[0]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
