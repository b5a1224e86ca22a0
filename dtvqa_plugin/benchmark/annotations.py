"""Readers for the two released annotation formats; what cannot be used is reported.

Test format: a list of ``{dataset_name, id, image_path, question, answers, type}``.
Training format: a list of ``{id, conversations}`` (see `benchmark.conversations`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from dtvqa_plugin.benchmark._checks import (
    FaultError,
    checked_text,
    image_of,
    kind_of,
    mapping,
    shown,
    text_field,
)
from dtvqa_plugin.benchmark.conversations import parse_conversation, record_keys, record_stem
from dtvqa_plugin.benchmark.records import Problem, Reading, Record, TrainRecord, raise_problems
from dtvqa_plugin.benchmark.release import REPO_ID, AnnotationFile
from dtvqa_plugin.errors import DataError


def parse_test(
    content: bytes,
    path: Path,
    *,
    strict: bool = False,
    subsets: Collection[str] | None = None,
) -> Reading[Record]:
    """Read the content of a file in the test format.

    Args:
        content: The file's bytes.
        path: What names them in messages.
        strict: Whether an unusable record is an error.
        subsets: Which ``dataset_name`` values are known; others become problems.

    Raises:
        DataError: It is no such list, or under ``strict`` a record is unusable (the first is
            named, and they are counted).
    """
    items = parse_list(content, path)
    records: list[Record] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        try:
            record = _test_record(item, subsets)
            if record.question_id in seen:
                raise FaultError("duplicate", f"{record.question_id} occurs twice in the file")
        except FaultError as fault:
            problems.append(fault.problem(path, index, _test_name(item)))
            continue
        seen.add(record.question_id)
        records.append(record)
    if strict:
        raise_problems(path, problems)
    sha = hashlib.sha256(content).hexdigest()
    return Reading(path, sha, len(items), tuple(records), tuple(problems))


def parse_train(content: bytes, path: Path, *, strict: bool = False) -> Reading[TrainRecord]:
    """Read the content of a file in the multi-turn training format.

    There is one `TrainRecord` a user/assistant pair. A faulty turn costs that turn, a faulty
    record all of it. ``path`` names the file in messages, and its stem gives the keys. Raises as
    `parse_test` does.
    """
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


def parse_file(file: AnnotationFile, content: bytes, path: Path) -> Reading[Any]:
    """Read the content of one of the known files, by its kind. Raises as `parse_test` does."""
    if file.kind == "train":
        return parse_train(content, path)
    return parse_test(content, path, subsets=file.subsets)


# --- the file as a whole -------------------------------------------------------------------------

_GIT_LFS = b"version https://git-lfs"


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
            f"{path}: line 1: expected a list of records, found {kind_of(parsed)}; {again}"
        )
    return parsed


# --- one record of the test format ---------------------------------------------------------------


def _test_name(item: object) -> str | None:
    if not isinstance(item, dict):
        return None
    subset, number = item.get("dataset_name"), item.get("id")
    if isinstance(subset, str) and isinstance(number, (str, int)):
        return shown(f"{subset}/{number}")[1:-1]
    return None


def _test_record(item: object, subsets: Collection[str] | None) -> Record:
    fields = mapping(item)
    subset = text_field(fields, "dataset_name")
    if subsets is not None and subset not in subsets:
        raise FaultError(
            "unknown-subset", f"dataset_name {shown(subset)} is not a subset of DT-VQA"
        )
    number = _record_id(fields)
    image = image_of(text_field(fields, "image_path"))
    question = text_field(fields, "question")
    answers = _answers(fields)
    source = text_field(fields, "type")
    return Record(f"{subset}/{number}", subset, image, question, answers, source)


def _record_id(fields: dict[str, object]) -> str:
    number = fields.get("id")
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)
    return text_field(fields, "id")


def _answers(fields: dict[str, object]) -> tuple[str, ...]:
    if "answers" not in fields:
        raise FaultError("missing-field", "has no 'answers'")
    answers = fields["answers"]
    if not isinstance(answers, list):
        raise FaultError("answers-not-a-list", f"'answers' is {kind_of(answers)}, not a list")
    if not answers:
        raise FaultError("no-answers", "'answers' is an empty list")
    return tuple(checked_text(answer, "answer") for answer in answers)
