"""A project folder: its config, its journals, and its images found by content.

::

    config.yaml  styles/*.yaml                      the user's
    images.jsonl prompts.jsonl raw.jsonl failures.jsonl textonly.jsonl decisions.jsonl
    endpoints.jsonl                                 journals: only ever added to
    pairs.jsonl unread.jsonl flags.jsonl proposals.jsonl
                                                    derived: made anew by their stage
    ocr/                                            recognised text, kept

Images and answers are tied together by the image's SHA-256, so folders and files may be moved and
renamed: only ``sources[].images`` has to name the folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Config, Source, Style, read_config, read_style
from dtvqa_plugin.annotate.project.journal import Damage, Journal
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

CONFIG = "config.yaml"


@dataclass
class Project:
    """A project at ``root``; nothing is read until asked for."""

    root: Path
    images: Journal = field(init=False)
    prompts: Journal = field(init=False)
    raw: Journal = field(init=False)
    failures: Journal = field(init=False)
    textonly: Journal = field(init=False)
    endpoints: Journal = field(init=False)
    decisions: Journal = field(init=False)
    pairs: Journal = field(init=False)
    unread: Journal = field(init=False)
    flags: Journal = field(init=False)
    proposals: Journal = field(init=False)

    def __post_init__(self) -> None:
        self.images = self._journal("images", "source", "file", "size", "mtime_ns")
        self.prompts = self._journal("prompts", "prompt", "text")
        self.raw = self._journal("raw", "image", "round", "asked", "model", "prompt", "text", "at")
        self.failures = self._journal("failures", "image", "round", "error", "at")
        self.textonly = self._journal("textonly", "pair", "model", "answer", "at")
        self.endpoints = self._journal("endpoints", "base_url", "model", "mode")
        self.decisions = self._journal("decisions", "id", "pair", "reviewer", "at", "action")
        self.pairs = self._journal("pairs", "pair", "image", "style", "question", "answers")
        self.unread = self._journal("unread", "image", "text")
        self.flags = self._journal("flags", "pair", "flags", "score")
        self.proposals = self._journal("proposals", "pair", "proposals")

    def _journal(self, name: str, *keys: str) -> Journal:
        """The journal ``NAME.jsonl``, whose records have at least these keys."""
        return Journal(self.root / f"{name}.jsonl", frozenset(keys))

    @classmethod
    def open(cls, root: str | Path) -> Project:
        """The project at ``root``. Raises `AnnotateError` when there is none, or a faulty one."""
        path = Path(root).expanduser().absolute()
        if not path.is_dir():
            raise AnnotateError(f"{path}: no such folder; 'dtvqa annotate init' makes a project")
        project = cls(path)
        assert project.config
        return project

    @cached_property
    def config(self) -> Config:
        """The project's config, read once."""
        return read_config(self.root / CONFIG)

    @cached_property
    def styles(self) -> dict[str, Style]:
        """Every style that a source names. Raises `AnnotateError` for one that is not there."""
        found: dict[str, Style] = {}
        for source in self.config.sources:
            path = self.root / "styles" / f"{source.style}.yaml"
            if source.style not in found and not path.is_file():
                raise AnnotateError(
                    f"{self.root / CONFIG}: source {source.name!r} has style {source.style!r}, "
                    f"but {path} is not there; write it, or copy one that is"
                )
            found.setdefault(source.style, read_style(path))
        return found

    def source(self, name: str) -> Source | None:
        """The source of that name, if the config still has it."""
        return next((source for source in self.config.sources if source.name == name), None)

    def folder(self, source: Source) -> Path:
        """Where a source's images are. Raises `AnnotateError` with the cure when not there."""
        path = (self.root / Path(source.images).expanduser()).resolve()
        if not path.is_dir():
            raise AnnotateError(
                f"{self.root / CONFIG}: source {source.name!r}: {path} is no folder; if images "
                "or project were moved, set 'images' to where they are now (answers and decisions "
                "stay valid: they go by the images' content)"
            )
        return path

    def file(self, relative: str) -> Path:
        """A path that the config names, relative to the project."""
        return (self.root / Path(relative).expanduser()).resolve()

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Hold the project for one stage. Raises `AnnotateError` when another process has it."""
        folder = self.root / ".locks"
        folder.mkdir(exist_ok=True)
        lock = FileLock(folder / f"{what}.lock")
        try:
            lock.acquire(timeout=0.5)
        except Timeout:
            raise AnnotateError(
                f"{self.root}: another 'dtvqa annotate {what}' is running here; wait until it ends"
            ) from None
        try:
            yield
        finally:
            lock.release()


def report_damage(damage: Damage) -> None:
    """Tell, once a stage, that a journal has lines that hold no record."""
    if damage.count:
        logger.warning("%s", damage)
