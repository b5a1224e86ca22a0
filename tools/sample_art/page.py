"""One image of the sample: what it is called, how it is drawn, what is asked about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import effects
from .effects import Lens
from .fonts import FontBook
from .sheet import Question, Sheet


@dataclass(frozen=True)
class Page:
    """An image with its questions.

    Attributes:
        subset: the ``dataset_name`` of its records, such as ``MiniScene``.
        file: file name; ``.png`` is saved with a palette, ``.jpg`` as a photograph.
        kind: the ``type`` of its records.
        draw: renders the finished image and lists its texts.
        questions: the questions, each with its answers.
        quality: JPEG quality, of no meaning for PNG.
    """

    subset: str
    file: str
    kind: str
    draw: Callable[[FontBook], Sheet]
    questions: tuple[Question, ...]
    quality: int = 72

    @property
    def image_path(self) -> str:
        """Where the image lies, relative to the sample's folder."""
        return f"image/{self.subset}/test/{self.file}"


def photo(scene: Sheet, size: tuple[int, int], lens: Lens, rng: np.random.Generator) -> Sheet:
    """Photograph a finished scene, keeping its texts."""
    scene.replace(effects.photograph(scene.image, size, lens, rng))
    return scene
