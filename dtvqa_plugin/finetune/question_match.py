"""Whether a training question is a test question, with any prompt around it.

Texts are compared without case, punctuation and marks of images and roles. A text is compared
whole, without the instructions that hosts and trainers put around questions, and line by line
and sentence by sentence; every match says in which way it was made.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.benchmark.records import Record

SIMILAR = 95.0
"""Least `rapidfuzz.fuzz.ratio` (0 to 100) of two questions that are called similar."""

WHOLE, STRIPPED, PART, NEAR = "whole text", "without instructions", "part of the text", "similar"

INSTRUCTIONS = (
    PAPER_INSTRUCTION,
    # lmms-eval and VLMEvalKit (post prompts of their text VQA tasks), LLaVA-1.5's training set
    "Answer the question using a single word or phrase.",
    "Please answer the question using a single word or phrase.",
    "Answer this question using a single word or phrase.",
    "Give a very brief answer.",
    "Give a short answer.",
    "Provide a short and direct response.",
    "Answer the question using a single word, phrase, or number.",
    "Please try to answer the question with short words or phrases if possible.",
    "Please answer the question with a short word or phrase.",
    "Answer this question using the text in the image directly.",
    "Answer this question using the text in the image directly without any other context.",
    "Answer with the option's letter from the given choices directly.",
    "Respond with a single word or phrase.",
    "Answer with a single word or phrase.",
    "Answer with a short phrase.",
    "Answer in one word or phrase.",
    "Answer briefly.",
    "Answer concisely.",
    "Be concise.",
    "Answer directly.",
    "Please answer directly.",
    "Short answer.",
    "Answer the question.",
    "Please answer the question.",
    "Answer the following question.",
    "Please answer the following question.",
    "Answer the question based on the image.",
    "Based on the image, answer the question.",
    "Look at the image and answer the question.",
    "Look at the image and answer the following question.",
    "Read the text in the image and answer the question.",
    "According to the image.",
    "Based on the image.",
    "Please provide a concise response.",
    "Please provide a short answer to the following question.",
    "Please answer directly with a single word or number.",
    "Only output the final answer.",
    "Your answer should be a single word or phrase.",
    "Reference OCR token.",
    "When the provided information is insufficient, respond with 'Unanswerable'.",
    "If the question cannot be answered, say unanswerable.",
    "Please reason step by step, and put your final answer within \\boxed{}.",
    "Output the thinking process in <think> </think> and final answer in <answer> </answer> tags.",
    "Think step by step.",
    "Let's think step by step.",
    "You are a helpful assistant.",
    "请用一个词或短语回答问题。",
    "请用单个词或短语回答问题。",
    "请简短回答。",
    "请直接回答。",
    "请回答问题。",
    "请直接给出简短答案。",
    "请根据图片回答问题。",
    "请仅用图片中的文字作答。",
    "请用单个词语或短语回答以下问题。",
)
"""Instructions that are taken away before and after a question, case and punctuation aside."""

_LABELS = re.compile(
    r"^[\s*#]*(?:question|query|q|user|human|instruction|input|问题|问|用户)[ \t]*\d*[ \t*]*[:：]"
    r"|(?:(?:the )?(?:short )?answer(?: is)?|a|assistant|gpt|response|output|答案|答|回答)"
    r"[ \t*]*[:：][\s*]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Labels before a question at the start of a line, and cues for the answer at the end of one."""

_TAGS = re.compile(
    r"<img>.*?</img>|<\|?/?[a-z_][\w :/-]{0,40}\|?>|\[/?INST\]|!\[[^\]]*\]\([^)]*\)|Picture \d+:",
    re.DOTALL | re.IGNORECASE,
)
_BREAKS = re.compile(r"[\r\n]+|(?<=[.!?;:])(?:\s+|(?=[^\x00-\x7f]))|(?<=[。！？；：])")
_MOST_PARTS = 200
_JOINED_PARTS = 3
"""A question of several sentences is looked for in so many parts that follow each other."""

_LEAST_WORDS = 4
"""Least number of words of a test question that is looked for anywhere in a text."""

_GOES_ON = re.compile(
    r"please|answer|provide|give|reply|respond|output|keep|write|return|think|let|just"
    r"|(?:请|只|用|仅|不|勿|根据|直接|尽).*|.*(?:答|解释|输出|给出).*"
)
"""Words after which what follows a question is an instruction, no longer the question."""

_WORD = re.compile(r"[\u3400-\u9fff]+|[^\s\u3400-\u9fff]+")
"""A word of a normalised text. Chinese after or before Latin letters is a word of its own."""

_LEAST_PART = 8
"""Minimum length of a line or sentence that is compared separately."""


@dataclass(frozen=True, slots=True)
class QuestionMatch:
    """A training question that is (nearly) a test question.

    Attributes:
        where: File and record.
        question: The training question as it is.
        test_question_id: The test question; of several equal ones, one whose answer is given.
        how: ``whole text``, ``without instructions``, ``part of the text`` (a line, a sentence
            or several) or ``similar``.
        similarity: 0 to 100; 100 for equal text.
        same_answer: Whether the training answer is one of the test answers.
        removed: The instructions that were removed for the match, without case and punctuation.
    """

    where: str
    question: str
    test_question_id: str
    how: str
    similarity: float
    same_answer: bool
    removed: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """Text without marks of images and roles, labels, case, punctuation and needless blanks."""
    text = _LABELS.sub(" ", _TAGS.sub(" ", text))
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in text).split())


_INSTRUCTIONS = tuple(sorted(map(normalised, INSTRUCTIONS), key=len, reverse=True))


def without_instructions(key: str) -> str:
    """A normalised text without instructions at its start and its end."""
    return split_instructions(key)[0]


def split_instructions(key: str) -> tuple[str, tuple[str, ...]]:
    """A normalised text without instructions at its ends, and the instructions removed."""
    removed: list[str] = []
    while True:
        found = next((one for one in _cuts(key) if one[0]), None)
        if found is None:
            return key, tuple(removed)
        key, instruction = found
        removed.append(instruction)


def _cuts(key: str) -> Iterator[tuple[str, str]]:
    """What is left of a text without one instruction at its start or end, and the instruction."""
    for known in _INSTRUCTIONS:
        # Chinese is written without blanks.
        loose = not known.isascii()
        if key.startswith(known) and (key[len(known) :][:1] in ("", " ") or loose):
            yield key[len(known) :].strip(), known
        rest = key[: len(key) - len(known)]
        if key.endswith(known) and (rest[-1:] in ("", " ") or loose):
            yield rest.strip(), known


def parts_of(text: str) -> Iterator[str]:
    """Lines and sentences of a text, and runs of them, normalised and without instructions."""
    parts = [
        key
        for part in _BREAKS.split(_TAGS.sub("\n", text))[:_MOST_PARTS]
        if (key := normalised(part))
    ]
    for start in range(len(parts)):
        for end in range(start + 1, min(start + _JOINED_PARTS, len(parts)) + 1):
            key = without_instructions(" ".join(parts[start:end]))
            if len(key) >= _LEAST_PART or (key and not key.isascii()):
                yield key


class BenchmarkQuestions:
    """The test questions to compare with.

    Attributes:
        subset: The subset of each test question, by its id.
        by_subset: Number of test questions, by subset.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.subset: dict[str, str] = {}
        self._ids: dict[str, list[str]] = {}
        self._answers: dict[str, set[str]] = {}
        for record in records:
            self.subset[record.question_id] = record.subset
            key = without_instructions(normalised(record.question))
            self._ids.setdefault(key, []).append(record.question_id)
            answers = self._answers.setdefault(record.question_id, set())
            answers.update(map(_bare_answer, record.answers))
        self.by_subset = dict(Counter(self.subset.values()))
        self._known = list(self._ids)
        self._starts: dict[tuple[str, ...], list[str]] = {}
        for key in self._known:
            words = tuple(_WORD.findall(key))
            if len(words) >= _LEAST_WORDS:
                self._starts.setdefault(words[:_LEAST_WORDS], []).append(key)

    def find(
        self, questions: Sequence[tuple[str, str, tuple[str, ...]]]
    ) -> Iterator[tuple[QuestionMatch, set[str]]]:
        """Compare training questions with the test questions.

        Args:
            questions: Where each is (file and record), the question, its answers.

        Yields:
            The matches, each with the ids of the test questions whose answer is given as well.
        """
        left = []
        for where, question, answers in questions:
            how, keys, removed = self._equal(question)
            if keys:
                match, ids = self._match(where, question, answers, keys, how, 100.0)
                yield replace(match, removed=removed), ids
            elif key := without_instructions(normalised(question)):
                left.append((where, question, answers, key))
        if not left or not self._known:
            return
        keys = [key for *_, key in left]
        ratios = process.cdist(keys, self._known, scorer=fuzz.ratio, score_cutoff=SIMILAR)
        best = ratios.argmax(axis=1).tolist()
        for row, (column, (where, question, answers, _)) in enumerate(zip(best, left, strict=True)):
            if similarity := float(ratios[row, column]):
                near = [self._known[column]]
                yield self._match(where, question, answers, near, NEAR, round(similarity, 1))

    def _equal(self, question: str) -> tuple[str, list[str], tuple[str, ...]]:
        """How the text equals test questions, their keys, and the instructions removed."""
        whole = normalised(question)
        if whole in self._ids:
            return WHOLE, [whole], ()
        bare, removed = split_instructions(whole)
        if bare in self._ids:
            return STRIPPED, [bare], removed
        parts = dict.fromkeys(key for key in parts_of(question) if key in self._ids)
        if not parts:
            lines = map(normalised, _BREAKS.split(question)[:_MOST_PARTS])
            parts = dict.fromkeys(key for line in lines for key in self._inside(line))
        return PART, list(parts), ()

    def _inside(self, line: str) -> Iterator[str]:
        """Test questions at the end of a line, or before an instruction in it."""
        words = _WORD.findall(line)
        for start in range(len(words) - _LEAST_WORDS + 1):
            for key in self._starts.get(tuple(words[start : start + _LEAST_WORDS]), ()):
                asked = _WORD.findall(key)
                after = words[start + len(asked) :][:1]
                if words[start : start + len(asked)] == asked and (
                    not after or _GOES_ON.fullmatch(after[0])
                ):
                    yield key

    def _match(
        self,
        where: str,
        question: str,
        answers: Iterable[str],
        keys: Sequence[str],
        how: str,
        similarity: float,
    ) -> tuple[QuestionMatch, set[str]]:
        given = {
            _bare_answer(text) for answer in answers for text in (answer, *answer.splitlines())
        }
        ids = [question_id for key in keys for question_id in self._ids[key]]
        same = [question_id for question_id in ids if given & self._answers[question_id]]
        first = same[0] if same else ids[0]
        return QuestionMatch(where, question, first, how, similarity, bool(same)), set(same)


def _bare_answer(answer: str) -> str:
    return answer.strip().removesuffix(".").strip().casefold()
