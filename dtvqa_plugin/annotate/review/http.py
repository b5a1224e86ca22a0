"""HTTP of the review page: one host, one origin, one token, and headers that forbid the rest."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.errors import DTVQAError

MAX_BODY = 1_000_000
RESTARTED = (
    "This address belongs to a review that has ended. Where the review was started again, open the "
    "address that it printed. Nothing was saved just now."
)
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class RequestError(Exception):
    """A request that is answered with an error status. ``more``: further fields of the answer."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.more = more


class Owner(Protocol):
    """What answers requests."""

    token: str
    hosts: set[str]

    def get(self, path: str, query: dict[str, str]) -> tuple[str, bytes]:
        """Media type and body for a path below the token."""

    def post(self, path: str, body: Entry) -> tuple[str, bytes]:
        """Take what was sent."""


class LoopbackServer(ThreadingHTTPServer):
    """Listens on this machine only. On Windows an address in use must not be shared."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"

    def __init__(self, owner: Owner, port: int) -> None:
        super().__init__(("127.0.0.1", port), _handler(owner))


def json_answer(values: Any) -> tuple[str, bytes]:
    """Media type and body of a JSON answer."""
    return "application/json", json.dumps(values).encode()


def _handler(owner: Owner) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "dtvqa"
        sys_version = ""
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_GET(self) -> None:
            self._answer(lambda path, query: owner.get(path, query))

        def do_POST(self) -> None:
            self._answer(lambda path, query: owner.post(path, self._body()))

        def _answer(self, work: Callable[[str, dict[str, str]], tuple[str, bytes]]) -> None:
            try:
                path, query = self._checked()
                media, body = work(path, query)
                status = 200
            except RequestError as error:
                status = error.status
                media, body = json_answer({"error": str(error), **error.more})
            except DTVQAError as error:
                status, (media, body) = 409, json_answer({"error": str(error)})
            self._send(status, media, body)

        def _checked(self) -> tuple[str, dict[str, str]]:
            """The path below the token. A page of another origin gets nothing, not even a hint."""
            if self.headers.get("Host") not in owner.hosts:
                self.close_connection = True
                raise RequestError(403, "wrong host")
            origin = self.headers.get("Origin")
            if origin is not None and urlsplit(origin).netloc not in owner.hosts:
                self.close_connection = True
                raise RequestError(403, "wrong origin")
            address = urlsplit(self.path)
            token, _, path = address.path.lstrip("/").partition("/")
            if not secrets.compare_digest(token.encode(), owner.token.encode()):
                self.close_connection = True
                raise RequestError(404, RESTARTED)
            return path, {name: values[-1] for name, values in parse_qs(address.query).items()}

        def _body(self) -> Entry:
            if self.headers.get_content_type() != "application/json":
                raise RequestError(415, "send application/json")
            try:
                length = int(self.headers.get("Content-Length", ""))
            except ValueError:
                length = -1
            if not 0 <= length <= MAX_BODY:
                self.close_connection = True
                raise RequestError(413, "no length, or too long")
            try:
                body = json.loads(self.rfile.read(length))
            except (ValueError, RecursionError):
                raise RequestError(400, "not JSON") from None
            if not isinstance(body, dict):
                raise RequestError(400, "not an object")
            return body

        def _send(self, status: int, media: str, body: bytes) -> None:
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Type": media}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests hold the token: they are logged nowhere."""

    return Handler
