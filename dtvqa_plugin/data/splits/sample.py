"""The embedded sample, drawn by this project: the split ``mini``."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from pathlib import Path

from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS
from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DataError

SAMPLE_SPLIT = "mini"
SAMPLE_FILE = AnnotationFile("DT_mini", "test", SAMPLE_SPLIT, tuple(SAMPLE_SUBSETS))
"""The sample's annotations (package data, no store needed)."""


def sample_dir() -> Path:
    """The embedded sample's folder, in the published layout (package data).

    Returns:
        The folder that holds ``test/`` and ``image/``.
    """
    return Path(str(importlib.resources.files("dtvqa_plugin.data") / "sample"))


class SampleSplit(Split):
    """The embedded sample; it is not DT-VQA and is never called so."""

    name = SAMPLE_SPLIT
    heading = "Embedded sample: not DT-VQA, its figures do not compare with DT-VQA figures"
    caption = "Embedded sample (not DT-VQA)"
    signed_as = "DTVQA-SAMPLE"
    embedded = True

    @property
    def files(self) -> tuple[AnnotationFile, ...]:
        return (SAMPLE_FILE,)

    @property
    def subsets(self) -> tuple[str, ...]:
        return tuple(SAMPLE_SUBSETS)

    @property
    def benchmark(self) -> str:
        return "embedded sample (not DT-VQA)"

    def store(self, home: str | Path | None = None) -> Store:
        return Store(sample_dir())

    def cure(self, subsets: Sequence[str] = ()) -> str:
        return "reinstall dtvqa-plugin"

    def missing(self, store: Store, files: Sequence[AnnotationFile]) -> DataError:
        names = ", ".join(file.path for file in files)
        return DataError(f"{store.home}: the embedded sample lacks {names}; {self.cure()}")
