"""What makes text dense, for each question: sizes, counts, places and kinds.

Numeric features are positive. Those of the image's text and of the answer's place need recognised
text; where it is missing, or no reference answer is found on the image, the value is None.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dtvqa_plugin.analysis.failures.folding import folded
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.data import Record
from dtvqa_plugin.utils.scripts import main_script

Value = float | str | None


@dataclass(frozen=True, slots=True)
class Feature:
    """One property of the questions.

    Attributes:
        name: Short name, for JSON.
        title: Heading, with the unit.
        numeric: Whether values are positive numbers; else they are names of groups.
        values: One value a question, in the order of the records; None where it is not known.
        order: The groups in the order in which they are shown; () for numbers.
    """

    name: str
    title: str
    numeric: bool
    values: tuple[Value, ...]
    order: tuple[str, ...] = ()

    @property
    def known(self) -> int:
        """Number of questions with a value."""
        return sum(value is not None for value in self.values)


KINDS = ("number", "date", "word", "phrase")
POSITIONS = tuple(
    f"{row} {column}"
    for row in ("top", "middle", "bottom")
    for column in ("left", "centre", "right")
)


def features(records: Sequence[Record], pages: Mapping[str, Page]) -> tuple[Feature, ...]:
    """All features of some questions; ``pages`` is the recognised text by image name."""
    on_image = Counter(record.image for record in records)

    def numbers(name: str, title: str, of: Callable[[Record], float | None]) -> Feature:
        return Feature(name, title, True, tuple(of(record) for record in records))

    def groups(
        name: str, title: str, of: Callable[[Record], str | None], order: tuple[str, ...] = ()
    ) -> Feature:
        values = tuple(of(record) for record in records)
        return Feature(name, title, False, values, order or _by_size(values))

    def box_height(record: Record) -> float | None:
        page = pages.get(record.image)
        place = None if page is None else page.best(record.answers)
        return None if place is None else max(1.0, place.box[3] - place.box[1])

    def relative_height(record: Record) -> float | None:
        height = box_height(record)
        return None if height is None else 100.0 * height / pages[record.image].height

    def words(record: Record) -> float | None:
        page = pages.get(record.image)
        return None if page is None or page.words == 0 else float(page.words)

    def megapixels(record: Record) -> float | None:
        page = pages.get(record.image)
        return None if page is None else page.width * page.height / 1e6

    return (
        numbers("words", "words on the image", words),
        numbers("height", "height of the answer's line, pixels", box_height),
        numbers("relative_height", "the same, % of the image's height", relative_height),
        numbers("megapixels", "megapixels of the image", megapixels),
        groups("position", "position of the answer on the image", _position(pages), POSITIONS),
        numbers("length", "length of the answer, characters", lambda r: float(len(r.answers[0]))),
        groups("kind", "kind of answer", lambda r: answer_kind(r.answers[0]), KINDS),
        groups("script", "script of the answer", lambda r: main_script(r.answers[0]) or "none"),
        numbers("questions", "questions on the image", lambda r: float(on_image[r.image])),
    )


def _by_size(values: Sequence[str | None]) -> tuple[str, ...]:
    counts = Counter(value for value in values if value is not None)
    return tuple(name for name, _ in counts.most_common())


def _position(pages: Mapping[str, Page]) -> Callable[[Record], str | None]:
    def position(record: Record) -> str | None:
        page = pages.get(record.image)
        place = None if page is None else page.best(record.answers)
        if page is None or place is None:
            return None
        left, top, right, bottom = place.box
        row = _third((top + bottom) / 2, page.height)
        column = _third((left + right) / 2, page.width)
        return POSITIONS[3 * row + column]

    return position


def _third(centre: float, size: float) -> int:
    return min(2, max(0, int(3 * centre / max(size, 1))))


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}|\d{{2,4}}年(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?"
    rf"|\d{{1,2}}月\d{{1,2}}日"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)? )?{_MONTH} ?\d{{0,2}}(?:st|nd|rd|th)?,? ?\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|{_MONTH} \d{{1,2}}|(?:1[5-9]|20)\d\d",
    re.IGNORECASE,
)
_MOST_OF_A_NUMBER = 3


def answer_kind(answer: str) -> str:
    """``date``, ``number`` (an amount with its unit too), ``word`` or ``phrase``."""
    text = answer.strip()
    if _DATE.fullmatch(text):
        return "date"
    tokens = folded(text)
    has_digits = any(token[0].isdigit() for token in tokens)
    if has_digits and (len(tokens) <= _MOST_OF_A_NUMBER or not any(map(str.isalpha, text))):
        return "number"
    return "word" if len(text.split()) == 1 and len(tokens) <= max(1, len(text) // 2) else "phrase"
