"""Image paths from annotation files and archives: reduced to SUBSET/SPLIT/FILE, never trusted."""

from __future__ import annotations

import re

MAX_COMPONENT_BYTES = 255
_DRIVE = re.compile(r"^[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnsafePathError(ValueError):
    """The path could leave the folder, or no file system could hold it; the message says why."""


def safe_components(path: str) -> tuple[str, ...]:
    """Components of a relative path that cannot leave the folder it is joined to.

    Backslashes count as separators (old Windows archivers write them); ``.`` and empty
    components vanish. Raises `UnsafePathError` for absolute paths, drive letters, ``..``,
    control characters (NUL among them), colons, text that is not valid Unicode, and components
    over 255 bytes.
    """
    if _CONTROL.search(path):
        raise UnsafePathError("holds a control character")
    plain = path.replace("\\", "/")
    if plain.startswith("/"):
        raise UnsafePathError("is absolute")
    if _DRIVE.match(plain):
        raise UnsafePathError("begins with a drive letter")
    components = tuple(part for part in plain.split("/") if part not in ("", "."))
    for part in components:
        _check_component(part)
    return components


def _check_component(part: str) -> None:
    if part == "..":
        raise UnsafePathError("climbs out of its folder with '..'")
    if not part.strip(" ."):
        raise UnsafePathError("has a component of only dots and blanks")
    if ":" in part:
        raise UnsafePathError("holds a colon")
    try:
        length = len(part.encode())
    except UnicodeEncodeError:
        raise UnsafePathError("is not valid Unicode") from None
    if length > MAX_COMPONENT_BYTES:
        raise UnsafePathError(f"has a component over {MAX_COMPONENT_BYTES} bytes")


def image_key(path: str) -> str:
    """The trailing ``SUBSET/SPLIT/FILE`` of an image path, whatever stands before it.

    ``"./image/DTScene/test/a.jpg"`` -> ``"DTScene/test/a.jpg"``. Raises `UnsafePathError` when
    the path is unsafe (see `safe_components`) or has fewer than three components.
    """
    components = safe_components(path)
    if len(components) < 3 or path.replace("\\", "/").endswith("/"):
        raise UnsafePathError("does not end in SUBSET/SPLIT/FILE")
    return "/".join(components[-3:])
