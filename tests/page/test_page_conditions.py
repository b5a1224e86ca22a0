"""One model under several conditions on the page, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from page_tools import FAST, Made, Pages
from test_joined_conditions import RIGHT, lmms_log, logs
from test_page_axe import faults
from test_page_why import rows_of

from dtvqa_plugin.analysis.bootstrap import Interval
from dtvqa_plugin.analysis.failures.conditions import Conditions, conditions
from dtvqa_plugin.cli.report import report
from dtvqa_plugin.report import read_run
from dtvqa_plugin.report.conditions import sentences
from dtvqa_plugin.report.html.document import page_document
from dtvqa_plugin.report.html.page import render_page, write_page

SECTION = "section[aria-labelledby=conditions-title]"


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, Conditions]:
    """Six conditions, two of whose runs are shown question by question."""
    folder = tmp_path_factory.mktemp("conditions")
    runs = [read_run(path) for path in logs(folder, RIGHT)]
    found = conditions(runs, resamples=FAST.resamples)
    document = page_document(runs[:2], {}, sampling=FAST, conditions=found)
    size = write_page(folder / "report.html", render_page(document, {}))
    return Made(folder / "report.html", runs[:2], document, size), found


def in_words(interval: Interval, text: Callable[[float], str] = "{:.1f}".format) -> str:
    value, low, high = map(text, (interval.value, interval.low, interval.high))
    return f"{value} [{low}, {high}]"


def test_table_and_findings_are_those_of_the_terminal(
    open_page: Pages, joined: tuple[Made, Conditions]
) -> None:
    made, found = joined
    opened = open_page(made.path)
    head, *rows = rows_of(opened, "Scores by condition")
    assert head[:5] == ["Condition", "ANLS", "Acc", "AccANLS", "AccANLS minus none"]
    for row, score in zip(rows, found.scores, strict=True):
        interval = score.scores["accanls"]
        shown = f"{interval.value:.1f}{interval.low:.1f}–{interval.high:.1f}"
        assert (row[0], row[3]) == (score.condition, shown)
        part = score.by_subset[head[5]]
        assert row[5].startswith(f"{part.value:.1f}")
        if score.difference is None:
            assert row[4] == "–"
        else:
            assert row[4].startswith(f"{score.difference.value:+.1f}".replace("-", "−"))
    findings = opened.page.locator(f"{SECTION} .findings li").all_text_contents()
    assert findings == sentences(found)
    assert opened.errors == []


def test_the_chart_joins_the_resolutions_and_holds_every_condition(
    open_page: Pages, joined: tuple[Made, Conditions]
) -> None:
    made, found = joined
    opened = open_page(made.path)
    scores = {score.condition: score.scores["accanls"] for score in found.scores}
    _, *rows = rows_of(opened, f"AccANLS of {found.model} by condition")
    order = ["px448", "px896", "none", "blind", "text", "image_text"]
    assert rows == [[name, in_words(scores[name])] for name in order]
    chart = opened.page.locator(f"{SECTION} svg[role=img]")
    assert chart.locator(".mark .interval").count() == len(order)
    line = str(chart.locator(".curve").get_attribute("points")).split()
    heights = [float(point.split(",")[1]) for point in line]
    ranked = sorted(order[:3], key=lambda name: scores[name].value)
    assert [order[heights.index(y)] for y in sorted(heights, reverse=True)] == ranked


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_fault_in_it(
    open_page: Pages, joined: tuple[Made, Conditions], dark: bool
) -> None:
    opened = open_page(joined[0].path, dark=dark)
    opened.page.locator(SECTION).scroll_into_view_if_needed()
    assert faults(opened) == []


@pytest.mark.parametrize(
    ("shown", "added", "conditions_there"),
    [
        (("none", "blind"), (), ["none", "blind"]),
        (("none",), ("px448", "text"), ["none", "px448", "text"]),
        (("none",), (), None),
    ],
    ids=["runs of several conditions", "more runs for the section", "one condition"],
)
def test_the_command_joins_runs_of_one_model(
    tmp_path: Path,
    open_page: Pages,
    shown: tuple[str, ...],
    added: tuple[str, ...],
    conditions_there: list[str] | None,
) -> None:
    paths = dict(zip(RIGHT, logs(tmp_path, RIGHT), strict=True))
    out = tmp_path / "report.html"
    more = [text for name in added for text in ("--conditions", str(paths[name]))]
    arguments = [*(str(paths[name]) for name in shown), *more, "-o", str(out)]
    done = CliRunner().invoke(report, [*arguments, "--resamples", "200", "--no-thumbnails"])
    assert done.exit_code == 0, done.output
    opened = open_page(out)
    rows = rows_of(opened, "Scores by condition")
    assert (None if not rows else [row[0] for row in rows[1:]]) == conditions_there
    assert opened.page.locator(".run-card").count() == len(shown)


def test_added_runs_of_another_model_are_refused_by_name(tmp_path: Path) -> None:
    one, other = (
        lmms_log(tmp_path / "a", "none", 9),
        lmms_log(tmp_path / "b", "blind", 9, model="n"),
    )
    done = CliRunner().invoke(
        report, [str(one), "--conditions", str(other), "-o", str(tmp_path / "report.html")]
    )
    assert done.exit_code != 0
    assert "runs of several models" in str(done.exception or done.output)
    assert not (tmp_path / "report.html").exists()
