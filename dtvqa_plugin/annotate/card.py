"""The data card: what a set is made of, in Markdown, from the project's own records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.status import Overview


def data_card(
    project: Project,
    info: dict[str, Any],
    numbers: dict[str, Any],
    counts: Overview,
    adjudicator: str | None,
) -> str:
    """The text of ``DATA_CARD.md``."""
    parts = [
        f"# {_plain(info['name'])}",
        _plain(info["description"])
        or "A dense-text visual question answering set made with `dtvqa annotate`.",
        "This is not DT-VQA, and its scores do not compare with those of DT-VQA.",
        f"SHA-256 of the annotations: `{info['sha256']}`. "
        f"Last decision: {info['decided']}. Exported by "
        f"dtvqa-plugin {info['dtvqa_plugin']}.",
        "## Questions",
        _table(
            ("subset", "questions", "images", "words a question", "words an answer", "answers"),
            (
                (
                    name,
                    part["questions"],
                    part["images"],
                    part["question_words"]["mean"],
                    part["answer_words"]["mean"],
                    part["answers_per_question"]["mean"],
                )
                for name, part in numbers["subsets"].items()
            ),
        ),
        "## Sources",
        _table(
            ("source", "style", "type", "recognised text"),
            (
                (source.name, source.style, source.type, _text_origin(source.ocr))
                for source in project.config.sources
            ),
        ),
        "The licence of the images is not recorded: add it before you share this set.",
        "## Models",
        _table(("round and model", "answers"), counts.models.most_common()),
        f"Asked from {counts.first_answer} to {counts.last_answer}.",
        "## From images to questions",
        _table(("stage", "count"), _stages(counts)),
        *_flags(counts),
        "## Reviewers",
        *_reviewers(counts, adjudicator),
        "## Instructions",
        *_prompts(project),
    ]
    return "\n\n".join(parts) + "\n"


def _stages(counts: Overview) -> list[tuple[str, object]]:
    return [
        ("usable images", counts.images),
        ("unreadable images", counts.images_unreadable),
        ("answers of models", counts.answers.total()),
        ("questions to models that failed", counts.failures),
        ("refusals", counts.refusals),
        ("stretches of answers that could not be read", counts.unread),
        ("pairs extracted", counts.pairs.total()),
        ("proposed variants", counts.proposals),
        ("decisions, undone ones included", counts.decisions),
        ("accepted pairs", counts.accepted.total()),
        ("rejected pairs", counts.rejected.total()),
        ("disputed pairs (left out)", counts.disputed.total()),
        ("pairs with variants that nobody joined (left out)", counts.variants.total()),
        ("pairs that reviewers are unsure of (left out)", counts.unsure.total()),
    ]


def _flags(counts: Overview) -> list[str]:
    if not counts.flags:
        return []
    return ["Flags of the extracted pairs:", _table(("flag", "pairs"), counts.flags.most_common())]


def _reviewers(counts: Overview, adjudicator: str | None) -> list[str]:
    if not counts.agreement:
        return ["No pair was reviewed by two people, so there is no agreement figure."]
    table = _table(
        ("reviewers", "pairs both decided", "same verdict", "Cohen's kappa"),
        (
            (
                f"{part['first']} and {part['second']}",
                part["both"],
                part["same_verdict"],
                "undefined" if part["kappa"] is None else f"{part['kappa']:.2f}",
            )
            for part in counts.agreement
        ),
    )
    settled = f"Disputes were settled by {_plain(adjudicator)}." if adjudicator else ""
    return [table, settled] if settled else [table]


def _prompts(project: Project) -> list[str]:
    parts = []
    for _, entry in project.prompts.read():
        text = entry["text"] + (f"\n\n{entry['with_ocr']}" if entry.get("with_ocr") else "")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        parts.append(
            f"{_plain(entry.get('style', ''))}, `{entry['prompt']}`:\n\n{fence}\n{text}\n{fence}"
        )
    return parts or ["None recorded."]


def _text_origin(ocr: Any) -> str:
    origin = {"none": "none", "rapidocr": "RapidOCR", "file": f"file ({ocr.format})"}[ocr.origin]
    return origin if ocr.origin == "none" or ocr.in_prompt else f"{origin}, not shown to models"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [_row(head), _row(["---"] * len(head))]
    return "\n".join([*lines, *(_row([_plain(cell) for cell in row]) for row in rows)])


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _plain(value: object) -> str:
    """Text on one line that Markdown takes for text."""
    text = " ".join(str(value).split())
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
