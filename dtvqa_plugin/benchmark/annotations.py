"""Typed readers for the two released annotation formats; what cannot be used is reported.

Test format: a list of ``{dataset_name, id, image_path, question, answers, type}``.
Training format: a list of ``{id, conversations}``, where ``id`` is the image path and
``conversations`` alternates user and assistant turns in the Monkey format: the first user turn
begins ``<img>PATH</img> `` and every user turn ends `` Answer: ``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dtvqa_plugin.benchmark.image_paths import UnsafePathError, image_key
from dtvqa_plugin.benchmark.release import BY_NAME, REPO_ID
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
        """The same question in the form shared by all splits."""
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
        """Number of problems by code, most frequent first."""
        return dict(Counter(problem.code for problem in self.problems).most_common())


def read_test(
    path: str | Path, *, strict: bool = False, subsets: Collection[str] | None = None
) -> Reading[Record]:
    """Read a file in the test format.

    ``subsets`` limits which ``dataset_name`` values are known; others become problems. Raises
    `DataError` when the file is missing or not such a list, and under ``strict`` when any record
    is unusable (naming the first and the count).
    """
    path = Path(path)
    return parse_test(read_bytes(path), path, strict=strict, subsets=subsets)


def parse_test(
    content: bytes,
    path: Path,
    *,
    strict: bool = False,
    subsets: Collection[str] | None = None,
) -> Reading[Record]:
    """`read_test` on bytes at hand; ``path`` only names them in messages."""
    items = parse_list(content, path)
    records: list[Record] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        try:
            record = _test_record(item, subsets)
            if record.question_id in seen:
                raise _FaultError("duplicate", f"{record.question_id} stands in the file twice")
        except _FaultError as fault:
            problems.append(fault.problem(path, index, _test_name(item)))
            continue
        seen.add(record.question_id)
        records.append(record)
    if strict:
        raise_problems(path, problems)
    sha = hashlib.sha256(content).hexdigest()
    return Reading(path, sha, len(items), tuple(records), tuple(problems))


def read_train(path: str | Path, *, strict: bool = False) -> Reading[TrainRecord]:
    """Read a file in the multi-turn training format: one `TrainRecord` a user/assistant pair.

    A faulty turn costs that turn, a faulty record all of it. Raises as `read_test` does.
    """
    path = Path(path)
    return parse_train(read_bytes(path), path, strict=strict)


def parse_train(content: bytes, path: Path, *, strict: bool = False) -> Reading[TrainRecord]:
    """`read_train` on bytes at hand; ``path`` names them, and its stem gives the keys."""
    items = parse_list(content, path)
    records: list[TrainRecord] = []
    problems: list[Problem] = []
    keys = record_keys([record_stem(item, index) for index, item in enumerate(items)], path.stem)
    for index, (item, key) in enumerate(zip(items, keys, strict=True)):
        usable, faulty = parse_conversation(item, key, path, index)
        records.extend(usable)
        problems.extend(faulty)
    if strict:
        raise_problems(path, problems)
    sha = hashlib.sha256(content).hexdigest()
    return Reading(path, sha, len(items), tuple(records), tuple(problems))


def parse_conversation(
    item: object, key: str, path: Path, index: int
) -> tuple[list[TrainRecord], list[Problem]]:
    """The usable pairs of one training record and what is wrong with the rest of it.

    ``key`` begins the pairs' keys (see `record_keys`); ``path`` and ``index`` name the record.
    """
    records: list[TrainRecord] = []
    problems: list[Problem] = []
    name = _train_name(item)
    try:
        image, conversations = _train_parts(item, path.stem)
    except _FaultError as fault:
        return records, [fault.problem(path, index, name)]
    for turn, pair in enumerate(_pairs(conversations), start=1):
        try:
            question, answer = _exchange(pair, image, turn)
        except _FaultError as fault:
            problems.append(fault.problem(path, index, name, turn))
            continue
        subset = image.split("/")[0]
        records.append(
            TrainRecord(f"{key}#{turn}", subset, path.stem, image, question, answer, turn)
        )
    return records, problems


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


# --- the file as a whole -------------------------------------------------------------------------

_GIT_LFS = b"version https://git-lfs"


def read_bytes(path: Path) -> bytes:
    """The file's bytes; a missing, unreadable or non-regular file is one `DataError`."""
    try:
        if path.is_dir():
            raise DataError(f"{path}: a folder stands where an annotation file is expected")
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such annotation file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def parse_list(content: bytes, path: Path) -> list[object]:
    """Parse annotation bytes into their top-level list, or raise `DataError` saying what it is."""
    again = f"get the file again from {REPO_ID} on the Hugging Face hub"
    start = content[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start:
        raise DataError(f"{path}: line 1: the file is empty; {again}")
    if start.startswith(_GIT_LFS):
        raise DataError(
            f"{path}: line 1: this is a git-LFS pointer, not the data; run 'git lfs pull' there"
        )
    if start.startswith(b"<"):
        raise DataError(
            f"{path}: line 1: this is a web page (HTML), not JSON; download the raw file ({again})"
        )
    try:
        parsed: object = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}: line {line}: not UTF-8 text; {again}") from None
    except json.JSONDecodeError as error:
        cut = " (the file looks cut off)" if error.pos >= len(error.doc.rstrip()) - 1 else ""
        raise DataError(
            f"{path}: line {error.lineno}: not valid JSON: {error.msg}{cut}; {again}"
        ) from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"{path}: line 1: not annotation JSON: {error}; {again}") from None
    if not isinstance(parsed, list):
        raise DataError(
            f"{path}: line 1: expected a list of records, found {_kind(parsed)}; {again}"
        )
    return parsed


# --- one record ----------------------------------------------------------------------------------


class _FaultError(Exception):
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason

    def problem(self, path: Path, index: int, name: str | None, turn: int | None = None) -> Problem:
        return Problem(path.name, index, name, self.code, self.reason, turn)


_KINDS = {
    type(None): "null",
    bool: "true/false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _mapping(item: object) -> dict[str, object]:
    if not isinstance(item, dict):
        raise _FaultError("not-an-object", f"expected an object, found {_kind(item)}")
    return item


def _text(item: dict[str, object], field: str) -> str:
    if field not in item:
        raise _FaultError("missing-field", f"has no {field!r}")
    return _checked_text(item[field], field)


def _checked_text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise _FaultError("not-a-string", f"{what!r} is {_kind(value)}, not a string")
    if not value.strip():
        raise _FaultError(f"blank-{what}", f"{what!r} is blank")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _FaultError("bad-unicode", f"{what!r} holds half a surrogate pair") from None
    return value


def _image(value: str) -> str:
    try:
        return image_key(value)
    except UnsafePathError as error:
        raise _FaultError("unsafe-path", f"image path {_shown(value)} {error}") from None


def _test_name(item: object) -> str | None:
    if not isinstance(item, dict):
        return None
    subset, number = item.get("dataset_name"), item.get("id")
    if isinstance(subset, str) and isinstance(number, (str, int)):
        return _shown(f"{subset}/{number}")[1:-1]
    return None


def _test_record(item: object, subsets: Collection[str] | None) -> Record:
    fields = _mapping(item)
    subset = _text(fields, "dataset_name")
    if subsets is not None and subset not in subsets:
        raise _FaultError("unknown-subset", f"dataset_name {_shown(subset)} is no subset here")
    number = _record_id(fields)
    image = _image(_text(fields, "image_path"))
    question = _text(fields, "question")
    answers = _answers(fields)
    source = _text(fields, "type")
    return Record(f"{subset}/{number}", subset, image, question, answers, source)


def _record_id(fields: dict[str, object]) -> str:
    number = fields.get("id")
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)
    return _text(fields, "id")


def _answers(fields: dict[str, object]) -> tuple[str, ...]:
    if "answers" not in fields:
        raise _FaultError("missing-field", "has no 'answers'")
    answers = fields["answers"]
    if not isinstance(answers, list):
        raise _FaultError("answers-not-a-list", f"'answers' is {_kind(answers)}, not a list")
    if not answers:
        raise _FaultError("no-answers", "'answers' is an empty list")
    return tuple(_checked_text(answer, "answer") for answer in answers)


# --- training conversations ----------------------------------------------------------------------

_IMAGE_TAG = re.compile(r"^<img>(.*?)</img> ?", re.DOTALL)
_ANSWER_CUE = re.compile(r"\s*Answer:\s*\Z")


def _train_name(item: object) -> str | None:
    name = item.get("id") if isinstance(item, dict) else None
    return _shown(name)[1:-1] if isinstance(name, str) else None


def _train_parts(item: object, stem: str) -> tuple[str, list[object]]:
    fields = _mapping(item)
    image = _image(_text(fields, "id"))
    known = BY_NAME.get(stem)
    if known is not None and known.subset not in (None, image.split("/")[0]):
        raise _FaultError(
            "wrong-subset", f"image {_shown(image)} does not belong to subset {known.subset}"
        )
    if "conversations" not in fields:
        raise _FaultError("missing-field", "has no 'conversations'")
    conversations = fields["conversations"]
    if conversations is None:
        raise _FaultError("null-conversations", "'conversations' is null")
    if not isinstance(conversations, list):
        raise _FaultError(
            "conversations-not-a-list",
            f"'conversations' is {_kind(conversations)}, not a list",
        )
    if not conversations:
        raise _FaultError("empty-conversations", "'conversations' is an empty list")
    return image, conversations


def record_stem(item: object, index: int) -> str:
    """What names a training record in its file: its image's stem, else its place."""
    name = item.get("id") if isinstance(item, dict) else None
    try:
        return Path(image_key(name)).stem if isinstance(name, str) else f"@{index}"
    except UnsafePathError:
        return f"@{index}"


def record_keys(stems: list[str], file: str) -> list[str]:
    """One key a record, ``FILE/IMAGE-STEM``, with ``~2`` and so on where a stem comes again."""
    taken = set(stems)
    counts: Counter[str] = Counter()
    keys: list[str] = []
    for name in stems:
        counts[name] += 1
        key = name
        if counts[name] > 1:
            while (key := f"{name}~{counts[name]}") in taken:
                counts[name] += 1
        keys.append(f"{file}/{key}")
    return keys


def _pairs(conversations: list[object]) -> Iterator[tuple[object, ...]]:
    """Group turns: a user turn with the assistant turn right behind it; strays stand alone."""
    place = 0
    while place < len(conversations):
        turn = conversations[place]
        follows = conversations[place + 1] if place + 1 < len(conversations) else None
        if _role(turn) == "user" and _role(follows) == "assistant":
            yield turn, follows
            place += 2
        else:
            yield (turn,)
            place += 1


def _role(turn: object) -> object:
    return turn.get("from") if isinstance(turn, dict) else None


def _exchange(pair: tuple[object, ...], image: str, turn: int) -> tuple[str, str]:
    if len(pair) != 2:
        role = _role(pair[0])
        if role == "user":
            raise _FaultError("unanswered", "a user turn with no assistant turn after it")
        if role == "assistant":
            raise _FaultError("unasked", "an assistant turn with no user turn before it")
        raise _FaultError("unknown-role", f"a turn from {_shown(role)}, not user or assistant")
    user, assistant = (_mapping(part) for part in pair)
    question = _question(_said(user, "question"), image, first=turn == 1)
    return question, _said(assistant, "answer")


def _said(turn: dict[str, object], what: str) -> str:
    if "value" not in turn:
        raise _FaultError("missing-field", f"the {what} turn has no 'value'")
    return _checked_text(turn["value"], what)


def _question(value: str, image: str, *, first: bool) -> str:
    tag = _IMAGE_TAG.match(value) if first else None
    if tag is not None:
        if _image(tag.group(1)) != image:
            raise _FaultError(
                "image-mismatch",
                f"the turn shows {_shown(tag.group(1))}, the record's id is another image",
            )
        value = value[tag.end() :]
    return _checked_text(_ANSWER_CUE.sub("", value).strip(), "question")
