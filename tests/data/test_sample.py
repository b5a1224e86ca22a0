"""The embedded sample: what is shipped is complete, small, and true to its transcripts."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

import make_sample
import numpy as np
import pytest
from PIL import Image
from sample_art.fonts import FACES, PACKAGES, FontBook, MissingFontsError
from sample_art.page import Page

from dtvqa_plugin.data import sample_dir

SAMPLE = sample_dir()
SUBSETS = ("MiniScene", "MiniNutrCap", "MiniProdCap", "MiniTabShot")
SIZE_CAP = 2_000_000


class MiniRecord(TypedDict):
    """A record in the released test format."""

    dataset_name: str
    id: int
    image_path: str
    question: str
    answers: list[str]
    type: str


RECORDS: list[MiniRecord] = json.loads((SAMPLE / "test" / "DT_mini.json").read_text("utf-8"))
TRANSCRIPTS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("sample_transcripts.json").read_text("utf-8")
)
IMAGES = sorted(TRANSCRIPTS)
NAMED = [f"{record['dataset_name']}/{record['id']}" for record in RECORDS]


def words_in(tokens: Iterable[str]) -> float:
    """Words between white space; two Chinese characters count as one word."""
    text = " ".join(tokens)
    chinese = len(re.findall(r"[\u3400-\u9fff]", text))
    rest = re.sub(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]", " ", text)
    return len(re.findall(r"\S*\w\S*", rest)) + chinese / 2


def squash(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).lower()


def test_the_whole_sample_is_within_its_size_cap() -> None:
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= SIZE_CAP


def test_nothing_lies_in_the_sample_but_what_the_script_writes() -> None:
    files = {path.relative_to(SAMPLE).as_posix() for path in SAMPLE.rglob("*") if path.is_file()}
    assert files == {*IMAGES, "README.md", "test/DT_mini.json"}


def test_each_style_has_images_and_questions_enough() -> None:
    questions = Counter(record["dataset_name"] for record in RECORDS)
    images = Counter(path.split("/")[1] for path in IMAGES)
    assert set(questions) == set(images) == set(SUBSETS)
    assert all(questions[name] >= 12 and images[name] >= 4 for name in SUBSETS)
    assert len(RECORDS) >= 48
    assert len(IMAGES) >= 16


def test_records_have_the_released_fields_in_the_released_order() -> None:
    fields = ["dataset_name", "id", "image_path", "question", "answers", "type"]
    assert all(list(record) == fields for record in RECORDS)
    assert all(type(record["id"]) is int for record in RECORDS)


def test_records_are_unique_and_ask_once() -> None:
    assert len(set(NAMED)) == len(RECORDS)
    assert len({(record["image_path"], record["question"]) for record in RECORDS}) == len(RECORDS)


def test_every_image_is_asked_about() -> None:
    asked = Counter(record["image_path"] for record in RECORDS)
    assert {f"./{path}" for path in IMAGES} == set(asked)
    assert min(asked.values()) >= 3


@pytest.mark.parametrize("record", RECORDS, ids=NAMED)
def test_record(record: MiniRecord) -> None:
    """Well formed, and at least one answer can be read in the image."""
    subset, path = record["dataset_name"], record["image_path"].removeprefix("./")
    assert record["image_path"].startswith(f"./image/{subset}/test/")
    assert record["question"] == record["question"].strip()
    assert record["question"].endswith("?")
    assert record["answers"]
    assert all(answer and answer == answer.strip() for answer in record["answers"])
    assert len(set(record["answers"])) == len(record["answers"])
    assert not {answer.lower() for answer in record["answers"]} & {"yes", "no"}
    assert "(sample)" in record["type"]
    seen = " ".join(TRANSCRIPTS[path]).lower()
    assert any(" ".join(answer.lower().split()) in seen for answer in record["answers"])


def test_answers_come_in_variants_as_in_the_benchmark() -> None:
    answers = [record["answers"] for record in RECORDS]
    assert sum(len(variants) > 1 for variants in answers) >= 32
    assert ["2 g", "2g", "2 grams", "2"] in answers
    chinese = [a for a in answers if re.search(r"[\u3400-\u9fff]", "".join(a))]
    assert sum(any(v.isascii() for v in variants) for variants in chinese) >= 6


@pytest.mark.parametrize("path", IMAGES)
def test_image(path: str) -> None:
    """Opens in RGB, is large enough to read, and is dense with text."""
    with Image.open(SAMPLE / path) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert min(pixels.shape[:2]) >= 540
    assert max(pixels.shape[:2]) <= 1200
    assert pixels.std() > 10
    assert words_in(TRANSCRIPTS[path]) >= 60


def test_no_two_images_are_the_same() -> None:
    assert len({hashlib.sha256((SAMPLE / p).read_bytes()).hexdigest() for p in IMAGES}) == len(
        IMAGES
    )


def test_shipped_annotations_and_notice_are_those_of_the_script() -> None:
    assert make_sample.records() == RECORDS
    assert [page.image_path for page in make_sample.PAGES] == list(TRANSCRIPTS)
    assert make_sample.notice() == (SAMPLE / "README.md").read_text("utf-8")


def test_notice_states_licence_fonts_and_what_the_score_is_not() -> None:
    notice = (SAMPLE / "README.md").read_text("utf-8")
    assert "Apache-2.0" in notice
    assert "never a DT-VQA score" in notice
    assert all(package.name in notice for package in PACKAGES)


def test_every_face_belongs_to_a_listed_package() -> None:
    assert {face.package for face in FACES.values()} == {package.name for package in PACKAGES}


def test_a_missing_font_is_one_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = make_sample.main(["--out", str(tmp_path / "out"), "--fonts", str(tmp_path)])
    printed = capsys.readouterr()
    assert status == 1
    assert printed.err.count("\n") == 1
    assert all(package.name in printed.err for package in PACKAGES)
    assert "apt-get install" in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "file", ["white-tea.jpg", "harvest-log.png"], ids=["a photo", "a screenshot"]
)
def test_redrawn_where_the_fonts_are_installed(file: str, tmp_path: Path) -> None:
    """The script still draws the shipped picture (to within the codec and Pillow's version)."""
    try:
        fonts = FontBook(make_sample.DEFAULT_FONTS)
    except MissingFontsError as error:
        pytest.skip(f"needs the sample's fonts: {error}")
    page: Page = next(page for page in make_sample.PAGES if page.file == file)
    make_sample.make(tmp_path, fonts, file)
    with Image.open(tmp_path / page.image_path) as new, Image.open(SAMPLE / page.image_path) as old:
        assert new.size == old.size
        change = np.asarray(new.convert("RGB"), float) - np.asarray(old.convert("RGB"), float)
    assert np.abs(change).mean() < 2.0
    assert " ".join(page.draw(fonts).texts).split() == TRANSCRIPTS[page.image_path]
    assert not (tmp_path / "test").exists(), "a partial run writes no annotations"


@pytest.mark.parametrize(
    "path",
    ["image/MiniNutrCap/test/granola-carton.jpg", "image/MiniProdCap/test/charger-box.jpg"],
)
def test_the_transcript_is_what_an_ocr_engine_reads(path: str) -> None:
    rapidocr = pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
    with Image.open(SAMPLE / path) as image:
        found = rapidocr.RapidOCR()(np.asarray(image.convert("RGB"))[:, :, ::-1])
    read = squash(" ".join(found.txts))
    tokens = TRANSCRIPTS[path]
    assert sum(squash(token) in read for token in tokens) >= 0.9 * len(tokens)
    other = next(p for p in IMAGES if p.startswith("image/MiniScene"))
    strange = [token for token in TRANSCRIPTS[other] if len(token) > 3]
    assert sum(squash(token) in read for token in strange) < 0.3 * len(strange)
