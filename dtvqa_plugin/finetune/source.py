"""Training samples read record by record, so that memory does not grow with the text.

A file is scanned once; of each record its place in the file stays in memory (a few dozen bytes).
Afterwards any record can be read again, in any order.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from dtvqa_plugin.benchmark.annotations import parse_list
from dtvqa_plugin.benchmark.conversations import parse_conversation, record_keys, record_stem
from dtvqa_plugin.benchmark.records import Problem, TrainRecord
from dtvqa_plugin.data.store import read_bytes, read_test
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained
from dtvqa_plugin.utils.json_list import BrokenListError, JsonList

_SHOWN_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """One record: an image and its usable question/answer pairs, in the record's order.

    Attributes:
        key: The record's key in its file; "" where `Source.scan` does not know it yet.
        image: ``SUBSET/SPLIT/FILE``.
        turns: The usable pairs.
    """

    key: str
    image: str
    turns: tuple[TrainRecord, ...]


class Source(Protocol):
    """An annotation file as a series of samples.

    Attributes:
        name: The file's name without suffix.
        sha256: SHA-256 (hex) of the file, once it was scanned.
        total: Records in the file, once it was scanned.
        size: The file's size in bytes.
        position: Bytes scanned.
        counts: Unusable records or turns, by kind.
        shown: The first of their problems.
    """

    name: str
    sha256: str
    total: int
    size: int
    position: int
    counts: Counter[str]
    shown: list[Problem]

    def scan(self) -> Iterator[tuple[int, Sample]]:
        """Every record that has a usable pair, with its number; counts what has none."""
        ...

    def read(self, record: int) -> Sample:
        """A scanned record again."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class TrainSource:
    """A file of the training format. `scan` must run to its end before `read`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.sha256 = ""
        self.total = 0
        self.size = path.stat().st_size
        self.position = 0
        self.counts: Counter[str] = Counter()
        self.shown: list[Problem] = []
        self._offsets = array("Q")
        self._lengths = array("L")
        self._keys: list[str] = []
        self._handle: BinaryIO | None = None

    def scan(self) -> Iterator[tuple[int, Sample]]:
        reader = ListReader(self.path)
        stems: list[str] = []
        for index, (offset, length, item) in enumerate(reader):
            self._offsets.append(offset)
            self._lengths.append(length)
            self.position = offset + length
            stems.append(record_stem(item, index))
            records, problems = parse_conversation(item, "", self.path, index)
            self.counts.update(problem.code for problem in problems)
            self.shown.extend(problems[: _SHOWN_PROBLEMS - len(self.shown)])
            if records:
                yield index, Sample("", records[0].image, tuple(records))
        self.sha256, self.total = reader.sha256, len(stems)
        self._keys = record_keys(stems, self.name)

    def read(self, record: int) -> Sample:
        with explained(self.path, "read"):
            if self._handle is None:
                self._handle = self.path.open("rb")
            self._handle.seek(self._offsets[record])
            content = self._handle.read(self._lengths[record])
        try:
            item: object = json.loads(content)
        except ValueError:
            raise DataError(
                f"{self.path}: changed while it was read; run the export again"
            ) from None
        key = self._keys[record]
        records, _ = parse_conversation(item, key, self.path, record)
        if not records:
            raise DataError(f"{self.path}: changed while it was read; run the export again")
        return Sample(key, records[0].image, tuple(records))

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None


class SampleSource:
    """A small file of the test format (the embedded sample): the first answer is the target."""

    def __init__(self, path: Path, subsets: tuple[str, ...]) -> None:
        reading = read_test(path, subsets=subsets)
        self.name = path.stem
        self.sha256 = reading.sha256
        self.total = reading.total
        self.size = self.position = path.stat().st_size
        self.counts: Counter[str] = Counter(problem.code for problem in reading.problems)
        self.shown = list(reading.problems[:_SHOWN_PROBLEMS])
        by_image: dict[str, list[TrainRecord]] = {}
        for found in reading.records:
            turns = by_image.setdefault(found.image, [])
            turns.append(
                TrainRecord(
                    found.question_id,
                    found.subset,
                    self.name,
                    found.image,
                    found.question,
                    found.answers[0],
                    len(turns) + 1,
                )
            )
        self._samples = [
            Sample(f"{self.name}/{Path(image).stem}", image, tuple(turns))
            for image, turns in by_image.items()
        ]

    def scan(self) -> Iterator[tuple[int, Sample]]:
        yield from enumerate(self._samples)

    def read(self, record: int) -> Sample:
        return self._samples[record]

    def close(self) -> None:
        return None


class ListReader:
    """The elements of a JSON list in a file, one at a time, each with its place in the file.

    Iterating yields ``(offset, length, value)`` in bytes and raises `DataError`, as the readers
    of whole files do, for a file that is no such list. ``sha256`` is set at the end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sha256 = ""

    def __iter__(self) -> Iterator[tuple[int, int, object]]:
        try:
            with self.path.open("rb") as handle:
                digest = hashlib.sha256()

                def read(size: int) -> bytes:
                    content = handle.read(size)
                    digest.update(content)
                    return content

                yield from JsonList(read)
                self.sha256 = digest.hexdigest()
        except (OSError, BrokenListError):
            parse_list(read_bytes(self.path), self.path)
            raise DataError(f"{self.path}: cannot be read as a JSON list") from None
