"""Answers that are not the file: login pages of a network, pages of a proxy, error texts."""

from __future__ import annotations

from collections.abc import Mapping

from dtvqa_plugin.data.hub.faults import FetchError
from dtvqa_plugin.data.hub.redaction import shown_url

_CURE = (
    "most likely the login page of a network, or a proxy. Open the address in a browser, check "
    "the proxy settings and HF_ENDPOINT, then run it again; nothing of the answer was kept"
)
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/xhtml")


def check_whole(label: str, url: str, headers: Mapping[str, str], size: int | None) -> None:
    """Check the head of an answer that is to be the whole file.

    Args:
        label: The file, for messages.
        url: Where the answer came from.
        headers: Headers of the answer.
        size: Bytes that the hub announced; ``None`` where it announced none.

    Raises:
        FetchError: Length or type are not those of the file.
    """
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        raise FetchError(web_page(label, url))
    if kind.startswith(_TEXT_TYPES) and not label.endswith(".json"):
        raise FetchError(f"{label}: {shown_url(url)} answered with {kind}, not the file; {_CURE}")
    length = headers.get("Content-Length") or ""
    if size is not None and length.isdigit() and int(length) != size:
        raise FetchError(
            f"{label}: {shown_url(url)} answered with {int(length):,} bytes where the hub "
            f"announced {size:,}; {_CURE}"
        )


def is_web_page(start: bytes) -> bool:
    """Whether content begins as an HTML page does."""
    return start[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype", b"<html"))


def web_page(label: str, url: str) -> str:
    """The message for a web page in place of a file."""
    return f"{label}: {shown_url(url)} answered with a web page (HTML), not the file; {_CURE}"


def not_the_hub(label: str, url: str) -> str:
    """The message for an answer without the marks that every answer of the hub has."""
    return (
        f"{label}: {shown_url(url)} answered, but not as the Hugging Face hub (no commit, no "
        f"ETag); {_CURE}"
    )
