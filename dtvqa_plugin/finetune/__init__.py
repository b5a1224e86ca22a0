"""Training sets for the trainers people use, kept apart from the test set. Imports no torch.

Contract: `export` with `ExportOptions` writes a training set in one of `FORMATS` and returns an
`ExportReport`; `find_leakage` compares any training set with the test set and returns a
`Leakage`. `BenchmarkImages` and `BenchmarkQuestions` do the comparing.
"""

from __future__ import annotations

from dtvqa_plugin.finetune.export import export
from dtvqa_plugin.finetune.image_match import MIN_LIKENESS, BenchmarkImages, ImageMatch
from dtvqa_plugin.finetune.leakage import Leakage, find_leakage
from dtvqa_plugin.finetune.options import (
    CHECKS,
    EXPORT_SPLITS,
    PAPER_SUBSETS,
    TURNS,
    ExportOptions,
    ExportReport,
)
from dtvqa_plugin.finetune.question_match import BenchmarkQuestions, QuestionMatch
from dtvqa_plugin.finetune.trainers import FORMATS, Format

__all__ = [
    "CHECKS",
    "EXPORT_SPLITS",
    "FORMATS",
    "MIN_LIKENESS",
    "PAPER_SUBSETS",
    "TURNS",
    "BenchmarkImages",
    "BenchmarkQuestions",
    "ExportOptions",
    "ExportReport",
    "Format",
    "ImageMatch",
    "Leakage",
    "QuestionMatch",
    "export",
    "find_leakage",
]
