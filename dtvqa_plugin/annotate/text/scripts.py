"""Which writing a text is in, as far as checks need it."""

from __future__ import annotations

import re
import unicodedata

_SCRIPTS = frozenset(
    [
        "CJK",
        "HIRAGANA",
        "KATAKANA",
        "HANGUL",
        "LATIN",
        "CYRILLIC",
        "GREEK",
        "ARABIC",
        "HEBREW",
        "THAI",
        "DEVANAGARI",
    ]
)
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]")
_WORD = re.compile(r"[^\W_]+(?:[.,'’:/-][^\W_]+)*")


def letters(text: str) -> dict[str, int]:
    """Number of letters by script; Chinese characters and kana count as one script."""
    counts: dict[str, int] = {}
    for char in text:
        if char.isalpha():
            name = unicodedata.name(char, "").split(" ")[0].removesuffix("-COMPATIBILITY")
            name = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "FULLWIDTH": "LATIN"}.get(name, name)
            if name in _SCRIPTS:
                counts[name] = counts.get(name, 0) + 1
    return counts


def main_script(text: str) -> str | None:
    """The script of most letters, a Chinese character weighing as much as three; None without."""
    counts = letters(text)
    counts["CJK"] = 3 * counts.get("CJK", 0)
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def count_words(text: str) -> int:
    """Words; of writing without blanks, two characters count as one."""
    wide = len(_WIDE.findall(text))
    return len(_WORD.findall(_WIDE.sub(" ", text))) + (wide + 1) // 2


def plain(text: str) -> str:
    """For comparisons: compatibility forms folded, case and runs of blanks and signs ignored."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"[^\w%$€£¥°.+]+", " ", folded).split()).strip(". ")
