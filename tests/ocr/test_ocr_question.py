"""What the reader makes of a question's words."""

from __future__ import annotations

import pytest

from dtvqa_plugin.benchmark.prompts import PROMPTS
from dtvqa_plugin.ocr.answering.question import parse, strip_instructions
from dtvqa_plugin.ocr.answering.words import alike, content, tokens

BARE = [
    "Which country won the most bronze medals?",
    "What team did St. Louis play in week 1?",
    "What word or phrase is on the red sign?",
    "What is the answer to question 7?",
    "净含量是多少？",
]


@pytest.mark.parametrize("question", BARE)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_every_prompt_of_the_registry_leaves_the_bare_question(prompt: str, question: str) -> None:
    assert strip_instructions(PROMPTS[prompt].render(question)) == question
    assert parse(PROMPTS[prompt].render(question)) == parse(question)


@pytest.mark.parametrize(
    "ending",
    [
        "\nAnswer the question using a single word or phrase.",
        " Answer the question with a short phrase.",
        "\nAnswer:",
    ],
)
@pytest.mark.parametrize("question", BARE)
def test_endings_that_hosts_add_are_dropped(question: str, ending: str) -> None:
    assert strip_instructions(question + ending) == question


def test_an_instruction_alone_is_kept() -> None:
    assert strip_instructions("Answer:") == "Answer:"
    assert strip_instructions("") == ""


@pytest.mark.parametrize(
    ("question", "asked", "target"),
    [
        ("Which country won the race?", "which", ("country", "won")),
        ("What was the score of the game?", "other", ("score",)),
        ("What is the name of the bridge over the Cole?", "which", ("bridge", "over")),
        ("How many laps did Bo complete?", "count", ("lap",)),
        ("Who wrote episode 4?", "who", ()),
        ("When was the match?", "when", ()),
        ("In which year did it open?", "when", ("year",)),
        ("Where was it held?", "where", ()),
        ("How long was the game?", "length", ()),
    ],
)
def test_what_is_asked(question: str, asked: str, target: tuple[str, ...]) -> None:
    parsed = parse(question)
    assert (parsed.asked, parsed.target) == (asked, target)


@pytest.mark.parametrize(
    ("question", "extreme", "measure", "place"),
    [
        ("Which nation has the most silver medals?", 1, "silver", 1),
        ("Which team scored the fewest points?", -1, "point", 1),
        ("Which nation has the second-highest total?", 1, "total", 2),
        ("Who scored on May 3?", 0, None, 1),
    ],
)
def test_extremes(question: str, extreme: int, measure: str | None, place: int) -> None:
    parsed = parse(question)
    assert (parsed.extreme, parsed.place) == (extreme, place)
    assert (parsed.measure[0] if parsed.measure else None) == measure


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("October 16th", ("oct", "16")),
        ("16 oct", ("16", "oct")),
        ("third place", ("3", "place")),
        ("1,234 people", ("1234", "people")),
        ("100g", ("100", "g")),
        ("１２ｇ", ("12", "g")),
        ("Räikkönen", ("raikkonen",)),
        ("净含量", ("净含", "含量")),
        ("糖", ("糖",)),
        ("12%", ("12", "%")),
        ("", ()),
        ("?!…", ()),
    ],
)
def test_words_are_levelled(text: str, words: tuple[str, ...]) -> None:
    assert tokens(text) == words


def test_words_without_meaning_do_not_count() -> None:
    assert content("What was the score of the game?") == ("score", "game")


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ("lap", "lap", 1.0),
        ("attendance", "attendence", 0.8),
        ("crowd", "attendance", 0.8),
        ("lap", "cap", 0.0),
        ("1234", "1235", 0.0),
    ],
)
def test_likeness_of_words(a: str, b: str, value: float) -> None:
    assert alike(a, b) == alike(b, a) == value
