"""Where the declarative host files are, in a checkout, an editable install or a wheel."""

from __future__ import annotations

from pathlib import Path

from dtvqa_plugin.errors import DTVQAError

_PACKAGE = Path(__file__).resolve().parents[1]


def task_configs_dir(host: str) -> Path:
    """Return the folder of task files for ``host`` (``lmms_eval`` or ``vlmevalkit``).

    Raises DTVQAError when the installation lacks it.
    """
    for base in (_PACKAGE / "task_configs", _PACKAGE.parent / "task_configs"):
        folder = base / host
        if folder.is_dir():
            return folder
    raise DTVQAError(
        f"the task files of {host} are missing from this installation ({_PACKAGE}); "
        "reinstall it: pip install --force-reinstall dtvqa-plugin"
    )
