"""A headless Chromium for the page's tests, and pages made once a session."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from outcome_labels import sample_texts
from page_runs import large_runs, noise_jpeg, sample_runs
from page_tools import Made, Pages, make

from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.report.html.document import questions
from dtvqa_plugin.report.html.pictures import BUDGET, Picture, pictures, thumbnail

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium with a temporary profile.

    Not for the session: while it is open, playwright's event loop runs in the main thread, and a
    host that a later test calls in this process cannot start its own.
    """
    api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.skip("needs Chromium (on Debian: apt-get install chromium)")
    with api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, headless=True, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Pages]:
    pages = Pages(browser)
    yield pages
    for context in pages.contexts:
        context.close()


@pytest.fixture(scope="session")
def sample_page(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Four runs over the embedded sample, one of them hostile."""
    folder = tmp_path_factory.mktemp("sample-page")
    runs = sample_runs(folder, "skilled", "weak", "dump", "hostile")
    images = pictures((r.image for r in questions(runs)), get_split("mini").store())
    return make(folder / "report.html", runs, images, sample_texts())


@pytest.fixture(scope="session")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """1,200 questions, 940 images and four runs, with thumbnails that compress badly."""
    folder = tmp_path_factory.mktemp("large-page")
    runs = large_runs(folder)
    names = list(dict.fromkeys(record.image for record in questions(runs)))
    heavy = []
    for seed in range(3):
        file = folder / f"{seed}.jpg"
        file.write_bytes(noise_jpeg(seed))
        heavy.append(thumbnail(file, BUDGET // len(names)))
    images = {name: Picture(*heavy[place % 3]) for place, name in enumerate(names)}
    return make(folder / "report.html", runs, images)
