"""A question set made with ``dtvqa annotate``: the split ``custom``.

``DTVQA_CUSTOM`` names its folder, or the name under which ``dtvqa data import`` copied it into the
store. The folder has the published layout with one annotation file, ``test/DT_custom.json``, and
``custom.json``, which titles the set. It has its own subsets, and is never titled DT-VQA.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.records import Reading, Record
from dtvqa_plugin.benchmark.release import BY_NAME, AnnotationFile
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.store import Store, read_test
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import read_regular

CUSTOM_VARIABLE = "DTVQA_CUSTOM"
CUSTOM_SPLIT = "custom"
CUSTOM_FILE = AnnotationFile("DT_custom", "test", CUSTOM_SPLIT, None)
"""The set's annotations, in the folder that ``DTVQA_CUSTOM`` names."""
INFO_FILE = "custom.json"
IMPORTED = "custom"
"""Folder of imported sets inside the store."""

SET_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$"
_RESERVED = {
    re.sub(r"[^a-z0-9]", "", name.lower()) for name in (*SUBSETS, *SAMPLE_SUBSETS, *BY_NAME)
}
"""Question ids begin with these names, so that no set may use them."""


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


class CustomSplit(Split):
    """The set that ``DTVQA_CUSTOM`` names when it is first asked for; read once."""

    name = CUSTOM_SPLIT
    heading = "your own question set: not DT-VQA, its figures compare only within the set"
    caption = "Your own question set (not DT-VQA)"
    signed_as = "DTVQA-CUSTOM"

    @cached_property
    def set(self) -> CustomSet:
        """The set as it is now. Raises `DataError` where there is none."""
        return read_custom()

    @property
    def files(self) -> tuple[AnnotationFile, ...]:
        return (CUSTOM_FILE,)

    @property
    def subsets(self) -> tuple[str, ...]:
        return self.set.subsets

    @property
    def id_prefixes(self) -> tuple[str, ...]:
        return self.subsets if os.environ.get(CUSTOM_VARIABLE, "").strip() else ()

    @property
    def benchmark(self) -> str:
        return self.set.title

    def store(self, home: str | Path | None = None) -> Store:
        return Store(self.set.folder)

    def cure(self, subsets: Sequence[str] = ()) -> str:
        return "run 'dtvqa annotate export' again, or set DTVQA_CUSTOM to a complete export"

    def missing(self, store: Store, files: Sequence[AnnotationFile]) -> DataError:
        names = ", ".join(file.path for file in files)
        return DataError(f"{store.home}: {names} is missing; {self.cure()}")

    def signature(self) -> dict[str, Any]:
        return {"custom": self.set.signature()}

    def revision(self, signature: Mapping[str, Any]) -> str | None:
        """The set's name and the start of its hash."""
        named = signature["custom"]
        return f"{named['name']}@{named['sha256'][:16]}"

    def title(self, revision: str | None) -> str:
        return f"{revision}: {self.heading}"


def taken_name(name: str) -> str | None:
    """Why a set must not have this name; ``None`` when it may."""
    if not re.match(SET_NAME, name):
        return "must be 1 to 40 letters, digits, '_', '-' or '.', the first a letter or digit"
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    if plain in _RESERVED or plain.startswith("dtvqa"):
        return "is taken: your own set must not be mistaken for DT-VQA"
    return None


def custom_folder() -> Path:
    """The folder that ``DTVQA_CUSTOM`` names. Raises `DataError` saying what to set."""
    named = os.environ.get(CUSTOM_VARIABLE, "").strip()
    if not named:
        raise DataError(
            f"{CUSTOM_VARIABLE} is not set; set it to the folder that 'dtvqa annotate export' "
            "wrote, or to the name of a set that 'dtvqa data import' imported"
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
    return describe(place, read_test(place / CUSTOM_FILE.path))


def describe(folder: Path, reading: Reading[Record]) -> CustomSet:
    """The set whose annotations have been read already. Raises `DataError` for a faulty one."""
    path = folder / INFO_FILE
    try:
        info = json.loads(read_regular(path))
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
