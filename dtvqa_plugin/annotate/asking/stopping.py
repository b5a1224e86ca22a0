"""Ctrl-C and SIGTERM while questions are on their way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

STOP_AFTER = 20
"""Failures, or empty answers, in a row after which a run gives up."""


@contextmanager
def gentle_stop(stop: threading.Event, stopped: Callable[[str], None]) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop asking and let answers arrive; a second one ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stopped("interrupted; answers in flight were saved")
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
