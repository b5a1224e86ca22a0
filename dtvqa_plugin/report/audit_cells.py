"""An audit as cells and lines, for the terminal and Markdown."""

from __future__ import annotations

from dtvqa_plugin.analysis.audits import Audit, VerbosityBin
from dtvqa_plugin.utils.text import counted

FINDING_HEADER = ("Found", "Outputs", "Meaning")
VERBOSITY_HEADER = ("Output / answer length", "Acc hits", "Share", "Acc up to", "AccANLS up to")


def bin_label(item: VerbosityBin) -> str:
    """``up to 1.5x``, ``1.5x to 4x``, ``over 16x``."""
    if item.up_to is None:
        return f"over {item.above:g}x"
    return f"up to {item.up_to:g}x" if item.above == 0 else f"{item.above:g}x to {item.up_to:g}x"


def verbosity_cells(found: Audit) -> list[list[str]]:
    """Rows of the verbosity table; the score columns are times 100."""
    return [
        [
            bin_label(item),
            str(item.hits),
            f"{item.share:.1%}",
            f"{item.acc_up_to * 100:.1f}",
            f"{item.accanls_up_to * 100:.1f}",
        ]
        for item in found.verbosity.bins
    ]


def finding_cells(found: Audit) -> list[list[str]]:
    """Rows (name, count of total, meaning) of the counts."""
    return [[item.name, f"{item.count} of {item.of}", item.meaning] for item in found.all_findings]


MOST_HIT_LINES = 10


def boundary_lines(found: Audit) -> list[str]:
    """The first hits inside longer words, one line each, and how many more there are."""
    return _first(
        [f"{hit.question_id}: {hit.answer!r} in {hit.shown!r}" for hit in found.boundary_hits]
    )


def doubtful_lines(found: Audit) -> list[str]:
    """The first hedged and negated hits, one line each, and how many more there are."""
    return _first(
        [
            f"{hit.question_id}: {hit.answer!r} {hit.stance} in {hit.shown!r}"
            for hit in found.doubtful_hits
        ]
    )


def frequent_lines(found: Audit) -> list[str]:
    """The most frequent outputs, one line each."""
    return [
        f"{item.count} times ({item.share:.1%} of the outputs, {counted(item.hits, 'Acc hit')}): "
        f"{item.text!r}"
        for item in found.frequent
    ]


def hit_lists(found: Audit) -> list[tuple[str, list[str]]]:
    """The lists under an audit's counts, each with its heading; empty ones are left out."""
    lists = [
        ("Hits inside a longer word or number", boundary_lines(found)),
        ("Hedged and negated hits", doubtful_lines(found)),
        ("Most frequent outputs", frequent_lines(found)),
    ]
    return [(title, lines) for title, lines in lists if lines]


def warned_lists(found: Audit) -> list[tuple[str, list[str]]]:
    """The lists under an audit's warnings; what the warnings say in full is not among them."""
    ids = _first(list(found.suspected.question_ids))
    return [("Outputs with an unremoved thought", ids)] if ids else []


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_HIT_LINES
    return lines[:MOST_HIT_LINES] + [f"and {more} more (JSON lists all)"] * (more > 0)
