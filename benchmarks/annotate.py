"""The annotation pipeline at scale, and the stage props of the walk in docs/annotate.md.

    python benchmarks/annotate.py draw FOLDER [--count 20]     labels with known text, truth.json
    python benchmarks/annotate.py serve TRUTH [--port 8123]    an endpoint that knows the truth
    python benchmarks/annotate.py scale [--images 30000]       the scale run: time, memory, kill -9
    python benchmarks/annotate.py answers [FILE ...]           pairs found for each kind of answer

The endpoint plays a vision model: it knows an image by its bytes and answers with pairs, by the
schema that is asked for or in several styles, with some mistakes, so that every stage has something
to do.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
from labels import draw_label

Truth = dict[str, list[list[str]]]
"""Question and answer pairs by the SHA-256 of an image's file."""


@click.group()
def main() -> None:
    """Scale run and stage props of ``dtvqa annotate``."""


# --- labels with known text ----------------------------------------------------------------------


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--count", default=20, show_default=True)
def draw(folder: Path, count: int) -> None:
    """Draw product labels; the pairs they hold go to truth.json beside FOLDER."""
    folder.mkdir(parents=True, exist_ok=True)
    truth: Truth = {}
    chance = random.Random(7)
    for number in range(count):
        path = folder / f"label-{number + 1:02}.png"
        pairs = draw_label(path, chance)
        truth[hashlib.sha256(path.read_bytes()).hexdigest()] = pairs
    target = folder.parent / "truth.json"
    target.write_text(json.dumps(truth, ensure_ascii=False, indent=1), encoding="utf-8")
    click.echo(f"{count} labels in {folder}, what they say in {target}")


# --- the endpoint --------------------------------------------------------------------------------


def answer_for(pairs: list[list[str]], number: int, chance: random.Random, structured: bool) -> str:
    """Five of the pairs: by the schema, or as models write them (``number`` says how)."""
    chosen = chance.sample(pairs, min(5, len(pairs)))
    if number % 7 == 3:
        # Made up, as models do: the check against recognised text is to find it.
        chosen[-1] = ["Which prize did the product win?", "Golden Spoon Award"]
    if number % 7 == 5:
        chosen[-1] = ["Is the product made of oats?", "Yes"]
    if structured:
        asked = [{"question": question, "answer": answer} for question, answer in chosen]
        return json.dumps({"pairs": asked}, ensure_ascii=False)
    style = number % 5
    if style == 0:
        return "\n".join(f"Q{n}: {q}\nA{n}: {a}" for n, (q, a) in enumerate(chosen, 1))
    if style == 1:
        body = json.dumps([{"question": q, "answer": a} for q, a in chosen], ensure_ascii=False)
        return f"Here are five pairs:\n```json\n{body}\n```"
    if style == 2:
        return "\n\n".join(f"**Q{n}:** {q}\n**A{n}:** {a}" for n, (q, a) in enumerate(chosen, 1))
    if style == 3:
        return "\n".join(f"{n}. {q} **{a}**" for n, (q, a) in enumerate(chosen, 1))
    lines = "\n".join(f"Q: {q}\nA: {a}\nExplanation: it is printed there.\n" for q, a in chosen)
    return f"Sure!\n\n{lines}\nThe label also has a recycling mark."


@main.command()
@click.argument("truth", type=click.Path(path_type=Path, exists=True))
@click.option("--port", default=8123, show_default=True)
@click.option("--faults/--no-faults", default=True, help="Now and then a 429 or a 500.")
@click.option("--free-text", is_flag=True, help="Ignore the schema that is asked for.")
def serve(truth: Path, port: int, faults: bool, free_text: bool) -> None:
    """Serve /v1/chat/completions on this machine until Ctrl-C."""
    pairs = json.loads(truth.read_text(encoding="utf-8"))
    server = make_server(pairs, port, faults, free_text)
    click.echo(f"http://127.0.0.1:{server.server_port}/v1")
    server.serve_forever()


def make_server(
    truth: Truth, port: int = 0, faults: bool = False, free_text: bool = False
) -> ThreadingHTTPServer:
    """An endpoint; of images it does not know it writes pairs made of their hash."""
    counted = iter(range(10**9))
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if free_text:
                request.pop("response_format", None)
            with lock:
                number = next(counted)
            if faults and number % 11 == 4:
                self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "1"})
            elif faults and number % 17 == 9:
                self._send(500, {"error": {"message": "internal error"}})
            else:
                self._send(200, completion(request, truth, number))

        def _send(
            self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
        ) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def completion(request: dict[str, Any], truth: Truth, number: int) -> dict[str, Any]:
    """A chat completion; without an image (the text-only check, lmms-eval's text) it guesses."""
    sha256, asked = "", ""
    for part in _parts(request):
        if part["type"] == "text":
            asked += part["text"]
        else:
            data = part["image_url"]["url"].partition("base64,")[2]
            sha256 = hashlib.sha256(base64.b64decode(data)).hexdigest()
    chance = random.Random(sha256)
    if "A1: ..." in asked:
        made_up = [[f"What is code {n}?", f"{sha256[4 * n : 4 * n + 4]} kg"] for n in range(1, 6)]
        pairs, style = truth.get(sha256, made_up), chance.randrange(100)
        text = answer_for(pairs, style, chance, "response_format" in request)
    elif not sha256:
        text = "Yes" if "oats" in asked else "unknown"
    else:
        text = _evaluated(asked, [pair for pairs in truth.values() for pair in pairs], chance)
    return {
        "id": f"c{number}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{request['model']}-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": len(text) // 4},
    }


def _parts(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for message in request["messages"]:
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        yield from content


def _evaluated(asked: str, pairs: list[list[str]], chance: random.Random) -> str:
    """As an evaluated model: some answer that this question has on some label."""
    fitting = [answer for question, answer in pairs if question in asked]
    return chance.choice(fitting) if fitting else "I cannot tell."


# --- the scale run -------------------------------------------------------------------------------


@main.command()
@click.option("--images", "count", default=30_000, show_default=True)
@click.option("--concurrency", default=8, show_default=True)
@click.option("--kill-at", default=0.3, show_default=True, help="Share answered when it is killed.")
def scale(count: int, concurrency: int, kill_at: float) -> None:
    """Run every stage over many tiny images; kill the asking once and go on."""
    with tempfile.TemporaryDirectory(prefix="dtvqa-scale-") as name:
        _scale(Path(name), count, concurrency, kill_at)


def _scale(root: Path, count: int, concurrency: int, kill_at: float) -> None:
    images = root / "images"
    started = time.monotonic()
    for number in range(count):
        path = images / f"{number // 1000:03}" / f"{number:06}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_tiny_png(number))
    click.echo(f"{count} images made in {time.monotonic() - started:.0f} s")
    endpoint = subprocess.Popen(
        [
            sys.executable,
            __file__,
            "serve",
            str(_nothing(root)),
            "--port",
            "0",
            "--no-faults",
            "--free-text",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().strip()
        project = root / "project"
        _stage(["init", project, "--images", images, "--style", "table", "--base-url", url])
        config = project / "config.yaml"
        text = config.read_text().replace("concurrency: 4", f"concurrency: {concurrency}")
        config.write_text(text.replace('key_env: "OPENAI_API_KEY"', "key_env: DTVQA_SCALE_KEY"))
        raw = project / "raw.jsonl"
        _stage(["run", project], kill_when=lambda: _lines(raw) >= kill_at * count, watch=raw)
        at_kill = _lines(raw)
        click.echo(f"killed with SIGKILL at {at_kill} answers")
        _stage(["run", project], watch=raw)
        _report_answers(raw, count, at_kill)
        for name in ("extract", "check", "expand", "status"):
            _stage([name, project])
        _review(project)
        _stage(["export", project])
    finally:
        endpoint.kill()
        endpoint.wait()


def _nothing(root: Path) -> Path:
    path = root / "truth.json"
    path.write_text("{}")
    return path


def _tiny_png(number: int) -> bytes:
    """A PNG of 32 x 32 pixels unlike every other, written by hand: thirty thousand take seconds."""
    colour = struct.pack(">I", number * 2654435761 % 2**32)[1:]
    rows = b"".join(b"\0" + colour * 31 + struct.pack(">I", number)[1:] for _ in range(32))

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    head = struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows, 1)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _stage(arguments: list[Any], kill_when: Any = None, watch: Path | None = None) -> None:
    """Run ``dtvqa annotate`` in a process of its own; show its time and memory."""
    command = [sys.executable, "-c", "from dtvqa_plugin.cli import main; main()", "annotate"]
    started = time.monotonic()
    child = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seen: list[tuple[int, float]] = []
    peak = 0.0
    while child.poll() is None:
        time.sleep(0.25)
        memory = _rss(child.pid)
        peak = max(peak, memory)
        if watch is not None and memory:
            lines = _lines(watch)
            if not seen or lines >= seen[-1][0] + 2500:
                seen.append((lines, memory))
        if kill_when is not None and kill_when():
            os.kill(child.pid, signal.SIGKILL)
    assert child.stdout is not None
    output = child.stdout.read().strip()
    took = time.monotonic() - started
    click.echo(f"{arguments[0]}: {took:.1f} s, peak {peak:.0f} MiB, exit {child.returncode}")
    for lines, memory in seen:
        click.echo(f"    at {lines} answers: {memory:.0f} MiB")
    for line in output.splitlines()[-6:]:
        click.echo(f"    {line}")


def _rss(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass  # it has just ended
    return 0.0


def _review(project: Path) -> None:
    """Open the review page's server over all pairs; take decisions; show its time and memory."""
    command = [sys.executable, "-c", "from dtvqa_plugin.cli import main; main()", "annotate"]
    started = time.monotonic()
    child = subprocess.Popen(
        [*command, "review", str(project), "--no-open", "--reviewer", "bench"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        ready = time.monotonic() - started
        slowest, place = 0.0, ""
        for _ in range(20):
            began = time.monotonic()
            found = json.load(urllib.request.urlopen(f"{url}api/pair?step=1&from={place}"))["pair"]
            place = found["pair"]
            body = {key: found[key] for key in ("pair", "question", "answers")}
            request = urllib.request.Request(
                f"{url}api/decide",
                json.dumps({**body, "verdict": "accept"}).encode(),
                {"Content-Type": "application/json"},
            )
            urllib.request.urlopen(request).read()
            slowest = max(slowest, time.monotonic() - began)
        click.echo(
            f"review: ready in {ready:.1f} s, next pair and decision in at most "
            f"{slowest * 1000:.0f} ms, {_rss(child.pid):.0f} MiB"
        )
    finally:
        child.kill()
        child.wait()


_counted: dict[Path, tuple[int, int]] = {}


def _lines(path: Path) -> int:
    """Number of lines, counting only what is new since the last call."""
    offset, count = _counted.get(path, (0, 0))
    if path.exists():
        with path.open("rb") as handle:
            handle.seek(offset)
            data = handle.read()
        _counted[path] = (offset + len(data), count + data.count(b"\n"))
    return _counted.get(path, (0, 0))[1]


def _report_answers(raw: Path, count: int, at_kill: int) -> None:
    seen: dict[str, int] = {}
    bad = 0
    with raw.open("rb") as handle:
        for line in handle:
            try:
                image = json.loads(line)["image"]
            except ValueError:
                bad += 1
                continue
            seen[image] = seen.get(image, 0) + 1
    twice = sum(number > 1 for number in seen.values())
    click.echo(
        f"{len(seen)} of {count} images answered, {twice} of them twice, {bad} lines cut off; "
        f"{at_kill} answers were kept over the kill"
    )


@main.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
def answers(files: tuple[Path, ...]) -> None:
    """Read labelled answers (JSON lines; default: those of the tests) and count by kind."""
    from dtvqa_plugin.annotate.answers import read_answer

    tests = Path(__file__).resolve().parent.parent / "tests" / "annotate"
    rows: dict[str, list[int]] = {}
    for path in files or sorted(tests.glob("answer_cases_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            found = [[p.question, *p.answers] for p in read_answer(case["text"]).pairs]
            row = rows.setdefault(str(case.get("kind", path.stem)), [0] * 5)
            right = sum(pair in case["pairs"] for pair in found)
            exact = found == case["pairs"]
            counts = (1, exact, len(case["pairs"]), right, len(found) - right)
            for place, count in enumerate(counts):
                row[place] += count
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    click.echo(f"{'kind':20}{'answers':>9}{'exact':>9}{'pairs':>9}{'found':>9}{'wrong':>9}")
    for name, row in rows.items():
        click.echo(f"{name:20}" + "".join(f"{count:9}" for count in row))


if __name__ == "__main__":
    main()
