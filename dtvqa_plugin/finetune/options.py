"""What an export is asked for, and what it reports."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.benchmark.records import Problem
from dtvqa_plugin.data import get_split
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.finetune.image_match import MIN_LIKENESS, ImageMatch
from dtvqa_plugin.finetune.trainers import Format, get_format

PAPER_SUBSETS = ("DTScene", "DTNutrCap", "DTTabShot")
"""What the paper tuned on (section 4): DTProdCap's generated pairs mix languages."""

EXPORT_SPLITS = ("train", "val", "mini")
TURNS = ("all", "one")
CHECKS = ("full", "names")
MANIFEST = "manifest.json"
WRITTEN_BY = "dtvqa export"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What to export, and how.

    Attributes:
        format: A name in `FORMATS`.
        splits: ``train`` and ``val``, or ``mini`` (the embedded sample).
        subsets: Subsets; None means the paper's three (all four of ``mini``).
        gpt4v: Whether DTScene's second, GPT-4V round is taken.
        turns: ``all`` turns of a record in one sample, or ``one`` turn in each sample.
        prompt: Name of the prompt around each question.
        seed: Seed of the shuffling; None keeps the order of the files.
        held_out: Share (0 to below 1) of the images whose samples go to a second file.
        embed: Whether images are written into the file as data URIs.
        image_root: What image paths begin with; None means absolute paths into the store.
        shard_size: Most samples in one file; None means one file.
        check: Compare with the test images by name and picture (``full``) or by ``names``.
        min_likeness: Least likeness (0-1) of a picture that is left out as a test image.
    """

    format: str
    splits: tuple[str, ...] = ("train",)
    subsets: tuple[str, ...] | None = None
    gpt4v: bool = True
    turns: str = "all"
    prompt: str = "none"
    seed: int | None = None
    held_out: float = 0.0
    embed: bool = False
    image_root: str | None = None
    shard_size: int | None = None
    check: str = "full"
    min_likeness: float = MIN_LIKENESS

    def checked(self) -> Format:
        """The format. Raises `DTVQAError` for options that do not fit together."""
        form = get_format(self.format)
        self._check_splits()
        if not 0 <= self.held_out < 1:
            raise DTVQAError(f"held-out share {self.held_out} is not from 0 to below 1")
        if not 0 < self.min_likeness <= 1:
            raise DTVQAError(f"least likeness {self.min_likeness} is not above 0 and at most 1")
        if self.turns not in TURNS or self.check not in CHECKS:
            raise DTVQAError(f"turns are {' or '.join(TURNS)}, checks {' or '.join(CHECKS)}")
        if self.embed and not form.embeds:
            raise DTVQAError(f"format {form.name} holds paths of images only; omit --embed")
        if self.embed and self.image_root is not None:
            raise DTVQAError("embedded images have no paths: omit --embed or --image-root")
        if self.shard_size is not None and (self.shard_size < 1 or not form.shards):
            why = (
                "is not a number of samples"
                if form.shards
                else f"does not fit {form.name}: one file"
            )
            raise DTVQAError(f"--shard-size {self.shard_size} {why}")
        try:
            get_prompt(self.prompt)
        except ValueError as error:
            raise DTVQAError(str(error)) from None
        return form

    def _check_splits(self) -> None:
        for split in self.splits:
            if split not in EXPORT_SPLITS:
                raise DTVQAError(
                    f"split {split!r} is not for training; there are {', '.join(EXPORT_SPLITS)}"
                )
        if not self.splits or ("mini" in self.splits and set(self.splits) != {"mini"}):
            raise DTVQAError("choose train, val or both; the sample (mini) is exported on its own")

    @property
    def released(self) -> bool:
        """Whether released splits are exported, which could hold test images."""
        return all(get_split(split).released for split in self.splits)

    def subsets_of(self, split: str) -> tuple[str, ...]:
        """The chosen subsets that a split has. Raises `DataError` for a name that no split has."""
        there = get_split(split)
        if not there.released:
            return there.check_subsets(self.subsets)
        for name in self.subsets or ():
            if all(name not in get_split(other).subsets for other in ("train", "val")):
                there.check_subsets([name])
        return tuple(name for name in there.subsets if name in (self.subsets or PAPER_SUBSETS))


@dataclass(slots=True)
class ExportReport:
    """What an export read, left out and wrote; `as_json` is its ``manifest.json``.

    Attributes:
        options: What was asked for.
        sources: File, SHA-256 and number of records of each annotation file.
        absent: Annotation files that were missing (with ``DTVQA_ALLOW_PARTIAL=1``).
        pairs: Question/answer pairs written.
        samples: Samples written.
        images: Different images written.
        by_subset: Pairs written, by subset.
        faulty: Unusable records or turns, by kind.
        shown: The first of their problems.
        missing: Images that are not in the store, by subset.
        unreadable: A message for each image that could not be decoded.
        leaks: Images that are test images by name or look like one.
        left_out_pairs: Pairs on images that were left out, by reason: ``missing``,
            ``unreadable``, ``leaked``.
        marked: Pairs left out because their text holds the format's image mark.
        compared: Test images compared by picture; None where nothing was compared.
        test_images: Test images compared by name; None where nothing was compared.
        files: Name, samples, bytes and SHA-256 of each file written.
    """

    options: ExportOptions
    sources: list[dict[str, Any]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    pairs: int = 0
    samples: int = 0
    images: int = 0
    by_subset: Counter[str] = field(default_factory=Counter)
    faulty: Counter[str] = field(default_factory=Counter)
    shown: list[Problem] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    leaks: list[ImageMatch] = field(default_factory=list)
    left_out_pairs: Counter[str] = field(default_factory=Counter)
    marked: int = 0
    compared: int | None = None
    test_images: int | None = None
    files: list[dict[str, Any]] = field(default_factory=list)

    @property
    def leaked_pairs(self) -> int:
        """Pairs left out because their image is a test image or looks like one."""
        return self.left_out_pairs["leaked"]

    @property
    def missing_pairs(self) -> int:
        """Pairs left out because their image is not in the store."""
        return self.left_out_pairs["missing"]

    @property
    def unreadable_pairs(self) -> int:
        """Pairs left out because their image cannot be decoded."""
        return self.left_out_pairs["unreadable"]

    def as_json(self) -> dict[str, Any]:
        """Plain values; nothing in them depends on the time or on the target folder."""
        return {
            "written_by": WRITTEN_BY,
            "version": __version__,
            "options": asdict(self.options),
            "sources": self.sources,
            "written": {
                "pairs": self.pairs,
                "samples": self.samples,
                "images": self.images,
                "pairs_by_subset": dict(self.by_subset),
            },
            "left_out": {
                "missing_files": self.absent,
                "unusable": dict(sorted(self.faulty.items())),
                "missing_images": dict(self.missing),
                "missing_image_pairs": self.missing_pairs,
                "unreadable_images": self.unreadable,
                "unreadable_image_pairs": self.unreadable_pairs,
                "leaked_images": [leak.as_json() for leak in self.leaks],
                "leaked_image_pairs": self.leaked_pairs,
                "pairs_with_image_mark": self.marked,
            },
            "test_images": {"named": self.test_images, "compared": self.compared},
            "files": self.files,
        }
