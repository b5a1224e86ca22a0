"""The page's server: loopback only, under a random token, one origin, no scripts but its own."""

from __future__ import annotations

import importlib.resources
import io
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.inventory import ImageIndex
from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.queue import FILTERS, Queue, View
from dtvqa_plugin.annotate.text.reader import TextReader
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.utils.images import load_rgb
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

MAX_BODY = 1_000_000
MAX_TEXT = 2000
MAX_ANSWERS = 50
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
_ASSETS = {
    "": ("index.html", "text/html; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    **{
        name: (name, "text/javascript; charset=utf-8")
        for name in ("base.js", "progress.js", "pair.js", "image.js", "app.js")
    },
}


class _RequestError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ReviewServer:
    """Serves one project. ``url`` holds the token; nothing is answered without it.

    Raises `AnnotateError` when there is nothing to review, or the port is taken.
    """

    def __init__(self, project: Project, *, reviewer: str | None = None, port: int = 0) -> None:
        self.project = project
        self.reviewer = checked_name(reviewer) if reviewer else None
        self.queue = Queue(project)
        self.images = ImageIndex(project)
        self.texts = TextReader(project)
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        try:
            self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise AnnotateError(
                f"port {port}: {error.strerror}; leave --port out for a free one"
            ) from None
        self._http.daemon_threads = True
        self.port = self._http.server_port
        self.hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def serve(self) -> None:
        """Answer requests until `close` (from another thread) or Ctrl-C."""
        self._http.serve_forever(0.1)

    def close(self) -> None:
        """Free the port. Every decision is on disk already."""
        self._http.shutdown()
        self._http.server_close()

    # --- what the page asks for ---

    def get(self, path: str, query: dict[str, str]) -> tuple[str, bytes]:
        """Media type and body for a path below the token. Raises `_RequestError`."""
        if path in _ASSETS:
            name, media = _ASSETS[path]
            place = importlib.resources.files("dtvqa_plugin.annotate.review") / "page" / name
            return media, place.read_bytes()
        if path == "api/state":
            with self.lock:
                state = self.queue.state(self._reviewer(query))
            return _json({**state, "reviewer": self.reviewer})
        if path == "api/pair":
            return _json(self._pair(query))
        kind, _, sha256 = path.partition("/")
        if (
            kind in ("image", "boxes")
            and len(sha256) == 64
            and set(sha256) <= set("0123456789abcdef")
        ):
            return self._image(sha256) if kind == "image" else self._boxes(sha256)
        raise _RequestError(404, "nothing here")

    def post(self, path: str, body: Entry) -> tuple[str, bytes]:
        """Take a decision or an undoing; it is on disk when this returns."""
        reviewer = self._reviewer(body)
        with self.lock:
            if path == "api/undo":
                undone = self.queue.decisions.undo(reviewer)
                return _json({"undone": undone["pair"] if undone else None})
            if path != "api/decide":
                raise _RequestError(404, "nothing here")
            verdict = body.get("verdict")
            if verdict not in ("accept", "reject"):
                raise _RequestError(400, "the verdict is neither accept nor reject")
            pair = self.queue.pair(str(body.get("pair")))
            entry = self.queue.decisions.record(
                pair,
                reviewer,
                "accept" if verdict == "accept" else "reject",
                _text(body.get("question"), "question"),
                _answers(body.get("answers")),
                str(body.get("note") or "")[:MAX_TEXT],
            )
        return _json({"saved": entry["id"]})

    def _pair(self, query: dict[str, str]) -> Entry:
        view = View(self._reviewer(query), query.get("filter", "todo"), query.get("style", ""))
        if view.filter not in FILTERS:
            raise _RequestError(400, f"no filter {view.filter!a}")
        step = {"1": 1, "-1": -1, "0": 0}.get(query.get("step", "1"), 1)
        with self.lock:
            pair, place, total = self.queue.step(view, query.get("from"), step)
        size = self.images.entry(pair["image"]) if pair else None
        if pair and size:
            pair.update(width=size["width"], height=size["height"])
        return {"pair": pair, "place": place, "total": total}

    def _image(self, sha256: str) -> tuple[str, bytes]:
        """The image as PNG or JPEG; what browsers may not show is converted."""
        path = self.images.find(sha256).path
        start = path.open("rb").read(8)
        if start.startswith(b"\x89PNG\r\n\x1a\n"):
            return "image/png", path.read_bytes()
        if start.startswith(b"\xff\xd8"):
            return "image/jpeg", path.read_bytes()
        target = io.BytesIO()
        load_rgb(path).save(target, "PNG")
        return "image/png", target.getvalue()

    def _boxes(self, sha256: str) -> tuple[str, bytes]:
        boxes = self.texts.boxes(self.images.find(sha256))
        known = [[box.text, list(box.quad)] for box in boxes or ()]
        return _json({"boxes": known, "known": boxes is not None})

    def _reviewer(self, values: dict[str, Any]) -> str:
        """The page's reviewer, or the one that the command line has fixed."""
        if self.reviewer is not None:
            return self.reviewer
        try:
            return checked_name(str(values.get("reviewer", "")))
        except AnnotateError as error:
            raise _RequestError(400, str(error)) from None


def checked_name(name: str) -> str:
    """A reviewer's name, blanks at the ends removed. Raises `AnnotateError` for an unusable one."""
    plain = " ".join(name.split())
    if not 1 <= len(plain) <= 40 or not plain.isprintable():
        raise AnnotateError("a reviewer's name has 1 to 40 printable characters")
    return plain


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _RequestError(400, f"the {what} is empty")
    text = value.strip()
    if len(text) > MAX_TEXT:
        raise _RequestError(400, f"the {what} is over {MAX_TEXT} characters long")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _RequestError(400, f"the {what} is not valid Unicode") from None
    return text


def _answers(value: object) -> list[str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_ANSWERS:
        raise _RequestError(400, f"an accepted question has 1 to {MAX_ANSWERS} answers")
    return list(dict.fromkeys(_text(answer, "answer") for answer in value))


def _json(values: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(values).encode()


def _handler(owner: ReviewServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "dtvqa"
        sys_version = ""
        protocol_version = "HTTP/1.1"
        timeout = 60

        def do_GET(self) -> None:
            self._answer(lambda path, query: owner.get(path, query))

        def do_POST(self) -> None:
            self._answer(lambda path, query: owner.post(path, self._body()))

        def _answer(self, work: Any) -> None:
            try:
                path, query = self._checked()
                media, body = work(path, query)
                status = 200
            except _RequestError as error:
                status, (media, body) = error.status, _json({"error": str(error)})
            except DTVQAError as error:
                status, (media, body) = 409, _json({"error": str(error)})
            self._send(status, media, body)

        def _checked(self) -> tuple[str, dict[str, str]]:
            """The path below the token. A page of another origin gets nothing, not even a hint."""
            if self.headers.get("Host") not in owner.hosts:
                self.close_connection = True
                raise _RequestError(403, "wrong host")
            origin = self.headers.get("Origin")
            if origin is not None and urlsplit(origin).netloc not in owner.hosts:
                self.close_connection = True
                raise _RequestError(403, "wrong origin")
            address = urlsplit(self.path)
            token, _, path = address.path.lstrip("/").partition("/")
            if not secrets.compare_digest(token.encode(), owner.token.encode()):
                self.close_connection = True
                raise _RequestError(404, "nothing here")
            return path, {name: values[-1] for name, values in parse_qs(address.query).items()}

        def _body(self) -> Entry:
            if self.headers.get_content_type() != "application/json":
                raise _RequestError(415, "send application/json")
            try:
                length = int(self.headers.get("Content-Length", ""))
            except ValueError:
                length = -1
            if not 0 <= length <= MAX_BODY:
                self.close_connection = True
                raise _RequestError(413, "no length, or too long")
            try:
                body = json.loads(self.rfile.read(length))
            except (ValueError, RecursionError):
                raise _RequestError(400, "not JSON") from None
            if not isinstance(body, dict):
                raise _RequestError(400, "not an object")
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
