"""The answers that VLMEvalKit would reuse for one model and dataset, and moving them aside.

Seen on ms-vlmeval 0.0.20, nvidia-vlmeval 26.3 and a checkout of August 2026. Finished answers are
in ``MODEL_DATASET.<xlsx|tsv|json>``; those of a killed run in pickles beside it.
"""

from __future__ import annotations

import logging
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DataError, HostError
from dtvqa_plugin.hosts.vlmevalkit.earlier.asked import record_path
from dtvqa_plugin.hosts.vlmevalkit.host import process_count
from dtvqa_plugin.predictions.reader import read_predictions
from dtvqa_plugin.predictions.rows import PredictionTable
from dtvqa_plugin.utils.text import now

logger = logging.getLogger("dtvqa_plugin")

FAILED = "Failed to obtain answer"
"""How the host's stored failures begin; it asks these questions again on its own."""

_FORMATS = (".xlsx", ".tsv", ".json")
_ASIDE = ".moved-aside"
"""Hidden, so that a folder of runs is read without it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the host keeps the answers of one model to one dataset."""

    folder: Path
    model: str
    dataset: str

    @property
    def stem(self) -> str:
        """The prediction file's name without its suffix."""
        return f"{self.model}_{self.dataset}"

    @property
    def record(self) -> Path:
        """Where the record of the answers is."""
        return record_path(self.folder / f"{self.stem}.tsv")

    def tables(self) -> list[Path]:
        """The prediction files, in any format."""
        return [
            path for suffix in _FORMATS if (path := self.folder / f"{self.stem}{suffix}").is_file()
        ]

    def pickles(self) -> list[Path]:
        """The files in which a run under way keeps its answers."""
        ranks = self.folder.glob(f"*_{self.dataset}.pkl")
        found = [path for path in ranks if path.stem.removesuffix(f"_{self.dataset}").isdecimal()]
        return [*self._of_one_process(), *found]

    def pickles_read(self, processes: int) -> list[Path]:
        """Those that the host reuses in a run with this many processes."""
        found = [self.folder / f"{rank}{processes}_{self.dataset}.pkl" for rank in range(processes)]
        return [*self._of_one_process(), *(path for path in found if path.is_file())]

    def _of_one_process(self) -> list[Path]:
        found = [self.folder / f"{self.stem}_{name}.pkl" for name in ("checkpoint", "supp", "PREV")]
        return [path for path in found if path.is_file()]


@dataclass(frozen=True, slots=True)
class Kept:
    """Earlier answers: ids in the prediction file, ids in all files, texts that the file claims.

    ``questions`` holds the ``question`` column of the prediction file by id, where there is one.
    """

    table: PredictionTable | None = None
    finished: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    questions: Mapping[str, str] = field(default_factory=dict)


def find_kept(place: Place, path: Path, *, keep_failed: bool = False) -> Kept:
    """Read which questions have an answer already.

    Args:
        place: Where to look.
        path: The prediction file that the host would read; it need not exist.
        keep_failed: Whether failed answers count (the host asks them again otherwise).

    Raises:
        HostError: The prediction file is there and cannot be read.
    """
    table = _read(path)
    rows = table.rows if table is not None else ()
    finished = {row.index for row in rows if keep_failed or not _failed(row.prediction)}
    names = set(finished)
    for pickled in place.pickles_read(process_count()):
        names |= {
            name for name, value in _answers(pickled).items() if keep_failed or not _failed(value)
        }
    texts = {row.index: str(row.fields["question"]) for row in rows if "question" in row.fields}
    return Kept(table, frozenset(finished), frozenset(names), texts)


def move_aside(place: Place) -> Path | None:
    """Move every file of these answers into a new folder; None if there is none."""
    return _set_aside(place, shutil.move, "move")


def copy_aside(place: Place) -> Path | None:
    """Copy every file of these answers into a new folder; None if there is none."""
    return _set_aside(place, shutil.copy2, "copy")


def _set_aside(place: Place, act: Callable[[Path, Path], object], doing: str) -> Path | None:
    found = sorted({*place.tables(), *place.pickles(), *_companions(place)})
    if not found:
        return None
    stamp = now().replace(":", "").replace("+0000", "Z")
    target = place.folder / _ASIDE / stamp
    number = 1
    while target.exists():
        number += 1
        target = target.with_name(f"{stamp}-{number}")
    try:
        target.mkdir(parents=True)
        for path in found:
            act(path, target / path.name)
    except OSError as error:
        raise HostError(
            f"{place.folder}: cannot {doing} the earlier answers to {target}: "
            f"{error.strerror or error}; use another --work-dir"
        ) from error
    return target


def _companions(place: Place) -> Iterator[Path]:
    for name in ("asked.json", "questions.jsonl", "summary.json"):
        path = place.folder / f"{place.stem}_{name}"
        if path.is_file():
            yield path


def _read(path: Path) -> PredictionTable | None:
    if not path.is_file():
        return None
    try:
        return read_predictions(path)
    except DataError as error:
        raise HostError(
            f"{error}; VLMEvalKit would continue from this file: move it away, or use another "
            "--work-dir"
        ) from error


def _failed(value: object) -> bool:
    return FAILED in str(value)


class _PlainUnpickler(pickle.Unpickler):
    """Reads texts, numbers, lists and mappings; anything that could run code is an error."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it holds {module}.{name}")


def _answers(path: Path) -> Mapping[str, object]:
    """A pickle's answers by id; nothing in it is run. One that breaks off is moved away.

    The host writes these files in place, so a kill can leave one that it cannot read itself.
    """
    try:
        with path.open("rb") as handle:
            value = _PlainUnpickler(handle).load()
    except pickle.UnpicklingError as error:
        if "it holds" in str(error):
            logger.warning("dtvqa-plugin: %s: not read, %s", path, error)
            return {}
        return _broken(path)
    except (OSError, EOFError, ValueError, IndexError, KeyError, AttributeError, MemoryError):
        return _broken(path)
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def _broken(path: Path) -> Mapping[str, object]:
    target = path.with_name(f"{path.name}.broken")
    try:
        path.rename(target)
    except OSError:
        return {}
    logger.warning("dtvqa-plugin: %s is incomplete; moved to %s, asking again", path, target.name)
    return {}
