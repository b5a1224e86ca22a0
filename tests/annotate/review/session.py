"""An open review page, steered as a reviewer would."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


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


def choose(session: Session, **values: str) -> str:
    """Set the view's fields and give the place that the page shows."""
    for name, value in values.items():
        if name == "search":
            session.page.fill("#search", value)
            session.page.press("#search", "Enter")
        else:
            session.page.select_option(f"#{name}", value)
        session.until("!busy")
    return session.text("#place") if session.page.is_visible("#main") else "nothing"


def find(session: Session, answer: str) -> None:
    for _ in range(6):
        if answer in session.pair["answers"]:
            return
        session.press("j")
    pytest.fail(f"no pair with {answer}")


def box(session: Session, selector: str) -> dict[str, float]:
    found = session.page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return dict(found)
