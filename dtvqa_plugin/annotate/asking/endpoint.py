"""One question to an OpenAI-compatible endpoint: its answer, or a fault with what to do about it.

The ``openai`` client sends; its own retries are off, because retries here obey the rate limit and
are counted. Replies are read as bytes within a time and a size, and parsed here: an endpoint that
streams garbage, sends HTML with status 200 or never ends costs one attempt, not the run.
"""

from __future__ import annotations

import base64
import logging
import os
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import openai

from dtvqa_plugin.annotate.asking.replies import (
    MAX_WAIT,
    Answer,
    AskError,
    parse_reply,
    read_reply,
    shown_error,
)
from dtvqa_plugin.annotate.asking.structured import Mode, ModeFinder, request_fields
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Endpoint
from dtvqa_plugin.utils.http import retry_after
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

_MODERATION = re.compile(r"moderat|safety|polic|flagged|content.?filter|blocked|harm", re.I)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Stopped(Exception):  # noqa: N818  (a signal between threads, not a fault)
    """The run was asked to stop while this question waited for its turn."""


class RateLimit:
    """At most ``per_minute`` starts a minute, evenly spaced; shared by threads."""

    def __init__(
        self, per_minute: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()

    def delay(self) -> float:
        """Take the next start; returns the seconds to wait until it."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
            return start - now

    def pause(self, seconds: float) -> None:
        """Start no request for that long (the endpoint asked for it)."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


def api_key(endpoint: Endpoint) -> str:
    """The key from the environment. Raises `AnnotateError` naming the variable when it is unset.

    An endpoint on this machine may go without one.
    """
    key = os.environ.get(endpoint.key_env, "").strip()
    if key:
        return key
    host = urlsplit(endpoint.base_url or "").hostname
    if host in _LOOPBACK:
        return "none"
    raise AnnotateError(
        f"no key for {endpoint.base_url or 'the OpenAI API'}: set the environment variable "
        f"{endpoint.key_env} (it is never written to a file)"
    )


@dataclass
class Asker:
    """Asks one endpoint, from several threads. ``stop`` interrupts waiting.

    ``succeeded``: the endpoint has answered before, so that the key is known to be good. ``modes``
    says how to ask for structure; plain text is asked for without it.
    """

    endpoint: Endpoint
    stop: threading.Event = field(default_factory=threading.Event)
    succeeded: bool = False
    modes: ModeFinder = field(default_factory=lambda: ModeFinder("text", settled=True))

    def __post_init__(self) -> None:
        # The client's own logger could show requests with headers at debug level.
        for name in ("openai", "httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._key = api_key(self.endpoint)
        timeout = openai.Timeout(self.endpoint.timeout, connect=min(30.0, self.endpoint.timeout))
        self._client = openai.OpenAI(
            api_key=self._key, base_url=self.endpoint.base_url, max_retries=0, timeout=timeout
        )
        self._rate = RateLimit(self.endpoint.requests_per_minute)

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def ask(
        self,
        text: str,
        image: tuple[str, bytes] | None = None,
        may_pay_again: Callable[[int], bool] = lambda paid: True,
    ) -> Answer:
        """The endpoint's answer to ``text`` about ``image`` (media type, bytes).

        Args:
            text: The question.
            image: Media type and bytes.
            may_pay_again: Whether one more attempt may be made after this many that the endpoint
                may have charged for.

        Raises:
            AskError: There is no answer after the configured retries.
            Stopped: The run was asked to stop.
        """
        if not self.modes.settled:
            with self.modes.lock:
                if not self.modes.settled:
                    return self._attempts(text, image, may_pay_again)
        return self._attempts(text, image, may_pay_again)

    def _attempts(
        self,
        text: str,
        image: tuple[str, bytes] | None,
        may_pay_again: Callable[[int], bool],
    ) -> Answer:
        paid, attempt, mode = 0, 0, self.modes.mode
        while True:
            attempt += 1
            self._wait(self._rate.delay())
            started = time.monotonic()
            try:
                reply = self._reply(text, image, mode)
                answer = parse_reply(reply, self.endpoint.model, mode)
            except AskError as error:
                error.attempts = attempt
                paid += error.perhaps_paid
                error.perhaps_paid = paid
                other = self.modes.refused(mode) if error.unsupported else None
                if other is not None:
                    mode = other
                    continue
                again = error.severity == "retry" and attempt <= self.endpoint.retries
                if not again or (paid and not may_pay_again(paid)):
                    raise AskError.plain(error, self._plain(str(error))) from None
                self._back_off(error, attempt)
                continue
            self.modes.answered(mode, answer.text, answer.finish_reason)
            self.succeeded = True
            seconds = round(time.monotonic() - started, 3)
            return replace(answer, attempts=attempt, seconds=seconds, perhaps_paid=paid)

    def _back_off(self, error: AskError, attempt: int) -> None:
        own = min(60.0, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        if error.wait is not None:
            self._rate.pause(error.wait)
            own = error.wait
        logger.info("attempt %d failed (%s); again in %.1f s", attempt, error, own)
        self._wait(own)

    def _wait(self, seconds: float) -> None:
        if self.stop.wait(seconds) if seconds > 0 else self.stop.is_set():
            raise Stopped

    def _reply(self, text: str, image: tuple[str, bytes] | None, mode: Mode) -> bytes:
        content: list[dict[str, Any]] = []
        if image is not None:
            media, data = image
            url = f"data:{media};base64,{base64.b64encode(data).decode()}"
            content.append({"type": "image_url", "image_url": {"url": url}})
        content.append({"type": "text", "text": text})
        body: dict[str, Any] = request_fields(mode)
        body |= {self.endpoint.token_limit_field: self.endpoint.max_output_tokens}
        if self.endpoint.temperature is not None:
            body["temperature"] = self.endpoint.temperature
        deadline = time.monotonic() + self.endpoint.timeout
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=self.endpoint.model,
                messages=[{"role": "user", "content": content}],  # type: ignore[misc,list-item]  # a dict of the right form
                extra_body={**body, **self.endpoint.extra},
            ) as response:
                return read_reply(response.iter_bytes(), deadline, self.endpoint.timeout)
        except openai.APIStatusError as error:
            raise self._status_fault(error) from None
        except AskError:
            raise
        except openai.APIConnectionError as error:
            raise self._broken(error.__cause__ or error) from None
        except Exception as error:  # the client's transport, whichever it is, has its own errors
            raise self._broken(error) from None

    def _broken(self, error: BaseException) -> AskError:
        if "timeout" in type(error).__name__.lower():
            return AskError(
                "retry", f"no answer within {self.endpoint.timeout:g} s", perhaps_paid=1
            )
        what = f"no connection, or a broken one: {type(error).__name__}: {error}"
        return AskError("retry", self._plain(what))

    def _status_fault(self, error: openai.APIStatusError) -> AskError:
        status, shown = error.status_code, self._plain(shown_error(error))
        where = self.endpoint.base_url or "the OpenAI API"
        if status == 403 and (self.succeeded or _MODERATION.search(shown)):
            return AskError("image", f"status 403: {shown}")
        if status in (401, 403):
            return AskError(
                "fatal",
                f"{where} refuses the key in {self.endpoint.key_env} (status {status}: {shown})",
            )
        if status == 404:
            return AskError(
                "fatal",
                f"{where} has no model {self.endpoint.model!r}, or is not an OpenAI-compatible "
                f"endpoint (status 404: {shown})",
            )
        if status == 402 or "insufficient_quota" in shown:
            return AskError("fatal", f"{where}: the account is out of credit (status {status})")
        if status in (408, 409, 425, 429) or status >= 500:
            wait = retry_after(error.response.headers)
            wait = None if wait is None else min(MAX_WAIT, wait)
            return AskError("retry", f"status {status}: {shown}", wait=wait)
        return AskError("image", f"status {status}: {shown}", unsupported=status in (400, 422, 501))

    def _plain(self, message: str) -> str:
        """The message on one line, without the key (some endpoints repeat it)."""
        text = " ".join(message.split())
        return (text.replace(self._key, "***") if len(self._key) > 4 else text)[:300]
