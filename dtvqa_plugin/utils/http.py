"""What HTTP answers say that several clients need."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How long a server asks to be left alone.

    Args:
        headers: Headers of an answer; looking a name up must ignore its case.

    Returns:
        Seconds from now, never negative, from ``Retry-After`` (seconds or an HTTP date); ``None``
        where there is none, it cannot be read, or the date is past (clocks differ).
    """
    value = (headers.get("Retry-After") or "").strip()
    with suppress(ValueError):
        seconds = float(value)
        return seconds if 0 <= seconds < math.inf else None
    with suppress(ValueError, TypeError, OverflowError):
        seconds = parsedate_to_datetime(value).timestamp() - time.time()
        return seconds if seconds >= 0 else None
    return None
