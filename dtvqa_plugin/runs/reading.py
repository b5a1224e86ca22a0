"""Read runs from what a host or a runner left: folders and files, told by their content.

Scores are always recomputed from the raw outputs; scores that a file stores are only compared.
Records stream through: memory grows with the number of the benchmark's questions, not with the
size of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits.custom import CUSTOM_VARIABLE
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.predictions.kinds import Kind, RawAnswer, answers, sniff
from dtvqa_plugin.predictions.reader import SUFFIXES, PredictionFileError
from dtvqa_plugin.runs.context import Context, context_of
from dtvqa_plugin.runs.references import AnnotationStamp, References
from dtvqa_plugin.runs.run import (
    EXAMPLES,
    Difference,
    Faults,
    Run,
    RunError,
    ScoredAnswer,
    score_answer,
)

STORED_TOLERANCE = 1e-9
MAX_FILES = 5_000


def read_runs(
    path: str | Path,
    references: References | None = None,
    *,
    tau: float = DEFAULT_TAU,
    name: str | None = None,
) -> list[Run]:
    """Read every run that a file or folder holds: one for each model, condition and split.

    Raises RunError when there is nothing to read, when a file mixes models or conditions, or when
    the predictions belong to another benchmark; DataError when the annotations are missing.
    """
    path = Path(path)
    references = references or References()
    files, skipped = _find_files(path)
    parts: list[_Part] = []
    for file, kind in files:
        try:
            parts += _read_file(file, kind, references, tau)
        except (RunError, PredictionFileError) as error:
            if file == path or len(files) == 1:
                raise
            skipped.append(str(error))
    if not parts:
        raise RunError(
            f"{path}: no answers to this benchmark's questions found "
            "(lmms-eval keeps them with --log_samples)" + "".join(f"\n  {line}" for line in skipped)
        )
    runs = [_as_run(group, references, tau, skipped) for group in _groups(parts)]
    return distinct_names([replace(run, name=name) if name else run for run in runs])


def read_run(
    path: str | Path,
    references: References | None = None,
    *,
    tau: float = DEFAULT_TAU,
    name: str | None = None,
) -> Run:
    """Read a path that holds exactly one run. RunError lists the runs if there are several."""
    runs = read_runs(path, references, tau=tau, name=name)
    if len(runs) > 1:
        listing = "\n".join(f"  {run.name} [{run.condition}]: {run.paths[0]}" for run in runs)
        raise RunError(f"{path} holds {len(runs)} runs; name one of their files:\n{listing}")
    return runs[0]


def _find_files(path: Path) -> tuple[list[tuple[Path, Kind]], list[str]]:
    """The prediction files under a path, each once, and what was left out and why."""
    try:
        if path.is_file():
            return [(path, _kind_of(path))], []
        if not path.is_dir():
            raise RunError(f"{path}: no such file or folder")
    except OSError as error:  # a name that is too long, a disk that is gone
        raise RunError(f"{path}: cannot be opened ({error.strerror})") from error
    found: dict[Path, tuple[Path, Kind]] = {}
    damaged = []
    for file in _candidates(path):
        if file.resolve() in found:
            continue
        try:
            kind = sniff(file)
        except PredictionFileError as error:
            damaged.append(str(error))
            continue
        if kind is not None:
            found[file.resolve()] = (file, kind)
    kept, skipped = _without_byproducts(list(found.values()))
    return kept, skipped + damaged


def _kind_of(path: Path) -> Kind:
    try:
        kind = sniff(path)
    except PredictionFileError as error:
        raise RunError(str(error)) from error
    if kind is not None:
        return kind
    raise RunError(
        f"{path}: holds no predictions that can be read. Known are lmms-eval sample logs "
        "(--log_samples), VLMEvalKit prediction files, the paper's result files, and JSON Lines "
        'with "question_id" (or "dataset_name" and "id") and "prediction".'
    )


def _candidates(folder: Path) -> list[Path]:
    """Files of readable kinds, those nearest the top first; hidden ones are by-products."""
    files = []
    for file in folder.rglob("*"):
        inner = file.relative_to(folder).parts
        if file.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in inner):
            files.append(file)
        if len(files) > MAX_FILES:
            raise RunError(f"{folder}: over {MAX_FILES:,} files; name the folder of one run")
    return sorted((f for f in files if f.is_file()), key=lambda f: (len(f.parts), str(f)))


def _without_byproducts(
    files: Sequence[tuple[Path, Kind]],
) -> tuple[list[tuple[Path, Kind]], list[str]]:
    """Leave out score files that stand beside predictions, and older VLMEvalKit evaluations.

    VLMEvalKit links the latest evaluation's files into the model's folder; the dated folders below
    it hold the same file again, or that of an earlier run.
    """
    predicted = {file.parent.resolve() for file, kind in files if kind is not Kind.SCORES}
    current = {file.name: file for file, kind in reversed(files) if kind is Kind.VLMEVALKIT}
    kept, skipped = [], []
    for file, kind in files:
        if kind is Kind.SCORES and (
            file.parent.resolve() in predicted or _has_scored(file, current)
        ):
            continue
        newest = current.get(file.name, file) if kind is Kind.VLMEVALKIT else file
        if newest != file and newest.parent in file.parents:
            skipped.append(f"{file}: an earlier run of {newest}")
            continue
        kept.append((file, kind))
    return kept, skipped


def _has_scored(file: Path, predictions: Mapping[str, Path]) -> bool:
    stem = file.stem.removesuffix("_questions")
    return any(f"{stem}{suffix}" in predictions for suffix in SUFFIXES)


@dataclass(slots=True)
class _Part:
    """What one file says of one split."""

    path: Path
    kind: Kind
    split: str
    context: Context
    answers: dict[str, ScoredAnswer] = field(default_factory=dict)
    doubled: dict[str, None] = field(default_factory=dict)
    contradictory: int = 0
    differences: list[Difference] = field(default_factory=list)
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    unreadable: list[tuple[str, str, str]] = field(default_factory=list)
    unreadable_count: int = 0


def _read_file(path: Path, kind: Kind, references: References, tau: float) -> list[_Part]:
    context = context_of(path, kind)
    parts: dict[str, _Part] = {}
    unknown, total = 0, 0
    unknown_ids: list[str] = []
    unreadable: list[tuple[str, str, str]] = []
    count: Counter[str] = Counter()
    said: dict[str, set[str]] = {"model": set(), "condition": set()}

    def fault(place: str, why: str) -> None:
        count["unreadable"] += 1
        if len(unreadable) < EXAMPLES:
            unreadable.append((path.name, place, why))

    for raw in answers(path, kind, fault):
        total += 1
        if raw.question_id is None:
            fault(raw.place, "names no question (question_id, or dataset_name and id)")
            continue
        found = references.find(raw.question_id)
        if found is None:
            unknown += 1
            if len(unknown_ids) < EXAMPLES:
                unknown_ids.append(raw.question_id)
            continue
        split, record = found
        for key, value in (("model", raw.model), ("condition", raw.condition)):
            if value is not None and len(said[key]) < EXAMPLES:
                said[key].add(value)
        part = parts.setdefault(split, _Part(path, kind, split, context))
        _add(part, raw, record, tau)
    _check_single(path, said)
    if not parts:
        raise RunError(_nothing_known(context, path, total, unknown_ids, unreadable))
    for part in parts.values():
        part.context = _completed(context, said)
        _check_mixed(part)
        _check_means(part)
    first = next(iter(parts.values()))
    first.unknown, first.unknown_ids = unknown, tuple(unknown_ids)
    first.unreadable, first.unreadable_count = unreadable, count["unreadable"]
    return list(parts.values())


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
            f"(the first: {', '.join(map(repr, unknown_ids))}): another benchmark's file?"
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


def _check_mixed(part: _Part) -> None:
    """Two runs joined in one file answer every question twice, and differently."""
    if part.contradictory > 10 and part.contradictory > 0.2 * len(part.answers):
        raise RunError(
            f"{part.path}: {len(part.doubled)} of {len(part.answers)} questions are answered more "
            f"than once, {part.contradictory} of them differently: several runs in one file; "
            "split it"
        )


def _completed(context: Context, said: Mapping[str, set[str]]) -> Context:
    model = next(iter(said["model"]), context.model)
    condition = context.condition or next(iter(said["condition"]), None)
    prompt = context.prompt or condition
    return replace(context, model=model, condition=condition, prompt=prompt)


def _add(part: _Part, raw: RawAnswer, record: Record, tau: float) -> None:
    answer = score_answer(raw.prediction, record, tau, raw.loss)
    earlier = part.answers.get(record.question_id)
    if earlier is not None:
        part.doubled[record.question_id] = None
        part.contradictory += (earlier.text, earlier.length) != (answer.text, answer.length)
    part.answers[record.question_id] = answer
    stored = raw.stored or part.context.stored.get(record.question_id, {})
    if tau == DEFAULT_TAU:
        part.differences += _differences(record.question_id, stored, answer)


def _differences(
    question_id: str, stored: Mapping[str, float], answer: ScoredAnswer
) -> Iterator[Difference]:
    for metric, value in stored.items():
        recomputed = getattr(answer, metric)
        if not abs(value - recomputed) <= STORED_TOLERANCE:
            yield Difference(question_id, metric, value, recomputed)


def _check_means(part: _Part) -> None:
    """Compare the mean that the host saved for the task, if every answer of it is here."""
    if part.unreadable_count or part.doubled:
        return
    for metric, stored in part.context.stored_means.items():
        values = [getattr(answer, metric) for answer in part.answers.values()]
        mean = sum(values) / len(values)
        if not abs(mean - stored) <= STORED_TOLERANCE:
            part.differences.append(Difference(part.context.task, metric, stored, mean))


# --- from files to runs -----------------------------------------------------------------------


def _groups(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Files of one run: same folder, stamp, model, condition and split, and no question twice."""
    groups: dict[tuple[object, ...], list[list[_Part]]] = {}
    for part in sorted(parts, key=lambda part: -len(part.answers)):
        context = part.context
        alone = part.kind in (Kind.PLAIN, Kind.RELEASED, Kind.SCORES)
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
    group: Sequence[_Part], references: References, tau: float, skipped: Sequence[str]
) -> Run:
    first = min(group, key=lambda part: str(part.path))
    answers = {key: answer for part in group for key, answer in part.answers.items()}
    known = references.split(first.split)
    subsets = list(dict.fromkeys(known[name].subset for name in answers))
    wanted = references.of_subsets(first.split, subsets)
    there = [record for record in wanted if record.question_id in answers]
    stamp = references.stamp(first.split, subsets)
    return Run(
        name=first.context.model,
        kind=first.kind,
        paths=tuple(sorted(part.path for part in group)),
        split=first.split,
        context=first.context,
        records=tuple(there),
        answers=tuple(answers[record.question_id] for record in there),
        missing=tuple(record for record in wanted if record.question_id not in answers),
        annotations=stamp,
        tau=tau,
        faults=_joined_faults(group, stamp, skipped),
    )


def _joined_faults(
    group: Sequence[_Part], stamp: AnnotationStamp, skipped: Sequence[str]
) -> Faults:
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


def distinct_names(runs: Sequence[Run]) -> list[Run]:
    """Give runs of one model, condition and split names that tell them apart."""
    alike: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        alike.setdefault((run.name, run.condition, run.split), []).append(run)
    return [_named_apart(run, alike[run.name, run.condition, run.split]) for run in runs]


def _named_apart(run: Run, alike: Sequence[Run]) -> Run:
    """Add the shortest of stamp, file name and path that no other run of the name shares."""
    if len(alike) == 1:
        return run
    labels: tuple[Callable[[Run], str], ...] = (
        lambda other: other.context.stamp or other.paths[0].stem,
        lambda other: other.paths[0].parent.name,
        lambda other: str(other.paths[0]),
    )
    label = next(
        (label for label in labels if len({label(other) for other in alike}) == len(alike)),
        labels[-1],
    )
    return replace(run, name=f"{run.name} {label(run)}")
