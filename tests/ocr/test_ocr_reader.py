"""The reader on real pixels with the real engine: RapidOCR's bundled models on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ocr_sheets import draw
from PIL import Image

pytest.importorskip("rapidocr")

from dtvqa_plugin.benchmark.prompts import PROMPTS
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.metrics import score_corpus
from dtvqa_plugin.ocr import OCRReader
from dtvqa_plugin.ocr.engine import OCREngine, default_threads

TABLE = draw(
    "Team|Wins|Losses",
    "Harbor|12|3",
    "Valley|7|8",
    "Summit|15|1",
    columns=(20, 200, 340),
)
LABEL = draw("Serving size 30g", "Protein 12g", "Net weight: 500g")
WORD = draw("MARZIPAN 2468")


@pytest.fixture(scope="module")
def engine() -> OCREngine:
    return OCREngine(threads=1)


def reader_over(engine: OCREngine, mode: str, directory: Path) -> OCRReader:
    """A reader that shares `engine`, whose models take a second to load."""
    made = OCRReader(mode, directory)
    made.engine = engine
    return made


@pytest.fixture
def readers(engine: OCREngine, tmp_path: Path) -> dict[str, OCRReader]:
    return {mode: reader_over(engine, mode, tmp_path) for mode in ("dump", "reader")}


def test_dump_is_all_text_in_reading_order(readers: dict[str, OCRReader]) -> None:
    said = readers["dump"].answer(TABLE, "Which team lost once?")
    assert said == "Team Wins Losses Harbor 12 3 Valley 7 8 Summit 15 1"


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize(
    ("image", "question", "answer"),
    [
        (TABLE, "How many wins did Valley have?", "7"),
        (TABLE, "Which team had the most losses?", "Valley"),
        (LABEL, "How many grams of protein are there per serving?", "12g"),
        (LABEL, "What is the net weight of the product?", "500g"),
    ],
)
def test_reader_is_short_with_every_prompt(
    readers: dict[str, OCRReader], prompt: str, image: Image.Image, question: str, answer: str
) -> None:
    assert readers["reader"].answer(image, PROMPTS[prompt].render(question)) == answer


def test_modes_prompts_and_questions_share_one_pass(
    readers: dict[str, OCRReader], engine: OCREngine, tmp_path: Path
) -> None:
    before = engine.calls
    for reader in readers.values():
        for prompt in PROMPTS.values():
            reader.answer(WORD, prompt.render("What is the brand?"))
            reader.answer(WORD.copy(), prompt.render("How many?"))
    assert engine.calls == before + 1
    again = reader_over(engine, "dump", tmp_path)
    assert again.answer(WORD, "") == "MARZIPAN 2468"
    assert engine.calls == before + 1
    changed = WORD.copy()
    changed.putpixel((0, 0), (250, 0, 0))
    again.answer(changed, "")
    assert engine.calls == before + 2


def test_a_damaged_entry_is_recognised_again(
    readers: dict[str, OCRReader], engine: OCREngine, tmp_path: Path
) -> None:
    expected = readers["dump"].answer(WORD, "")
    (path,) = tmp_path.glob("*/*.json")
    path.write_text("{")
    before = engine.calls
    assert reader_over(engine, "dump", tmp_path).answer(WORD, "") == expected
    assert engine.calls == before + 1
    assert json.loads(path.read_text(encoding="utf-8"))["boxes"]


def sixteen_bit(image: Image.Image) -> Image.Image:
    return Image.fromarray(np.asarray(image.convert("L"), dtype=np.uint16) * 257)


def black_under_transparency(image: Image.Image) -> Image.Image:
    mask = image.convert("L").point(lambda value: 255 - value)
    letters = Image.new("RGBA", image.size, (0, 0, 0, 0))
    letters.putalpha(mask)
    return letters


def sideways_with_exif(image: Image.Image) -> Image.Image:
    turned = image.transpose(Image.Transpose.ROTATE_90)
    turned.getexif()[0x0112] = 6
    return turned


@pytest.mark.parametrize(
    "convert",
    [
        *(lambda image, mode=mode: image.convert(mode) for mode in ("L", "P", "1", "CMYK", "RGBA")),
        sixteen_bit,
        black_under_transparency,
        sideways_with_exif,
    ],
    ids=["L", "P", "1", "CMYK", "RGBA", "I;16", "transparent", "exif"],
)
def test_every_kind_of_image_is_read(readers: dict[str, OCRReader], convert: object) -> None:
    assert callable(convert)
    assert readers["dump"].answer(convert(WORD), "") == "MARZIPAN 2468"


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGB", (0, 0)),
        Image.new("RGB", (1, 1), "red"),
        Image.new("L", (1, 3000), 255),
        Image.new("RGB", (6000, 3), "white"),
        Image.new("RGB", (300, 200), "white"),
        Image.new("RGB", (300, 200), "black"),
        Image.new("RGBA", (50, 50), (0, 0, 0, 0)),
    ],
    ids=["empty", "1x1", "1x3000", "6000x3", "white", "black", "transparent"],
)
def test_no_text_is_an_empty_answer_and_silence(
    readers: dict[str, OCRReader], image: Image.Image, capfd: pytest.CaptureFixture[str]
) -> None:
    assert [reader.answer(image, "What is it?") for reader in readers.values()] == ["", ""]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("degrees", [7, 90, 180])
def test_a_turned_page_is_answered_somehow(readers: dict[str, OCRReader], degrees: int) -> None:
    turned = TABLE.rotate(degrees, expand=True, fillcolor="white")
    assert readers["dump"].answer(turned, "")
    assert readers["reader"].answer(turned, "How many wins did Valley have?")


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    page = tmp_path / "page.png"
    TABLE.save(page)
    program = (
        "import sys; from PIL import Image; from dtvqa_plugin.ocr import OCRReader\n"
        "reader = OCRReader('dump', sys.argv[1], threads=1)\n"
        "print(reader.answer(Image.open(sys.argv[2]), ''))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "cache"), str(page)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    ended = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert ended == [("Team Wins Losses Harbor 12 3 Valley 7 8 Summit 15 1\n", "")] * 2
    assert len(list((tmp_path / "cache").rglob("*"))) == 2  # the engine's folder and one entry


@pytest.mark.parametrize(
    ("setting", "threads"),
    [("3", 3), ("2,4", 2), (" 1 ", 1), ("0", None), ("-2", None), ("many", None), ("", None)],
)
def test_threads_follow_omp_num_threads(
    monkeypatch: pytest.MonkeyPatch, setting: str, threads: int | None
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    if threads is None:
        assert 1 <= default_threads() <= min(4, os.cpu_count() or 1)
    else:
        assert default_threads() == threads


def test_threads_are_bounded_by_the_machine() -> None:
    assert OCREngine(threads=10_000).threads == os.cpu_count()


@pytest.mark.parametrize(
    ("mode", "threads", "named"), [("chat", None, "chat"), ("Dump", None, "Dump"), ("dump", 0, "0")]
)
def test_bad_settings_are_named(tmp_path: Path, mode: str, threads: int, named: str) -> None:
    with pytest.raises(DTVQAError, match=named):
        OCRReader(mode, tmp_path, threads=threads)


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("module", ["rapidocr", "onnxruntime"])
def test_a_missing_extra_is_one_clear_error(module: str) -> None:
    ended = python(
        f"import sys; sys.modules[{module!r}] = None\n"
        "from dtvqa_plugin.errors import DTVQAError; from dtvqa_plugin.ocr import OCRReader\n"
        "try: OCRReader()\n"
        "except DTVQAError as error: print(error)"
    )
    assert module in ended.stdout
    assert 'pip install "dtvqa-plugin[ocr]"' in ended.stdout


def test_importing_and_making_a_reader_loads_no_engine() -> None:
    ended = python(
        "import sys; from dtvqa_plugin.ocr import OCRReader; OCRReader('dump', 'unused')\n"
        "heavy = 'rapidocr onnxruntime cv2 torch datasets lmms_eval vlmeval'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert ended.stdout == "[]\n", ended.stderr


def test_real_tables_dump_scores_by_containment_and_reader_by_being_right(
    engine: OCREngine, tmp_path: Path, shared_dir: Path
) -> None:
    hub = shared_dir / "hub" / "DT-VQA"
    records = json.loads((hub / "test" / "DTTabShot.json").read_text(encoding="utf-8"))
    here = [record for record in records if (hub / record["image_path"]).is_file()]
    found = sorted(here, key=lambda record: (hub / record["image_path"]).stat().st_size)[:8]
    answers = [record["answers"] for record in found]
    scores = {}
    for mode in ("dump", "reader"):
        reader = reader_over(engine, mode, tmp_path)
        predictions = []
        for record in found:
            with Image.open(hub / record["image_path"]) as image:
                predictions.append(reader.answer(image, record["question"]))
        scores[mode] = score_corpus(predictions, answers).overall
    assert scores["dump"].acc >= 0.6
    assert scores["dump"].anls == 0
    assert scores["reader"].anls >= 0.4
