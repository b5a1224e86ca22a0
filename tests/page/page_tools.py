"""Opening a page in Chromium and writing one; shared by the page's fixtures and tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from page_runs import SAMPLE

from dtvqa_plugin.analysis.failures.diagnosis import diagnose
from dtvqa_plugin.ocr.recognised import RecognisedText
from dtvqa_plugin.report import Run
from dtvqa_plugin.report.html.document import Sampling, page_document
from dtvqa_plugin.report.html.page import render_page, write_page
from dtvqa_plugin.report.html.pictures import Picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Question = dict[str, Any]
LAST = SAMPLE[-1].question_id
FAST = Sampling(resamples=200)
TIMEOUT_MS = 60_000

SCROLL_THROUGH = """async () => {
  const found = [];
  for (const block of document.querySelectorAll('#list > .block')) {
    block.scrollIntoView();
    while (!block.children.length) await new Promise(requestAnimationFrame);
    for (const card of block.children) {
      found.push([Number(card.getAttribute('aria-posinset')), card.dataset.question]);
    }
  }
  return found;
}"""


@dataclass
class Opened:
    """An open page with what it did: dialogs, errors on its console, requests."""

    page: Page
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def ids(self) -> list[str]:
        """Ids of all questions of the list in order, by scrolling through it."""
        found: list[tuple[int, str]] = self.page.evaluate(SCROLL_THROUGH)
        assert [place for place, _ in found] == list(range(1, len(found) + 1))
        return [name for _, name in found]

    def until(self, expression: str) -> None:
        """Wait until an expression holds; the page's policy forbids Playwright's own way."""
        end = time.monotonic() + TIMEOUT_MS / 1000
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never came true: {expression}"
            self.page.wait_for_timeout(20)

    def current(self) -> str | None:
        """Id of the question that has the focus."""
        found: str | None = self.page.evaluate(
            "document.activeElement.closest('.card')?.dataset.question ?? null"
        )
        return found


class Pages:
    """Opens pages and closes them after the test."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.contexts: list[Any] = []

    def __call__(
        self,
        file: Path,
        hash_: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
    ) -> Opened:
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        self.contexts.append(context)
        opened = Opened(context.new_page())
        page = opened.page

        def refuse(dialog: Any) -> None:
            opened.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", refuse)
        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on(
            "console",
            lambda message: opened.errors.append(message.text) if message.type == "error" else None,
        )
        page.on("request", lambda request: opened.requests.append(request.url))
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(file.as_uri() + hash_)
        page.locator("#list > *").first.wait_for(state="attached")
        return opened


@dataclass(frozen=True)
class Made:
    """A written page with what it was made of."""

    path: Path
    runs: list[Run]
    document: dict[str, Any]
    size: int


def make(
    path: Path,
    runs: list[Run],
    images: dict[str, Picture],
    texts: Mapping[str, RecognisedText] | None = None,
) -> Made:
    """Write a page with its diagnosis; without ``texts`` no image has recognised text."""
    engine = None if texts is None else "rapidocr made"
    found = diagnose(runs, texts or {}, engine, resamples=FAST.resamples)
    document = page_document(runs, images, sampling=FAST, diagnosis=found)
    return Made(path, runs, document, write_page(path, render_page(document, images)))


def expected(made: Made, test: Callable[[Question], bool]) -> list[str]:
    return [question["id"] for question in made.document["questions"] if test(question)]


def credit(question: Question, run: int, metric: int = 2) -> bool:
    return bool(question["results"][run]["scores"][metric] > 0)


def flag(made: Made, name: str) -> int:
    return [item["name"] for item in made.document["flags"]].index(name)


def choose(opened: Opened, **values: str) -> None:
    for name, value in values.items():
        control = opened.page.locator(f"#filters [name={name}]")
        if control.evaluate("node => node.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)
    opened.until("location.hash !== ''")
