"""A question set of one's own, as ``dtvqa annotate export`` writes it: the split ``custom``.

``DTVQA_CUSTOM`` names its folder, or the name under which ``dtvqa data import`` took it into the
store. The folder has the published layout with one annotation file, ``test/DT_custom.json``, and
``custom.json``, which titles the set. Its subsets are its own; it is never titled DT-VQA.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dtvqa_plugin.benchmark.annotations import Reading, Record, read_test
from dtvqa_plugin.benchmark.release import CUSTOM_FILE
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data.store.store import Store
from dtvqa_plugin.errors import DataError

CUSTOM_VARIABLE = "DTVQA_CUSTOM"
CUSTOM_SPLIT = "custom"
INFO_FILE = "custom.json"
IMPORTED = "custom"
"""Folder of imported sets inside the store."""

SET_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$"
_RESERVED = {name.lower() for name in (*SUBSETS, *SAMPLE_SUBSETS)}


@dataclass(frozen=True, slots=True)
class CustomSet:
    """A set as it is now: ``sha256`` is that of its annotation file's bytes.

    ``as_exported``: those bytes are the exported ones (``None``: ``custom.json`` does not say).
    """

    folder: Path
    name: str
    sha256: str
    as_exported: bool | None
    subsets: tuple[str, ...]

    @property
    def title(self) -> str:
        """How results name the set; the hash tells sets of one name apart."""
        return f"{self.name} (custom set {self.sha256[:16]}, not DT-VQA)"

    def signature(self) -> dict[str, object]:
        """Name and hash as plain JSON values, for results."""
        return {"name": self.name, "sha256": self.sha256, "as_exported": self.as_exported}


def taken_name(name: str) -> str | None:
    """Why a set must not have this name; ``None`` when it may."""
    if not re.match(SET_NAME, name):
        return "must be 1 to 40 letters, digits, '_', '-' or '.', the first a letter or digit"
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    if plain in _RESERVED or plain.startswith("dtvqa"):
        return "is taken: a set of one's own must not be mistaken for DT-VQA"
    return None


def custom_folder() -> Path:
    """The folder that ``DTVQA_CUSTOM`` names. Raises `DataError` saying what to set."""
    named = os.environ.get(CUSTOM_VARIABLE, "").strip()
    if not named:
        raise DataError(
            f"{CUSTOM_VARIABLE} is not set; set it to the folder that 'dtvqa annotate export' "
            "wrote, or to the name of a set that 'dtvqa data import' took in"
        )
    folder = Path(named).expanduser().absolute()
    if (folder / INFO_FILE).is_file():
        return folder
    if re.match(SET_NAME, named):
        imported = Store().home / IMPORTED / named
        if (imported / INFO_FILE).is_file():
            return imported
    raise DataError(
        f"{CUSTOM_VARIABLE}={named}: no exported question set there ({INFO_FILE} is missing), and "
        f"no imported set of that name in {Store().home / IMPORTED}"
    )


def read_custom(folder: Path | None = None) -> CustomSet:
    """The set at ``folder`` (default: `custom_folder`). Raises `DataError` for a faulty one."""
    place = custom_folder() if folder is None else folder
    return _described(place, read_test(place / CUSTOM_FILE.path))


def custom_subsets() -> tuple[str, ...]:
    """The set's own subsets, in the order of its file."""
    return read_custom().subsets


def custom_subsets_if_set() -> tuple[str, ...]:
    """`custom_subsets` where ``DTVQA_CUSTOM`` is set, else none."""
    return custom_subsets() if os.environ.get(CUSTOM_VARIABLE, "").strip() else ()


def _described(folder: Path, reading: Reading[Record]) -> CustomSet:
    path = folder / INFO_FILE
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
        name = info["name"]
        recorded = info.get("sha256")
    except FileNotFoundError:
        raise DataError(f'{path}: missing; it holds the set\'s title: {{"name": "..."}}') from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{path}: not readable as a set's title ({error}); export again") from None
    if not isinstance(name, str) or taken_name(name):
        why = taken_name(name) if isinstance(name, str) else "is no text"
        raise DataError(f"{path}: the set's name {name!a} {why}")
    _check_subsets(reading.path, {record.subset for record in reading.records})
    as_exported = recorded == reading.sha256 if isinstance(recorded, str) else None
    subsets = tuple(dict.fromkeys(record.subset for record in reading.records))
    return CustomSet(folder, name, reading.sha256, as_exported, subsets)


def _check_subsets(path: Path, names: Iterable[str]) -> None:
    for name in sorted(names):
        why = taken_name(name)
        if why:
            raise DataError(f"{path}: dataset_name {name!a} {why}")
