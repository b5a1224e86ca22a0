"""RapidOCR on the CPU, behind one call. RapidOCR is imported when the first image is read."""

from __future__ import annotations

import importlib
import importlib.util
import os
import threading
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.ocr.boxes import TextBox

if TYPE_CHECKING:
    from numpy.typing import NDArray

SETTINGS_REVISION = "1"
"""Part of the cache key: raise it when what is asked of RapidOCR changes."""

_SMALLEST_SIDE = 64
_LONGEST_TO_SHORTEST = 8
_DECIMALS = 1


def available_cores() -> int:
    """The number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads() -> int:
    """`OMP_NUM_THREADS` where it is a positive number, otherwise our cores, at most 4."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return min(available_cores(), 4)


class OCREngine:
    """RapidOCR with its bundled models. Safe to share between threads.

    `calls` counts the images that were really read (not those answered by a cache).

    Raises:
        DTVQAError: RapidOCR or onnxruntime is not installed, or `threads` is below 1.
    """

    def __init__(self, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise DTVQAError(f"OCR threads: {threads} is not a positive number; give 1 or more.")
        for name in ("rapidocr", "onnxruntime"):
            if importlib.util.find_spec(name) is None:
                raise DTVQAError(
                    f"The OCR reader needs {name}, which is not installed: "
                    'pip install "dtvqa-plugin[ocr]"'
                )
        self.threads = min(threads or default_threads(), os.cpu_count() or 1)
        self.calls = 0
        self._rapid: Any = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Engine, version and settings: boxes under another fingerprint are not comparable."""
        return f"rapidocr-{metadata.version('rapidocr')}-s{SETTINGS_REVISION}"

    def recognise(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        """Every piece of text in RGB `pixels` (uint8, height x width x 3), in the engine's order.

        An empty list where there is none, or no pixel at all.
        """
        if not pixels.size:
            return []
        padded = _pad(pixels)
        with self._lock:
            if self._rapid is None:
                self._rapid = _load_rapidocr(self.threads)
            self.calls += 1
            # An array is taken to be BGR, as OpenCV has it.
            output = self._rapid(np.ascontiguousarray(padded[:, :, ::-1]))
        if getattr(output, "txts", None) is None or output.boxes is None:
            return []
        return [
            TextBox(text, _quad(corners), round(float(score), 3))
            for text, corners, score in zip(output.txts, output.boxes, output.scores, strict=True)
        ]


def _pad(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Grow tiny and very narrow images to the right and downwards, repeating the edge.

    RapidOCR enlarges an image until its shorter side has 736 pixels, which would make a strip
    enormous, and resizes crops by the image's own ratio, which may leave no pixel. Coordinates
    do not change.
    """
    height, width = pixels.shape[:2]
    least = max(_SMALLEST_SIDE, -(-max(height, width) // _LONGEST_TO_SHORTEST))
    down, right = max(0, least - height), max(0, least - width)
    if not (down or right):
        return pixels
    return np.pad(pixels, ((0, down), (0, right), (0, 0)), mode="edge")


def _quad(corners: Any) -> Any:
    return tuple(round(float(value), _DECIMALS) for point in corners for value in point)


def _load_rapidocr(threads: int) -> Any:
    return importlib.import_module("rapidocr").RapidOCR(
        params={
            "Global.log_level": "error",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
