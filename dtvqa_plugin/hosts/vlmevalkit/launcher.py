"""Register the datasets, then run VLMEvalKit's own script in this process.

The script is ``vlmeval.run`` in ms-vlmeval 0.0.20 and nvidia-vlmeval 26.3; in a git checkout it
is ``run.py`` at the repository root, beside the package folder.
"""

from __future__ import annotations

import importlib
import importlib.util
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
from dtvqa_plugin.hosts.vlmevalkit.host import find_host, import_host, need_host, process_rank
from dtvqa_plugin.hosts.vlmevalkit.names import DatasetEntry
from dtvqa_plugin.hosts.vlmevalkit.run_options import (
    ASK_AGAIN,
    RunOptions,
    check_model_names,
    datasets_asked_for,
    model_entries,
)

FORMAT_VARIABLE = "PRED_FORMAT"
SAFEST_FORMAT = "tsv"
"""Holds any text, and reruns of ms-vlmeval 0.0.20 can read it (json makes them raise TypeError)."""


def run_host(arguments: Sequence[str]) -> None:
    """Run the host's script with ``arguments`` and two of this plugin's.

    ``--run-py PATH`` names a checkout's ``run.py``; ``--ask-again`` moves earlier answers aside.

    Before the host starts, misspelt dataset names and missing data are one error each. Raises
    HostError and DataError for these, and HostError when the host ended without a score for a
    DT-VQA dataset (it always reports success).
    """
    own, passed = _own_options(arguments)
    script = _run_script(own.run_py)
    options = RunOptions.parse(passed)
    check_model_names(options)
    entries = datasets_asked_for(options)
    _check_data(entries)
    host = need_host()
    if entries and host.honours_pred_format:
        os.environ.setdefault(FORMAT_VARIABLE, SAFEST_FORMAT)
    if own.ask_again:
        os.environ[ASK_AGAIN] = "1"
    register()
    _execute(script, passed)
    _check_scored(entries, options)


def run_vlmutil(arguments: Sequence[str]) -> None:
    """Run the host's ``vlmutil`` with ``arguments``, our datasets known to it."""
    need_host()
    register()
    tools = import_host("vlmeval.tools")
    sys.argv = ["vlmutil", *arguments]
    tools.cli()


def run_evalscope(arguments: Sequence[str]) -> None:
    """Run EvalScope's command line, the datasets known to its VLMEvalKit backend.

    Seen on EvalScope 1.14.1. It runs the host in this process and ends with status 0 whatever
    happens. Raises HostError when EvalScope is missing or no DT-VQA dataset got a score.
    """
    if importlib.util.find_spec("evalscope") is None:
        raise HostError(
            f"EvalScope is not installed for {sys.executable}; pip install evalscope ms-vlmeval"
        )
    host = need_host()
    if host.honours_pred_format:
        os.environ.setdefault(FORMAT_VARIABLE, SAFEST_FORMAT)
    register()
    command = importlib.import_module("evalscope.cli.cli")
    sys.argv = ["evalscope", *arguments]
    command.run_cmd()
    from dtvqa_plugin.hosts.vlmevalkit.dataset import scored

    if arguments[:1] == ["eval"] and not scored:
        raise HostError("EvalScope ended without a DT-VQA score; its log above says why")


def _own_options(arguments: Sequence[str]) -> tuple[Any, list[str]]:
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--run-py", type=Path)
    parser.add_argument("--ask-again", action="store_true")
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


def _check_scored(entries: Sequence[DatasetEntry], options: RunOptions) -> None:
    """Raise HostError for a dataset without a score for each model.

    In ``--api-mode`` the host scores in other processes, out of sight; nothing is checked there.
    """
    if options.api_mode or options.mode == "infer" or process_rank() != 0:
        return
    from dtvqa_plugin.hosts.vlmevalkit.dataset import scored

    done = Counter(name for name, _ in scored)
    models = max(1, len(options.models) or len(model_entries(options)))
    lacking = [entry.name for entry in entries if done[entry.name] < models]
    if lacking:
        raise HostError(
            f"VLMEvalKit ended without a score for {', '.join(lacking)}; its log above says why"
        )
