"""What may go wrong on the way to the hub: what is tried again, and what is an error."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from dtvqa_plugin.data.hub.redaction import redacted
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.http import retry_after


class OfflineError(DataError):
    """The network is needed and ``HF_HUB_OFFLINE`` forbids it."""


class FetchError(DataError):
    """A file cannot be had from the hub; what is in the store is as it was."""


class RangeIgnoredError(FetchError):
    """The server sends whole files only."""


class TransientError(Exception):
    """Worth another try. ``wait`` is how long the server asked to be left alone (seconds)."""

    def __init__(
        self, reason: str, wait: float | None = None, *, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.unreachable = unreachable


class MovedError(Exception):
    """The signed address is no longer good; the hub gives a new one."""


class StoppedError(Exception):
    """The reader no longer wants the bytes."""


def transport_errors() -> tuple[type[Exception], ...]:
    """The session library's own errors: httpx or httpx2 (huggingface_hub 1 and 2), requests (0)."""
    from huggingface_hub import get_session

    names = {cls.__module__.partition(".")[0] for cls in type(get_session()).__mro__}
    found: list[type[Exception]] = [ConnectionError, TimeoutError]
    for name in names & {"httpx", "httpx2", "requests"}:
        library: Any = sys.modules[name]
        found.append(library.HTTPError if name != "requests" else library.RequestException)
        if name != "requests":
            found.append(library.StreamError)
    return tuple(found)


def status_error(status: int, headers: Mapping[str, str], where: str) -> Exception:
    """The error for an answer of this HTTP status; a `TransientError` where it may pass."""
    if status in (408, 425, 429) or status >= 500:
        busy = "the server limits requests" if status == 429 else "the server is failing"
        return TransientError(f"{busy} (HTTP status {status})", asked_wait(status, headers))
    if status in (401, 403):
        return FetchError(
            f"{where}: access refused (HTTP status {status}); log in ('hf auth login', or set "
            "HF_TOKEN), or check HF_ENDPOINT and the proxy"
        )
    return FetchError(
        f"{where}: the server answered with HTTP status {status}; check HF_ENDPOINT and the proxy"
    )


def asked_wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Seconds that the answer asks to wait, by ``Retry-After`` or by the hub's ``RateLimit``."""
    wait = retry_after(headers)
    if wait is not None or status != 429:
        return wait
    limit = re.search(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)", headers.get("RateLimit") or "")
    return float(limit[1]) if limit else None


def transport_error(error: Exception, where: str) -> Exception:
    """The error for a connection that failed; a `TransientError` where it may pass."""
    reason = redacted(str(error)) or type(error).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return FetchError(
            f"{where}: the server's certificate is not trusted ({reason}); a proxy that inspects "
            "traffic needs its certificate in SSL_CERT_FILE"
        )
    kind = "no answer in time" if "timeout" in type(error).__name__.lower() else "connection failed"
    return TransientError(f"{kind} ({reason})", unreachable=True)
