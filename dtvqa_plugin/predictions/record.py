"""The record of one question that both hosts save, and that runs are read back from."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from dtvqa_plugin.metrics.names import HEADLINE_FIRST
from dtvqa_plugin.metrics.scored import ScoredAnswer, Unanswered, score_answer

logger = logging.getLogger("dtvqa_plugin")

CUT_OR_EMPTY_WARNING_SHARE = 0.1


def host_record(answer: ScoredAnswer, subset: str, condition: str) -> dict[str, Any]:
    """Return what a host logs of a scored answer; scores are 0-1.

    The keys and their order are the same for every question, failed ones too. ``unanswered`` is
    None or why there is nothing to score. Version 0.1.0 wrote the condition under ``prompt``.
    """
    return {
        **{name: getattr(answer, name) for name in HEADLINE_FIRST},
        "unanswered": answer.unanswered,
        "dtvqa": {
            "question_id": answer.question_id,
            "subset": subset,
            "condition": condition,
            "prediction": answer.text,
            "matched_answer": answer.matched_answer,
            "failed": answer.failed,
            "truncated": answer.truncated,
            "exact_match": answer.exact_match,
            "acc_word": answer.acc_word,
            "length_ratio": answer.length_ratio,
        },
    }


def score_output(
    question_id: str, subset: str, answers: Sequence[str], raw: object, condition: str
) -> dict[str, Any]:
    """Score one raw model output and return the record that both hosts save.

    Raises ValueError, naming the question, when the reference answers are unusable.
    """
    return host_record(score_answer(raw, answers, question_id), subset, condition)


def failed_output(
    question_id: str, subset: str, condition: str, error: Exception
) -> dict[str, Any]:
    """Return the record of a question that could not be scored: zeros, and the fault in the log."""
    logger.error("question %s could not be scored: %s", question_id, error)
    record = score_output(question_id, subset, ["-"], None, condition)
    record["dtvqa"]["error"] = str(error)
    return record


def unanswered_message(reasons: Iterable[Unanswered | None]) -> str | None:
    """Say how many questions got no answer and what to do; None if all were answered."""
    counts = Counter(reasons)
    total = sum(counts.values())
    missing = total - counts[None]
    if not missing:
        return None
    parts = ", ".join(
        f"{counts[key]} {key}" for key in ("failed", "truncated", "empty") if counts[key]
    )
    message = f"{missing} of {total} questions got no answer ({parts}); each scores 0."
    cut = counts["truncated"] + counts["empty"]
    if cut > CUT_OR_EMPTY_WARNING_SHARE * total:
        message += (
            " A reasoning model may need more than the paper's 100 new tokens:"
            " lmms-eval --gen_kwargs max_new_tokens=4096, VLMEvalKit max_new_tokens in the"
            " model's config entry."
        )
    return message
