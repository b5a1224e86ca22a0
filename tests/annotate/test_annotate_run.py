"""Asking a model: what is sent, what is kept, what it may cost, and every fault of an endpoint."""

from __future__ import annotations

import base64
import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from annotate.annotate_server import (
    CUT_JSON,
    DRIPPING,
    DROPPED,
    EVENT_STREAM,
    GARBAGE,
    KEY,
    NO_CHOICES,
    WEB_PAGE,
    WEB_PAGE_502,
    WRONG_SHAPE,
    Endpoint,
    Fault,
    prompt_of,
    status,
    too_many,
)
from annotate.conftest import ANSWER, MakeProject, draw
from click.testing import CliRunner

from dtvqa_plugin.annotate.asking import endpoint as endpoint_module
from dtvqa_plugin.annotate.asking.endpoint import RateLimit
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.inventory import ImageFile
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.run import Bounds, estimate, run
from dtvqa_plugin.annotate.text import TextReader
from dtvqa_plugin.cli import cli
from dtvqa_plugin.errors import DTVQAError

PRICE = {"input": 10.0, "output": 100.0}
"""Each answer of the endpoint (1,000 tokens in, 100 out) costs 0.02 USD."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backing off takes no time; the waits that an endpoint asks for stay."""
    monkeypatch.setattr(endpoint_module.random, "uniform", lambda low, high: 0.0)


def raw(project: Project) -> list[dict[str, Any]]:
    return [entry for _, entry in project.raw.read()]


def test_request_holds_image_instruction_and_settings(make: MakeProject, images: Path) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, pairs=3, temperature=0.5, extra={"reasoning_effort": "low"})
        report = run(project, Bounds())
    assert (report.answered, report.failed, report.asked) == (4, 0, 4)
    request = server.requests[0]
    assert request["model"] == "gpt-loop"
    assert (request["temperature"], request["reasoning_effort"]) == (0.5, "low")
    assert request["max_tokens"] == 1000
    first, second = request["messages"][0]["content"]
    sent = {
        base64.b64decode(r["messages"][0]["content"][0]["image_url"]["url"].split(",")[1])
        for r in server.requests
    }
    assert first["image_url"]["url"].startswith("data:image/png;base64,")
    assert sent == {path.read_bytes() for path in images.iterdir()}
    assert "3 questions" in second["text"]
    assert "{" not in second["text"]


def test_raw_answer_says_what_was_asked_of_whom_at_what_cost(make: MakeProject) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, price=PRICE)
        report = run(project, Bounds())
    entry = raw(project)[0]
    assert entry["text"] == ANSWER
    assert (entry["asked"], entry["model"]) == ("gpt-loop", "gpt-loop-2026-01-01")
    assert (entry["input_tokens"], entry["output_tokens"], entry["usd"]) == (1000, 100, 0.02)
    assert report.usd == pytest.approx(0.08)
    (prompt,) = [entry for _, entry in project.prompts.read()]
    assert prompt["prompt"] == entry["prompt"]
    assert "{pairs}" not in prompt["text"]


def test_answered_is_not_asked_again(make: MakeProject, images: Path) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url)
        run(project, Bounds())
        draw(images / "new.png", "NEW")
        (images / "shop0.png").rename(images / "renamed.png")
        again = run(Project.open(project.root), Bounds())
    assert (again.answered, again.known) == (1, 4)
    assert server.count == 5


def test_another_round_model_or_instruction_is_a_new_question(make: MakeProject) -> None:
    def second_round(values: dict[str, Any]) -> None:
        values["rounds"].append({**values["rounds"][0], "name": "second", "model": "other"})

    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=second_round)
        assert run(project, Bounds(rounds=("second",))).answered == 4
        assert run(project, Bounds()).answered == 4
        style = project.root / "styles" / "scene.yaml"
        style.write_text(style.read_text().replace("Differ in kind.", "Be varied."))
        assert run(Project.open(project.root), Bounds()).answered == 8
    assert {entry["asked"] for entry in raw(project)} == {"gpt-loop", "other"}
    with pytest.raises(AnnotateError, match=r"no round 'third'.*there are first, second"):
        run(project, Bounds(rounds=("third",)))


FAULTS: dict[str, tuple[Fault, str]] = {
    "429": (too_many(), "429"),
    "429 with a wait": (too_many("0.3"), "429"),
    "429 with a date": (too_many("Wed, 21 Oct 2015 07:28:00 GMT"), "429"),
    "500": (status(500), "500"),
    "503": (status(503), "503"),
    "web page with 502": (WEB_PAGE_502, "502"),
    "web page with 200": (WEB_PAGE, "a web page"),
    "garbage": (GARBAGE, "no chat completion"),
    "JSON cut off": (CUT_JSON, "no chat completion"),
    "no choices": (NO_CHOICES, "no chat completion"),
    "wrong shape": (WRONG_SHAPE, "no chat completion"),
    "event stream": (EVENT_STREAM, "no chat completion"),
    "connection dropped": (DROPPED, "no connection"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_passing_fault_is_tried_again(make: MakeProject, name: str) -> None:
    fault, _ = FAULTS[name]
    with Endpoint(lambda number, request: fault if number < 2 else ANSWER) as server:
        project = make(server.url, concurrency=1)
        report = run(project, Bounds(max_images=1))
    assert (report.answered, report.failed, report.attempts) == (1, 0, 3)
    assert server.count == 3


@pytest.mark.parametrize("name", FAULTS)
def test_lasting_fault_is_counted_and_asked_about_next_time(make: MakeProject, name: str) -> None:
    fault, said = FAULTS[name]
    broken = True
    with Endpoint(lambda number, request: fault if broken else ANSWER) as server:
        project = make(server.url, concurrency=2, retries=1)
        report = run(project, Bounds())
        assert (report.answered, report.failed, report.attempts) == (0, 4, 8)
        failures = [entry for _, entry in project.failures.read()]
        assert len(failures) == 4
        assert all(said in entry["error"] for entry in failures)
        broken = False
        assert run(project, Bounds()).answered == 4


@pytest.mark.parametrize("fault", [DRIPPING, None], ids=["dripping for ever", "silent"])
def test_endpoint_that_never_ends_costs_its_timeout(make: MakeProject, fault: Fault | None) -> None:
    with Endpoint(lambda number, request: fault or ANSWER, delay=0 if fault else 3) as server:
        project = make(server.url, timeout=0.5, retries=0, price=PRICE)
        report = run(project, Bounds(max_images=1))
    assert report.failed == 1
    (failure,) = [entry for _, entry in project.failures.read()]
    assert "0.5 s" in failure["error"]
    assert failure["usd"] > 0, "it may have been charged for"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (status(404, "The model does not exist"), "has no model 'gpt-loop'"),
        (status(402), "out of credit"),
        ((429, {}, b'{"error": {"message": "x", "code": "insufficient_quota"}}'), "out of credit"),
    ],
)
def test_a_lasting_fault_ends_the_run(make: MakeProject, fault: Fault, said: str) -> None:
    with Endpoint(lambda number, request: ANSWER if number == 0 else fault) as server:
        project = make(server.url, concurrency=1)
        with pytest.raises(AnnotateError, match=said):
            run(project, Bounds())
    assert len(raw(project)) == 1, "answers so far are kept"
    assert server.count == 2


def test_answers_on_their_way_are_kept_when_the_run_ends_with_an_error(make: MakeProject) -> None:
    def said(number: int, request: dict[str, Any]) -> str | Fault:
        time.sleep(0.1 if number == 0 else 0.5)
        return status(404) if number == 0 else ANSWER

    with Endpoint(said) as server:
        project = make(server.url, concurrency=4)
        with pytest.raises(AnnotateError, match="has no model"):
            run(project, Bounds())
    assert len(raw(project)) == 3


def test_fault_of_ours_in_several_threads_loses_no_answer(
    make: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(reader: object, image: ImageFile, pixels: object = None) -> None:
        if image.file in ("shop0.png", "shop1.png"):
            time.sleep(0.2)
            raise AnnotateError("the text is gone")

    monkeypatch.setattr(TextReader, "boxes", faulty)
    monkeypatch.setattr(TextReader, "check_matches", lambda *a: None)
    text = make().root / "text.json"
    text.write_text("{}")
    ocr = {"from": "file", "format": "json", "file": str(text)}
    with Endpoint(lambda number, request: ANSWER, delay=0.3) as server:
        project = make(
            server.url, concurrency=4, root="b", config=lambda v: v["sources"][0].update(ocr=ocr)
        )
        with pytest.raises(AnnotateError, match="the text is gone"):
            run(project, Bounds())
    assert len(raw(project)) == 2


def test_image_that_is_refused_does_not_stop_the_others(make: MakeProject) -> None:
    bad = status(400, "Your image was rejected by the safety system")
    with Endpoint(lambda number, request: bad if number == 1 else ANSWER) as server:
        report = run(make(server.url, concurrency=1), Bounds())
    assert (report.answered, report.failed) == (3, 1)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"content": None, "refusal": "I can't help with that."}, "I can't help with that."),
        ({"content": [{"type": "text", "text": "Q: a?\nA: b"}]}, "Q: a?\nA: b"),
        ({"content": None}, ""),
        ("half \ud800 of a pair, whole \ud83d\ude00", "half \ufffd of a pair, whole 😀"),
    ],
    ids=["refusal", "content in parts", "empty", "surrogates"],
)
def test_odd_answers_are_kept_since_they_are_paid(
    make: MakeProject, said: str | dict[str, Any], text: str
) -> None:
    with Endpoint(lambda number, request: dict(said) if isinstance(said, dict) else said) as server:
        project = make(server.url)
        report = run(project, Bounds(max_images=1))
        assert report.answered == 1
        assert raw(project)[0]["text"] == text
        assert report.empty == (text == "")
        assert run(project, Bounds(max_images=1)).answered == 0
        assert run(project, Bounds(max_images=1, again_empty=True)).answered == (text == "")


def test_dead_endpoint_stops_the_run_instead_of_failing_for_hours(
    make: MakeProject, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dtvqa_plugin.annotate.run.STOP_AFTER", 3)
    with (
        Endpoint(lambda number, request: status(500)) as server,
        pytest.raises(
            AnnotateError, match="3 questions in a row failed, the last with: status 500"
        ),
    ):
        run(make(server.url, retries=0, concurrency=1), Bounds())
    assert server.count == 3


# --- the key -------------------------------------------------------------------------------------


def test_key_comes_from_the_environment_and_is_written_nowhere(
    make: MakeProject, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    with Endpoint(lambda number, request: ANSWER, key=KEY) as server:
        project = make(server.url, key_env="MY_KEY")
        assert run(project, Bounds()).answered == 4
        monkeypatch.setenv("MY_KEY", f"{KEY}-wrong")
        with pytest.raises(AnnotateError, match="refuses the key in MY_KEY") as caught:
            run(make(server.url, key_env="MY_KEY", root="other"), Bounds())
    written = "".join(
        path.read_text(errors="replace")
        for path in project.root.parent.rglob("*.*l*")
        if path.is_file()
    )
    for text in (written, caplog.text, str(caught.value)):
        assert KEY not in text


def test_key_is_needed_away_from_this_machine(make: MakeProject) -> None:
    project = make("https://models.example.org/v1", key_env="MY_KEY")
    with pytest.raises(AnnotateError, match="set the environment variable MY_KEY"):
        run(project, Bounds())


# --- bounds --------------------------------------------------------------------------------------


def test_max_images_bounds_each_run_to_the_first_images(make: MakeProject) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url)
        assert run(project, Bounds(max_images=3)).answered == 3
        assert run(project, Bounds(max_images=3)).answered == 0
        assert run(project, Bounds(max_images=4)).answered == 1


def test_max_usd_is_never_passed_and_counts_earlier_runs(make: MakeProject) -> None:
    # The worst case of a question is a little over 0.1 USD (1,000 tokens out), its real cost 0.02.
    with Endpoint(lambda number, request: ANSWER, delay=0.05) as server:
        project = make(server.url, price=PRICE, concurrency=4)
        report = run(project, Bounds(max_usd=0.15))
        assert report.stopped is not None
        assert "--max-usd 0.15" in report.stopped
        assert 0 < report.usd <= 0.15
        assert server.most_at_once == 1, "two at once might have cost more than the bound"
        again = run(project, Bounds(max_usd=0.15))
        assert again.answered == 0
        assert run(project, Bounds(max_usd=5)).answered == 4 - report.answered


def test_max_usd_needs_prices(make: MakeProject) -> None:
    with pytest.raises(AnnotateError, match=r"set 'price' of round 'first'"):
        run(make(), Bounds(max_usd=1))


def test_cost_is_estimated_where_the_endpoint_counts_no_tokens(make: MakeProject) -> None:
    with Endpoint(lambda number, request: ANSWER, usage=False) as server:
        project = make(server.url, price=PRICE)
        report = run(project, Bounds(max_images=1))
    assert raw(project)[0]["counted"] is False
    assert 0 < report.usd < 0.1


def test_concurrency_is_used_and_kept(make: MakeProject, images: Path) -> None:
    for number in range(8):
        draw(images / f"more{number}.png", str(number))
    with Endpoint(lambda number, request: ANSWER, delay=0.15) as server:
        run(make(server.url, concurrency=3), Bounds())
    assert server.most_at_once == 3


def test_rate_limit_spaces_starts_and_waits_as_asked() -> None:
    now = 0.0
    limit = RateLimit(60, clock=lambda: now)
    assert [limit.delay() for _ in range(3)] == [0, 1, 2]
    now = 10.0
    assert limit.delay() == 0
    limit.pause(30)
    assert limit.delay() == 30
    assert RateLimit(None, clock=lambda: now).delay() == 0


def test_dry_run_sends_no_request(make: MakeProject) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, price=PRICE)
        found = estimate(project, Bounds())
        part = found.rounds["first"]
        assert (part["images"], part["output"]) == (4, 4 * 5 * 45)
        assert part["input"] is not None
        assert 400 < part["input"] < 4000
        assert found.usd == pytest.approx((part["input"] * 10 + 900 * 100) / 1e6)
        run(project, Bounds(max_images=3))
        assert estimate(project, Bounds()).rounds["first"]["images"] == 1
    assert server.count == 3


# --- images --------------------------------------------------------------------------------------


def test_unreadable_images_are_reported_once_and_counted(
    make: MakeProject,
    images: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # lmms-eval, when loaded, lets cut-off images pass in the whole process: not here.
    monkeypatch.setattr("PIL.ImageFile.LOAD_TRUNCATED_IMAGES", True)
    (images / "empty.png").write_bytes(b"")
    (images / "page.jpg").write_bytes(b"<html>not found</html>")
    whole = (images / "shop0.png").read_bytes()
    (images / "cut.png").write_bytes(whole[: len(whole) // 2])
    (images / "copy.png").write_bytes(whole)
    (images / "notes.txt").write_text("not an image")
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url)
        first = run(project, Bounds())
        told = caplog.text
        caplog.clear()
        again = run(project, Bounds())
    for report in (first, again):
        counts = report.images
        assert (counts.usable, counts.unreadable) == (4, 3)
        assert (counts.same_content, counts.other_files) == (1, 1)
    assert all(told.count(f"{name}:") == 1 for name in ("empty.png", "page.jpg", "cut.png"))
    assert "left out" not in caplog.text
    assert server.count == 4


def test_large_and_rotated_images_are_sent_upright_and_scaled(
    make: MakeProject, images: Path
) -> None:
    import io

    from PIL import Image

    for path in images.iterdir():
        path.unlink()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (400, 200), "white").save(images / "turned.jpg", exif=exif)
    with Endpoint(lambda number, request: ANSWER) as server:
        run(make(server.url, image_side=100), Bounds())
    url = server.requests[0]["messages"][0]["content"][0]["image_url"]["url"]
    sent = Image.open(io.BytesIO(base64.b64decode(url.split(",")[1])))
    assert sent.size == (50, 100)


# --- the command ---------------------------------------------------------------------------------


def test_command_reports_and_says_by_its_status_whether_all_is_done(make: MakeProject) -> None:
    with Endpoint(lambda number, request: status(400) if number == 0 else ANSWER) as server:
        project = make(server.url, concurrency=1, price=PRICE)
        runner = CliRunner()
        first = runner.invoke(cli, ["annotate", "run", str(project.root)])
        assert first.exit_code == 1
        assert "answered: 3 (0 answered before), failed: 1" in first.output
        second = runner.invoke(cli, ["annotate", "run", str(project.root), "--json"])
        assert second.exit_code == 0
        assert json.loads(second.stdout)["answered"] == 1
        dry = runner.invoke(cli, ["annotate", "run", str(project.root), "--dry-run"])
        assert "0 images to ask about" in dry.output


def test_missing_extra_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(cli, ["annotate", "status", "x"])
    assert isinstance(done.exception, DTVQAError)
    assert 'pip install "dtvqa-plugin[annotate]"' in str(done.exception)


def test_instruction_asks_for_short_answers_from_the_text_and_no_yes_or_no(
    make: MakeProject,
) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        run(make(server.url), Bounds(max_images=1))
    said = prompt_of(server.requests[0]).lower()
    for words in ("text in the picture must be needed", "answer is short", "yes or no", "differ"):
        assert words in said
