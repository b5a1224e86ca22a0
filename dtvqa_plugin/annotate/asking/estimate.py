"""``dtvqa annotate run --dry-run``: what is left to ask, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from dtvqa_plugin.annotate.asking.known import Bounds, Known, chosen_rounds, of_round, templates_of
from dtvqa_plugin.annotate.asking.money import usd
from dtvqa_plugin.annotate.asking.prompting import (
    UNREAD_TEXT_TOKENS,
    answer_tokens,
    image_tokens,
    text_tokens,
)
from dtvqa_plugin.annotate.project.inventory import Counts, Inventory
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.text.reader import TextReader


@dataclass(slots=True)
class Estimate:
    """What a run would ask, by round: images, tokens in and out, US dollars."""

    rounds: dict[str, dict[str, float | None]] = field(default_factory=dict)
    images: Counts = field(default_factory=Counts)
    unread_text: int = 0

    @property
    def usd(self) -> float | None:
        """The sum, None where a round with images to ask has no price."""
        costs = [part["usd"] for part in self.rounds.values() if part["images"]]
        return sum(c for c in costs if c is not None) if None not in costs else None


def estimate(project: Project, bounds: Bounds) -> Estimate:
    """Count what is left to ask and guess its tokens; sends no request and recognises no text.

    Tokens are rough: four letters a token, 28 x 28 pixels a token, 45 tokens a pair.
    """
    result = Estimate()
    inventory = Inventory(project)
    known = Known(project, bounds)
    text = TextReader(project, read_images=False)
    rounds = chosen_rounds(project, bounds)
    templates = templates_of(project, rounds)
    for turn in rounds:
        total = result.rounds[turn.name] = {"images": 0, "input": 0, "output": 0, "usd": 0.0}
        for image in islice(of_round(turn, inventory.scan()), bounds.max_images):
            template = templates[turn.name, image.source]
            if known.has(image, turn, template):
                continue
            boxes = text.boxes(image) if template.with_ocr else None
            source = project.source(image.source)
            assert source is not None
            tokens = text_tokens(template.render(image, boxes, source.ocr.max_lines))
            if template.with_ocr and boxes is None:
                tokens += UNREAD_TEXT_TOKENS
                result.unread_text += 1
            tokens += image_tokens(image.width, image.height, turn.image_side)
            total["images"] = (total["images"] or 0) + 1
            total["input"] = (total["input"] or 0) + tokens
            total["output"] = (total["output"] or 0) + answer_tokens(turn.pairs)
        total["usd"] = usd(turn, int(total["input"] or 0), int(total["output"] or 0))
        result.images = inventory.counts
    return result
