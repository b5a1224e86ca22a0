"""Other ways to write an answer, by rules; a person decides which are acceptable.

The metric ignores case and accepts a prediction that contains an answer, so a shorter variant is
also a laxer one, as its reason states.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Variant:
    """A proposal: the text, the rule's name, and why."""

    text: str
    rule: str
    reason: str


UNITS: dict[str, tuple[str, str]] = {
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "kg": ("kilogram", "kilograms"),
    "µg": ("microgram", "micrograms"),
    "mcg": ("microgram", "micrograms"),
    "ml": ("milliliter", "milliliters"),
    "cl": ("centiliter", "centiliters"),
    "l": ("liter", "liters"),
    "mm": ("millimeter", "millimeters"),
    "cm": ("centimeter", "centimeters"),
    "m": ("meter", "meters"),
    "km": ("kilometer", "kilometers"),
    "kcal": ("kilocalorie", "kilocalories"),
    "kj": ("kilojoule", "kilojoules"),
    "oz": ("ounce", "ounces"),
    "lb": ("pound", "pounds"),
    "h": ("hour", "hours"),
    "min": ("minute", "minutes"),
    "s": ("second", "seconds"),
    "w": ("watt", "watts"),
    "v": ("volt", "volts"),
}
_CHINESE_UNITS = {"毫克": "mg", "克": "g", "千克": "kg", "公斤": "kg", "毫升": "ml", "升": "l"}
_CHINESE_UNITS |= {
    "厘米": "cm",
    "毫米": "mm",
    "米": "m",
    "公里": "km",
    "千焦": "kJ",
    "千卡": "kcal",
}
_NUMBER = r"[-+]?\d+(?:[.,]\d+)*"
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def propose(answers: Sequence[str]) -> list[Variant]:
    """Variants that the answers lack, each text once, in the rules' order."""
    taken = set(answers)
    found: list[Variant] = []
    for answer in answers:
        for rule in _RULES:
            for variant in rule(answer):
                text = " ".join(variant.text.split())
                if text and text not in taken:
                    taken.add(text)
                    found.append(Variant(text, variant.rule, variant.reason))
    return found


def _number_and_unit(answer: str) -> Iterator[Variant]:
    match = re.fullmatch(rf"({_NUMBER})(\s*)([^\W\d_]+\.?|°[CF]?)", answer.strip())
    if match is None:
        return
    number, space, unit = match.groups()
    bare = unit.rstrip(".")
    known = UNITS.get(bare.lower())
    chinese = _CHINESE_UNITS.get(bare)
    if known or chinese or bare.startswith("°"):
        other = f"{number}{bare}" if space else f"{number} {bare}"
        yield Variant(other, "unit-space", "number and unit with and without a blank")
    if known:
        singular = number in ("1", "1.0")
        yield Variant(f"{number} {known[0 if singular else 1]}", "unit-name", f"{bare} written out")
    if chinese:
        yield Variant(f"{number}{chinese}", "unit-name", f"{bare} is {chinese}")
        yield Variant(f"{number} {chinese}", "unit-name", f"{bare} is {chinese}, with a blank")
    for short, names in UNITS.items():
        if bare.lower() in names and short not in ("mcg",):
            yield Variant(f"{number} {short}", "unit-name", f"{bare} is {short}")
            yield Variant(f"{number}{short}", "unit-name", f"{bare} is {short}, no blank")


def _percent(answer: str) -> Iterator[Variant]:
    match = re.fullmatch(rf"({_NUMBER})(\s*)(%|％|percent|per cent)", answer.strip(), re.IGNORECASE)
    if match is None:
        return
    number, space, sign = match.groups()
    if sign in "%％":
        yield Variant(
            f"{number}%" if space else f"{number} %", "percent", "% with and without a blank"
        )
        yield Variant(f"{number} percent", "percent", "% written out")
    else:
        yield Variant(f"{number}%", "percent", "percent as a sign")


def _thousands(answer: str) -> Iterator[Variant]:
    def without(match: re.Match[str]) -> str:
        return re.sub(r"[,' \u00a0\u202f]", "", match.group())

    grouped = r"(?<![\d.,])\d{1,3}(?:(?P<mark>[,' \u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?![\d,])"
    plain = re.sub(grouped, without, answer)
    if plain != answer:
        yield Variant(plain, "thousands", "without thousands marks")
        return
    marked = re.sub(r"(?<![\d.,/:-])\d{5,12}(?![\d/:-])", lambda m: f"{int(m.group()):,}", answer)
    if marked != answer and not re.search(r"(?<!\d)0\d", answer):
        yield Variant(marked, "thousands", "with thousands marks")


def _dates(answer: str) -> Iterator[Variant]:
    found = _as_date(answer.strip())
    if found is None:
        return
    day, month, year = found.day, found.month, found.year
    name = _MONTHS[month - 1]
    reason = f"the same date, {found.isoformat()}"
    for text in (
        f"{name} {day}, {year}",
        f"{day} {name} {year}",
        f"{name[:3]} {day}, {year}",
        found.isoformat(),
        f"{year}年{month}月{day}日",
    ):
        yield Variant(text, "date", reason)


def _as_date(text: str) -> date | None:
    """A date that can be read in one way only (03/04/2021 cannot)."""
    match = re.fullmatch(
        r"(\d{4})\s*(?:[-./]|年)\s*(\d{1,2})\s*(?:[-./]|月)\s*(\d{1,2})\s*日?", text
    )
    if match:
        return _date(*(int(part) for part in match.groups()))
    match = re.fullmatch(r"(\d{1,2})[-./](\d{1,2})[-./](\d{4})", text)
    if match:
        first, second, year = (int(part) for part in match.groups())
        if first > 12 >= second:
            return _date(year, second, first)
        return _date(year, first, second) if second > 12 >= first else None
    match = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})", text)
    if match and _month(match.group(2)):
        return _date(int(match.group(3)), _month(match.group(2)), int(match.group(1)))
    match = re.fullmatch(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})", text)
    if match and _month(match.group(1)):
        return _date(int(match.group(3)), _month(match.group(1)), int(match.group(2)))
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month(name: str) -> int:
    names = [month.lower() for month in _MONTHS]
    fits = [n for n, month in enumerate(names, 1) if month.startswith(name.lower())]
    return fits[0] if len(fits) == 1 else 0


def _case(answer: str) -> Iterator[Variant]:
    if len(re.findall(r"[A-Z]", answer)) > 3 and answer.isupper() and " " in answer:
        titled = re.sub(r"[A-Z][A-Z'’]*", lambda m: m.group().capitalize(), answer)
        yield Variant(titled, "case", "in usual case, for readers (the metric ignores case)")


def _brackets(answer: str) -> Iterator[Variant]:
    match = re.fullmatch(r"(.*?\S)\s*[(（\[【]\s*([^()（）\[\]【】]+?)\s*[)）\]】]\s*(.*)", answer)
    if match is None:
        return
    before, inner, after = match.groups()
    if _is_pair(before, inner):
        return
    yield Variant(f"{before} {after}", "brackets", "without what is in brackets (shorter: laxer)")
    yield Variant(f"{before} {inner} {after}", "brackets", "without the brackets themselves")


def _two_languages(answer: str) -> Iterator[Variant]:
    """``苹果 (apple)``, ``apple / 苹果``, ``苹果 apple``: each side is an answer."""
    match = re.fullmatch(r"(.+?)\s*[(（]\s*(.+?)\s*[)）]", answer) or re.fullmatch(
        r"(.+?)\s*[/／|]\s*(.+)", answer
    )
    if match is None:
        match = re.fullmatch(r"([\u4e00-\u9fff]+)\s+([A-Za-z][A-Za-z .'-]*)", answer)
        match = match or re.fullmatch(r"([A-Za-z][A-Za-z .'-]*)\s+([\u4e00-\u9fff]+)", answer)
    if match is not None and _is_pair(match.group(1), match.group(2)):
        for side in match.groups():
            yield Variant(side, "two-languages", "one of the two languages alone (shorter: laxer)")


def _is_pair(first: str, second: str) -> bool:
    def chinese(text: str) -> bool:
        return bool(re.search(r"[\u4e00-\u9fff]", text))

    def latin(text: str) -> bool:
        return bool(re.search(r"[A-Za-z]{2}", text))

    return (chinese(first) and latin(second) and not chinese(second)) or (
        latin(first) and chinese(second) and not chinese(first)
    )


def _final_stop(answer: str) -> Iterator[Variant]:
    bare = re.sub(r"(?<![A-Z.])[.。]\Z", "", answer)
    if bare != answer and not re.search(r"\b(?:Inc|Ltd|Co|St|Dr|No|Corp)\Z", bare):
        yield Variant(bare, "final-stop", "without the full stop at the end")


def _width(answer: str) -> Iterator[Variant]:
    folded = unicodedata.normalize("NFKC", answer)
    if folded != answer and len(folded) == len(answer):
        yield Variant(folded, "width", "half-width characters")


def _ampersand(answer: str) -> Iterator[Variant]:
    if re.search(r"\w\s*&\s*\w", answer):
        yield Variant(re.sub(r"\s*&\s*", " and ", answer), "ampersand", "& written out")
    elif re.search(r"\band\b", answer):
        yield Variant(re.sub(r"\band\b", "&", answer), "ampersand", "and as a sign")


_RULES: tuple[Callable[[str], Iterator[Variant]], ...] = (
    _number_and_unit,
    _percent,
    _thousands,
    _dates,
    _two_languages,
    _brackets,
    _final_stop,
    _width,
    _ampersand,
    _case,
)
