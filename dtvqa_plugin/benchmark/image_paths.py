"""Image paths from annotation files and archives: reduced to SUBSET/SPLIT/FILE, never trusted."""

from __future__ import annotations

import re

MAX_COMPONENT_BYTES = 255
_DRIVE = re.compile(r"^[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnsafePathError(ValueError):
    """The path names no image of the store; the message says why, to follow the path's name."""


class EscapingPathError(UnsafePathError):
    """The path could lead out of the folder it is joined to."""


def safe_components(path: str) -> tuple[str, ...]:
    """Components of a relative path that cannot leave the folder it is joined to.

    Backslashes count as separators (old Windows archivers write them); ``.`` and empty
    components vanish. Raises `EscapingPathError` for absolute paths, drive letters, ``..`` and NUL,
    `UnsafePathError` for what some file system could not hold: other control characters, colons,
    text that is not valid Unicode, components over 255 bytes or of dots and blanks.
    """
    if "\x00" in path:
        raise EscapingPathError("holds a NUL")
    plain = path.replace("\\", "/")
    if plain.startswith("/"):
        raise EscapingPathError("is absolute")
    if _DRIVE.match(plain):
        raise EscapingPathError("begins with a drive letter")
    components = tuple(part for part in plain.split("/") if part not in ("", "."))
    if ".." in components:
        raise EscapingPathError("leaves its folder with '..'")
    if _CONTROL.search(path):
        raise UnsafePathError("holds a control character")
    for part in components:
        _check_component(part)
    return components


def _check_component(part: str) -> None:
    if not part.strip(" ."):
        raise UnsafePathError("has a component of only dots and spaces")
    if ":" in part:
        raise UnsafePathError("holds a colon")
    try:
        length = len(part.encode())
    except UnicodeEncodeError:
        raise UnsafePathError("is not valid Unicode") from None
    if length > MAX_COMPONENT_BYTES:
        raise UnsafePathError(f"has a component over {MAX_COMPONENT_BYTES} bytes")


def image_key(path: str) -> str:
    """The trailing ``SUBSET/SPLIT/FILE`` of an image path, with any prefix.

    ``"./image/DTScene/test/a.jpg"`` -> ``"DTScene/test/a.jpg"``. Raises `UnsafePathError` when
    the path is unsafe (see `safe_components`) or has fewer than three components.
    """
    components = safe_components(path)
    if len(components) < 3 or path.replace("\\", "/").rpartition("/")[2] != components[-1]:
        raise UnsafePathError("does not end in SUBSET/SPLIT/FILE")
    return "/".join(components[-3:])
