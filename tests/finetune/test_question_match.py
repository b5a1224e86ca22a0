"""Test questions are found with any prompt around them, and each match states how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from finetune_release import write_json

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.data import records
from dtvqa_plugin.finetune import find_leakage
from dtvqa_plugin.finetune.question_match import (
    BenchmarkQuestions,
    normalised,
    parts_of,
    without_instructions,
)

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


PROMPTS = [
    "{}\nReference OCR token: word, line, 2\nAnswer the question using a single word or phrase.",
    "{}\nWhen the provided information is insufficient, respond with 'Unanswerable'.\n"
    "Answer the question using a single word or phrase.",
    "A chat between a curious human and an artificial intelligence assistant. The assistant gives "
    "helpful, detailed, and polite answers to the human's questions. USER: <image>\n{} ASSISTANT:",
    "Please provide a short answer to the following question: {}",
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n<|vision_start|>"
    "<|image_pad|><|vision_end|>{}<|im_end|>\n<|im_start|>assistant\n",
    "Picture 1: <img>x.jpg</img>\n{}\nAnswer the question using the text in the picture.",
    "{}\nOnly output the final answer.",
    "<ImageHere>{} Answer this question in a single word.",
    "[vqa] {}",
    "[INST] <image>\n{} [/INST]",
    "You are an OCR expert. Use the picture to answer the question.\n\n{}",
    "Given the image, answer the following question with no more than three words. {}",
    "The question: {} The short answer is:",
    "Human: <|image|>\nHuman: {}\nAI: ",
    "<image>\n请用单个词语或短语回答以下问题：{}",
    "请根据图片回答问题，只需给出答案：{}",
    "图片中的问题是：{}请用一个单词回答。",
    "{}\n请仅用图片中的文字作答。",
    "{}\nFirst think about the reasoning process in the mind and then provide the user with the "
    "answer. The reasoning process and answer are enclosed within <think> </think> and <answer> "
    "</answer> tags.",
    "{} Please reason step by step, and put your final answer within \\boxed{{}}.",
]
"""Prompts of LLaVA, Qwen-VL, InternVL, MiniCPM, ms-swift and others, written before the rules."""


@pytest.mark.parametrize("prompt", PROMPTS)
def test_released_questions_are_found_in_prompts_of_trainers(
    prompt: str, shared_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(shared_dir / "hub/DT-VQA"))
    asked = list(records("test"))[::12]
    known = BenchmarkQuestions(records("test"))
    texts = [(r.question_id, prompt.format(r.question), r.answers) for r in asked]
    found = {match.where: match for match, _ in known.find(texts)}
    assert len(found) >= 0.99 * len(asked)
    assert {match.same_answer for match in found.values()} == {True}


def test_match_names_the_instructions_that_were_removed(own_home: Path, tmp_path: Path) -> None:
    text = f"Look at the image and answer the question. {SAME} Give a short answer."
    found = find_leakage(write_json(tmp_path / "set.json", [{"question": text, "answer": "x"}]))
    (match,) = found.questions
    assert match.how == "without instructions"
    assert sorted(match.removed) == [
        "give a short answer",
        "look at the image and answer the question",
    ]
    assert list(found.as_json()["questions"][0]["removed"]) == list(match.removed)


OTHERS = [
    "Please provide a short answer to the following question:",
    "请根据图片回答问题，只需给出答案：",
    "You are an OCR expert. Use the picture to answer the question.\n\nWhich word stands in row 7?",
    "Which word stands in line 2 of the DTScene picture book on the shelf of the seller?",
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


CHINESE_BEHIND = [
    "只写答案",
    "请从图片中读出答案",
    "根据图片内容回答",
    "用中文回答，不超过五个字",
    "直接给出答案即可",
    "仅输出最终结果",
    "不需要解释",
    "回答要简短",
    "麻烦用英文作答",
    "尽量简短地回答",
    "无需解释，给出答案",
    "答案用一个单词表示",
    "以简洁的方式作答",
    "勿输出多余内容",
    "尽可能使用原文",
    "读图后给出结果",
]
"""Instructions right behind a question without its mark; half of them were kept unseen."""

CHINESE_GOES_ON = ["净含量的数字", "康师傅下面的字", "一词左边", "招牌上", "两个字之后的词"]


@pytest.mark.parametrize("behind", CHINESE_BEHIND)
def test_released_questions_are_found_before_a_chinese_instruction(
    behind: str, shared_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(shared_dir / "hub/DT-VQA"))
    asked = list(records("test"))[5::12]
    known = BenchmarkQuestions(records("test"))
    texts = [(r.question_id, f"{r.question.rstrip('?')}{behind}", r.answers) for r in asked]
    found = {match.where: match for match, _ in known.find(texts)}
    assert len(found) >= 0.95 * len(asked)
    assert {match.same_answer for match in found.values()} == {True}


@pytest.mark.parametrize("behind", CHINESE_GOES_ON)
def test_a_question_that_goes_on_in_chinese_is_another(behind: str, own_home: Path) -> None:
    known = BenchmarkQuestions(records("test"))
    texts = [("here", f"{SAME.rstrip('?')}{behind}", ("word 2",))]
    assert [match.how for match, _ in known.find(texts) if match.how != "similar"] == []


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
