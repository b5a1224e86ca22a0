"""`dtvqa data leakage`: anybody's training set against the test images and the test questions."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, process

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.data import records as test_records
from dtvqa_plugin.data.archives import MAX_IMAGE_BYTES
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.export import MANIFEST
from dtvqa_plugin.finetune.leakage import BenchmarkImages, ImageMatch, fingerprints
from dtvqa_plugin.finetune.source import ListReader
from dtvqa_plugin.utils.progress import Progress

SIMILAR = 95.0
"""Least `rapidfuzz.fuzz.ratio` (0 to 100) of two questions that are called similar."""

COPIED_SHARE = 0.5
"""Share of a subset's questions, found with their answers, above which the subset was copied.

Short questions have short answers: the four released training files at hand, which name no test
image, have 78 of DTProdCap's 300 test questions with an answer to them, and fewer of the others.
"""

IMAGE_SUFFIXES = frozenset(
    [".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".jp2", ".avif"]
)
_RECORD_SUFFIXES = (".json", ".jsonl")
_BATCH = 512
_FILES = 64


@dataclass(frozen=True, slots=True)
class QuestionMatch:
    """A training question that is (nearly) a test question.

    ``similarity`` is 0 to 100, 100 for equal text once case, blanks, punctuation and prompts are
    taken away. ``same_answer``: the training answer is one of the test answers, case aside.
    """

    where: str
    question: str
    test_question_id: str
    similarity: float
    same_answer: bool


@dataclass(slots=True)
class Audit:
    """What was looked at and what was found.

    ``compared`` counts the images whose pictures were compared, ``named`` those of which only
    the name was known. ``answered`` counts, by subset, the test questions that stand here with
    one of their answers, ``test_questions`` all there are.
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
        """Subsets of which more than `COPIED_SHARE` of the questions stand here with an answer."""
        return [
            subset
            for subset, count in self.answered.items()
            if count > COPIED_SHARE * self.test_questions[subset]
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        plain = {
            name: getattr(self, name)
            for name in self.__slots__
            if name not in ("images", "questions")
        }
        rows = {
            name: [{key: getattr(row, key) for key in row.__slots__} for row in found]
            for name, found in (("images", self.images), ("questions", self.questions))
        }
        return {**plain, **rows}


def audit(
    path: str | Path,
    *,
    image_root: str | Path | None = None,
    home: str | Path | None = None,
    names_only: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Compare a training set with the test set.

    ``path`` is a folder (every image in it, and every ``.json`` list and ``.jsonl`` of records)
    or one such file. Records may have any of the forms that `export` writes, the released forms,
    or question/answer fields. Image paths in them are looked for at ``image_root``, in the
    file's folder and the one above, and as they stand; data URIs are decoded; of what is not
    found the name is compared.

    Raises `DataError` for a path that is not there or a file that cannot be read, and as
    `BenchmarkImages.from_store` does.
    """
    root = Path(path).expanduser()
    if not root.exists():
        raise DataError(f"{root}: no such file or folder")
    tests = BenchmarkImages.from_store(home, names_only=names_only)
    found = Audit(str(path), test_images=len(tests.names), test_images_compared=len(tests.hashed))
    looker = _Images(tests, found)
    questions = _Questions(found, home)
    files = sorted(_walk(root)) if root.is_dir() else [root]
    for number, file in enumerate(files, start=1):
        if file.suffix.lower() in IMAGE_SUFFIXES:
            looker.add_file(file)
        elif file.suffix.lower() in _RECORD_SUFFIXES or file == root:
            roots = [Path(image_root)] if image_root is not None else []
            _read_records(
                file, [*roots, file.parent, file.parent.parent, Path()], looker, questions, found
            )
        if progress is not None and (number % _FILES == 0 or number == len(files)):
            progress(number, len(files))
    looker.flush()
    questions.flush()
    return found


def _walk(root: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(top) / name for name in names if not name.startswith("."))


# --- records of any form ---------------------------------------------------------------------


def _read_records(
    file: Path, roots: list[Path], looker: _Images, questions: _Questions, found: Audit
) -> None:
    if file.name in (MANIFEST, "dataset_info.json"):
        return
    for number, record in _records(file, found):
        if not isinstance(record, Mapping):
            found.skipped.append(f"{file}: record {number} is no object")
            continue
        found.records += 1
        where = f"{file.name}, record {number}"
        for image in dict.fromkeys(_images(record)):
            looker.add(image, roots, where)
        for question, answer in _pairs(record):
            questions.add(where, question, answer)


def _records(file: Path, found: Audit) -> Iterator[tuple[int, object]]:
    with file.open("rb") as handle:
        start = handle.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        yield from ((number, item) for number, (_, _, item) in enumerate(ListReader(file)))
        return
    with file.open(encoding="utf-8-sig", errors="strict") as lines:
        number = -1
        try:
            for number, line in enumerate(lines):
                if line.strip():
                    yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            if file.suffix.lower() == ".json" and number <= 0:
                found.skipped.append(f"{file}: neither a JSON list nor JSON Lines")
                return
            raise DataError(f"{file}: line {number + 1}: not JSON: {error}") from None


_IMAGE_KEYS = ("image", "images", "image_path", "image_url", "path", "url", "base64")
_INLINE = re.compile(r"<img>(.*?)</img>", re.DOTALL)


def _images(record: Mapping[str, Any]) -> Iterator[str]:
    for key in _IMAGE_KEYS:
        yield from _image_values(record.get(key))
    name = record.get("id")
    if isinstance(name, str) and Path(name).suffix.lower() in IMAGE_SUFFIXES:
        yield name
    for turn in _turns(record):
        content = _content(turn)
        if isinstance(content, str):
            yield from _INLINE.findall(content)
            continue
        for part in content if isinstance(content, list) else ():
            if isinstance(part, Mapping) and "image" in str(part.get("type")):
                for key in _IMAGE_KEYS:
                    yield from _image_values(part.get(key))


def _image_values(value: object) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _image_values(item)
    elif isinstance(value, Mapping):
        for key in ("path", "url", "image", "base64"):
            yield from _image_values(value.get(key))


def _turns(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for key in ("messages", "conversations", "conversation"):
        turns = record.get(key)
        if isinstance(turns, list):
            return [turn for turn in turns if isinstance(turn, Mapping)]
    return []


def _content(turn: Mapping[str, Any]) -> object:
    return turn.get("content", turn.get("value"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _pairs(record: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    asked: str | None = None
    for turn in _turns(record):
        role = turn.get("role", turn.get("from"))
        text = _text(_content(turn))
        if role in ("user", "human"):
            if asked is not None:
                yield asked, ()
            asked = text
        elif role in ("assistant", "gpt", "bot") and asked is not None:
            yield asked, (text,)
            asked = None
    if asked is not None:
        yield asked, ()
    for key in ("question", "query", "instruction", "prompt"):
        question = record.get(key)
        if isinstance(question, str) and question.strip():
            yield question, tuple(_answers(record))
            return


def _answers(record: Mapping[str, Any]) -> Iterator[str]:
    for key in ("answers", "answer", "response", "output", "completion"):
        value = record.get(key)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item


# --- images ----------------------------------------------------------------------------------


class _Images:
    """Compares images in batches; each name is counted as often as it is given."""

    def __init__(self, tests: BenchmarkImages, found: Audit) -> None:
        self._tests = tests
        self._found = found
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
        for name, bits in fingerprints(batch) if batch else ():
            if isinstance(bits, DataError):
                self._found.unreadable.append(str(bits))
                continue
            self._found.compared += 1
            match = self._tests.by_print(name, bits)
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


# --- questions -------------------------------------------------------------------------------

_TAGS = re.compile(r"<img>.*?</img>|<image>|Picture \d+:", re.DOTALL)
_CUE = re.compile(r"\s*Answer:\s*\Z")


def normalised(question: str) -> str:
    """The question without prompt, image tag, case, punctuation and needless blanks."""
    text = _CUE.sub("", _TAGS.sub(" ", question)).strip()
    text = text.removeprefix(PAPER_INSTRUCTION.strip())
    text = unicodedata.normalize("NFKC", text).casefold()
    kept = (c if c.isalnum() else " " for c in text)
    return " ".join("".join(kept).split())


class _Questions:
    def __init__(self, found: Audit, home: str | Path | None) -> None:
        self._found = found
        records = test_records("test", home=home)
        self._ids: dict[str, list[str]] = {}
        self._answers: dict[str, set[str]] = {}
        self._answered: set[str] = set()
        self._subset = {record.question_id: record.subset for record in records}
        found.test_questions.update(Counter(self._subset.values()))
        found.answered.update(dict.fromkeys(found.test_questions, 0))
        for record in records:
            key = normalised(record.question)
            self._ids.setdefault(key, []).append(record.question_id)
            answers = self._answers.setdefault(record.question_id, set())
            answers.update(answer.strip().casefold() for answer in record.answers)
        self._known = list(self._ids)
        self._batch: list[tuple[str, str, tuple[str, ...], str]] = []

    def add(self, where: str, question: str, answers: Iterable[str]) -> None:
        self._found.pairs += 1
        key = normalised(question)
        if not key:
            return
        if key in self._ids:
            self._report(where, question, tuple(answers), key, 100.0)
            return
        self._batch.append((where, question, tuple(answers), key))
        if len(self._batch) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Compare what is waiting."""
        batch, self._batch = self._batch, []
        if not batch or not self._known:
            return
        keys = [key for *_, key in batch]
        ratios = process.cdist(keys, self._known, scorer=fuzz.ratio, score_cutoff=SIMILAR)
        best = ratios.argmax(axis=1).tolist()
        for row, (column, (where, question, answers, _)) in enumerate(
            zip(best, batch, strict=True)
        ):
            similarity = float(ratios[row, column])
            if similarity:
                self._report(where, question, answers, self._known[column], similarity)

    def _report(
        self, where: str, question: str, answers: tuple[str, ...], key: str, similarity: float
    ) -> None:
        given = {answer.strip().casefold() for answer in answers}
        ids = self._ids[key]
        same = next((i for i in ids if given & self._answers[i]), None)
        for name in ids:
            if given & self._answers[name] and name not in self._answered:
                self._answered.add(name)
                self._found.answered[self._subset[name]] += 1
        self._found.questions.append(
            QuestionMatch(where, question, same or ids[0], round(similarity, 1), same is not None)
        )
