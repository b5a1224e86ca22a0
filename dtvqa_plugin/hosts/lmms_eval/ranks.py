"""How many processes take part: one line on standard error, where it is not plainly one."""

from __future__ import annotations

import functools
import os
import sys


@functools.cache
def report_ranks() -> None:
    """Print once, on rank 0, how many processes share the questions.

    ``accelerate launch --num_processes 2`` without ``--multi_gpu`` starts one process on a machine
    without GPUs, without a message (seen with accelerate 1.15); it is recognised by the variables
    that it sets.
    """
    count = int(os.environ.get("WORLD_SIZE") or 1)
    if int(os.environ.get("RANK") or 0) != 0:
        return
    if count > 1:
        print(f"dtvqa-plugin: {count} processes share the questions", file=sys.stderr)
    elif any(name.startswith("ACCELERATE_") for name in os.environ):
        print(
            "dtvqa-plugin: this is the only process. If 'accelerate launch' was to start more: on "
            "GPUs add --multi_gpu; on CPUs use torchrun --nproc_per_node N -m lmms_eval ...",
            file=sys.stderr,
        )
