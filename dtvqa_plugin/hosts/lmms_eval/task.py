"""The functions that the task YAMLs name: question to request, output to scores.

The same text reaches chat runners (``doc_to_messages``) and simple ones (``doc_to_text`` with
``doc_to_visual``). Everything here is stateless: lmms-eval calls ``process_results`` from several
threads and retries it when it raises. Seen working on lmms-eval 0.7.3.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PIL import Image

from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.predictions.record import failed_output, score_output, unanswered_message
from dtvqa_plugin.utils.images import load_rgb

logger = logging.getLogger("dtvqa_plugin")

Doc = Mapping[str, Any]

BLIND_GREY = (127, 127, 127)


def doc_to_visual(doc: Doc) -> list[Image.Image]:
    """Return the question's image, upright and in RGB. Raises DataError naming a damaged file."""
    return [load_rgb(doc["image"])]


def doc_to_visual_blind(doc: Doc) -> list[Image.Image]:
    """Return a plain grey picture of the image's size: what is answered now needed no reading."""
    return [Image.new("RGB", load_rgb(doc["image"]).size, BLIND_GREY)]


def doc_to_text(doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
    """Return the request text: the question in the prompt that the task names for this model."""
    name = (lmms_eval_specific_kwargs or {}).get("prompt", "none")
    return get_prompt(name).render(doc["question"])


def doc_to_messages(
    doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return one user turn, the image before the text (as the released runners put it)."""
    return _user_turn(doc_to_visual(doc), doc_to_text(doc, lmms_eval_specific_kwargs))


def doc_to_messages_blind(
    doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return one user turn with the grey picture in the image's place."""
    return _user_turn(doc_to_visual_blind(doc), doc_to_text(doc, lmms_eval_specific_kwargs))


def _user_turn(images: Sequence[Image.Image], text: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [{"type": "image", "url": image} for image in images]
    content.append({"type": "text", "text": text})
    return [{"role": "user", "content": content}]


def doc_to_target(doc: Doc) -> list[str]:
    """Return the reference answers."""
    return list(doc["answers"])


def process_results(doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
    """Score one output in the paper's base condition; scores are 0-1. Never raises."""
    return _scored(doc, results, "none")


def process_results_prompted(doc: Doc, results: Sequence[Any]) -> dict[str, Any]:
    """Score one output in the condition with the paper's prompt; scores are 0-1. Never raises."""
    return _scored(doc, results, "paper")


def _scored(doc: Doc, results: Sequence[Any], prompt: str) -> dict[str, Any]:
    question_id, subset = doc["question_id"], doc["subset"]
    raw = results[0] if len(results) else None
    try:
        return score_output(question_id, subset, doc["answers"], raw, prompt)
    except Exception as error:  # the host would retry five times and then lose the whole run
        return failed_output(question_id, subset, prompt, error)


def count_unanswered(reasons: Iterable[Any]) -> int:
    """Aggregate ``unanswered``: the number of questions without an answer, with a warning."""
    reasons = list(reasons)
    message = unanswered_message(reasons)
    if message:
        logger.warning("dtvqa-plugin: %s", message)
    return sum(reason is not None for reason in reasons)
