"""Which commit a package that runs from a git checkout is at."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path


def checkout_commit(package: str) -> str | None:
    """The commit of the git checkout that a top-level package is imported from.

    Returns:
        Twelve hex digits, ``-dirty`` behind them if tracked files are changed; None for an
        installed package, for one that is not there, and where git cannot tell.
    """
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    top = Path(next(iter(spec.submodule_search_locations))).resolve().parent
    return commit_at(top, mark_changes=True)


def commit_at(folder: Path, *, mark_changes: bool = False) -> str | None:
    """The commit of the git checkout whose top is ``folder``.

    Args:
        folder: The folder that holds ``.git``.
        mark_changes: Whether ``-dirty`` follows if tracked files are changed.

    Returns:
        Twelve hex digits; None where there is no checkout and where git cannot tell.
    """
    if not (folder / ".git").exists():
        return None
    marked = ("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    command = marked if mark_changes else ("rev-parse", "--short=12", "HEAD")
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *command],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
