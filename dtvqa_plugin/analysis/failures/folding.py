"""Text with its form taken away: width, case, blanks, punctuation, units, number marks.

Two texts that fold alike say the same; the metric's strictness alone tells them apart. Folding
gives tokens: numbers, words, single characters of scripts without spaces, and the signs that carry
meaning (``%``, currencies, comparison, a minus before a digit).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from operator import itemgetter

Tokens = tuple[str, ...]

_TOKEN = re.compile(
    r"(?<![\w.)])-(?=\d)"
    r"|\d+(?:[.,']\d+)*|[%€$£¥₩₹<>≤≥+=°]"
    r"|[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\u0e00-\u0e7f]"
    r"|(?:(?![\d_\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\u0e00-\u0e7f])\w)+"
)
_LAST = itemgetter(-1)
_PLAIN_WORDS = re.compile(r"[a-z ]*")
_DIGIT = re.compile(r"\d")
_THOUSANDS = re.compile(r"\d{1,3}(?:[,.']\d{3})+")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:[.']\d{3})+,\d+|\d{1,3}(?:'\d{3})+\.\d+")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
_MARKS = re.compile(r"[,.']")
_THOUSANDS_BLANK = re.compile(r"(?<![\d.,])(\d{1,3})((?: \d{3})+)(?![\d.,])")

_UNITS = {
    "g": ("gram", "grams", "gramme", "grammes", "克"),
    "mg": ("milligram", "milligrams", "毫克"),
    "µg": ("mcg", "ug", "microgram", "micrograms", "微克", "μg"),
    "kg": ("kilogram", "kilograms", "千克", "公斤"),
    "ml": ("millilitre", "millilitres", "milliliter", "milliliters", "毫升"),
    "l": ("litre", "litres", "liter", "liters", "升"),
    "kj": ("kilojoule", "kilojoules", "千焦"),
    "kcal": ("kilocalorie", "kilocalories", "千卡", "大卡"),
    "cal": ("calorie", "calories", "卡"),
    "%": ("percent", "per cent", "pct"),
    "v": ("volt", "volts", "伏"),
    "w": ("watt", "watts", "瓦"),
    "mm": ("millimetre", "millimetres", "millimeter", "millimeters", "毫米"),
    "cm": ("centimetre", "centimetres", "centimeter", "centimeters", "厘米"),
    "m": ("metre", "metres", "meter", "meters", "米"),
    "km": ("kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米"),
    "oz": ("ounce", "ounces", "盎司"),
    "lb": ("lbs", "pound", "pounds", "磅"),
    "month": ("months", "mo", "个月"),
    "year": ("years", "yr", "yrs"),
    "day": ("days", "天"),
    "hour": ("hours", "hr", "hrs", "h", "小时"),
    "minute": ("minutes", "min", "mins", "分钟"),
    "week": ("weeks", "wk", "wks", "周"),
    "yuan": ("元", "rmb", "cny"),
}
_SIGNS = (" -", " <", " >", " ≤", " ≥")
_CURRENCIES = ("€", "$", "£", "¥", "₩", "₹")
_SPELLINGS: dict[Tokens, str] = {}


def tokens_of(text: str) -> Tokens:
    """The tokens of a text, units in one spelling where they follow a number."""
    return _with_units(_raw(text))


folded = lru_cache(maxsize=100_000)(tokens_of)
"""`tokens_of` for texts that are folded again and again: outputs and reference answers."""


@lru_cache(maxsize=100_000)
def squeezed(text: str) -> str:
    """A text without case, width, blanks and punctuation, for counting edits."""
    return "".join(_raw(text))


def is_form_only(text: str, answer: str) -> bool:
    """Whether a text says the answer and nothing else, in another form.

    A unit or currency that only one of the two has is form as well (``12`` and ``12 g``); another
    unit (``12 mg``) or sign (``<12 g``) is not.
    """
    said, wanted = folded(text), folded(answer)
    if not said or not wanted:
        return False
    if "".join(said) == "".join(wanted) or _without_unit(said) == _without_unit(wanted) != ():
        return not _units_differ(said, wanted)
    return False


def contains(tokens: Tokens, part: Tokens) -> bool:
    """Whether ``part`` occurs in ``tokens`` without a gap, and without a sign before it."""
    text, wanted = f" {' '.join(tokens)} ", f" {' '.join(part)} "
    start = text.find(wanted)
    while start >= 0:
        if not text[:start].endswith(_SIGNS):
            return True
        start = text.find(wanted, start + 1)
    return False


def _raw(text: str) -> Tokens:
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKC", text).casefold()
        text = text.replace("\u2212", "-").replace("–", "-")
    if _PLAIN_WORDS.fullmatch(text):
        return tuple(text.split())
    text = text.replace("&", " and ")
    if not _DIGIT.search(text):
        return tuple(_TOKEN.findall(text))
    if " " in text:
        text = _THOUSANDS_BLANK.sub(lambda match: match[1] + match[2].replace(" ", ""), text)
    return tuple(" ".join(map(_number, _TOKEN.findall(text))).split())


def _number(token: str) -> str:
    """A number without thousands marks, with a full stop, without needless zeros.

    One with several marks that are none of thousands, such as a date, becomes several numbers.
    """
    if not token[0].isdigit():
        return token
    if _THOUSANDS.fullmatch(token) and not (token.startswith("0") or token.count(".") == 1):
        return _MARKS.sub("", token)
    decimal = _DECIMAL.fullmatch(token)
    if decimal:
        rest = decimal[2].rstrip("0")
        return f"{decimal[1]}.{rest}" if rest else decimal[1]
    if _GROUPED.fullmatch(token):
        mark = max(token.rfind("."), token.rfind(","))
        whole, rest = _MARKS.sub("", token[:mark]), token[mark + 1 :].rstrip("0")
        return f"{whole}.{rest}" if rest else whole
    return _MARKS.sub(" ", token)


def _with_units(tokens: Tokens) -> Tokens:
    if not _SPELLINGS:
        for unit, names in _UNITS.items():
            _SPELLINGS.update({_raw(name): unit for name in names})
    if not any(map(str.isdigit, map(_LAST, tokens[:-1]))):
        return tokens
    result: list[str] = []
    place = 0
    while place < len(tokens):
        step = 1
        unit = tokens[place]
        if result and result[-1][-1].isdigit():
            for length in (3, 2, 1):
                spelled = _SPELLINGS.get(tokens[place : place + length])
                if spelled is not None:
                    unit, step = spelled, length
                    break
        result.append(unit)
        place += step
    return tuple(result)


def _without_unit(tokens: Tokens) -> Tokens:
    """A single amount without its unit or currency; () for anything else."""
    kept = tuple(token for token in tokens if token not in _CURRENCIES and token not in _UNITS)
    return kept if len(kept) == 1 and kept[0][0].isdigit() else ()


def _units_differ(said: Tokens, wanted: Tokens) -> bool:
    mine, theirs = (
        {token for token in tokens if token in _CURRENCIES or token in _UNITS}
        for tokens in (said, wanted)
    )
    return bool(mine and theirs and mine != theirs) and "".join(said) != "".join(wanted)
