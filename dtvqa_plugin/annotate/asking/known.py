"""What a run may ask: its bounds, its rounds, and what is answered already."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from dtvqa_plugin.annotate.asking.money import spent
from dtvqa_plugin.annotate.asking.prompting import Template
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Round
from dtvqa_plugin.annotate.project.inventory import ImageFile
from dtvqa_plugin.annotate.project.journal import Damage
from dtvqa_plugin.annotate.project.project import Project, report_damage


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may cost. ``max_usd`` bounds all the project has spent, earlier runs included."""

    max_usd: float | None = None
    max_images: int | None = None
    rounds: tuple[str, ...] = ()
    again_empty: bool = False


class Known:
    """What is spent so far, and which (image, round, model, prompt) are answered.

    Memory: a 16-byte digest each, no texts.
    """

    def __init__(self, project: Project, bounds: Bounds) -> None:
        self.keys: set[bytes] = set()
        self.usd = 0.0
        self.answered_by: set[tuple[str, str]] = set()
        """(round, model) that have answered before."""
        self.prompts = {entry["prompt"] for _, entry in project.prompts.read()}
        damage = Damage(project.raw.path)
        for _, entry in project.raw.read(damage=damage):
            self.usd += spent(entry)
            self.answered_by.add((entry["round"], entry["asked"]))
            if entry["text"].strip() or not bounds.again_empty:
                self.keys.add(
                    key_of(entry["image"], entry["round"], entry["asked"], entry["prompt"])
                )
        report_damage(damage)
        for _, entry in project.failures.read():
            self.usd += spent(entry)
        for _, entry in project.textonly.read():
            self.usd += spent(entry)

    def has(self, image: ImageFile, turn: Round, template: Template) -> bool:
        return key_of(image.sha256, turn.name, turn.model, template.sha) in self.keys

    def add(self, image: ImageFile, turn: Round, template: Template) -> None:
        self.keys.add(key_of(image.sha256, turn.name, turn.model, template.sha))


def chosen_rounds(project: Project, bounds: Bounds) -> list[Round]:
    rounds = project.config.rounds
    if not bounds.rounds:
        return list(rounds)
    unknown = set(bounds.rounds) - {turn.name for turn in rounds}
    if unknown:
        names = ", ".join(turn.name for turn in rounds)
        raise AnnotateError(f"no round {sorted(unknown)[0]!r} in the config; there are {names}")
    return [turn for turn in rounds if turn.name in bounds.rounds]


def templates_of(project: Project, rounds: list[Round]) -> dict[tuple[str, str], Template]:
    styles = project.styles
    return {
        (turn.name, source.name): Template.make(styles[source.style], source, turn)
        for turn in rounds
        for source in project.config.sources
    }


def of_round(turn: Round, images: Iterator[ImageFile]) -> Iterator[ImageFile]:
    return (image for image in images if turn.styles is None or image.style in turn.styles)


def key_of(image: str, turn: str, model: str, prompt: str) -> bytes:
    text = "\0".join((image, turn, model, prompt))
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
