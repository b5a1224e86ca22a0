"""Links into the page and its keys, in a real browser."""

from __future__ import annotations

import pytest
from page_tools import LAST, Made, Opened, Pages


def in_view(opened: Opened) -> bool:
    found: bool = opened.page.evaluate(
        """() => {
          const card = document.activeElement.getBoundingClientRect();
          const bar = document.getElementById('filters').getBoundingClientRect();
          return card.top >= bar.bottom - 1 && card.top < innerHeight / 2;
        }"""
    )
    return found


@pytest.mark.parametrize("place", [0, 31, 63])
def test_a_link_opens_its_question(open_page: Pages, sample_page: Made, place: int) -> None:
    name = sample_page.document["questions"][place]["id"]
    opened = open_page(sample_page.path, f"#q={name}")
    opened.page.wait_for_timeout(300)
    assert opened.current() == name
    if place < 63:
        assert in_view(opened)
    link = opened.page.locator(f"[data-question='{name}'] .qid")
    assert link.get_attribute("href") == f"#q={name}"


def test_a_link_outweighs_filters_that_hide_its_question(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path, f"#subset=MiniScene&q={LAST}")
    assert opened.current() == LAST
    assert "All 64 questions" in opened.page.inner_text("#status")
    kept = open_page(sample_page.path, f"#subset=MiniTabShot&q={LAST}")
    assert kept.current() == LAST
    assert "16 of 64 questions" in kept.page.inner_text("#status")


def test_the_address_follows_and_can_be_followed(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    opened.page.evaluate(f"location.hash = 'q={LAST}'")
    opened.page.wait_for_timeout(200)
    assert opened.current() == LAST
    opened.page.keyboard.press("k")
    opened.page.wait_for_timeout(400)
    before = sample_page.document["questions"][-2]["id"]
    assert opened.page.evaluate("location.hash") == f"#q={before}"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("#q=DTScene/404", "no question DTScene/404"),
        ("#q=<img src=x onerror=alert(1)>", "no question <img src=x onerror=alert(1)>"),
        ("#q=%", "All 64 questions"),
        ("#subset=Nowhere&flip=9>9&min=-3&flag=99&run=x&sort=toString", "All 64 questions"),
        ("#__proto__=1&constructor=2&hello", "All 64 questions"),
    ],
)
def test_an_address_is_input_like_any_other(
    open_page: Pages, sample_page: Made, address: str, says: str
) -> None:
    opened = open_page(sample_page.path, address)
    assert says in opened.page.inner_text("#status")
    assert (opened.dialogs, opened.errors) == ([], [])


# --- keys --------------------------------------------------------------------------------------


def test_keys_move_through_the_questions(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    names = [question["id"] for question in sample_page.document["questions"]]
    keys = opened.page.keyboard
    for key, place in (
        ("j", 0), ("j", 1), ("ArrowRight", 2), ("k", 1), ("ArrowLeft", 0), ("k", 0),
        ("G", 63), ("j", 63), ("k", 62), ("g", 0),
    ):  # fmt: skip
        keys.press(key)
        assert opened.current() == names[place], key
    keys.press("Control+j")
    assert opened.current() == names[0]


def test_keys_reach_search_and_leave_it(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("jk?")
    assert page.input_value("#filters [name=text]") == "jk?"
    assert not page.locator("dialog[open]").count()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("c")
    assert "All 64 questions" in page.inner_text("#status")
    page.keyboard.press("?")
    assert "next question" in page.inner_text("dialog[open]")
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    assert not page.locator("dialog[open]").count()
    assert opened.current() is None


def test_everything_is_reached_with_tab_and_shows_where_it_is(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path)
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(140):
        focus = opened.page.evaluate(
            """() => {
              const node = document.activeElement, style = getComputedStyle(node);
              const name = node.getAttribute('aria-label') || node.textContent.trim();
              return [node.tagName, node.name || node.className, name,
                      style.outlineStyle !== 'none' && style.outlineWidth !== '0px'];
            }"""
        )
        assert focus[2], focus
        assert focus[3], focus
        seen.add((focus[0], focus[1]))
        if focus[1] == "thumb":
            break
        opened.page.keyboard.press("Tab")
    controls = {"text", "subset", "run", "outcome", "by", "min", "max", "flip", "flag", "sort"}
    assert controls <= {name for _, name in seen}
    assert ("BUTTON", "thumb") in seen


def test_the_skip_link_keeps_the_filters(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path, "#subset=MiniScene")
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_timeout(100)
    assert opened.page.evaluate("document.activeElement.id") == "questions"
    assert "16 of 64 questions" in opened.page.inner_text("#status")
