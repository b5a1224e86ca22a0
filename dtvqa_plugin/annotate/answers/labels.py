"""The words that mark questions and answers: one table, which a project's config can extend."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

QUESTIONS = (
    *("question text", "questions", "question", "ques", "q", "query", "user", "human", "input"),
    *("instruction", "prompt", "问题", "提问", "问", "問題", "提問", "問", "質問", "설문", "질문"),
    *(
        "문제",
        "문",
        "题目",
        "題目",
        "题",
        "câu",
        "السؤال",
        "سؤال",
        "pregunta",
        "cuestión",
        "frage",
        "domanda",
        "pergunta",
    ),
    *("questão", "vraag", "pytanie", "вопрос", "питання", "otázka", "fråga", "spørgsmål"),
    *("spørsmål", "kysymys", "ερώτηση", "soru", "kérdés", "întrebare", "câu hỏi", "pertanyaan"),
    *(
        "प्रश्न",
        "คำถาม",
        "שאלה",
        "pitanje",
        "въпрос",
        "cwestiwn",
        "klausimas",
        "jautājums",
        "küsimus",
    ),
)
ANSWERS = (
    *("short answer", "correct answer", "final answer", "expected answer", "answer text"),
    *("ground truth", "answers", "answer", "ans", "a", "response", "assistant", "gpt", "output"),
    *(
        "completion",
        "标准答案",
        "正确答案",
        "答案",
        "回答",
        "答",
        "正確答案",
        "答え",
        "解答",
        "正解",
    ),
    *("답변", "정답", "대답", "답", "الجواب", "جواب", "الإجابة", "إجابة", "respuesta", "réponse"),
    *("reponse", "antwort", "risposta", "resposta", "antwoord", "odpowiedź", "ответ", "відповідь"),
    *("odpověď", "odpoveď", "svar", "vastaus", "απάντηση", "cevap", "yanıt", "válasz", "răspuns"),
    *("trả lời", "đáp án", "jawaban", "उत्तर", "คำตอบ", "תשובה", "odgovor", "отговор", "atsakymas"),
)
NOTES = (
    *("explanation", "reasoning", "reason", "rationale", "evidence", "location", "source", "type"),
    *("category", "difficulty", "confidence", "note", "options", "choices", "justification"),
    *(
        "选项",
        "解释",
        "理由",
        "说明",
        "位置",
        "类型",
        "备注",
        "難度",
        "難易度",
        "説明",
        "解説",
        "根拠",
        "설명",
    ),
    *(
        "이유",
        "근거",
        "위치",
        "explicación",
        "explication",
        "erklärung",
        "begründung",
        "spiegazione",
    ),
    *("explicação", "uitleg", "wyjaśnienie", "пояснение", "объяснение", "الشرح", "التفسير"),
)
INITIALS = (
    ("P", "R"),
    ("F", "A"),
    ("D", "R"),
    ("В", "О"),
    ("Q", "R"),
    ("V", "A"),
    ("S", "C"),
    ("س", "ج"),
)
"""First letters that mark both sides in a language. Read only where the words find nothing."""

_MARKS = r"[*_`]{0,3}"
NUMERAL = r"\d{1,3}(?:\.\d{1,2})?|[ivx]{1,5}"
CIRCLED = "\u2460-\u2473\u2776-\u2793"
"""Numbers in circles, as one character."""
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LEAD = (
    r"[ \t>]{0,40}(?:(?:[-*•+–▪◦·]|\#{1,6}|\[[ xX]\])[ \t]{1,9}){0,3}"
    r"(?:[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]{1,4}[ \t]{0,4})?"
    r"(?:\d\ufe0f?\u20e3[ \t]{0,4})?"
    rf"(?P<o1>[*_]{{0,3}})(?:[(\[]?(?P<item>{NUMERAL})[.):、\]/][*_]{{0,3}}[ \t]{{0,9}}|"
    rf"(?P<circled>[{CIRCLED}])[ \t]{{0,9}})?"
)
_NUMBER = (
    r"(?:[ \t]{0,3}(?:\#|no\.?|č\.|nr\.?|n[º°]|№|[-_.](?=\d))?[ \t]{0,3}"
    rf"(?P<num>\d{{1,3}}[a-z]?|[一二三四五六七八九十]{{1,3}}|(?<=[ \t])(?:{'|'.join(_WORDS)})\b)"
    r"(?:[ \t]?(?:/|of)[ \t]?\d{1,3})?)?"
)
_ASIDE = r"(?:[ \t]{0,3}[(\[][^()\[\]\n]{1,30}[)\]])?"


@dataclass(frozen=True)
class Labels:
    """Words for questions, answers and notes (explanations, options and the like)."""

    questions: tuple[str, ...] = QUESTIONS
    answers: tuple[str, ...] = ANSWERS
    notes: tuple[str, ...] = NOTES

    def extended(
        self, questions: Iterable[str] = (), answers: Iterable[str] = (), notes: Iterable[str] = ()
    ) -> Labels:
        """These labels and more."""
        return Labels(
            (*questions, *self.questions), (*answers, *self.answers), (*notes, *self.notes)
        )

    @cached_property
    def line(self) -> re.Pattern[str]:
        """A label at the start of a line, with what leads up to it."""
        return re.compile(rf"{_LEAD}{self._label}", re.IGNORECASE)

    @cached_property
    def inline(self) -> re.Pattern[str]:
        """A question's or answer's label within a line."""
        return re.compile(
            rf"(?<!\w)(?P<o1>)(?P<item>(?!))?(?P<circled>(?!))?{self._label}", re.IGNORECASE
        )

    @property
    def _label(self) -> str:
        return (
            rf"(?P<open>[*_`\[(【「<]{{0,4}})(?:(?P<q>{_any(self.questions)})|"
            rf"(?P<a>{_any(self.answers)})|(?P<n>{_any(self.notes)})){_NUMBER}{_ASIDE}"
            rf"(?P<close>[*_`\])】」>]{{0,4}})(?P<sep>[ \t\u00a0\u202f]{{0,3}}"
            rf"(?:[:=、→]|>(?=\s)|\ufe0f?\u20e3|->|=>|[.)](?=\s|[*_]|\Z|[^\x00-\x7f])|[-–—](?=\s)))?(?P<after>{_MARKS})"
        )

    def side(self, key: str) -> tuple[str, int | None] | None:
        """``("q" or "a", number)`` of a JSON key, a tag or a table's heading; None for others."""
        text = unicodedata.normalize("NFKC", key).strip(" \t*_`\"'").casefold()
        match = re.fullmatch(r"(.*?)[ _#-]{0,3}(\d{0,3})", text)
        if match is None:
            return None
        word = match[1].replace("_", " ").replace("-", " ").strip()
        number = int(match[2]) if match[2] else None
        if word in self._question_words:
            return "q", number
        return ("a", number) if word in self._answer_words else None

    @cached_property
    def _question_words(self) -> frozenset[str]:
        return frozenset(_folded(self.questions))

    @cached_property
    def _answer_words(self) -> frozenset[str]:
        return frozenset(_folded(self.answers))


DEFAULT = Labels()


def number_of(text: str | None) -> int | None:
    """The number of a label or an item, in any digits, small Chinese numerals or words."""
    if not text:
        return None
    if text.casefold() in _WORDS:
        return _WORDS.index(text.casefold()) + 1
    if re.fullmatch(r"[ivx]+", text, re.IGNORECASE):
        return _roman(text.casefold())
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").rpartition(".")[2]
    if digits.isdecimal():
        return int(digits)
    if len(text) == 1 and text.isdigit():
        return unicodedata.digit(text)
    tens, _, ones = text.rpartition("十")
    values = "零一二三四五六七八九"
    if "十" not in text:
        return values.find(text) if len(text) == 1 and text in values else None
    return 10 * (values.find(tens) if tens else 1) + (values.find(ones) if ones else 0)


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10}[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-one if one < then else one for one, then in zip(values, following, strict=True))


def _any(words: tuple[str, ...]) -> str:
    longest_first = sorted(set(words), key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"[ _]") for word in longest_first)


def _folded(words: tuple[str, ...]) -> Iterable[str]:
    return (unicodedata.normalize("NFKC", word).casefold() for word in words)
