"""What a host hands over as a prediction: failed calls, reasoning, values that are not text."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np

from dtvqa_plugin.metrics.reasoning import split_reasoning

__all__ = ["FAILURE_PREFIX", "FAILURE_PREFIXES", "Prepared", "is_failure", "prepare"]

FAILURE_PREFIX = "Failed to obtain answer"
"""VLMEvalKit stores this, with more text after it, in place of an answer it could not get."""

FAILURE_PREFIXES = (FAILURE_PREFIX, "[LMMS_EVAL_REQUEST_FAILED after ")
"""Beginnings of the texts that the hosts store for a failed call.

The second is that of lmms-eval's API models (``models/chat/openai.py`` and others, 0.7.3); the
server's error message follows it.
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prediction ready to be scored; `score` and `score_corpus` take it as it is.

    Attributes:
        text: what is scored; empty if the call failed or the reasoning never ended.
        failed: the host got no answer.
        truncated: the output broke off inside its reasoning.
    """

    text: str
    failed: bool = False
    truncated: bool = False


def is_failure(prediction: object) -> bool:
    """True if a host got no answer: None, NaN (float, numpy, pandas) or a failure marker.

    An empty text is an answer, a wrong one, and not a failure.

    Args:
        prediction: What the host stored.

    Returns:
        True for a failure.
    """
    if isinstance(prediction, str):
        return prediction.startswith(FAILURE_PREFIXES)
    if isinstance(prediction, Prepared):
        return prediction.failed
    return prediction is None or _is_missing_number(prediction)


def prepare(prediction: object) -> Prepared:
    """Turn what a host stored into text to score. Never raises.

    A failure stays a failure (`is_failure`). Reasoning (`strip_reasoning`) and then outer white
    space are removed from text, as the released runners do. A list of one element is replaced by
    the element, a number by its text. Any other value becomes its JSON text and is scored.

    Args:
        prediction: A value of any type.

    Returns:
        The text, and whether the call failed or the reasoning was cut.
    """
    if isinstance(prediction, Prepared):
        return prediction
    if isinstance(prediction, (list, tuple)) and len(prediction) == 1:
        prediction = prediction[0]
    if is_failure(prediction):
        return Prepared("", failed=True)
    text = prediction if isinstance(prediction, str) else _as_text(prediction)
    answer, truncated = split_reasoning(text)
    return Prepared(answer.strip(), truncated=truncated)


def _is_missing_number(value: object) -> bool:
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    kind = type(value)
    return kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas.")


def _as_text(value: object) -> str:
    try:
        return json.dumps(
            value.item() if isinstance(value, np.generic) else value,
            ensure_ascii=False,
            default=_type_name,
        )
    except (TypeError, ValueError, RecursionError):  # circular, odd keys, numbers beyond measure
        return _type_name(value)


def _type_name(value: object) -> str:
    return f"<{type(value).__name__}>"
