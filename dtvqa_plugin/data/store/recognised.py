"""Where the store keeps recognised text: a file for each engine and image, by the image's SHA-256.

The files' content is the matter of `dtvqa_plugin.ocr.recognised`; here they are only copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from dtvqa_plugin.data.store.store import Store
from dtvqa_plugin.utils.files import explained

FOLDER = "recognised"
MAX_RECOGNISED_BYTES = 16 * 1024 * 1024
"""Most bytes of one image's recognised text in an archive."""

_NAME = re.compile(rf"{FOLDER}/[A-Za-z0-9][A-Za-z0-9._-]{{0,99}}/[0-9a-f]{{64}}\.json")


def is_recognised(name: str) -> bool:
    """Whether a name in the layout, ``recognised/ENGINE/SHA256.json``, is that of such a file."""
    return _NAME.fullmatch(name) is not None


def recognised_files(store: Store, images: Iterable[str]) -> dict[str, Path]:
    """Every engine's file for images given by their SHA-256, by name in the layout, sorted."""
    folder = store.home / FOLDER
    with explained(folder, "read"):
        engines = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        names = [f"{FOLDER}/{engine}/{key}.json" for engine in engines for key in sorted(images)]
        return {
            name: store.home / name
            for name in names
            if is_recognised(name) and (store.home / name).is_file()
        }
