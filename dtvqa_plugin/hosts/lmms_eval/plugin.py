"""The entry point in group ``lmms_eval.models``: tasks and the OCR model become known.

The group exists in lmms-eval 0.6.0 and newer; there is none for tasks. ``manifests`` runs while
``lmms_eval.models`` is imported, before any ``TaskManager`` is built, so it wraps
``TaskManager.initialize_tasks`` to search our folder as well. Versions seen: ``scripts/hosts``.

Nothing of ours may raise: lmms-eval does not guard its entry points, and a benchmark must not
break its host. The host's own errors pass through, named as the host's.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.lmms_eval.host_arguments import requested_tasks
from dtvqa_plugin.utils.text import visible

logger = logging.getLogger("dtvqa_plugin")

MODEL_ID = "dtvqa_ocr"

_wrappers: list[Callable[..., Any]] = []
"""Every wrapper that was put around ``TaskManager.initialize_tasks`` in this process."""


def manifests() -> list[Any]:
    """Install the task hook and return the manifest of ``dtvqa_ocr``; on any fault, warn only."""
    try:
        install_task_hook()
    except Exception as error:  # the host continues without the plugin
        _warn(f"cannot register its tasks ({type(error).__name__}: {error})")
    try:
        from lmms_eval.models.registry_v2 import ModelManifest

        path = "dtvqa_plugin.hosts.lmms_eval.ocr_model.DTVQAOcr"
        return [ModelManifest(model_id=MODEL_ID, simple_class_path=path)]
    except Exception as error:  # the host continues without the plugin
        _warn(f"cannot register the model {MODEL_ID} ({type(error).__name__}: {error})")
        return []


def install_task_hook() -> None:
    """Wrap ``TaskManager.initialize_tasks`` once; a second call changes nothing."""
    from lmms_eval.tasks import TaskManager

    original = TaskManager.initialize_tasks
    if original not in _wrappers:
        TaskManager.initialize_tasks = _with_our_tasks(original)


def hook_is_active() -> bool:
    """Tell whether the host in this process searches our task folder (imports the host)."""
    import lmms_eval.models  # noqa: F401  (loads the entry points)
    from lmms_eval.tasks import TaskManager

    return TaskManager.initialize_tasks in _wrappers


def _with_our_tasks(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def initialize_tasks(
        self: Any, include_path: str | list[str] | None = None, include_defaults: bool = True
    ) -> Any:
        try:
            ours, paths = _search_paths(include_path)
            index = original(self, include_path=paths, include_defaults=include_defaults)
        except Exception as error:  # the host continues without the plugin, if it can
            index = _without_us(original, self, include_path, include_defaults)
            _warn(f"cannot add its tasks ({type(error).__name__}: {error})")
            return index
        _stop_without_text()
        try:
            _warn_of_shadows(index, ours)
            _warn_of_folders(index, ours)
        except Exception as error:  # only the warnings are missing then
            _warn(f"cannot check its task names ({type(error).__name__}: {error})")
        return index

    _wrappers.append(initialize_tasks)
    return initialize_tasks


def _stop_without_text() -> None:
    """End this command where a requested task gives recognised text that the store lacks.

    The host would load the model first, and end with status 0.
    """
    try:
        from dtvqa_plugin.hosts.lmms_eval.conditions import check_given_text

        check_given_text(requested_tasks())
    except DTVQAError as error:
        raise SystemExit(f"dtvqa-plugin: error: {visible(str(error))}") from error
    except Exception as error:  # the host goes on without this check
        _warn(f"cannot look for recognised text ({type(error).__name__}: {error})")


def _search_paths(include_path: str | list[str] | None) -> tuple[Path, list[str]]:
    """Our task folder, and the user's folders with ours after them."""
    from dtvqa_plugin.hosts.task_configs import task_configs_dir

    ours = task_configs_dir("lmms_eval")
    paths = [include_path] if isinstance(include_path, str) else list(include_path or [])
    if not any(Path(path).resolve() == ours for path in paths):
        paths.append(str(ours))
    return ours, paths


def _without_us(
    original: Callable[..., Any], manager: Any, include_path: Any, include_defaults: bool
) -> Any:
    """The host's own index. If that fails too, the fault is the host's: log so and raise it."""
    try:
        return original(manager, include_path=include_path, include_defaults=include_defaults)
    except Exception as error:
        logger.error(
            "lmms-eval cannot index its own tasks (%s: %s); this is not due to dtvqa-plugin. "
            'The wheels of 0.7.1 and 0.7.2 are incomplete: pip install "lmms-eval==0.7.3"',
            type(error).__name__,
            error,
        )
        raise


def _our_names(index: Mapping[str, Any], ours: Path) -> Iterator[tuple[str, Any]]:
    """Each of our task names with the file that the index has for it."""
    for name in sorted(path.stem for path in ours.rglob("*.yaml")):
        yield name, index.get(name, {}).get("yaml_path", "") if name in index else None


def _warn_of_shadows(index: Mapping[str, Any], ours: Path) -> None:
    """Warn of names that the host or the user's own folder defines too: theirs is the one used."""
    for name, location in _our_names(index, ours):
        if isinstance(location, str) and not Path(location).resolve().is_relative_to(ours):
            logger.warning(
                "dtvqa-plugin: task %r comes from %s, not from this plugin; "
                "its scores may not be those of DT-VQA",
                name,
                location or "the host",
            )


def _warn_of_folders(index: Mapping[str, Any], ours: Path) -> None:
    """Warn when ``--tasks NAME`` will be read as the folder NAME in the current directory."""
    names = {name for name, _ in _our_names(index, ours)}
    for task in requested_tasks():
        if task in names and Path(task).is_dir():
            logger.error(
                "dtvqa-plugin: lmms-eval takes --tasks %s for the folder %s, which holds other "
                "files, and will not find the task. Start it from another directory.",
                task,
                Path(task).resolve(),
            )


def _warn(what: str) -> None:
    logger.warning(
        "dtvqa-plugin %s; lmms-eval continues without it. "
        'Pass --include_path "$(dtvqa tasks-path)" to add the tasks by hand, '
        "and run `dtvqa doctor` to see why.",
        what,
    )
