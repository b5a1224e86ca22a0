"""What an endpoint sends back: an answer that was paid for, or a fault and its severity."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import openai

from dtvqa_plugin.annotate.asking.structured import Mode

MAX_REPLY_BYTES = 8_000_000
MAX_WAIT = 300.0

Severity = Literal["retry", "image", "fatal"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that was paid for. Token counts are the endpoint's own, ``None`` without.

    ``perhaps_paid`` counts earlier attempts that the endpoint may have charged for as well.
    """

    text: str
    model: str
    finish_reason: str | None
    refusal: bool
    input_tokens: int | None
    output_tokens: int | None
    attempts: int
    seconds: float
    mode: Mode = "text"
    perhaps_paid: int = 0


class AskError(Exception):
    """No answer. ``fatal`` ends the run, ``image`` concerns this image, ``retry`` may pass.

    ``perhaps_paid`` counts attempts that the endpoint may have charged for all the same.
    ``unsupported``: the endpoint may refuse a field of the request, not its content.
    """

    def __init__(
        self,
        severity: Severity,
        message: str,
        *,
        wait: float | None = None,
        perhaps_paid: int = 0,
        unsupported: bool = False,
    ) -> None:
        super().__init__(message)
        self.severity = severity
        self.wait = wait
        self.perhaps_paid = perhaps_paid
        self.unsupported = unsupported
        self.attempts = 1

    @classmethod
    def plain(cls, error: AskError, message: str) -> AskError:
        """The same fault with another message."""
        new = cls(error.severity, message, perhaps_paid=error.perhaps_paid)
        new.attempts = error.attempts
        return new


def parse_reply(reply: bytes, model: str, mode: Mode) -> Answer:
    """The answer of a chat completion. Raises `AskError` for anything else with status 200."""
    try:
        parsed = json.loads(reply)
        choice = parsed["choices"][0]
        finish = choice.get("finish_reason")
        if finish == "error":
            raise AskError("retry", "the endpoint ended its answer with an error", perhaps_paid=1)
        message = choice["message"]
        refusal = message.get("refusal")
        text = _content(message.get("content"))
        text = text or (_arguments(message) if mode == "tool" else "")
        if not text and isinstance(refusal, str):
            text = refusal
        # Halves of surrogate pairs have no UTF-8; whole ones are one character.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        usage = parsed.get("usage") or {}
        named = parsed.get("model")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        start = reply[:80].decode(errors="replace").strip()
        what = "a web page" if start.startswith("<") else "no chat completion"
        raise AskError("retry", f"the reply is {what}: {start!a}", perhaps_paid=1) from None
    return Answer(
        text=text,
        model=named if isinstance(named, str) else model,
        finish_reason=finish if isinstance(finish, str) else None,
        refusal=isinstance(refusal, str) or finish == "content_filter",
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        attempts=1,
        seconds=0.0,
        mode=mode,
    )


def _content(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some may hold none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _arguments(message: dict[str, Any]) -> str:
    """The arguments of the first tool call, as they came."""
    for call in message.get("tool_calls") or []:
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str):
            return arguments
    return ""


def read_reply(chunks: Iterable[bytes], deadline: float, timeout: float) -> bytes:
    """All bytes of a reply, by a deadline: an endpoint that drips for ever is not waited for."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            raise AskError("retry", f"a reply of over {MAX_REPLY_BYTES} bytes", perhaps_paid=1)
        if time.monotonic() > deadline:
            raise AskError("retry", f"no complete answer within {timeout:g} s", perhaps_paid=1)
    return b"".join(parts)


def shown_error(error: openai.APIStatusError) -> str:
    """What the endpoint says, shortly; of a web page only that it is one."""
    try:
        body = error.response.text.strip()
    except Exception:  # the transport's own errors; the status is reported anyway
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
