"""Diagnostics of ours, beside the paper's metrics: they show what containment hides.

Token boundaries follow the spirit of Unicode word segmentation (UAX #29): letters and digits
that touch form one token, a full stop or comma between two digits belongs to the number, a
combining mark belongs to the character before it, and in scripts written without spaces every
character is a token.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right

__all__ = ["is_word_match", "length_ratio"]

# Scripts written without spaces: first code points, and the ones after the last.
_SPACELESS = (
    (0x0E00, 0x0F00),  # Thai, Lao
    (0x1000, 0x10A0),  # Myanmar
    (0x1780, 0x1800),  # Khmer
    (0x1950, 0x19E0),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AB0),  # Tai Tham
    (0x2E80, 0x2FE0),  # CJK radicals
    (0x3005, 0x3130),  # CJK marks, Hiragana, Katakana, Bopomofo
    (0x31A0, 0x3200),  # Bopomofo and Katakana extensions
    (0x3400, 0x4DC0),  # CJK extension A
    (0x4E00, 0xA000),  # CJK unified ideographs
    (0xF900, 0xFB00),  # CJK compatibility ideographs
    (0xFF66, 0xFFA0),  # half-width Katakana
    (0x1B000, 0x1B170),  # Kana supplement and extensions
    (0x20000, 0x40000),  # CJK extensions B and later
)
_STARTS = [start for start, _ in _SPACELESS]


def is_word_match(text: str, answer: str) -> bool:
    """True if `answer` occurs in `text` with a token boundary on either side.

    Both are lower-cased already. "0g" in "10g" and "5" in "1.5" are no word matches, "12g" in
    "12g." and "12" in "12个月" are.
    """
    start = text.find(answer)
    while start >= 0:
        if _is_boundary(text, start) and _is_boundary(text, start + len(answer)):
            return True
        start = text.find(answer, start + 1)
    return False


def length_ratio(prediction: str, matched_answer: str | None) -> float | None:
    """Length of the output over that of the matched answer, in code points; None without one."""
    return None if matched_answer is None else len(prediction) / len(matched_answer)


def _is_boundary(text: str, index: int) -> bool:
    """True unless `text[index - 1]` and `text[index]` belong to one token."""
    if index == 0 or index == len(text):
        return True
    right = text[index]
    if _extends(right):
        return False
    if _in_number(text, index - 1) or _in_number(text, index):
        return False
    return not (_in_run(_base(text, index - 1)) and _in_run(right))


def _in_number(text: str, index: int) -> bool:
    """True if `text[index]` is a full stop or comma with a digit on either side."""
    return (
        text[index] in ".,\uff0e\uff0c"
        and 0 < index < len(text) - 1
        and text[index - 1].isdigit()
        and text[index + 1].isdigit()
    )


def _base(text: str, index: int) -> str:
    """The character that the combining marks ending at `index` belong to."""
    while index > 0 and _extends(text[index]):
        index -= 1
    return text[index]


def _extends(char: str) -> bool:
    return char == "\u200d" or (not char.isascii() and unicodedata.category(char)[0] == "M")


def _in_run(char: str) -> bool:
    """True if touching characters of this kind form one token."""
    return char.isalnum() and (char.isdigit() or not _is_spaceless(char))


def _is_spaceless(char: str) -> bool:
    place = bisect_right(_STARTS, ord(char)) - 1
    return place >= 0 and ord(char) < _SPACELESS[place][1]
