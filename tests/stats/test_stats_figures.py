"""The command's figures and JSON: counted again, drawn without a box, honest about gaps."""

from __future__ import annotations

import json
import statistics
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from PIL import Image

from dtvqa_plugin.cli import main
from dtvqa_plugin.cli.stats import stats
from dtvqa_plugin.data import Record, records, sample_dir

pytest.importorskip("matplotlib")
pytest.importorskip("wordcloud")
pytest.importorskip("jieba")

from fontTools.ttLib import TTCollection, TTFont

from dtvqa_plugin.stats import figures, fonts
from dtvqa_plugin.stats.measures import image_sizes, split_statistics
from dtvqa_plugin.stats.words import words_of

if TYPE_CHECKING:
    from stats_files import Written

SAMPLE: list[Record] = records("mini")
FIGURES = ("overview", "question-words", "answer-words", "lengths", "image-sizes")


# --- counts -----------------------------------------------------------------------------------


def test_counts_are_those_of_the_records(sample_stats: Written) -> None:
    parts = sample_stats.statistics["parts"]
    assert list(parts) == ["overall", "MiniScene", "MiniNutrCap", "MiniProdCap", "MiniTabShot"]
    for name, part in parts.items():
        chosen = [r for r in SAMPLE if name in ("overall", r.subset)]
        assert part["questions"] == len(chosen)
        assert part["images"] == len({record.image for record in chosen})
        for kind, texts in (
            ("question", [record.question for record in chosen]),
            ("answer", [record.answers[0] for record in chosen]),
        ):
            words = [words_of(text) for text in texts]
            counts = Counter(word for found in words for word in found)
            assert part[f"{kind}_words"]["counts"] == dict(counts)
            assert part[f"{kind}_words"]["total"] == sum(counts.values())
            lengths = [len(found) for found in words]
            shown = part[f"{kind}_length"]
            assert shown["mean"] == pytest.approx(statistics.mean(lengths))
            assert (shown["min"], shown["max"]) == (min(lengths), max(lengths))
            assert shown["histogram"] == {str(k): v for k, v in sorted(Counter(lengths).items())}


def test_words_are_sorted_by_frequency(sample_stats: Written) -> None:
    counts = list(sample_stats.statistics["parts"]["overall"]["question_words"]["counts"].values())
    assert counts == sorted(counts, reverse=True)


def test_image_sizes_are_those_of_the_files(sample_stats: Written) -> None:
    shown = sample_stats.statistics["parts"]["overall"]["image_sizes"]
    sizes = Counter()
    for name in {record.image for record in SAMPLE}:
        with Image.open(sample_dir() / "image" / name) as image:
            sizes[image.size] += 1
    assert {(w, h): count for w, h, count in shown["sizes"]} == sizes
    assert (shown["measured"], shown["missing"], shown["unreadable"]) == (17, 0, 0)


def test_missing_damaged_and_turned_images_are_told_apart(tmp_path: Path) -> None:
    from dtvqa_plugin.data import Store

    folder = tmp_path / "image" / "DTScene" / "test"
    folder.mkdir(parents=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (60, 30)).save(folder / "turned.jpg", exif=exif)
    (folder / "bad.jpg").write_bytes(b"\xff\xd8 not much of an image")
    names = [f"DTScene/test/{name}.jpg" for name in ("turned", "bad", "gone")]
    turned, bad, gone = image_sizes(names, Store(tmp_path)).values()
    assert turned == (30, 60)
    assert isinstance(bad, str)
    assert "bad.jpg" in bad
    assert gone is None


def test_the_released_test_set(shared_dir: Path) -> None:
    found = split_statistics("test", shared_dir / "hub" / "DT-VQA")
    overall = found["parts"]["overall"]
    assert (overall["questions"], overall["images"]) == (1200, 940)
    sizes = overall["image_sizes"]
    assert sizes["measured"] + sizes["missing"] == 940
    assert sum(part["questions"] for part in found["parts"].values()) == 2400
    assert sum(overall["answer_length"]["histogram"].values()) == 1200
    assert any("\u4e00" <= word[0] <= "\u9fff" for word in overall["answer_words"]["counts"])


def test_the_released_validation_questions(shared_dir: Path) -> None:
    found = split_statistics("val", shared_dir / "hub" / "DT-VQA")
    overall = found["parts"]["overall"]
    assert list(found["parts"]) == ["overall", "DTScene", "DTTabShot"]
    assert overall["questions"] == len(records("val", home=shared_dir / "hub" / "DT-VQA"))
    assert overall["image_sizes"]["missing"] == overall["images"]


# --- drawing ----------------------------------------------------------------------------------


def test_all_figures_are_written_whole(sample_stats: Written) -> None:
    expected = {f"{name}.{style}" for name in FIGURES for style in ("png", "svg")}
    assert {path.name for path in sample_stats.folder.iterdir()} == {*expected, "stats.json"}
    for name in FIGURES:
        with Image.open(sample_stats.folder / f"{name}.png") as image:
            assert image.width > 900
            assert len(image.convert("RGB").getcolors(10**7) or ()) > 20
        assert "</svg>" in (sample_stats.folder / f"{name}.svg").read_text("utf-8")[-20:]


def glyphs(path: str) -> set[int]:
    """Code points of a font file, read apart from the code under test."""
    if path.endswith((".ttc", ".otc")):
        with TTCollection(path, lazy=True) as collection:
            return set(collection.fonts[0].getBestCmap())
    with TTFont(path, lazy=True) as font:
        return set(font.getBestCmap())


CHINESE = {"生产日期": 5, "净含量": 4, "250克": 3, "protein": 2, "narė": 1, "the": 9}


def cjk_font() -> bool:
    return any(ord("生") in face.points for face in fonts.candidates())


def test_every_character_drawn_has_a_glyph(sample_stats: Written, tmp_path: Path) -> None:
    if not cjk_font():
        pytest.skip("needs a font with Chinese (on Debian: apt-get install fonts-noto-cjk)")
    found: dict[str, Any] = json.loads(json.dumps(sample_stats.statistics))
    found["parts"]["overall"]["answer_words"]["counts"] = CHINESE
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of each glyph that it lacks
        drawn = figures.draw(found, tmp_path, ("png",))
    for words in drawn.words.values():
        there = glyphs(words.face.path)
        assert words.drawn
        assert all(ord(char) in there for word in words.drawn for char in word)
    answers = drawn.words["answer"]
    assert {"生产日期", "净含量", "protein"} <= set(answers.drawn)
    assert answers.stopped == 1


def test_without_a_chinese_font_the_words_are_left_out_counted_and_named(
    sample_stats: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = fonts.candidates()[-1]
    assert only.family == fonts.FALLBACK
    monkeypatch.setattr(fonts, "candidates", lambda: [only])
    found: dict[str, Any] = json.loads(json.dumps(sample_stats.statistics))
    found["parts"]["overall"]["answer_words"]["counts"] = CHINESE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = figures.draw(found, tmp_path, ("svg",))
    answers = drawn.words["answer"]
    assert answers.undrawable == ("生产日期", "净含量", "250克")
    assert set(answers.drawn) == {"protein", "narė"}
    (remark,) = [text for text in drawn.remarks if "answers" in text]
    assert remark.startswith("3 words of the answers")
    assert "Noto Sans CJK" in remark


def test_words_that_no_font_can_draw_leave_an_empty_figure_not_an_error() -> None:
    chosen = figures.choose_words({"\U000e0041": 2, "the": 1})
    assert (dict(chosen.drawn), chosen.stopped) == ({}, 1)
    assert chosen.undrawable == ("\U000e0041",)


def test_the_same_statistics_give_the_same_bytes(sample_stats: Written, tmp_path: Path) -> None:
    again = figures.draw(sample_stats.statistics, tmp_path, ("svg", "png"))
    for path in again.files:
        assert path.read_bytes() == (sample_stats.folder / path.name).read_bytes(), path.name


# --- the command ------------------------------------------------------------------------------


def test_a_missing_extra_is_one_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import dtvqa_plugin.stats.extra as extra

    monkeypatch.setattr(extra, "find_spec", lambda name: None if name == "jieba" else object())
    with pytest.raises(SystemExit) as stopped:
        main(["stats", "--split", "mini"])
    assert stopped.value.code == 1
    error = capsys.readouterr().err
    assert "statistics need jieba" in error
    assert "pip install 'dtvqa-plugin[stats]'" in error


def test_gaps_are_reported(tmp_path: Path, dtvqa_home: Path) -> None:
    from released_layout import make_release

    make_release(dtvqa_home, without_images=frozenset({"DTScene"}))
    out = tmp_path / "out"
    done = CliRunner().invoke(stats, ["-o", str(out), "--format", "svg"])
    assert done.exit_code == 0, done.output
    assert "5 images left out of the sizes: 5 not in the store, 0 not readable" in done.output
    assert not list(out.glob("*.png"))
    shown = json.loads((out / "stats.json").read_text("utf-8"))["parts"]
    assert shown["DTScene"]["image_sizes"]["missing"] == 5
    assert shown["overall"]["image_sizes"]["measured"] == 9


def test_missing_annotations_are_an_error_with_a_cure(
    dtvqa_home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit):
        main(["stats", "--split", "val", "-o", str(tmp_path / "out")])
    assert "dtvqa data" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
