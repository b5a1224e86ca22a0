"""What is known to have been done to a picture between the benchmark and the model."""

from __future__ import annotations

import re
from collections.abc import Mapping

ORIGINAL = "original"
GREY = "grey"
UNKNOWN_PATH = "path=unknown"
"""The picture was given to the host as it is; what the host sends on is not recorded."""

_PIXELS = re.compile(
    r"pixel|image|img|tile|patch|resiz|resolution|detail|crop|max_num$|dynamic", re.IGNORECASE
)
_OTHER = re.compile(r"token|path|root|dir|folder|per_prompt|video|num_image", re.IGNORECASE)


def image_path(given: str, recorded: object, bounds: Mapping[str, str]) -> str:
    """One line for the signature, such as ``original,format=JPEG,quality=85,max_pixels=200704``.

    Args:
        given: what the task gave to the host: ``original`` or ``grey``.
        recorded: the mapping ``image_path_to_model`` that the adapter wrote, else anything.
        bounds: pixel bounds and the like among the model's arguments.
    """
    facts = (
        {str(key): str(value) for key, value in sorted(recorded.items())}
        if isinstance(recorded, Mapping)
        else {}
    )
    parts = [f"{key}={value}" for key, value in facts.items()] or [UNKNOWN_PATH]
    parts += [f"{key}={value}" for key, value in bounds.items() if key not in facts]
    return ",".join((given, *parts))


def pixel_bounds(arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments of a model that change the picture's size or format, in key order."""
    return {
        key: value
        for key, value in sorted(arguments.items())
        if _PIXELS.search(key) and not _OTHER.search(key)
    }
