"""Fixtures of the annotation tests: small images, projects, an endpoint."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageDraw

pytest.importorskip("openai", reason="needs the extra annotate")

import yaml
from annotate.review.session import Session

from dtvqa_plugin.annotate.check import check
from dtvqa_plugin.annotate.expand import expand
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.init import Wish, make_project
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review import ReviewServer
from dtvqa_plugin.annotate.review.decisions import Decisions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MakeProject = Callable[..., Project]

ANSWER = "Q1: What is the shop called?\nA1: Blue Bird\nQ2: How much is a kilo of pears?\nA2: 2.50 €"


def draw(path: Path, *lines: str, size: tuple[int, int] = (160, 120)) -> Path:
    """A distinct image with some text on it."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for place, line in enumerate(lines):
        pen.text((6, 6 + 16 * place), line, fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder with four images."""
    for number in range(4):
        draw(tmp_path / "images" / f"shop{number}.png", "BLUE BIRD", f"pears 2.5{number}")
    return tmp_path / "images"


@pytest.fixture
def make(tmp_path: Path, images: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProject:
    """Make a project at ``tmp_path/project``; keywords change its first round's fields.

    ``config`` is a function that changes the whole parsed config. Free text is asked for, so that
    a test that counts requests counts no search for structure.
    """
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def build(
        base_url: str = "http://127.0.0.1:9/v1",
        config: Callable[[dict[str, Any]], None] | None = None,
        root: str = "project",
        **turn: Any,
    ) -> Project:
        folder = tmp_path / root
        wish = Wish("Shops", images, "scene", model="gpt-loop", base_url=base_url, target=3)
        make_project(folder, wish)
        path = folder / "config.yaml"
        values = yaml.safe_load(path.read_text())
        values["rounds"][0].update({"retries": 2, "timeout": 5, "structured": "off", **turn})
        if config is not None:
            config(values)
        path.write_text(yaml.safe_dump(values, allow_unicode=True))
        return Project.open(folder)

    return build


def fill(project: Project, texts: list[str]) -> None:
    """Put answers into a project as `run` would, one an image, in the order of files."""
    from dtvqa_plugin.annotate.project.inventory import Inventory

    for image, text in zip(Inventory(project).scan(), texts, strict=True):
        project.raw.append(
            {
                "image": image.sha256,
                "source": image.source,
                "style": image.style,
                "file": image.file,
                "round": "first",
                "asked": "gpt-loop",
                "model": "gpt-loop-2026",
                "prompt": "0" * 16,
                "text": text,
                "structured": "schema" if text.startswith('{"pairs"') else "text",
                "finish": "stop",
                "usd": 0.01,
                "at": "2026-01-02T03:04:05+00:00",
            }
        )


def entries(journal: Any) -> list[dict[str, Any]]:
    """The records of a journal."""
    return [entry for _, entry in journal.read()]


@pytest.fixture
def reviewed(make: MakeProject) -> tuple[Project, Decisions, list[dict[str, Any]]]:
    """A project with extracted pairs, its decisions (none yet), and the pairs."""
    project = make()
    fill(project, [ANSWER] * 4)
    extract(project)
    return project, Decisions(project), entries(project.pairs)


# --- the review page ------------------------------------------------------------------------------

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


Open = Callable[..., Session]


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


@pytest.fixture
def open_review(browser: Browser, serve: Serve) -> Iterator[Callable[..., Session]]:
    contexts: list[Any] = []

    def start(where: Project | ReviewServer, reviewer: str | None = "Ada", **view: Any) -> Session:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **view})
        contexts.append(context)
        server = where if isinstance(where, ReviewServer) else serve(where, reviewer)
        session = Session(context.new_page(), server.url)
        if reviewer is not None:
            session.ready()
        return session

    yield start
    for context in contexts:
        context.close()
