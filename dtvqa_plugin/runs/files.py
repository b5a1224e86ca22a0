"""The prediction files under a path, each once, by-products left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dtvqa_plugin.predictions.kinds import Kind, sniff
from dtvqa_plugin.predictions.rows import SUFFIXES, PredictionFileError
from dtvqa_plugin.runs.faults import RunError

MAX_FILES = 5_000


def find_files(path: Path) -> tuple[list[tuple[Path, Kind]], list[str]]:
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
