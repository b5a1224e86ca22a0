"""A loopback endpoint that behaves like real ones: delays, faults, several styles of answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Fault = tuple[int, dict[str, str], bytes]
"""Status, headers and body of a reply that is no answer."""

KEY = "sk-loopback-0123456789"


def too_many(wait: str = "0") -> Fault:
    body = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
    return 429, {"Retry-After": wait}, json.dumps(body).encode()


def status(code: int, message: str = "it broke") -> Fault:
    return code, {}, json.dumps({"error": {"message": message}}).encode()


WEB_PAGE: Fault = (200, {"Content-Type": "text/html"}, b"<html><body>Welcome</body></html>")
WEB_PAGE_502: Fault = (502, {"Content-Type": "text/html"}, b"<html>Bad gateway</html>")
GARBAGE: Fault = (200, {}, b"\x00\xffnot json at all{{{")
CUT_JSON: Fault = (200, {}, b'{"choices": [{"message": {"content": "Q1: Wh')
NO_CHOICES: Fault = (200, {}, b'{"choices": [], "usage": null}')
WRONG_SHAPE: Fault = (200, {}, b'{"choices": [{"message": "text"}]}')
EVENT_STREAM: Fault = (
    200,
    {"Content-Type": "text/event-stream"},
    b"data: {garbage\n\ndata: [DONE]\n",
)
DROPPED: Fault = (-1, {}, b"")
"""The connection is closed without a reply."""
DRIPPING: Fault = (-2, {}, b"")
"""Bytes come one by one and never end."""


@dataclass
class Endpoint:
    """``script(number, request)`` gives a text, a whole message, or a `Fault`, per request.

    ``number`` counts chat requests from 0 in order of arrival. ``key``: the only key accepted.
    """

    script: Callable[[int, dict[str, Any]], str | dict[str, Any] | Fault]
    delay: float = 0.0
    usage: bool = True
    key: str | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    keep: bool = True
    count: int = 0
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Endpoint:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"


def prompt_of(request: dict[str, Any]) -> str:
    """The text of a request."""
    return "".join(p["text"] for p in request["messages"][0]["content"] if p["type"] == "text")


def _handler(owner: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with owner._lock:
                number = owner.count
                owner.count += 1
                owner._now += 1
                owner.most_at_once = max(owner.most_at_once, owner._now)
                request = json.loads(body)
                if owner.keep:
                    owner.requests.append(request)
            try:
                self._respond(number, request)
            finally:
                with owner._lock:
                    owner._now -= 1

        def _respond(self, number: int, request: dict[str, Any]) -> None:
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if owner.key is not None and given != owner.key:
                self._send(*status(401, f"Incorrect API key provided: {given}"))
                return
            time.sleep(owner.delay)
            said = owner.script(number, request)
            if isinstance(said, tuple):
                self._send(*said)
                return
            message = said if isinstance(said, dict) else {"content": said}
            choice = {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": message.pop("finish_reason", "stop"),
            }
            reply: dict[str, Any] = {
                "id": f"c{number}",
                "object": "chat.completion",
                "created": 0,
                "model": f"{request['model']}-2026-01-01",
                "choices": [choice],
            }
            if owner.usage:
                reply["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100}
            self._send(200, {}, json.dumps(reply).encode())

        def _send(self, code: int, headers: dict[str, str], body: bytes) -> None:
            if code == -1:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if code == -2:
                self._drip()
                return
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _drip(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for _ in range(200):
                    self.wfile.write(b"1\r\n \r\n")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                return

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test's output to itself."""

    return Handler
