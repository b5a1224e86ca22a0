"""What was released: the annotation files, the split each belongs to, and their known SHA-256.

The data are the Hugging Face *model* repository ``shuozhang2/DT-VQA``: ``test/``, ``train/`` and
``image.zip``. A hash is given for every file whose released bytes were at hand when this was
written; ``None`` means "not seen", never "any content will do".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.errors import DataError

REPO_ID = "shuozhang2/DT-VQA"
REPO_TYPE = "model"
ARCHIVE_NAME = "image.zip"

MAX_ANNOTATION_BYTES = 256 * 1024 * 1024
"""Most bytes an annotation file may hold, wherever it comes from."""

Kind = Literal["test", "train"]


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """One released annotation file.

    ``kind`` is its format and its folder (``test`` or the multi-turn ``train``), ``split`` the
    split its questions belong to, ``subset`` the one subset it holds (``None``: several).
    """

    name: str
    kind: Kind
    split: str
    subset: str | None
    sha256: str | None = None

    @property
    def path(self) -> str:
        """Path inside the published layout, e.g. ``"train/DTScene_val.json"``."""
        return f"{self.kind}/{self.name}.json"


# The order of the test subsets is that of the released DT_test.json.
TEST_FILES: tuple[AnnotationFile, ...] = (
    AnnotationFile(
        "DTNutrCap",
        "test",
        "test",
        "DTNutrCap",
        "d2352d1ffdec5156d28eb6b339854e0792840b6ff75e9c15f08d5c6528cd1f58",
    ),
    AnnotationFile(
        "DTProdCap",
        "test",
        "test",
        "DTProdCap",
        "349b4a1623f521a242c1d6505f74a5488355fc2054f3bb5a1fdfed47e922dd85",
    ),
    AnnotationFile(
        "DTScene",
        "test",
        "test",
        "DTScene",
        "d2a213593e73c95f3348099a9a82f4ed08125ec7faf33055926ec3eb10d145fe",
    ),
    AnnotationFile(
        "DTTabShot",
        "test",
        "test",
        "DTTabShot",
        "52a8a83b41ea39e839bf5fd33acd2bf012b837626f070908f8064b348e6a509b",
    ),
)

COMBINED_TEST = AnnotationFile(
    "DT_test",
    "test",
    "test",
    None,
    "fbf87f72e56280f7fa6534388d3e8abfac8e6d290455223ed165788b00d1a15d",
)
"""The four test files joined, in their order; enough on its own."""

TRAIN_FILES: tuple[AnnotationFile, ...] = (
    AnnotationFile(
        "DTNutrCap_train_val",
        "train",
        "train",
        "DTNutrCap",
        "bf64c4960ba0bae5fc4f74a514f1c98b4c941eda23b6c84fd45bc21079cfb665",
    ),
    AnnotationFile(
        "DTProdCap_train_val",
        "train",
        "train",
        "DTProdCap",
        "9845d1ad5d9071fdb75fc8f07d6897d8964f645fcfd25e291d56e176f8444ac0",
    ),
    AnnotationFile("DTScene_train", "train", "train", "DTScene"),
    AnnotationFile("DTScene_train_gpt-4v", "train", "train", "DTScene"),
    AnnotationFile("DTTabShot_train", "train", "train", "DTTabShot"),
    AnnotationFile(
        "DTScene_val",
        "train",
        "val",
        "DTScene",
        "e9647ca5d70e9999212a9c8399038487e0bd01b7af74cf49e8ba09ad91bb0d93",
    ),
    AnnotationFile(
        "DTTabShot_val",
        "train",
        "val",
        "DTTabShot",
        "6e8f192ea245288a5d140e25d214a904645677ee29b6dcef42ab43ca76efa423",
    ),
)
"""``*_train_val`` files were released undivided: their questions belong to the split ``train``."""

SAMPLE_FILE = AnnotationFile("DT_mini", "test", "mini", None)
"""The embedded sample's annotations (package data, no store needed)."""

CUSTOM_FILE = AnnotationFile("DT_custom", "test", "custom", None)
"""A question set of the user's own, in the folder that ``DTVQA_CUSTOM`` names."""

FILES: tuple[AnnotationFile, ...] = (*TEST_FILES, COMBINED_TEST, *TRAIN_FILES)
BY_NAME: dict[str, AnnotationFile] = {
    file.name: file for file in (*FILES, SAMPLE_FILE, CUSTOM_FILE)
}

RELEASED_SPLITS = ("test", "val", "train")
SPLITS = (*RELEASED_SPLITS, "mini", "custom")


def check_split(split: str, allowed: tuple[str, ...] = SPLITS) -> str:
    """Return ``split``, or raise `DataError` naming the splits there are."""
    if split not in allowed:
        raise DataError(f"no split {split!r}; there are {', '.join(allowed)}")
    return split


def split_files(split: str) -> tuple[AnnotationFile, ...]:
    """The files of one split in reading order, one subset each.

    ``mini`` and ``custom`` have a single file each.
    """
    check_split(split)
    if split == "custom":
        return (CUSTOM_FILE,)
    if split == "mini":
        return (SAMPLE_FILE,)
    return tuple(file for file in (*TEST_FILES, *TRAIN_FILES) if file.split == split)


def split_subsets(split: str) -> tuple[str, ...]:
    """The subsets that have questions in ``split``, in reading order."""
    if split == "mini":
        return tuple(SAMPLE_SUBSETS)
    if split == "custom":
        from dtvqa_plugin.data.splits.custom import (
            custom_subsets,  # which reads files with this module
        )

        return custom_subsets()
    return tuple(dict.fromkeys(file.subset for file in split_files(split) if file.subset))


def check_subsets(split: str, subset: str | Iterable[str] | None) -> tuple[str, ...]:
    """The chosen subsets of ``split`` in reading order; ``None`` means all of them.

    Raises `DataError` for a name that is no subset, or that has no questions in ``split``.
    """
    there = split_subsets(split)
    if subset is None:
        return there
    chosen = [subset] if isinstance(subset, str) else list(subset)
    if not chosen:
        raise DataError(f"no subset chosen; split {split} has {', '.join(there)}")
    for name in chosen:
        if name in there:
            continue
        known = name in SUBSETS or name in SAMPLE_SUBSETS
        what = f"subset {name} has no questions in split {split}" if known else f"no subset {name}"
        raise DataError(f"{what}; split {split} has {', '.join(there)}")
    return tuple(name for name in there if name in chosen)
