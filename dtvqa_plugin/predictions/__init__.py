"""Files of predictions: how each form is read, and the record that hosts write."""

from __future__ import annotations

from dtvqa_plugin.predictions.kinds import Kind, RawAnswer, answers, sniff
from dtvqa_plugin.predictions.reader import iter_predictions, read_predictions
from dtvqa_plugin.predictions.record import failed_output, score_output, unanswered_message
from dtvqa_plugin.predictions.rows import PredictionFileError, PredictionRow, PredictionTable

__all__ = [
    "Kind",
    "PredictionFileError",
    "PredictionRow",
    "PredictionTable",
    "RawAnswer",
    "answers",
    "failed_output",
    "iter_predictions",
    "read_predictions",
    "score_output",
    "sniff",
    "unanswered_message",
]
