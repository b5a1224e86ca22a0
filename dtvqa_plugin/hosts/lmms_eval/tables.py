"""The tables that lmms-eval loads: one folder for ``datasets.load_from_disk`` a split and subset.

A table's path is part of the keys of lmms-eval's response cache. It depends on the questions, the
answers and the content of the images, and on nothing else: moved data find their cached answers
again, changed data never do. Images stay in the store; a table holds their names.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dtvqa_plugin.data import Record, content_digest, get_split, load_split, records
from dtvqa_plugin.hosts.given_text import given_text
from dtvqa_plugin.utils.environment import default_home, user_cache
from dtvqa_plugin.utils.files import whole_file, whole_folder

SPLIT_KEY = "test"
"""The name of the one split in every table, whichever DT-VQA split it holds."""
GIVEN_TEXT = "given_text"
"""The column of recognised text, in tables of conditions that give it to the model."""
_STORES = "dtvqa_stores.json"
_DONE = "dataset_dict.json"
_OLD_NAME = re.compile(r"-[0-9a-f]{16}")
"""How names of tables ended in version 0.1.0."""


def table(split: str, subset: str, *, with_text: bool = False) -> str:
    """Prepare the table of a split's subset (``all``: every one) and return its folder.

    Tables of the same data in an earlier state are removed. With ``with_text`` a row holds the
    recognised text of its image (``given_text``), which then counts as part of the data.

    Raises:
        DataError: Annotations, images or recognised text are missing.
    """
    kept = kept_records(split, None if subset == "all" else subset)
    store = get_split(split).store()
    home = str(store.home)
    # datasets 4 and newer describe lists in a way that older ones cannot read.
    layout = f"datasets{version('datasets').partition('.')[0]}"
    digest = content_digest(kept, store)
    rows = [_row(record, split) for record in kept]
    stem = f"{split}-{subset}-"
    if with_text:
        texts = given_text(split, kept).by_image
        rows = [{**row, GIVEN_TEXT: texts[row["image"]]} for row in rows]
        stem = f"{split}-{subset}_text-"
        given = json.dumps([digest, sorted(texts.items())])
        digest = hashlib.sha256(given.encode()).hexdigest()
    folder = _tables_home() / f"{stem}{digest[:16]}-{layout}"
    if not (folder / _DONE).is_file():
        _save(rows, folder)
        _remove_stale(folder, stem, layout, home)
    _note_store(folder, home)
    return str(folder)


def image_file(doc: Mapping[str, Any]) -> Path:
    """The file of a row's image, in the store of this process."""
    return get_split(doc["split"]).store().image_path(doc["image"])


def kept_records(split: str, subset: str | None) -> list[Record]:
    """The records that are evaluated, in order; what is missing is fetched first."""
    chosen = load_split(split, subset)["question_id"]
    known = {record.question_id: record for record in records(split, subset)}
    return [known[question_id] for question_id in chosen]


def _row(record: Record, split: str) -> dict[str, Any]:
    return {
        "question_id": record.question_id,
        "subset": record.subset,
        "image": record.image,
        "question": record.question,
        "answers": list(record.answers),
        "source": record.source,
        "split": split,
    }


def _save(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write the table; another rank may be first."""
    from datasets import Dataset, DatasetDict

    try:
        with whole_folder(folder) as partial:
            DatasetDict({SPLIT_KEY: Dataset.from_list(rows)}).save_to_disk(str(partial))
    except OSError:
        if not (folder / _DONE).is_file():
            raise


def _note_store(folder: Path, home: str) -> None:
    """Record beside a table that the store at ``home`` holds its data."""
    homes = _stores(folder)
    if home not in homes:
        with contextlib.suppress(OSError), whole_file(folder / _STORES) as partial:
            partial.write_text(json.dumps([*homes, home]), encoding="utf-8")


def _stores(folder: Path) -> list[str]:
    try:
        found = json.loads((folder / _STORES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(home) for home in found] if isinstance(found, list) else []


def _remove_stale(current: Path, stem: str, layout: str, home: str) -> None:
    """Remove tables that no store holds the data of: ``home`` changed, the others are gone."""
    for folder in {current.parent, default_home() / "tables"}:
        for path in folder.glob(f"{stem}*"):
            if path != current and _is_stale(path, stem, layout, home):
                shutil.rmtree(path, ignore_errors=True)


def _is_stale(path: Path, stem: str, layout: str, home: str) -> bool:
    if _OLD_NAME.fullmatch(path.name[len(stem) - 1 :]):
        return True
    homes = _stores(path)
    same_layout = path.name.endswith(f"-{layout}")
    changed = {home} if same_layout else set()
    return bool(homes) and not any(store not in changed and Path(store).is_dir() for store in homes)


def _tables_home() -> Path:
    """A writable folder for tables: in the user's cache, else in the store, else temporary."""
    for home in dict.fromkeys((user_cache(), default_home())):
        folder = home / "tables"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return _temporary_home()


@functools.cache
def _temporary_home() -> Path:
    return Path(_temporary().name)


@functools.cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    """Kept for the life of the process, then removed."""
    return tempfile.TemporaryDirectory(prefix="dtvqa-tables-")
