"""One question to an OpenAI-compatible endpoint: its answer, or a fault with what to do about it.

The ``openai`` client sends; its own retries are off, because retries here obey the rate limit and
are counted. Replies are read as bytes within a time and a size, and parsed here: an endpoint that
streams garbage, sends HTML with status 200 or never ends costs one attempt, not the run.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import openai

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Endpoint
from dtvqa_plugin.utils.http import retry_after
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

MAX_REPLY_BYTES = 8_000_000
MAX_WAIT = 300.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

Severity = Literal["retry", "image", "fatal"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that was paid for. Token counts are the endpoint's own, ``None`` without."""

    text: str
    model: str
    finish_reason: str | None
    refusal: bool
    input_tokens: int | None
    output_tokens: int | None
    attempts: int
    seconds: float


class AskError(Exception):
    """No answer. ``fatal`` ends the run, ``image`` concerns this image, ``retry`` may pass.

    ``perhaps_paid`` counts attempts that the endpoint may have charged for all the same.
    """

    def __init__(
        self, severity: Severity, message: str, *, wait: float | None = None, perhaps_paid: int = 0
    ) -> None:
        super().__init__(message)
        self.severity = severity
        self.wait = wait
        self.perhaps_paid = perhaps_paid
        self.attempts = 1


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
        """Let nobody start for that long (the endpoint asked for it)."""
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
        f"{endpoint.key_env} (it is read, and written nowhere)"
    )


@dataclass
class Asker:
    """Asks one endpoint, from several threads. ``stop`` interrupts waiting."""

    endpoint: Endpoint
    stop: threading.Event = field(default_factory=threading.Event)

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

    def ask(self, text: str, image: tuple[str, bytes] | None = None) -> Answer:
        """The endpoint's answer to ``text`` about ``image`` (media type, bytes).

        Raises `AskError` when there is none after the configured retries, `Stopped` when asked to.
        """
        perhaps_paid = 0
        for attempt in range(1, self.endpoint.retries + 2):
            self._wait(self._rate.delay())
            started = time.monotonic()
            try:
                reply = self._reply(text, image)
                return self._answer(reply, attempt, time.monotonic() - started)
            except AskError as error:
                error.attempts = attempt
                perhaps_paid += error.perhaps_paid
                error.perhaps_paid = perhaps_paid
                if error.severity != "retry" or attempt > self.endpoint.retries:
                    raise
                self._back_off(error, attempt)
        raise AssertionError("the last attempt returns or raises")

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

    def _reply(self, text: str, image: tuple[str, bytes] | None) -> bytes:
        content: list[dict[str, Any]] = []
        if image is not None:
            media, data = image
            url = f"data:{media};base64,{base64.b64encode(data).decode()}"
            content.append({"type": "image_url", "image_url": {"url": url}})
        content.append({"type": "text", "text": text})
        body: dict[str, Any] = {self.endpoint.token_limit_field: self.endpoint.max_output_tokens}
        if self.endpoint.temperature is not None:
            body["temperature"] = self.endpoint.temperature
        deadline = time.monotonic() + self.endpoint.timeout
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=self.endpoint.model,
                messages=[{"role": "user", "content": content}],  # type: ignore[misc,list-item]  # a dict of the right form
                extra_body={**body, **self.endpoint.extra},
            ) as response:
                return _read(response.iter_bytes(), deadline, self.endpoint.timeout)
        except openai.APIStatusError as error:
            raise self._status_fault(error) from None
        except AskError:
            raise
        except openai.APIConnectionError as error:
            raise self._broken(error.__cause__ or error) from None
        except Exception as error:  # the client's transport, whichever it is, has errors of its own
            raise self._broken(error) from None

    def _broken(self, error: BaseException) -> AskError:
        if "timeout" in type(error).__name__.lower():
            return AskError(
                "retry", f"no answer within {self.endpoint.timeout:g} s", perhaps_paid=1
            )
        what = f"no connection, or a broken one: {type(error).__name__}: {error}"
        return AskError("retry", self._plain(what))

    def _status_fault(self, error: openai.APIStatusError) -> AskError:
        status, shown = error.status_code, self._plain(_shown(error))
        where = self.endpoint.base_url or "the OpenAI API"
        if status in (401, 403):
            return AskError(
                "fatal",
                f"{where} refuses the key in {self.endpoint.key_env} (status {status}: {shown})",
            )
        if status == 404:
            return AskError(
                "fatal",
                f"{where} knows no model {self.endpoint.model!r}, or is no OpenAI-compatible "
                f"endpoint (status 404: {shown})",
            )
        if status == 402 or "insufficient_quota" in shown:
            return AskError("fatal", f"{where}: the account is out of credit (status {status})")
        if status in (408, 409, 425, 429) or status >= 500:
            wait = retry_after(error.response.headers)
            wait = None if wait is None else min(MAX_WAIT, wait)
            return AskError("retry", f"status {status}: {shown}", wait=wait)
        return AskError("image", f"status {status}: {shown}")

    def _answer(self, reply: bytes, attempt: int, seconds: float) -> Answer:
        """Parse a chat completion. Raises `AskError` for anything else with status 200."""
        try:
            parsed = json.loads(reply)
            choice = parsed["choices"][0]
            message = choice["message"]
            content = message.get("content")
            refusal = message.get("refusal")
            if isinstance(content, list):
                content = "".join(part.get("text", "") for part in content)
            text = content if isinstance(content, str) else ""
            if not text and isinstance(refusal, str):
                text = refusal
            # Halves of surrogate pairs have no UTF-8; whole ones are one character.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            usage = parsed.get("usage") or {}
            finish = choice.get("finish_reason")
            model = parsed.get("model")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            start = reply[:80].decode(errors="replace").strip()
            what = "a web page" if start.startswith("<") else "no chat completion"
            message = self._plain(f"the reply is {what}: {start!a}")
            raise AskError("retry", message, perhaps_paid=1) from None
        return Answer(
            text=text,
            model=model if isinstance(model, str) else self.endpoint.model,
            finish_reason=finish if isinstance(finish, str) else None,
            refusal=isinstance(refusal, str) or finish == "content_filter",
            input_tokens=_count(usage, "prompt_tokens"),
            output_tokens=_count(usage, "completion_tokens"),
            attempts=attempt,
            seconds=round(seconds, 3),
        )

    def _plain(self, message: str) -> str:
        """The message on one line, without the key (some endpoints repeat it)."""
        text = " ".join(message.split())
        return (text.replace(self._key, "***") if len(self._key) > 4 else text)[:300]


def _read(chunks: Any, deadline: float, timeout: float) -> bytes:
    """All bytes of a reply, by a deadline: an endpoint that drips for ever is not waited for."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            raise AskError("retry", f"a reply of over {MAX_REPLY_BYTES} bytes", perhaps_paid=1)
        if time.monotonic() > deadline:
            raise AskError("retry", f"no whole answer within {timeout:g} s", perhaps_paid=1)
    return b"".join(parts)


def _shown(error: openai.APIStatusError) -> str:
    """What the endpoint says, shortly; of a web page only that it is one."""
    try:
        body = error.response.text.strip()
    except Exception:  # the transport's own errors; the status is told all the same
        return "no readable message"
    if body.startswith("<"):
        return "a web page (HTML) where JSON is expected"
    try:
        parsed = json.loads(body)
        inner = parsed.get("error", parsed)
        message = inner.get("message", inner) if isinstance(inner, dict) else inner
        code = inner.get("code") if isinstance(inner, dict) else None
        return f"{message}{f' ({code})' if code else ''}"
    except (ValueError, AttributeError, RecursionError):
        return body[:200] or "no message"


def _count(usage: Any, key: str) -> int | None:
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
