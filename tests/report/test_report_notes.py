"""Notes under tables say what the table shows; outputs of formats that are not written are refused
before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_runs import SAMPLE, dump, plain_run

from dtvqa_plugin.cli import main

FEW = ("--resamples", "100")


def dtvqa(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[int, str, str]:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.mark.parametrize(
    ("runs", "options", "shown"),
    [
        (1, (), True),
        (1, ("--no-intervals",), False),
        (1, ("--metric", "acc"), True),
        (2, (), False),
        (2, ("--intervals",), True),
        (2, ("--no-intervals",), False),
        (2, ("--metric", "all"), False),
        (2, ("--metric", "all", "--intervals"), True),
        (2, ("--format", "markdown"), True),
        (2, ("--format", "latex"), True),
        (2, ("--format", "json"), True),
    ],
)
def test_the_interval_is_explained_where_one_is_shown(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    runs: int,
    options: tuple[str, ...],
    shown: bool,
) -> None:
    paths = [plain_run(tmp_path / f"{n}.jsonl", model=f"m{n}") for n in range(runs)]
    status, out, _ = dtvqa(capsys, monkeypatch, "score", *paths, *FEW, *options)
    said = " ".join(out.split())
    assert status == 0
    assert "Figures times 100" in said
    assert ("BCa interval" in said.replace("\\", "")) is shown
    assert ("intervals there are rough" in said) is shown


@pytest.mark.parametrize("options", [(), ("--intervals",)])
def test_the_interval_over_repeats_is_explained_where_one_is_shown(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
) -> None:
    paths = [
        plain_run(tmp_path / f"{m}{n}.jsonl", model=m, seed=n) for m in ("a", "b") for n in range(2)
    ]
    _, out, _ = dtvqa(capsys, monkeypatch, "score", *paths, "--repeats", *FEW, *options)
    said = " ".join(out.split())
    assert "Of runs with repeats the mean is shown" in said
    assert ("over images and repeats" in said) is bool(options)


def warning_runs(folder: Path) -> list[Path]:
    """20 runs: 12 repeat three outputs each, 6 of these are long as well."""
    outputs = ["none", "unknown", "nothing"]
    for place in range(20):

        def said(record: object, place: int = place) -> str:
            number = SAMPLE.index(record)  # type: ignore[arg-type]  # a record of the sample
            if place >= 12 or number >= 30:
                return dump(SAMPLE[number]) if place < 6 else SAMPLE[number].answers[0]
            return f"{outputs[number % 3]} {place}"

        plain_run(folder / f"{place:02}.jsonl", said, model=f"m{place:02}")
    return sorted(folder.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("options", "long", "repeated", "more"),
    [
        ((), 3, 3, "36 more warnings of the audits; --audits shows them"),
        (("--audits",), 6, 36, ""),
        (("--no-audits",), 3, 3, "36 more warnings of the audits; --audits shows them"),
        (("--format", "markdown"), 6, 36, ""),
    ],
)
def test_warnings_of_many_runs_are_counted(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    long: int,
    repeated: int,
    more: str,
) -> None:
    paths = warning_runs(tmp_path)
    _, out, _ = dtvqa(capsys, monkeypatch, "score", *paths, *FEW, *options)
    text = " ".join(out.replace("\\", "").split())
    assert text.count("‡ m") == long
    assert text.count("of the outputs are '") == repeated
    assert ("more warnings" in text) is bool(more)
    assert more in text


NOT_WRITTEN = [
    *((command, ".csv") for command in ("compare", "power", "rank", "diagnose")),
    *((command, ".TEX") for command in ("compare", "power", "rank", "diagnose")),
    ("publish", ".json"),
    ("publish", ".txt"),
]


@pytest.mark.parametrize(("command", "suffix"), NOT_WRITTEN)
def test_a_format_that_is_not_written_is_refused_before_anything_is_read(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    suffix: str,
) -> None:
    output = tmp_path / f"out{suffix}"
    missing = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    status, out, err = dtvqa(capsys, monkeypatch, command, *missing, "-o", output)
    said = " ".join(err.split())
    assert (status, out) == (1 if command == "publish" else 2, "")
    assert f"{output}: " in said
    assert "no such file" not in said
    assert (".parquet" if command == "publish" else ".md (markdown), .json (json)") in said
    assert not output.exists()


@pytest.mark.parametrize("command", ["compare", "power", "rank", "diagnose"])
def test_a_format_that_is_asked_for_is_written_under_any_name(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    paths = [plain_run(tmp_path / f"{n}.jsonl", model=f"m{n}") for n in range(2)]
    output = tmp_path / "out.csv"
    few = () if command == "power" else FEW
    options = ("--format", "json", "-o", output, *few)
    assert dtvqa(capsys, monkeypatch, command, *paths, *options)[0] == 0
    assert output.read_text().startswith("{")
