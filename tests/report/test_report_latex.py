"""LaTeX tables compile, state what they need, and explain their marks in print."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from report_runs import SAMPLE, dump, plain_run

from dtvqa_plugin.analysis.published import PublishedRow
from dtvqa_plugin.analysis.tables import ResultTable, result_tables
from dtvqa_plugin.report import read_run
from dtvqa_plugin.report.latex import to_latex

LATIN = "a_b & 50% #1 {x} ~^\\ $5 <é> †"
CHINESE = "通义千问 2.5 「视觉」"
GREEK = "Ωμέγα"


def tables(folder: Path, name: str) -> list[ResultTable]:
    """A complete run, a partial one that is verbose, and a published row with one figure."""
    whole = read_run(plain_run(folder / "a.jsonl", model=name))
    part = read_run(plain_run(folder / "b.jsonl", dump, SAMPLE[:20], model="part"))
    published = PublishedRow("other lab", "paper", "mini", {"overall": {"acc": 50.0}}, "a source")
    return result_tables([whole, part], [published], resamples=100)


@pytest.mark.parametrize(
    ("name", "engine"), [(LATIN, "pdflatex"), (CHINESE, "xeCJK"), (GREEK, "fontspec")]
)
def test_a_comment_states_the_engine_and_its_package(
    tmp_path: Path, name: str, engine: str
) -> None:
    comments = [line for line in to_latex(tables(tmp_path, name)).splitlines() if line[0] == "%"]
    assert any("xelatex or lualatex" in line for line in comments) is (engine != "pdflatex")
    assert engine == "pdflatex" or any(engine in line for line in comments)


def test_every_mark_is_explained_in_print(tmp_path: Path) -> None:
    text = to_latex(tables(tmp_path, LATIN))
    printed = [line for line in text.splitlines() if not line.startswith("%")]
    body, notes = "\n".join(printed).split(r"\bottomrule")
    for mark in (r"$^\dagger$", r"$^\ddagger$", " -- "):
        assert mark in body
        assert re.search(rf"footnotesize {re.escape(mark.strip())}", notes)
    assert "95\\% BCa interval" in notes


PREAMBLES = {
    "pdflatex": "",
    "xelatex": "\\usepackage{xeCJK}\n",
    "lualatex": "\\usepackage{luatexja-fontspec}\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "name"), [("pdflatex", LATIN), ("xelatex", CHINESE), ("lualatex", CHINESE)]
)
def test_the_table_compiles(tmp_path: Path, engine: str, name: str) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    package = {"xelatex": "xeCJK.sty", "lualatex": "luatexja.sty"}.get(engine, "booktabs.sty")
    if not subprocess.run(["kpsewhich", package], capture_output=True, check=False).stdout:
        pytest.skip(f"{package} is not installed")
    source = (
        "\\documentclass{article}\n\\usepackage{booktabs}\n" + PREAMBLES[engine] + "\\begin"
        "{document}\n\\tiny\n" + to_latex(tables(tmp_path, name)) + "\\end{document}\n"
    )
    (tmp_path / "table.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [engine, "-halt-on-error", "-interaction=nonstopmode", "table.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    log = (tmp_path / "table.log").read_text(encoding="utf-8", errors="replace")
    assert (tmp_path / "table.pdf").stat().st_size > 5_000
    assert name == LATIN or "Missing character: There is no 通" not in log
