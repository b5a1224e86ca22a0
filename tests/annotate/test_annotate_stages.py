"""From raw answers to an exported set: extract, check, expand, decisions, export."""

from __future__ import annotations

from typing import Any

import pytest
from annotate.annotate_server import Endpoint, status
from annotate.conftest import ANSWER, MakeProject, entries, fill
from hypothesis import given
from hypothesis import strategies as st

from dtvqa_plugin.annotate.asking.text_only import ask_without_images, text_only_answers
from dtvqa_plugin.annotate.check import WEIGHTS, Flag, check, containment, flags_of, score
from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.expand import expand
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.project.config import Check
from dtvqa_plugin.annotate.text.variants import propose

LIMITS = Check.model_validate({})


# --- extract -------------------------------------------------------------------------------------


def test_extract_keeps_counts_and_lists_what_it_could_not_read(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER, "I'm sorry, I can't help with that.", "A nice shop.", ""])
    report = extract(project)
    assert (report.answers, report.pairs, report.images) == (4, 2, 4)
    assert (report.refusals, report.empty, report.without_pairs, report.unread) == (1, 1, 1, 1)
    unread = entries(project.unread)
    assert [(entry["text"], entry["refusal"]) for entry in unread] == [
        ("I'm sorry, I can't help with that.", True),
        ("A nice shop.", False),
    ]
    assert all(entry["file"] and entry["model"] for entry in unread)
    pair = entries(project.pairs)[0]
    assert (pair["question"], pair["answers"]) == ("What is the shop called?", ["Blue Bird"])
    assert (pair["style"], pair["round"], pair["model"]) == ("scene", "first", "gpt-loop-2026")


def test_rounds_of_an_image_come_together_and_a_pair_given_twice_once(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    for entry in entries(project.raw):
        text = f"{ANSWER}\nQ3: Which street?\nA3: Quay St"
        project.raw.append({**entry, "round": "second", "model": "other", "text": text})
    report = extract(project)
    assert (report.pairs, report.repeated) == (12, 8)
    images = [entry["image"] for entry in entries(project.pairs)]
    assert images == [image for image in dict.fromkeys(images) for _ in range(3)]


def test_the_pair_before_the_token_limit_is_marked(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    first = entries(project.raw)[0]
    project.raw.append({**first, "round": "second", "finish": "length", "text": "Q: a?\nA: hal"})
    report = extract(project)
    assert report.cut == 1
    assert [entry["answers"] for entry in entries(project.pairs) if entry["cut"]] == [["hal"]]


def test_decisions_hold_when_pairs_are_extracted_again(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    extract(project)
    before = entries(project.pairs)
    extract(project)
    assert entries(project.pairs) == before
    assert len({entry["pair"] for entry in before}) == len(before)


def test_extract_without_answers_is_one_error(make: MakeProject) -> None:
    with pytest.raises(AnnotateError, match="no answers yet; 'dtvqa annotate run'"):
        extract(make())


# --- check ---------------------------------------------------------------------------------------

TEXT = "BLUE BIRD Grocery pears 2.50 per kilo open 9-17 大减价 全场五折 Nettle & Sons"


@pytest.mark.parametrize(
    ("question", "answer", "codes"),
    [
        ("What is the shop called?", "Blue Bird", []),
        ("What is the shop called?", "blue  bird", []),
        ("What is the shop called?", "BLUE B1RD Grocery", []),
        ("What is the shop called?", "Red Lion Tavern", ["not-in-ocr"]),
        ("How much are pears?", "2.50", []),
        ("How much are pears?", "$2.50", []),
        ("How much are pears?", "3.50", ["not-in-ocr"]),
        ("Who owns it?", "Nettle & Sons", []),
        ("牌子上写着什么？", "大减价", []),
        ("What is on offer?", "大减价", ["mixed-languages"]),
        ("牌子上写着什么？", "Grocery", ["mixed-languages"]),
        ("招牌上 BLUE 的后面是什么？", "BIRD", ["mixed-languages"]),
        ("Is the shop open?", "yes", ["not-in-ocr", "yes-no"]),
        ("Does it sell pears?", "pears", ["answer-in-question", "yes-no"]),
        ("Is the shop called Blue Bird or Grocery?", "Grocery", []),
        ("这家店打折吗？", "全场五折", ["yes-no"]),
        ("What kind of shop is Blue Bird Grocery?", "Grocery", ["answer-in-question"]),
        (
            "What does it say?",
            "BLUE BIRD Grocery pears 2.50 per kilo open 9-17 Nettle & Sons",
            ["too-long"],
        ),
    ],
)
def test_flags(question: str, answer: str, codes: list[str]) -> None:
    pair = {"pair": "p", "question": question, "answers": [answer]}
    found = flags_of(pair, [], TEXT, LIMITS)
    found = [flag for flag in found if not (flag.code == "not-in-ocr" and "too-long" in codes)]
    assert sorted(flag.code for flag in found) == codes
    assert all(flag.reason for flag in found)


@pytest.mark.parametrize(
    ("first", "second", "duplicate"),
    [
        (("What is the price of milk?", "3"), ("What is the price of the milk?", "3"), True),
        (("What is the name of the shop?", "Bo"), ("What is the shop's name?", "Bo"), False),
        (("Who won in 1998?", "Ann"), ("Who won in 1999?", "Ann"), False),
        (("Which brand is shown?", "Bo"), ("Which brand is shown?", "Cy"), True),
        (
            ("What is the weight of the pears?", "3 g"),
            ("What is the price of the pears?", "$2"),
            False,
        ),
    ],
)
def test_duplicates(first: tuple[str, str], second: tuple[str, str], duplicate: bool) -> None:
    one, two = (
        {"pair": name, "question": said[0], "answers": [said[1]]}
        for name, said in (("one", first), ("two", second))
    )
    codes = [flag.code for flag in flags_of(two, [one], None, LIMITS)]
    assert ("duplicate" in codes) is duplicate


def test_check_drops_nothing_and_scores_for_triage(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER, ANSWER, "Q: Is it open?\nA: Yes", ANSWER])
    extract(project)
    report = check(project)
    flags = entries(project.flags)
    assert [flag["pair"] for flag in flags] == [pair["pair"] for pair in entries(project.pairs)]
    assert (report.pairs, report.flagged, report.codes["yes-no"]) == (7, 1, 1)
    assert report.no_text == 7, "the project has no recognised text: that is said, not a flag"
    assert sorted({flag["score"] for flag in flags}) == [0.6, 1.0]


@given(st.lists(st.sampled_from(sorted(WEIGHTS)), max_size=12))
def test_score_falls_with_each_kind_of_flag(codes: list[str]) -> None:
    flags = [Flag(code, "x") for code in codes]
    assert 0 <= score(flags) <= 1
    assert score(flags) == score([*flags, *flags])
    for code in set(WEIGHTS) - set(codes):
        assert score([*flags, Flag(code, "x")]) <= score(flags)


@given(st.text(max_size=12), st.text(max_size=30))
def test_containment_is_a_share(answer: str, text: str) -> None:
    assert 0 <= containment(answer, text) <= 100
    if any(char.isascii() and char.isalnum() for char in answer):
        assert containment(answer, f"{text} {answer} {text}") == 100


def test_questions_answerable_without_the_image(make: MakeProject) -> None:
    def said(number: int, request: dict[str, Any]) -> Any:
        if number == 0:
            return status(500)
        text = request["messages"][0]["content"][0]["text"]
        assert len(request["messages"][0]["content"]) == 1, "no image is sent"
        return "Paris" if "capital" in text else "unknown"

    with Endpoint(said) as server:
        blind = {"model": "blind", "base_url": server.url, "concurrency": 1, "retries": 1}
        project = make(config=lambda v: v["check"].update(text_only=blind))
        fill(project, ["Q: What is the capital of France?\nA: Paris", ANSWER, ANSWER, ANSWER])
        extract(project)
        assert ask_without_images(project).answered == 7
        assert ask_without_images(project).known == 7
        report = check(project, without_image=text_only_answers(project))
    assert report.codes == {"without-image": 1}
    (flag,) = [entry for entry in entries(project.flags) if entry["flags"]]
    assert "Paris" in flag["flags"][0][1]


def test_text_only_needs_an_endpoint_and_obeys_its_bound(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    extract(project)
    with pytest.raises(AnnotateError, match=r"needs check\.text_only"):
        ask_without_images(project)
    with Endpoint(lambda number, request: "unknown") as server:
        price = {"input": 10.0, "output": 100.0}
        blind = {"model": "blind", "base_url": server.url, "price": price}
        bounded = make(root="b", config=lambda v: v["check"].update(text_only=blind))
        fill(bounded, [ANSWER] * 4)
        extract(bounded)
        report = ask_without_images(bounded, max_usd=0.15)
    assert report.stopped is not None
    assert 0 < report.usd <= 0.15


# --- expand --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "rule", "variants"),
    [
        ("250 g", "unit-space", ["250g"]),
        ("250g", "unit-space", ["250 g"]),
        ("250 g", "unit-name", ["250 grams"]),
        ("1 kg", "unit-name", ["1 kilogram"]),
        ("5 grams", "unit-name", ["5 g", "5g"]),
        ("250克", "unit-name", ["250g", "250 g"]),
        ("180 °C", "unit-space", ["180°C"]),
        ("15%", "percent", ["15 %", "15 percent"]),
        ("15 percent", "percent", ["15%"]),
        ("1,234", "thousands", ["1234"]),
        ("12 345 678", "thousands", ["12345678"]),
        ("12345", "thousands", ["12,345"]),
        ("2021", "thousands", []),
        ("020 7946 0318", "thousands", []),
        ("0123456", "thousands", []),
        ("3.14159", "thousands", []),
        (
            "5 March 2021",
            "date",
            ["March 5, 2021", "Mar 5, 2021", "2021-03-05", "2021年3月5日"],
        ),
        ("2021年3月5日", "date", ["5 March 2021"]),
        ("Mar. 5th, 2021", "date", ["2021-03-05"]),
        ("25/12/2021", "date", ["2021-12-25"]),
        ("03/04/2021", "date", []),
        ("31 June 2021", "date", []),
        ("May", "date", []),
        ("OLD QUARRY FOODS", "case", ["Old Quarry Foods"]),
        ("USA", "case", []),
        ("Total (net)", "brackets", ["Total", "Total net"]),
        ("苹果 (apple)", "two-languages", ["苹果", "apple"]),
        ("apple / 苹果", "two-languages", ["apple", "苹果"]),
        ("苹果 (apple)", "brackets", []),
        ("24/7", "two-languages", []),
        ("Blue Bird.", "final-stop", ["Blue Bird"]),
        ("Acme Inc.", "final-stop", []),
        ("U.S.A.", "final-stop", []),
        ("ＡＢＣ１２", "width", ["ABC12"]),
        ("Kestrel & Co", "ampersand", ["Kestrel and Co"]),
        ("salt and pepper", "ampersand", ["salt & pepper"]),
    ],
)
def test_variants(answer: str, rule: str, variants: list[str]) -> None:
    found = [variant for variant in propose([answer]) if variant.rule == rule]
    texts = [variant.text for variant in found]
    assert set(variants) <= set(texts) if variants else not texts
    assert all(variant.reason for variant in found)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=3))
def test_variants_are_new_texts_of_any_answer(answers: list[str]) -> None:
    texts = [variant.text for variant in propose(answers)]
    assert len(texts) == len(set(texts))
    assert not set(texts) & set(answers)


def test_expand_writes_proposals_with_reasons(make: MakeProject) -> None:
    project = make()
    fill(project, ["Q: How much?\nA: 1,250 g"] * 4)
    extract(project)
    report = expand(project)
    assert (report.pairs, report.with_proposals) == (4, 4)
    proposals = entries(project.proposals)[0]["proposals"]
    assert ["1,250g", "unit-space", "number and unit with and without a blank"] in proposals
