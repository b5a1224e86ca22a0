"""What the conditions give a model: reduced pictures, recognised text, names. No host needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from condition_text import ENGINE, texts
from PIL import Image

from dtvqa_plugin.benchmark.inputs import INPUTS, condition_in_name
from dtvqa_plugin.benchmark.prompts import (
    PROMPTS,
    TEXT_PROMPTS,
    get_prompt,
    models_with_own_prompt,
    prompt_for,
)
from dtvqa_plugin.data import records
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.hosts.given_text import as_text, given_text
from dtvqa_plugin.ocr.recognised import Line, RecognisedText, recognised_folder
from dtvqa_plugin.predictions.kinds import vlmevalkit_name
from dtvqa_plugin.report import parse_signature
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.utils.images import reduced


@pytest.mark.parametrize(
    ("size", "side", "wanted"),
    [
        ((1200, 900), 448, (448, 336)),
        ((900, 1200), 448, (336, 448)),
        ((1000, 333), 896, (896, 298)),
        ((5000, 3), 448, (448, 1)),
        ((448, 448), 448, (448, 448)),
        ((300, 200), 448, (300, 200)),
        ((449, 449), 448, (448, 448)),
    ],
)
def test_the_longest_side_is_reduced_and_never_enlarged(
    size: tuple[int, int], side: int, wanted: tuple[int, int]
) -> None:
    assert reduced(Image.new("RGB", size), side).size == wanted


def test_the_filter_is_lanczos() -> None:
    image = Image.effect_noise((640, 480), 90).convert("RGB")
    by_hand = image.resize((448, 336), Image.Resampling.LANCZOS)
    assert reduced(image, 448).tobytes() == by_hand.tobytes()


def line(text: str, left: int, top: int) -> Line:
    return Line(text, (left, top, left + 40, top + 10))


def test_lines_stay_lines_and_pieces_of_a_line_are_apart() -> None:
    lines = (line("Name", 0, 0), line("Year", 60, 2), line("Ada", 0, 20), line("1815", 60, 20))
    assert as_text(RecognisedText(100, 40, lines)) == "Name\tYear\nAda\t1815"


def test_what_prediction_files_cannot_hold_becomes_a_blank() -> None:
    assert as_text(RecognisedText(9, 9, (line("a\x00b\nc\ud800d", 0, 0),))) == "a b c d"
    assert as_text(RecognisedText(9, 9, ())) == ""


def test_text_is_that_of_the_store_and_names_its_engine(recognised: Path) -> None:
    found = given_text("mini", records("mini"))
    assert found.engine == ENGINE
    for image, text in texts().items():
        pieces = found.by_image[image].replace("\t", "\n").split("\n")
        assert pieces == [piece.text for piece in text.lines]


def test_one_missing_image_is_an_error_with_the_command(recognised: Path) -> None:
    next((recognised_folder(recognised) / ENGINE).glob("*.json")).unlink()
    with pytest.raises(DataError, match=r"1 of 17 images .*dtvqa data recognise --split mini"):
        given_text("mini", records("mini"))


def test_the_words_around_the_text_are_prompts_of_the_registry() -> None:
    assert get_prompt("given_text").render("Q?", "a\nb") == (
        "Text recognised in the image, in reading order:\na\nb\n\nQ?"
    )
    for model in (None, *models_with_own_prompt()):
        plain = prompt_for("none", model).render("Q?")
        given = prompt_for("none", model, gives_text=True)
        assert given is TEXT_PROMPTS[given.name]
        assert given.render("Q?", "a").endswith(f"a\n\n{plain}")
    assert not TEXT_PROMPTS.keys() & PROMPTS.keys()


@pytest.mark.parametrize(("name", "text"), [("none", "a"), ("given_text", None)])
def test_a_prompt_and_its_text_belong_together(name: str, text: str | None) -> None:
    with pytest.raises(ValueError, match="recognised text"):
        get_prompt(name).render("Q?", text)


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("dtvqa_px896", "px896"),
        ("dtvqa_px896_scene", "px896"),
        ("dtvqa_mini_image_text", "image_text"),
        ("DTVQA_TEXT", "text"),
        ("dtvqa_blind_tabshot", "blind"),
        ("dtvqa_scene", None),
        ("dtvqa_mini_prompted", None),
        ("dtvqa_px89", None),
        ("dtvqa_context", None),
    ],
)
def test_the_condition_in_a_name(name: str, condition: str | None) -> None:
    assert condition_in_name(name) == condition


@pytest.mark.parametrize("condition", [name for name in INPUTS if name != "blind"])
def test_files_and_tasks_are_read_back_by_their_names(condition: str) -> None:
    named = vlmevalkit_name(Path(f"my_model_DTVQA_MINI_{condition.upper()}.xlsx"))
    assert named is not None
    assert (named.model, named.dataset, named.condition) == (
        "my_model",
        f"DTVQA_MINI_{condition.upper()}",
        condition,
    )
    whole = References().named_subsets(f"dtvqa_mini_{condition}", "mini")
    assert whole == References().named_subsets("dtvqa_mini", "mini") != ()


def test_a_signature_without_the_field_still_parses() -> None:
    old = (
        "DTVQA|v:0.1.0|split:test|subsets:DTScene=300|n:300|ann:0|rev:unknown|prompt:none|"
        "image:original|tau:0.5|acc:containment-lower|reasoning:stripped|host:lmms-eval=0.7.3|"
        "model:m|gen:unknown|failed:0|partial:no"
    )
    assert parse_signature(old).given == ""
    new = old.replace("|tau:", "|input:image+text(rapidocr-3.10.0)|tau:")
    assert parse_signature(new).given == "image+text(rapidocr-3.10.0)"
