"""A real OpenAI-compatible chat server on this machine: it records requests, answers as told."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

MODEL = "loopback"


@dataclass
class LoopbackOpenAI:
    """``with LoopbackOpenAI(lambda request: "42") as server: ...``

    ``answers`` gets the parsed request and returns the reply's text; an exception in it becomes
    HTTP status 500. ``url`` ends in ``/v1``. ``requests`` holds every chat request in order of
    arrival; ``count`` is their number, failed ones included.
    """

    answers: Callable[[dict[str, Any]], str]
    requests: list[dict[str, Any]] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self._server is not None, "the server runs inside its with block only"
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def count(self) -> int:
        return len(self.requests)

    def __enter__(self) -> LoopbackOpenAI:
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """Many clients connect at once: the standard queue of 5 would turn some of them away."""

    request_queue_size = 256


def parts(request: dict[str, Any]) -> list[tuple[str, str | bytes]]:
    """What the user turns of a request hold, in order: ``("text", str)`` and ``("image", bytes)``.

    ``bytes`` are the image file as it was sent. A system turn comes as ``("system", text)``.
    """
    found: list[tuple[str, str | bytes]] = []
    for message in request["messages"]:
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in content:
            if part["type"] == "text":
                found.append(("text" if message["role"] == "user" else "system", part["text"]))
            else:
                url = part["image_url"]
                data = url["url"] if isinstance(url, dict) else url
                found.append(("image", base64.b64decode(data.partition("base64,")[2])))
    return found


def text_of(request: dict[str, Any]) -> str:
    """All text of the user turns, joined as it stands."""
    return "".join(str(value) for kind, value in parts(request) if kind == "text")


def image_of(request: dict[str, Any]) -> bytes:
    """The one image file of the request."""
    (image,) = [value for kind, value in parts(request) if kind == "image"]
    assert isinstance(image, bytes)
    return image


def _handler(owner: LoopbackOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path.rstrip("/").endswith("/models"):
                self._reply(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            else:
                self._reply(404, {"error": {"message": f"no {self.path} here"}})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.endswith("/chat/completions"):
                self._reply(404, {"error": {"message": f"no {self.path} here"}})
                return
            owner.requests.append(request)
            try:
                answer = owner.answers(request)
            except Exception as error:
                # The client is to see a failing server, whatever the failure.
                self._reply(500, {"error": {"message": str(error), "type": "server_error"}})
                return
            message = {"role": "assistant", "content": answer}
            self._reply(
                200,
                {
                    "id": f"chatcmpl-{owner.count}",
                    "object": "chat.completion",
                    "created": 0,
                    "model": request.get("model", MODEL),
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                },
            )

        def _reply(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test's output to itself."""

    return Handler
