"""Recognised boxes kept by image content: a small JSON file an image, the last ones in memory."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.utils.environment import default_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

_IN_MEMORY = 256


def default_cache_dir() -> Path:
    """`$DTVQA_HOME/ocr-cache` where that is set, otherwise under the user's cache directory."""
    return default_home() / "ocr-cache"


def content_key(pixels: NDArray[np.uint8]) -> str:
    """SHA-256 (hex) of RGB pixels and their size, so that equal images share one entry."""
    digest = hashlib.sha256(f"{pixels.shape[1]}x{pixels.shape[0]}\n".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()


class BoxCache:
    """Boxes by content key under one engine fingerprint.

    Several processes may share `directory`: files appear whole (written aside, then renamed).
    An entry that cannot be read is a miss and a warning; a directory that cannot be written
    costs one warning.
    """

    def __init__(self, directory: Path, fingerprint: str) -> None:
        self.directory = directory / fingerprint
        self.fingerprint = fingerprint
        self._recent: OrderedDict[str, tuple[TextBox, ...]] = OrderedDict()
        self._lock = threading.Lock()
        self._write_failed = False

    def path(self, key: str) -> Path:
        return self.directory / f"{key}.json"

    def get(self, key: str) -> tuple[TextBox, ...] | None:
        """The boxes of `key`, or None where they are not known."""
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
        boxes = self._read(key)
        if boxes is not None:
            self._remember(key, boxes)
        return boxes

    def put(self, key: str, boxes: Sequence[TextBox]) -> None:
        """Keep `boxes` in memory and, where the directory can be written, on disk."""
        self._remember(key, tuple(boxes))
        try:
            self._write(key, boxes)
        except OSError as error:
            if not self._write_failed:
                logger.warning(
                    "OCR results are not cached: %s cannot be written (%s). "
                    "Set DTVQA_HOME to a writable directory.",
                    self.directory,
                    error.strerror or error,
                )
            self._write_failed = True

    def _remember(self, key: str, boxes: tuple[TextBox, ...]) -> None:
        with self._lock:
            self._recent[key] = boxes
            self._recent.move_to_end(key)
            if len(self._recent) > _IN_MEMORY:
                self._recent.popitem(last=False)

    def _read(self, key: str) -> tuple[TextBox, ...] | None:
        path = self.path(key)
        try:
            return _decode(json.loads(path.read_bytes(), parse_constant=_refuse), key)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, RecursionError) as error:
            logger.warning(
                "OCR cache entry %s is unusable (%s): recognising the image again.", path, error
            )
            return None

    def _write(self, key: str, boxes: Sequence[TextBox]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        temporary = self.directory / f".{key[:16]}-{uuid.uuid4().hex}.tmp"
        try:
            with temporary.open("w", encoding="utf-8") as stream:
                json.dump(_encode(key, boxes), stream, separators=(",", ":"))
            temporary.replace(self.path(key))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no coordinate")


def _encode(key: str, boxes: Sequence[TextBox]) -> dict[str, Any]:
    return {"key": key, "boxes": [[box.text, list(box.quad), box.score] for box in boxes]}


def _decode(entry: Any, key: str) -> tuple[TextBox, ...]:
    """The boxes of a parsed entry; ValueError where it is not one of ours."""
    if not isinstance(entry, dict) or entry.get("key") != key:
        raise ValueError("not the entry of this image")
    boxes = entry.get("boxes")
    if not isinstance(boxes, list):
        raise ValueError("no list of boxes")
    return tuple(_decode_box(box) for box in boxes)


def _decode_box(box: Any) -> TextBox:
    match box:
        case [str(text), [_, _, _, _, _, _, _, _] as quad, int() | float() as score] if all(
            isinstance(value, (int, float)) for value in quad
        ):
            return TextBox(text, tuple(quad), score)
    raise ValueError("a box that is not [text, eight numbers, score]")
