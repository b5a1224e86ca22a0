"""Values that the task YAMLs name with ``!function`` and that exist only when a task is loaded.

lmms-eval resolves ``!function module.NAME`` with ``getattr``, at the moment a task is loaded (not
when tasks are indexed). ``NAME`` is read here as ``KIND__ARGUMENT__ARGUMENT``:

``table__SPLIT__SUBSET``             folder for ``datasets.load_from_disk``, holding split ``test``
``metadata__SPLIT__SUBSET__PROMPT``  what a result must say of its data (goes to results.json)
``prompts__CONDITION``               ``lmms_eval_specific_kwargs``: the prompt by model name

Seen working on lmms-eval 0.7.3.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.prompts import get_prompt, models_with_own_prompt, prompt_for
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.utils.checkout import checkout_commit
from dtvqa_plugin.utils.environment import default_home, user_cache

logger = logging.getLogger("dtvqa_plugin")

TASK_VERSION = 1.0
SPLIT_KEY = "test"
"""The name of the one split in every table, whichever DT-VQA split it holds."""


def __getattr__(name: str) -> Any:
    kind, *arguments = name.split("__")
    makers: dict[str, Callable[..., Any]] = {
        "table": table,
        "metadata": metadata,
        "prompts": prompts,
    }
    if kind not in makers:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return makers[kind](*arguments)
    except DTVQAError as error:
        # lmms-eval hides the cause behind "Failed to import function": say it first.
        logger.error("dtvqa-plugin: %s", error)
        raise


def table(split: str, subset: str) -> str:
    """Prepare the table of a split's subset (``all``: every one) and return its folder.

    The folder's name holds a digest of the questions, answers and image files, so that
    lmms-eval's response cache, whose keys include the path, never gives an answer to data that
    have changed. Images stay where they are: the table holds their paths.
    Raises DataError when annotations or images are missing (see ``dtvqa data status``).
    """
    from datasets import Dataset, DatasetDict, Image

    from dtvqa_plugin.data import load_split

    loaded = load_split(split, None if subset == "all" else subset)
    columns = loaded.cast_column("image", Image(decode=False)).to_dict()
    # A text column: save_to_disk would copy the bytes behind an image column into the table.
    columns["image"] = [image["path"] for image in columns["image"]]
    rows = Dataset.from_dict(columns)
    name = f"{split}-{subset}-{_digest(rows)}"
    folder = _tables_home() / name
    if not (folder / "dataset_dict.json").is_file():
        _save_whole(DatasetDict({SPLIT_KEY: rows}), folder)
    return str(folder)


def metadata(split: str, subset: str, prompt: str) -> dict[str, Any]:
    """Return what goes into results.json beside the scores: data, coverage, prompt, versions."""
    from dtvqa_plugin.data import data_signature
    from dtvqa_plugin.data.splits import benchmark_title
    from dtvqa_plugin.metrics import DEFAULT_TAU

    condition = "none" if prompt == "blind" else prompt
    return {
        "version": TASK_VERSION,
        "benchmark": benchmark_title(split),
        "condition": condition,
        "prompt_text": {
            model: get_prompt(chosen["prompt"]).render("{question}")
            for model, chosen in prompts(condition).items()
        },
        "image": "plain grey" if prompt == "blind" else "original",
        "data": data_signature(split, None if subset == "all" else subset),
        "acc": "containment",
        "tau": DEFAULT_TAU,
        "dtvqa_plugin": __version__,
        "host_version": _host_version(),
        "host_commit": checkout_commit("lmms_eval"),
    }


def _host_version() -> str:
    """The version of lmms-eval: results.json has a git revision only, and none in an install."""
    try:
        return version("lmms_eval")
    except PackageNotFoundError:
        return "unknown"


def prompts(condition: str) -> dict[str, Any]:
    """Return fresh ``lmms_eval_specific_kwargs``: lmms-eval changes the dict it is given."""
    named = {
        model: {"prompt": prompt_for(condition, model).name} for model in models_with_own_prompt()
    }
    return {"default": {"prompt": prompt_for(condition).name}, **named}


def _digest(rows: Any) -> str:
    digest = hashlib.sha256()
    for row in rows:
        stat = Path(row["image"]).stat()
        digest.update(json.dumps([row, stat.st_size, stat.st_mtime_ns], sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _tables_home() -> Path:
    """Return a writable folder for tables: in the store, else in the user's cache, else temporary.

    A read-only store keeps its tables in the user's cache, not in a new folder every run: their
    path is part of lmms-eval's response cache keys.
    """
    for home in dict.fromkeys((default_home(), user_cache())):
        folder = home / "tables"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return _temporary_home()


_temporary: list[tempfile.TemporaryDirectory[str]] = []


def _temporary_home() -> Path:
    if not _temporary:
        _temporary.append(tempfile.TemporaryDirectory(prefix="dtvqa-tables-"))
    return Path(_temporary[0].name)


def _save_whole(tables: Any, folder: Path) -> None:
    """Write the table beside its place, then rename it there; another rank may have been first."""
    partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        tables.save_to_disk(str(partial))
        try:
            partial.rename(folder)
        except OSError:
            if not (folder / "dataset_dict.json").is_file():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
