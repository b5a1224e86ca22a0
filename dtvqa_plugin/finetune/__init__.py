"""Training sets for the trainers people use, kept apart from the test set. Imports no torch."""

from __future__ import annotations

from dtvqa_plugin.finetune.audit import Audit, audit
from dtvqa_plugin.finetune.export import PAPER_SUBSETS, ExportOptions, ExportReport, export
from dtvqa_plugin.finetune.leakage import BenchmarkImages, ImageMatch
from dtvqa_plugin.finetune.trainers import FORMATS, Format

__all__ = [
    "FORMATS",
    "PAPER_SUBSETS",
    "Audit",
    "BenchmarkImages",
    "ExportOptions",
    "ExportReport",
    "Format",
    "ImageMatch",
    "audit",
    "export",
]
