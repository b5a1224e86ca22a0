"""Test questions are found with any prompt around them, and each match states how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from finetune_release import write_json

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.data import records
from dtvqa_plugin.finetune import find_leakage
from dtvqa_plugin.finetune.question_match import normalised, parts_of, without_instructions

SAME = "Which word stands in line 2 of the DTScene picture?"
ID = "DTScene/2"

NORMALISED = [
    SAME,
    f"<image>\n{SAME}",
    f"<img>a/b.jpg</img> {SAME} Answer: ",
    f"Picture 1: <img>a.jpg</img>\n{SAME}",
    f"<|vision_start|><|image_pad|><|vision_end|>{SAME}",
    SAME.upper(),
    SAME.replace(" ", "  ").replace("?", " ?!"),
    SAME.replace("line", "ｌｉｎｅ"),
]


@pytest.mark.parametrize("text", NORMALISED)
def test_marks_cues_case_and_punctuation_are_taken_away(text: str) -> None:
    assert normalised(text) == "which word stands in line 2 of the dtscene picture"


HOW: list[tuple[str, str]] = [
    (SAME, "whole text"),
    (f"Question: {SAME}\nShort answer:", "whole text"),
    (f"Q: {SAME} A:", "whole text"),
    (f"<image>{PAPER_INSTRUCTION}{SAME} Answer:", "without instructions"),
    (f"{SAME} Answer the question using a single word or phrase.", "without instructions"),
    (f"{SAME}\nAnswer the question using a single word or phrase.", "without instructions"),
    (f"{SAME.rstrip('?')} answer with a single word or phrase", "without instructions"),
    (f"{SAME}请简短回答。", "without instructions"),
    (f"USER: <image>\n{SAME} Give a short answer. ASSISTANT:", "without instructions"),
    (f"Please look closely at this photo. {SAME} Reply in JSON.", "part of the text"),
    (f"OCR tokens: a, b, c\n{SAME}\nUse at most five words!", "part of the text"),
    (f"Here are two questions.\n1. {SAME}\n2. What is shown?", "part of the text"),
    (f"看图。{SAME}只写答案。", "part of the text"),
    (SAME.replace("picture", "pictures"), "similar"),
]


@pytest.mark.parametrize(("text", "how"), HOW)
def test_every_match_says_how_it_was_made(
    text: str, how: str, own_home: Path, tmp_path: Path
) -> None:
    found = find_leakage(
        write_json(tmp_path / "set.json", [{"question": text, "answer": "word 2"}])
    )
    (match,) = found.questions
    assert (match.how, match.test_question_id, match.same_answer) == (how, ID, True)
    assert (match.similarity == 100) == (how != "similar")
    assert found.answered["DTScene"] == 1
    assert found.copied == []


OTHERS = [
    "Which word stands in row two of a street scene?",
    "上面写着什么？",
    "Answer the question using a single word or phrase.",
    "Answer the question.",
    "Is line 2 of the DTScene picture a word?",
    "",
]


@pytest.mark.parametrize("text", OTHERS)
def test_other_questions_and_bare_instructions_match_nothing(
    text: str, own_home: Path, tmp_path: Path
) -> None:
    found = find_leakage(
        write_json(tmp_path / "set.json", [{"question": text, "answer": "word 2"}])
    )
    assert found.questions == []


@pytest.mark.parametrize(
    ("answer", "same"),
    [("Word 2", True), (" word 2. ", True), ("line\nword 2", True), ("another word", False)],
)
def test_the_answer_is_compared_too(
    answer: str, same: bool, own_home: Path, tmp_path: Path
) -> None:
    found = find_leakage(write_json(tmp_path / "set.json", [{"question": SAME, "answer": answer}]))
    assert [match.same_answer for match in found.questions] == [same]
    assert found.answered["DTScene"] == int(same)


def test_two_test_questions_in_one_text_both_count(own_home: Path, tmp_path: Path) -> None:
    other = SAME.replace("line 2", "line 1")
    record = {"question": f"{SAME}\n{other}", "answer": "word 2\nword 1"}
    found = find_leakage(write_json(tmp_path / "set.json", [record]))
    assert found.answered["DTScene"] == 2
    assert found.copied == ["DTScene"]


def test_short_parts_and_endless_texts_do_no_harm() -> None:
    assert list(parts_of("Yes. No. 5.")) == ["yes no 5"]
    assert len(list(parts_of("One sentence more. " * 5000))) < 1000
    assert without_instructions(normalised("Answer the question.")) == "answer the question"


SUFFIXES = [
    "\nAnswer the question using a single word or phrase.",
    " Please write nothing but the answer, in the language of the label.",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_released_questions_are_found_with_a_suffix(
    suffix: str, shared_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(shared_dir / "hub/DT-VQA"))
    copied = [
        {
            "conversations": [
                {"from": "human", "value": f"<image>\n{record.question}{suffix}"},
                {"from": "gpt", "value": record.answers[0]},
            ]
        }
        for record in records("test")
    ]
    file = tmp_path / "copied.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in copied), encoding="utf-8")
    found = find_leakage(file, names_only=True)
    assert len(found.questions) == 1200
    assert found.answered == found.test_questions
