"""Short answers from handmade boxes: tables, nutrition labels, packs in Chinese, signs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ocr_sheets import sheet, table

from dtvqa_plugin.benchmark.prompts import PROMPTS
from dtvqa_plugin.ocr import TextBox
from dtvqa_plugin.ocr.answering.pick import pick_answer

MEDALS = table(
    ("rank", "nation", "gold", "silver", "bronze", "total"),
    ("1", "norway", "4", "2", "3", "9"),
    ("2", "south korea", "3", "5", "1", "9"),
    ("3", "france", "1", "0", "6", "7"),
    ("total", "total", "8", "7", "10", "25"),
)
SEASON = table(
    ("week", "date", "opponent", "result", "attendance"),
    ("1", "september 7, 2003", "harbor kings", "l 14 - 27", "73,128"),
    ("2", "september 14, 2003", "mill city", "w 21 - 3", "9,870"),
    ("12", "november 23, 2003", "old town", "w 16 - 10", "64,501"),
)
MATCHES = table(
    ("home team", "home score", "away team", "away score", "venue"),
    ("ashford", "12.9 (81)", "brill", "9.9 (63)", "park lane"),
    ("corby", "8.8 (56)", "dunlow", "17.12 (114)", "east oval"),
    ("eastham", "10.10 (70)", "farley", "11.2 (68)", "the mount"),
)
LEADERS = table(
    ("game", "team", "score", "high points", "high rebounds"),
    ("40", "denver", "w 99 - 90", "ana ruiz (31)", "bea sol (12)"),
    ("41", "boston", "l 80 - 88", "cy dole (22)", "di eck (15)"),
)
GOLFERS = table(
    ("place", "player", "country", "score"),
    ("1", "ian marsh", "england", "66"),
    ("2", "tom reed", "ireland", "68"),
    ("t3", "leo black", "wales", "69"),
)

US_LABEL = sheet(
    [(0, "Nutrition Facts")],
    [(0, "About 9 servings per container")],
    [(0, "Serving size"), (380, "2/3 cup (58g)")],
    [(0, "Calories"), (460, "250")],
    [(380, "% Daily Value*")],
    [(0, "Total Fat 9g"), (480, "12%")],
    [(20, "Saturated Fat 1.5g"), (480, "8%")],
    [(0, "Sodium 135mg"), (480, "6%")],
    [(0, "Total Carbohydrate 38g"), (480, "14%")],
    [(20, "Total Sugars 11g")],
    [(0, "Protein 6g")],
)
UK_LABEL = sheet(
    [(0, "NUTRITION")],
    [(0, "Typical values"), (240, "per 100g"), (380, "per 30g serving"), (600, "%RI*")],
    [(0, "Energy"), (240, "1580kJ"), (380, "474kJ"), (600, "6%")],
    [(0, "Fat"), (240, "7.9g"), (380, "2.4g"), (600, "3%")],
    [(0, "of which sugars"), (240, "1.1g"), (380, "0.3g"), (600, "<1%")],
    [(0, "Protein"), (240, "11g"), (380, "3.3g"), (600, "7%")],
)
CHINESE_PACK = sheet(
    [(0, "品名：山野金桔干（蜜饯）")],
    [(0, "净含量：188克")],
    [(0, "保质期：12个月")],
    [(0, "生产日期"), (200, "2023年5月1日")],
    [(0, "配料：金桔、白砂糖、食用盐")],
    [(0, "产品标准号:GB/T 10782")],
    [(0, "服务热线：400-880-8598")],
    [(0, "产地：广东省揭阳市")],
)
BILINGUAL_PACK = [
    *sheet(
        [(0, "保质期")],
        [(0, "Shelf life")],
        [(0, "生产许可证")],
        [(0, "Licence")],
    ),
    TextBox.upright("9个月 9 months", 240, 12, 420, 38),
    TextBox.upright("SC10755501880236", 240, 74, 420, 98),
]
SIGN = [
    TextBox.upright("GRAND HOTEL", 50, 20, 500, 120),
    TextBox.upright("Check-in from 3:00 pm", 60, 180, 400, 210),
    TextBox.upright("Tel. +44 20 7946 0958", 60, 220, 400, 250),
    TextBox.upright("www.grandhotel.example.com", 60, 260, 400, 290),
    TextBox.upright("Rooms from £85", 60, 300, 300, 330),
    TextBox.upright("Est. 1884", 60, 340, 200, 370),
]

CASES = [
    # row by what the question names, column by what it asks for
    (MEDALS, "How many silver medals did South Korea win?", "5"),
    (MEDALS, "What rank did France finish in?", "3"),
    (SEASON, "What was the result of the game on September 14, 2003?", "w 21 - 3"),
    (SEASON, "Which opponent did they play in week 12?", "old town"),
    (SEASON, "What was the attendance in week 1?", "73,128"),
    (SEASON, "When did they play Mill City?", "september 14, 2003"),
    (GOLFERS, "Who finished in third place?", "leo black"),
    (GOLFERS, "Which country is Tom Reed from?", "ireland"),
    (GOLFERS, "Who was the runner-up?", "tom reed"),
    (LEADERS, "Who had 15 rebounds against Boston?", "di eck (15)"),
    # a misread letter in a long word
    (GOLFERS, "Which country is Ian Marsch from?", "england"),
    # extremes; the row of totals is none of them
    (MEDALS, "Which nation won the most bronze medals?", "france"),
    (MEDALS, "Which nation won the fewest gold medals?", "france"),
    (MEDALS, "Which nation won the second-most gold medals?", "south korea"),
    (SEASON, "Which opponent drew the highest attendance?", "harbor kings"),
    (MATCHES, "Which team had the highest score?", "dunlow"),
    (MATCHES, "Which team had the lowest score?", "corby"),
    # both sides named
    (MATCHES, "Which team won the match between Eastham and Farley?", "eastham"),
    (MATCHES, "Which team lost the match between Ashford and Brill?", "brill"),
    # a label and its value, in one text or on one line
    (US_LABEL, "What is the serving size?", "2/3 cup (58g)"),
    (US_LABEL, "How many servings are there per container?", "About 9"),
    (US_LABEL, "How many calories are there per serving?", "250"),
    (US_LABEL, "How many grams of saturated fat are there per serving?", "1.5g"),
    (US_LABEL, "How many grams of sugar are there per serving?", "11g"),
    (US_LABEL, "What percentage of the daily value of sodium is in each serving?", "6%"),
    # the column of the amount asked for
    (UK_LABEL, "How many grams of fat are there per 100g?", "7.9g"),
    (UK_LABEL, "How many grams of protein are there per serving?", "3.3g"),
    (UK_LABEL, "What is the energy value per 30g serving?", "474kJ"),
    (UK_LABEL, "What percentage of the adult RI is the protein content per serving?", "7%"),
    # English and Chinese questions about a Chinese pack
    (CHINESE_PACK, "What is the net weight of the product?", "188克"),
    (CHINESE_PACK, "What is the product name?", "山野金桔干（蜜饯）"),
    (CHINESE_PACK, "What is the shelf life?", "12个月"),
    (CHINESE_PACK, "What is the production date of the product?", "2023年5月1日"),
    (CHINESE_PACK, "What is the standard number?", "GB/T 10782"),
    (CHINESE_PACK, "Where is the product from?", "广东省揭阳市"),
    (CHINESE_PACK, "净含量是多少？", "188克"),
    (CHINESE_PACK, "产品的保质期是多久?", "12个月"),
    # a value level with two lines of label
    (BILINGUAL_PACK, "What is the shelf life of the product?", "9个月 9 months"),
    (BILINGUAL_PACK, "What is the production license number?", "SC10755501880236"),
    # no label: by form, else by prominence
    (SIGN, "What is the phone number?", "+44 20 7946 0958"),
    (SIGN, "What is the website?", "www.grandhotel.example.com"),
    (SIGN, "What is the price of a room?", "£85"),
    (SIGN, "When was it established?", "1884"),
    (SIGN, "What time is check-in?", "3:00 pm"),
    (SIGN, "What is the name of the hotel?", "GRAND HOTEL"),
]


@pytest.mark.parametrize(("boxes", "question", "answer"), CASES)
def test_the_answer_picked(boxes: list[TextBox], question: str, answer: str) -> None:
    assert pick_answer(boxes, question) == answer


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_changes_no_answer(prompt: str) -> None:
    for boxes, question, answer in CASES:
        assert pick_answer(boxes, PROMPTS[prompt].render(question)) == answer


@pytest.mark.parametrize("question", ["", "?", "Why?", "What is 7?"])
def test_no_text_no_answer(question: str) -> None:
    assert pick_answer([], question) == ""
    assert pick_answer([TextBox.upright(" ", 0, 0, 9, 9)], question) == ""


def test_a_question_that_nothing_matches_gets_some_text_of_the_image() -> None:
    assert pick_answer(SIGN, "Quo vadis?") in {box.text for box in SIGN}


coordinate = st.floats(-50, 4000, allow_nan=False).map(lambda value: round(value, 1))
anything = st.builds(
    TextBox,
    st.text(max_size=20),
    st.tuples(*[coordinate] * 8),
)
grids = st.lists(
    st.lists(st.sampled_from(["1", "2", "(3)", "-", "jan 5", "win %", "全部", "", "²", "t3"]),
             min_size=3, max_size=3),
    min_size=1, max_size=6,
).map(lambda rows: table(("rank", "name", "win %"), *rows))  # fmt: skip
questions = st.one_of(
    st.text(max_size=60),
    st.sampled_from([question for _, question, _ in CASES]),
)


@settings(deadline=None, max_examples=150)
@given(st.one_of(st.lists(anything, max_size=12), grids), questions)
def test_any_boxes_and_any_question_give_words_of_the_image(
    boxes: list[TextBox], question: str
) -> None:
    answer = pick_answer(boxes, question)
    whole = " ".join(box.text for box in boxes)
    assert all(word in whole for word in answer.split())
    assert pick_answer(boxes, question) == answer


def test_the_answers_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import test_ocr_pick as t\n"
        "ties = t.table(('abc', 'abd', 'abe'), ('abcdef', 'abcdeg', 'abcdeh'), ('x', 'y', 'z'))\n"
        "for q in ('Which abcdei is it?', 'Which ab?', 'abcdej', 'Where and when?'):\n"
        "    print(t.pick_answer(ties, q), t.pick_answer(t.MEDALS, q), t.pick_answer(t.SIGN, q))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().strip()
