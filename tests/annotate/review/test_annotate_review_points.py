"""The review page: views, notes, two reviewers, other tabs, waiting keys, phones."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from annotate.conftest import ANSWER, HOSTILE, MakeProject, Open, Serve, fill, held
from annotate.review.session import PHONE, Session, box, choose, find

from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# --- views, notes, unsure ------------------------------------------------------------------------


def test_views_by_flag_history_text_and_score(project: Project, open_review: Open) -> None:
    session = open_review(project)
    flags = [set(entry) for entry in _flags(project).values()]
    unread = sum("not-in-ocr" in entry for entry in flags)
    assert choose(session, flag="not-in-ocr") == f"1 of {unread}"
    assert "not in ocr" in session.text("#flags")
    assert choose(session, flag="none") == f"1 of {sum(not entry for entry in flags)}"
    choose(session, flag="", sort="worst")
    lowest = session.pair["score"]
    choose(session, sort="best")
    assert session.pair["score"] == 1.0 > lowest
    choose(session, sort="image")
    assert choose(session, search="PEARS  cost") == "1 of 1"
    assert session.pair["answers"] == ["1,250 g"]
    assert choose(session, search="zzz") == "nothing"
    session.page.click("#show-all")
    session.until("!busy && document.getElementById('place').textContent === '1 of 5'")
    find(session, "Yes")
    session.page.keyboard.press("e")
    session.page.keyboard.type(" Indeed?")
    session.page.keyboard.press("Control+Enter")
    session.until("!busy")
    find(session, "1,250 g")
    session.press("r")
    history = {"mine": 2, "accepted": 1, "rejected": 1, "edited": 1, "noted": 0, "unsure": 0}
    for name, count in history.items():
        expected = f"1 of {count}" if count else "nothing"
        assert choose(session, filter=name) == expected, name
    choose(session, filter="mine", sort="recent")
    assert session.pair["answers"] == ["1,250 g"], "the last decision first"
    assert choose(session, search="indeed") == "1 of 1", "the reviewer's own words are searched"
    assert session.errors == []


def _flags(project: Project) -> dict[str, list[str]]:
    return {e["pair"]: [flag[0] for flag in e["flags"]] for _, e in project.flags.read()}


def test_reason_and_note_and_unsure(project: Project, open_review: Open) -> None:
    session = open_review(project)
    reasons = session.page.locator("#reasons option").evaluate_all("all => all.map(o => o.value)")
    assert "wrong answer" in reasons
    first = session.pair["pair"]
    session.page.keyboard.press("c")
    session.page.keyboard.type(f"wrong answer {HOSTILE}")
    session.page.keyboard.press("Enter")
    session.press("r")
    assert held(project)[0]["note"] == f"wrong answer {HOSTILE}"
    assert session.page.input_value("#note") == "", "a note belongs to one pair"
    session.press("s")
    assert session.text("#message") == "Left as unsure"
    assert choose(session, filter="todo") == "1 of 3", "both are decided, one as unsure"
    assert choose(session, filter="unsure") == "1 of 1"
    assert "You: unsure" in session.text("#verdicts")
    assert choose(session, filter="noted") == "1 of 1"
    assert session.pair["pair"] == first
    assert session.page.input_value("#note") == f"wrong answer {HOSTILE}"
    assert HOSTILE in session.text("#verdicts")
    assert choose(session, search="WRONG answer") == "1 of 1"
    assert session.page.evaluate("document.title") == "Review: Shops"
    session.press("u")
    assert choose(session, search="", filter="unsure") == "nothing"


def test_image_without_a_pair_is_reviewed_by_hand(make: MakeProject, open_review: Open) -> None:
    project = make()
    fill(project, [ANSWER, f"Prose {HOSTILE} only.", ANSWER, "I cannot help with that."])
    extract(project)
    session = open_review(project)
    assert session.text("#place") == "1 of 4"
    assert choose(session, filter="all") == "1 of 4"
    assert choose(session, filter="no_pair") == "1 of 2"
    while HOSTILE not in session.text("#unread-texts"):
        session.press("j")
    session.page.fill("#question", "What is it?")
    session.page.fill("#answers input", "prose")
    session.page.keyboard.press("Control+Enter")
    session.until("!busy && document.getElementById('message').textContent === 'Added'")
    (entry,) = held(project)
    assert (entry["question"], entry["answers"], entry["style"]) == (
        "What is it?",
        ["prose"],
        "scene",
    )
    assert choose(session, filter="by_hand") == "1 of 1"
    assert "pair 1 of 1 of this image" in session.text("#meta")
    assert session.errors == []


# --- two reviewers, two tabs, two servers --------------------------------------------------------


def test_one_key_joins_the_variants_of_two_reviewers(project: Project, open_review: Open) -> None:
    ada = open_review(project)
    find(ada, "1,250 g")
    ada.press("1", "a")
    ben = open_review(project, reviewer="Ben")
    find(ben, "1,250 g")
    assert not ben.page.is_visible("#join"), "what others accepted is not shown before"
    ben.press("2", "a")
    assert ", 1 to join" in ben.text("#progress")
    assert "disputed" not in ben.text("#progress")
    assert choose(ben, filter="disputed") == "nothing"
    assert choose(ben, filter="variants") == "1 of 1"
    proposed = [proposal[0] for proposal in ben.pair["proposals"]]
    ben.press("g")
    assert ben.text("#message") == "Joined"
    assert held(project)[-1]["answers"] == ["1,250 g", proposed[1], proposed[0]]
    decisions = Decisions(project)
    decisions.refresh()
    assert [decisions.outcome(pair) for pair in decisions.pairs()] == ["accepted"]
    assert choose(ben, filter="variants") == "nothing"


def test_second_tab_is_told_before_it_overturns_a_decision(
    project: Project, open_review: Open, serve: Serve
) -> None:
    server = serve(project, "Ada")
    one, two = open_review(server), open_review(server)
    first = one.pair["pair"]
    assert two.pair["pair"] == first
    one.press("r")
    two.page.keyboard.press("v")
    two.page.keyboard.type("mine")
    two.page.keyboard.press("Control+Enter")
    two.until("!busy")
    assert "Meanwhile you decided on this pair elsewhere: reject. Nothing was saved" in two.text(
        "#message"
    )
    assert len(held(project)) == 1
    assert "You: rejected" in two.text("#verdicts")
    assert "mine" in two.answers, "what was typed stays"
    two.press("a")
    assert [entry["action"] for entry in held(project)] == ["reject", "accept"]
    one.press("u")
    assert "made in another tab" in one.text("#message")
    assert len(held(project)) == 2
    one.press("u")
    assert held(project)[-1]["action"] == "undo"
    assert one.pair["pair"] == first


def test_restarted_server_says_so_in_the_old_tab(project: Project, browser: Browser) -> None:
    code = "from dtvqa_plugin.cli import main; main()"
    command = [sys.executable, "-c", code, "annotate", "review", str(project.root), "--no-open"]
    servers: list[subprocess.Popen[str]] = []

    def begin() -> str:
        child = subprocess.Popen([*command, "--reviewer", "Ada"], stdout=subprocess.PIPE, text=True)
        servers.append(child)
        assert child.stdout is not None
        return child.stdout.readline().strip()

    context = browser.new_context()
    try:
        session = Session(context.new_page(), begin())
        session.ready()
        servers[0].kill()
        servers[0].wait()
        address = begin()
        assert address not in session.page.url
        session.page.keyboard.press("a")
        session.until("!busy && document.getElementById('message').textContent !== ''")
        assert "Where the review was started again, open the address that it printed" in (
            session.text("#message")
        )
        assert "belongs to a review that has ended" in session.text("#message")
        assert held(project) == []
    finally:
        for server in servers:
            server.kill()
            server.wait()
        context.close()


def test_keys_pressed_while_saving_wait_in_order(
    project: Project, open_review: Open, serve: Serve
) -> None:
    server = serve(project, "Ada")
    session = open_review(server)
    order = [session.pair["pair"]]
    session.press("j")
    order.append(session.pair["pair"])
    session.press("k")
    with server.lock:  # as long as the server saves
        for key in ("a", "r", "e", "End", "r", "e", "d", "Control+Enter", "s"):
            session.page.keyboard.press(key)
        assert held(project) == []
    session.ready()
    said = held(project)
    assert [entry["action"] for entry in said] == ["accept", "reject", "accept", "unsure"]
    assert [entry["pair"] for entry in said[:2]] == order
    assert "red" in said[2]["question"], "letters after E are text"
    session.press("u", "u", "u", "u")
    with server.lock:
        session.page.keyboard.down("a")
        for _ in range(5):
            session.page.keyboard.down("a")
        session.page.keyboard.up("a")
        session.page.dblclick("#accept")
    session.ready()
    actions = [entry["action"] for entry in held(project)[8:]]
    assert actions == ["accept", "accept"], "a held key and a double click decide once each"


def test_keys_after_a_fault_are_dropped(project: Project, open_review: Open, serve: Serve) -> None:
    server = serve(project, "Ada")
    session = open_review(server)
    other = Decisions(project)
    pair = session.pair
    with server.lock:
        other.record(pair, "Ada", "reject", pair["question"], pair["answers"])
        for key in ("a", "a", "r"):
            session.page.keyboard.press(key)
    session.until("!busy")
    assert "Keys dropped: 2." in session.text("#message")
    assert len(held(project)) == 1


# --- phones ----------------------------------------------------------------------


def test_on_a_phone_the_answer_stands_above_accept(project: Project, open_review: Open) -> None:
    session = open_review(project, **PHONE)
    find(session, "1,250 g")
    session.page.evaluate("window.scrollTo(0, 0)")
    said, accept = box(session, "#said"), box(session, "#accept")
    assert session.text("#said") == "1,250 g"
    assert said["y"] >= 0
    assert said["y"] + said["height"] <= accept["y"]
    assert accept["y"] + accept["height"] <= 844
    assert accept["y"] - said["y"] - said["height"] < 30
    assert session.page.evaluate("document.documentElement.scrollWidth") <= 390
    session.page.tap("#accept")
    session.ready()
    session.until("!busy")
    assert held(project)[0]["answers"] == ["1,250 g"]
