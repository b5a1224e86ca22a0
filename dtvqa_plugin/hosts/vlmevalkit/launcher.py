"""Register the datasets, then run VLMEvalKit's own script in this process.

The script is ``vlmeval.run`` in ms-vlmeval 0.0.20 and nvidia-vlmeval 26.3; in a git checkout it
is ``run.py`` at the repository root, beside the package folder.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.vlmevalkit import register
from dtvqa_plugin.hosts.vlmevalkit.host import find_host, need_host, process_rank
from dtvqa_plugin.hosts.vlmevalkit.names import DatasetEntry, get_entry, looks_like_ours

FORMAT_VARIABLE = "PRED_FORMAT"
SAFEST_FORMAT = "tsv"
"""Holds any text, and reruns of ms-vlmeval 0.0.20 can read it (json makes them raise TypeError)."""


def run_host(arguments: Sequence[str]) -> None:
    """Run the host's script with ``arguments``; ``--run-py PATH`` names a checkout's ``run.py``.

    Before the host starts, misspelt dataset names and missing data are one error each. Raises
    HostError and DataError for these, and HostError when the host ended without a score for a
    DT-VQA dataset (it reports success whatever happens).
    """
    own, passed = _own_options(arguments)
    script = _run_script(own.run_py)
    entries = _asked_for(passed)
    _check_data(entries)
    host = need_host()
    if entries and host.honours_pred_format:
        os.environ.setdefault(FORMAT_VARIABLE, SAFEST_FORMAT)
    register()
    _execute(script, passed)
    _check_scored(entries, passed)


def run_vlmutil(arguments: Sequence[str]) -> None:
    """Run the host's ``vlmutil`` with ``arguments``, our datasets known to it."""
    need_host()
    register()
    tools = importlib.import_module("vlmeval.tools")
    sys.argv = ["vlmutil", *arguments]
    tools.cli()


def _own_options(arguments: Sequence[str]) -> tuple[Any, list[str]]:
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--run-py", type=Path)
    return parser.parse_known_args(list(arguments))


def _run_script(named: Path | None) -> Path | None:
    """The script to run by path, or None for the module ``vlmeval.run``."""
    if named is not None:
        script = named.expanduser().absolute()
        if not script.is_file():
            raise HostError(f"--run-py {named}: no such file; give the run.py of a checkout")
        _import_from(script.parent)
        return script
    here = Path.cwd()
    if find_host() is None and _is_run_script(here / "run.py"):
        _import_from(here)
        return here / "run.py"
    host = need_host()
    if (host.package / "run.py").is_file():
        return None
    for script in (host.package.parent / "run.py", here / "run.py"):
        if _is_run_script(script):
            return script
    raise HostError(
        f"{host.package}: this VLMEvalKit has no run script, neither vlmeval/run.py nor run.py "
        "beside the package or in the current folder; give the checkout's with --run-py PATH"
    )


def _is_run_script(path: Path) -> bool:
    return path.is_file() and "vlmeval" in path.read_text(encoding="utf-8", errors="replace")


def _import_from(folder: Path) -> None:
    """As ``python run.py`` would: the script's folder comes first."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


def _asked_for(arguments: Sequence[str]) -> list[DatasetEntry]:
    """The DT-VQA datasets that the host's arguments name. Raises HostError for a misspelt one."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", nargs="+", default=[])
    parser.add_argument("--config", type=Path)
    known, _ = parser.parse_known_args(list(arguments))
    names = [name for name in known.data if looks_like_ours(name)]
    entries = [get_entry(name) for name in names]
    return entries + ([] if known.config is None else _configured(known.config))


def _configured(path: Path) -> list[DatasetEntry]:
    """The DT-VQA datasets of a config file, checked for what the host would trip over."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HostError(f"--config {path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise HostError(f"--config {path}: not valid JSON: {error}") from error
    data = config.get("data") if isinstance(config, dict) else None
    if not isinstance(data, dict):
        raise HostError(f'--config {path}: has no record "data" of datasets by name')
    return [
        _configured_entry(path, key, value)
        for key, value in data.items()
        if looks_like_ours(key) or _is_our_class(value)
    ]


def _is_our_class(value: object) -> bool:
    return isinstance(value, dict) and looks_like_ours(str(value.get("class", "")))


def _configured_entry(path: Path, key: str, value: object) -> DatasetEntry:
    settings = value if isinstance(value, dict) else {}
    entry = get_entry(str(settings.get("dataset", key)))
    wanted = {"class": entry.class_name, "dataset": entry.name}
    if key != entry.name or any(settings.get(name) != item for name, item in wanted.items()):
        raise HostError(
            f"--config {path}: data entry {key!r}: the host needs the key to be the dataset's "
            f"name, and the class that fits it: {json.dumps({entry.name: wanted})}"
        )
    return entry


def _check_data(entries: Sequence[DatasetEntry]) -> None:
    """Raise DataError before a model is loaded, not after, when data are missing."""
    from dtvqa_plugin.data import load_split

    for split, subset in dict.fromkeys((entry.split, entry.subset) for entry in entries):
        load_split(split, subset)


def _execute(script: Path | None, arguments: Sequence[str]) -> None:
    if script is None:
        sys.argv = ["vlmeval.run", *arguments]
        runpy.run_module("vlmeval.run", run_name="__main__", alter_sys=True)
    else:
        sys.argv = [str(script), *arguments]
        runpy.run_path(str(script), run_name="__main__")


def _check_scored(entries: Sequence[DatasetEntry], arguments: Sequence[str]) -> None:
    """Raise HostError for a dataset without a score for each model.

    In ``--api-mode`` the host scores in other processes, out of sight; nothing is checked there.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--mode", default="all")
    parser.add_argument("--api-mode", action="store_true")
    parser.add_argument("--model", nargs="+", default=["of the config"])
    options, _ = parser.parse_known_args(list(arguments))
    if options.api_mode or options.mode == "infer" or process_rank() != 0:
        return
    from dtvqa_plugin.hosts.vlmevalkit.dataset import scored

    done = Counter(name for name, _ in scored)
    lacking = [entry.name for entry in entries if done[entry.name] < len(options.model)]
    if lacking:
        raise HostError(
            f"VLMEvalKit ended without a score for {', '.join(lacking)}; its log above says why"
        )
