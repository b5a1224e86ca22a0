"""``dtvqa annotate run``: each image to each round's model, every answer kept as it comes.

An answer is on disk before it counts. A run that is interrupted, killed or stopped by a bound is
simply started again: what was answered is not asked again. Of a killed run only the questions on
their way (at most ``concurrency``) are lost.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import chain, islice

from PIL import Image

from dtvqa_plugin.annotate.asking.endpoint import Asker, Stopped
from dtvqa_plugin.annotate.asking.estimate import Estimate, estimate
from dtvqa_plugin.annotate.asking.known import Bounds, Known, chosen_rounds, of_round, templates_of
from dtvqa_plugin.annotate.asking.money import Worst, spent, usd
from dtvqa_plugin.annotate.asking.prompting import (
    UNREAD_TEXT_TOKENS,
    Template,
    encode_image,
    image_tokens,
    text_tokens,
)
from dtvqa_plugin.annotate.asking.replies import Answer, AskError
from dtvqa_plugin.annotate.asking.stopping import STOP_AFTER, gentle_stop
from dtvqa_plugin.annotate.asking.structured import find_mode
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Round
from dtvqa_plugin.annotate.project.inventory import Counts, ImageFile, Inventory
from dtvqa_plugin.annotate.project.journal import Entry
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.text.reader import TextReader
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.images import load_rgb
from dtvqa_plugin.utils.text import now

__all__ = ["Bounds", "Estimate", "RunReport", "estimate", "run"]


_MATCH_SAMPLE = 50

Show = Callable[["RunReport"], None]


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
    remaining_usd: float | None = None

    def stop(self, reason: str) -> None:
        """Say why the run ends early."""
        self.stopped = reason

    def fault(self, message: str) -> None:
        """Count a fault by its message, numbers and ids left out; at most ten kinds."""
        kind = re.sub(r"[0-9a-f-]{12,}|\d{5,}", "...", message)[:100]
        if kind not in self.faults and len(self.faults) >= 10:
            kind = "other faults (failures.jsonl)"
        self.faults[kind] = self.faults.get(kind, 0) + 1

    @property
    def per_minute(self) -> float:
        """Answers a minute since the start."""
        return 60 * self.answered / max(time.monotonic() - self.started, 1e-9)


def run(project: Project, bounds: Bounds, show: Show | None = None) -> RunReport:
    """Ask for what is not answered yet, within bounds. Ctrl-C lets answers on their way arrive.

    Raises `AnnotateError` when the endpoint refuses the key or the model, when `STOP_AFTER`
    questions in a row fail, and for a bound in dollars without prices; what was answered is kept.
    """
    with project.working("run"):
        return _Runner(project, bounds, show).run()


@dataclass(frozen=True, slots=True)
class _Job:
    image: ImageFile
    turn: Round
    template: Template
    tokens: int
    worst_usd: float
    text: str | None = None
    """The request's text, where it is known before the question is started."""


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
        self.rounds = chosen_rounds(project, bounds)
        if bounds.max_usd is not None:
            for turn in self.rounds:
                if turn.price is None:
                    raise AnnotateError(
                        f"{project.root / 'config.yaml'}: --max-usd needs to know prices: set "
                        f"'price' of round {turn.name!r} (both 0 for a local model)"
                    )
        self.templates = templates_of(project, self.rounds)
        self.stop = threading.Event()
        self.inventory = Inventory(project)
        self.text = TextReader(project)
        self.known = Known(project, bounds)
        self.report = RunReport(usd=self.known.usd)
        self.reserved = 0.0
        self._next: _Job | None = None
        self.failures_in_a_row = 0
        self.empties_in_a_row = 0
        self.worst = {turn.name: Worst(turn) for turn in self.rounds}

    def run(self) -> RunReport:
        with gentle_stop(self.stop, self.report.stop):
            for turn in self.rounds:
                if not self.report.stopped:
                    self._round(turn)
        self.report.images = self.inventory.counts
        self.report.notes += self.text.summary()
        if self.bounds.max_usd is not None:
            self.report.remaining_usd = max(0.0, self.bounds.max_usd - self.report.usd)
        return self.report

    def _round(self, turn: Round) -> None:
        before = (turn.name, turn.model) in self.known.answered_by
        asker = Asker(turn, self.stop, before, find_mode(self.project, turn))
        pending: set[Future[_Done]] = set()
        jobs = self._jobs(turn)
        with ThreadPoolExecutor(turn.concurrency, thread_name_prefix="ask") as pool:
            try:
                while True:
                    self._fill(pool, turn.concurrency, pending, jobs, asker)
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
        workers: int,
        pending: set[Future[_Done]],
        jobs: Iterator[_Job],
        asker: Asker,
    ) -> None:
        while len(pending) < workers and not self.stop.is_set():
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
        if bound is None:
            return False
        if pending and not self.worst[job.turn.name].counted:
            return True  # the first answer shows how the endpoint counts
        worst = self._worst_usd(job)
        if self.report.usd + self.reserved + worst <= bound:
            return False
        if not pending:
            left = max(0.0, bound - self.report.usd)
            self.report.stopped = (
                f"--max-usd {bound:g}: {self.report.usd:.4f} USD spent in all, {left:.4f} USD "
                f"remain, and one more question may cost {worst:.4f}"
            )
        return True

    def _worst_usd(self, job: _Job) -> float:
        return max(job.worst_usd, self.worst[job.turn.name].usd(job.tokens))

    def _may_pay_again(self, job: _Job, paid: int) -> bool:
        """Whether the bound has room for another attempt after ``paid`` that may cost money."""
        bound = self.bounds.max_usd
        more = self._worst_usd(job) * paid
        return bound is None or self.report.usd + self.reserved + more <= bound

    def _jobs(self, turn: Round) -> Iterator[_Job]:
        images = islice(of_round(turn, self.inventory.scan()), self.bounds.max_images)
        first = list(islice(images, _MATCH_SAMPLE))
        self.text.check_matches(first)
        for image in chain(first, images):
            template = self.templates[turn.name, image.source]
            if self.known.has(image, turn, template):
                self.report.known += 1
                continue
            yield self._job(image, turn, template)

    def _job(self, image: ImageFile, turn: Round, template: Template) -> _Job:
        """The question; under a bound in dollars with its real text, else with a guess of it."""
        text = None
        if self.bounds.max_usd is not None:
            try:
                text = self._text(image, template, None)
            except DataError:
                text = template.text  # cannot be decoded: its thread reports it
        tokens = text_tokens(text or template.text) + image_tokens(
            image.width, image.height, turn.image_side
        )
        if template.with_ocr and text is None:
            tokens += text_tokens(template.with_ocr) + UNREAD_TEXT_TOKENS
        return _Job(image, turn, template, tokens, self.worst[turn.name].usd(tokens), text)

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
        """In a separate thread: decode, recognise, ask."""
        try:
            try:
                pixels = load_rgb(job.image.path)
            except DataError as error:
                return _Done(job, unreadable=str(error))
            text = job.text or self._text(job.image, job.template, pixels)
            sent = encode_image(job.image, pixels, job.turn.image_side)
            answer = asker.ask(text, sent, lambda paid: self._may_pay_again(job, paid))
            return _Done(job, answer=answer)
        except AskError as error:
            return _Done(job, error=error)
        except Stopped:
            return _Done(job, stopped=True)

    def _text(self, image: ImageFile, template: Template, pixels: Image.Image | None) -> str:
        source = self.project.source(image.source)
        assert source is not None
        boxes = self.text.boxes(image, pixels) if template.with_ocr else None
        return template.render(image, boxes, source.ocr.max_lines)

    def _take(self, done: _Done) -> None:
        self._keep(done)
        if done.answer is not None:
            self.failures_in_a_row = 0
            self._count_empty(done.job.turn, done.answer)
        if done.error is None:
            return
        if done.error.severity == "fatal":
            raise AnnotateError(f"{done.error}; answers so far are kept")
        self.failures_in_a_row += 1
        if self.failures_in_a_row >= STOP_AFTER:
            raise AnnotateError(
                f"{STOP_AFTER} questions in a row failed, the last with: {done.error}; "
                "answers so far are kept; run again when the endpoint works"
            )

    def _count_empty(self, turn: Round, answer: Answer) -> None:
        """Stop after `STOP_AFTER` empty answers in a row: each of them is paid for."""
        self.empties_in_a_row = 0 if answer.text.strip() else self.empties_in_a_row + 1
        if self.empties_in_a_row < STOP_AFTER:
            return
        cure = (
            f"raise max_output_tokens ({turn.max_output_tokens}) of round {turn.name!r}: the model "
            "spends them before it writes, mostly on reasoning"
            if answer.finish_reason == "length"
            else "look at what the endpoint returns, then use --again-empty"
        )
        raise AnnotateError(
            f"{STOP_AFTER} answers in a row were empty (finish_reason {answer.finish_reason}); "
            f"{cure}; answers so far are kept"
        )

    def _keep(self, done: _Done) -> None:
        """Write what a job brought; count it."""
        job, report = done.job, self.report
        self.reserved = max(0.0, self.reserved - job.worst_usd)
        if done.answer is not None:
            entry = self._entry(job, done.answer)
            self.project.raw.append(entry)
            self.known.add(job.image, job.turn, job.template)
            answer = done.answer
            self.worst[job.turn.name].learn(job.tokens, answer.input_tokens, answer.output_tokens)
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
            report.fault(str(done.error))
            self._spend(entry)
        elif done.unreadable is not None:
            report.asked -= 1
            self.inventory.mark_unreadable(job.image, done.unreadable)
        else:
            report.asked -= 1

    def _spend(self, entry: Entry) -> None:
        self.report.usd += spent(entry)
        self.report.usd_now += spent(entry)

    def _entry(self, job: _Job, answer: Answer) -> Entry:
        tokens_in = job.tokens if answer.input_tokens is None else answer.input_tokens
        tokens_out = (
            text_tokens(answer.text) if answer.output_tokens is None else answer.output_tokens
        )
        cost = usd(job.turn, tokens_in, tokens_out)
        if cost is not None:
            cost += job.worst_usd * answer.perhaps_paid
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
            "usd": cost,
            "structured": answer.mode,
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
