"""Which script a text is written in."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

OTHER = "other"
LATIN = "Latin"

_SCRIPTS = (
    ("CJK", "Han"),
    ("HIRAGANA", "Kana"),
    ("KATAKANA", "Kana"),
    ("HANGUL", "Hangul"),
    ("CYRILLIC", "Cyrillic"),
    ("ARABIC", "Arabic"),
    ("HEBREW", "Hebrew"),
    ("GREEK", "Greek"),
    ("DEVANAGARI", "Devanagari"),
    ("THAI", "Thai"),
    ("LATIN", "Latin"),
    ("FULLWIDTH LATIN", "Latin"),
)
"""Beginnings of Unicode character names and the script that each stands for."""


def script_of(char: str) -> str:
    """Return the script of a letter, ``other`` for one that the table does not hold."""
    return LATIN if char.isascii() else _script_of(char)


@lru_cache(maxsize=10_000)
def _script_of(char: str) -> str:
    name = unicodedata.name(char, "")
    return next((script for start, script in _SCRIPTS if name.startswith(start)), OTHER)


def letters(text: str) -> Counter[str]:
    """Return the number of letters of each script in a text."""
    counts: Counter[str] = Counter()
    for char, count in Counter(text).items():
        if char.isalpha():
            counts[script_of(char)] += count
    return counts


def main_script(text: str) -> str | None:
    """Return the script of most letters of a text (the first of equal ones), None without any."""
    if text.isascii():
        return LATIN if any(map(str.isalpha, text)) else None
    counts = letters(text)
    return max(counts, key=lambda script: counts[script]) if counts else None
