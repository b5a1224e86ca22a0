"""Hostile text in the page, and what the page requests, in a real browser."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_runs import HOSTILE, skilled, write_run
from page_tools import Made, Pages, make
from released_layout import make_release

from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.report import References, read_run
from dtvqa_plugin.report.html.document import questions
from dtvqa_plugin.report.html.pictures import pictures


def as_shown(text: str) -> str:
    """Control characters and marks of direction are made visible, as ``dom.js`` says."""
    shown = ""
    for char in text.strip():
        code = ord(char)
        if code < 0x20 and char not in "\t\n":
            shown += chr(0x2400 + code)
        elif 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
            shown += f"[U+{code:04X}]"
        else:
            shown += char
    return shown


def test_hostile_outputs_are_text(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    found = set()
    for place in range(len(HOSTILE)):
        name = sample_page.document["questions"][place]["id"]
        opened.page.evaluate(f"location.hash = 'q={name}'")
        found.add(
            opened.page.locator(
                f"[data-question='{name}'] .result:nth-child(4) .output"
            ).text_content()
        )
    # A lone half of a surrogate pair cannot leave the browser; the rest arrives as written.
    assert {text for text in found if "pair" not in str(text)} == {
        as_shown(text) for text in HOSTILE if "pair" not in text
    }
    inert = opened.page.evaluate(
        """[document.scripts.length, document.querySelectorAll('svg[onload], [onerror]').length,
            document.querySelectorAll('img[src=x]').length,
            [...document.querySelectorAll('*')].filter(node => [...node.attributes].some(
              a => a.name.startsWith('on') || a.value.startsWith('javascript:'))).length]"""
    )
    assert inert == [3, 0, 0, 0]
    assert (opened.dialogs, opened.errors) == ([], [])


def test_hostile_names_questions_and_references_are_text(open_page: Pages, tmp_path: Path) -> None:
    home = make_release(tmp_path / "home")
    path = home / "test" / "DTScene.json"
    rows = json.loads(path.read_text("utf-8"))
    rows[0]["question"] = '<script>alert("q")</script><img src=x onerror=alert(1)>'
    rows[0]["answers"] = ["</script><svg onload=alert(2)>", "<b>bold</b>"]
    path.write_text(json.dumps(rows), encoding="utf-8")
    references = References(home)
    chosen = list(references.split("test").values())
    written = write_run(tmp_path / "<img src=x onerror=alert(3)>.jsonl", skilled, chosen)
    run = read_run(written, references)
    images = pictures((r.image for r in questions([run])), get_split("test").store(home))
    made = make(tmp_path / "report.html", [run], images)
    opened = open_page(made.path, "#q=DTScene/0")
    card = opened.page.locator("[data-question='DTScene/0']")
    assert card.locator("h3").text_content() == rows[0]["question"]
    assert card.locator(".references bdi").all_text_contents() == rows[0]["answers"]
    assert run.name in str(opened.page.text_content("h1"))
    assert run.name in str(opened.page.title())
    assert opened.page.evaluate("document.scripts.length") == 3
    assert (opened.dialogs, opened.errors) == ([], [])


class Counting(http.server.BaseHTTPRequestHandler):
    hits: list[str]

    def do_GET(self) -> None:
        self.hits.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    hits: list[str] = []
    handler = type("Handler", (Counting,), {"hits": hits})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", hits
    server.shutdown()
    server.server_close()


def test_nothing_is_requested_and_the_policy_would_stop_it(
    open_page: Pages, sample_page: Made, listener: tuple[str, list[str]]
) -> None:
    address, hits = listener
    opened = open_page(sample_page.path)
    opened.ids()
    assert {url.partition(":")[0] for url in opened.requests} <= {"file", "data"}
    files = [url for url in opened.requests if url.startswith("file:")]
    assert files == [sample_page.path.as_uri()]
    blocked = opened.page.evaluate(
        """async (address) => {
          const outcomes = [];
          await fetch(address + '/fetch').then(() => outcomes.push('fetched'), () => {});
          await new Promise((done) => {
            const image = new Image();
            image.onload = () => { outcomes.push('image'); done(); };
            image.onerror = done;
            image.src = address + '/image';
          });
          try { document.body.innerHTML += '<p>x</p>'; outcomes.push('markup'); } catch {}
          const script = document.createElement('script');
          try { script.textContent = 'window.ran = true'; document.body.append(script); } catch {}
          if (window.ran) outcomes.push('script');
          return outcomes;
        }""",
        address,
    )
    assert blocked == []
    assert hits == []
