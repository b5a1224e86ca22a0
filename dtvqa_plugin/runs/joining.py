"""Files that belong to one run: shards of it, and its repeats under other seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from pathlib import Path

from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.predictions.shapes import NO_COLUMNS, Columns
from dtvqa_plugin.runs.context import AnswerOrigin, Context
from dtvqa_plugin.runs.faults import EXAMPLES, Faults, RunError
from dtvqa_plugin.runs.naming import INCIDENTAL, distinct_names
from dtvqa_plugin.runs.parts import Part
from dtvqa_plugin.runs.reading import as_run, parts_of
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.runs.run import TEXT_KEPT, Run
from dtvqa_plugin.runs.signature import UNKNOWN
from dtvqa_plugin.utils.text import counted


def join_runs(
    paths: Iterable[str | Path],
    references: References | None = None,
    *,
    tau: float = DEFAULT_TAU,
    columns: Columns = NO_COLUMNS,
    text_kept: int = TEXT_KEPT,
) -> list[Run]:
    """Read shards: files of one model, condition and split become one run, wherever they are.

    Files that name no model are taken as shards of one run.

    Args:
        paths: Files and folders; a file that is reached twice counts once.
        references: Reference answers (default: the store's).
        tau: ANLS threshold, above 0 and at most 1.
        columns: Columns or keys of the question's id and of the output, where they are others.
        text_kept: Characters kept of each output. Scores are always of the whole output.

    Returns:
        The runs, scored again, with distinct names.

    Raises:
        RunError: Two files of one run answer the same question or were made with other settings,
            or a file cannot be read as a run.
        DataError: The annotations are missing.
    """
    references = references or References()
    groups: dict[tuple[str | None, str | None, str, str], dict[Path, Part]] = {}
    skipped: list[str] = []
    for path in paths:
        parts, left_out = parts_of(path, references, tau, columns, text_kept)
        skipped += left_out
        for part in parts:
            context = part.context
            key = (context.named_model, context.condition, part.split, _seeds(context))
            groups.setdefault(key, {}).setdefault(part.path.resolve(), part)
    runs = []
    for (model, *_), shards in groups.items():
        found = sorted(shards.values(), key=lambda part: str(part.path))
        _check_shards(found)
        run = as_run(found, references, tau, skipped)
        named = [part.context.model for part in found]
        name = _shared_name(named, found[0].path) if model is None else run.name
        context = replace(_joined_context(found), model=name)
        runs.append(replace(run, name=name, title=name, context=context))
    return distinct_names(runs)


def _shared_name(names: Sequence[str], path: Path) -> str:
    """What the names of all files begin with, else the name of the folder of ``path``."""
    first, *others = names
    if not others:
        return first
    same = takewhile(lambda chars: len(set(chars)) == 1, zip(first, *others, strict=False))
    shared = "".join(chars[0] for chars in same).rstrip("0123456789").rstrip("-_. ")
    return shared or path.parent.name or first


def _check_shards(shards: Sequence[Part]) -> None:
    """Refuse files that answer the same questions or were made with other settings."""
    owners: dict[str, Part] = {}
    for part in shards:
        again = [name for name in part.answers if name in owners]
        if again:
            raise RunError(
                f"{owners[again[0]].path} and {part.path} cannot be joined: both answer "
                f"{counted(len(again), 'question')} ({again[0]} is one); shards answer different "
                "questions. Leave out one of the two files, or read them as runs of their own"
            )
        owners.update(dict.fromkeys(part.answers, part))
    _check_settings([(part.path, _settings(part.context, len(part.by_repeat))) for part in shards])


_SUMMED_UP = ("image", "generation")
"""Settings that sum up others: named in an error only where no single one differs."""


def _check_settings(found: Sequence[tuple[Path, Mapping[str, str]]]) -> None:
    """Refuse files of other settings than the first one's."""
    (first, ours), *others = found
    for path, theirs in others:
        for key in sorted(dict.fromkeys((*ours, *theirs)), key=_SUMMED_UP.__contains__):
            if ours.get(key) != theirs.get(key):
                said = [one.get(key) or "not set" for one in (ours, theirs)]
                raise RunError(
                    f"{first} and {path} cannot be joined: {key} is {said[0]} in the first and "
                    f"{said[1]} in the second; files of one run have equal settings. Leave out the "
                    "file that does not belong, or read them as runs of their own"
                )


def _seeds(context: Context) -> str:
    """The seeds that a run records."""
    named = {**context.settings, **context.arguments}
    return ",".join(f"{key}={value}" for key, value in sorted(named.items()) if _is_seed(key))


def _is_seed(key: str) -> bool:
    return "seed" in key.lower()


def _settings(context: Context, responses: int) -> dict[str, str]:
    """What must be equal in all files of one run."""
    return {
        **context.settings,
        **{key: value for key, value in context.arguments.items() if key not in INCIDENTAL},
        "host": f"{context.host} {context.host_version}",
        "runner": context.runner,
        "prompt": context.prompt or "",
        "image": context.image,
        "recognised text": context.given,
        "generation": context.generation,
        "number of responses": str(responses),
    }


def _joined_context(shards: Sequence[Part]) -> Context:
    """The first file's context with the origin of the answers of all."""
    first = shards[0].context
    origins = [part.context.answers for part in shards if part.context.answers is not None]
    if not origins:
        return first
    records = {origin.record for origin in origins}
    known = len(records) == 1 and len(origins) == len(shards)
    joined = AnswerOrigin(
        total=sum(origin.total for origin in origins),
        reused=sum(origin.reused for origin in origins),
        asked=sum(origin.asked for origin in origins),
        since=min((origin.since for origin in origins if origin.since), default=""),
        record=records.pop() if known else UNKNOWN,
    )
    return replace(first, answers=joined)


def join_repeats(runs: Sequence[Run]) -> list[Run]:
    """Make repeats of runs that differ in their seed only.

    Runs of one model, condition and split become one run whose repeats they are.

    Args:
        runs: Runs that were read one by one.

    Returns:
        The runs, with distinct names; a run without a like one stays as it is.

    Raises:
        RunError: Two runs that belong together answer other questions or have other settings.
    """
    groups: dict[tuple[str | None, str, str], list[Run]] = {}
    for run in runs:
        key = (run.context.named_model, run.condition, run.split)
        groups.setdefault(key, []).append(run)
    return distinct_names([_of_repeats(group) for group in groups.values()])


def _of_repeats(group: Sequence[Run]) -> Run:
    first = group[0]
    if len(group) == 1:
        return first
    for run in group[1:]:
        differing = first.by_question.keys() ^ run.by_question.keys()
        if differing:
            raise RunError(
                f"{first.paths[0]} and {run.paths[0]} are no repeats of one run: "
                f"{counted(len(differing), 'question')} ({min(differing)} is one) are in one of "
                "them only. Complete the run, or leave it out"
            )
    _check_settings([(run.paths[0], _but_for_seeds(run)) for run in group])
    name = first.context.model
    if first.context.nameless:
        name = _shared_name([run.context.model for run in group], first.paths[0])
    return replace(
        first,
        name=name,
        title=name,
        context=replace(first.context, model=name),
        paths=tuple(sorted(path for run in group for path in run.paths)),
        repeats=tuple(given for run in group for given in run.repeats or (run.answers,)),
        faults=_added_faults([run.faults for run in group]),
    )


def _but_for_seeds(run: Run) -> dict[str, str]:
    """What must be equal in all repeats; the settings' joined form may hold the seed."""
    settings = _settings(run.context, len(run.repeats))
    if run.context.settings:
        del settings["generation"]
    return {key: value for key, value in settings.items() if not _is_seed(key)}


def _added_faults(faults: Sequence[Faults]) -> Faults:
    """The faults of all repeats."""
    return Faults(
        doubled=tuple(dict.fromkeys(name for one in faults for name in one.doubled)),
        contradictory=sum(one.contradictory for one in faults),
        unknown=sum(one.unknown for one in faults),
        unknown_ids=tuple(name for one in faults for name in one.unknown_ids)[:EXAMPLES],
        unreadable=tuple(item for one in faults for item in one.unreadable)[:EXAMPLES],
        unreadable_count=sum(one.unreadable_count for one in faults),
        differences=tuple(item for one in faults for item in one.differences),
        other_annotations=tuple(
            dict.fromkeys(file for one in faults for file in one.other_annotations)
        ),
        skipped=tuple(dict.fromkeys(line for one in faults for line in one.skipped)),
    )


def shards_among(runs: Sequence[Run]) -> list[Run]:
    """Partial runs of one kind that answer different questions: they look like shards of one.

    Args:
        runs: Runs that were read one by one.

    Returns:
        The first such group; empty if there is none.
    """
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        key = (run.context.named_model, run.condition, run.split)
        if run.missing:
            groups.setdefault(key, []).append(run)
    for group in groups.values():
        answered = sum(len(run.by_question) for run in group)
        if len(group) > 1 and len({name for run in group for name in run.by_question}) == answered:
            return group
    return []


def unjoined(runs: Sequence[Run]) -> list[str]:
    """Why runs that may be shards of one run were not joined.

    Args:
        runs: Runs from `join_runs`.

    Returns:
        A sentence for each two runs over different questions that may be of one model: of which
        one names a model, condition or seed and the other does not, or that name other conditions
        or seeds.
    """
    return [
        f"{first.paths[0]} and {second.paths[0]} answer different questions and were not joined: "
        f"{'; '.join(differing)}. If they are shards of one run, let all of its files name the "
        "same model, condition and seed"
        for first, second in combinations(runs, 2)
        if first.split == second.split
        and (differing := _told_apart_by(first, second))
        and first.by_question.keys().isdisjoint(second.by_question)
    ]


def _told_apart_by(first: Run, second: Run) -> list[str]:
    """What keeps two runs from being one; empty where they are of different models."""
    ours, theirs = _identity(first), _identity(second)
    if ours["model"] and theirs["model"] and ours["model"] != theirs["model"]:
        return []
    found = []
    for what, named in ours.items():
        other = theirs[what]
        if named and other and named != other:
            ends = [said.removeprefix(f"{what}=") for said in (named, other)]
            found.append(f"{what} is {ends[0]} in the first and {ends[1]} in the second")
        elif named != other:
            path = (first if named else second).paths[0]
            found.append(f"only {path} names a {what} ({named or other})")
    return found


def _identity(run: Run) -> dict[str, str]:
    """What files of one run have in common besides the split; "" where it is not named."""
    return {
        "model": run.context.named_model or "",
        "condition": run.context.condition or "",
        "seed": _seeds(run.context),
    }
