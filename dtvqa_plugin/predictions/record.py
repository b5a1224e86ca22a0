"""What both hosts do with one question's output. Imports no host."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from dtvqa_plugin.metrics import prepare, score

logger = logging.getLogger("dtvqa_plugin")

Unanswered = Literal["failed", "truncated", "empty"]

CUT_OR_EMPTY_WARNING_SHARE = 0.1


def score_output(
    question_id: str, subset: str, answers: Sequence[str], raw: object, prompt: str
) -> dict[str, Any]:
    """Score one raw model output and return the record that both hosts save.

    The output is prepared first as the released runners do (reasoning removed, then white space
    at the ends); ``accanls``, ``anls``, ``acc`` are 0-1. The keys and their order are the same
    for every row, failed ones too. ``unanswered`` is None or why there is nothing to score.
    Raises ValueError, naming the question, when the reference answers are unusable.
    """
    prepared = prepare(raw)
    result = score(None if prepared.failed else prepared.text, answers, question_id=question_id)
    return {
        "accanls": result.accanls,
        "anls": result.anls,
        "acc": result.acc,
        "unanswered": _unanswered(prepared.failed, prepared.truncated, prepared.text),
        "dtvqa": {
            "question_id": question_id,
            "subset": subset,
            "prompt": prompt,
            "prediction": prepared.text,
            "matched_answer": result.matched_answer,
            "failed": prepared.failed,
            "truncated": prepared.truncated,
            "exact_match": result.exact_match,
            "acc_word": result.acc_word,
            "length_ratio": result.length_ratio,
        },
    }


def failed_output(question_id: str, subset: str, prompt: str, error: Exception) -> dict[str, Any]:
    """Return the record of a question that could not be scored: zeros, and the fault in the log."""
    logger.error("question %s could not be scored: %s", question_id, error)
    record = score_output(question_id, subset, ["-"], None, prompt)
    record["dtvqa"]["error"] = str(error)
    return record


def _unanswered(failed: bool, truncated: bool, text: str) -> Unanswered | None:
    if failed:
        return "failed"
    if truncated:
        return "truncated"
    return None if text else "empty"


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
