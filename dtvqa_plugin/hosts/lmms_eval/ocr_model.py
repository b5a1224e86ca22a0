"""``--model dtvqa_ocr``: an OCR engine in a model's place, for machines without a GPU.

``--model_args mode=dump`` answers with all recognised text, ``mode=reader`` with a short answer
picked by layout. An honest lower bound, not a competitor. Seen working on lmms-eval 0.7.3.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from tqdm import tqdm

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.ocr import OCRReader


class DTVQAOcr(lmms):  # type: ignore[misc]  # lmms-eval ships no types
    """A simple (non-chat) lmms-eval model over RapidOCR.

    ``mode``: ``dump`` or ``reader``. ``threads``: CPU threads of the engine (0: its own choice).
    Raises HostError for other arguments and for requests that no OCR engine can answer.
    """

    is_simple = True

    def __init__(
        self,
        mode: str = "reader",
        threads: int | str = 0,
        batch_size: int | str | None = 1,
        max_batch_size: int | None = None,
        device: str | None = None,
        **unknown: Any,
    ) -> None:
        super().__init__()
        if unknown:
            raise HostError(
                f"--model dtvqa_ocr does not know {', '.join(sorted(unknown))}; "
                "its --model_args are mode=dump|reader and threads=N"
            )
        try:
            count = int(threads)
        except ValueError:
            raise HostError(
                f"--model_args threads={threads} is no number; give 1 or more, or 0 for the "
                "engine's own choice"
            ) from None
        self._reader = OCRReader(mode=mode, threads=count or None)
        self._rank = int(os.environ.get("RANK", 0))
        self._world_size = int(os.environ.get("WORLD_SIZE", 1))

    @property
    def rank(self) -> int:
        """This process's index among the data-parallel ones."""
        return self._rank

    @property
    def world_size(self) -> int:
        """The number of data-parallel processes."""
        return self._world_size

    @property
    def device(self) -> str:
        """Where the host makes the tensors it counts rows with."""
        return "cpu"

    def generate_until(self, requests: Sequence[Instance]) -> list[str]:
        """Answer each request from its image; the question steers ``mode=reader``."""
        return [
            self._answer(request)
            for request in tqdm(requests, desc="dtvqa_ocr", disable=self._rank != 0)
        ]

    def _answer(self, request: Instance) -> str:
        question, _, doc_to_visual, doc_id, task, split = request.args
        images = doc_to_visual(self.task_dict[task][split][doc_id])
        return self._reader.answer(images[0], question) if images else ""

    def loglikelihood(self, requests: Sequence[Instance]) -> list[tuple[float, bool]]:
        """Refuse: an OCR engine gives no probabilities."""
        raise HostError("dtvqa_ocr answers in text only; it cannot run log-likelihood tasks")

    def generate_until_multi_round(self, requests: Sequence[Instance]) -> list[str]:
        """Refuse: there is no conversation to carry on."""
        raise HostError("dtvqa_ocr answers one question at a time; it cannot run multi-round tasks")
