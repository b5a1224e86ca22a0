"""A model's class and settings as the host resolves them, without secrets. Imports no model.

Seen on ms-vlmeval 0.0.20, nvidia-vlmeval 26.3 and a checkout of August 2026: a model is an entry
of a config file, an entry of ``vlmeval.config.supported_VLM`` (a `functools.partial`), or an object
that the host has built from its command line.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

REMOVED = "(removed)"
_SECRET = re.compile(
    r"(?:^|_)(?:key|apikey|token|secret|password|passwd|credentials?|authorization|cookie|sk|ak)$",
    re.IGNORECASE,
)
_SECRET_GROUP = re.compile(r"headers?$|auth$", re.IGNORECASE)
_IRRELEVANT = frozenset(
    {"class", "retry", "wait", "verbose", "timeout", "old_timeout", "key", "cur_idx", "fail_msg"}
)
"""How often and how long the host tries; none of them changes what a model answers."""

_ENVIRONMENT = re.compile(r".*API_BASE|SPLIT_THINK|VLMEVAL_MAX_IMAGE_SIZE|VLMEVAL_MIN_IMAGE_EDGE")
_PICTURE = re.compile(r"pixel|im(?:g|age)|tile|patch|resi[zs]e|detail|resolution|max_num|crop")
_SAMPLES, _SAMPLE_BYTES = 64, 4096
_LONG = 64


def describe_configured(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Describe the model of a config entry: its class, or the host's own model called ``name``."""
    given = {key: value for key, value in entry.items() if key != "class"}
    if "class" not in entry:
        return describe_named(name, given)
    return _description(_find_class(str(entry["class"])), str(entry["class"]), given)


def describe_named(name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Describe the host's own model called ``name``, with ``given`` in place of its settings."""
    known = importlib.import_module("vlmeval.config").supported_VLM.get(name)
    settings = dict(given or {})
    while isinstance(known, functools.partial):
        settings = {**_positional(known), **known.keywords, **settings}
        known = known.func
    return _description(known, getattr(known, "__qualname__", "unknown"), settings)


def _positional(known: functools.partial[Any]) -> dict[str, Any]:
    """Arguments that an entry gives by place, by their names."""
    try:
        return dict(inspect.signature(known.func).bind_partial(*known.args).arguments)
    except (TypeError, ValueError):
        return {f"argument {place}": value for place, value in enumerate(known.args)}


def describe_object(model: object) -> dict[str, Any]:
    """Describe a model that is built already, by the plain values that it holds."""
    held = {
        key: value
        for key, value in vars(model).items()
        if not callable(value) and not isinstance(value, (list, tuple, set))
    }
    return _description(None, type(model).__qualname__, held, images_of=type(model))


def _description(
    called: Any, name: str, given: Mapping[str, Any], images_of: Any = None
) -> dict[str, Any]:
    settings = {**_defaults(called), **given}
    kept = {key: _plain(key, settings[key]) for key in sorted(settings) if key not in _IRRELEVANT}
    return {
        "class": name,
        "settings": {key: value for key, value in kept.items() if value is not None},
        "weights": _weights(settings),
        "environment": _environment(kept),
        "image_path_to_model": _image_path(called if images_of is None else images_of, kept),
    }


def _find_class(name: str) -> Any:
    for module in ("vlmeval.api", "vlmeval.vlm"):
        found = getattr(importlib.import_module(module), name, None)
        if found is not None:
            return found
    return None


def _defaults(called: Any) -> dict[str, Any]:
    """Default values of the constructor and of those that it passes the rest on to."""
    found: dict[str, Any] = {}
    for function in _constructors(called):
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            break
        for item in parameters:
            if item.default is not item.empty:
                found.setdefault(item.name, item.default)
        if all(item.kind is not item.VAR_KEYWORD for item in parameters):
            break
    return found


def _constructors(called: Any) -> list[Callable[..., Any]]:
    if not inspect.isclass(called):
        return [called] if callable(called) else []
    return [base.__dict__["__init__"] for base in called.__mro__[:-1] if "__init__" in vars(base)]


def _plain(name: str, value: object) -> Any:
    """A value that JSON can hold and that tells no secret; None for what says nothing."""
    if _SECRET.search(name):
        return REMOVED if value else None
    if _SECRET_GROUP.search(name):
        return None if value is None else REMOVED
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (str, Path)):
        return _without_credentials(str(value))
    if isinstance(value, Mapping):
        if len(value) > _LONG:
            return None
        return {str(key): _plain(str(key), item) for key, item in sorted(value.items(), key=str)}
    if isinstance(value, (list, tuple)):
        return None if len(value) > _LONG else [_plain(name, item) for item in value]
    return type(value).__qualname__


def _without_credentials(text: str) -> str:
    """An address without user, password and query; other text as it is."""
    if "://" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return REMOVED
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, REMOVED if parts.query else "", ""))


def _weights(settings: Mapping[str, Any]) -> dict[str, str]:
    """Digests of local weights: another training run may have written to the same folder."""
    return {
        name: digest
        for name, value in sorted(settings.items())
        if isinstance(value, (str, Path)) and (digest := _folder_digest(Path(value))) is not None
    }


def _folder_digest(folder: Path) -> str | None:
    """Names, sizes and evenly spread samples of the files in a folder; None for anything else."""
    try:
        if not folder.name or not folder.is_dir():
            return None
        digest = hashlib.sha256()
        for path in sorted(folder.iterdir()):
            if path.is_file():
                digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
                _sample(path, digest)
        return digest.hexdigest()
    except (OSError, ValueError):
        return None


def _sample(path: Path, digest: Any) -> None:
    size = path.stat().st_size
    step = max(_SAMPLE_BYTES, size // _SAMPLES)
    with path.open("rb") as handle:
        for place in range(0, size, step):
            handle.seek(place)
            digest.update(handle.read(_SAMPLE_BYTES))


def _environment(settings: Mapping[str, Any]) -> dict[str, str]:
    """Variables that change a request: an address counts where the settings name none."""
    return {
        name: _without_credentials(value)
        for name, value in sorted(os.environ.items())
        if _ENVIRONMENT.fullmatch(name)
        and not (name.endswith("API_BASE") and settings.get("api_base"))
    }


def _image_path(called: Any, settings: Mapping[str, Any]) -> dict[str, str]:
    """What the class does to a picture on its way to the model, as far as its settings tell."""
    known = {
        key: str(value)
        for key, value in settings.items()
        if _PICTURE.search(key) and not isinstance(value, (list, dict)) and value is not None
    }
    known["encoding"] = "JPEG, Pillow's default quality" if _sends_jpeg(called) else "unknown"
    for name in ("VLMEVAL_MAX_IMAGE_SIZE", "VLMEVAL_MIN_IMAGE_EDGE"):
        if name in os.environ:
            known[name] = os.environ[name]
    return known


def _sends_jpeg(called: Any) -> bool:
    """Whether the class encodes pictures by the host's function, which writes JPEG."""
    if not inspect.isclass(called):
        return False
    for base in called.__mro__[:-1]:
        try:
            if "encode_image_to_base64(" in inspect.getsource(base):
                return True
        except (OSError, TypeError):
            continue
    return False
