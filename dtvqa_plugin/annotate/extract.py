"""``dtvqa annotate extract``: from raw answers to pairs, image by image.

``pairs.jsonl`` and ``unread.jsonl`` are made anew each time. A pair's id comes from image, question
and answers, so that decisions hold through every repetition.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from dtvqa_plugin.annotate.answers import DEFAULT, Labels, Pair, read_answer, read_structured
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.journal import Damage, Entry, Rewritten
from dtvqa_plugin.annotate.project.project import Project, report_damage


@dataclass(slots=True)
class ExtractReport:
    """Counts of one extraction; ``fewer`` answers gave fewer pairs than asked for."""

    answers: int = 0
    pairs: int = 0
    repeated: int = 0
    images: int = 0
    refusals: int = 0
    empty: int = 0
    cut: int = 0
    without_pairs: int = 0
    unread: int = 0
    by_style: dict[str, int] = field(default_factory=dict)


def pair_id(image: str, question: str, answers: tuple[str, ...]) -> str:
    """12 hex digits that name a pair by its content."""
    text = json.dumps([image, question, list(answers)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def extract(project: Project) -> ExtractReport:
    """Read every raw answer. Raises `AnnotateError` when there is none."""
    if not project.raw.exists():
        raise AnnotateError(
            f"{project.raw.path}: no answers yet; 'dtvqa annotate run' asks for them"
        )
    report = ExtractReport()
    more = project.config.labels
    labels = DEFAULT.extended(more.questions, more.answers, more.notes)
    with (
        project.working("extract"),
        Rewritten(project.pairs.path) as pairs,
        Rewritten(project.unread.path) as unread,
    ):
        for answers in _by_image(project):
            report.images += 1
            seen: set[str] = set()
            for entry in answers:
                _read(entry, report, pairs, unread, seen, labels)
    return report


def _by_image(project: Project) -> Iterator[list[Entry]]:
    """The raw answers of each image, whichever rounds they came in.

    Memory: a key and a few offsets for each image.
    """
    offsets: dict[bytes, array[int]] = {}
    damage = Damage(project.raw.path)
    for offset, entry in project.raw.read(damage=damage):
        key = hashlib.blake2b(str(entry["image"]).encode(), digest_size=16).digest()
        offsets.setdefault(key, array("q")).append(offset)
    report_damage(damage)
    for places in offsets.values():
        yield [project.raw.at(place) for place in places]


def _read(
    entry: Entry,
    report: ExtractReport,
    pairs: Rewritten,
    unread: Rewritten,
    seen: set[str],
    labels: Labels,
) -> None:
    text = str(entry["text"])
    structured = entry.get("structured") in ("schema", "tool")
    parsed = read_structured(text, labels) if structured else read_answer(text, labels)
    report.answers += 1
    report.empty += not text.strip()
    refused = parsed.refusal or bool(entry.get("refusal"))
    report.refusals += refused
    cut = entry.get("finish") == "length"
    report.cut += cut
    report.without_pairs += not parsed.pairs and bool(text.strip()) and not refused
    for place, pair in enumerate(parsed.pairs):
        record = _record(entry, pair, cut and place == len(parsed.pairs) - 1)
        if record["pair"] in seen:
            report.repeated += 1
            continue
        seen.add(record["pair"])
        report.pairs += 1
        style = str(record["style"])
        report.by_style[style] = report.by_style.get(style, 0) + 1
        pairs.write(record)
    kept = parsed.unread if not refused else (*parsed.unread, *([text] if text.strip() else []))
    for part in kept:
        report.unread += not refused
        unread.write(
            {
                "image": entry["image"],
                "file": entry.get("file"),
                "round": entry["round"],
                "model": entry["model"],
                "refusal": refused,
                "text": part,
            }
        )


def _record(entry: Entry, pair: Pair, cut: bool) -> Entry:
    return {
        "pair": pair_id(str(entry["image"]), pair.question, pair.answers),
        "image": entry["image"],
        "source": entry.get("source", ""),
        "style": entry.get("style", ""),
        "file": entry.get("file", ""),
        "round": entry["round"],
        "model": entry["model"],
        "prompt": entry["prompt"],
        "question": pair.question,
        "answers": list(pair.answers),
        "cut": cut,
    }


def pairs_by_image(project: Project, damage: Damage | None = None) -> Iterator[list[Entry]]:
    """The pairs of each image in turn. Raises `AnnotateError` when nothing is extracted yet."""
    if not project.pairs.exists():
        raise AnnotateError(
            f"{project.pairs.path}: no pairs yet; 'dtvqa annotate extract' reads them from answers"
        )
    group: list[Entry] = []
    for _, entry in project.pairs.read(damage=damage):
        if group and entry["image"] != group[0]["image"]:
            yield group
            group = []
        group.append(entry)
    if group:
        yield group
