"""Words as the reader compares them: case, accents, plurals and number forms levelled."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|[\u3400-\u9fff\uf900-\ufaff]+|[^\W\d_\u3400-\u9fff\uf900-\ufaff]+"
)
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_ORDINAL_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")

_NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(
        (
            ("first", "one"),
            ("second", "two"),
            ("third", "three"),
            ("fourth", "four"),
            ("fifth", "five"),
            ("sixth", "six"),
            ("seventh", "seven"),
            ("eighth", "eight"),
            ("ninth", "nine"),
            ("tenth", "ten"),
            ("eleventh", "eleven"),
            ("twelfth", "twelve"),
            ("thirteenth", "thirteen"),
            ("fourteenth", "fourteen"),
            ("fifteenth", "fifteen"),
            ("sixteenth", "sixteen"),
        ),
        start=1,
    )
    for word in words
}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_FORMS = {form: month[:3] for month in _MONTHS for form in (month, month[:3])} | {
    "sept": "sep"
}

_STOP_WORDS = (
    "a an the of in on at to for from by with and or as is was are were be been did do does has "
    "have had that which who whom whose what when where how there this it its their his her they "
    "many much s per during between against into image text table shown given listed list "
    "according mentioned"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Words that heads and labels use for one another.
_CONCEPTS = (
    "team club side squad school",
    "player name driver rider golfer athlete person swimmer wrestler boxer skater pilot member",
    "country nation nationality",
    "location venue place site stadium ground city arena circuit course",
    "score result final",
    "attendance crowd spectator attended",
    "position pos rank place finish finished standing placed ranking",
    "point pts score",
    "win won w victory",
    "lose loss lost l defeat",
    "draw drawn tied tie d",
    "round rd",
    "year season",
    "title episode name",
    "opponent against opposition visitor",
    "time duration length",
    "candidate incumbent winner",
    "writer written wrote author",
    "director directed direct",
    "constructor manufacturer chassis",
    "price cost",
    "built completed opened year",
    "viewer audience rating",
    "number no num",
    "calorie calory energy kcal",
    "carbohydrate carb",
    "fibre fiber",
    "sodium salt",
)
_NEARLY = 85.0
_CONCEPT_OF: dict[str, set[int]] = {}


def tokens(text: str) -> tuple[str, ...]:
    """Comparable words of `text`, in order: "October 16th, 12g" gives oct, 16, 12, g.

    Chinese runs become overlapping pairs of characters, having no spaces to go by.
    """
    return _tokens(text)


@lru_cache(maxsize=65536)
def _tokens(text: str) -> tuple[str, ...]:
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
    """`tokens` without words that carry no meaning of their own."""
    return tuple(word for word in tokens(text) if word not in STOP_WORDS)


def alike(a: str, b: str) -> float:
    """How far two levelled words mean the same: 1 equal, 0.8 nearly or by concept, 0 not."""
    if a == b:
        return 1.0
    if len(a) > 3 and len(b) > 3 and not a[0].isdigit() and fuzz.ratio(a, b) >= _NEARLY:
        return 0.8
    if _CONCEPT_OF.get(a, set()) & _CONCEPT_OF.get(b, set()):
        return 0.8
    return 0.0


def _level(word: str) -> str:
    word = _NUMBER_WORDS.get(word, _MONTH_FORMS.get(word, word))
    if word[0].isdigit():
        return _THOUSANDS.sub("", word).lstrip("0") or "0"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


for _index, _group in enumerate(_CONCEPTS):
    for _word in _group.split():
        _CONCEPT_OF.setdefault(_level(_word), set()).add(_index)
