"""What the environment says: where files are kept (``DTVQA_HOME``), which switches are on."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from dtvqa_plugin.errors import DataError

HOME_VARIABLE = "DTVQA_HOME"


def switch(variable: str, *, default: bool) -> bool:
    """Whether an environment variable says 1 (true, yes, on) or 0; ``default`` where it is unset.

    Raises `DataError` for anything else.
    """
    value = os.environ.get(variable, "").strip().lower()
    if not value:
        return default
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    raise DataError(f"{variable}={value!r} is neither 1 nor 0")


def user_cache() -> Path:
    """The platform's user cache directory for ``dtvqa``."""
    return Path(platformdirs.user_cache_dir("dtvqa")).absolute()


def default_home() -> Path:
    """The store's folder: ``DTVQA_HOME``, or the platform's user cache folder for ``dtvqa``.

    Returns:
        An absolute path.

    Raises:
        DataError: ``~user`` names an unknown user.
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


def offline() -> bool:
    """Whether ``HF_HUB_OFFLINE`` (or ``TRANSFORMERS_OFFLINE``) forbids the network."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)
