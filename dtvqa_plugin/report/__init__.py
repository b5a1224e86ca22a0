"""Results: runs read from any host, tables, intervals, comparisons, audits. Imports no host."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.joining import join_repeats, join_runs
from dtvqa_plugin.runs.reading import read_run, read_runs
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import Signature, parse_signature

if TYPE_CHECKING:
    from dtvqa_plugin.report.questions import question_rows, questions_frame, write_questions

__all__ = [
    "References",
    "Run",
    "RunError",
    "ScoredAnswer",
    "Signature",
    "join_repeats",
    "join_runs",
    "parse_signature",
    "question_rows",
    "questions_frame",
    "read_run",
    "read_runs",
    "write_questions",
]

_LATE = ("question_rows", "questions_frame", "write_questions")
"""Names that load on first use: they need the diagnosis of outputs."""


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("dtvqa_plugin.report.questions"), name)
