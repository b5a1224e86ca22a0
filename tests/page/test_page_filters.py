"""The page's filters, flips and orders, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from page_tools import Made, Pages, Question, choose, credit, expected, flag

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
    chart = opened.page.locator("figure", has_text="What became of the questions")
    chart.locator(".legend button", has_text="failed").click()
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


def test_no_matching_question_is_reported_and_can_be_undone(
    open_page: Pages, sample_page: Made
) -> None:
    opened = open_page(sample_page.path)
    choose(opened, text="zzzz nothing has this")
    assert "No question fits" in opened.page.inner_text("#list")
    opened.page.click("#list .empty button")
    assert "All 64 questions" in opened.page.inner_text("#status")
    assert opened.page.input_value("#filters [name=text]") == ""
