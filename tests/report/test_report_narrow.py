"""Terminals of any width show every name and every digit."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from report_runs import plain_run

from dtvqa_plugin.cli import main

NAMES = ("models/first-one", "models/second")
COMMANDS = {
    "score one": ["score", "A"],
    "score": ["score", "A", "B", "--metric", "all"],
    "score, intervals": ["score", "A", "B", "--metric", "anls", "--intervals"],
    "score, audits": ["score", "A", "--audits"],
    "score, blank": ["score", "A", "--blank", "B"],
    "rank": ["rank", "A", "B"],
    "compare": ["compare", "A", "B", "--metric", "all"],
    "power": ["power", "A", "B"],
    "diagnose": ["diagnose", "A", "B"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("narrow")
    answers = (lambda r: r.answers[0], lambda r: "no idea" if "2" in r.question_id else "x")
    made = [
        plain_run(folder / f"{number}.jsonl", answer, model=name)
        for number, (name, answer) in enumerate(zip(NAMES, answers, strict=True))
    ]
    return dict(zip("AB", map(str, made), strict=True))


def shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, *words: str
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    with pytest.raises(SystemExit) as ended:
        main([*words, *(["--resamples", "100"] if words[0] != "power" else [])])
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return said.out


def figures(text: str) -> Counter[str]:
    return Counter(re.findall(r"[+-]?\d+\.\d+", text))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", [20, 40, 60, 79])
def test_no_name_and_no_digit_is_lost(
    runs: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    width: int,
) -> None:
    words = [runs.get(word, word) for word in COMMANDS[command]]
    narrow = shown(capsys, monkeypatch, width, *words)
    wide = shown(capsys, monkeypatch, 200, *words)
    assert not figures(wide) - figures(narrow)
    assert "…" not in narrow
    run_over = "".join(narrow.split())
    assert all(name in run_over for name in NAMES if name in wide)


def test_what_warns_is_said_once_and_a_clean_run_says_so(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    warned = shown(capsys, monkeypatch, 100, "score", runs["B"])
    assert warned.count("'no idea'") == 1
    assert "none warns" not in warned
    assert "Audits: none warns, --audits" in shown(capsys, monkeypatch, 100, "score", runs["A"])


def test_a_dash_in_the_power_table_is_explained(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("power", "--split", "mini", "--differing")
    impossible = shown(capsys, monkeypatch, 100, *few, "0.02", "--power", "0.99")
    assert "– in Smallest shown: even the largest difference" in impossible
    assert "–" not in shown(capsys, monkeypatch, 100, *few, "1.0", "--power", "0.3")
