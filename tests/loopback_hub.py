"""A real HTTP server on this machine that speaks the Hugging Face hub's download protocol.

``/OWNER/NAME/resolve/REVISION/PATH`` on one port (the hub) answers with ``X-Repo-Commit`` and
``ETag``; large files are redirected, with ``X-Linked-Size`` and ``X-Linked-ETag``, to a signed
address on a second port (the store), which serves byte ranges. Every request is recorded, with
the number of body bytes that went out. As a proxy (asked for whole addresses) the hub serves both.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import parse_qs, unquote, urlsplit

REPO = "shuozhang2/DT-VQA"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SIGNATURE = "s1gned-secret"
_RANGE = re.compile(r"bytes=(\d+)-(\d*)$")


@dataclass
class Seen:
    """One request: ``server`` is ``hub`` or ``store``, ``sent`` the body bytes that went out."""

    server: str
    method: str
    path: str
    range: str | None
    authorization: str | None
    agent: str = ""
    status: int = 0
    sent: int = 0
    at: float = field(default_factory=time.monotonic)

    @property
    def start(self) -> int:
        """The first byte asked for."""
        asked = _RANGE.match(self.range or "")
        return int(asked[1]) if asked else 0


@dataclass(frozen=True)
class Answer:
    """An answer of another server, status 200; without ``length`` its end ends the connection."""

    body: bytes
    headers: dict[str, str]
    length: bool = True


@dataclass(frozen=True)
class Fault:
    """What to do to one answer instead of serving it well.

    ``status`` replaces it. ``stop_after`` sends that many body bytes and then cuts the connection
    (``how``: ``close``, ``reset`` or ``stall``). ``flip_at`` damages the byte at that offset of
    the file. ``ignore_range`` sends the whole file with status 200. ``answer`` is sent instead.
    """

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    stop_after: int | None = None
    how: str = "close"
    flip_at: int | None = None
    ignore_range: bool = False
    answer: Answer | None = None


@dataclass
class LoopbackHub:
    """``with LoopbackHub(folder) as hub: ...``: ``folder`` holds a release in its layout.

    ``fault`` is asked about each request and returns a `Fault` or ``None``. ``token`` is the one
    the hub demands, if any; ``rate`` the bytes a second that the store sends, all connections
    together; files over ``redirect_over`` bytes are redirected.
    """

    root: Path
    token: str | None = None
    commit: str = COMMIT
    rate: float | None = None
    redirect_over: int = 1_000_000
    prefix: str = ""
    fault: Callable[[Seen], Fault | None] = lambda seen: None
    on_sent: Callable[[Seen], None] = lambda seen: None
    seen: list[Seen] = field(default_factory=list)
    signature: str = SIGNATURE
    archive_tag: str | None = None
    _servers: list[ThreadingHTTPServer] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _free_at: float = 0.0
    _tags: dict[tuple[str, float], str] = field(default_factory=dict)

    def __enter__(self) -> LoopbackHub:
        for name in ("hub", "store"):
            server = _Server(("127.0.0.1", 0), _handler(self, name))
            self._servers.append(server)
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    @property
    def url(self) -> str:
        """What ``HF_ENDPOINT`` is to be set to."""
        return f"http://127.0.0.1:{self._servers[0].server_port}{self.prefix}"

    @property
    def store_url(self) -> str:
        return f"http://127.0.0.1:{self._servers[1].server_port}"

    def of(self, name: str) -> list[Seen]:
        """The recorded requests for a file, by the end of its path."""
        return [seen for seen in self.seen if urlsplit(seen.path).path.endswith(name)]

    def sent(self, name: str = "") -> int:
        """Body bytes sent for a file (default: for all)."""
        return sum(seen.sent for seen in self.of(name))

    def tag(self, path: Path) -> str:
        """The ETag as the hub makes it: SHA-256 for large files, git's blob id for others."""
        if self.archive_tag and path.suffix != ".json":
            return self.archive_tag
        key = (str(path), path.stat().st_mtime)
        if key not in self._tags:
            size = path.stat().st_size
            large = size > self.redirect_over
            digest = (
                hashlib.sha256()
                if large
                else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            )
            with path.open("rb") as handle:
                while chunk := handle.read(1 << 20):
                    digest.update(chunk)
            self._tags[key] = digest.hexdigest()
        return self._tags[key]

    def pace(self, size: int) -> None:
        """Wait until ``size`` more bytes may go out."""
        if self.rate is None:
            return
        with self._lock:
            start = max(self._free_at, time.monotonic() - 0.01)
            self._free_at = start + size / self.rate
            wait = self._free_at - time.monotonic()
        if wait > 0:
            time.sleep(wait)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""


class _CutError(Exception):
    """The connection was ended on purpose."""


def _handler(owner: LoopbackHub, server: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_HEAD(self) -> None:
            self._serve()

        def do_GET(self) -> None:
            self._serve()

        def _serve(self) -> None:
            headers = self.headers
            self.now = Seen(
                server, self.command, self.path, headers["Range"], headers["Authorization"]
            )
            self.now.agent = headers["User-Agent"] or ""
            owner.seen.append(self.now)
            fault = owner.fault(self.now) or Fault()
            try:
                if fault.answer is not None:
                    self._other(fault.answer)
                elif fault.status is not None:
                    self._plain(fault.status, dict(fault.headers))
                elif server == "hub" and "/blobs/" not in self.path:
                    self._hub(fault)
                else:
                    self._store(fault)
                self.wfile.flush()
            except (_CutError, OSError):
                self.close_connection = True

        def _hub(self, fault: Fault) -> None:
            refusal, name = self._refused()
            if refusal is not None:
                code, status = refusal
                self._plain(status, {"X-Error-Code": code, "X-Repo-Commit": owner.commit})
                return
            file = owner.root / name
            common = {"X-Repo-Commit": owner.commit, "Accept-Ranges": "bytes"}
            if file.stat().st_size <= owner.redirect_over:
                self._file(file, common, fault)
                return
            address = f"{owner.store_url}/blobs/{name}?Signature={owner.signature}"
            linked = {
                "Location": address,
                "X-Linked-Size": str(file.stat().st_size),
                "X-Linked-ETag": f'"{owner.tag(file)}"',
            }
            self._plain(302, {**common, **linked})

        def _refused(self) -> tuple[tuple[str, int] | None, str]:
            """Error code and status where the hub refuses, and the file's name."""
            path = unquote(urlsplit(self.path).path).removeprefix(owner.prefix)
            repository, _, rest = path.partition("/resolve/")
            revision, _, name = rest.partition("/")
            if owner.token and self.now.authorization != f"Bearer {owner.token}":
                return ("RepoNotFound", 401), name
            if repository != f"/{REPO}":
                return ("RepoNotFound", 404), name
            if revision not in ("main", owner.commit):
                return ("RevisionNotFound", 404), name
            return (None if (owner.root / name).is_file() else ("EntryNotFound", 404)), name

        def _store(self, fault: Fault) -> None:
            parts = urlsplit(self.path)
            if parse_qs(parts.query).get("Signature") != [owner.signature]:
                self._plain(403, {})
            else:
                file = owner.root / unquote(parts.path).removeprefix("/blobs/")
                self._file(file, {"Accept-Ranges": "bytes"}, fault)

        def _other(self, answer: Answer) -> None:
            length = {"Content-Length": str(len(answer.body))} if answer.length else {}
            self._head(200, {**answer.headers, **length})
            if self.command != "HEAD":
                self.wfile.write(answer.body)
            self.close_connection = not answer.length

        def _plain(self, status: int, headers: dict[str, str]) -> None:
            body = b"" if self.command == "HEAD" else json.dumps({"status": status}).encode()
            self._head(status, {**headers, "Content-Length": str(len(body))})
            self.wfile.write(body)

        def _head(self, status: int, headers: dict[str, str]) -> None:
            self.now.status = status
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def _file(self, file: Path, headers: dict[str, str], fault: Fault) -> None:
            size = file.stat().st_size
            begin, end, status = 0, size, 200
            asked = None if fault.ignore_range else _RANGE.match(self.now.range or "")
            if asked:
                begin = int(asked[1])
                end = min(int(asked[2]) + 1 if asked[2] else size, size)
                if begin >= end:
                    self._plain(416, {"Content-Range": f"bytes */{size}"})
                    return
                status = 206
                headers = {**headers, "Content-Range": f"bytes {begin}-{end - 1}/{size}"}
            headers = {
                **headers,
                "ETag": f'"{owner.tag(file)}"',
                "Content-Length": str(end - begin),
                "Content-Type": "application/octet-stream",
            }
            self._head(status, headers)
            self.wfile.flush()
            if self.command == "GET":
                self._body(file, begin, end, fault)

        def _body(self, file: Path, begin: int, end: int, fault: Fault) -> None:
            stop = end if fault.stop_after is None else min(end, begin + fault.stop_after)
            with file.open("rb") as handle:
                position = begin
                while position < stop:
                    size = min(stop - position, 65536 if owner.rate else 1 << 20)
                    owner.pace(size)
                    sent = self._send(handle.fileno(), position, size, fault.flip_at)
                    position += sent
                    self.now.sent += sent
                    owner.on_sent(self.now)
            if stop < end:
                self._cut(fault.how)

        def _send(self, descriptor: int, position: int, size: int, flip: int | None) -> int:
            if flip is None or not position <= flip < position + size:
                return os.sendfile(self.connection.fileno(), descriptor, position, size)
            content = bytearray(os.pread(descriptor, size, position))
            content[flip - position] ^= 0xFF
            self.connection.sendall(content)
            return size

        def _cut(self, how: str) -> None:
            if how == "stall":
                # Until the client gives up and closes its end.
                self.connection.settimeout(30)
                with contextlib.suppress(OSError):
                    self.connection.recv(1)
            elif how == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
            raise _CutError

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output to itself."""

    return Handler


def main() -> None:
    """Serve a folder until killed; print the address, then one JSON line of counts on each line
    read from standard input.
    """
    parser = argparse.ArgumentParser(description="Serve a release as the hub would, on loopback.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--rate", type=float, help="bytes a second, all connections together")
    parser.add_argument("--tag", help="ETag of large files, which spares reading them")
    options = parser.parse_args()
    with LoopbackHub(options.root, rate=options.rate, archive_tag=options.tag) as hub:
        print(hub.url, flush=True)
        while True:
            try:
                input()
            except EOFError:
                return
            requests = sum(1 for seen in hub.seen if seen.method == "GET")
            print(json.dumps({"sent": hub.sent(), "requests": requests}), flush=True)
            hub.seen.clear()


if __name__ == "__main__":
    main()
