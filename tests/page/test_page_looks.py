"""The page's size and looks, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_runs import SAMPLE, sample_runs
from page_tools import FAST, Made, Pages, make

from dtvqa_plugin.report.html.document import page_document
from dtvqa_plugin.report.html.page import LIMIT, render_page, write_page

CARDS_AT_ONCE = 64


def test_a_page_as_large_as_the_test_set_holds_few_elements_at_once(
    open_page: Pages, large_page: Made, sample_page: Made
) -> None:
    assert len(large_page.document["questions"]) == 1200
    assert len(large_page.document["images"]) == 940
    assert large_page.size < LIMIT
    assert large_page.size > 20_000_000  # the thumbnails are there
    small = open_page(sample_page.path)
    opened = open_page(large_page.path)
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


# --- looks -------------------------------------------------------------------------------------


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
    opened = open_page(made.path, f"#q={SAMPLE[0].question_id}")
    assert not opened.page.locator("#pairs-title, [name=flip], [name=run]").count()
    assert "No image: not in the store" in opened.page.inner_text(".card >> nth=0")
    assert opened.errors == []


def test_figures_are_rounded_as_the_terminal_rounds_them(open_page: Pages, tmp_path: Path) -> None:
    values = [81.25, 81.75, 0.25, 0.05, 62.45, 99.95, 12.25000001, 100.0, 0.0]
    document = page_document(sample_runs(tmp_path, "skilled"), {}, sampling=FAST)
    figures = document["runs"][0]["figures"]
    keys = [(part, metric) for part in document["parts"] for metric in ("anls", "acc", "accanls")]
    for (part, metric), value in zip(keys, values, strict=False):
        figures[part][metric] = [value]
    write_page(tmp_path / "report.html", render_page(document, {}))
    opened = open_page(tmp_path / "report.html")
    table = opened.page.locator("[aria-label='All metrics of each run by part'] .figure")
    assert table.all_text_contents()[: len(values)] == [f"{value:.1f}" for value in values]
