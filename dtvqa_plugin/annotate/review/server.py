"""The page's server: loopback only, under a random token, one origin, no scripts but its own."""

from __future__ import annotations

import importlib.resources
import io
import secrets
import threading
from typing import Any

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import VERDICTS, Held, Verdict
from dtvqa_plugin.annotate.review.http import LoopbackServer, RequestError, json_answer
from dtvqa_plugin.annotate.review.queue import Queue
from dtvqa_plugin.annotate.review.views import FILTERS, SORTS, View
from dtvqa_plugin.annotate.text.reader import TextReader
from dtvqa_plugin.utils.images import load_rgb
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

MAX_TEXT = 2000
MAX_ANSWERS = 50
_ASSETS = {
    "": ("index.html", "text/html; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    **{
        name: (name, "text/javascript; charset=utf-8")
        for name in (
            "base.js",
            "text.js",
            "progress.js",
            "pair.js",
            "image.js",
            "hand.js",
            "app.js",
        )
    },
}


class ReviewServer:
    """Serves one project. ``url`` holds the token; nothing is answered without it.

    Raises `AnnotateError` when there is nothing to review, or the port is taken.
    """

    def __init__(self, project: Project, *, reviewer: str | None = None, port: int = 0) -> None:
        self.project = project
        self.reviewer = checked_name(reviewer) if reviewer else None
        self.queue = Queue(project)
        self.images = self.queue.images
        self.texts = TextReader(project)
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        self._http = self._listen(port)
        self.port = self._http.server_port
        self.hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    def _listen(self, port: int) -> LoopbackServer:
        """On ``port``; on that of the last review where none is named, so that its tabs learn."""
        memory = self.project.root / ".locks" / "review.port"
        last = memory.read_text() if not port and memory.is_file() else ""
        try:
            server = LoopbackServer(self, port or (int(last[:6]) if last.isdecimal() else 0))
        except (OSError, OverflowError) as error:
            if port:
                reason = error.strerror if isinstance(error, OSError) else "no such port"
                raise AnnotateError(
                    f"port {port}: {reason}; leave --port out for a free one"
                ) from None
            server = LoopbackServer(self, 0)
        memory.parent.mkdir(exist_ok=True)
        memory.write_text(str(server.server_port))
        return server

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
        """Media type and body for a path below the token. Raises `RequestError`."""
        if path in _ASSETS:
            name, media = _ASSETS[path]
            place = importlib.resources.files("dtvqa_plugin.annotate.review") / "page" / name
            return media, place.read_bytes()
        if path == "api/state":
            with self.lock:
                state = self.queue.state(self._reviewer(query))
            return json_answer({**state, "reviewer": self.reviewer})
        if path == "api/pair":
            return json_answer(self._pair(query))
        kind, _, sha256 = path.partition("/")
        if (
            kind in ("image", "boxes")
            and len(sha256) == 64
            and set(sha256) <= set("0123456789abcdef")
        ):
            return self._image(sha256) if kind == "image" else self._boxes(sha256)
        raise RequestError(404, "nothing here")

    def post(self, path: str, body: Entry) -> tuple[str, bytes]:
        """Take a decision, a new pair or an undoing; it is on disk when this returns."""
        reviewer = self._reviewer(body)
        takes = {"api/undo": self._undo, "api/decide": self._decide, "api/add": self._add}
        if path not in takes:
            raise RequestError(404, "nothing here")
        with self.lock:
            self.queue.refresh()
            return json_answer(takes[path](reviewer, body))

    def _undo(self, reviewer: str, body: Entry) -> Entry:
        """Take back the last decision, if it is the one that the page knows as the last."""
        last = self.queue.decisions.last(reviewer)
        if last is not None and last[1].id != body.get("seen"):
            raise RequestError(
                409,
                "Your last decision was made in another tab or on another machine. Nothing was "
                "taken back; undo again to take it back.",
                overturns=True,
            )
        undone = self.queue.decisions.undo(reviewer)
        self.queue.refresh()
        pair = undone["pair"] if undone else None
        return {"undone": pair, "here": self.queue.has(str(pair))}

    def _decide(self, reviewer: str, body: Entry) -> Entry:
        verdict, decisions = body.get("verdict"), self.queue.decisions
        if verdict not in (*VERDICTS, "join"):
            raise RequestError(400, "the verdict is none of accept, reject, unsure and join")
        pair = self.queue.pair(str(body.get("pair")))
        if not pair["answers"]:
            raise RequestError(400, "there is no pair on this image yet; make one by hand")
        question, answers = _text(body.get("question"), "question"), _answers(body.get("answers"))
        note = _note(body.get("note"))
        known = body.get("seen")
        for held in decisions.heads(str(pair["pair"]), reviewer):
            unseen = not isinstance(known, list) or held.id not in known
            if unseen and _overturns(held, verdict, question, answers):
                raise RequestError(
                    409,
                    f"Meanwhile you decided on this pair elsewhere: {held.verdict}. Nothing was "
                    "saved; decide again to overturn that.",
                    overturns=True,
                )
        if verdict == "join":
            return {"saved": decisions.join(pair, reviewer, note)["id"]}
        chosen: Verdict = verdict
        return {"saved": decisions.record(pair, reviewer, chosen, question, answers, note)["id"]}

    def _add(self, reviewer: str, body: Entry) -> Entry:
        """A pair that the reviewer made, on the image of the pair that the page showed."""
        question, answers = _text(body.get("question"), "question"), _answers(body.get("answers"))
        pair = self.queue.beside(str(body.get("beside")), question, answers)
        box = _box(body.get("box"))
        more = {"by_hand": True, **({"box": box} if box else {})}
        entry = self.queue.decisions.record(
            pair, reviewer, "accept", question, answers, _note(body.get("note")), **more
        )
        self.queue.refresh()
        return {"saved": entry["id"], "pair": entry["pair"]}

    def _pair(self, query: dict[str, str]) -> Entry:
        view = View(
            self._reviewer(query),
            query.get("filter", "todo"),
            query.get("style", ""),
            query.get("flag", ""),
            query.get("search", "")[:MAX_TEXT],
            query.get("sort", "image"),
        )
        if view.filter not in FILTERS or view.sort not in SORTS:
            raise RequestError(400, f"no filter {view.filter!a}, or no order {view.sort!a}")
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
        return json_answer({"boxes": known, "known": boxes is not None})

    def _reviewer(self, values: dict[str, Any]) -> str:
        """The page's reviewer, or the one that the command line has fixed."""
        if self.reviewer is not None:
            return self.reviewer
        try:
            return checked_name(str(values.get("reviewer", "")))
        except AnnotateError as error:
            raise RequestError(400, str(error)) from None


def checked_name(name: str) -> str:
    """A reviewer's name, blanks at the ends removed. Raises `AnnotateError` for an unusable one."""
    plain = " ".join(name.split())
    if not 1 <= len(plain) <= 40 or not plain.isprintable():
        raise AnnotateError("a reviewer's name has 1 to 40 printable characters")
    return plain


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RequestError(400, f"the {what} is empty")
    text = value.strip()
    if len(text) > MAX_TEXT:
        raise RequestError(400, f"the {what} is over {MAX_TEXT} characters long")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(400, f"the {what} is not valid Unicode") from None
    return text


def _answers(value: object) -> list[str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_ANSWERS:
        raise RequestError(400, f"an accepted question has 1 to {MAX_ANSWERS} answers")
    return list(dict.fromkeys(_text(answer, "answer") for answer in value))


def _overturns(held: Held, verdict: str, question: str, answers: list[str]) -> bool:
    if verdict != held.verdict:
        return True
    return verdict == "accept" and (held.question, held.answers) != (question, tuple(answers))


def _note(value: object) -> str:
    """A note on a decision, or none."""
    return _text(value, "note") if isinstance(value, str) and value.strip() else ""


def _box(value: object) -> list[int] | None:
    """Left, top, right and bottom in pixels, or nothing."""
    if value is None:
        return None
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 4 or not all(
        isinstance(number, int | float) and 0 <= number < 1_000_000 for number in numbers
    ):
        raise RequestError(400, "the box is not left, top, right and bottom in pixels")
    return [round(number) for number in numbers]
