"""The page's size, speed and looks, in a real browser."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from page_runs import sample_runs
from page_tools import Made, Pages, make

from dtvqa_plugin.report.html.page import LIMIT

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
    opened = open_page(made.path)
    assert not opened.page.locator("#pairs-title, [name=flip], [name=run]").count()
    assert "No image: not in the store" in opened.page.inner_text(".card >> nth=0")
    assert opened.errors == []
