"""The record of what was asked for the answers beside it. Imports no host.

VLMEvalKit takes answers of an earlier run up by their file's name and the question ids alone. The
record says, for each answered question, the text as sent, the content of the image and the
condition, and for each run the model's class and settings, the host and its version. It is written
before a question is asked, so it holds for the answers of a killed run as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from dtvqa_plugin.predictions.rows import PredictionTable
from dtvqa_plugin.utils.files import written
from dtvqa_plugin.utils.text import counted

FORMAT = 1
_SUFFIX = "_asked.json"
_WAYS_OUT = (
    "Use another --work-dir, or ask again: 'dtvqa vlmeval --ask-again ...' (or DTVQA_ASK_AGAIN=1 "
    "in the environment) moves the earlier files aside first. Nothing is deleted."
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question as sent: its text, the SHA-256 of its image file, its condition."""

    text: str
    image: str
    condition: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run that asked: when, which model with which settings, on which host.

    ``model`` is a description of `model_settings`; ``prompt_enforced`` and ``prompt_note`` are
    those of a summary.
    """

    date: str
    model: Mapping[str, Any]
    host: Mapping[str, str]
    plugin: str
    prompt_enforced: bool
    prompt_note: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The record of one prediction file.

    ``questions`` maps a question id to what was asked and the place in ``runs`` of the run that
    asked it; a None stands for an answer of which nothing is known. ``answers`` is the digest of
    the finished prediction file's content, None while a run is under way.
    """

    dataset: str
    runs: tuple[Run, ...] = ()
    questions: Mapping[str, tuple[Question, int] | None] = field(default_factory=dict)
    answers: str | None = None

    def runs_of(self, names: Iterable[str]) -> list[Run]:
        """The runs that asked these questions, in order."""
        entries = [entry for name in names if (entry := self.questions.get(name)) is not None]
        return [self.runs[place] for place in sorted({place for _, place in entries})]


@dataclass(frozen=True, slots=True)
class Answers:
    """How many answers are of earlier runs; ``dates`` are theirs (UTC, ISO 8601)."""

    total: int
    reused: int
    unknown: int
    dates: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The summary's field ``answers``."""
        return {
            "total": self.total,
            "reused": self.reused,
            "asked": self.total - self.reused,
            "from": self.dates[-1] if self.dates else None,
            "record": "unknown" if self.unknown else "agrees",
        }

    def remarks(self) -> list[str]:
        """Say which answers are of an earlier run, and of how many nothing is known."""
        said = []
        if known := self.reused - self.unknown:
            dates = " and ".join(dict.fromkeys((self.dates[0], self.dates[-1])))
            rest = "nothing was asked again" if self.reused == self.total else "the rest was asked"
            runs = "run" if len(self.dates) == 1 else f"{len(self.dates)} runs"
            said.append(f"{known} of {self.total} answers are from the {runs} of {dates}; {rest}.")
        if self.unknown:
            said.append(
                f"{self.unknown} of {self.total} answers: asked how, unknown (no record of the "
                "model, settings and questions fits this file)."
            )
        return said


def record_path(prediction_file: Path) -> Path:
    """Where the record of a prediction file is."""
    return prediction_file.with_name(f"{prediction_file.stem}{_SUFFIX}")


def read_asked(path: Path) -> Asked | None:
    """Read a record; None if there is none, or none that this version understands."""
    try:
        value = json.loads(path.read_bytes())
        if value["format"] != FORMAT:
            return None
        questions = {
            name: None if entry is None else _question(entry, len(value["runs"]))
            for name, entry in value["questions"].items()
        }
        runs = tuple(Run(**run) for run in value["runs"])
        return Asked(value["dataset"], runs, questions, value["answers"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def _question(entry: Mapping[str, Any], runs: int) -> tuple[Question, int]:
    if not 0 <= entry["run"] < runs:
        raise ValueError("no such run")
    return Question(entry["text"], entry["image"], entry["condition"]), entry["run"]


def write_asked(path: Path, asked: Asked) -> None:
    """Write a record whole or not at all. Raises DTVQAError."""
    content = {
        "format": FORMAT,
        "dataset": asked.dataset,
        "runs": [asdict(run) for run in asked.runs],
        "questions": {
            name: None if entry is None else {**asdict(entry[0]), "run": entry[1]}
            for name, entry in asked.questions.items()
        },
        "answers": asked.answers,
    }
    with written(path, make_folder=True) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def asking(
    before: Asked | None, dataset: str, kept: Iterable[str], asks: Mapping[str, Question], run: Run
) -> Asked:
    """The record of a run that keeps the answers ``kept`` and asks ``asks``.

    Entries of questions that are in neither stay: another run may have limited its questions.
    """
    before = before or Asked(dataset)
    place = len(before.runs)
    questions: dict[str, tuple[Question, int] | None] = dict(before.questions)
    questions.update({name: questions.get(name) for name in kept})
    questions.update({name: (question, place) for name, question in asks.items()})
    return replace(before, runs=(*before.runs, run), questions=questions, answers=None)


def answers_digest(table: PredictionTable) -> str:
    """A digest of a prediction file's ids and predictions, in any format."""
    content = [[row.index, row.prediction] for row in table.rows]
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()


def count_answers(asked: Asked | None, names: Sequence[str], kept: Iterable[str]) -> Answers:
    """Count the answers of earlier runs among a dataset's questions."""
    reused = set(kept) & set(names)
    known = [name for name in reused if asked and asked.questions.get(name) is not None]
    dates = tuple(run.date for run in asked.runs_of(known)) if asked else ()
    return Answers(len(names), len(reused), len(reused) - len(known), dates)


def differences(
    asked: Asked, kept: Iterable[str], now: Mapping[str, Question], run: Run | None = None
) -> list[str]:
    """What differs between how kept answers were asked and how they would be asked now.

    Args:
        asked: The record beside the answers.
        kept: Ids of the answers that would be kept.
        now: What each question is now.
        run: How it would be asked now; None compares the questions alone.

    Returns:
        One line for each setting and each kind of change; empty if all agree.
    """
    pairs = [
        (name, entry[0], now[name])
        for name in kept
        if name in now and (entry := asked.questions.get(name)) is not None
    ]
    lines: list[str] = []
    if run is not None:
        for old in asked.runs_of(name for name, _, _ in pairs):
            lines += _run_differences(old, run)
    lines += _question_differences(pairs)
    return list(dict.fromkeys(lines))


def _run_differences(old: Run, new: Run) -> Iterator[str]:
    for key in ("class", "settings", "weights", "environment"):
        yield from _changes("" if key == "settings" else key, old.model.get(key), new.model[key])
    yield from _changes("host", dict(old.host), dict(new.host))


def _changes(name: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from _changes(f"{name} {key}".strip(), old.get(key), new.get(key))
    elif old != new:
        yield f"{name}: {_shown(old)} -> {_shown(new)}"


def _shown(value: Any) -> str:
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:100]}..."


def _question_differences(pairs: Sequence[tuple[str, Question, Question]]) -> Iterator[str]:
    kinds: tuple[tuple[Literal["text", "image", "condition"], str], ...] = (
        ("text", "another text"),
        ("image", "another image"),
        ("condition", "another condition"),
    )
    for key, what in kinds:
        changed = [
            (name, getattr(old, key), getattr(new, key))
            for name, old, new in pairs
            if getattr(old, key) != getattr(new, key)
        ]
        if changed:
            name, before, after = changed[0]
            shown = "" if key == "image" else f": {_shown(before)} -> {_shown(after)}"
            count = counted(len(changed), "question has", "questions have")
            yield f"{count} {what}, first {name}{shown}"


def refusal(path: Path, dates: Sequence[str], lines: Sequence[str], model: str) -> str:
    """The message that refuses answers which were asked otherwise."""
    asked = f" (run of {', '.join(dates)})" if dates else ""
    listed = "".join(f"\n  {line}" for line in lines)
    return (
        f"{path}: these answers{asked} were asked otherwise than {model!r} would be asked now:"
        f"{listed}\n{_WAYS_OUT}"
    )
