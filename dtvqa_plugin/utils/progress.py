"""Progress: the callback that long work reports to, and the bar that shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int], None]
"""Called with what is done and what there is in all: bytes, or questions, or files."""

Note = Callable[[str], None]
"""Called with one line about what long work does now."""


@contextmanager
def progress_bar(what: str = "images", unit: str = "B") -> Iterator[Progress]:
    """Bytes, rate and time left on standard error; in a log file, a line now and then."""
    from huggingface_hub import utils
    from tqdm import tqdm

    disabled = utils.are_progress_bars_disabled  # type: ignore[attr-defined]  # re-exported

    every = 0.2 if sys.stderr.isatty() else 15.0
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(
                desc=what,
                total=total,
                unit=unit,
                unit_scale=True,
                mininterval=every,
                maxinterval=2 * every,
                disable=disabled(),
            )
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()
