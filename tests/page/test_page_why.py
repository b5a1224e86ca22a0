"""The diagnosis on the page: bars, curves, filters and boxes, in a real browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from outcome_labels import sample_texts
from page_runs import SAMPLE, sample_runs, skilled, write_run
from page_tools import FAST, Made, Opened, Pages, choose, make
from released_layout import make_release

from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.failures.diagnosis import Diagnosis, diagnose
from dtvqa_plugin.analysis.failures.outcomes import Outcome
from dtvqa_plugin.data import Record
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.ocr.recognised import Line, RecognisedText
from dtvqa_plugin.report import References, read_run
from dtvqa_plugin.report.html.document import questions
from dtvqa_plugin.report.html.pictures import pictures

SECTION = "section[aria-labelledby=why-title]"


def misplaced(record: Record, number: int) -> str:
    """The right answer at times, else the first long line of the image."""
    if number % 3 == 0:
        return record.answers[0]
    lines = sample_texts()[record.image].lines
    return next(line.text for line in lines if len(line.text) > 8)


@dataclass(frozen=True)
class Diagnosed:
    """A page of two runs, and what their diagnosis says of each question."""

    made: Made
    diagnosis: Diagnosis

    def outcomes(self, run: int) -> dict[str, Outcome]:
        return {item.question_id: item for item in self.diagnosis.runs[run].outcomes}

    def ids(self, test: Callable[[str], bool]) -> list[str]:
        return [q["id"] for q in self.made.document["questions"] if test(q["id"])]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Diagnosed:
    folder = tmp_path_factory.mktemp("why")
    runs = [
        read_run(write_run(folder / "skilled.jsonl", skilled)),
        read_run(write_run(folder / "misplaced.jsonl", misplaced)),
    ]
    images = pictures((r.image for r in questions(runs)), get_split("mini").store())
    found = diagnose(runs, sample_texts(), "rapidocr made", resamples=FAST.resamples)
    return Diagnosed(make(folder / "report.html", runs, images, sample_texts()), found)


# --- bars and curves --------------------------------------------------------------------------


def rows_of(opened: Opened, caption: str) -> list[list[str]]:
    rows: list[list[str]] = opened.page.evaluate(
        """caption => [...document.querySelectorAll(`[aria-label="${caption}"] tr`)]
             .map(row => [...row.cells].map(cell => cell.textContent))""",
        caption,
    )
    return rows


def test_outcome_bars_are_the_counts_of_the_diagnosis(open_page: Pages, page: Diagnosed) -> None:
    opened = open_page(page.made.path)
    head, *rows = rows_of(opened, "Outcomes of the diagnosis")
    for run, row in enumerate(rows):
        counts = Counter(item.name for item in page.diagnosis.runs[run].outcomes)
        cells = dict(zip(head, row, strict=True))
        for name, count in counts.items():
            assert cells.pop(name) == f"{count} ({100 * count / 64:.1f} %)"
        assert cells.pop("All") == "64"
        assert cells.pop("Run").endswith(page.diagnosis.runs[run].name)
        assert set(cells.values()) <= {"0 (0.0 %)"}
        bar = opened.page.locator(f"{SECTION} svg[role=img] >> nth=0").locator("> g")
        assert bar.count() == sum(len(of) + 1 for of in map(kinds_of, page.diagnosis.runs))
    shares = opened.page.locator(f"{SECTION} .share rect")
    widths = [box["width"] for box in (r.bounding_box() for r in shares.all()) if box]
    assert max(widths) / min(widths) > 3  # bars are drawn to scale, not alike


def kinds_of(run: Any) -> set[str]:
    return {item.name for item in run.outcomes}


def in_words(score: Interval | None, questions: int) -> str:
    assert score is not None
    return f"{score.value:.1f} [{score.low:.1f}, {score.high:.1f}], n {questions}"


def test_every_curve_shows_its_bins_intervals_and_trend(open_page: Pages, page: Diagnosed) -> None:
    opened = open_page(page.made.path)
    pick = opened.page.locator(f"{SECTION} select")
    first = page.diagnosis.runs[0].curves
    assert pick.locator("option").all_text_contents() == [curve.title for curve in first]
    for at, curve in enumerate(first):
        pick.select_option(str(at))
        opened.until(f"document.querySelectorAll('{SECTION} .curve').length === 2")
        head, *rows = rows_of(opened, f"AccANLS by {curve.title}")
        for run, row in zip(page.diagnosis.runs, rows, strict=True):
            cells = dict(zip(head, row, strict=True))
            for item in run.curves[at].bins:
                thin = " (thin)" * item.thin
                assert cells[item.label] == in_words(item.score, item.questions) + thin
            trend = run.curves[at].trend
            if trend is None:
                assert cells["Per doubling"] == "–"
            else:
                figures = [f"{v:+.1f}".replace("-", "−") for v in (trend.value, trend.low)]
                assert cells["Per doubling"].startswith(f"{figures[0]} [{figures[1]}, ")
            assert cells["Not known"] == str(run.curves[at].unknown)
        bins = sum(len(run.curves[at].bins) for run in page.diagnosis.runs)
        marks = opened.page.locator(f"{SECTION} .mark .interval")
        assert marks.count() == bins
        thin_marks = opened.page.locator(f"{SECTION} .mark .thin").count()
        assert thin_marks == sum(b.thin for r in page.diagnosis.runs for b in r.curves[at].bins)
    assert opened.errors == []


def test_a_point_stands_at_its_score_on_the_axis(open_page: Pages, page: Diagnosed) -> None:
    opened = open_page(page.made.path)
    found = opened.page.evaluate(
        f"""() => {{
          const chart = document.querySelectorAll('{SECTION} svg[role=img]')[1];
          const ticks = [...chart.querySelectorAll('.tick')].map(tick => [
            Number(tick.textContent), Number(tick.querySelector('line').getAttribute('y1'))]);
          const line = [...chart.querySelectorAll('.mark.run-1 .interval')].map(
            mark => ['y1', 'y2'].map(name => Number(mark.getAttribute(name))));
          const curve = chart.querySelector('.mark.run-1 .curve').getAttribute('points');
          return [ticks, line, curve.split(' ').map(pair => Number(pair.split(',')[1]))];
        }}"""
    )
    ((low, bottom), *_, (high, top)), bounds, values = found

    def score(y: float) -> float:
        return float(low + (y - bottom) / (top - bottom) * (high - low))

    bins = page.diagnosis.runs[1].curves[0].bins
    for item, value, ends in zip(bins, values, bounds, strict=True):
        assert item.score is not None
        drawn = [score(value), *map(score, ends)]
        assert drawn == pytest.approx([item.score.value, item.score.low, item.score.high], abs=0.01)


# --- filters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("run", "name"), [("0", "near"), ("1", "other"), ("", "right")])
def test_questions_of_an_outcome(open_page: Pages, page: Diagnosed, run: str, name: str) -> None:
    opened = open_page(page.made.path)
    choose(opened, why=name, run=run)
    of = [page.outcomes(int(run))] if run else [page.outcomes(0), page.outcomes(1)]
    wanted = page.ids(lambda q: any(found[q].name == name for found in of))
    assert 0 < len(wanted) < 64
    assert opened.ids() == wanted
    again = open_page(page.made.path, opened.page.evaluate("location.hash"))
    assert again.ids() == wanted


def test_a_bar_s_legend_opens_its_questions(open_page: Pages, page: Diagnosed) -> None:
    opened = open_page(page.made.path)
    opened.page.locator(f"{SECTION} .legend button", has_text="other").click()
    assert opened.page.locator("#filters [name=why]").input_value() == "other"
    either = (page.outcomes(0), page.outcomes(1))
    assert opened.ids() == page.ids(lambda q: any(of[q].name == "other" for of in either))


@pytest.mark.parametrize("feature", [0, 1, 6])
def test_questions_of_a_bin_and_of_an_outcome_in_it(
    open_page: Pages, page: Diagnosed, feature: int
) -> None:
    cut = page.diagnosis.binnings[feature]
    places = dict(zip(page.diagnosis.question_ids, cut.places, strict=True))
    opened = open_page(page.made.path)
    choose(opened, bin=f"{feature}:1")
    chosen = opened.page.locator("#filters [name=bin] option:checked").text_content()
    assert str(chosen).endswith(f": {cut.labels[1]}")
    inside = page.ids(lambda q: places[q] == 1)
    assert 0 < len(inside) < 64
    assert opened.ids() == inside
    choose(opened, why="other", run="1")
    outcomes = page.outcomes(1)
    assert opened.ids() == [q for q in inside if outcomes[q].name == "other"]


@pytest.mark.parametrize("hash_", ["#bin=99:0", "#bin=x", "#why=constructor", "#bin=0:99"])
def test_an_address_with_an_unknown_bin_or_outcome_hides_nothing(
    open_page: Pages, page: Diagnosed, hash_: str
) -> None:
    opened = open_page(page.made.path, hash_)
    assert len(opened.ids()) == 64
    assert opened.errors == []


# --- boxes and evidence -----------------------------------------------------------------------

DRAWN = """selector => {
  const image = document.querySelector(`${selector} img`);
  const {left, top, width, height} = image.getBoundingClientRect();
  const scale = Math.min(width / image.naturalWidth, height / image.naturalHeight);
  const x = left + (width - image.naturalWidth * scale) / 2;
  const y = top + (height - image.naturalHeight * scale) / 2;
  const size = [image.naturalWidth * scale, image.naturalHeight * scale];
  return [...document.querySelectorAll(`${selector} .boxes rect`)].map(rect => {
    const box = rect.getBoundingClientRect();
    return [rect.getAttribute('class'), [(box.left - x) / size[0], (box.top - y) / size[1],
      (box.right - x) / size[0], (box.bottom - y) / size[1]]];
  });
}"""


def shares(box: Any, size: tuple[int, int]) -> list[float]:
    """A box as shares of the image's width and height."""
    return [round(v) / size[place % 2] for place, v in enumerate(box)]


def expected_boxes(page: Diagnosed, question: str) -> dict[str, list[float]]:
    image = next(r.image for r in SAMPLE if r.question_id == question)
    size = page.diagnosis.sizes[image]
    of = [page.outcomes(run)[question] for run in (0, 1)]
    found = {
        f"output-box run-{run}": shares(item.output_box, size)
        for run, item in enumerate(of)
        if item.output_box is not None
    }
    answer = next(item.answer_box for item in of if item.answer_box is not None)
    return {**found, "answer-box": shares(answer, size)}


@pytest.fixture(scope="module")
def placed(page: Diagnosed) -> str:
    """A question whose answer and whose wrong output are both found on the image."""
    of = page.outcomes(1)
    return page.ids(lambda q: of[q].name == "other" and of[q].answer_box is not None)[0]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("where", ["card", "viewer", "actual size"])
def test_boxes_lie_over_the_text_that_they_name(
    open_page: Pages, page: Diagnosed, placed: str, where: str, width: int
) -> None:
    opened = open_page(page.made.path, f"#q={placed}", width=width)
    selector = f"[data-question='{placed}'] .thumb"
    if where != "card":
        selector = "#viewer .sheet"
        opened.page.keyboard.press("o")
    if where == "actual size":
        opened.page.click("#viewer button >> text=Actual size")
    opened.until(f'document.querySelector("{selector} img").naturalWidth > 0')
    drawn = dict(opened.page.evaluate(DRAWN, selector))
    wanted = expected_boxes(page, placed)
    assert set(drawn) == set(wanted)
    for name, box in wanted.items():
        assert drawn[name] == pytest.approx(box, abs=0.015), name


def test_the_evidence_of_an_outcome_is_beside_the_output(
    open_page: Pages, page: Diagnosed, placed: str
) -> None:
    opened = open_page(page.made.path, f"#q={placed}")
    item = page.outcomes(1)[placed]
    line = opened.page.locator(f"[data-question='{placed}'] .result >> nth=1").locator(".why")
    assert line.text_content() == f"other: {item.evidence}"
    note = opened.page.locator(f"[data-question='{placed}'] .boxes-note")
    assert re.sub(r"\s+", " ", note.inner_text()).startswith("answer outputs")


# --- what is lacking, and what is hostile -----------------------------------------------------


def test_without_recognised_text_the_page_says_what_is_lacking(
    open_page: Pages, tmp_path: Path
) -> None:
    runs = sample_runs(tmp_path, "skilled", "dump")
    opened = open_page(make(tmp_path / "report.html", runs, {}).path)
    assert "17 of 17 images have no recognised text" in opened.page.inner_text(SECTION)
    opened.page.locator(f"{SECTION} select").select_option(label="words on the image")
    assert "Not known for any question: words on the image" in opened.page.inner_text(SECTION)
    assert opened.page.locator(".boxes rect").count() == 0
    assert opened.errors == []


def test_recognised_text_that_is_markup_stays_text(open_page: Pages, tmp_path: Path) -> None:
    markup = "<img src=x onerror=alert(1)>"
    home = make_release(tmp_path / "home")
    references = References(home)
    chosen = list(references.split("test").values())
    path = write_run(tmp_path / "run.jsonl", lambda record, _: markup, chosen)
    run = read_run(path, references)
    lines = [Line(text, (10, 10, 60, 20), 0.9) for r in chosen for text in (*r.answers, markup)]
    texts = {record.image: RecognisedText(100, 80, tuple(lines)) for record in chosen}
    made = make(tmp_path / "report.html", [run], {}, texts)
    opened = open_page(made.path, f"#q={chosen[0].question_id}")
    line = opened.page.locator(".card .why >> nth=0")
    assert line.text_content() == f"other: {markup!r} is on the image"
    assert opened.page.locator("img[src=x]").count() == 0
    assert (opened.dialogs, opened.errors) == ([], [])
