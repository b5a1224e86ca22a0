"""Density curves, difficulty over runs, and ``dtvqa diagnose`` as a command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from outcome_labels import sample_texts
from report_runs import BY_ID, SAMPLE, plain_run

from dtvqa_plugin.analysis.failures.curves import Binning, Curve, binning, curves
from dtvqa_plugin.analysis.failures.density import Feature, answer_kind, features
from dtvqa_plugin.analysis.failures.diagnosis import diagnose
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.cli import main
from dtvqa_plugin.data import Record
from dtvqa_plugin.ocr.recognised import Line, RecognisedText, recognised_folder, write_text
from dtvqa_plugin.report import read_run
from dtvqa_plugin.runs.design import Floats
from dtvqa_plugin.runs.faults import RunError

IMAGES, EACH = 200, 2


def made(number: int) -> Record:
    image = f"Made/test/{number % IMAGES}.png"
    return Record(f"Made/{number}", "Made", image, "What?", ("word",), "made")


RECORDS = [made(number) for number in range(IMAGES * EACH)]


def numeric(values: list[float | None]) -> Feature:
    return Feature("size", "size", True, tuple(values))


def curve(
    feature: Feature, cut: Binning, asked: list[Record], scores: Floats, resamples: int = 2_000
) -> Curve:
    """The curve of one run."""
    (found,) = curves(feature, cut, asked, scores[:, None], resamples=resamples)
    return found


# --- bins and trends --------------------------------------------------------------------------


def test_bins_hold_every_known_value_and_enough_images() -> None:
    values = [float(1 + number % IMAGES) for number in range(len(RECORDS))]
    values_or_none = [None if place < 10 else value for place, value in enumerate(values)]
    feature = numeric(values_or_none)
    cut = binning(feature, [r.image for r in RECORDS])
    found = curve(feature, cut, RECORDS, np.ones(len(RECORDS)), resamples=100)
    assert sum(item.questions for item in found.bins) == found.questions == len(RECORDS) - 10
    assert found.unknown == 10
    assert len(found.bins) == 5
    assert all(item.images >= 30 and not item.thin for item in found.bins)
    starts = [float(item.label.split(" to ")[0]) for item in found.bins]
    ends = [float(item.label.split(" to ")[1]) for item in found.bins]
    assert (starts[0], ends[-1]) == (1.0, 200.0)
    assert [start - end for start, end in zip(starts[1:], ends, strict=False)] == [1.0] * 4


def test_bins_with_few_images_are_joined_and_say_so() -> None:
    """40 images make no two bins of 30: two remain, both thin."""
    records = RECORDS[:40]
    feature = numeric([float(1 + place) for place in range(40)])
    found = curve(
        feature, binning(feature, [r.image for r in records]), records, np.ones(40), resamples=100
    )
    assert len(found.bins) == 2
    assert [item.thin for item in found.bins] == [item.images < 30 for item in found.bins]
    assert any(item.thin for item in found.bins)


def test_a_value_that_never_varies_is_one_bin_without_a_trend() -> None:
    feature = numeric([3.0] * len(RECORDS))
    found = curve(
        feature, binning(feature, [r.image for r in RECORDS]), RECORDS, np.ones(len(RECORDS))
    )
    assert [(item.label, item.questions) for item in found.bins] == [("3", len(RECORDS))]
    assert found.trend is None


def test_bin_scores_are_means_and_the_trend_is_the_slope_per_doubling() -> None:
    """Score 0.1 for each doubling, exactly: 10 points, and no spread."""
    doublings = [number % IMAGES % 8 for number in range(len(RECORDS))]
    feature = numeric([float(2**n) for n in doublings])
    scores = np.asarray([0.1 * n for n in doublings])
    found = curve(feature, binning(feature, [r.image for r in RECORDS]), RECORDS, scores)
    assert found.trend is not None
    assert [found.trend.value, found.trend.low, found.trend.high] == pytest.approx([10.0] * 3)
    total = sum(item.questions * item.score.value for item in found.bins if item.score)
    assert total / len(RECORDS) == pytest.approx(100 * scores.mean())


def test_trend_of_noise_covers_zero_and_is_clustered_by_image() -> None:
    """Both questions of an image score alike: the interval is that of 200 images, not 400."""
    rng = np.random.default_rng(3)
    by_image = rng.random(IMAGES)
    scores = np.asarray([by_image[n % IMAGES] for n in range(len(RECORDS))])
    sizes = rng.integers(1, 100, IMAGES)
    feature = numeric([float(sizes[n % IMAGES]) for n in range(len(RECORDS))])
    cut = binning(feature, [r.image for r in RECORDS])
    both = curve(feature, cut, RECORDS, scores).trend
    half = np.where(np.arange(len(RECORDS)) < IMAGES, scores, np.nan)
    one = curve(feature, cut, RECORDS, half).trend
    assert both is not None
    assert one is not None
    assert both.low < 0 < both.high
    assert both.high - both.low == pytest.approx(one.high - one.low, rel=0.1)


def test_questions_that_a_run_does_not_answer_are_in_no_bin() -> None:
    feature = Feature("kind", "kind", False, ("a", "b") * 200, ("a", "b", "c"))
    scores = np.asarray([np.nan, 1.0] * 200)
    found = curve(feature, binning(feature, [r.image for r in RECORDS]), RECORDS, scores)
    assert [(item.label, item.questions) for item in found.bins] == [("b", 200)]
    assert found.unknown == 0


def test_curves_of_several_runs_are_those_of_each_alone() -> None:
    """Two runs answer the same questions, the third lacks some."""
    rng = np.random.default_rng(5)
    scores = rng.random((len(RECORDS), 3))
    scores[10:60, 2] = np.nan
    values = [None if n < 5 else float(1 + n % 90) for n in range(len(RECORDS))]
    feature = numeric(values)
    cut = binning(feature, [r.image for r in RECORDS])
    together = curves(feature, cut, RECORDS, scores, resamples=300)
    assert together == [curve(feature, cut, RECORDS, of_run, 300) for of_run in scores.T]
    assert [found.questions for found in together] == [395, 395, 345]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("12g", "number"), ("£4.20", "number"), ("55.3%", "number"), ("-10", "number"),
        ("14.02.2033", "date"), ("2034年06月", "date"), ("12 May 2015", "date"), ("1998", "date"),
        ("Biscuit", "word"), ("Pennywhistle Books", "phrase"), ("蜂蜜黄油", "phrase"),
        ("1-800-555-0199", "number"),
    ],
)  # fmt: skip
def test_kind_of_answer(answer: str, kind: str) -> None:
    assert answer_kind(answer) == kind


def test_features_come_from_the_answers_place() -> None:
    record = Record("Made/1", "Made", "a.png", "What?", ("word",), "made")
    text = RecognisedText(300, 600, (Line("a word here", (210, 500, 290, 530), 0.9),))
    found = {item.name: item.values for item in features([record], {"a.png": Page(text)})}
    assert found["words"] == (3.0,)
    assert found["height"] == (30.0,)
    assert found["relative_height"] == (5.0,)
    assert found["megapixels"] == (0.18,)
    assert found["position"] == ("bottom right",)
    assert found["questions"] == (1.0,)
    without = {item.name: item.values for item in features([record], {})}
    assert without["words"] == without["height"] == without["position"] == (None,)
    assert without["length"] == (4.0,)


# --- several runs -----------------------------------------------------------------------------

FIRST, SECOND, THIRD = (record.question_id for record in SAMPLE[:3])


def run_with(path: Path, **outputs: str) -> Path:
    """A run that is right but for some questions, by their place in the sample."""
    said = {SAMPLE[int(place[1:])].question_id: text for place, text in outputs.items()}
    return plain_run(path, lambda r: said.get(r.question_id, r.answers[0]), model=path.stem)


def three_runs(tmp_path: Path) -> list[Path]:
    return [
        run_with(tmp_path / "one.jsonl", q0="Hobbs", q1="nonsense"),
        run_with(tmp_path / "two.jsonl", q0="hobbs.", q1="other nonsense", q2="£2.80"),
        run_with(tmp_path / "three.jsonl", q0="Zanzibar", q1="more of it"),
    ]


def test_difficulty_counts_who_solves_what(tmp_path: Path) -> None:
    runs = [read_run(path) for path in three_runs(tmp_path)]
    found = diagnose(runs, sample_texts(), "made", resamples=100).difficulty
    assert found is not None
    assert found.unsolved == (FIRST, SECOND)
    assert found.histogram == (2, 0, 1, 61)
    pairs = {(pair.a, pair.b): (pair.a_only, pair.b_only) for pair in found.separating}
    assert pairs["one", "two"] == ((THIRD,), ())
    assert pairs["one", "three"] == ((), ())


def test_references_that_runs_agree_against_are_suspected(tmp_path: Path) -> None:
    runs = [read_run(path) for path in three_runs(tmp_path)]
    found = diagnose(runs, sample_texts(), "made", resamples=100).difficulty
    assert found is not None
    reasons = {item.question_id: item.reasons for item in found.suspicions}
    assert reasons[FIRST] == ("2 of 3 runs answer 'Hobbs', which is on the image",)
    assert set(reasons) == {FIRST}


def test_one_run_has_no_difficulty(tmp_path: Path) -> None:
    run = read_run(plain_run(tmp_path / "run.jsonl"))
    assert diagnose([run], {}, resamples=100).difficulty is None


def test_every_question_has_one_outcome(tmp_path: Path) -> None:
    runs = [read_run(path) for path in three_runs(tmp_path)]
    for run in diagnose(runs, sample_texts(), resamples=100).runs:
        assert [item.question_id for item in run.outcomes] == [r.question_id for r in SAMPLE]
        assert sum(run.counts["overall"].values()) == len(SAMPLE)
        assert sum(run.counts["MiniScene"].values()) == 16


def test_runs_over_different_splits_are_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    run = read_run(plain_run(tmp_path / "run.jsonl"))
    with pytest.raises(RunError, match="different splits: mini, test"):
        diagnose([run, replace(run, split="test")], {})


# --- the command ------------------------------------------------------------------------------


@pytest.fixture
def recognised(dtvqa_home: Path) -> Path:
    """A store that holds the recognised text of the sample's pictures."""
    from dtvqa_plugin.data.splits import get_split
    from dtvqa_plugin.ocr.recognised import image_key

    store = get_split("mini").store(None)
    for name, text in sample_texts().items():
        key = image_key(store.image_path(name))
        write_text(recognised_folder(dtvqa_home) / "rapidocr-3.10.0-s1" / f"{key}.json", text)
    return dtvqa_home


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    assert not done.value.code
    return capsys.readouterr().out


def test_the_terminal_fits_100_columns(
    tmp_path: Path,
    recognised: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    more = run_with(tmp_path / "four.jsonl", q0="Hobbs", q1="no", q5="\x1b[31m<b>" + "x" * 300)
    paths = [*three_runs(tmp_path), more]
    shown = dtvqa(capsys, "diagnose", *paths, "--resamples", 100)
    lines = [line for line in shown.splitlines() if not line.startswith("DTVQA")]
    assert max(map(len, lines)) <= 100
    assert shown.count("\nDTVQA-SAMPLE|") == len(paths)  # each signature on one line
    assert shown.count("|partial:") == len(paths)
    assert "\x1b" not in shown
    for expected in (
        "Outcomes: Overall", "By words on the image", "(thin)", "Solved by no run",
        "References to check", "rapidocr-3.10.0-s1", "not metrics of the",
    ):  # fmt: skip
        assert expected in shown


def test_without_recognised_text_it_says_what_is_lacking(
    tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = dtvqa(capsys, "diagnose", three_runs(tmp_path)[0], "--resamples", 100)
    shown = " ".join(shown.split())
    assert "17 of 17 images have no recognised text" in shown
    assert "dtvqa data recognise --split mini" in shown
    assert "unplaced" in shown


def test_json_holds_the_evidence_of_every_question(
    tmp_path: Path, recognised: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.json"
    dtvqa(capsys, "diagnose", *three_runs(tmp_path), "--resamples", 100, "-o", path)
    document = json.loads(path.read_text(encoding="utf-8"))
    first = document["runs"][0]["outcomes"][0]
    assert (first["question_id"], first["name"], first["output"]) == (FIRST, "other", "Hobbs")
    assert len(first["output_box"]) == len(first["answer_box"]) == 4
    assert document["difficulty"]["histogram"] == [2, 0, 1, 61]
    assert document["engine"] == "rapidocr-3.10.0-s1"
    assert {curve["feature"] for curve in document["runs"][0]["curves"]} >= {"words", "height"}


def test_markdown_is_inert(
    tmp_path: Path, recognised: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run_with(tmp_path / "run.jsonl", q0="<img src=x> | [a](b) `c`")
    shown = dtvqa(capsys, "diagnose", path, "--format", "markdown", "--resamples", 100)
    assert "<img" not in shown
    assert r"\[a\](b) \`c\`" in shown
    assert "#### Outcomes: Overall" in shown
    assert BY_ID[FIRST].answers[0] in shown
