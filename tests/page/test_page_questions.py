"""What a question and the charts show, in a real browser."""

from __future__ import annotations

from pathlib import Path

from page_tools import Made, Pages, expected

from dtvqa_plugin.data.splits import get_split


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


# --- charts ------------------------------------------------------------------------------------


def test_every_chart_has_its_figures_as_text(open_page: Pages, sample_page: Made) -> None:
    opened = open_page(sample_page.path)
    charts = opened.page.locator("figure.chart")
    assert charts.count() == 5  # scores, two of outcomes, hits by length, a curve
    for place in range(5):
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
            assert row.locator("td").all_text_contents() == cells
            assert f"{run['letter']} {cells[0]}" in says


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
