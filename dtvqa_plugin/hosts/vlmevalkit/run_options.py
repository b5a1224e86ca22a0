"""What the command line of VLMEvalKit's run script says about our datasets. Imports no host."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.vlmevalkit.names import DatasetEntry, get_entry, looks_like_ours

ASK_AGAIN = "DTVQA_ASK_AGAIN"
"""Environment variable: move earlier answers aside and ask again (``--ask-again``)."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that matter here; ``config`` and ``data`` name the datasets."""

    data: tuple[str, ...]
    data_config: Mapping[str, Any]
    config: Path | None
    models: tuple[str, ...]
    work_dir: Path
    mode: str
    reuse: bool
    api_mode: bool

    @classmethod
    def of_this_process(cls) -> RunOptions:
        """The options on this process's command line, which may be another program's."""
        try:
            options = cls.parse(sys.argv[1:])
            model_entries(options)
        except (ArgumentError, HostError):
            return cls.parse([])
        return options

    @classmethod
    def parse(cls, arguments: Sequence[str]) -> RunOptions:
        """Read the host's arguments; unknown ones are left to the host."""
        known = _known(arguments)  # raises ArgumentError for an option without its value
        work_dir = os.environ.get("MMEVAL_ROOT") or known.work_dir
        return cls(
            data=tuple(known.data),
            data_config=_data_config(known.data_config),
            config=known.config,
            models=tuple(known.model),
            work_dir=Path(work_dir),
            mode=known.mode,
            reuse=known.reuse or known.mode == "eval",
            api_mode=known.api_mode,
        )


def _known(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--data", nargs="*", default=[])
    parser.add_argument("--data-config")
    parser.add_argument("--model", nargs="*", default=[])
    parser.add_argument("--config", type=Path)
    parser.add_argument("--work-dir", default="./outputs")
    parser.add_argument("--mode", default="all")
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--api-mode", action="store_true")
    return parser.parse_known_args(list(arguments))[0]


def _data_config(text: str | None) -> Mapping[str, Any]:
    """``--data-config`` of newer hosts; what it cannot read is for the host to say."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def datasets_asked_for(options: RunOptions) -> list[DatasetEntry]:
    """The DT-VQA datasets that the options name. Raises HostError for a misspelt one."""
    entries = []
    for name in options.data:
        settings = options.data_config.get(name)
        if looks_like_ours(name) or _is_our_class(settings):
            entries.append(
                get_entry(name)
                if settings is None
                else _configured_entry("--data-config", name, settings)
            )
    return entries + ([] if options.config is None else _configured(options.config))


def model_entries(options: RunOptions) -> dict[str, Mapping[str, Any]]:
    """The models of the config file by key; empty where there is none."""
    if options.config is None:
        return {}
    models = read_config(options.config).get("model")
    if not isinstance(models, dict):
        return {}
    return {key: value for key, value in models.items() if isinstance(value, dict)}


def check_model_names(options: RunOptions) -> None:
    """Raise HostError for a model name that cannot be part of a file's name."""
    names = [*options.models, *model_entries(options)]
    for name in names if not options.api_mode else ():
        if "/" in name or name in ("", ".", ".."):
            where = "--model" if options.config is None else f"--config {options.config}: model key"
            raise HostError(
                f"{where} {name!r}: the host makes file names of it, so it must not contain '/'; "
                f"write {name.replace('/', '--') or 'a name'!r}"
            )


def read_config(path: Path) -> dict[str, Any]:
    """Read a config file of the host. Raises HostError."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HostError(f"--config {path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise HostError(f"--config {path}: not valid JSON: {error}") from error
    return config if isinstance(config, dict) else {}


def _configured(path: Path) -> list[DatasetEntry]:
    """The DT-VQA datasets of a config file, checked for what the host would trip over."""
    data = read_config(path).get("data")
    if not isinstance(data, dict):
        raise HostError(f'--config {path}: has no record "data" of datasets by name')
    return [
        _configured_entry(f"--config {path}", key, value)
        for key, value in data.items()
        if looks_like_ours(key) or _is_our_class(value)
    ]


def _is_our_class(value: object) -> bool:
    return isinstance(value, dict) and looks_like_ours(str(value.get("class", "")))


def _configured_entry(where: str, key: str, value: object) -> DatasetEntry:
    settings = value if isinstance(value, dict) else {}
    entry = get_entry(str(settings.get("dataset", key)))
    wanted = {"class": entry.class_name, "dataset": entry.name}
    if key != entry.name or any(settings.get(name) != item for name, item in wanted.items()):
        raise HostError(
            f"{where}: data entry {key!r}: the host needs the key to be the dataset's "
            f"name, and the class that fits it: {json.dumps({entry.name: wanted})}"
        )
    return entry
