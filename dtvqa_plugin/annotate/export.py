"""``dtvqa annotate export``: accepted pairs as a benchmark that both hosts run.

The released annotation format and layout, plus ``custom.json`` (the set's title and hash),
``statistics.json`` and ``DATA_CARD.md``. The same answers and decisions give the same
bytes, whenever they are exported: the card and ``custom.json`` hold the time of the last decision,
not that of the export.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.annotate.card import data_card
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.inventory import ImageFile, ImageIndex
from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions
from dtvqa_plugin.annotate.status import Overview, overview
from dtvqa_plugin.annotate.text.scripts import count_words, weighted_script
from dtvqa_plugin.data.splits import CUSTOM_FILE, INFO_FILE
from dtvqa_plugin.utils.files import file_sha256, whole_folder

SCHEMA = 1


@dataclass(slots=True)
class ExportReport:
    """What was written; ``missing`` images and pairs of any outcome but accepted were left out."""

    folder: Path
    name: str
    sha256: str = ""
    questions: dict[str, int] = field(default_factory=dict)
    images: int = 0
    disputed: int = 0
    variants: int = 0
    unsure: int = 0
    rejected: int = 0
    missing: list[str] = field(default_factory=list)
    short: dict[str, int] = field(default_factory=dict)


def subset_name(project: Project, style: str) -> str:
    """The subset's title, made of the set's name and the style's."""
    return f"{project.config.name}-{style}"


def export(project: Project, folder: Path, adjudicator: str | None = None) -> ExportReport:
    """Write the set to ``folder``, which is new or an earlier export (then replaced as a whole).

    Pairs whose reviewers disagree are left out, unless ``adjudicator`` decided on them; so are
    those whose variants nobody has joined. Raises
    `AnnotateError` when nothing is accepted, and when the folder holds something else.
    """
    target = folder.expanduser().absolute()
    _check_target(target)
    report = ExportReport(target, project.config.name)
    with project.working("export"):
        decisions = Decisions(project)
        decisions.refresh()
        if adjudicator is not None and adjudicator not in decisions.reviewers:
            raise AnnotateError(
                f"no reviewer {adjudicator!r}; there are {', '.join(decisions.reviewers) or 'none'}"
            )
        chosen = _accepted(decisions, report, adjudicator)
        if not chosen:
            raise AnnotateError(
                f"{project.root}: no pair is accepted yet ({report.rejected} rejected, "
                f"{report.disputed} disputed, {report.variants} with variants to join, "
                f"{report.unsure} unsure); decide on pairs with 'dtvqa annotate review'"
            )
        for left in target.parent.glob(f".{target.name}.*.partial"):  # by an export that was killed
            shutil.rmtree(left, ignore_errors=True)
        with _explained(target), whole_folder(target, replace=True) as partial:
            _write(project, partial, chosen, report, overview(project, adjudicator), adjudicator)
    return report


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AnnotateError(
            f"{error.filename or target}: the export cannot be written ({error.strerror}); what "
            "was there before is unchanged"
        ) from error


def _check_target(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir() or (any(target.iterdir()) and not (target / INFO_FILE).is_file()):
        raise AnnotateError(f"{target}: holds other files than an export; choose a new folder")


def _accepted(decisions: Decisions, report: ExportReport, adjudicator: str | None) -> list[Entry]:
    chosen = []
    for pair in decisions.pairs():
        outcome = decisions.outcome(pair, adjudicator)
        report.disputed += outcome == "disputed"
        report.variants += outcome == "variants"
        report.unsure += outcome == "unsure"
        report.rejected += outcome == "rejected"
        final = decisions.final(pair, adjudicator)
        if final is not None:
            chosen.append(final)
    return chosen


def _write(
    project: Project,
    folder: Path,
    chosen: Sequence[Entry],
    report: ExportReport,
    counts: Overview,
    adjudicator: str | None,
) -> None:
    placed = _place_images(project, folder, chosen, report)
    records = _records(project, chosen, placed)
    if not records:
        raise AnnotateError(f"the images of the accepted pairs are missing: {report.missing[0]}")
    content = json.dumps(records, ensure_ascii=False, indent=2).encode() + b"\n"
    report.sha256 = hashlib.sha256(content).hexdigest()
    report.questions = dict(Counter(record["dataset_name"] for record in records))
    report.images = len(placed)
    for source in project.config.sources:
        name, target = subset_name(project, source.style), project.config.review.target
        if report.questions.get(name, 0) < target:
            report.short[name] = target - report.questions.get(name, 0)
    (folder / CUSTOM_FILE.path).parent.mkdir(parents=True, exist_ok=True)
    (folder / CUSTOM_FILE.path).write_bytes(content)
    numbers = describe(records, counts)
    _json(folder / "statistics.json", numbers)
    info = {
        "schema": SCHEMA,
        "name": project.config.name,
        "description": project.config.description,
        "sha256": report.sha256,
        "subsets": report.questions,
        "decided": counts.last_decision,
        "dtvqa_plugin": __version__,
    }
    card = data_card(project, info, numbers, counts, adjudicator)
    (folder / "DATA_CARD.md").write_text(card, encoding="utf-8")
    _json(folder / INFO_FILE, info)


def _place_images(
    project: Project, folder: Path, chosen: Sequence[Entry], report: ExportReport
) -> dict[tuple[str, str], str]:
    """Copy each image that is needed; returns its path in the layout by (subset, SHA-256)."""
    index = ImageIndex(project)
    placed: dict[tuple[str, str], str] = {}
    for entry in chosen:
        sha256, subset = str(entry["image"]), subset_name(project, str(entry["style"]))
        if (subset, sha256) in placed:
            continue
        try:
            image = index.find(sha256)
        except AnnotateError as error:
            report.missing.append(str(error))
            continue
        if file_sha256(image.path) != sha256:
            report.missing.append(
                f"image {sha256[:12]}: {image.path} has changed since the model saw it"
            )
            continue
        path = f"{subset}/test/{_file_name(image)}"
        (folder / "image" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image.path, folder / "image" / path)
        placed[subset, sha256] = path
    return placed


def _file_name(image: ImageFile) -> str:
    """The image's own name made safe, with the start of its hash: the set's hash covers it."""
    path = Path(image.file)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem).strip("-")[:60] or "image"
    return f"{stem}-{image.sha256[:12]}{path.suffix.lower()}"


def _records(
    project: Project, chosen: Sequence[Entry], placed: dict[tuple[str, str], str]
) -> list[Entry]:
    """Records in the released form; subsets in the config's order, then by image and question."""
    order = {source.style: place for place, source in enumerate(project.config.sources)}
    types = {source.name: source.type for source in project.config.sources}
    records = []
    for entry in sorted(
        chosen, key=lambda e: (order.get(e["style"], 99), e["style"], e["image"], e["pair"])
    ):
        subset = subset_name(project, str(entry["style"]))
        path = placed.get((subset, str(entry["image"])))
        if path is not None:
            records.append(
                {
                    "dataset_name": subset,
                    "id": entry["pair"],
                    "image_path": f"./image/{path}",
                    "question": entry["question"],
                    "answers": entry["answers"],
                    "type": types.get(str(entry["source"]), "custom"),
                }
            )
    return records


def describe(records: Sequence[Entry], counts: Overview) -> dict[str, Any]:
    """Statistics of a set: sizes and lengths by subset, and what every stage left."""
    subsets = {}
    for name in dict.fromkeys(record["dataset_name"] for record in records):
        part = [record for record in records if record["dataset_name"] == name]
        scripts = Counter(weighted_script(record["question"]) or "none" for record in part)
        subsets[name] = {
            "questions": len(part),
            "images": len({record["image_path"] for record in part}),
            "question_words": _spread([count_words(record["question"]) for record in part]),
            "answer_words": _spread([count_words(record["answers"][0]) for record in part]),
            "answers_per_question": _spread([len(record["answers"]) for record in part]),
            "scripts": dict(scripts.most_common()),
        }
    return {"questions": len(records), "subsets": subsets, "stages": counts.as_json()}


def _spread(values: Sequence[int]) -> dict[str, float]:
    return {
        "mean": round(statistics.fmean(values), 2),
        "median": statistics.median(values),
        "max": max(values),
    }


def _json(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
