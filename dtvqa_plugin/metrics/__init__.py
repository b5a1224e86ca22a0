"""The metrics of DT-VQA, bit-identical to the paper's released scorer, and diagnostics of ours."""

from __future__ import annotations

from dtvqa_plugin.metrics.corpus import (
    Aggregate,
    CorpusScores,
    Diagnostics,
    References,
    score_corpus,
)
from dtvqa_plugin.metrics.predictions import (
    FAILURE_PREFIX,
    FAILURE_PREFIXES,
    Prepared,
    is_failure,
    prepare,
)
from dtvqa_plugin.metrics.question import DEFAULT_TAU, Score, score
from dtvqa_plugin.metrics.reasoning import (
    REASONING_TAGS,
    REASONING_VERSION,
    is_truncated_reasoning,
    strip_reasoning,
    suspected_reasoning,
)

__all__ = [
    "DEFAULT_TAU",
    "FAILURE_PREFIX",
    "FAILURE_PREFIXES",
    "REASONING_TAGS",
    "REASONING_VERSION",
    "Aggregate",
    "CorpusScores",
    "Diagnostics",
    "Prepared",
    "References",
    "Score",
    "is_failure",
    "is_truncated_reasoning",
    "prepare",
    "score",
    "score_corpus",
    "strip_reasoning",
    "suspected_reasoning",
]
