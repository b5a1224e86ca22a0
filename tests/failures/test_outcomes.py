"""Outcomes: exclusive, in their documented order, with evidence; precision on labelled outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from outcome_labels import PARTS, confusion, labelled, sample_texts
from report_runs import SAMPLE

from dtvqa_plugin.analysis.failures.folding import folded, is_form_only
from dtvqa_plugin.analysis.failures.outcomes import OUTCOMES, Outcome, edits, outcome
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.data import Record, records
from dtvqa_plugin.metrics.scored import score_answer
from dtvqa_plugin.ocr.recognised import Line, RecognisedText

LEAST_RIGHT = {"development": 0.98, "held out": 0.98, "fresh": 0.98}


@pytest.mark.parametrize("part", PARTS)
def test_labelled_outputs_get_their_outcome(part: str) -> None:
    cases = labelled(part)
    assert len(cases) > 200
    counts = confusion(cases)
    right = sum(count for (label, found), count in counts.items() if label == found)
    assert right / len(cases) >= LEAST_RIGHT[part], counts


def test_without_recognised_text_wrong_outputs_are_unplaced() -> None:
    """What needs no image text keeps its outcome; nothing is called invented or computed."""
    for label, output, _, found in labelled("held out", with_text=False):
        if label in ("other", "invented", "computed"):
            assert found.name in ("unplaced", "near"), output
        elif label != "near":
            assert found.name == label, output


# --- one page of one's own --------------------------------------------------------------------

LINES = (
    ("Riverside Hall", (10, 10, 210, 40)),
    ("Tickets", (10, 60, 90, 80)),
    ("£12.50", (100, 60, 160, 80)),
    ("Doors open 19:30", (10, 100, 200, 120)),
    ("1,234 seats", (10, 140, 120, 160)),
    ("Riverside Bar", (10, 200, 200, 220)),
    ("£12.60", (250, 200, 300, 220)),
)
PAGE = Page(RecognisedText(400, 300, tuple(Line(text, box, 0.9) for text, box in LINES)))


def found(
    output: str | None, *answers: str, question: str = "What?", page: Page | None = PAGE
) -> Outcome:
    record = Record("Made/1", "Made", "a.png", question, answers, "made")
    return outcome(record, score_answer(output, answers, "Made/1"), page)


ORDER = [
    # output, references, outcome
    (None, ["Riverside Hall"], "failed"),
    ("<think>Riverside Hall", ["Riverside Hall"], "cut"),
    ("<think>Riverside Hall</think>", ["Riverside Hall"], "empty"),
    ("riverside hall", ["Riverside Hall"], "right"),
    ("not Riverside Hall", ["Riverside Hall"], "hedged"),
    ("Riverside Hall or Riverside Bar", ["Riverside Hall"], "hedged"),
    ("I cannot read it, perhaps Riverside Hall", ["Riverside Hall"], "hedged"),
    ("It is Riverside Hall.", ["Riverside Hall"], "inside"),
    ("RiversideHall", ["Riverside Hall"], "form"),
    ("Ｒiverside－Hall", ["Riverside Hall"], "form"),
    ("1234", ["1,234"], "form"),
    ("There are 1 234 seats in it", ["1,234"], "form"),
    ("12,5", ["£12.50"], "form"),
    ("I don't know", ["Riverside Hall"], "refused"),
    ("Rivarside Hall", ["Riverside Hall"], "near"),
    ("Riverside Ha11", ["Riverside Hall"], "near"),
    # One edit off, and on the image as it stands: read at another place.
    ("£12.60", ["£12.50"], "other"),
    ("Riverside Bar", ["Riverside Hall"], "other"),
    ("Tickets £12.50", ["Riverside Hall"], "other"),
    ("Doors at the Bar open", ["Riverside Hall"], "invented"),
    ("Moonlight Cinema", ["Riverside Hall"], "invented"),
    ("Moonlight Cinema", ["Salle au bord de l'eau"], "computed"),
    ("Tickets", ["two thousand"], "computed"),
    # A hit inside another number is no reading of the answer.
    ("112.50", ["12.50"], "near"),
]


@pytest.mark.parametrize(("output", "answers", "name"), ORDER)
def test_the_first_outcome_that_holds_decides(
    output: str | None, answers: list[str], name: str
) -> None:
    assert found(output, *answers).name == name


def test_the_cases_above_reach_every_outcome() -> None:
    assert {name for _, _, name in ORDER} | {"unplaced"} == set(OUTCOMES)
    assert found("Moonlight Cinema", "Riverside Hall", page=None).name == "unplaced"


def test_evidence_names_the_edit_and_the_boxes() -> None:
    near = found("Rivarside Hall", "Riverside Hall")
    assert (near.evidence, near.answer_box) == ("Riv[a→e]rside Hall", (10, 10, 210, 40))
    other = found("£12.50", "Riverside Hall")
    assert other.output_box == (100, 60, 160, 80)
    assert "'£12.50' is on the image" in other.evidence
    assert found("Moonlight", "Riverside Hall").output_box is None
    assert found("not Riverside Hall", "Riverside Hall").evidence == "denied"


def test_a_misread_line_is_the_answers_own_place() -> None:
    """The engine misreads the answer as the model does: misread, not another place."""
    page = Page(RecognisedText(100, 100, (Line("Harbor Lane", (0, 0, 50, 10), 0.9),)))
    assert found("Harbor Lane", "Harbour Lane", page=page).name == "near"


def test_edits_are_written_out() -> None:
    assert edits("31/0487/FL", "31/0487/FUL") == "31/0487/F[→U]L"
    assert edits("abc", "abc") == "abc"


@pytest.mark.parametrize(
    ("text", "answer", "alike"),
    [
        ("12 g", "12g", True),
        ("12 grams", "12g", True),
        ("12克", "12 g", True),
        ("12", "12g", True),
        ("12mg", "12g", False),
        ("$12", "12", True),
        ("$12", "€12", False),
        ("1,234", "1234", True),
        ("1 234", "1,234", True),
        ("1.234,5", "12345", False),
        ("1.234,5", "1,234.50", True),
        ("12,5", "12.5", True),
        ("12.0", "12", True),
        ("-5", "5", False),
        ("−5", "-5", True),
        ("<0.5 g", "0.5 g", False),
        ("12/05/2020", "12.05.2020", True),
        ("9 个月", "9个月", True),
        ("A & B", "A and B", True),
        ("12g", "13g", False),
        ("", "12g", False),
        ("...", "12g", False),
    ],
)
def test_form_is_what_folding_takes_away(text: str, answer: str, alike: bool) -> None:
    assert is_form_only(text, answer) is alike


def test_no_right_answer_of_the_sample_is_called_wrong() -> None:
    pages = {name: Page(text) for name, text in sample_texts().items()}
    for record in SAMPLE:
        for answer in record.answers:
            scored = score_answer(answer, record.answers, record.question_id)
            assert outcome(record, scored, pages.get(record.image)).name == "right"


def test_sample_answers_are_found_on_their_pictures() -> None:
    pages = {name: Page(text) for name, text in sample_texts().items()}
    absent = [r.question_id for r in SAMPLE if pages[r.image].best(r.answers) is None]
    assert len(absent) <= 1, absent


def test_released_answers_fold_to_something(shared_dir: Path) -> None:
    released = records("test", home=shared_dir / "hub" / "DT-VQA")
    answers = [answer for record in released for answer in record.answers]
    assert [a for a in answers if any(map(str.isalnum, a)) and not folded(a)] == []
