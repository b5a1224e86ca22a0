"""The page in a real browser: filters, flips, links, keys, hostile text, size, looks."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from page_runs import HOSTILE, SAMPLE, sample_runs, skilled, write_run
from page_tools import Made, Opened, Pages, make
from released_layout import make_release

from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.report import References, read_run
from dtvqa_plugin.report.html.document import questions
from dtvqa_plugin.report.html.page import LIMIT
from dtvqa_plugin.report.html.pictures import pictures

Question = dict[str, Any]
LAST = SAMPLE[-1].question_id


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


# --- filters ----------------------------------------------------------------------------------

FILTERS: dict[str, tuple[dict[str, str], Callable[[Question], bool]]] = {
    "subset": ({"subset": "MiniNutrCap"}, lambda q: q["subset"] == "MiniNutrCap"),
    "outcome in any run": (
        {"outcome": "near"},
        lambda q: any(r["outcome"] == "near" for r in q["results"]),
    ),
    "outcome in one run": (
        {"outcome": "failed", "run": "0"},
        lambda q: q["results"][0]["outcome"] == "failed",
    ),
    "outcome in every run": (
        {"outcome": "none", "run": "all"},
        lambda q: all(r["outcome"] == "none" for r in q["results"]),
    ),
    "score range": (
        {"run": "0", "by": "anls", "min": "50", "max": "99"},
        lambda q: 0.5 <= q["results"][0]["scores"][0] <= 0.99,
    ),
    "score of zero": ({"run": "1", "max": "0"}, lambda q: q["results"][1]["scores"][2] == 0),
    "flip of two runs": ({"flip": "0>1"}, lambda q: credit(q, 0) and not credit(q, 1)),
    "flip by another metric": (
        {"flip": "2>0", "by": "acc"},
        lambda q: credit(q, 2, 1) and not credit(q, 0, 1),
    ),
    "runs disagree": (
        {"flip": "split"},
        lambda q: len({credit(q, run) for run in range(4)}) == 2,
    ),
    "all of them": ({"flip": "all"}, lambda q: all(credit(q, run) for run in range(4))),
    "nobody": ({"flip": "nobody"}, lambda q: not any(credit(q, run) for run in range(4))),
    "search in outputs": (
        {"text": "SORRY  cannot"},
        lambda q: any(
            "sorry" in str(piece).lower() for r in q["results"] for _, piece in r["output"]
        ),
    ),
    "search in questions": ({"text": "phone"}, lambda q: "phone" in json.dumps(q).lower()),
    "search by id": ({"text": "minitabshot/1"}, lambda q: q["id"].startswith("MiniTabShot/1")),
    "two filters": (
        {"subset": "MiniScene", "outcome": "exact", "run": "0"},
        lambda q: q["subset"] == "MiniScene" and q["results"][0]["outcome"] == "exact",
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_shows_what_it_names(open_page: Pages, sample_page: Made, name: str) -> None:
    values, test = FILTERS[name]
    opened = open_page(sample_page.path)
    choose(opened, **values)
    wanted = expected(sample_page, test)
    assert 0 < len(wanted) < 64
    assert opened.ids() == wanted
    assert f"{len(wanted)} of 64 questions" in opened.page.inner_text("#status")
    again = open_page(sample_page.path, opened.page.evaluate("location.hash"))
    assert again.ids() == wanted
    again.page.click("#filters .clear")
    assert "All 64 questions" in again.page.inner_text("#status")
    assert again.page.evaluate("location.hash") in ("", opened.page.evaluate("location.hash"))


def test_an_audit_count_leads_to_its_questions(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    number = flag(sample_page, "refusal")
    row = opened.page.locator(".audits tbody tr").nth(number)
    assert "refusal" in row.inner_text()
    row.locator("td").nth(1).locator("button").click()
    assert opened.ids() == expected(sample_page, lambda q: number in q["results"][1]["flags"])


def test_a_number_of_flips_leads_to_its_questions(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    button = opened.page.locator(".pairs tbody tr").nth(1).locator("button").nth(1)
    wanted = expected(sample_page, lambda q: credit(q, 2) and not credit(q, 0))
    assert button.inner_text() == str(len(wanted))
    button.click()
    assert opened.ids() == wanted
    opened.page.locator(".switch button", has_text="ANLS").first.click()
    wanted = expected(sample_page, lambda q: credit(q, 0, 0) and not credit(q, 2, 0))
    opened.page.locator(".pairs tbody tr").nth(1).locator("button").first.click()
    assert opened.ids() == wanted


def test_an_outcome_of_the_chart_leads_to_its_questions(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path)
    opened.page.locator(".legend button", has_text="failed").click()
    wanted = expected(sample_page, lambda q: any(r["outcome"] == "failed" for r in q["results"]))
    assert opened.ids() == wanted


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("low", lambda q: sum(r["scores"][2] for r in q["results"])),
        ("spread", lambda q: -max(r["scores"][2] for r in q["results"])
         + min(r["scores"][2] for r in q["results"])),
        ("long", lambda q: -max(r["length"] for r in q["results"])),
    ],
)  # fmt: skip
def test_orders(
    open_page: Pages, sample_page: Made, order: str, key: Callable[[Question], float]
) -> None:
    opened = open_page(sample_page.path, f"#sort={order}")
    by_id = {question["id"]: question for question in sample_page.document["questions"]}
    shown = [key(by_id[name]) for name in opened.ids()]
    assert len(shown) == 64
    assert all(a <= b + 1e-9 for a, b in pairwise(shown))


def test_no_question_that_fits_is_said_and_can_be_undone(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path)
    choose(opened, text="zzzz nothing has this")
    assert "No question fits" in opened.page.inner_text("#list")
    opened.page.click("#list .empty button")
    assert "All 64 questions" in opened.page.inner_text("#status")
    assert opened.page.input_value("#filters [name=text]") == ""


# --- links ------------------------------------------------------------------------------------


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


# --- keys -------------------------------------------------------------------------------------


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


# --- questions --------------------------------------------------------------------------------


def test_a_question_shows_references_outputs_marks_and_edits(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path)
    for question in sample_page.document["questions"][:12]:
        opened.page.evaluate(f"location.hash = 'q={question['id']}'")
        card = opened.page.locator(f"[data-question='{question['id']}']")
        card.wait_for()
        assert card.locator("h3").text_content() == question["question"]
        references = card.locator(".references bdi").all_text_contents()
        assert references == question["answers"]
        for place, result in enumerate(question["results"][:3]):
            shown = card.locator(".result").nth(place)
            marks = [text for kind, text in result["output"] if kind == "m"]
            assert shown.locator("mark").all_text_contents() == marks
            score = f"{100 * result['scores'][2]:.1f}"
            assert shown.locator(".score").text_content() == score
            removed = [text for kind, text in result.get("edit", ()) if kind == "-"]
            assert shown.locator("del").count() == len(removed)


def test_a_long_output_opens_at_its_marked_answer(open_page: Pages, sample_page: Made) -> None:
    name = expected(sample_page, lambda q: q["results"][2]["outcome"] == "contained")[0]
    opened = open_page(sample_page.path, f"#q={name}")
    assert opened.page.evaluate(
        """name => {
          const output = document.querySelector(
            `[data-question="${name}"] .result:nth-child(3) .output`);
          const box = output.getBoundingClientRect();
          const mark = output.querySelector('mark').getBoundingClientRect();
          return output.scrollHeight > output.clientHeight && output.tabIndex === 0
            && mark.top >= box.top && mark.bottom <= box.bottom;
        }""",
        name,
    )


def test_the_image_opens_in_full_size(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    page = opened.page
    image = sample_page.document["images"][sample_page.document["questions"][0]["image"]]
    page.keyboard.press("j")
    page.keyboard.press("o")
    opened.until("document.querySelector('#viewer img').naturalWidth > 0")
    size = page.evaluate(
        "(({naturalWidth, naturalHeight}) => [naturalWidth, naturalHeight])"
        "(document.querySelector('#viewer img'))"
    )
    assert tuple(size) == tuple(image["size"])
    assert page.get_attribute("#viewer img", "src") == image["file"]
    page.click("#viewer button >> text=Actual size")
    assert page.evaluate("document.querySelector('#viewer img').width") == image["size"][0]
    page.keyboard.press("Escape")
    assert opened.current() == sample_page.document["questions"][0]["id"]


def test_a_page_moved_away_from_its_store_shows_the_thumbnail(
    open_page: Pages, sample_page: Made, tmp_path: Path
) -> None:
    name = get_split("mini").store().home.as_uri()
    moved = tmp_path / "moved.html"
    moved.write_text(
        sample_page.path.read_text("utf-8").replace(name, tmp_path.as_uri()), encoding="utf-8"
    )
    opened = open_page(moved)
    opened.page.keyboard.press("j")
    opened.page.locator(".thumb").first.click()
    opened.until("document.querySelector('#viewer img').naturalWidth > 0")
    assert "This is the thumbnail" in opened.page.inner_text("#viewer")
    assert str(opened.page.get_attribute("#viewer img", "src")).startswith("data:image/jpeg")


# --- hostile text -----------------------------------------------------------------------------


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


# --- charts -----------------------------------------------------------------------------------


def test_every_chart_has_its_figures_as_text(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    charts = opened.page.locator("figure.chart")
    assert charts.count() == 3
    for place in range(3):
        chart = charts.nth(place)
        drawing = chart.locator("svg[role=img]")
        assert drawing.count() == 1
        for name in str(drawing.get_attribute("aria-labelledby")).split():
            assert chart.locator(f"[id='{name}']").text_content()
        assert chart.locator("details table tbody tr").count() == 4
    for key in ("anls", "acc", "accanls"):
        opened.page.locator(".switch button").nth(("anls", "acc", "accanls").index(key)).click()
        rows = charts.nth(0).locator("details tbody tr").all()
        says = str(charts.nth(0).locator("desc").first.text_content())
        for row, run in zip(rows, sample_page.document["runs"], strict=True):
            cells = [
                "{:.1f} [{:.1f}, {:.1f}]".format(*run["figures"][part][key])
                for part in sample_page.document["parts"]
            ]
            # toFixed and Python round ties apart; figures here have four decimals
            shown = row.locator("td").all_text_contents()
            assert [numbers(a) for a in shown] == pytest.approx(
                [numbers(b) for b in cells], abs=0.11
            )
            assert f"{run['letter']} {shown[0]}" in says


def numbers(text: str) -> float:
    return float(text.split(" ")[0])


def test_shares_of_the_outcome_chart_are_counts_of_questions(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path)
    chart = opened.page.locator("figure.chart").nth(1)
    names = chart.locator("thead th").all_text_contents()[1:-1]
    keys = {"no credit": "none"}
    for place, row in enumerate(chart.locator("tbody tr").all()):
        counts = [int(text.split(" ")[0]) for text in row.locator("td").all_text_contents()]
        wanted = [
            sum(
                q["results"][place]["outcome"] == keys.get(name, name)
                for q in sample_page.document["questions"]
            )
            for name in names
        ]
        assert counts == [*wanted, 64]


# --- size -------------------------------------------------------------------------------------

CARDS_AT_ONCE = 64


def test_a_page_as_large_as_the_test_set_stays_small_and_quick(
    open_page: Pages, large_page: Made, sample_page: Made
) -> None:
    assert len(large_page.document["questions"]) == 1200
    assert len(large_page.document["images"]) == 940
    assert large_page.size < LIMIT
    assert large_page.size > 20_000_000  # the thumbnails are there
    start = time.monotonic()
    small = open_page(sample_page.path)
    middle = time.monotonic()
    opened = open_page(large_page.path)
    took = time.monotonic() - middle
    assert took < max(10.0, 15 * (middle - start))
    count = "document.querySelectorAll('#list *').length"
    first = opened.page.evaluate(count)
    cards = opened.page.locator(".card")
    assert cards.count() <= CARDS_AT_ONCE
    assert first < 3 * small.page.evaluate(count) + 500
    for place in (300, 600, 1199):
        name = large_page.document["questions"][place]["id"]
        opened.page.evaluate(f"location.hash = 'q={name}'")
        opened.page.wait_for_timeout(300)
        assert opened.current() == name
        assert cards.count() <= CARDS_AT_ONCE
    for _ in range(60):
        opened.page.mouse.wheel(0, -2500)
        opened.page.wait_for_timeout(15)
    opened.page.wait_for_timeout(200)
    assert cards.count() <= CARDS_AT_ONCE
    assert opened.errors == []


def test_filters_are_quick_on_a_large_page(open_page: Pages, large_page: Made) -> None:
    opened = open_page(large_page.path, "#sort=spread")
    took = opened.page.evaluate(
        """() => {
          const box = document.querySelector('#filters [name=outcome]');
          const times = [];
          for (const value of ['near', 'none', '']) {
            box.value = value;
            const start = performance.now();
            box.dispatchEvent(new Event('change'));
            times.push(performance.now() - start);
          }
          return times;
        }"""
    )
    assert max(took) < 1500, took


# --- looks ------------------------------------------------------------------------------------

CONTRAST = """() => {
  const channel = (value) => {
    const v = value / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const apart = node.closest('script, style, svg, noscript, :disabled');
    if (apart || !walker.currentNode.textContent.trim() || !node.getClientRects().length) continue;
    const a = luminance(parse(getComputedStyle(node).color)), b = luminance(behind(node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return [luminance(parse(getComputedStyle(document.body).backgroundColor)), [...new Set(poor)]];
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_by_day_and_in_the_dark(
    open_page: Pages, sample_page: Made, dark: bool, tmp_path: Path
) -> None:
    opened = open_page(sample_page.path, "#q=MiniScene/5", dark=dark)
    opened.page.screenshot(path=str(tmp_path / "page.png"))
    luminance, poor = opened.page.evaluate(CONTRAST)
    assert luminance < 0.05 if dark else luminance > 0.9
    assert poor == []


@pytest.mark.parametrize("width", [320, 390, 768, 1024])
def test_nothing_hangs_over_the_edge(
    open_page: Pages, sample_page: Made, width: int, tmp_path: Path
) -> None:
    opened = open_page(sample_page.path, "#q=MiniScene/3", width=width, height=800)
    opened.page.wait_for_timeout(200)
    opened.page.screenshot(path=str(tmp_path / "page.png"))
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    wide = opened.page.evaluate(
        """[...document.querySelectorAll('.card *, .bar *, .run-card *, figure svg')].filter(node =>
          !node.closest('.vh') && node.getBoundingClientRect().right > innerWidth + 1).length"""
    )
    assert wide == 0


def test_on_a_phone_the_filters_fold(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path, width=390, height=844)
    page = opened.page
    subset = page.locator("#filters [name=subset]")
    assert not subset.is_visible()
    toggle = page.locator("#filters .toggle")
    toggle.click()
    assert toggle.get_attribute("aria-expanded") == "true"
    subset.select_option("MiniScene")
    assert "16 of 64 questions" in page.inner_text("#status")
    size = page.evaluate("getComputedStyle(document.querySelector('.bar .search')).fontSize")
    assert size == "16px"  # below that a phone zooms in on a field


def test_one_run_needs_no_comparison(open_page: Pages, tmp_path: Path) -> None:
    made = make(tmp_path / "report.html", sample_runs(tmp_path, "skilled"), {})
    opened = open_page(made.path)
    assert not opened.page.locator("#pairs-title, [name=flip], [name=run]").count()
    assert "No image: not in the store" in opened.page.inner_text(".card >> nth=0")
    assert opened.errors == []
