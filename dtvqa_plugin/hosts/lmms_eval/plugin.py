"""The entry point in group ``lmms_eval.models``: tasks and the OCR model become known.

The group exists in lmms-eval 0.6.0 and newer; there is none for tasks. ``manifests`` runs while
``lmms_eval.models`` is imported, before any ``TaskManager`` is built, so it wraps
``TaskManager.initialize_tasks`` to search our folder as well. Seen working on 0.7.3; the signature
is the same in 0.6.0 (tasks run there too), 0.6.1, 0.7, 0.7.1 and 0.7.2.

Nothing here may raise: lmms-eval does not guard its entry points, and a benchmark must not break
its host.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger("dtvqa_plugin")

HOOK_MARK = "_dtvqa_plugin_hook"
MODEL_ID = "dtvqa_ocr"


def manifests() -> list[Any]:
    """Install the task hook and return the manifest of ``dtvqa_ocr``; on any fault, warn only."""
    try:
        install_task_hook()
    except Exception as error:  # the host goes on without us
        _warn(f"cannot register its tasks ({type(error).__name__}: {error})")
    try:
        from lmms_eval.models.registry_v2 import ModelManifest

        path = "dtvqa_plugin.hosts.lmms_eval.ocr_model.DTVQAOcr"
        return [ModelManifest(model_id=MODEL_ID, simple_class_path=path)]
    except Exception as error:  # the host goes on without us
        _warn(f"cannot register the model {MODEL_ID} ({type(error).__name__}: {error})")
        return []


def install_task_hook() -> None:
    """Wrap ``TaskManager.initialize_tasks`` once; a second call changes nothing."""
    from lmms_eval.tasks import TaskManager

    original = TaskManager.initialize_tasks
    if not hasattr(original, HOOK_MARK):
        TaskManager.initialize_tasks = _with_our_tasks(original)


def hook_is_active() -> bool:
    """Tell whether the host in this process searches our task folder (imports the host)."""
    import lmms_eval.models  # noqa: F401  (loads the entry points)
    from lmms_eval.tasks import TaskManager

    return hasattr(TaskManager.initialize_tasks, HOOK_MARK)


def _with_our_tasks(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def initialize_tasks(
        self: Any, include_path: str | list[str] | None = None, include_defaults: bool = True
    ) -> Any:
        try:
            from dtvqa_plugin.hosts.task_configs import task_configs_dir

            ours = task_configs_dir("lmms_eval")
            paths = [include_path] if isinstance(include_path, str) else list(include_path or [])
            if not any(Path(path).resolve() == ours for path in paths):
                paths.append(str(ours))
            index = original(self, include_path=paths, include_defaults=include_defaults)
            _tell_shadowed(index, ours)
            return index
        except Exception as error:  # the host goes on without us
            _warn(f"cannot add its tasks ({type(error).__name__}: {error})")
            return original(self, include_path=include_path, include_defaults=include_defaults)

    setattr(initialize_tasks, HOOK_MARK, True)
    return initialize_tasks


def _tell_shadowed(index: Mapping[str, Any], ours: Path) -> None:
    """Warn of names that the host or the user's own folder defines too: theirs is the one used."""
    for name in sorted(path.stem for path in ours.glob("*.yaml")):
        location = index.get(name, {}).get("yaml_path", "") if name in index else None
        if isinstance(location, str) and Path(location).resolve().parent != ours:
            logger.warning(
                "dtvqa-plugin: task %r comes from %s, not from this plugin; "
                "its scores may not be those of DT-VQA",
                name,
                location or "the host",
            )


def _warn(what: str) -> None:
    logger.warning(
        "dtvqa-plugin %s; lmms-eval goes on without it. "
        'Pass --include_path "$(dtvqa tasks-path)" to add the tasks by hand, '
        "and run `dtvqa doctor` to see why.",
        what,
    )
