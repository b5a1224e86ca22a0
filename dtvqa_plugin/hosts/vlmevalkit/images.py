"""The image file a model class is given: the store's own, or a copy where readers would differ.

VLMEvalKit's model classes open the file themselves; few of them turn an image upright or put
transparency on white. For images where that matters they get a PNG copy of what lmms-eval's
models see, so that both hosts show the same pixels.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from dtvqa_plugin.utils.environment import default_home
from dtvqa_plugin.utils.files import explained, whole_file
from dtvqa_plugin.utils.images import load_rgb, open_image, reduced

_ORIENTATION = 0x0112
_UPRIGHT = 1


def path_for_model(path: Path, longest_side: int | None = None) -> Path:
    """Return ``path`` if every reader sees the same pixels in it, else the path of a copy.

    With ``longest_side`` an image with a longer side is a copy reduced to that many pixels.

    Raises DataError for an image that is missing or damaged, or if a copy cannot be written.
    """
    with open_image(path) as opened:
        if longest_side is not None and max(opened.size) > longest_side:
            return _copy(path, longest_side)
        plain = opened.mode in ("RGB", "L") and "transparency" not in opened.info
        if plain and opened.getexif().get(_ORIENTATION, _UPRIGHT) == _UPRIGHT:
            return path
    return _copy(path)


def _copy(path: Path, longest_side: int | None = None) -> Path:
    stat = path.stat()
    key = f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}"
    folder = default_home() / ("upright" if longest_side is None else f"reduced/{longest_side}")
    target = folder / f"{path.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.png"
    if target.is_file():
        return target
    image = load_rgb(path)
    if longest_side is not None:
        image = reduced(image, longest_side)
    with explained(target, "write"):
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as partial:
            image.save(partial, format="PNG")
    return target
