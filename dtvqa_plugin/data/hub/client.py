"""Files on the Hugging Face hub, read by byte ranges that outlast a bad connection.

The connection is ``huggingface_hub``'s own session, so tokens, ``HF_ENDPOINT``, proxies, custom
client factories, ``HF_HUB_DOWNLOAD_TIMEOUT`` and ``HF_HUB_OFFLINE`` mean what they mean there. Its
file readers are not used: they hold a whole answer in memory, also one that is a whole archive
because the server ignored the range asked for.
"""

from __future__ import annotations

import email.utils
import hashlib
import logging
import random
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from dtvqa_plugin.benchmark.release import REPO_ID, REPO_TYPE
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import offline

logger = logging.getLogger(__name__)

MAX_SMALL_FILE = 256 * 1024 * 1024
"""Most bytes an annotation file may hold."""

_LONGEST_WAIT = 600.0
_PROGRESS = 256 * 1024


class OfflineError(DataError):
    """The network is needed and ``HF_HUB_OFFLINE`` forbids it."""


class FetchError(DataError):
    """A file cannot be had from the hub; what is in the store is as it was."""


class RangeIgnoredError(FetchError):
    """The server sends whole files only."""


class _TransientError(Exception):
    """Worth another try. ``wait`` is how long the server asked to be left alone (seconds)."""

    def __init__(
        self, reason: str, wait: float | None = None, *, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.unreachable = unreachable


class _MovedError(Exception):
    """The signed address is no longer good; the hub gives a new one."""


class _StoppedError(Exception):
    """The reader no longer wants the bytes."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request that brings nothing is tried again, and the first wait (seconds).

    The wait doubles each time, up to ``longest``. A Retry-After is obeyed instead, unless it asks
    for more than ten minutes, which is told at once.
    """

    retries: int = 5
    first: float = 1.0
    longest: float = 30.0


class Hub:
    """The release's repository at one revision, resolved to a commit by the first answer.

    ``revision`` is a commit, tag or branch. Safe to use from several threads.
    """

    def __init__(self, revision: str, patience: Patience | None = None) -> None:
        from huggingface_hub import constants

        self.revision = revision
        self.commit: str | None = None
        self.patience = patience or Patience()
        self.endpoint = str(constants.ENDPOINT)
        self.stop = threading.Event()
        self.reached = False
        self._not_before = 0.0
        self._headers: dict[bool, dict[str, str]] = {}

    @property
    def label(self) -> str:
        """Where the files come from, for messages and the manifest; holds no secret."""
        return f"{shown_url(self.endpoint)}/{REPO_ID}"

    def file(self, name: str) -> HubFile:
        """Look a file up. Raises `FetchError` when it is not there or the hub cannot be reached,
        `OfflineError` under ``HF_HUB_OFFLINE``.
        """
        if offline():
            raise OfflineError(f"{self.label}: HF_HUB_OFFLINE is set, so nothing is fetched")
        location, size, tag = self.locate(name)
        found = HubFile(self, name, location, tag, size or 0)
        if size is None:
            found.ask_size()
        return found

    def locate(self, name: str) -> tuple[str, int | None, str | None]:
        """The address that serves the file now, its size and its ETag."""
        for tries in range(self.patience.retries + 1):
            try:
                return self._metadata(name)
            except _TransientError as fault:
                self.wait(fault, tries, f"{self.label}: {name}")
        raise AssertionError("wait() raises when the tries are used up")

    def _metadata(self, name: str) -> tuple[str, int | None, str | None]:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        url = hf_hub_url(REPO_ID, name, repo_type=REPO_TYPE, revision=self.commit or self.revision)
        try:
            found = get_hf_file_metadata(url, timeout=_timeout("HF_HUB_ETAG_TIMEOUT"))
        except Exception as error:  # sorted by kind: the hub's own, the transport's, or a defect
            raise self._explained(error, name) from None
        self.reached = True
        if self.commit is None and found.commit_hash:
            self.commit = found.commit_hash
        return found.location, found.size, found.etag

    def _explained(self, error: Exception, name: str) -> Exception:
        from huggingface_hub import errors

        where = f"{self.label}: {name}"
        if isinstance(error, errors.RevisionNotFoundError):
            return FetchError(f"{where}: there is no revision {self.revision!r}; see --revision")
        if isinstance(error, errors.EntryNotFoundError):
            return FetchError(f"{where}: not in the repository at revision {self.revision!r}")
        if isinstance(error, errors.RepositoryNotFoundError):  # also GatedRepoError
            return FetchError(
                f"{where}: no such repository for this user; if it is private or gated, log in "
                "('hf auth login', or set HF_TOKEN); else check HF_ENDPOINT"
            )
        response = getattr(error, "response", None)
        if isinstance(error, errors.HfHubHTTPError) and response is not None:
            return _status_error(int(response.status_code), response.headers, where)
        if isinstance(error, transport_errors()):
            return _transport_error(error, where)
        return error

    def headers(self, url: str) -> dict[str, str]:
        """Request headers: the user's token goes to the hub alone, not to where it redirects."""
        from huggingface_hub import utils

        home = _origin(url) == _origin(self.endpoint)
        if home not in self._headers:
            build = utils.build_hf_headers  # type: ignore[attr-defined]  # re-exported unannounced
            built = build(token=None if home else False, library_name="dtvqa-plugin")
            self._headers[home] = {**built, "Accept-Encoding": "identity"}
        return self._headers[home]

    def wait(self, fault: _TransientError, tries: int, where: str) -> None:
        """Wait before another try; raise `FetchError` when ``tries`` have failed already."""
        patience = self.patience
        # Where there is no network at all, that is to be told soon.
        hopeless = fault.unreachable and not self.reached
        if tries >= (min(2, patience.retries) if hopeless else patience.retries):
            raise FetchError(
                f"{where}: {fault} (after {tries + 1} tries). What is complete stays in the "
                "store; run it again later, check the network, the proxy and HF_ENDPOINT, or "
                "'dtvqa data import FOLDER' a copy of the release"
            )
        asked = fault.wait
        if asked is not None and asked > _LONGEST_WAIT:
            raise FetchError(
                f"{where}: {fault}; the server asks to wait {asked:.0f} s. "
                "What is complete stays in the store; run it again then"
            )
        if asked is None:
            seconds = min(patience.longest, patience.first * 2**tries) * random.uniform(0.8, 1.2)
        else:
            seconds = asked
            self._not_before = max(self._not_before, time.monotonic() + asked)
        logger.info("%s: %s; trying again in %.1f s", where, fault, seconds)
        self._sleep(seconds)

    def admit(self) -> None:
        """Wait while the server wants to be left alone, whichever request it told so."""
        self._sleep(self._not_before - time.monotonic())

    def _sleep(self, seconds: float) -> None:
        if self.stop.is_set() or (seconds > 0 and self.stop.wait(seconds)):
            raise _StoppedError


class HubFile:
    """One file at one commit. ``size`` in bytes; ``tag`` is its ETag."""

    def __init__(self, hub: Hub, name: str, location: str, tag: str | None, size: int) -> None:
        self.hub = hub
        self.name = name
        self.tag = tag
        self.size = size
        self._location = location
        self._lock = threading.Lock()

    @property
    def label(self) -> str:
        return f"{self.hub.label}/{self.name}"

    def ask_size(self) -> None:
        """Set ``size`` from an answer to a small range, for a server that has not told it."""
        for _ in self.stream(0, 1, sized=False):
            pass

    def content(self) -> bytes:
        """The whole of a small file, checked against the hub's own digest of it."""
        if self.size > MAX_SMALL_FILE:
            raise FetchError(
                f"{self.label}: {self.size} bytes, over the limit of "
                f"{MAX_SMALL_FILE // 2**20} MiB for an annotation file"
            )
        content = b"".join(self.stream(0, self.size))
        digest = _digest(content, self.tag)
        if digest is not None and digest != self.tag:
            raise FetchError(f"{self.label}: damaged on the way (its digest differs); run it again")
        return content

    def stream(self, start: int, end: int, *, sized: bool = True) -> Iterator[bytes]:
        """The bytes ``start`` to ``end`` (exclusive) in chunks.

        An answer that breaks off is taken up again where it broke, with back-off. Raises
        `RangeIgnoredError` when the server answers with the whole file, `FetchError` when it
        cannot be had.
        """
        position, tries = start, 0
        while position < end:
            taken = 0
            try:
                for chunk in self._answer(position, end, sized):
                    piece = chunk[: end - position]
                    position += len(piece)
                    taken += len(piece)
                    yield piece
                    if self.hub.stop.is_set():
                        raise _StoppedError
                if position < end:
                    raise _TransientError(f"cut off with {end - position} bytes to come")
            except _TransientError as fault:
                tries = 0 if taken >= _PROGRESS else tries
                self.hub.wait(fault, tries, self.label)
                tries += 1
            except _MovedError:
                self._relocate(tries)
                tries += 1

    def _relocate(self, tries: int) -> None:
        if tries >= self.hub.patience.retries:
            raise FetchError(
                f"{self.label}: the address that the hub gives for it is refused "
                f"({shown_url(self._location)}); run it again, or check the proxy and HF_ENDPOINT"
            )
        with self._lock:
            self._location = self.hub.locate(self.name)[0]

    def _answer(self, start: int, end: int, sized: bool) -> Iterator[bytes]:
        self.hub.admit()
        url = self._location
        headers = {**self.hub.headers(url), "Range": f"bytes={start}-{end - 1}"}
        try:
            with _opened(url, headers) as (status, answered, chunks):
                self._check_answer(status, answered, start, end, url, sized)
                yield from chunks
        except transport_errors() as error:
            raise _transport_error(error, self.label) from None

    def _check_answer(
        self, status: int, answered: Mapping[str, str], start: int, end: int, url: str, sized: bool
    ) -> None:
        if status == 206:
            self._check_range(answered.get("Content-Range", ""), start, sized)
        elif status == 200:
            if not sized:
                self.size = int(answered.get("Content-Length") or 0)
            elif start != 0 or end != self.size:
                raise RangeIgnoredError(
                    f"{self.label}: the server {_origin(url)[1]} ignores byte ranges and sends "
                    f"the whole file ({self.size / 1e6:,.1f} MB)"
                )
        elif status in (401, 403, 404, 410) and _origin(url) != _origin(self.hub.endpoint):
            raise _MovedError
        else:
            raise _status_error(status, answered, self.label)

    def _check_range(self, text: str, start: int, sized: bool) -> None:
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", text.strip())
        if not match or int(match[1]) != start:
            raise _TransientError(f"the server answered with another range ({text[:60]!a})")
        if not sized and match[3] != "*":
            self.size = int(match[3])
        elif match[3] not in ("*", str(self.size)):
            raise FetchError(
                f"{self.label}: its size changed from {self.size} to {match[3]} bytes while it "
                "was read; run it again"
            )


# --- the session, whichever library the installed huggingface_hub uses ---------------------------


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


@contextmanager
def _opened(
    url: str, headers: dict[str, str]
) -> Iterator[tuple[int, Mapping[str, str], Iterable[bytes]]]:
    """Status, headers and body of a GET whose body is read as it comes."""
    from huggingface_hub import get_session

    session: Any = get_session()
    timeout = _timeout("HF_HUB_DOWNLOAD_TIMEOUT")
    if callable(getattr(session, "stream", None)):  # httpx; a flag in requests
        with session.stream("GET", url, headers=headers, timeout=timeout) as answer:
            yield answer.status_code, answer.headers, answer.iter_bytes()
    else:
        with session.get(url, headers=headers, timeout=timeout, stream=True) as answer:
            yield answer.status_code, answer.headers, answer.iter_content(64 * 1024)


def _timeout(name: str) -> float:
    from huggingface_hub import constants

    return float(getattr(constants, name))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return parts.scheme, f"{parts.hostname or ''}{port}"


# --- what went wrong -----------------------------------------------------------------------------


def _status_error(status: int, headers: Mapping[str, str], where: str) -> Exception:
    if status in (408, 425, 429) or status >= 500:
        busy = "the server limits requests" if status == 429 else "the server is failing"
        return _TransientError(f"{busy} (HTTP status {status})", _asked_wait(status, headers))
    if status in (401, 403):
        return FetchError(
            f"{where}: access refused (HTTP status {status}); log in ('hf auth login', or set "
            "HF_TOKEN), or check HF_ENDPOINT and the proxy"
        )
    return FetchError(
        f"{where}: the server answered with HTTP status {status}; check HF_ENDPOINT and the proxy"
    )


def _asked_wait(status: int, headers: Mapping[str, str]) -> float | None:
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return float(value)
    with suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    limit = re.search(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)", headers.get("RateLimit") or "")
    return float(limit[1]) if limit and status == 429 else None


def _transport_error(error: Exception, where: str) -> Exception:
    reason = redacted(str(error)) or type(error).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return FetchError(
            f"{where}: the server's certificate is not trusted ({reason}); a proxy that inspects "
            "traffic needs its certificate in SSL_CERT_FILE"
        )
    kind = "no answer in time" if "timeout" in type(error).__name__.lower() else "connection failed"
    return _TransientError(f"{kind} ({reason})", unreachable=True)


def _digest(content: bytes, tag: str | None) -> str | None:
    """The digest that the hub uses as this kind of ETag: git's blob id, or SHA-256 (LFS)."""
    if tag is None or not re.fullmatch("[0-9a-f]+", tag):
        return None
    if len(tag) == 40:
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return hashlib.sha256(content).hexdigest() if len(tag) == 64 else None


# --- no secret in a message, a manifest or a log -------------------------------------------------

_SECRETS = (
    (re.compile(r"(\w://)[^/@\s]*@"), r"\1***@"),
    (re.compile(r"\?[^\s'\")>\]]+"), "?***"),
    (re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]+"), r"\1 ***"),
    (re.compile(r"\bhf_\w{4,}"), "hf_***"),
)


def redacted(text: str) -> str:
    """``text`` without query strings (signed addresses), passwords in addresses, and tokens."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def shown_url(url: str) -> str:
    """An address for people: without user, password, query and fragment."""
    parts = urlsplit(url)
    return f"{'://'.join(_origin(url))}{parts.path}".rstrip("/")


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
