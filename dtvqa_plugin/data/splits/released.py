"""The three released splits: test, val and train."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from dtvqa_plugin.benchmark.release import REPO_ID, TEST_FILES, TRAIN_FILES, AnnotationFile
from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.utils.environment import offline

_HEADINGS = {
    "test": "DT-VQA test",
    "val": "DT-VQA validation (machine-made questions)",
    "train": "DT-VQA training (machine-made questions)",
}


class ReleasedSplit(Split):
    """A split of the release; its data are in the user's store."""

    signed_as = "DTVQA"
    released = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.heading = _HEADINGS[name]
        self.caption = f"DT-VQA {name}"

    @cached_property
    def files(self) -> tuple[AnnotationFile, ...]:
        return tuple(file for file in (*TEST_FILES, *TRAIN_FILES) if file.split == self.name)

    @cached_property
    def subsets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file.subset for file in self.files if file.subset))

    @property
    def benchmark(self) -> str:
        return "DT-VQA"

    @property
    def id_prefixes(self) -> tuple[str, ...]:
        return tuple(file.name for file in self.files)

    def store(self, home: str | Path | None = None) -> Store:
        return Store(home)

    def cure(self, subsets: Sequence[str] = ()) -> str:
        chosen = f"--split {self.name}" + "".join(f" --subset {name}" for name in subsets)
        unset = "unset HF_HUB_OFFLINE and run " if offline() else ""
        return (
            f"run 'dtvqa data import FOLDER {chosen}' on a folder that holds the release, or "
            f"{unset}'dtvqa data fetch {chosen}' to get it from {REPO_ID} on the Hugging Face hub"
        )
