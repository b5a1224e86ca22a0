"""The functions of the tasks in conditions of this plugin: resolution, and recognised text given.

The YAMLs name them as ``visual__px896``, ``messages__text`` or ``results__image_text``. lmms-eval
resolves ``!function`` with ``getattr`` and calls what it gets. Seen working on lmms-eval 0.7.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from PIL import Image

from dtvqa_plugin.benchmark.inputs import GIVEN_TEXT, INPUTS, ModelInput
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.hosts.given_text import given_text
from dtvqa_plugin.hosts.lmms_eval.scores import HostRow
from dtvqa_plugin.hosts.lmms_eval.tables import kept_records
from dtvqa_plugin.hosts.lmms_eval.task import (
    Doc,
    doc_to_text,
    doc_to_visual,
    doc_to_visual_blind,
    scored,
    user_turn,
)
from dtvqa_plugin.utils.images import reduced

TEXT_TASKS: dict[str, tuple[str, str | None]] = {
    name: part
    for given in GIVEN_TEXT
    for name, part in (
        (f"dtvqa_{given.condition}", ("test", None)),
        *(
            (f"dtvqa_{given.condition}_{subset.task}", ("test", subset.name))
            for subset in SUBSETS.values()
        ),
        (f"dtvqa_mini_{given.condition}", ("mini", None)),
    )
}
"""Split and subset (None: all) of the tasks that give the model recognised text."""


@dataclass(frozen=True, slots=True)
class Visual:
    """``doc_to_visual``, for simple runners.

    Where the condition gives no picture it is the grey one of the blind tasks: many simple runners
    fail on a question without any.
    """

    given: ModelInput

    def __call__(self, doc: Doc) -> list[Image.Image]:
        """Return the question's picture as the condition gives it."""
        if self.given.picture != "original":
            return doc_to_visual_blind(doc)
        side = self.given.longest_side
        images = doc_to_visual(doc)
        return images if side is None else [reduced(image, side) for image in images]


@dataclass(frozen=True, slots=True)
class Messages:
    """``doc_to_messages``, for chat runners."""

    given: ModelInput

    def __call__(
        self, doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return one user turn; without an image where the condition gives none."""
        images = [] if self.given.picture == "none" else Visual(self.given)(doc)
        return user_turn(images, doc_to_text(doc, lmms_eval_specific_kwargs))


@dataclass(frozen=True, slots=True)
class Results:
    """``process_results``."""

    given: ModelInput

    def __call__(self, doc: Doc, results: Sequence[Any]) -> HostRow:
        """Score a question's output; scores are 0-1. Never raises."""
        return scored(doc, results, self.given.condition)


_FUNCTIONS: dict[str, Callable[[ModelInput], object]] = {
    "visual": Visual,
    "messages": Messages,
    "results": Results,
}


def __getattr__(name: str) -> Any:
    function, _, condition = name.partition("__")
    if function in _FUNCTIONS and condition in INPUTS:
        return _FUNCTIONS[function](INPUTS[condition])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def check_given_text(requested: Sequence[str]) -> None:
    """Look for the recognised text that requested tasks give to the model.

    lmms-eval loads the model before it loads a task, so this is the place to say what is missing.

    Args:
        requested: Values of ``--tasks``: names and patterns, joined by commas.

    Raises:
        DataError: Recognised text (or the images that it is of) is missing.
    """
    patterns = [name.strip() for value in requested for name in value.split(",")]
    parts = {
        part: None
        for name, part in TEXT_TASKS.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    for split, subset in parts:
        given_text(split, kept_records(split, subset))
