"""Results: runs read from any host, tables, intervals, comparisons, audits. Imports no host."""

from __future__ import annotations

from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.report.questions import question_rows, questions_frame, write_questions
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.joining import join_repeats, join_runs
from dtvqa_plugin.runs.reading import read_run, read_runs
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import Signature, parse_signature

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
