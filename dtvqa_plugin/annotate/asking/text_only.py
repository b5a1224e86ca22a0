"""Which questions can be answered without their image: a text-only model is asked each one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from dtvqa_plugin.annotate.asking.endpoint import Asker, Stopped
from dtvqa_plugin.annotate.asking.money import usd as cost_of
from dtvqa_plugin.annotate.asking.prompting import text_tokens
from dtvqa_plugin.annotate.asking.replies import Answer, AskError
from dtvqa_plugin.annotate.asking.stopping import STOP_AFTER, gentle_stop
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Endpoint
from dtvqa_plugin.annotate.project.journal import Damage, Entry
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.utils.text import escaped_logger, now

logger = escaped_logger(__name__)

_LONGEST_QUESTION = 1000
"""Tokens that a question with its instruction is taken to need at most."""

INSTRUCTION = (
    "The question below is about a picture that you cannot see. If it can be answered all the "
    "same, from general knowledge or from the question itself, answer in a word or a short phrase. "
    "Otherwise answer: unknown.\n\n"
)


@dataclass(slots=True)
class TextOnlyReport:
    """Counts of one pass; ``known`` were answered before."""

    asked: int = 0
    answered: int = 0
    failed: int = 0
    known: int = 0
    usd: float = 0.0
    stopped: str | None = None

    def stop(self, reason: str) -> None:
        """Say why the pass ends early."""
        self.stopped = reason


def text_only_answers(project: Project) -> dict[str, str]:
    """What the configured text-only model has answered so far, by pair id."""
    endpoint = project.config.check.text_only
    if endpoint is None:
        return {}
    damage = Damage(project.textonly.path)
    found = {
        str(entry["pair"]): str(entry["answer"])
        for _, entry in project.textonly.read(damage=damage)
        if entry.get("asked") == endpoint.model
    }
    report_damage(damage)
    return found


def ask_without_images(
    project: Project,
    *,
    max_usd: float | None = None,
    show: Callable[[TextOnlyReport], None] | None = None,
) -> TextOnlyReport:
    """Ask the configured text-only endpoint every question it has not answered yet.

    Each answer is on disk before it counts. Raises `AnnotateError` without ``check.text_only``
    in the config, and as `run` does when the endpoint refuses.
    """
    endpoint = project.config.check.text_only
    if endpoint is None:
        raise AnnotateError(
            f"{project.root / 'config.yaml'}: --text-only needs check.text_only (model, base_url)"
        )
    if max_usd is not None and endpoint.price is None:
        raise AnnotateError(
            f"{project.root / 'config.yaml'}: --max-usd needs check.text_only.price"
        )
    report = TextOnlyReport()
    stop = threading.Event()
    asker = Asker(endpoint, stop)
    questions = _open_questions(project, report)
    pending: dict[Future[Answer], Entry] = {}
    failures = 0
    with (
        project.working("check"),
        gentle_stop(stop, report.stop),
        ThreadPoolExecutor(endpoint.concurrency) as pool,
    ):
        while True:
            while len(pending) < endpoint.concurrency and not stop.is_set():
                if max_usd is not None and _would_pass(report, endpoint, len(pending), max_usd):
                    report.stopped = (
                        f"--max-usd {max_usd:g}: {max(0.0, max_usd - report.usd):.4f} USD remain"
                    )
                    break
                pair = next(questions, None)
                if pair is None:
                    break
                report.asked += 1
                pending[pool.submit(asker.ask, INSTRUCTION + str(pair["question"]))] = pair
            if not pending:
                break
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                pair = pending.pop(future)
                try:
                    failures = _keep(project, endpoint, pair, future, report, failures)
                except AnnotateError:
                    # Let what is on its way arrive and be written: it is paid for.
                    stop.set()
                    for other, its_pair in pending.items():
                        if other.exception() is None:
                            _keep(project, endpoint, its_pair, other, report, 0)
                    raise
            if show:
                show(report)
    asker.close()
    return report


def _open_questions(project: Project, report: TextOnlyReport) -> Iterator[Entry]:
    known = set(text_only_answers(project))
    for _, pair in project.pairs.read():
        if pair["pair"] in known:
            report.known += 1
        else:
            yield pair


def _would_pass(report: TextOnlyReport, endpoint: Endpoint, pending: int, max_usd: float) -> bool:
    worst = cost_of(endpoint, _LONGEST_QUESTION, endpoint.max_output_tokens) or 0.0
    return report.usd + (pending + 1) * worst > max_usd


def _keep(
    project: Project,
    endpoint: Endpoint,
    pair: Entry,
    future: Future[Answer],
    report: TextOnlyReport,
    failures: int,
) -> int:
    """Write one answer; returns the number of failures in a row."""
    try:
        answer = future.result()
    except Stopped:
        return failures
    except AskError as error:
        report.failed += 1
        if error.severity == "fatal" or failures + 1 >= STOP_AFTER:
            raise AnnotateError(f"{error}; answers so far are kept") from None
        logger.warning("question of pair %s: %s", pair["pair"], error)
        return failures + 1
    tokens_in = answer.input_tokens or text_tokens(INSTRUCTION + str(pair["question"]))
    tokens_out = answer.output_tokens or text_tokens(answer.text)
    usd = cost_of(endpoint, tokens_in, tokens_out)
    project.textonly.append(
        {
            "pair": pair["pair"],
            "asked": endpoint.model,
            "model": answer.model,
            "answer": answer.text,
            "usd": usd,
            "at": now(),
        }
    )
    report.answered += 1
    report.usd += usd or 0.0
    return 0
