"""The prediction files under a path, each once, by-products left out."""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dtvqa_plugin.predictions.kinds import Kind, sniff
from dtvqa_plugin.predictions.rows import SUFFIXES, PredictionFileError
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.utils import files as system

MAX_FILES = 5_000


def find_files(path: Path) -> tuple[list[tuple[Path, Kind]], list[str]]:
    """The prediction files under a path, each once, and what was left out and why."""
    try:
        if path.is_file():
            return [(path, _kind_of(path))], []
        if not path.is_dir():
            raise RunError(f"{path}: no such file or folder")
    except OSError as error:  # a name that is too long, a disk that is gone
        raise RunError(cannot_open(path, error)) from error
    found: dict[Path, tuple[Path, Kind]] = {}
    files, damaged = _candidates(path)
    for file in files:
        if file.resolve() in found:
            continue
        try:
            kind = sniff(file)
        except PredictionFileError as error:
            damaged.append(str(error))
            continue
        except OSError as error:
            damaged.append(cannot_open(file, error))
            continue
        if kind is not None:
            found[file.resolve()] = (file, kind)
    kept, skipped = _without_byproducts(list(found.values()))
    return kept, skipped + damaged


def cannot_open(path: Path | str, error: OSError) -> str:
    """The sentence for a file or folder that the system does not let us read."""
    return f"{path}: cannot be opened ({error.strerror or error})"


def _kind_of(path: Path) -> Kind:
    try:
        kind = sniff(path)
    except PredictionFileError as error:
        raise RunError(str(error)) from error
    except OSError as error:
        raise RunError(cannot_open(path, error)) from error
    if kind is not None:
        return kind
    raise RunError(
        f"{path}: holds no predictions that can be read. Known are lmms-eval sample logs "
        "(--log_samples), VLMEvalKit prediction files, the paper's result files, and JSON Lines "
        'with "question_id" (or "dataset_name" and "id") and "prediction".'
    )


def _candidates(folder: Path) -> tuple[list[Path], list[str]]:
    """Files of readable kinds, nearest the top first, and what could not be looked at.

    Linked folders are entered, each real folder once, real ones before links to them. Hidden
    names are by-products.
    """
    files: list[Path] = []
    damaged: list[str] = []
    entered: set[str] = set()
    waiting = [(False, len(folder.parts), str(folder))]
    while waiting:
        linked, depth, place = heapq.heappop(waiting)
        real = os.path.realpath(place)
        if real in entered:
            continue
        entered.add(real)
        try:
            with os.scandir(place) as listing:
                entries = [entry for entry in listing if not entry.name.startswith(".")]
        except OSError as error:
            damaged.append(cannot_open(place, error))
            continue
        for entry in entries:
            there = _entry_kind(entry)
            if there == "folder":
                heapq.heappush(waiting, (linked or entry.is_symlink(), depth + 1, entry.path))
            elif Path(entry.name).suffix.lower() not in SUFFIXES:
                continue
            elif there == "file":
                files.append(Path(entry.path))
            elif entry.is_symlink():
                damaged.append(f"{entry.path}: a link to a file that is not there")
        if len(files) > MAX_FILES:
            raise RunError(f"{folder}: over {MAX_FILES:,} files; name the folder of one run")
    return sorted(files, key=lambda file: (len(file.parts), str(file))), damaged


def _entry_kind(entry: os.DirEntry[str]) -> str | None:
    try:
        return system.kind(Path(entry.path))
    except OSError:  # a link that leads to itself
        return None


def _without_byproducts(
    files: Sequence[tuple[Path, Kind]],
) -> tuple[list[tuple[Path, Kind]], list[str]]:
    """Leave out score files beside predictions, and older VLMEvalKit evaluations.

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
