"""Words as the reader compares them: case, accents, plurals and number forms levelled."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

from dtvqa_plugin.ocr.answering.lexicon import CONCEPTS, STOP_WORDS

_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|[\u3400-\u9fff\uf900-\ufaff]+|[^\W\d_\u3400-\u9fff\uf900-\ufaff]+|%"
)
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_ORDINAL_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")

_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *(
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
    ),
)
_CARDINALS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
)
_NUMBER_WORDS = {
    word: str(number)
    for words in (_ORDINALS, _CARDINALS)
    for number, word in enumerate(words, start=1)
}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_FORMS = {form: month[:3] for month in _MONTHS for form in (month, month[:3])} | {
    "sept": "sep"
}

_NEARLY = 85.0


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Comparable words of `text`, in order: "October 16th, 12g" gives oct, 16, 12, g.

    Chinese runs become overlapping pairs of characters, having no spaces to go by.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = _ORDINAL_SUFFIX.sub("", plain)
    found: list[str] = []
    for word in _TOKEN.findall(plain):
        if _CJK.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        else:
            found.append(_level(word))
    return tuple(found)


def content(text: str) -> tuple[str, ...]:
    """`tokens` without words that carry no meaning."""
    return tuple(word for word in tokens(text) if word not in STOP_WORDS)


def alike(a: str, b: str) -> float:
    """How far two levelled words mean the same: 1 equal, 0.8 nearly or by concept, 0 not."""
    if a == b:
        return 1.0
    if len(a) > 3 and len(b) > 3 and not a[0].isdigit() and fuzz.ratio(a, b) >= _NEARLY:
        return 0.8
    return 0.8 if _CONCEPTS_OF.get(a, _NONE) & _CONCEPTS_OF.get(b, _NONE) else 0.0


def _level(word: str) -> str:
    word = _NUMBER_WORDS.get(word, _MONTH_FORMS.get(word, word))
    if word[0].isdigit():
        return _THOUSANDS.sub("", word).lstrip("0") or "0"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _concepts_of_words() -> dict[str, frozenset[int]]:
    concepts: dict[str, frozenset[int]] = {}
    for index, group in enumerate(CONCEPTS):
        for word in map(_level, group.split()):
            concepts[word] = concepts.get(word, frozenset()) | {index}
    return concepts


_NONE: frozenset[int] = frozenset()
_CONCEPTS_OF = _concepts_of_words()
