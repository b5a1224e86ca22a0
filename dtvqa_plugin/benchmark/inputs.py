"""Conditions of this plugin, not of the paper: what a model gets in place of the picture.

Each changes the input alone; the question stays the bare one. They separate what a model cannot
read from what it cannot work out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SIDES = (448, 896, 1344, 2048)
"""Longest sides in pixels to which the resolution conditions reduce the picture."""


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a condition gives a model beside the question.

    Attributes:
        condition: Name of the condition, and the part of a task's name that says so.
        picture: ``original``; ``grey`` for a plain grey picture of the same size; ``none``.
        longest_side: Pixels that the picture's longest side is reduced to; None for all.
        gives_text: Whether the recognised text of the picture stands before the question.
    """

    condition: str
    picture: Literal["original", "grey", "none"] = "original"
    longest_side: int | None = None
    gives_text: bool = False

    @property
    def dataset_ending(self) -> str:
        """The condition in a VLMEvalKit dataset's name."""
        return self.condition.upper()

    @property
    def picture_given(self) -> str:
        """The picture as signatures state it: ``original``, ``longest-side=896``, ``none``."""
        return self.picture if self.longest_side is None else f"longest-side={self.longest_side}"

    def text_given(self, engine: str) -> str:
        """The signature field ``input``: ``text(ENGINE)``, ``image+text(ENGINE)`` or empty."""
        if not self.gives_text:
            return ""
        return f"text({engine})" if self.picture == "none" else f"image+text({engine})"


BLIND = ModelInput("blind", picture="grey")

RESOLUTIONS = tuple(ModelInput(f"px{side}", longest_side=side) for side in SIDES)
GIVEN_TEXT = (
    ModelInput("text", picture="none", gives_text=True),
    ModelInput("image_text", gives_text=True),
)

INPUTS: dict[str, ModelInput] = {
    given.condition: given for given in (BLIND, *RESOLUTIONS, *GIVEN_TEXT)
}
"""The conditions by name. ``blind`` exists in lmms-eval alone."""


def input_of(condition: str) -> ModelInput:
    """What a condition gives a model; the original picture for one that changes nothing."""
    return INPUTS.get(condition) or ModelInput(condition)


def condition_in_name(words: str) -> str | None:
    """The condition that a task's or dataset's name contains, None if it has none of these.

    Args:
        words: A name such as ``dtvqa_px896_scene`` or ``DTVQA_IMAGE_TEXT``.
    """
    framed = f"_{words.lower()}_"
    named = [name for name in INPUTS if f"_{name}_" in framed]
    return max(named, key=len, default=None)
