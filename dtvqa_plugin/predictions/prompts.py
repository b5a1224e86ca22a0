"""Which of the questions in a prompt is the one that is asked: the last, after answered examples.

The labelled prompts of ``tests/predictions/prompt_cases.py`` say what it must tell. Where it does
not tell, no question is given.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_TURNS = (
    (
        re.compile(
            r"<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>"
            r"|<\|assistant\|>|<start_of_turn>model|\[/INST\]",
            re.IGNORECASE,
        ),
        " | Answer: ",
    ),
    (
        re.compile(
            r"<\|im_start\|>user|<\|start_header_id\|>user<\|end_header_id\|>"
            r"|<\|user\|>|<start_of_turn>user|\[INST\]",
            re.IGNORECASE,
        ),
        " | Question: ",
    ),
    (re.compile(r"<[^<>]*>|\*\*|#+"), " "),
)
"""Marks of chat templates, and what they say; other tags and marks of emphasis say nothing."""
_ANSWER = re.compile(
    r"(?<!\w)(?:A|(?i:ans|(?:short )?answer|response|output|reply|assistant|bot|gpt|model))"
    r"\s*\d*\s*[:：]|(?:答案|回答|答)\s*[:：]"
)
_QUESTION = re.compile(
    r"(?<!\w)(?:Q|(?i:question|user|human|input))\s*\d*\s*[:：]|(?:问题|提问|问)\s*\d*\s*[:：]"
)
_NEXT = re.compile(
    r"(?:(?:\b(?:and|now|here|is|the|next|second|third|last|final|another|following)\s+)*"
    r"\bquestion\s*\d*\s*[:.)]|\d+\s*[.)])\s*$",
    re.IGNORECASE,
)
"""What leads to the question after a gap: ``Next question:``, ``2.``."""
_BACK = re.compile(
    r"\b(?:first|previous|earlier|above|other|both|all|each|every|these)\b|第一|上一|前",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:first|both|question 1)\b|第一", re.IGNORECASE)
"""What sends from the beginning of a prompt to another question than the last."""
_WORD = re.compile(r"[^\W_]")


def one_line(text: str) -> str:
    """The text with each run of white space as one blank."""
    return " ".join(text.split())


def has_words(text: str) -> bool:
    """Whether a turn says something: its tags do not count."""
    return _WORD.search(_plain(text)) is not None


def asked_last(text: str, questions: Collection[str]) -> str | None:
    """The one of some questions that a prompt asks, None where it does not tell.

    A question inside a longer one is the longer one. Of several, it is the last if each before it
    is followed by an answer, and it is not. One question that is followed by its answer and then
    by another question is an example.

    Args:
        text: The prompt, in one line.
        questions: The questions of the picture that stand in it, in one line each.
    """
    spans = _places(text, questions)
    if not spans:
        return None
    starts = [start for start, _ in spans] + [len(text)]
    after = [_plain(text[end:start]) for (_, end), start in zip(spans, starts[1:], strict=True)]
    start, end = spans[-1]
    if len({text[start:end] for start, end in spans}) == 1:
        return None if _is_example(after[-1]) else text[start:end]
    if not all(map(_answered, after[:-1])) or _answered(after[-1], loosely=True):
        return None
    elsewhere = _OTHERS.search(text[: spans[0][0]]) or _BACK.search(after[-1])
    return None if elsewhere else text[start:end]


def asked_by(
    turns: tuple[str, ...], fields: Mapping[str, str], questions: Collection[str]
) -> str | None:
    """The question that a record's turns and fields ask with one voice, None where they do not.

    The last turn is what the response answers. Where it holds no question, a prompt beside it does
    not say what was asked, nor does a field that names the question of an earlier turn.

    Args:
        turns: The user's turns, each in one line.
        fields: Other texts by the name of their field, each in one line.
        questions: The questions of the picture that stand in any of them, in one line each.
    """
    last = turns[-1] if turns else ""
    named: dict[str, list[str]] = {}
    for field, text in (("", last), *fields.items()):
        held = [question for question in questions if question in text]
        if held:
            named.setdefault(asked_last(text, held) or "", []).append(field)
    if len(named) != 1:
        return None
    ((question, by),) = named.items()
    if "" in by or not has_words(last):
        return question or None
    earlier = any(question in turn for turn in turns[:-1])
    by_field = [f for f in by if f not in _PROMPT_FIELDS and not (earlier and f != _SAMPLE_FIELD)]
    return (question or None) if by_field else None


_PROMPT_FIELDS = ("query", "prompt", "text_prompt")
_SAMPLE_FIELD = "input"
"""inspect_ai's sample, which its solvers continue with turns of their own."""


def _places(text: str, questions: Collection[str]) -> list[tuple[int, int]]:
    """Where the questions stand, in order, without those inside another."""
    found = [
        (match.start(), match.end())
        for question in questions
        for match in re.finditer(re.escape(question), text)
    ]
    return sorted(
        (start, end)
        for start, end in found
        if not any((a, b) != (start, end) and a <= start and end <= b for a, b in found)
    )


def _plain(text: str) -> str:
    for pattern, instead in _TURNS:
        text = pattern.sub(instead, text)
    return text


def _answered(after: str, loosely: bool = False) -> bool:
    """Whether an answer stands in what follows a question.

    The mark of an answer begins a sentence, unless ``loosely``: ``Vitamin A: 10 %`` is none.
    """
    for cue in _ANSWER.finditer(after):
        if loosely or not after[: cue.start()].rstrip()[-1:].isalnum():
            said = _QUESTION.sub(" ", _NEXT.sub("", _ANSWER.sub(" ", after[cue.end() :])))
            return _WORD.search(said) is not None
    return False


def _is_example(after: str) -> bool:
    """Whether a question's answer follows, and then another question."""
    following = _QUESTION.search(after)
    return (
        following is not None
        and _answered(after[: following.start()])
        and _WORD.search(after[following.end() :]) is not None
    )
