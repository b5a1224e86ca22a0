"""What was released: the annotation files, the split each belongs to, and their known SHA-256.

The data are the Hugging Face *model* repository ``shuozhang2/DT-VQA``: ``test/``, ``train/`` and
``image.zip``. A hash is given for every file whose released bytes were available when this was
written; ``None`` means "not seen", never "any content will do".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REPO_ID = "shuozhang2/DT-VQA"
REPO_TYPE = "model"
ARCHIVE_NAME = "image.zip"

MAX_ANNOTATION_BYTES = 256 * 1024 * 1024
"""Most bytes an annotation file may hold, wherever it comes from."""

Kind = Literal["test", "train"]


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """One annotation file.

    Attributes:
        name: File name without its suffix.
        kind: Its format and its folder (``test`` or the multi-turn ``train``).
        split: The split that its questions belong to.
        subsets: The subsets that it may hold; ``None`` means any.
        sha256: SHA-256 of the released bytes; ``None`` where they were not seen.
        joined: The file that holds this one's records too, and does where this one is absent.
    """

    name: str
    kind: Kind
    split: str
    subsets: tuple[str, ...] | None
    sha256: str | None = None
    joined: AnnotationFile | None = None

    @property
    def path(self) -> str:
        """Path inside the published layout, e.g. ``"train/DTScene_val.json"``."""
        return f"{self.kind}/{self.name}.json"

    @property
    def subset(self) -> str | None:
        """The one subset that it holds; ``None`` where it holds several."""
        return self.subsets[0] if self.subsets is not None and len(self.subsets) == 1 else None

    @property
    def candidates(self) -> tuple[AnnotationFile, ...]:
        """The files that its records can be read from, best first."""
        return (self,) if self.joined is None else (self, self.joined)


COMBINED_TEST = AnnotationFile(
    "DT_test",
    "test",
    "test",
    ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot"),
    "fbf87f72e56280f7fa6534388d3e8abfac8e6d290455223ed165788b00d1a15d",
)
"""The four test files joined, in their order; enough on its own."""

# The order of the test subsets is that of the released DT_test.json.
TEST_FILES: tuple[AnnotationFile, ...] = (
    AnnotationFile(
        "DTNutrCap",
        "test",
        "test",
        ("DTNutrCap",),
        "d2352d1ffdec5156d28eb6b339854e0792840b6ff75e9c15f08d5c6528cd1f58",
        COMBINED_TEST,
    ),
    AnnotationFile(
        "DTProdCap",
        "test",
        "test",
        ("DTProdCap",),
        "349b4a1623f521a242c1d6505f74a5488355fc2054f3bb5a1fdfed47e922dd85",
        COMBINED_TEST,
    ),
    AnnotationFile(
        "DTScene",
        "test",
        "test",
        ("DTScene",),
        "d2a213593e73c95f3348099a9a82f4ed08125ec7faf33055926ec3eb10d145fe",
        COMBINED_TEST,
    ),
    AnnotationFile(
        "DTTabShot",
        "test",
        "test",
        ("DTTabShot",),
        "52a8a83b41ea39e839bf5fd33acd2bf012b837626f070908f8064b348e6a509b",
        COMBINED_TEST,
    ),
)

TRAIN_FILES: tuple[AnnotationFile, ...] = (
    AnnotationFile(
        "DTNutrCap_train_val",
        "train",
        "train",
        ("DTNutrCap",),
        "bf64c4960ba0bae5fc4f74a514f1c98b4c941eda23b6c84fd45bc21079cfb665",
    ),
    AnnotationFile(
        "DTProdCap_train_val",
        "train",
        "train",
        ("DTProdCap",),
        "9845d1ad5d9071fdb75fc8f07d6897d8964f645fcfd25e291d56e176f8444ac0",
    ),
    AnnotationFile("DTScene_train", "train", "train", ("DTScene",)),
    AnnotationFile("DTScene_train_gpt-4v", "train", "train", ("DTScene",)),
    AnnotationFile("DTTabShot_train", "train", "train", ("DTTabShot",)),
    AnnotationFile(
        "DTScene_val",
        "train",
        "val",
        ("DTScene",),
        "e9647ca5d70e9999212a9c8399038487e0bd01b7af74cf49e8ba09ad91bb0d93",
    ),
    AnnotationFile(
        "DTTabShot_val",
        "train",
        "val",
        ("DTTabShot",),
        "6e8f192ea245288a5d140e25d214a904645677ee29b6dcef42ab43ca76efa423",
    ),
)
"""``*_train_val`` files were released undivided: their questions belong to the split ``train``."""

FILES: tuple[AnnotationFile, ...] = (*TEST_FILES, COMBINED_TEST, *TRAIN_FILES)
BY_NAME: dict[str, AnnotationFile] = {file.name: file for file in FILES}

RELEASED_SPLITS = ("test", "val", "train")
