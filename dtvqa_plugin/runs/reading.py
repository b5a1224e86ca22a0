"""Read runs from what a host or a runner left: folders and files, told by their content.

Scores are always recomputed from the raw outputs; scores that a file stores are only compared.
Records stream through: memory grows with the number of the benchmark's questions, not with the
size of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.predictions.rows import PredictionFileError
from dtvqa_plugin.predictions.shapes import NO_COLUMNS, Columns, Kind
from dtvqa_plugin.runs.faults import EXAMPLES, Faults, RunError
from dtvqa_plugin.runs.files import (
    STANDARD_INPUT,
    STANDARD_INPUT_NAME,
    cannot_open,
    find_files,
    spooled_input,
)
from dtvqa_plugin.runs.naming import distinct_names
from dtvqa_plugin.runs.parts import Part, read_file
from dtvqa_plugin.runs.references import AnnotationStamp, References
from dtvqa_plugin.runs.run import TEXT_KEPT, Run
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
    parts, skipped = parts_of(path, references, tau, columns, text_kept)
    runs = [as_run(group, references, tau, skipped) for group in _groups(parts)]
    return distinct_names([replace(run, name=name, title=name) if name else run for run in runs])


def parts_of(
    path: str | Path, references: References, tau: float, columns: Columns, text_kept: int
) -> tuple[list[Part], list[str]]:
    """What the files under a path hold, and what was left out and why."""
    if str(path) != STANDARD_INPUT:
        return _parts_of(Path(path), references, tau, columns, text_kept)
    spooled = spooled_input()
    try:
        parts, skipped = _parts_of(spooled, references, tau, columns, text_kept)
    except (RunError, PredictionFileError) as error:
        said = str(error).replace(str(spooled), STANDARD_INPUT_NAME)
        raise RunError(said) from error
    return [replace(part, path=Path(STANDARD_INPUT_NAME)) for part in parts], skipped


def _parts_of(
    path: Path, references: References, tau: float, columns: Columns, text_kept: int
) -> tuple[list[Part], list[str]]:
    files, skipped = find_files(path, columns)
    parts: list[Part] = []
    for file, kind in files:
        try:
            parts += read_file(file, kind, references, tau, columns, text_kept)
        except (RunError, PredictionFileError) as error:
            if file == path or len(files) == 1:
                raise
            skipped.append(str(error).removesuffix("."))
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
        shown = STANDARD_INPUT_NAME if str(path) == STANDARD_INPUT else path
        one_file = len({path for run in runs for path in run.paths}) == 1
        cure = "write the one to a file of its own" if one_file else "pass one of their files"
        raise RunError(f"{shown} holds {len(runs)} runs; {cure}:\n{listing}")
    return runs[0]


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


def as_run(
    group: Sequence[Part], references: References, tau: float, skipped: Sequence[str]
) -> Run:
    """The run that some files make up; ``skipped`` says what was left out beside them."""
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
        if len(part.by_repeat) != len(first.by_repeat):
            raise RunError(
                f"{part.path} has {counted(len(part.by_repeat), 'response')} to each question, "
                f"{first.path} has {len(first.by_repeat)}: files of one run have the same number; "
                "name one of the files"
            )
        if part.by_repeat.keys() != first.by_repeat.keys():
            raise RunError(
                f"{part.path} has the repeats {_numbers(part)}, {first.path} has "
                f"{_numbers(first)}: files of one run have the same repeats; number them alike, "
                "or name one of the files"
            )
    return [
        {key: answer for part in group for key, answer in part.by_repeat[repeat].items()}
        for repeat in sorted(first.by_repeat, key=_repeat_order)
    ]


def _numbers(part: Part) -> str:
    """``1, 2``: what a file calls its repeats."""
    names = sorted(part.by_repeat, key=_repeat_order)
    shown = ", ".join(names[:EXAMPLES])
    return f"{shown} and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else shown


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
