"""The prediction files under a path, each once, by-products left out."""

from __future__ import annotations

import glob
import heapq
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dtvqa_plugin.predictions.kinds import found_names, sniff, vlmevalkit_name
from dtvqa_plugin.predictions.opening import bare_name, is_candidate, is_dataset_folder
from dtvqa_plugin.predictions.rows import NoPredictionsError, PredictionFileError
from dtvqa_plugin.predictions.shapes import NO_COLUMNS, Columns, Kind
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.utils import files as system

MAX_FILES = 5_000
_NAMED = 5
"""How many files of a folder without any run are named with their keys."""
_WITHOUT_NAMED = 3
"""How many files without predictions are named where a folder holds a run."""


def find_files(
    path: Path, columns: Columns = NO_COLUMNS
) -> tuple[list[tuple[Path, Kind]], list[str]]:
    """The prediction files under a path, each once, and what was left out and why.

    Args:
        path: A file, a folder saved by ``datasets``, or a folder of runs.
        columns: The columns that the user names.

    Raises:
        RunError: There is no such path, or one file that holds no predictions.
    """
    try:
        if path.is_file() or (path.is_dir() and is_dataset_folder(path)):
            return [(path, _kind_of(path, columns))], []
        if not path.is_dir():
            if system.kind(path) == "other":
                raise RunError(f"{path}: this is a pipe or a device; give - and pipe it in")
            raise RunError(f"{path}: no such file or folder")
    except OSError as error:  # a name that is too long, a disk that is gone
        raise RunError(cannot_open(path, error)) from error
    found: dict[Path, tuple[Path, Kind]] = {}
    without: list[Path] = []
    files, damaged = _candidates(path)
    for file in files:
        if file.resolve() in found:
            continue
        kind = None
        try:
            kind = sniff(file, columns)
        except NoPredictionsError:
            pass
        except PredictionFileError as error:
            damaged.append(str(error).removesuffix("."))
            continue
        except OSError as error:
            damaged.append(cannot_open(file, error))
            continue
        if kind is not None:
            found[file.resolve()] = (file, kind)
        else:
            without.append(file)
    kept, skipped = _without_byproducts(list(found.values()))
    if not kept:
        skipped += [_described(file) for file in files[:_NAMED]]
    elif others := _not_byproducts(without):
        skipped.append(_without_predictions(others))
    return kept, skipped + damaged


def _not_byproducts(files: Sequence[Path]) -> list[Path]:
    """The files that belong to no prediction file beside them."""
    beside = {folder: _vlmevalkit_files(folder) for folder in {file.parent for file in files}}
    return [file for file in files if not any(_owners(file.absolute(), beside[file.parent]))]


def _without_predictions(files: Sequence[Path]) -> str:
    names = ", ".join(map(str, files[:_WITHOUT_NAMED]))
    more = len(files) - _WITHOUT_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{names}{rest}: no predictions in a form that is known (give the file to see why)"


def _described(file: Path) -> str:
    try:
        return ": ".join(filter(None, (str(file), *found_names(file))))
    except PredictionFileError as error:
        return str(error).removesuffix(".")
    except OSError as error:
        return cannot_open(file, error)


STANDARD_INPUT = "-"
"""The path that means standard input."""

STANDARD_INPUT_NAME = "standard input"
"""What people see in place of the temporary file that it is copied to."""


def spooled_input() -> Path:
    """Standard input, copied once to a temporary file, which is gone when the process ends.

    Raises:
        RunError: It is a terminal, it is empty, or it has been read already.
    """
    if _spooled:
        raise RunError(f"{STANDARD_INPUT_NAME} (-) can be given once")
    if sys.stdin is None or sys.stdin.isatty():
        raise RunError(
            f"{STANDARD_INPUT_NAME} (-) is a terminal; pipe the predictions in, or name a file"
        )
    folder = tempfile.TemporaryDirectory(prefix="dtvqa-")
    _spooled.append(folder)
    file = Path(folder.name) / STANDARD_INPUT_NAME
    try:
        with file.open("wb") as handle:
            shutil.copyfileobj(sys.stdin.buffer, handle)
    except OSError as error:
        raise RunError(cannot_open(STANDARD_INPUT_NAME, error)) from error
    if not file.stat().st_size:
        raise RunError(
            f"{STANDARD_INPUT_NAME} is empty: did the command before the pipe write anything?"
        )
    return file


_spooled: list[tempfile.TemporaryDirectory[str]] = []


def cannot_open(path: Path | str, error: OSError) -> str:
    """The sentence for a file or folder that the system does not let us read."""
    return f"{path}: cannot be opened ({error.strerror or error})"


def _kind_of(path: Path, columns: Columns) -> Kind:
    try:
        kind = sniff(path, columns)
        found, cure = ("", "") if kind else found_names(path)
    except PredictionFileError as error:
        raise RunError(str(error)) from error
    except OSError as error:
        raise RunError(cannot_open(path, error)) from error
    if kind is not None:
        return kind
    if path.name.endswith("_results.json"):
        raise RunError(
            f"{path}: this is a results file of lmms-eval, which holds no answers. Give its folder "
            "or a *_samples_*.jsonl file beside it (--log_samples writes them)."
        )
    if cure:
        raise RunError(f"{path}: holds no predictions that can be read ({found}): {cure}")
    raise RunError(
        f"{path}: holds no predictions that can be read ({found}). Known are the logs of lmms-eval "
        "(--log_samples), EvalScope and inspect_ai, VLMEvalKit prediction files, result files of "
        "ms-swift, LLaVA and the paper's runners, maps of question ids, and records with "
        '"question_id" (or "dataset_name" and "id") and "prediction". --id-column and '
        "--prediction-column name others."
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
            if there == "folder" and is_dataset_folder(Path(entry.path)):
                files.append(Path(entry.path))
            elif there == "folder":
                heapq.heappush(waiting, (linked or entry.is_symlink(), depth + 1, entry.path))
            elif there == "other":
                damaged.append(f"{entry.path}: a pipe, socket or device, which is not opened")
            elif not is_candidate(Path(entry.name)):
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


# --- by-products ------------------------------------------------------------------------------

_EVALSCOPE_FOLDERS = ("configs", "logs", "reports", "reviews")
_LOGS = "logs"
"""VLMEvalKit's folder beside those of the models."""
_DATED = re.compile(r"T\d{8}[-_].+")
"""VLMEvalKit's name of a folder for one evaluation."""
_VLMEVALKIT_LOGS = (".log", ".pkl")


def by_products(paths: Sequence[Path], columns: Columns = NO_COLUMNS) -> dict[Path, Path]:
    """Which of some given paths only belong to a run that is given as well, as a shell glob names.

    Args:
        paths: Files and folders that are to be read as runs.
        columns: The columns that the user names.

    Returns:
        By-products, each with the predictions that it belongs to: results files of lmms-eval,
        what VLMEvalKit and this package write beside a prediction file, and EvalScope's other
        folders. A file with predictions of its own is none.
    """
    given = {path.absolute() for path in paths}
    around = {folder for path in given for folder in path.parents}
    listed = {folder: _vlmevalkit_files(folder) for folder in {path.parent for path in given}}
    owners: dict[Path, Path] = {}
    for path in paths:
        place = path.absolute()
        with suppress(OSError):  # what cannot be looked at is an error when it is read
            for owner in _owners(place, listed[place.parent]):
                is_given = owner in around or not given.isdisjoint((owner, *owner.parents))
                if is_given and not _has_own_predictions(path, columns):
                    owners[path] = owner
                    break
    return owners


def _vlmevalkit_files(folder: Path) -> list[tuple[Path, str]]:
    """The prediction files in a folder that are named as VLMEvalKit names them, and the dataset."""
    named = ((file, vlmevalkit_name(file)) for file in folder.glob("*_DTVQA*"))
    return [(file, name.dataset) for file, name in named if name and is_candidate(file)]


def _owners(path: Path, beside: Sequence[tuple[Path, str]]) -> Iterator[Path]:
    """The predictions that a file or folder belongs to by its name, if it is a by-product."""
    folder, name = path.parent, path.name
    if name.endswith("_results.json"):
        stamp = glob.escape(name.removesuffix("_results.json"))
        yield from folder.glob(f"{stamp}_samples_*.jsonl")
    for place in (path, *list(path.parents)[:2]):
        if place.name in _EVALSCOPE_FOLDERS and (place.parent / "predictions").is_dir():
            yield place.parent / "predictions"
        if place.name == _LOGS:
            yield from (model for model in place.parent.glob("*") if _vlmevalkit_files(model))
    if all(path != other for other, _ in beside):
        yield from (other for other, dataset in beside if _is_beside(path, other, dataset))


def _is_beside(path: Path, predictions: Path, dataset: str) -> bool:
    """Whether VLMEvalKit or this package writes such a file or folder for a prediction file."""
    if path.is_dir():
        return _DATED.fullmatch(path.name) is not None or (path / predictions.name).is_file()
    return (
        path.name.startswith((f"{bare_name(predictions)}_", f"{bare_name(predictions)}."))
        or (path.suffix in _VLMEVALKIT_LOGS and dataset in path.name)
        or path.name == "status.json"
    )


def _has_own_predictions(path: Path, columns: Columns) -> bool:
    """Whether a path holds predictions other than those it belongs to."""
    again = (Kind.SCORES, Kind.EVALSCOPE_REVIEW)
    try:
        found, _ = find_files(path, columns)
    except (RunError, PredictionFileError):
        return False
    beside = {file.name for file in path.parent.iterdir()} if path.is_dir() else set()
    return any(kind not in again and file.name not in beside for file, kind in found)


def _without_byproducts(
    files: Sequence[tuple[Path, Kind]],
) -> tuple[list[tuple[Path, Kind]], list[str]]:
    """Leave out what was made of predictions that are here, and older VLMEvalKit evaluations.

    Score files beside predictions, and EvalScope's reviews of them, hold the same answers again.

    VLMEvalKit links the latest evaluation's files into the model's folder; the dated folders below
    it hold the same file again, or that of an earlier run.
    """
    predicted = {file.parent.resolve() for file, kind in files if kind is not Kind.SCORES}
    current = {file.name: file for file, kind in reversed(files) if kind is Kind.VLMEVALKIT}
    answered = {file.name for file, kind in files if kind is Kind.EVALSCOPE}
    kept, skipped = [], []
    for file, kind in files:
        if kind is Kind.EVALSCOPE_REVIEW and file.name in answered:
            continue
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
    name = bare_name(file).removesuffix("_questions")
    return any(bare_name(other) == name for other in predictions.values())
