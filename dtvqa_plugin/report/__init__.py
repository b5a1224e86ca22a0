"""Results: runs read from any host, tables, intervals, comparisons, audits. Imports no host."""

from __future__ import annotations

from dtvqa_plugin.report.reading import read_run, read_runs
from dtvqa_plugin.report.references import References
from dtvqa_plugin.report.runs import Run, RunError, ScoredAnswer
from dtvqa_plugin.report.signature import Signature, parse_signature

__all__ = [
    "References",
    "Run",
    "RunError",
    "ScoredAnswer",
    "Signature",
    "parse_signature",
    "read_run",
    "read_runs",
]
