"""The review page: whole sessions in headless Chromium."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from annotate.conftest import HOSTILE, Open, held
from annotate.review.session import Session

from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
    assert not session.page.locator("polygon").first.is_visible()
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
    assert ben.pair["others"] == []
    assert "Ada" not in ben.text("#verdicts")
    ben.page.select_option("#filter", "second")
    ben.until("!busy && document.getElementById('place').textContent === '1 of 5'")
    ben.press(*"aaarr")
    decisions = Decisions(project)
    decisions.refresh()
    outcomes = sorted(str(decisions.outcome(pair)) for pair in decisions.pairs())
    assert outcomes == ["accepted"] * 3 + ["disputed", "rejected"]
    # 4 of 5 alike; by chance (4*3 + 1*2) / 25 = 0.56; (0.8 - 0.56) / 0.44 = 0.545
    assert "κ 0.55 with Ada" in ben.text("#kappa")
    ben.page.select_option("#filter", "disputed")
    ben.until("!busy && document.getElementById('place').textContent === '1 of 1'")
    assert "Ada: accepted" in ben.text("#verdicts")
    ben.page.click("text=Take these texts")
    ben.press("a")
    decisions.refresh()
    assert "disputed" not in [decisions.outcome(pair) for pair in decisions.pairs()]


def test_name_is_asked_for_where_none_is_given(project: Project, open_review: Open) -> None:
    session = open_review(project, reviewer=None)
    session.until("document.getElementById('name-dialog').open")
    session.page.keyboard.press("Escape")
    session.page.fill("#name", "Grace")
    session.page.keyboard.press("Enter")
    session.ready()
    session.press("a")
    assert [entry["reviewer"] for entry in held(project)] == ["Grace"]


def test_a_killed_server_is_reported_and_loses_no_decision(
    project: Project, browser: Browser
) -> None:
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
