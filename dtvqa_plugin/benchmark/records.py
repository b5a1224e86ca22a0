"""What an annotation file yields: questions, and the records that cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dtvqa_plugin.errors import DataError


@dataclass(frozen=True, slots=True)
class Record:
    """One question with its reference answers, as every split presents it.

    ``question_id`` is ``"DTTabShot/5037"`` for test records and the training key (see
    `TrainRecord`) otherwise. ``image`` is ``SUBSET/SPLIT/FILE`` relative to the image folder.
    ``source`` is the record's released ``type``, or the training file's name. Text is verbatim.
    """

    question_id: str
    subset: str
    image: str
    question: str
    answers: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class TrainRecord:
    """One user/assistant pair of a training conversation.

    ``question_id`` is ``"FILE/IMAGE#TURN"``, e.g. ``"DTScene_val/002a72617c3b1335#3"``: the
    annotation file, the image's stem and the pair's place in its record (from 1). When an
    image (or another of the same stem) comes again in one file, the stem gets ``~2``, ``~3``
    in file order. Faulty turns keep their number, so a repaired file keeps every other key.
    """

    question_id: str
    subset: str
    source: str
    image: str
    question: str
    answer: str
    turn: int

    def as_record(self) -> Record:
        """The same question in the form that all splits share.

        Returns:
            A record with one answer.
        """
        return Record(
            question_id=self.question_id,
            subset=self.subset,
            image=self.image,
            question=self.question,
            answers=(self.answer,),
            source=self.source,
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A record (or one turn of it) that cannot be used.

    ``code`` is a short stable name to count by, ``reason`` the sentence for people. ``index`` is
    the record's place in the file (from 0), ``record`` its id where it has a readable one.
    """

    file: str
    index: int
    record: str | None
    code: str
    reason: str
    turn: int | None = None

    def __str__(self) -> str:
        name = "" if self.record is None else f" ({self.record})"
        turn = "" if self.turn is None else f", turn {self.turn}"
        return f"{self.file}: record {self.index}{name}{turn}: {self.reason}"


R = TypeVar("R", Record, TrainRecord)


@dataclass(frozen=True, slots=True)
class Reading(Generic[R]):
    """Everything one annotation file yielded: ``total`` is its number of top-level records."""

    path: Path
    sha256: str
    total: int
    records: tuple[R, ...]
    problems: tuple[Problem, ...]

    def counts(self) -> dict[str, int]:
        """Number of problems by code, most frequent first.

        Returns:
            Counts by problem code.
        """
        return dict(Counter(problem.code for problem in self.problems).most_common())


def raise_problems(path: Path, problems: Collection[Problem]) -> None:
    """Raise `DataError` naming the first problem and their number, if there is any."""
    if problems:
        first = next(iter(problems))
        raise DataError(
            f"{path}: {len(problems)} unusable; the first is record {first.index}"
            f"{'' if first.record is None else f' ({first.record})'}"
            f"{'' if first.turn is None else f', turn {first.turn}'}: {first.reason}. "
            "Without --strict (strict=True) such records are left out and counted."
        )
