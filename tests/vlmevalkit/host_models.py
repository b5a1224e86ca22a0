"""The launcher with two more models in the host's list, for ``--data`` runs and for torchrun.

``loopback``  the host's own OpenAI class, asking the server at $LOOPBACK_URL
``tiny``      the host's own Qwen2.5-VL class on a CPU, with the tiny weights at $TINY_MODEL; what
              it is asked goes to $TINY_LOG, one JSON line a question
"""

from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed
import vlmeval.config
from vlmeval.api import GPT4V
from vlmeval.vlm import Qwen2VLChat

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.vlmevalkit.launcher import run_host


class OnCPU(dict):  # type: ignore[type-arg]  # only an attribute-access shell around a mapping
    """Model inputs that stay where they are: the class under test sends everything to "cuda"."""

    def to(self, device: str) -> OnCPU:
        return self

    def __getattr__(self, name: str) -> Any:
        return self[name]


class CPUProcessor:
    """The real processor; its outputs are `OnCPU`."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def __call__(self, **inputs: Any) -> OnCPU:
        return OnCPU(self._processor(**inputs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._processor, name)


class TinyQwen(Qwen2VLChat):  # type: ignore[misc]  # the host ships no types
    """The host's class; its ``__init__`` alone is replaced, because that one demands a GPU."""

    def __init__(self, model_path: str) -> None:
        from transformers import AutoProcessor, Qwen2_5_VLForConditionalGeneration

        self.model_path = model_path
        self._use_custom_prompt = True
        self.min_pixels, self.max_pixels, self.total_pixels = 28 * 28, 16 * 28 * 28, None
        self.system_prompt, self.verbose, self.post_process = None, False, False
        self.use_vllm = self.use_lmdeploy = False
        self.fps = self.nframe = None
        self.generate_kwargs = {"max_new_tokens": 8, "do_sample": False}
        self.processor = CPUProcessor(AutoProcessor.from_pretrained(model_path))
        self.model = Qwen2_5_VLForConditionalGeneration.from_pretrained(model_path).eval()

    def generate_inner(self, message: list[dict[str, str]], dataset: str | None = None) -> str:
        with Path(os.environ["TINY_LOG"]).open("a", encoding="utf-8") as log:
            rank = int(os.environ.get("RANK", "0"))
            log.write(json.dumps({"rank": rank, "message": message, "dataset": dataset}) + "\n")
        answer = super().generate_inner(message, dataset=dataset)
        assert isinstance(answer, str)
        return answer


def with_gloo(backend: str, **options: Any) -> None:
    """The host names NCCL, which a CPU has not."""
    _init_process_group(backend="gloo", **options)


if __name__ == "__main__":
    _init_process_group = torch.distributed.init_process_group
    torch.distributed.init_process_group = with_gloo
    torch.cuda.set_device = lambda device: None  # nvidia-vlmeval calls it for every rank
    known = vlmeval.config.supported_VLM
    known["tiny"] = functools.partial(TinyQwen, os.environ.get("TINY_MODEL", ""))
    known["loopback"] = functools.partial(
        GPT4V,
        model="loopback",
        api_base=f"{os.environ.get('LOOPBACK_URL')}/chat/completions",
        key="none",
        max_tokens=100,
        retry=2,
        wait=1,
    )
    try:
        run_host(sys.argv[1:])
    except DTVQAError as error:
        sys.exit(f"error: {error}")
