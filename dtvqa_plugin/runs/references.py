"""The questions that predictions are scored against, found by question id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark.inputs import INPUTS
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data import Record, data_signature, records
from dtvqa_plugin.data.splits import SPLITS, Split, get_split
from dtvqa_plugin.data.splits.custom import CUSTOM_SPLIT
from dtvqa_plugin.data.splits.sample import SAMPLE_SPLIT
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.predictions.prompts import asked_by, one_line
from dtvqa_plugin.predictions.question import Asked

PART_ORDER = (*SUBSETS, *SAMPLE_SUBSETS)
"""The order in which the paper lists the subsets, and so do all tables here."""

_CONDITION_WORDS = frozenset(
    ("prompted", "native", *(word for name in INPUTS for word in name.split("_")))
)


def part_place(name: str) -> int:
    """A subset's place among all, for sorting; those of a custom set keep their order."""
    return PART_ORDER.index(name) if name in PART_ORDER else len(PART_ORDER)


@dataclass(frozen=True, slots=True)
class AnnotationStamp:
    """Which annotations were read: digest of questions and answers, repository revision if known.

    Of a custom set, the revision is its name and the start of its hash.

    ``files`` maps each annotation file to its SHA-256; ``altered`` names those whose bytes differ
    from the known released ones.
    """

    sha256: str
    revision: str | None
    files: Mapping[str, str]
    altered: tuple[str, ...]

    @property
    def short(self) -> str:
        """The first 16 hex digits, marked if a file is not the released one."""
        return self.sha256[:16] + ("-altered" if self.altered else "")


_ASKED_SPLITS = (SAMPLE_SPLIT, CUSTOM_SPLIT, "test")
"""Where a question is looked for by its picture: the splits that are evaluated."""


def _file_name(image: str) -> str:
    return image.replace("\\", "/").rpartition("/")[2]


def _is_known_by(record: Record, asked: Asked) -> bool:
    if asked.answers:
        return set(asked.answers) <= set(record.answers)
    return record.question_id.rpartition("/")[2] == asked.number


def asks(record: Record, text: str) -> bool:
    """Whether a text holds a record's question, however its lines are broken."""
    return one_line(record.question) in one_line(text)


class References:
    """Records by question id, each split read when one of its ids first turns up.

    ``home`` is a data store or any folder in the published layout (default: the user's store);
    images are not needed. The embedded sample is always there.
    """

    def __init__(self, home: str | Path | None = None) -> None:
        self.home = home
        self._splits: dict[str, dict[str, Record]] = {}
        self.lacking: DataError | None = None
        self._once: dict[str, frozenset[str]] = {}
        self._images: dict[str, dict[str, list[tuple[str, Record]]]] = {}
        self._split_names: dict[str, str] = {}
        self._found: dict[str, tuple[str, Record]] = {}
        self._stamps: dict[tuple[str, tuple[str, ...]], AnnotationStamp] = {}

    @cached_property
    def _known(self) -> tuple[Split, ...]:
        return tuple(get_split(name) for name in SPLITS)

    def split_of(self, question_id: str) -> str | None:
        """The split that an id of this form belongs to.

        Args:
            question_id: Such as ``DTScene/12``.

        Returns:
            The split's name, also for a question that does not exist; None for another form.
        """
        first = question_id.partition("/")[0]
        if first not in self._split_names:
            found = (split.name for split in self._known if first in split.id_prefixes)
            name = next(found, None)
            if name is None:
                return None
            self._split_names[first] = name
        return self._split_names[first]

    def split(self, name: str) -> Mapping[str, Record]:
        """All records of a split.

        Args:
            name: The split.

        Returns:
            Records by question id.

        Raises:
            DataError: Its annotations are missing.
        """
        if name not in self._splits:
            self._splits[name] = {r.question_id: r for r in records(name, home=self.home)}
        return self._splits[name]

    def find(self, question_id: str) -> tuple[str, Record] | None:
        """The split and the record of a question.

        Args:
            question_id: Such as ``DTScene/12``.

        Returns:
            Both, or None for an id that is not in the benchmark.
        """
        if question_id not in self._found:
            split = self.split_of(question_id)
            record = None if split is None else self.split(split).get(question_id)
            if split is None or record is None:
                return None
            self._found[question_id] = (split, record)
        return self._found[question_id]

    def find_asked(self, asked: Asked) -> tuple[str, Record] | None:
        """The split and the record of a question told by its picture's name and its text.

        Where no picture is named, the reference answers, or else the id without its set's name,
        tell the question together with its text.

        Args:
            asked: Names of the pictures, the text that the model was asked, prompt included, and
                reference answers or an id.

        Returns:
            Both, or None where no question or more than one fits. The sample, a custom set and
            the test split are looked through, in this order. ``lacking`` says whose annotations
            are missing.
        """
        text = asked.text
        names = {_file_name(image) for image in asked.images}
        for split in _ASKED_SPLITS:
            by_image = self._by_image(split)
            fitting = [
                (question, record)
                for name in names or by_image
                for question, record in by_image.get(name, ())
                if (names or _is_known_by(record, asked)) and question in text
            ]
            if fitting:
                one = asked_by(asked.turns, asked.fields, {question for question, _ in fitting})
                found = [record for question, record in fitting if question == one]
                return (split, found[0]) if len(found) == 1 else None
        return None

    def _by_image(self, split: str) -> Mapping[str, list[tuple[str, Record]]]:
        """The questions of a split in one line, with their records, by the picture's file name.

        None without a custom set.
        """
        if split not in self._images:
            found: dict[str, list[tuple[str, Record]]] = {}
            if any(known.name == split and known.id_prefixes for known in self._known):
                try:
                    questions = self.split(split).values()
                except DataError as error:
                    self.lacking = self.lacking or error
                    questions = {}.values()
                for record in questions:
                    asked_as = (one_line(record.question), record)
                    found.setdefault(_file_name(record.image), []).append(asked_as)
            self._images[split] = found
        return self._images[split]

    def asks_another(self, split: str, record: Record, texts: Sequence[object]) -> bool:
        """Whether texts ask another question than the one that is named beside them.

        Args:
            split: The record's split.
            record: The question that is named.
            texts: What may be its text or a prompt with it; what is no text says nothing.

        Returns:
            True if none holds its text, and one holds that of another question of its picture or
            is that of one question of another picture.
        """
        said = [text for text in texts if isinstance(text, str)]
        if any(record.question in text for text in said):
            return False
        lines = [one_line(text) for text in said]
        if any(one_line(record.question) in line for line in lines):
            return False
        beside = self._by_image(split).get(_file_name(record.image), ())
        texts_once = self._asked_once(split)
        return any(
            line in texts_once or any(question in line for question, _ in beside) for line in lines
        )

    def shows_another(self, split: str, record: Record, images: Sequence[str]) -> bool:
        """Whether pictures are those of other questions than the one that is named beside them.

        Args:
            split: The record's split.
            record: The question that is named.
            images: Names of the pictures. A file's name alone tells nothing: hosts number copies.

        Returns:
            True if none is the question's, and the path of one ends as another question's does.
        """
        if not images or any(_file_name(name) == _file_name(record.image) for name in images):
            return False
        return any(
            f"/{name}".replace("\\", "/").endswith(f"/{other.image}")
            for name in images
            for _, other in self._by_image(split).get(_file_name(name), ())
            if "/" in other.image
        )

    def _asked_once(self, split: str) -> frozenset[str]:
        """The texts that only one question of a split has."""
        if split not in self._once:
            texts = Counter(one_line(record.question) for record in self.split(split).values())
            self._once[split] = frozenset(text for text, count in texts.items() if count == 1)
        return self._once[split]

    def named_subsets(self, dataset: str, split: str) -> tuple[str, ...]:
        """The subsets that a host's dataset or task name includes, if it names this split.

        ``DTVQA`` and ``x_DTVQA.tsv`` include all four, ``dtvqa_scene_prompted`` DTScene,
        ``DTVQA_MINI`` the whole sample.

        Args:
            dataset: The dataset's or task's name.
            split: The split.

        Returns:
            Subset names; empty for a name of another form or split.
        """
        first, *words = dataset.lower().split("_")
        words = [word for word in words if word not in _CONDITION_WORDS]
        named = words.pop(0) if words and words[0] in SPLITS else "test"
        if first != "dtvqa" or named != split or len(words) > 1:
            return ()
        there = tuple(dict.fromkeys(record.subset for record in self.split(split).values()))
        if not words:
            return there
        known = {**SUBSETS, **SAMPLE_SUBSETS}
        return tuple(
            name
            for name in there
            if words[0] == name.lower() or (name in known and words[0] == known[name].task)
        )

    def of_subsets(self, split: str, subsets: Sequence[str]) -> list[Record]:
        """The records of some subsets.

        Args:
            split: The split.
            subsets: Names of subsets.

        Returns:
            Records, in the paper's order of subsets.
        """
        places = {name: part_place(name) for name in subsets}
        chosen = [record for record in self.split(split).values() if record.subset in places]
        return sorted(chosen, key=lambda record: places[record.subset])

    def stamp(self, split: str, subsets: Sequence[str]) -> AnnotationStamp:
        """Hash, revision and files of the annotations of some subsets.

        Args:
            split: The split.
            subsets: Names of subsets.

        Returns:
            The values that the signature states; read once.
        """
        key = (split, tuple(subsets))
        if key not in self._stamps:
            self._stamps[key] = self._stamp(split, subsets)
        return self._stamps[key]

    def _stamp(self, split: str, subsets: Sequence[str]) -> AnnotationStamp:
        signature: dict[str, Any] = data_signature(split, list(subsets), home=self.home)
        files: dict[str, dict[str, Any]] = signature["files"]
        return AnnotationStamp(
            sha256=signature["records_sha256"],
            revision=get_split(split).revision(signature),
            files={path: entry["sha256"] for path, entry in files.items()},
            altered=tuple(path for path, entry in files.items() if entry["released"] is False),
        )
