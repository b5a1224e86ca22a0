"""``dtvqa annotate run``: each image to each round's model, every answer kept as it comes.

An answer is on disk before it counts. A run that is interrupted, killed or stopped by a bound is
simply started again: what was answered is not asked again. Of a killed run only the questions on
their way (at most ``concurrency``) are lost.
"""

from __future__ import annotations

import hashlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from PIL import Image

from dtvqa_plugin.annotate.asking.endpoint import Answer, Asker, AskError, Stopped
from dtvqa_plugin.annotate.asking.prompting import (
    Template,
    answer_tokens,
    encode_image,
    image_tokens,
    text_tokens,
)
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Endpoint, Round
from dtvqa_plugin.annotate.project.inventory import Counts, ImageFile, Inventory
from dtvqa_plugin.annotate.project.journal import Damage, Entry
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.annotate.text.reader import TextReader
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.images import load_rgb
from dtvqa_plugin.utils.text import escaped_logger, now

logger = escaped_logger(__name__)

STOP_AFTER = 20
"""Failures in a row after which a run gives up: the endpoint is down, or refuses everything."""

_UNREAD_TEXT_TOKENS = 600
_MATCH_SAMPLE = 50

Show = Callable[["RunReport"], None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may cost. ``max_usd`` bounds all the project has spent, earlier runs included."""

    max_usd: float | None = None
    max_images: int | None = None
    rounds: tuple[str, ...] = ()
    again_empty: bool = False


@dataclass(slots=True)
class RunReport:
    """Counts of one run, for the progress bar and the end. ``usd`` is all that was ever spent."""

    asked: int = 0
    answered: int = 0
    failed: int = 0
    empty: int = 0
    known: int = 0
    attempts: int = 0
    usd: float = 0.0
    usd_now: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    started: float = field(default_factory=time.monotonic)
    stopped: str | None = None
    images: Counts = field(default_factory=Counts)
    faults: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def per_minute(self) -> float:
        """Answers a minute since the start."""
        return 60 * self.answered / max(time.monotonic() - self.started, 1e-9)


@dataclass(slots=True)
class Estimate:
    """What a run would ask, by round: images, tokens in and out, US dollars."""

    rounds: dict[str, dict[str, float | None]] = field(default_factory=dict)
    images: Counts = field(default_factory=Counts)
    unread_text: int = 0

    @property
    def usd(self) -> float | None:
        """The sum, None where a round with images to ask has no price."""
        costs = [part["usd"] for part in self.rounds.values() if part["images"]]
        return sum(c for c in costs if c is not None) if None not in costs else None


def estimate(project: Project, bounds: Bounds) -> Estimate:
    """Count what is left to ask and guess its tokens; asks nobody and recognises no text.

    Tokens are rough: four letters a token, 28 x 28 pixels a token, 45 tokens a pair.
    """
    result = Estimate()
    inventory = Inventory(project)
    known = _Known(project, bounds)
    text = TextReader(project, read_images=False)
    rounds = _rounds(project, bounds)
    templates = _templates(project, rounds)
    for turn in rounds:
        total = result.rounds[turn.name] = {"images": 0, "input": 0, "output": 0, "usd": 0.0}
        for image in islice(_of_round(turn, inventory.scan()), bounds.max_images):
            template = templates[turn.name, image.source]
            if known.has(image, turn, template):
                continue
            boxes = text.boxes(image) if template.with_ocr else None
            source = project.source(image.source)
            assert source is not None
            tokens = text_tokens(template.render(image, boxes, source.ocr.max_lines))
            if template.with_ocr and boxes is None:
                tokens += _UNREAD_TEXT_TOKENS
                result.unread_text += 1
            tokens += image_tokens(image.width, image.height, turn.image_side)
            total["images"] = (total["images"] or 0) + 1
            total["input"] = (total["input"] or 0) + tokens
            total["output"] = (total["output"] or 0) + answer_tokens(turn.pairs)
        total["usd"] = _usd(turn, int(total["input"] or 0), int(total["output"] or 0))
        result.images = inventory.counts
    return result


def run(project: Project, bounds: Bounds, show: Show | None = None) -> RunReport:
    """Ask for what is not answered yet, within bounds. Ctrl-C lets answers on their way arrive.

    Raises `AnnotateError` when the endpoint refuses the key or the model, when `STOP_AFTER`
    questions in a row fail, and for a bound in dollars without prices; what was answered is kept.
    """
    with project.working("run"):
        return _Runner(project, bounds, show).run()


class _Known:
    """Which (image, round, model, prompt) are answered: a 16-byte digest each, no texts."""

    def __init__(self, project: Project, bounds: Bounds) -> None:
        self.keys: set[bytes] = set()
        self.usd = 0.0
        self.prompts = {entry["prompt"] for _, entry in project.prompts.read()}
        damage = Damage(project.raw.path)
        for _, entry in project.raw.read(damage=damage):
            self.usd += _spent(entry)
            if entry["text"].strip() or not bounds.again_empty:
                self.keys.add(_key(entry["image"], entry["round"], entry["asked"], entry["prompt"]))
        report_damage(damage)
        for _, entry in project.failures.read():
            self.usd += _spent(entry)
        for _, entry in project.textonly.read():
            self.usd += _spent(entry)

    def has(self, image: ImageFile, turn: Round, template: Template) -> bool:
        return _key(image.sha256, turn.name, turn.model, template.sha) in self.keys

    def add(self, image: ImageFile, turn: Round, template: Template) -> None:
        self.keys.add(_key(image.sha256, turn.name, turn.model, template.sha))


@dataclass(frozen=True, slots=True)
class _Job:
    image: ImageFile
    turn: Round
    template: Template
    worst_usd: float


@dataclass(frozen=True, slots=True)
class _Done:
    """A job's end in its thread: an answer, or why there is none."""

    job: _Job
    answer: Answer | None = None
    error: AskError | None = None
    unreadable: str | None = None
    stopped: bool = False


class _Runner:
    def __init__(self, project: Project, bounds: Bounds, show: Show | None) -> None:
        self.project = project
        self.bounds = bounds
        self.show = show or (lambda report: None)
        self.rounds = _rounds(project, bounds)
        if bounds.max_usd is not None:
            for turn in self.rounds:
                if turn.price is None:
                    raise AnnotateError(
                        f"{project.root / 'config.yaml'}: --max-usd needs to know prices: set "
                        f"'price' of round {turn.name!r} (both 0 for a model of your own)"
                    )
        self.templates = _templates(project, self.rounds)
        self.stop = threading.Event()
        self.inventory = Inventory(project)
        self.text = TextReader(project)
        self.known = _Known(project, bounds)
        self.report = RunReport(usd=self.known.usd)
        self.reserved = 0.0
        self._next: _Job | None = None
        self.failures_in_a_row = 0

    def run(self) -> RunReport:
        with _gentle_stop(self.stop, self.report):
            for turn in self.rounds:
                if not self.report.stopped:
                    self._round(turn)
        self.report.images = self.inventory.counts
        self.report.notes += self.text.summary()
        return self.report

    def _round(self, turn: Round) -> None:
        asker = Asker(turn, self.stop)
        pending: set[Future[_Done]] = set()
        jobs = self._jobs(turn)
        with ThreadPoolExecutor(turn.concurrency, thread_name_prefix="ask") as pool:
            try:
                while True:
                    self._fill(pool, pending, jobs, asker)
                    if not pending:
                        break
                    done, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        pending.discard(future)
                        self._take(future.result())
                    self.show(self.report)
            except BaseException:
                # Let what is on its way arrive and be written: it is paid for.
                self.stop.set()
                for future in pending:
                    if future.exception() is None:
                        self._keep(future.result())
                raise
            finally:
                asker.close()

    def _fill(
        self,
        pool: ThreadPoolExecutor,
        pending: set[Future[_Done]],
        jobs: Iterator[_Job],
        asker: Asker,
    ) -> None:
        while len(pending) < pool._max_workers and not self.stop.is_set():
            job = self._next or next(jobs, None)
            self._next = job
            if job is None or self._too_dear(job, pending):
                return
            self._next = None
            self._write_prompt(job)
            self.reserved += job.worst_usd
            self.report.asked += 1
            pending.add(pool.submit(self._ask, job, asker))

    def _too_dear(self, job: _Job, pending: set[Future[_Done]]) -> bool:
        """Whether one more question could pass the bound; then nothing new is started."""
        bound = self.bounds.max_usd
        if bound is None or self.report.usd + self.reserved + job.worst_usd <= bound:
            return False
        if not pending:
            self.report.stopped = (
                f"--max-usd {bound:g}: {self.report.usd:.4f} USD spent in all, and one more "
                f"question may cost {job.worst_usd:.4f}"
            )
        return True

    def _jobs(self, turn: Round) -> Iterator[_Job]:
        images = islice(_of_round(turn, self.inventory.scan()), self.bounds.max_images)
        first = list(islice(images, _MATCH_SAMPLE))
        self.text.check_matches(first)
        for image in chain(first, images):
            template = self.templates[turn.name, image.source]
            if self.known.has(image, turn, template):
                self.report.known += 1
                continue
            yield _Job(image, turn, template, self._worst(image, turn, template))

    def _worst(self, image: ImageFile, turn: Round, template: Template) -> float:
        tokens = text_tokens(template.text) + image_tokens(
            image.width, image.height, turn.image_side
        )
        if template.with_ocr:
            tokens += text_tokens(template.with_ocr) + _UNREAD_TEXT_TOKENS
        return _usd(turn, tokens, turn.max_output_tokens) or 0.0

    def _write_prompt(self, job: _Job) -> None:
        template = job.template
        if template.sha not in self.known.prompts:
            self.known.prompts.add(template.sha)
            self.project.prompts.append(
                {
                    "prompt": template.sha,
                    "style": job.image.style,
                    "text": template.text,
                    "with_ocr": template.with_ocr,
                    "at": now(),
                }
            )

    def _ask(self, job: _Job, asker: Asker) -> _Done:
        """In a thread of its own: decode, recognise, ask."""
        try:
            try:
                pixels = load_rgb(job.image.path)
            except DataError as error:
                return _Done(job, unreadable=str(error))
            return _Done(job, answer=asker.ask(*self._request(job, pixels)))
        except AskError as error:
            return _Done(job, error=error)
        except Stopped:
            return _Done(job, stopped=True)

    def _request(self, job: _Job, pixels: Image.Image) -> tuple[str, tuple[str, bytes]]:
        source = self.project.source(job.image.source)
        assert source is not None
        boxes = self.text.boxes(job.image, pixels) if job.template.with_ocr else None
        text = job.template.render(job.image, boxes, source.ocr.max_lines)
        return text, encode_image(job.image, pixels, job.turn.image_side)

    def _take(self, done: _Done) -> None:
        self._keep(done)
        if done.answer is not None:
            self.failures_in_a_row = 0
        if done.error is None:
            return
        if done.error.severity == "fatal":
            raise AnnotateError(f"{done.error}; what was answered so far is kept")
        self.failures_in_a_row += 1
        if self.failures_in_a_row >= STOP_AFTER:
            raise AnnotateError(
                f"{STOP_AFTER} questions in a row failed, the last with: {done.error}; "
                "what was answered is kept, run again when the endpoint is well"
            )

    def _keep(self, done: _Done) -> None:
        """Write what a job brought; count it."""
        job, report = done.job, self.report
        self.reserved = max(0.0, self.reserved - job.worst_usd)
        if done.answer is not None:
            entry = self._entry(job, done.answer)
            self.project.raw.append(entry)
            self.known.add(job.image, job.turn, job.template)
            report.answered += 1
            report.attempts += done.answer.attempts
            report.empty += not done.answer.text.strip()
            report.input_tokens += entry["input_tokens"]
            report.output_tokens += entry["output_tokens"]
            self._spend(entry)
        elif done.error is not None:
            entry = self._failure(job, done.error)
            self.project.failures.append(entry)
            report.failed += 1
            report.attempts += done.error.attempts
            kind = str(done.error).split(":")[0][:60]
            report.faults[kind] = report.faults.get(kind, 0) + 1
            self._spend(entry)
        elif done.unreadable is not None:
            report.asked -= 1
            self.inventory.mark_unreadable(job.image, done.unreadable)
        else:
            report.asked -= 1

    def _spend(self, entry: Entry) -> None:
        self.report.usd += _spent(entry)
        self.report.usd_now += _spent(entry)

    def _entry(self, job: _Job, answer: Answer) -> Entry:
        asked = text_tokens(job.template.text) + image_tokens(
            job.image.width, job.image.height, job.turn.image_side
        )
        tokens_in = asked if answer.input_tokens is None else answer.input_tokens
        tokens_out = (
            text_tokens(answer.text) if answer.output_tokens is None else answer.output_tokens
        )
        return {
            "image": job.image.sha256,
            "source": job.image.source,
            "style": job.image.style,
            "file": job.image.file,
            "round": job.turn.name,
            "asked": job.turn.model,
            "model": answer.model,
            "prompt": job.template.sha,
            "text": answer.text,
            "finish": answer.finish_reason,
            "refusal": answer.refusal,
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "counted": answer.input_tokens is not None,
            "usd": _usd(job.turn, tokens_in, tokens_out),
            "attempts": answer.attempts,
            "seconds": answer.seconds,
            "at": now(),
        }

    def _failure(self, job: _Job, error: AskError) -> Entry:
        return {
            "image": job.image.sha256,
            "file": job.image.file,
            "round": job.turn.name,
            "asked": job.turn.model,
            "prompt": job.template.sha,
            "error": str(error),
            "kind": error.severity,
            "attempts": error.attempts,
            "usd": job.worst_usd * error.perhaps_paid,
            "at": now(),
        }


@contextmanager
def _gentle_stop(stop: threading.Event, report: RunReport) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop asking and let answers arrive; a second one ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        report.stopped = "interrupted; answers on their way were waited for"
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _rounds(project: Project, bounds: Bounds) -> list[Round]:
    rounds = project.config.rounds
    if not bounds.rounds:
        return list(rounds)
    unknown = set(bounds.rounds) - {turn.name for turn in rounds}
    if unknown:
        names = ", ".join(turn.name for turn in rounds)
        raise AnnotateError(f"no round {sorted(unknown)[0]!r} in the config; there are {names}")
    return [turn for turn in rounds if turn.name in bounds.rounds]


def _templates(project: Project, rounds: list[Round]) -> dict[tuple[str, str], Template]:
    styles = project.styles
    return {
        (turn.name, source.name): Template.make(styles[source.style], source, turn)
        for turn in rounds
        for source in project.config.sources
    }


def _of_round(turn: Round, images: Iterator[ImageFile]) -> Iterator[ImageFile]:
    return (image for image in images if turn.styles is None or image.style in turn.styles)


def _key(image: str, turn: str, model: str, prompt: str) -> bytes:
    text = "\0".join((image, turn, model, prompt))
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _usd(endpoint: Endpoint, tokens_in: int, tokens_out: int) -> float | None:
    if endpoint.price is None:
        return None
    return (tokens_in * endpoint.price.input + tokens_out * endpoint.price.output) / 1e6


def _spent(entry: Entry) -> float:
    value = entry.get("usd")
    return float(value) if isinstance(value, (int, float)) else 0.0
