"""The functions that the task YAMLs name: question to request, output to scores.

The same text reaches chat runners (``doc_to_messages``) and simple ones (``doc_to_text`` with
``doc_to_visual``). Everything here is stateless: lmms-eval calls ``process_results`` from several
threads and retries it when it raises. Seen working on lmms-eval 0.6.0 to 0.7.3.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PIL import Image

from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.hosts.lmms_eval.scores import HostRow, averaged
from dtvqa_plugin.hosts.lmms_eval.tables import GIVEN_TEXT, image_file
from dtvqa_plugin.predictions.record import failed_output, score_output, unanswered_message
from dtvqa_plugin.utils.images import load_rgb

logger = logging.getLogger("dtvqa_plugin")

Doc = Mapping[str, Any]

BLIND_GREY = (127, 127, 127)


def doc_to_visual(doc: Doc) -> list[Image.Image]:
    """Return the question's image, upright and in RGB. Raises DataError naming a damaged file."""
    return [load_rgb(image_file(doc))]


def doc_to_visual_blind(doc: Doc) -> list[Image.Image]:
    """Return a plain grey picture of the image's size: what is answered now needed no reading."""
    return [Image.new("RGB", load_rgb(image_file(doc)).size, BLIND_GREY)]


def doc_to_text(doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None) -> str:
    """Return the request text: the question in the prompt that the task names for this model."""
    name = (lmms_eval_specific_kwargs or {}).get("prompt", "none")
    return get_prompt(name).render(doc["question"], doc.get(GIVEN_TEXT))


def doc_to_messages(
    doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return one user turn, the image before the text (as the released runners put it)."""
    return user_turn(doc_to_visual(doc), doc_to_text(doc, lmms_eval_specific_kwargs))


def doc_to_messages_blind(
    doc: Doc, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return one user turn with the grey picture in the image's place."""
    return user_turn(doc_to_visual_blind(doc), doc_to_text(doc, lmms_eval_specific_kwargs))


def user_turn(images: Sequence[Image.Image], text: str) -> list[dict[str, Any]]:
    """One user turn: the images, then the text."""
    content: list[dict[str, Any]] = [{"type": "image", "url": image} for image in images]
    content.append({"type": "text", "text": text})
    return [{"role": "user", "content": content}]


def doc_to_target(doc: Doc) -> list[str]:
    """Return the reference answers."""
    return list(doc["answers"])


class EveryResponse:
    """The tasks' filter: one response as it is, several (``--repeats``) as a list.

    The host's default filter keeps the first response and drops the others. Filters take and
    return one list of responses a question.
    """

    def apply(self, resps: Iterable[Sequence[Any]], docs: object) -> list[Any]:
        """Return the response, or all of them, of each question."""
        # An endpoint's null is an empty answer. 0.6.0 to 0.7 would fail on it after generation.
        texts = [["" if text is None else text for text in found] for found in resps]
        return [found[0] if len(found) == 1 else found for found in texts]


def process_results(doc: Doc, results: Sequence[Any]) -> HostRow:
    """Score a question's output in the paper's base condition; scores are 0-1. Never raises."""
    return scored(doc, results, "none")


def process_results_prompted(doc: Doc, results: Sequence[Any]) -> HostRow:
    """Score one in the condition with the paper's prompt; scores are 0-1. Never raises."""
    return scored(doc, results, "paper")


def scored(doc: Doc, results: Sequence[Any], condition: str) -> HostRow:
    """Score a question's output in any condition; scores are 0-1. Never raises."""
    records = [_record(doc, response, condition) for response in _responses(results)]
    return HostRow(records[0] if len(records) == 1 else averaged(records), doc["image"])


def _responses(results: Sequence[Any]) -> list[Any]:
    """All responses to the question. None is an empty answer: the endpoint sent null."""
    found: list[Any] = []
    for result in results:
        found.extend(result if isinstance(result, list) else [result])
    return ["" if response is None else response for response in found] or [None]


def _record(doc: Doc, response: Any, condition: str) -> dict[str, Any]:
    question_id, subset = doc["question_id"], doc["subset"]
    try:
        return score_output(question_id, subset, doc["answers"], response, condition)
    except Exception as error:  # the host would retry five times and then lose the whole run
        return failed_output(question_id, subset, condition, error)


def count_unanswered(reasons: Iterable[Any]) -> int:
    """Aggregate ``unanswered``: the number of questions without an answer, with a warning."""
    reasons = list(reasons)
    message = unanswered_message(reasons)
    if message:
        logger.warning("dtvqa-plugin: %s", message)
    return sum(reason is not None for reason in reasons)
