"""What a run may cost, and answers that cost money and hold nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from annotate.annotate_server import Endpoint, Fault, prompt_of, status
from annotate.conftest import ANSWER, MakeProject, draw
from annotate.test_annotate_run import PRICE, quick, raw
from click.testing import CliRunner

from dtvqa_plugin.annotate import run as run_module
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project import Project
from dtvqa_plugin.annotate.run import Bounds, run
from dtvqa_plugin.cli import cli

assert quick  # the fixture that makes backing off take no time

MODERATED = status(403, "Your input was flagged by our moderation system")
FORBIDDEN = status(403, "Forbidden")


def test_403_after_one_success_is_that_images_failure(make: MakeProject) -> None:
    with Endpoint(lambda n, request: FORBIDDEN if n in (1, 4) else ANSWER) as server:
        project = make(server.url, concurrency=1)
        assert (run(project, Bounds()).failed, len(raw(project))) == (1, 3)
        again = run(Project.open(project.root), Bounds())
        assert (again.failed, again.answered) == (1, 0), "an earlier run's success counts"
        assert run(Project.open(project.root), Bounds()).answered == 1


def test_403_that_speaks_of_moderation_is_the_images_failure_at_once(make: MakeProject) -> None:
    with Endpoint(lambda n, request: MODERATED if n == 0 else ANSWER) as server:
        report = run(make(server.url, concurrency=1), Bounds())
    assert (report.failed, report.answered) == (1, 3)
    assert any("moderation" in fault for fault in report.faults)


def test_403_of_everything_ends_the_run(make: MakeProject) -> None:
    with (
        Endpoint(lambda n, request: FORBIDDEN) as server,
        pytest.raises(AnnotateError, match="refuses the key"),
    ):
        run(make(server.url, concurrency=1), Bounds())


EMPTY: dict[str, dict[str, Any]] = {
    "null content": {"content": None},
    "only reasoning": {"content": None, "reasoning_content": "Let me look."},
    "cut off": {"content": "", "finish_reason": "length"},
    "content filter": {"content": None, "finish_reason": "content_filter"},
    "tool calls": {"content": None, "tool_calls": [{}], "finish_reason": "tool_calls"},
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_answers_in_a_row_stop_the_run(
    make: MakeProject, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(run_module, "STOP_AFTER", 3)
    with Endpoint(lambda n, request: dict(EMPTY[name])) as server:
        project = make(server.url, concurrency=1)
        cause = r"raise max_output_tokens \(1000\)" if name == "cut off" else "were empty"
        with pytest.raises(AnnotateError, match=cause):
            run(project, Bounds())
        assert server.count == 3
        assert len(raw(project)) == 3


def test_finish_reason_error_is_tried_again(make: MakeProject) -> None:
    bad = {"content": "Q1: half", "finish_reason": "error"}
    with Endpoint(lambda n, request: dict(bad) if n == 0 else ANSWER) as server:
        project = make(server.url, concurrency=1, price=PRICE)
        report = run(project, Bounds(max_images=1))
    assert (report.answered, report.attempts) == (1, 2)
    assert raw(project)[0]["usd"] > 0.02, "the attempt before may have been charged for"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([None, {"type": "text", "text": "Q: a?\nA: b"}], "Q: a?\nA: b"),
        (["Q: a?\n", {"type": "text", "text": "A: b"}, {"type": "x", "text": None}], "Q: a?\nA: b"),
        ([{"type": "image"}], ""),
    ],
)
def test_odd_content_parts_discard_no_answer(make: MakeProject, content: Any, text: str) -> None:
    with Endpoint(lambda n, request: {"content": content}) as server:
        project = make(server.url)
        assert run(project, Bounds(max_images=1)).answered == 1
    assert raw(project)[0]["text"] == text


def test_summary_names_the_fault(make: MakeProject) -> None:
    bad = status(400, "image is larger than 20 MB (request 0123456789abcdef)")
    with Endpoint(lambda n, request: bad) as server:
        project = make(server.url)
        shown = CliRunner().invoke(cli, ["annotate", "run", str(project.root)]).output
    assert "4 status 400: image is larger than 20 MB (request ...)" in shown


def priced(tokens_of: Any, length: int = 100) -> Any:
    """An endpoint that counts a prompt's tokens by ``tokens_of`` and writes ``length``."""

    def said(number: int, request: dict[str, Any]) -> Fault:
        usage = {"prompt_tokens": tokens_of(prompt_of(request)), "completion_tokens": length}
        choice = {"message": {"content": ANSWER}, "finish_reason": "stop"}
        body = {"choices": [choice], "usage": usage, "model": "m"}
        return 200, {}, json.dumps(body).encode()

    return said


@pytest.mark.parametrize(
    ("letters", "length", "cap"),
    [(4, 100, 1000), (2, 100, 1000), (4, 900, 300)],
    ids=["as estimated", "twice the estimate", "longer than the cap"],
)
def test_bound_holds_with_300_lines_of_text(
    make: MakeProject, images: Path, tmp_path: Path, letters: int, length: int, cap: int
) -> None:
    for number in range(30):
        draw(images / f"more{number}.png", str(number))
    lines = [{"text": f"line {n} of a long label", "box": [1, 1, 90, 9]} for n in range(300)]
    text = tmp_path / "text.json"
    text.write_text(json.dumps({path.name: lines for path in images.iterdir()}))
    ocr = {"from": "file", "format": "json", "file": str(text)}
    with Endpoint(priced(lambda prompt: len(prompt) // letters, length)) as server:
        project = make(
            server.url,
            config=lambda v: v["sources"][0].update(ocr=ocr),
            price={"input": 10.0, "output": 20.0},
            max_output_tokens=cap,
        )
        bound = 0.6
        report = run(project, Bounds(max_usd=bound))
    assert report.stopped is not None
    assert "remain" in report.stopped
    assert 0.3 < report.usd <= bound
    assert report.remaining_usd == pytest.approx(bound - report.usd)


def test_bound_holds_when_attempts_are_charged_for(make: MakeProject) -> None:
    with Endpoint(lambda n, request: (200, {}, b"<html>")) as server:
        project = make(server.url, price=PRICE, retries=5, concurrency=1)
        report = run(project, Bounds(max_usd=0.3))
        assert report.usd <= 0.3
        assert server.count < 6, "no more attempts than the bound can pay for"
