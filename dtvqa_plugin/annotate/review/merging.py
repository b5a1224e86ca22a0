"""``dtvqa annotate merge``: join the decisions that reviewers made on several machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.inventory import ImageIndex
from dtvqa_plugin.annotate.project.journal import Damage, Entry, Journal
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import MERGED, UNDO, Decisions, digest_of
from dtvqa_plugin.utils.text import now


@dataclass(slots=True)
class MergeReport:
    """Counts of a merge.

    ``unknown_images``: decisions taken over on images that this project does not have (export
    lists them). ``conflicts``: pairs on which decisions of one reviewer differ; they are disputed.
    """

    added: int = 0
    known: int = 0
    damaged: int = 0
    unknown_images: int = 0
    disputed: int = 0
    variants: int = 0
    conflicts: list[str] = field(default_factory=list)


def merge(project: Project, others: Sequence[Path]) -> MergeReport:
    """Append every record of the others that is not here yet; all are read before any is written.

    The result does not depend on the order of merging, and merging again changes nothing.

    Args:
        project: The project that takes the records.
        others: Projects, or their ``decisions.jsonl``.

    Returns:
        Counts, and the conflicts that show now.

    Raises:
        AnnotateError: A source has no decisions, is about other images, or holds another record
            under an id that is here.
    """
    report = MergeReport()
    images = ImageIndex(project)
    with project.working("merge"):
        mine = Decisions(project)
        mine.refresh()
        new: dict[str, Entry] = {}
        for path in others:
            journal = _journal(project, path)
            records = list(_records(journal, report))
            _check_images(journal, records, images)
            for entry in records:
                _take(journal, entry, mine, new, report)
        report.added = len(new)
        report.unknown_images = sum(
            "image" in entry and not _known(images, entry) for entry in new.values()
        )
        if new:
            project.decisions.extend([_marker(others, len(new)), *new.values()])
            mine.refresh()
    for pair in mine.pairs():
        outcome = mine.outcome(pair)
        report.disputed += outcome == "disputed"
        report.variants += outcome == "variants"
        report.conflicts += [_conflict(mine, pair, who) for who in mine.twice(pair)]
    return report


def _journal(project: Project, path: Path) -> Journal:
    place = path.expanduser().absolute()
    place = place / "decisions.jsonl" if place.is_dir() else place
    if not place.is_file():
        raise AnnotateError(
            f"{place}: no decisions there; name a project folder or its decisions.jsonl"
        )
    return Journal(place, project.decisions.needs)


def _records(journal: Journal, report: MergeReport) -> Iterator[Entry]:
    """The records of one source; each decision names what it replaces there."""
    theirs = Decisions(journal)
    theirs.refresh()
    damage = Damage(journal.path)
    for _, entry in journal.read(damage=damage):
        if entry["action"] == UNDO:
            yield entry
        elif entry["action"] != MERGED:
            yield {**entry, "replaces": list(theirs.replaced_by(entry))}
    report.damaged += damage.count


def _check_images(journal: Journal, records: Sequence[Entry], images: ImageIndex) -> None:
    decided = [entry for entry in records if "image" in entry]
    if decided and not any(_known(images, entry) for entry in decided):
        raise AnnotateError(
            f"{journal.path}: decisions about other images than those of this project; nothing "
            "was taken over"
        )


def _known(images: ImageIndex, entry: Entry) -> bool:
    try:
        return images.entry(str(entry["image"])) is not None
    except ValueError:  # no hash
        return False


def _take(
    journal: Journal, entry: Entry, mine: Decisions, new: dict[str, Entry], report: MergeReport
) -> None:
    record = str(entry["id"])
    there = digest_of(new[record]) if record in new else mine.digest(record)
    if there is None:
        new[record] = entry
    elif there == digest_of(entry):
        report.known += 1
    else:
        raise AnnotateError(
            f"{journal.path}: decision {record} says something else than the decision with that "
            "id here; one of them was edited by hand. Nothing was taken over"
        )


def _marker(others: Sequence[Path], count: int) -> Entry:
    return {
        "id": MERGED,
        "pair": "",
        "reviewer": "",
        "at": now(),
        "action": MERGED,
        "records": count,
        "from": [path.name for path in others],
    }


def _conflict(decisions: Decisions, pair: str, reviewer: str) -> str:
    said = " | ".join(
        f"{held.verdict} at {held.at}: {held.question} -> {', '.join(held.answers)}"
        for held in decisions.heads(pair, reviewer)
    )
    return f"pair {pair}, {reviewer} decided apart: {said}"
