"""The review page: the image, new pairs from it, text as it is, and faults that axe finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annotate.conftest import HOSTILE, MakeProject, Open, draw, fill, held
from annotate.review.session import PHONE, Session, box, choose, find

from dtvqa_plugin.annotate.check import check
from dtvqa_plugin.annotate.expand import expand
from dtvqa_plugin.annotate.export import export
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.project.project import Project

ARABIC = "ما اسم المحل؟"
HIDDEN = "COR\u200bNER\u00a01"
NAME = "<i>shop\u202e1.png"
UNREAD = f"The label shows {HOSTILE} and \u200dmore."
CORNER = [2200, 1700, 2380, 1740]
TOP = [40, 60, 300, 100]


@pytest.fixture
def large(make: MakeProject, images: Path) -> Project:
    """Two pairs on one large image that has known text, unread text and a hostile name."""
    for path in images.iterdir():
        path.unlink()
    draw(images / NAME, "x", size=(2400, 1800))
    text = images.parent / "text.json"
    lines = [{"text": "CORNER", "box": CORNER}, {"text": "pears 2.5", "box": TOP}]
    text.write_text(json.dumps({NAME: lines}))

    def with_text(values: dict[str, Any]) -> None:
        values["sources"][0]["ocr"] = {"from": "file", "format": "json", "file": str(text)}

    made = make(config=with_text)
    pairs = [
        {"question": "What stands in the corner?", "answer": "CORNER"},
        {"question": ARABIC, "answer": HIDDEN},
    ]
    fill(made, [json.dumps({"pairs": pairs})])
    for stage in (extract, check, expand):
        stage(made)
    image = next(entry for _, entry in made.pairs.read())["image"]
    for part in (UNREAD, "Second."):
        made.unread.append({"image": image, "text": part, "refusal": False})
    return made


# --- the image -----------------------------------------------------------------------------------


def test_wheel_zooms_where_the_pointer_is_and_dragging_moves(
    large: Project, open_review: Open
) -> None:
    session = open_review(large)
    find(session, "CORNER")
    session.until("document.getElementById('image').naturalWidth === 2400 && boxes.length === 2")
    canvas, fitted = box(session, "#canvas"), box(session, "#image")
    assert fitted["width"] < canvas["width"]
    x, y = fitted["x"] + 0.6 * fitted["width"], fitted["y"] + 0.7 * fitted["height"]
    session.page.mouse.move(x, y)
    for _ in range(4):
        session.page.mouse.wheel(0, -300)
    session.until("view.scale > 1")
    zoomed = box(session, "#image")
    assert (x - zoomed["x"]) / zoomed["width"] == pytest.approx(0.6, abs=0.01)
    assert (y - zoomed["y"]) / zoomed["height"] == pytest.approx(0.7, abs=0.01)
    session.page.mouse.down()
    session.page.mouse.move(x - 90, y - 50)
    session.page.mouse.up()
    moved = box(session, "#image")
    assert (zoomed["x"] - moved["x"], zoomed["y"] - moved["y"]) == pytest.approx((90, 50), abs=1)
    session.press("Shift+ArrowRight")
    assert box(session, "#image")["x"] == pytest.approx(moved["x"] - 80, abs=1)
    for _ in range(9):
        session.page.mouse.wheel(0, 300)
    session.until("view.scale === null")
    assert box(session, "#image")["width"] == pytest.approx(fitted["width"], abs=1)
    session.press("+", "+", "-")
    assert box(session, "#image")["width"] == pytest.approx(fitted["width"] * 1.25, rel=0.01)


def test_full_size_has_the_answers_box_in_the_middle(large: Project, open_review: Open) -> None:
    session = open_review(large)
    find(session, "CORNER")
    session.until("document.querySelectorAll('polygon.hit').length === 1")
    session.press("z")
    assert box(session, "#image")["width"] == 2400
    canvas, answer = box(session, "#canvas"), box(session, "polygon.hit")
    # The box is near the corner, where the image ends: all of it is seen, as central as can be.
    assert canvas["x"] < answer["x"]
    assert answer["x"] + answer["width"] <= canvas["x"] + canvas["width"]
    assert canvas["y"] < answer["y"] < canvas["y"] + canvas["height"] - answer["height"]
    session.page.fill("#answers input", "pears")
    session.press("Escape", "z", "z")
    assert session.page.evaluate("document.getElementById('canvas').scrollLeft") == 0
    session.page.evaluate(
        "boxes[0][1] = [1000, 900, 1200, 900, 1200, 940, 1000, 940]; drawBoxes(); mark(); centre()"
    )
    canvas, answer = box(session, "#canvas"), box(session, "polygon.hit")
    for start, length in (("x", "width"), ("y", "height")):
        middle = canvas[start] + canvas[length] / 2
        assert answer[start] + answer[length] / 2 == pytest.approx(middle, abs=10)


def by_click(session: Session) -> None:
    place = box(session, "polygon >> nth=0")
    session.page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)


def by_dragging(session: Session) -> None:
    place = box(session, "polygon >> nth=0")
    session.page.mouse.move(place["x"] - 4, place["y"] - 4)
    session.page.mouse.down()
    session.page.mouse.move(place["x"] + place["width"] + 4, place["y"] + place["height"] + 4)
    session.page.mouse.up()


def by_keyboard(session: Session) -> None:
    session.page.focus("#hand-line")
    session.page.keyboard.type("pears")
    session.page.focus("#question")


@pytest.mark.parametrize("take", [by_click, by_dragging, by_keyboard])
def test_new_pair_by_hand_from_a_box(
    large: Project, open_review: Open, tmp_path: Path, take: Callable[[Session], None]
) -> None:
    session = open_review(large)
    find(session, "CORNER")
    session.until("document.querySelectorAll('polygon').length === 2")
    shown = session.pair["pair"]
    session.press("n")
    session.press("s")
    assert held(large) == [], "other keys decide nothing meanwhile"
    take(session)
    session.until("document.activeElement.id === 'question'")
    assert session.answers == ["pears 2.5"]
    session.page.keyboard.type("What costs 2.5?")
    session.page.keyboard.press("Control+Enter")
    session.until("!busy && document.getElementById('message').textContent === 'Added'")
    (entry,) = held(large)
    assert (entry["question"], entry["answers"]) == ("What costs 2.5?", ["pears 2.5"])
    assert (entry["by_hand"], entry["action"], entry["round"]) == (True, "accept", "by hand")
    assert entry["box"] == pytest.approx(TOP, abs=25)
    assert session.pair["pair"] == shown, "back to where it was"
    assert choose(session, filter="by_hand") == "1 of 1"
    assert session.page.locator("rect.chosen").count() == 1
    export(large, tmp_path / "out")
    (record,) = json.loads((tmp_path / "out" / "test" / "DT_custom.json").read_text())
    assert (record["question"], record["answers"]) == ("What costs 2.5?", ["pears 2.5"])
    if take is by_click:
        ben = open_review(large, reviewer="Ben")
        assert choose(ben, filter="second") == "1 of 1"
        session.press("u")
        assert choose(session, filter="by_hand") == "nothing"
        assert choose(session, filter="all") == "1 of 2"


# --- text as it is -------------------------------------------------------------------------------


def test_direction_hidden_characters_and_unread_text(large: Project, open_review: Open) -> None:
    session = open_review(large)
    find(session, HIDDEN)
    direction = "id => getComputedStyle(document.querySelector(id)).direction"
    assert session.page.evaluate(direction, "#question") == "rtl"
    assert session.page.evaluate(direction, "#answers input") == "ltr"
    marks = session.page.locator("#answers .unseen").all_inner_texts()
    assert marks == ["zero-width space", "no-break space"]
    assert not session.page.is_visible("#question-unseen")
    assert session.text("#file").startswith("<i>shop")
    assert session.page.locator("#file .unseen").all_inner_texts() == ["right-to-left override"]
    texts = session.page.locator("#unread-texts pre").all_inner_texts()
    assert texts == [UNREAD.replace("\u200d", "zero-width joiner"), "Second."]
    unread, stage = box(session, "#unread-texts"), box(session, ".stage")
    assert unread["y"] + unread["height"] <= stage["y"] + stage["height"] <= 800
    assert unread["x"] + unread["width"] <= stage["x"] + stage["width"]
    assert session.page.evaluate("document.title") == "Review: Shops"
    assert session.page.locator("main img").count() == 1
    assert session.page.locator("main i").count() == 0
    session.press("a")
    assert held(large)[0]["answers"] == [HIDDEN], "shown, not changed"
    assert session.errors == []


@pytest.mark.parametrize(
    "view", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"]
)
def test_no_state_of_the_page_has_a_fault_that_axe_finds(
    large: Project, open_review: Open, view: dict[str, Any]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    session = open_review(large, **view)
    find(session, HIDDEN)
    session.press("a", "k", "k")
    faults = {}
    for state, key in (("pair", None), ("new pair", "n"), ("help", "?")):
        if key:
            session.page.keyboard.press(key)
            session.until("!busy")
        found = axe.run(session.page).response["violations"]
        faults[state] = [(one["id"], one["nodes"][0]["html"]) for one in found]
    assert faults == {"pair": [], "new pair": [], "help": []}
