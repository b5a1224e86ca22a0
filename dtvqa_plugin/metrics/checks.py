"""Checks on what is given to the scorer: reference answers, the threshold, predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NoReturn

from dtvqa_plugin.metrics.predictions import Prepared, is_failure

__all__ = ["check_tau", "prediction_text", "question_name", "reference_list"]


def question_name(question_id: object = None, index: int | None = None) -> str:
    """How an error names a question: by its id, else by its place in the corpus (from 0)."""
    if question_id is not None:
        return f"question {question_id}"
    return "question (no id given)" if index is None else f"question at index {index}"


def check_tau(tau: float) -> None:
    """Raise ValueError unless `tau` is a usable ANLS threshold: 0 < tau <= 1."""
    if not 0.0 < tau <= 1.0:
        raise ValueError(f"tau, the ANLS threshold, must be above 0 and at most 1; got {tau!r}")


def prediction_text(prediction: object, name: str) -> str | None:
    """The text to score, or None for a failed question.

    Raises ValueError, beginning with `name`, for a value that is neither.
    """
    if is_failure(prediction):
        return None
    if isinstance(prediction, str):
        return prediction
    if isinstance(prediction, Prepared):
        return prediction.text
    raise ValueError(
        f"{name}: the prediction is not a string but {type(prediction).__name__} "
        f"({_short(prediction)}); pass it through dtvqa_plugin.metrics.prepare first"
    )


def reference_list(answers: object, name: str) -> Sequence[str]:
    """The reference answers of one question as a list or tuple of non-blank strings.

    Lists, tuples, one-dimensional arrays and other sequences of strings are fine. Text is never
    parsed. Raises ValueError, beginning with `name`, for anything else.
    """
    values = _as_sequence(answers, name)
    if not values:
        raise ValueError(f"{name}: no reference answers; every question needs at least one")
    for position, answer in enumerate(values):
        if not isinstance(answer, str):
            raise ValueError(
                f"{name}: reference answer {position} is not a string but "
                f"{type(answer).__name__} ({_short(answer)})"
            )
        if not answer.strip():
            raise ValueError(
                f"{name}: reference answer {position} is blank ({answer!r}); remove it, or leave "
                "the question out"
            )
    return values


def _as_sequence(answers: object, name: str) -> Sequence[str]:
    if isinstance(answers, (list, tuple)):
        return answers
    if isinstance(answers, (str, bytes)):
        _reject_bare_value(answers, name)
    if isinstance(answers, (Mapping, Set)) or not isinstance(answers, Iterable):
        raise ValueError(
            f"{name}: reference answers must be a list of strings, got {type(answers).__name__} "
            f"({_short(answers)})"
        )
    tolist = getattr(answers, "tolist", None)
    values: object = tolist() if callable(tolist) else list(answers)
    if not isinstance(values, list):  # an array without dimensions
        _reject_bare_value(values, name)
    return values


def _reject_bare_value(value: object, name: str) -> NoReturn:
    if isinstance(value, str) and value.lstrip().startswith(("[", "(")):
        raise ValueError(
            f"{name}: reference answers are a list written as text ({_short(value)}); make it a "
            "list where the data is read (text is never evaluated here), or, if it is one "
            "answer, wrap it in a list"
        )
    raise ValueError(
        f"{name}: reference answers must be a list of strings, got the bare value "
        f"{_short(value)}; wrap it in a list"
    )


def _short(value: object, limit: int = 60) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number too long to print, a list nested too deep
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."
