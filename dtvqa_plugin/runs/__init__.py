"""Runs read back from what hosts and runners left. Imports no host."""

from __future__ import annotations

from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.joining import join_repeats, join_runs
from dtvqa_plugin.runs.naming import distinct_names
from dtvqa_plugin.runs.reading import read_run, read_runs
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.runs.remarks import remarks
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import Signature, parse_signature

__all__ = [
    "References",
    "Run",
    "RunError",
    "Signature",
    "distinct_names",
    "join_repeats",
    "join_runs",
    "parse_signature",
    "read_run",
    "read_runs",
    "remarks",
]
