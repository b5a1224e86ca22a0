"""`dtvqa data leakage`: anybody's training set against the test images and the test questions."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin.data import records as test_records
from dtvqa_plugin.data.archives import MAX_IMAGE_BYTES
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.foreign_records import (
    IMAGE_SUFFIXES,
    images_of,
    pairs_of,
    read_records,
)
from dtvqa_plugin.finetune.image_match import MIN_LIKENESS, BenchmarkImages, ImageMatch
from dtvqa_plugin.finetune.options import MANIFEST
from dtvqa_plugin.finetune.question_match import BenchmarkQuestions, QuestionMatch
from dtvqa_plugin.utils.progress import Progress

COPIED_SHARE = 0.5
"""Share of a subset's questions, found with their answers, above which the subset was copied.

Short questions have short answers: the four available released training files, which name no test
image, have 78 of DTProdCap's 300 test questions with an answer to them, and fewer of the others.
"""

_RECORD_SUFFIXES = (".json", ".jsonl")
_BATCH = 512
_FILES = 64


@dataclass(slots=True)
class Leakage:
    """What was looked at and what was found.

    Attributes:
        path: The training set.
        records: Records read.
        pairs: Questions read.
        compared: Images whose pictures were compared.
        named: Images of which only the name was compared.
        unreadable: A message for each image that cannot be decoded.
        skipped: A message for each record or file that was passed over.
        test_images: Test images compared by name.
        test_images_compared: Test images compared by picture.
        images: Images that are test images by name or look like one.
        questions: Questions that are (nearly) test questions.
        answered: Test questions found with one of their answers, by subset.
        test_questions: Test questions there are, by subset.
    """

    path: str
    records: int = 0
    pairs: int = 0
    compared: int = 0
    named: int = 0
    unreadable: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    test_images: int = 0
    test_images_compared: int = 0
    images: list[ImageMatch] = field(default_factory=list)
    questions: list[QuestionMatch] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    test_questions: dict[str, int] = field(default_factory=dict)

    @property
    def copied(self) -> list[str]:
        """Subsets of which more than `COPIED_SHARE` of the questions were found with an answer."""
        return [
            subset
            for subset, count in self.answered.items()
            if count > COPIED_SHARE * self.test_questions[subset]
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def find_leakage(
    path: str | Path,
    *,
    image_root: str | Path | None = None,
    home: str | Path | None = None,
    names_only: bool = False,
    min_likeness: float = MIN_LIKENESS,
    progress: Progress | None = None,
) -> Leakage:
    """Compare a training set with the test set.

    Image paths in records are looked for at ``image_root``, in the file's folder and the one
    above, and as they are; data URIs are decoded; of what is not found the name is compared.

    Args:
        path: A folder (every image in it, and every ``.json`` list and ``.jsonl`` of records), or
            one such file. For the forms of records see `foreign_records`.
        image_root: Folder that image paths begin at.
        home: The store with the test set (default: ``DTVQA_HOME``).
        names_only: Whether names alone are compared, not pictures.
        min_likeness: Least likeness (0-1) of a picture that is reported.
        progress: Called with the number of files read.

    Raises:
        DataError: The path is not there, a file cannot be read, or the test set is not in the
            store (see `BenchmarkImages.from_store`).
    """
    root = Path(path).expanduser()
    if not root.exists():
        raise DataError(f"{root}: no such file or folder")
    tests = BenchmarkImages.from_store(home, names_only=names_only)
    found = Leakage(str(path), test_images=len(tests.names), test_images_compared=len(tests.hashed))
    images = _Images(tests, found, min_likeness)
    questions = _Questions(BenchmarkQuestions(test_records("test", home=home)), found)
    roots = [Path(image_root)] if image_root is not None else []
    files = sorted(_walk(root)) if root.is_dir() else [root]
    for number, file in enumerate(files, start=1):
        if file.suffix.lower() in IMAGE_SUFFIXES:
            images.add_file(file)
        elif file.suffix.lower() in _RECORD_SUFFIXES or file == root:
            parents = [file.parent, file.parent.parent, Path()]
            _read_records(file, [*roots, *parents], images, questions, found)
        if progress is not None and (number % _FILES == 0 or number == len(files)):
            progress(number, len(files))
    images.flush()
    questions.flush()
    return found


def _walk(root: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(top) / name for name in names if not name.startswith("."))


def _read_records(
    file: Path, roots: list[Path], images: _Images, questions: _Questions, found: Leakage
) -> None:
    if file.name in (MANIFEST, "dataset_info.json"):
        return
    for number, record in read_records(file, found.skipped.append):
        found.records += 1
        where = f"{file.name}, record {number}"
        for image in dict.fromkeys(images_of(record)):
            images.add(image, roots, where)
        for question, answers in pairs_of(record):
            questions.add(where, question, answers)


class _Questions:
    """Compares questions in batches."""

    def __init__(self, tests: BenchmarkQuestions, found: Leakage) -> None:
        self._tests = tests
        self._found = found
        self._batch: list[tuple[str, str, tuple[str, ...]]] = []
        self._answered: set[str] = set()
        found.test_questions.update(tests.by_subset)
        found.answered.update(dict.fromkeys(tests.by_subset, 0))

    def add(self, where: str, question: str, answers: tuple[str, ...]) -> None:
        self._found.pairs += 1
        self._batch.append((where, question, answers))
        if len(self._batch) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Compare what is waiting."""
        batch, self._batch = self._batch, []
        for match, answered in self._tests.find(batch):
            self._found.questions.append(match)
            for question_id in answered - self._answered:
                self._answered.add(question_id)
                self._found.answered[self._tests.subset[question_id]] += 1


class _Images:
    """Compares images in batches; each name is counted as often as it is given."""

    def __init__(self, tests: BenchmarkImages, found: Leakage, bar: float) -> None:
        self._tests = tests
        self._found = found
        self._bar = bar
        self._batch: list[tuple[str, Path | bytes]] = []
        self._done: set[int] = set()

    def add_file(self, file: Path) -> None:
        self._queue(str(file), file)

    def add(self, image: str, roots: list[Path], where: str) -> None:
        if image.startswith("data:") or (len(image) > 4096 and "/" not in image[:8]):
            content = _decoded(image)
            if content is None:
                self._found.unreadable.append(f"{where}: an embedded image that is not base64")
            elif self._new(hashlib.sha256(content).hexdigest()):
                self._queue(f"{where}, embedded image", content)
            return
        file = None if "://" in image else _located(image, roots)
        if file is not None:
            self._queue(str(file), file)
            return
        if self._new(image):
            self._found.named += 1
            self._by_name(image)

    def _queue(self, name: str, image: Path | bytes) -> None:
        if isinstance(image, Path):
            if not self._new(str(image.absolute())):
                return
            if self._by_name(name):
                self._found.named += 1
                return
        if not self._tests.hashed:
            self._found.named += 1
            return
        self._batch.append((name, image))
        if len(self._batch) >= _FILES:
            self.flush()

    def _new(self, name: str) -> bool:
        key = hash(name)
        if key in self._done:
            return False
        self._done.add(key)
        return True

    def _by_name(self, name: str) -> bool:
        match = self._tests.by_name(name.partition("?")[0])
        if match is not None:
            self._found.images.append(ImageMatch(name, match.test_image, match.how))
        return match is not None

    def flush(self) -> None:
        """Compare what is waiting."""
        batch, self._batch = self._batch, []
        for _, match in self._tests.by_picture(batch, min_likeness=self._bar) if batch else ():
            if isinstance(match, DataError):
                self._found.unreadable.append(str(match))
                continue
            self._found.compared += 1
            if match is not None:
                self._found.images.append(match)


def _decoded(image: str) -> bytes | None:
    text = image.partition(",")[2] if image.startswith("data:") else image
    if len(text) > MAX_IMAGE_BYTES * 4 // 3:
        return None
    try:
        return base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return None


def _located(image: str, roots: list[Path]) -> Path | None:
    name = image.removeprefix("file://")
    for root in roots:
        try:
            if (root / name).is_file():
                return root / name
        except (OSError, ValueError):  # too long for a path, a NUL: no file
            continue
    return None
