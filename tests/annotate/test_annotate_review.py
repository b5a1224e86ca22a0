"""The review page: its server's doors, and a whole session in headless Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from annotate.conftest import MakeProject, fill

from dtvqa_plugin.annotate.check import check
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.expand import expand
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review import ReviewServer
from dtvqa_plugin.annotate.review.decisions import Decisions
from dtvqa_plugin.annotate.review.server import checked_name

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
SAID = [
    "Q1: What is the shop called?\nA1: BLUE BIRD\nQ2: What do pears cost?\nA2: 1,250 g",
    # Free text with markup is unread; structured values are taken as they are.
    json.dumps({"pairs": [{"question": f"What stands below {HOSTILE}?", "answer": HOSTILE}]}),
    "Q1: Is it open?\nA1: Yes",
    "Q1: What is the shop called?\nA1: BLUE BIRD",
]


@pytest.fixture
def project(make: MakeProject, images: Path) -> Project:
    """Five pairs over four images, flagged, with proposals, and with known text."""
    text = images.parent / "text.json"
    lines = {
        path.name: [
            {"text": "BLUE BIRD", "box": [6, 6, 70, 18]},
            {"text": "pears 2.5", "box": [6, 22, 60, 34]},
        ]
        for path in images.iterdir()
    }
    text.write_text(json.dumps(lines))

    def with_text(values: dict[str, Any]) -> None:
        values["sources"][0]["ocr"] = {"from": "file", "format": "json", "file": str(text)}

    made = make(config=with_text)
    fill(made, SAID)
    extract(made)
    check(made)
    expand(made)
    return made


Serve = Callable[..., ReviewServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[ReviewServer] = []

    def start(project: Project, reviewer: str | None = "Ada") -> ReviewServer:
        server = ReviewServer(project, reviewer=reviewer)
        threading.Thread(target=server.serve, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


def held(project: Project) -> list[dict[str, Any]]:
    return [entry for _, entry in project.decisions.read()]


# --- the server's doors --------------------------------------------------------------------------


def ask(
    server: ReviewServer,
    path: str,
    *,
    token: str | None = None,
    method: str = "GET",
    body: bytes | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    address = f"/{server.token if token is None else token}/{path}"
    connection.request(method, address, body, named)
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read()


def decide(server: ReviewServer, values: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    body = values if isinstance(values, bytes) else json.dumps(values).encode()
    sent = {"Content_Type": "application/json", **headers}
    code, _, answer = ask(server, "api/decide", method="POST", body=body, **sent)
    return code, json.loads(answer)


def test_page_is_served_under_its_token_alone(project: Project, serve: Serve) -> None:
    server = serve(project)
    assert len(server.token) >= 32
    code, headers, body = ask(server, "")
    assert code == 200
    assert b"<script src=" in body
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    for wrong in ("", "x", server.token[:-1], server.token + "x"):
        assert ask(server, "", token=wrong)[0] == 404
        assert ask(server, "api/state", token=wrong)[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_other_hosts_and_origins_get_nothing(
    project: Project, serve: Serve, headers: dict[str, str]
) -> None:
    server = serve(project)
    assert ask(server, "api/state", **headers)[0] == 403
    pair = next(entry for _, entry in project.pairs.read())
    values = {"pair": pair["pair"], "verdict": "reject", "question": "q", "answers": ["a"]}
    assert decide(server, values, **headers)[0] == 403
    assert held(project) == []


def test_server_listens_on_this_machine_only(project: Project, serve: Serve) -> None:
    assert serve(project)._http.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    [
        "../config.yaml",
        "image/../../etc/passwd",
        "image/" + "0" * 64,
        "image/abc",
        "raw.jsonl",
        "x",
    ],
)
def test_nothing_but_the_page_and_known_images_is_served(
    project: Project, serve: Serve, path: str
) -> None:
    assert ask(serve(project), path)[0] in (404, 409)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"verdict": "maybe"}, 400),
        ({"question": "  "}, 400),
        ({"answers": []}, 400),
        ({"answers": ["a", " "]}, 400),
        ({"answers": "a"}, 400),
        ({"answers": ["x" * 2001]}, 400),
        ({"answers": ["\ud800"]}, 400),
        ({"pair": "000000000000"}, 409),
        ({"pair": None}, 409),
    ],
    ids=str,
)
def test_unusable_decision_is_refused_and_saved_nowhere(
    project: Project, serve: Serve, values: dict[str, Any], code: int
) -> None:
    pair = next(entry for _, entry in project.pairs.read())
    whole = {"pair": pair["pair"], "verdict": "accept", "question": "q", "answers": ["a"], **values}
    assert decide(serve(project), whole)[0] == code
    assert held(project) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_unusable_body_is_refused(project: Project, serve: Serve, body: bytes) -> None:
    assert decide(serve(project), body)[0] == 400


def test_form_posts_and_huge_bodies_are_refused(project: Project, serve: Serve) -> None:
    server = serve(project)
    assert decide(server, b"{}", Content_Type="text/plain")[0] == 415
    code, _, _ = ask(
        server,
        "api/decide",
        method="POST",
        Content_Type="application/json",
        Content_Length="99999999",
    )
    assert code == 413


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "a\u202eb", "a\x00b"])
def test_unusable_reviewer_names(name: str) -> None:
    with pytest.raises(AnnotateError, match="1 to 40 printable"):
        checked_name(name)


def test_nothing_to_review_is_one_error(make: MakeProject) -> None:
    with pytest.raises(AnnotateError, match="nothing to review"):
        ReviewServer(make())


def test_a_decision_says_who_when_and_on_what(project: Project, serve: Serve) -> None:
    pair = next(entry for _, entry in project.pairs.read())
    values = {"pair": pair["pair"], "verdict": "accept", "question": "New?", "answers": ["b", "b"]}
    code, saved = decide(serve(project), values)
    assert code == 200
    (entry,) = held(project)
    assert entry["id"] == saved["saved"]
    assert (entry["reviewer"], entry["action"]) == ("Ada", "accept")
    assert (entry["question"], entry["answers"], entry["edited"]) == ("New?", ["b"], True)
    assert entry["at"].startswith("20")
    assert entry["image"] == pair["image"]


# --- the page in Chromium ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("needs Chromium (on Debian: apt-get install chromium)")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    with api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, headless=True, args=flags)
        yield running
        running.close()


class Session:
    """The open page, steered as a reviewer would: by keys."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda said: self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(url)

    def until(self, expression: str) -> None:
        """Wait until an expression holds; the page's policy forbids Playwright's own way."""
        end = time.monotonic() + 10
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never came true: {expression}; {self.errors}"
            self.page.wait_for_timeout(20)

    def ready(self) -> None:
        self.until("!busy && (pair !== null || !document.getElementById('empty').hidden)")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.ready()

    @property
    def pair(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate("pair")
        return found

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    @property
    def answers(self) -> list[str]:
        found: list[str] = self.page.evaluate("currentAnswers()")
        return found


@pytest.fixture
def open_review(browser: Browser, serve: Serve) -> Iterator[Callable[..., Session]]:
    contexts: list[Any] = []

    def start(project: Project, reviewer: str | None = "Ada") -> Session:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        contexts.append(context)
        session = Session(context.new_page(), serve(project, reviewer).url)
        if reviewer is not None:
            session.ready()
        return session

    yield start
    for context in contexts:
        context.close()


Open = Callable[..., Session]


def test_a_session_by_keyboard(project: Project, open_review: Open) -> None:
    session = open_review(project)
    first = session.pair
    assert session.text("#place") == "1 of 5"
    session.press("a")
    assert session.text("#message") == "Accepted"
    assert session.pair["pair"] != first["pair"]
    session.press("r")
    assert [entry["action"] for entry in held(project)] == ["accept", "reject"]
    assert "1 of 3" in session.text("#progress")
    session.press("u")
    assert session.pair["pair"] == held(project)[1]["pair"]
    session.press("u")
    assert session.pair["pair"] == first["pair"]
    assert [entry["action"] for entry in held(project)] == ["accept", "reject", "undo", "undo"]
    assert "0 of 3" in session.text("#progress")
    session.press("u")
    assert session.text("#message") == "Nothing to undo."
    session.press(*"aaaaa")
    assert session.text("#empty-title") == "All decided"
    assert "4 of 3" not in session.text("#progress")
    assert "5 of 3" in session.text("#progress")
    assert session.errors == []


def test_steps_filters_and_fields(project: Project, open_review: Open) -> None:
    session = open_review(project)
    seen = [session.pair["pair"]]
    for _ in range(4):
        session.press("j")
        seen.append(session.pair["pair"])
    assert len(set(seen)) == 5
    session.press("j")
    assert session.pair["pair"] == seen[0], "the end is followed by the beginning"
    session.press("k")
    assert session.pair["pair"] == seen[-1]
    session.page.keyboard.press("e")
    session.page.keyboard.type("a r u j")
    assert held(project) == [], "letters in a field are text"
    session.page.keyboard.press("Escape")
    session.press("k", "j")
    assert "a r u j" in session.page.input_value("#question"), "an edit outlives leaving the pair"
    session.press("a")
    assert held(project)[0]["edited"] is True
    session.page.select_option("#filter", "accepted")
    session.until("!busy && document.getElementById('place').textContent === '1 of 1'")
    assert session.pair["mine"]["verdict"] == "accept"
    session.page.select_option("#filter", "rejected")
    session.until("!busy && pair === null")
    session.page.click("#show-all")
    session.until("!busy && document.getElementById('place').textContent === '1 of 5'")


def test_flags_proposals_and_answers(project: Project, open_review: Open) -> None:
    session = open_review(project)
    while session.pair["answers"] != ["1,250 g"]:
        session.press("j")
    assert "not in ocr" in session.text("#flags")
    proposed = [proposal[0] for proposal in session.pair["proposals"]]
    assert {"1,250g", "1250 g", "1,250 grams"} <= set(proposed)
    session.press("1", "2")
    assert session.answers == ["1,250 g", *proposed[:2]]
    session.press("1")
    assert session.answers == ["1,250 g", proposed[1]]
    session.page.keyboard.press("v")
    session.page.keyboard.type("a good deal")
    session.page.keyboard.press("Control+Enter")
    session.ready()
    session.until("!busy")
    assert held(project)[0]["answers"] == ["1,250 g", proposed[1], "a good deal"]


def test_image_and_text_boxes(project: Project, open_review: Open) -> None:
    session = open_review(project)
    while session.pair["answers"] != ["BLUE BIRD"]:
        session.press("j")
    session.until("document.querySelectorAll('#overlay polygon').length === 2")
    session.until("document.getElementById('image').naturalWidth === 160")
    assert session.page.locator("polygon.hit").count() == 1
    session.page.locator("polygon.hit").hover(force=True)
    assert session.text("#box-text") == "BLUE BIRD"
    session.press("b")
    assert not session.page.locator("#overlay").is_visible()
    fitted = session.page.evaluate("document.getElementById('image').width")
    session.press("z")
    assert session.page.evaluate("document.getElementById('image').width") == 160 < fitted


def test_model_output_is_text_and_nothing_leaves_the_machine(
    project: Project, open_review: Open
) -> None:
    session = open_review(project)
    while HOSTILE not in session.pair["answers"]:
        session.press("j")
    assert session.page.input_value("#question") == f"What stands below {HOSTILE}?"
    assert session.page.evaluate("document.title") == "Review: Shops"
    assert session.page.locator("main img").count() == 1
    assert all(url.startswith("http://127.0.0.1:") for url in session.requests)
    assert session.errors == []


def test_two_reviewers_see_each_other_only_after_deciding(
    project: Project, open_review: Open
) -> None:
    ada = open_review(project)
    ada.press(*"aaaar")
    ben = open_review(project, reviewer="Ben")
    assert ben.pair["others"] == {}
    assert "Ada" not in ben.text("#verdicts")
    ben.page.select_option("#filter", "second")
    ben.until("!busy && document.getElementById('place').textContent === '1 of 5'")
    ben.press(*"aaarr")
    decisions = Decisions(project)
    decisions.refresh()
    outcomes = sorted(str(decisions.outcome(pair)) for pair in decisions.held)
    assert outcomes == ["accepted"] * 3 + ["disputed", "rejected"]
    # 4 of 5 alike; by chance (4*3 + 1*2) / 25 = 0.56; (0.8 - 0.56) / 0.44 = 0.545
    assert "κ 0.55 with Ada" in ben.text("#kappa")
    ben.page.select_option("#filter", "disputed")
    ben.until("!busy && document.getElementById('place').textContent === '1 of 1'")
    assert "Ada: accepted" in ben.text("#verdicts")
    ben.page.click("text=Take these texts")
    ben.press("a")
    decisions.refresh()
    assert "disputed" not in [decisions.outcome(pair) for pair in decisions.held]


def test_name_is_asked_for_where_none_is_given(project: Project, open_review: Open) -> None:
    session = open_review(project, reviewer=None)
    session.until("document.getElementById('name-dialog').open")
    session.page.keyboard.press("Escape")
    session.page.fill("#name", "Grace")
    session.page.keyboard.press("Enter")
    session.ready()
    session.press("a")
    assert [entry["reviewer"] for entry in held(project)] == ["Grace"]


def test_killed_server_is_said_and_loses_no_decision(project: Project, browser: Browser) -> None:
    command = "from dtvqa_plugin.cli import main; main()"
    arguments = ["annotate", "review", str(project.root), "--no-open", "--reviewer", "Ada"]
    server = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stdout=subprocess.PIPE, text=True
    )
    context = browser.new_context()
    try:
        assert server.stdout is not None
        session = Session(context.new_page(), server.stdout.readline().strip())
        session.ready()
        session.press("a")
        assert session.text("#message") == "Accepted"
        shown = session.pair["pair"]
        server.kill()
        server.wait()
        session.page.keyboard.press("a")
        session.until(
            "document.getElementById('message').textContent.includes('cannot be reached')"
        )
        assert session.pair["pair"] == shown
        assert len(held(project)) == 1, "what was called accepted is on disk"
    finally:
        server.kill()
        context.close()
