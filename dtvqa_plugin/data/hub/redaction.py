"""No secret in a message, a manifest or a log: signed addresses, passwords, tokens."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

_SECRETS = (
    (re.compile(r"(\w://)[^/@\s]*@"), r"\1***@"),
    (re.compile(r"\?[^\s'\")>\]]+"), "?***"),
    (re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]+"), r"\1 ***"),
    (re.compile(r"\bhf_\w{4,}"), "hf_***"),
)


def origin(url: str) -> tuple[str, str]:
    """Scheme and host of an address, with its port where it names one."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return parts.scheme, f"{parts.hostname or ''}{port}"


def redacted(text: str) -> str:
    """``text`` without query strings (signed addresses), passwords in addresses, and tokens."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def shown_url(url: str) -> str:
    """An address for people: without user, password, query and fragment."""
    parts = urlsplit(url)
    return f"{'://'.join(origin(url))}{parts.path}".rstrip("/")


class _Redact(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        clean = redacted(text)
        if clean != text:
            record.msg, record.args = clean, None
        return True


_LIBRARIES = ("httpx", "httpx2", "httpcore", "httpcore2", "urllib3", "requests", "huggingface_hub")


@contextmanager
def secrets_unlogged() -> Iterator[None]:
    """Redact what HTTP libraries log meanwhile: they write out signed addresses."""
    from huggingface_hub import get_session

    get_session()  # imports the libraries, and so makes their loggers
    names = [n for n in logging.root.manager.loggerDict if n.partition(".")[0] in _LIBRARIES]
    found = [logging.getLogger(name) for name in names]
    redact = _Redact()
    for library in found:
        library.addFilter(redact)
    try:
        yield
    finally:
        for library in found:
            library.removeFilter(redact)
