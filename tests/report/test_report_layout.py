"""The result table in terminals of several widths."""

from __future__ import annotations

import io

import pytest
from report_runs import SAMPLE, dump, first_answer, plain_run
from rich.cells import cell_len
from rich.console import Console

from dtvqa_plugin.analysis.tables import ResultTable, result_tables
from dtvqa_plugin.report import read_run
from dtvqa_plugin.report.terminal import print_tables

NAMES = ("qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)", "通义千问视觉语言模型", "m")


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> list[ResultTable]:
    """Twenty runs, some of them partial, some dumps, with long and wide names."""
    folder = tmp_path_factory.mktemp("twenty")
    runs = []
    for number in range(20):
        path = plain_run(
            folder / f"{number}.jsonl",
            dump if number % 4 == 0 else first_answer,
            chosen=SAMPLE[1:] if number % 5 == 0 else SAMPLE,
            model=f"{NAMES[number % 3]}-{number}",
            prompt="image_text",
        )
        runs.append(read_run(path))
    return result_tables(runs, resamples=100)


def lines(tables: list[ResultTable], width: int, **options: object) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_tables(console, tables, **options)  # type: ignore[arg-type]  # options of several types
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize(
    ("width", "options", "figures"),
    [
        (60, {}, 5),
        (80, {}, 5),
        (100, {}, 5),
        (160, {}, 15),
        (250, {}, 15),
        (80, {"intervals": True}, 5),
        (100, {"intervals": True}, 5),
        (250, {"intervals": True}, 15),
        (100, {"metrics": ("anls",)}, 5),
        (250, {"metrics": ("anls",)}, 5),
    ],
)
def test_each_run_is_a_row_with_a_figure_for_each_part(
    twenty: list[ResultTable], width: int, options: dict[str, object], figures: int
) -> None:
    shown = lines(twenty, width, **options)
    assert all(cell_len(line) <= width for line in shown if not line.startswith("DTVQA"))
    printed = [
        [word for word in line.split() if word.replace(".", "").isdigit() and "." in word]
        for line in shown[: next(i for i, line in enumerate(shown) if "Figures times" in line)]
    ]
    rows = [words for words in printed if words]
    assert [len(words) for words in rows] == [figures] * 20
    metric = "anls" if options.get("metrics") else "accanls"
    expected = [f"{row.cells['overall', metric][0]:.1f}" for row in twenty[0].rows]
    assert [words[2 if figures == 15 else 0] for words in rows] == expected
    ends = [row.cells["overall", metric][1] for row in twenty[0].rows]
    for interval in ends if options.get("intervals") else []:
        assert interval is not None
        assert any(f"{interval.low:.1f}-{interval.high:.1f}" in line for line in shown)


@pytest.mark.parametrize("width", [80, 100, 160])
def test_twenty_runs_do_not_take_hundreds_of_lines(twenty: list[ResultTable], width: int) -> None:
    assert len(lines(twenty, width)) < 150
    assert len(lines(twenty, width, audits=False)) < 120


def test_all_metrics_stand_below_each_other_where_they_do_not_fit(
    twenty: list[ResultTable],
) -> None:
    shown = [line.strip() for line in lines(twenty, 100, metrics=("anls", "acc", "accanls"))]
    assert [line for line in shown if line in ("ANLS", "Acc", "AccANLS")] == [
        *("ANLS", "Acc", "AccANLS")
    ]


def test_a_remark_of_several_runs_is_printed_once(twenty: list[ResultTable]) -> None:
    notes = twenty[0].notes()
    partial = [note for note in notes if "partial: 63 of 64 questions" in note]
    assert len(partial) == 1
    assert all(f"-{number} [image_text]" in partial[0] for number in (0, 5, 10, 15))
