"""Read runs from what a host or a runner left: folders and files, told by their content.

Scores are always recomputed from the raw outputs; scores that a file stores are only compared.
Records stream through: memory grows with the number of the benchmark's questions, not with the
size of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, takewhile
from pathlib import Path

from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.predictions.rows import PredictionFileError
from dtvqa_plugin.predictions.shapes import Columns, Kind
from dtvqa_plugin.runs.context import AnswerOrigin, Context
from dtvqa_plugin.runs.faults import EXAMPLES, Faults, RunError
from dtvqa_plugin.runs.files import STANDARD_INPUT, cannot_open, find_files, spooled_input
from dtvqa_plugin.runs.naming import INCIDENTAL, distinct_names
from dtvqa_plugin.runs.parts import NO_COLUMNS, Part, read_file
from dtvqa_plugin.runs.references import AnnotationStamp, References
from dtvqa_plugin.runs.run import TEXT_KEPT, Run
from dtvqa_plugin.runs.signature import UNKNOWN
from dtvqa_plugin.utils.text import counted


def read_runs(
    path: str | Path,
    references: References | None = None,
    *,
    tau: float = DEFAULT_TAU,
    name: str | None = None,
    columns: Columns = NO_COLUMNS,
    text_kept: int = TEXT_KEPT,
) -> list[Run]:
    """Read every run in a file or folder: one for each model, condition and split.

    Args:
        path: A file or folder, or ``-`` for standard input.
        references: Reference answers (default: the store's).
        tau: ANLS threshold, above 0 and at most 1.
        name: Name to show in place of the runs' own.
        columns: Columns or keys of the question's id and of the output, where they are others.
        text_kept: Characters kept of each output. Scores are always of the whole output.

    Returns:
        The runs, scored again, with distinct names.

    Raises:
        RunError: There is nothing to read, a file mixes models or conditions, or the predictions
            belong to another benchmark.
        DataError: The annotations are missing.
    """
    references = references or References()
    parts, skipped = _parts(path, references, tau, columns, text_kept)
    runs = [_as_run(group, references, tau, skipped) for group in _groups(parts)]
    return distinct_names([replace(run, name=name, title=name) if name else run for run in runs])


def _parts(
    path: str | Path, references: References, tau: float, columns: Columns, text_kept: int
) -> tuple[list[Part], list[str]]:
    """What the files under a path hold, and what was left out and why."""
    path = Path(path)
    if str(path) == STANDARD_INPUT:
        path = spooled_input()
    files, skipped = find_files(path, columns)
    parts: list[Part] = []
    for file, kind in files:
        try:
            parts += read_file(file, kind, references, tau, columns, text_kept)
        except (RunError, PredictionFileError) as error:
            if file == path or len(files) == 1:
                raise
            skipped.append(str(error))
        except OSError as error:
            if file == path or len(files) == 1:
                raise RunError(cannot_open(file, error)) from error
            skipped.append(cannot_open(file, error))
    if not parts:
        raise RunError(
            f"{path}: no answers to this benchmark's questions found "
            "(lmms-eval keeps them with --log_samples)" + "".join(f"\n  {line}" for line in skipped)
        )
    return parts, skipped


def read_run(
    path: str | Path,
    references: References | None = None,
    *,
    tau: float = DEFAULT_TAU,
    name: str | None = None,
    columns: Columns = NO_COLUMNS,
    text_kept: int = TEXT_KEPT,
) -> Run:
    """Read a path that holds exactly one run.

    Args:
        path: A file or folder, or ``-`` for standard input.
        references: Reference answers (default: the store's).
        tau: ANLS threshold, above 0 and at most 1.
        name: Name to show in place of the run's own.
        columns: Columns or keys of the question's id and of the output, where they are others.
        text_kept: Characters kept of each output. Scores are always of the whole output.

    Returns:
        The run, scored again.

    Raises:
        RunError: There is no run or more than one, or it cannot be read.
        DataError: The annotations are missing.
    """
    runs = read_runs(path, references, tau=tau, name=name, columns=columns, text_kept=text_kept)
    if len(runs) > 1:
        listing = "\n".join(f"  {run.name} [{run.condition}]: {run.paths[0]}" for run in runs)
        raise RunError(f"{path} holds {len(runs)} runs; pass one of their files:\n{listing}")
    return runs[0]


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
    groups: dict[tuple[str | None, str | None, str], dict[Path, Part]] = {}
    skipped: list[str] = []
    for path in paths:
        parts, left_out = _parts(path, references, tau, columns, text_kept)
        skipped += left_out
        for part in parts:
            model = None if part.context.nameless else part.context.model
            key = (model, part.context.condition, part.split)
            groups.setdefault(key, {}).setdefault(part.path.resolve(), part)
    runs = []
    for (model, *_), shards in groups.items():
        found = sorted(shards.values(), key=lambda part: str(part.path))
        _check_shards(found)
        run = _as_run(found, references, tau, skipped)
        name = _shared_name(found) if model is None else run.name
        runs.append(replace(run, name=name, title=name, context=_joined_context(found)))
    return distinct_names(runs)


def _shared_name(shards: Sequence[Part]) -> str:
    """What the names of all files begin with, else the folder's name."""
    first, *others = (part.context.model for part in shards)
    if not others:
        return first
    same = takewhile(lambda chars: len(set(chars)) == 1, zip(first, *others, strict=False))
    shared = "".join(chars[0] for chars in same).rstrip("0123456789").rstrip("-_. ")
    return shared or shards[0].path.parent.name or first


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
    settings = [_settings(part) for part in shards]
    for key in dict.fromkeys(key for found in settings for key in found):
        for part, found in zip(shards[1:], settings[1:], strict=True):
            if found.get(key) != settings[0].get(key):
                ours, theirs = settings[0].get(key) or "not set", found.get(key) or "not set"
                raise RunError(
                    f"{shards[0].path} and {part.path} cannot be joined: {key} is {ours} in the "
                    f"first and {theirs} in the second; shards of one run have equal settings. "
                    "Leave out the file that does not belong, or read them as runs of their own"
                )


def _settings(part: Part) -> dict[str, str]:
    """What must be equal in all files of one run."""
    context = part.context
    return {
        **context.settings,
        **{key: value for key, value in context.arguments.items() if key not in INCIDENTAL},
        "host": f"{context.host} {context.host_version}",
        "runner": context.runner,
        "prompt": context.prompt or "",
        "image": context.image,
        "recognised text": context.given,
        "generation": context.generation,
        "number of responses": str(len(part.by_repeat)),
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


def shards_among(runs: Sequence[Run]) -> list[Run]:
    """Partial runs of one kind that answer different questions: they look like shards of one.

    Args:
        runs: Runs that were read one by one.

    Returns:
        The first such group; empty if there is none.
    """
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        model = None if run.context.nameless else run.context.model
        key = (model, run.condition, run.split)
        if run.missing:
            groups.setdefault(key, []).append(run)
    for group in groups.values():
        answered = sum(len(run.by_question) for run in group)
        if len(group) > 1 and len({name for run in group for name in run.by_question}) == answered:
            return group
    return []


# --- from files to runs -----------------------------------------------------------------------


def _groups(parts: Sequence[Part]) -> list[list[Part]]:
    """Files of one run: same folder, stamp, model, condition and split, and no question twice."""
    groups: dict[tuple[object, ...], list[list[Part]]] = {}
    for part in sorted(parts, key=lambda part: -len(part.answers)):
        context = part.context
        alone = part.kind not in (Kind.LMMS_EVAL, Kind.VLMEVALKIT, Kind.EVALSCOPE)
        place = part.path if alone else part.path.parent
        key = (place, context.stamp, context.model, context.condition, part.split)
        for group in groups.setdefault(key, []):
            if all(other.answers.keys().isdisjoint(part.answers) for other in group):
                group.append(part)
                break
        else:
            groups[key].append([part])
    flat = [group for alike in groups.values() for group in alike]
    return sorted(flat, key=lambda group: min(str(part.path) for part in group))


def _as_run(
    group: Sequence[Part], references: References, tau: float, skipped: Sequence[str]
) -> Run:
    first = min(group, key=lambda part: str(part.path))
    repeats = _joined_repeats(group)
    answers = repeats[0]
    known = references.split(first.split)
    named = (references.named_subsets(part.context.task, part.split) for part in group)
    answered = (known[name].subset for name in answers)
    subsets = list(dict.fromkeys((*chain.from_iterable(named), *answered)))
    wanted = references.of_subsets(first.split, subsets)
    there = [record for record in wanted if record.question_id in answers]
    stamp = references.stamp(first.split, subsets)
    return Run(
        name=first.context.model,
        title=first.context.model,
        kind=first.kind,
        paths=tuple(sorted(part.path for part in group)),
        split=first.split,
        context=first.context,
        records=tuple(there),
        answers=tuple(answers[record.question_id] for record in there),
        repeats=tuple(tuple(given[record.question_id] for record in there) for given in repeats)
        if len(repeats) > 1
        else (),
        missing=tuple(record for record in wanted if record.question_id not in answers),
        annotations=stamp,
        tau=tau,
        faults=_joined_faults(group, stamp, skipped),
    )


def _joined_repeats(group: Sequence[Part]) -> list[dict[str, ScoredAnswer]]:
    """The answers of all files of a run, repeat by repeat."""
    first = group[0]
    for part in group:
        if part.by_repeat.keys() != first.by_repeat.keys():
            raise RunError(
                f"{part.path} has {counted(len(part.by_repeat), 'response')} to each question, "
                f"{first.path} has {len(first.by_repeat)}: files of one run have the same number; "
                "name one of the files"
            )
    return [
        {key: answer for part in group for key, answer in part.by_repeat[repeat].items()}
        for repeat in sorted(first.by_repeat, key=_repeat_order)
    ]


def _repeat_order(repeat: str) -> tuple[int, int, str]:
    return (0, int(repeat), "") if repeat.isdecimal() else (1, 0, repeat)


def _joined_faults(group: Sequence[Part], stamp: AnnotationStamp, skipped: Sequence[str]) -> Faults:
    seen = {file: digest for part in group for file, digest in part.context.files.items()}
    other = [file for file, digest in seen.items() if stamp.files.get(file, digest) != digest]
    return Faults(
        doubled=tuple(name for part in group for name in part.doubled),
        contradictory=sum(part.contradictory for part in group),
        unknown=sum(part.unknown for part in group),
        unknown_ids=tuple(name for part in group for name in part.unknown_ids)[:EXAMPLES],
        unreadable=tuple(item for part in group for item in part.unreadable)[:EXAMPLES],
        unreadable_count=sum(part.unreadable_count for part in group),
        differences=tuple(item for part in group for item in part.differences),
        other_annotations=tuple(other),
        skipped=tuple(skipped),
    )
