"""Files on the Hugging Face hub, read by byte ranges that outlast a bad connection.

The connection is ``huggingface_hub``'s own session, so tokens, ``HF_ENDPOINT``, proxies, custom
client factories, ``HF_HUB_DOWNLOAD_TIMEOUT`` and ``HF_HUB_OFFLINE`` mean what they mean there. Its
file readers are not used: they hold a whole answer in memory, also one that is a whole archive
because the server ignored the range asked for.
"""

from __future__ import annotations

import hashlib
import random
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.release import MAX_ANNOTATION_BYTES, REPO_ID, REPO_TYPE
from dtvqa_plugin.data.hub.faults import (
    FetchError,
    MovedError,
    OfflineError,
    RangeIgnoredError,
    StoppedError,
    TransientError,
    status_error,
    transport_error,
    transport_errors,
)
from dtvqa_plugin.data.hub.redaction import origin, shown_url
from dtvqa_plugin.data.hub.wrong_answers import check_whole, is_web_page, not_the_hub, web_page
from dtvqa_plugin.utils.environment import offline
from dtvqa_plugin.utils.progress import Note
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

_LONGEST_WAIT = 600.0
_PROGRESS = 256 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request without new data is tried again, and the first wait (seconds).

    The wait doubles each time, up to ``longest``. A Retry-After is obeyed instead, unless it asks
    for more than ten minutes, which is reported at once.
    """

    retries: int = 5
    first: float = 1.0
    longest: float = 30.0


class Hub:
    """The release's repository at one revision, resolved to a commit by the first answer.

    ``revision`` is a commit, tag or branch; ``note`` is called with a line on each wait. Safe to
    use from several threads.
    """

    def __init__(
        self, revision: str, patience: Patience | None = None, note: Note = logger.info
    ) -> None:
        from huggingface_hub import constants

        self.revision = revision
        self.commit: str | None = None
        self.patience = patience or Patience()
        self.note = note
        self.endpoint = str(constants.ENDPOINT)
        self.stop = threading.Event()
        self.reached = False
        self._not_before = 0.0
        self._noted_until = 0.0
        self._lock = threading.Lock()
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
            except TransientError as fault:
                self.wait(fault, tries, f"{self.label}: {name}")
        raise AssertionError("wait() raises when the tries are used up")

    def _metadata(self, name: str) -> tuple[str, int | None, str | None]:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        url = hf_hub_url(REPO_ID, name, repo_type=REPO_TYPE, revision=self.commit or self.revision)
        try:
            found = get_hf_file_metadata(url, timeout=_timeout("HF_HUB_ETAG_TIMEOUT"))
        except Exception as error:  # sorted by kind: the hub's own, the transport's, or a defect
            raise self._explained(error, name) from None
        if found.commit_hash is None and found.etag is None:
            raise FetchError(not_the_hub(f"{self.label}: {name}", url))
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
            return status_error(int(response.status_code), response.headers, where)
        if isinstance(error, transport_errors()):
            return transport_error(error, where)
        return error

    def headers(self, url: str) -> dict[str, str]:
        """Request headers: the user's token goes to the hub alone, not to where it redirects."""
        from huggingface_hub import utils

        home = origin(url) == origin(self.endpoint)
        if home not in self._headers:
            build = utils.build_hf_headers  # type: ignore[attr-defined]  # re-exported unannounced
            built = build(
                token=None if home else False,
                library_name="dtvqa-plugin",
                library_version=__version__,
            )
            self._headers[home] = {**built, "Accept-Encoding": "identity"}
        return self._headers[home]

    def wait(self, fault: TransientError, tries: int, where: str) -> None:
        """Wait before another try; raise `FetchError` when ``tries`` have failed already."""
        patience = self.patience
        # Without any network the error must come soon.
        hopeless = fault.unreachable and not self.reached
        if tries >= (min(2, patience.retries) if hopeless else patience.retries):
            raise FetchError(
                f"{where}: {fault} (after {tries + 1} tries). Complete files stay in the "
                "store. Run it again later; check the network, the proxy and HF_ENDPOINT, or "
                "'dtvqa data import FOLDER' a copy of the release"
            )
        asked = fault.wait
        if asked is not None and asked > _LONGEST_WAIT:
            raise FetchError(
                f"{where}: {fault}; the server asks to wait {asked:.0f} s. "
                "Complete files stay in the store. Run the command again then"
            )
        if asked is None:
            seconds = min(patience.longest, patience.first * 2**tries) * random.uniform(0.8, 1.2)
        else:
            seconds = asked
            self._not_before = max(self._not_before, time.monotonic() + asked)
        self._note_wait(f"{where}: {fault}; trying again in {seconds:.0f} s", seconds)
        self._sleep(seconds)

    def _note_wait(self, text: str, seconds: float) -> None:
        """Say once that there is a wait, not once for each request that waits."""
        until = time.monotonic() + seconds
        with self._lock:
            known, self._noted_until = self._noted_until, max(until, self._noted_until)
        if until > known + 1:
            self.note(text)
        else:
            logger.debug("%s", text)

    def admit(self) -> None:
        """Wait while the server wants to be left alone, whichever request it told so."""
        self._sleep(self._not_before - time.monotonic())

    def _sleep(self, seconds: float) -> None:
        if self.stop.is_set() or (seconds > 0 and self.stop.wait(seconds)):
            raise StoppedError


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
        """Set ``size`` from an answer to a small range, for a server that did not state it."""
        for _ in self.stream(0, 1, sized=False):
            pass

    def content(self) -> bytes:
        """The whole of a small file, checked against the hub's own digest of it."""
        if self.size > MAX_ANNOTATION_BYTES:
            raise FetchError(
                f"{self.label}: {self.size} bytes, over the limit of "
                f"{MAX_ANNOTATION_BYTES // 2**20} MiB for an annotation file"
            )
        content = self._whole()
        if content[:256].lstrip().startswith(b"<"):
            raise FetchError(web_page(self.label, self._location))
        digest = _digest(content, self.tag)
        if digest is not None and digest != self.tag:
            raise FetchError(
                f"{self.label}: damaged in transfer (its digest differs); run the command again"
            )
        return content

    def _whole(self) -> bytes:
        """All bytes; begun again where a server that knows no ranges broke off."""
        for tries in range(self.hub.patience.retries + 1):
            try:
                return b"".join(self.stream(0, self.size))
            except RangeIgnoredError:
                broken = TransientError("cut off, and the server cannot continue from there")
                self.hub.wait(broken, tries, self.label)
        raise AssertionError("wait() raises when the tries are used up")

    def stream(self, start: int, end: int, *, sized: bool = True) -> Iterator[bytes]:
        """The bytes ``start`` to ``end`` (exclusive) in chunks.

        A broken answer is continued where it broke, with back-off. Raises
        `RangeIgnoredError` when the server answers with the whole file, `FetchError` when it
        cannot be had.
        """
        position, tries = start, 0
        while position < end:
            taken = 0
            try:
                for chunk in self._answer(position, end, sized):
                    if position >= end and chunk:
                        break  # more than was asked for
                    piece = chunk[: end - position]
                    position += len(piece)
                    taken += len(piece)
                    yield piece
                    if self.hub.stop.is_set():
                        raise StoppedError
                if position < end:
                    raise TransientError(f"cut off with {end - position} bytes to come")
            except TransientError as fault:
                tries = 0 if taken >= _PROGRESS else tries
                self.hub.wait(fault, tries, self.label)
                tries += 1
            except MovedError:
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
                whole = not sized or (start == 0 and end == self.size)
                yield from chunks if status == 206 else self._no_page(chunks, url, whole)
        except transport_errors() as error:
            raise transport_error(error, self.label) from None

    def _check_answer(
        self, status: int, answered: Mapping[str, str], start: int, end: int, url: str, sized: bool
    ) -> None:
        if status == 206:
            self._check_range(answered.get("Content-Range", ""), start, sized)
        elif status == 200:
            check_whole(self.label, url, answered, self.size if sized else None)
            if not sized:
                self.size = int(answered.get("Content-Length") or 0)
        elif status in (401, 403, 404, 410) and origin(url) != origin(self.hub.endpoint):
            raise MovedError
        else:
            raise status_error(status, answered, self.label)

    def _no_page(self, chunks: Iterable[bytes], url: str, whole: bool) -> Iterator[bytes]:
        """The body of a whole file; an error where it is a web page, or not ``whole`` wanted."""
        taken = iter(chunks)
        first = next((chunk for chunk in taken if chunk), b"")
        if is_web_page(first):
            raise FetchError(web_page(self.label, url))
        if not whole:
            raise RangeIgnoredError(
                f"{self.label}: the server {origin(url)[1]} ignores byte ranges and sends "
                f"the whole file ({self.size / 1e6:,.1f} MB)"
            )
        yield first
        yield from taken

    def _check_range(self, text: str, start: int, sized: bool) -> None:
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", text.strip())
        if not match or int(match[1]) != start:
            raise TransientError(f"the server answered with another range ({text[:60]!a})")
        if not sized and match[3] != "*":
            self.size = int(match[3])
        elif match[3] not in ("*", str(self.size)):
            raise FetchError(
                f"{self.label}: its size changed from {self.size} to {match[3]} bytes while it "
                "was read; run it again"
            )


# --- the session, whichever library the installed huggingface_hub uses ---------------------------


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


def _digest(content: bytes, tag: str | None) -> str | None:
    """The digest that the hub uses as this kind of ETag: git's blob id, or SHA-256 (LFS)."""
    if tag is None or not re.fullmatch("[0-9a-f]+", tag):
        return None
    if len(tag) == 40:
        return _git_blob(content)
    return hashlib.sha256(content).hexdigest() if len(tag) == 64 else None


def _git_blob(content: bytes) -> str:
    """Git's name for the content; no protection, so allowed where FIPS forbids SHA-1."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
