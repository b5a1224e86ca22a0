"""What is known to have been done to a picture between the benchmark and the model."""

from __future__ import annotations

import re
from collections.abc import Mapping

ORIGINAL = "original"
GREY = "grey"
NO_PICTURE = "none"
UNKNOWN_PATH = "path=unknown"
"""What the host sends on of the picture is not recorded."""

HOST_DEFAULT = "host-default"
"""Nothing was set that changes the picture: it went the way that the host's runner takes."""

_PIXELS = re.compile(
    r"pixel|image|img|tile|patch|resiz|resolution|detail|crop|max_num$|dynamic", re.IGNORECASE
)
_OTHER = re.compile(r"token|path|root|dir|folder|per_prompt|video|num_image", re.IGNORECASE)


def image_path(
    given: str,
    recorded: object,
    bounds: Mapping[str, str],
    otherwise: str = UNKNOWN_PATH,
) -> str:
    """One line for the signature, such as ``original,format=JPEG,quality=85,max_pixels=200704``.

    Args:
        given: what the task gave to the host: ``original``, ``grey``, ``longest-side=896``.
        recorded: the mapping ``image_path_to_model`` that the adapter wrote, else anything.
        bounds: pixel bounds and the like among the model's arguments.
        otherwise: what stands there if neither says anything.
    """
    facts = (
        {str(key): str(value).replace(", ", ";") for key, value in sorted(recorded.items())}
        if isinstance(recorded, Mapping)
        else {}
    )
    found = {**facts, **{key: value for key, value in bounds.items() if key not in facts}}
    parts = [f"{key}={value}" for key, value in found.items()]
    if not facts and (otherwise == UNKNOWN_PATH or not parts):
        parts.insert(0, otherwise)
    return ",".join((given, *parts))


def pixel_bounds(arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments of a model that change the picture's size or format, in key order."""
    return {
        key: value
        for key, value in sorted(arguments.items())
        if _PIXELS.search(key) and not _OTHER.search(key)
    }
