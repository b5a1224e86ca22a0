"""Runs of one model under several conditions as the report page shows them, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dtvqa_plugin.analysis.failures.conditions import Conditions, ConditionScore
from dtvqa_plugin.benchmark.inputs import input_of
from dtvqa_plugin.report.conditions import heading, notes, sentences
from dtvqa_plugin.report.html.why import figures


def conditions_values(found: Conditions) -> dict[str, Any]:
    """Scores with intervals (0-100) of each condition, the findings in words, and the notes."""
    subsets = list(found.scores[0].by_subset)
    return {
        "model": found.model,
        "base": found.base,
        "heading": heading(found),
        "subsets": subsets if len(subsets) > 1 else [],
        "rows": [_row(score, subsets) for score in found.scores],
        "findings": sentences(found),
        "notes": notes(found),
    }


def _row(score: ConditionScore, subsets: Sequence[str]) -> dict[str, Any]:
    return {
        "name": score.condition,
        "side": input_of(score.condition).longest_side,
        "figures": {metric: figures(interval) for metric, interval in score.scores.items()},
        "bySubset": {name: figures(score.by_subset[name]) for name in subsets},
        "difference": None if score.difference is None else figures(score.difference),
        "signature": score.signature,
    }
