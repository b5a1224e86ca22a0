"""What a split is: one object that knows its files, subsets, store, titles and cures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DataError

_KNOWN_SUBSETS = (*SUBSETS, *SAMPLE_SUBSETS)


class Split(ABC):
    """One split of the benchmark, or a question set in its place.

    Get one from `dtvqa_plugin.data.splits.registry.get_split` and pass it down; where a split
    reads the environment or a file to answer, it does so once.

    Attributes:
        name: The split's name on command lines and in results.
        heading: Title of a table of its results.
        caption: Title of a figure about it.
        signed_as: First field of the signature of its results.
        released: Whether it is part of the DT-VQA release, so that it can be fetched.
        embedded: Whether it comes with this package.
    """

    name: str
    heading: str
    caption: str
    signed_as: ClassVar[str]
    released: ClassVar[bool] = False
    embedded: ClassVar[bool] = False

    @property
    @abstractmethod
    def files(self) -> tuple[AnnotationFile, ...]:
        """Its annotation files in reading order."""

    @property
    @abstractmethod
    def subsets(self) -> tuple[str, ...]:
        """The subsets that have questions in it, in reading order. May raise `DataError`."""

    @property
    @abstractmethod
    def benchmark(self) -> str:
        """What results of it are results of; only the released splits are called DT-VQA."""

    @property
    def id_prefixes(self) -> tuple[str, ...]:
        """What its question ids begin with, before the first slash. May raise `DataError`."""
        return self.subsets

    @abstractmethod
    def store(self, home: str | Path | None = None) -> Store:
        """The store that it is read from; ``home`` is the user's, where it matters."""

    @abstractmethod
    def cure(self, subsets: Sequence[str] = ()) -> str:
        """What to do where its data are missing, as a sentence without a full stop."""

    def missing(self, store: Store, files: Sequence[AnnotationFile]) -> DataError:
        """The error for annotation files that are not in the store."""
        names = ", ".join(file.path for file in files)
        return DataError(
            f"{store.home}: the {self.name} annotations are missing ({names}); {self.cure()}"
        )

    def signature(self) -> dict[str, Any]:
        """Fields of the data signature that only this split has, as plain JSON values."""
        return {}

    def revision(self, signature: Mapping[str, Any]) -> str | None:
        """The revision of the data that a data signature describes, if it is one and known."""
        revisions = {entry["revision"] for entry in signature["files"].values()}
        return revisions.pop() if len(revisions) == 1 else None

    def title(self, revision: str | None) -> str:
        """Title of a table of results made with a revision of its data."""
        return self.heading

    def check_subsets(self, subset: str | Iterable[str] | None) -> tuple[str, ...]:
        """The chosen subsets in reading order; ``None`` means all of them.

        Raises:
            DataError: A name is no subset, or has no questions in this split.
        """
        there = self.subsets
        if subset is None:
            return there
        chosen = [subset] if isinstance(subset, str) else list(subset)
        if not chosen:
            raise DataError(f"no subset chosen; split {self.name} has {', '.join(there)}")
        for name in chosen:
            if name in there:
                continue
            what = f"no subset {name}"
            if name in _KNOWN_SUBSETS:
                what = f"subset {name} has no questions in split {self.name}"
            raise DataError(f"{what}; split {self.name} has {', '.join(there)}")
        return tuple(name for name in there if name in chosen)

    def choose(
        self, subsets: Sequence[str], sources: Sequence[str] | None = None
    ) -> list[tuple[AnnotationFile, tuple[str, ...]]]:
        """Each file to read, with the subsets wanted from it.

        Args:
            subsets: Subsets of this split.
            sources: Names of the only files to read (``["DTScene_train"]``); ``None`` means all.

        Raises:
            DataError: A source is none of the files of these subsets.
        """
        files = [file for file in self.files if file.subset is None or file.subset in subsets]
        if sources is not None:
            names = [file.name for file in files]
            for source in sources:
                if source not in names:
                    raise DataError(f"no source {source!r} here; there are {', '.join(names)}")
            files = [file for file in files if file.name in sources]
        return [(f, tuple(subsets) if f.subset is None else (f.subset,)) for f in files]
