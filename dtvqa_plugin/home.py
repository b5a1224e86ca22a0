"""Where this project keeps files on a machine: ``DTVQA_HOME``, or the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from dtvqa_plugin.errors import DataError

HOME_VARIABLE = "DTVQA_HOME"


def user_cache() -> Path:
    """The platform's user cache directory for ``dtvqa``."""
    return Path(platformdirs.user_cache_dir("dtvqa")).absolute()


def default_home() -> Path:
    """``DTVQA_HOME``, or the platform's user cache directory for ``dtvqa``; always absolute.

    Raises `DataError` for a ``~user`` that this machine does not know.
    """
    named = os.environ.get(HOME_VARIABLE, "").strip()
    if not named:
        return user_cache()
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError:
        raise DataError(
            f"{HOME_VARIABLE}={named}: no such user's home; name a folder by its full path"
        ) from None
