"""The page under axe-core: no fault, by day and in the dark, whatever is shown."""

from __future__ import annotations

from typing import Any

import pytest
from page_tools import Made, Opened, Pages

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra dev")

VIEWS = {
    "all questions": "",
    "one question": "#q=MiniScene/5",
    "no question fits": "#text=zzzz%20nothing",
}


def faults(opened: Opened) -> list[dict[str, Any]]:
    """Rules that axe-core finds broken, each with the elements that break it."""
    found = axe.Axe().run(opened.page).response["violations"]
    return [
        {"rule": fault["id"], "at": [node["html"][:200] for node in fault["nodes"][:3]]}
        for fault in found
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_no_fault(open_page: Pages, sample_page: Made, view: str, dark: bool) -> None:
    opened = open_page(sample_page.path, VIEWS[view], dark=dark)
    if view == "no question fits":
        assert "No question fits" in opened.page.inner_text("#list")
    assert faults(opened) == []


@pytest.mark.parametrize("key", ["?", "o"], ids=["keys", "image"])
def test_axe_finds_no_fault_in_an_open_dialog(
    open_page: Pages, sample_page: Made, key: str
) -> None:
    opened = open_page(sample_page.path, "#q=MiniScene/5")
    opened.page.keyboard.press(key)
    opened.page.locator("dialog[open]").wait_for()
    assert faults(opened) == []
