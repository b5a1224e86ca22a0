"""A ranking as cells and as JSON values; figures times 100."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dtvqa_plugin.analysis.audits import audit
from dtvqa_plugin.analysis.ranking import Place, Ranking
from dtvqa_plugin.analysis.tables import FEW_IMAGES, VERBOSE_MARK
from dtvqa_plugin.metrics.names import HEADINGS
from dtvqa_plugin.report.rendering import bounds, escape_markdown, markdown_table, p_text, signed
from dtvqa_plugin.utils.text import counted

PLACE_HEADER = ("Run", "Prompt", "Rank", "Rank interval", "Figure", "Group")
_WARNED_SHOWN = 3
PAIR_HEADER = ("Run", "Against", "Difference", "p", "p (Holm)")


def place_cells(ranking: Ranking) -> list[list[str]]:
    """A row a run, the best first."""
    return [
        [
            place.run.name + VERBOSE_MARK * audit(place.run).verbosity.warn,
            place.run.condition,
            str(place.rank),
            f"{place.first} to {place.last}",
            f"{place.figure.value * 100:.1f} {bounds(place.figure.scaled(100.0))}",
            place.groups,
        ]
        for place in ranking.places
    ]


def pair_cells(ranking: Ranking) -> list[list[str]]:
    """A row a pair: the run placed first, which is not better where the difference is 0."""
    return [
        [
            ranking.places[pair.better].run.name,
            ranking.places[pair.worse].run.name,
            signed(pair.difference.scaled(100.0)),
            p_text(pair.p_value),
            p_text(pair.p_holm),
        ]
        for pair in ranking.pairs
    ]


def ranking_notes(ranking: Ranking) -> list[str]:
    """How the figures were made."""
    level = f"{ranking.level:.0%}"
    notes = [
        f"{HEADINGS[ranking.metric]} times 100 over {ranking.questions:,} questions on "
        f"{ranking.images:,} images, {ranking.resamples:,} bootstrap resamples of images shared by "
        f"all runs (seed {ranking.seed}). Rank intervals hold for all runs together at {level}.",
        "Runs that share a letter in Group cannot be told apart (paired sign-flip test, "
        f"{_corrected(len(ranking.pairs))}, level {1 - ranking.level:.2g}). Rank intervals and "
        "groups are two methods; near the limit one can tell runs apart that the other does not.",
    ]
    if ranking.images < FEW_IMAGES:
        notes.append(f"Fewer than {FEW_IMAGES} images: intervals are rough.")
    return notes + _warned(ranking.places)


def _warned(places: Sequence[Place]) -> list[str]:
    """What the audits warn of, for the first runs in which something does."""
    lines = []
    for place in places:
        found = audit(place.run)
        mark = f"{VERBOSE_MARK} " * found.verbosity.warn
        lines += [
            f"{mark}{place.run.name} [{place.run.condition}]: {sentence}."
            for sentence in found.every_warning()
        ]
    more = len(lines) - _WARNED_SHOWN
    rest = [f"{counted(more, 'more warning')} of the audits; 'dtvqa score --audits' shows them."]
    return lines[:_WARNED_SHOWN] + rest * (more > 0)


def _corrected(pairs: int) -> str:
    if pairs == 1:
        return "one pair, so that Holm's correction changes nothing"
    return f"Holm over all {pairs:,} pairs"


def to_markdown(ranking: Ranking, pairs: bool) -> str:
    """The places, the pairs on request, and how the figures were made."""
    tables: list[tuple[Sequence[str], list[list[str]]]] = [(PLACE_HEADER, place_cells(ranking))]
    if pairs:
        tables.append((PAIR_HEADER, pair_cells(ranking)))
    text = "\n".join(
        markdown_table(header, [[*map(escape_markdown, row[:2]), *row[2:]] for row in rows], 2)
        for header, rows in tables
    )
    notes = "".join(f"- {escape_markdown(note)}\n" for note in ranking_notes(ranking))
    return f"{text}\n{notes}"


def ranking_document(ranking: Ranking) -> dict[str, Any]:
    """Everything as JSON values; figures times 100."""
    return {
        "metric": ranking.metric,
        "questions": ranking.questions,
        "images": ranking.images,
        "bootstrap": {
            "resamples": ranking.resamples,
            "seed": ranking.seed,
            "level": ranking.level,
            "clustered_by": "image",
        },
        "runs": [
            {
                "name": place.run.name,
                "condition": place.run.condition,
                "rank": place.rank,
                "rank_interval": [place.first, place.last],
                "figure": asdict(place.figure.scaled(100.0)),
                "groups": place.groups.split(),
                "signature": str(place.run.signature()),
            }
            for place in ranking.places
        ],
        "pairs": [
            {**asdict(pair), "difference": asdict(pair.difference.scaled(100.0))}
            for pair in ranking.pairs
        ],
        "notes": ranking_notes(ranking),
    }
