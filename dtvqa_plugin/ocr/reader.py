"""The OCR reader: an image and a question in, a text out; no GPU and no language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.ocr.answering import pick_answer
from dtvqa_plugin.ocr.cache import BoxCache, content_key, default_cache_dir
from dtvqa_plugin.ocr.engine import OCREngine
from dtvqa_plugin.ocr.layout import reading_order
from dtvqa_plugin.utils.images import load_rgb

if TYPE_CHECKING:
    from PIL import Image

    from dtvqa_plugin.ocr.boxes import TextBox

MODES = ("dump", "reader")


class OCRReader:
    """Answers questions about an image from the text that RapidOCR finds in it.

    Args:
        mode: `dump` returns all recognised text, `reader` a short answer picked by layout.
        cache_dir: where recognised boxes are kept; None means `$DTVQA_HOME/ocr-cache`, or the
            user's cache directory. Every mode and question shares one OCR pass an image.
        threads: CPU threads of the engine; None means `OMP_NUM_THREADS`, or the cores, at most 4.

    Raises:
        DTVQAError: an unknown mode, or the extra `ocr` is not installed.
    """

    def __init__(
        self,
        mode: str = "reader",
        cache_dir: Path | str | None = None,
        *,
        threads: int | None = None,
    ) -> None:
        if mode not in MODES:
            raise DTVQAError(f"OCR reader mode {mode!r} is unknown; choose dump or reader.")
        self.mode: str = mode
        self.engine = OCREngine(threads)
        directory = default_cache_dir() if cache_dir is None else Path(cache_dir).expanduser()
        self.cache = BoxCache(directory, self.engine.fingerprint)

    def boxes(self, image: Image.Image) -> tuple[TextBox, ...]:
        """The recognised boxes of `image`, from the cache where it has them."""
        pixels = np.asarray(load_rgb(image))
        key = content_key(pixels)
        known = self.cache.get(key)
        if known is None:
            known = tuple(self.engine.recognise(pixels))
            self.cache.put(key, known)
        return known

    def answer(self, image: Image.Image, question: str) -> str:
        """The reader's answer to `question`; "" where the image holds no text."""
        boxes = self.boxes(image)
        if self.mode == "dump":
            return dump_text(boxes)
        return pick_answer(boxes, question)


def dump_text(boxes: tuple[TextBox, ...]) -> str:
    """All recognised text in reading order, on one line."""
    return " ".join(filter(None, (box.text.strip() for box in reading_order(boxes))))
