"""Recognised text: kept by image content and engine, read back without decoding."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from PIL import Image

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr import Line, RecognisedText, TextBox, recognised_texts
from dtvqa_plugin.ocr.recognised import engines, from_boxes, image_key, write_text
from dtvqa_plugin.ocr.recognising import keep_file_text

TEXT = RecognisedText(
    40, 20, (Line("Сahors 12 €", (1.0, 2.5, 30.0, 12.0), 0.987), Line("", (0, 0, 1, 1)))
)


@pytest.fixture
def images(tmp_path: Path) -> dict[str, Path]:
    """Three image files, each of another content."""
    paths = {name: tmp_path / f"{name}.png" for name in ("a", "b", "c")}
    for number, path in enumerate(paths.values()):
        Image.new("RGB", (40, 20 + number)).save(path)
    return paths


def keep(home: Path, engine: str, image: Path, text: RecognisedText = TEXT) -> Path:
    path = home / "recognised" / engine / f"{image_key(image)}.json"
    write_text(path, text)
    return path


class TestReading:
    def test_what_was_written_is_read_and_the_rest_is_named(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        keep(tmp_path, "rapidocr-3.10.0-s1", images["b"])
        found = recognised_texts(images, home=tmp_path)
        assert found.engine == "rapidocr-3.10.0-s1"
        assert found.texts == {"b": TEXT}
        assert found.missing == ("a", "c")

    def test_a_store_without_recognised_text_has_no_engine(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        found = recognised_texts(images, home=tmp_path)
        assert (found.engine, found.texts, found.missing) == (None, {}, ("a", "b", "c"))

    def test_a_changed_image_has_no_text_and_an_equal_one_has_it(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        keep(tmp_path, "x-1", images["a"])
        images["b"].write_bytes(images["a"].read_bytes())
        Image.new("RGB", (9, 9)).save(images["a"])
        assert set(recognised_texts(images, home=tmp_path).texts) == {"b"}

    def test_an_image_that_is_not_there_is_missing(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        keep(tmp_path, "x-1", images["a"])
        images["b"].unlink()
        assert recognised_texts(images, home=tmp_path).missing == ("b", "c")

    def test_the_engine_that_knows_most_is_read_and_the_newest_of_equals(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        for engine in ("x-3.10.0", "x-3.9.1"):
            keep(tmp_path, engine, images["a"])
        assert engines(tmp_path) == ["x-3.9.1", "x-3.10.0"]
        assert recognised_texts(images, home=tmp_path).engine == "x-3.10.0"
        keep(tmp_path, "x-3.9.1", images["c"])
        assert recognised_texts(images, home=tmp_path).engine == "x-3.9.1"
        chosen = recognised_texts(images, engine="x-3.10.0", home=tmp_path)
        assert (chosen.engine, set(chosen.texts)) == ("x-3.10.0", {"a"})

    def test_an_unknown_engine_is_an_error_that_names_those_there(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        keep(tmp_path, "x-1", images["a"])
        with pytest.raises(DataError, match=r"'y-1' \(there: x-1\).*dtvqa data recognise"):
            recognised_texts(images, engine="y-1", home=tmp_path)

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "[]",
            '{"width": 1, "height": 2}',
            '{"width": 1, "height": 2, "lines": [["a", 0, 0, 1, 1]]}',
            '{"width": 1, "height": 2, "lines": [["a", 0, 0, NaN, 1, null]]}',
            '{"width": 1, "height": 2, "lines": [["a", 0, 0, 1e999, 1, null]]}',
            '{"width": 1, "height": 2, "lines": [[7, 0, 0, 1, 1, null]]}',
            "[" * 100_000,
        ],
    )
    def test_a_damaged_file_counts_as_missing_with_a_warning(
        self,
        content: str,
        tmp_path: Path,
        images: dict[str, Path],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        keep(tmp_path, "x-1", images["a"])
        path = keep(tmp_path, "x-1", images["b"])
        path.write_text(content)
        with caplog.at_level(logging.WARNING):
            assert set(recognised_texts(images, home=tmp_path).texts) == {"a"}
        assert str(path) in caplog.text

    def test_boxes_of_slanted_text_are_the_upright_boxes_around_it(self) -> None:
        box = TextBox("slanted", (10, 20, 110, 40, 105, 60, 5, 40), 0.5)
        assert from_boxes([box], 200, 100).lines == (Line("slanted", (5, 20, 110, 60), 0.5),)


class TestTextFromAFile:
    def test_sizes_are_those_of_the_upright_image_and_lines_in_reading_order(
        self, tmp_path: Path
    ) -> None:
        turned = Image.new("RGB", (60, 30))
        exif = turned.getexif()
        exif[0x0112] = 6
        turned.save(tmp_path / "t.jpg", exif=exif)
        boxes = [TextBox.upright("below", 0, 40, 9, 50), TextBox.upright("above", 0, 0, 9, 9)]
        report = keep_file_text(
            {"t": tmp_path / "t.jpg", "u": tmp_path / "u.jpg"},
            [("t", boxes), ("other", [])],
            "file-hand-1",
            home=tmp_path,
        )
        assert (report.recognised, report.known, report.without_text) == (1, 0, 1)
        found = recognised_texts({"t": tmp_path / "t.jpg"}, home=tmp_path)
        assert found.engine == "file-hand-1"
        assert found.texts["t"] == RecognisedText(
            30, 60, (Line("above", (0, 0, 9, 9)), Line("below", (0, 40, 9, 50)))
        )

    def test_the_same_text_again_changes_nothing_and_new_text_replaces_it(
        self, tmp_path: Path, images: dict[str, Path]
    ) -> None:
        def kept(text: str) -> tuple[int, int]:
            texts = [("a", [TextBox.upright(text, 0, 0, 9, 9)])]
            report = keep_file_text(images, texts, "file-x", home=tmp_path)
            return report.recognised, report.known

        assert [kept("one"), kept("one"), kept("two")] == [(1, 0), (0, 1), (1, 0)]
        assert recognised_texts(images, home=tmp_path).texts["a"].lines[0].text == "two"

    def test_a_file_that_is_no_image_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "a.png").write_text("no image")
        report = keep_file_text({"a": tmp_path / "a.png"}, [("a", [])], "file-x", home=tmp_path)
        assert report.recognised == 0
        assert "a.png: not an image" in report.unreadable[0]


def test_files_hold_plain_json_and_the_same_text_gives_the_same_bytes(tmp_path: Path) -> None:
    write_text(tmp_path / "1.json", TEXT)
    write_text(tmp_path / "2.json", TEXT)
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    assert json.loads((tmp_path / "1.json").read_text())["lines"][0] == [
        "Сahors 12 €", 1.0, 2.5, 30.0, 12.0, 0.987,
    ]  # fmt: skip
