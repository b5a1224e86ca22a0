"""Choose a font that has the characters of the words, so that no box is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

FALLBACK = "DejaVu Sans"
"""Comes with matplotlib, so it is always there; it has no Chinese."""

PREFERRED = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "SimHei",
    "Arial Unicode MS",
)
_REGULAR = 400


@dataclass(frozen=True, slots=True)
class Face:
    """A font file with the name matplotlib knows it by and the code points that it can draw."""

    family: str
    path: str
    points: frozenset[int]

    def covers(self, text: str) -> bool:
        """Whether every character of ``text`` has a glyph here (white space needs none)."""
        return all(ord(char) in self.points or char.isspace() for char in text)


def choose_face(words: Iterable[str]) -> Face:
    """The face that can draw most of the words; the preferred one of equals."""
    wanted = list(words)
    faces = candidates()
    return max(faces, key=lambda face: sum(map(face.covers, wanted)))


def candidates() -> list[Face]:
    """Faces to choose from, the preferred ones first; the last is always there."""
    from matplotlib import font_manager

    entries = font_manager.fontManager.ttflist
    regular = {entry.name: entry.fname for entry in entries if _is_plain(entry)}
    names = [name for name in PREFERRED if name in regular]
    if not names:
        names = [name for name, path in regular.items() if ord("的") in _points(path)][:1]
    faces = [Face(name, regular[name], _points(regular[name])) for name in names]
    fallback = font_manager.findfont(FALLBACK)
    return [*faces, Face(FALLBACK, str(fallback), _points(str(fallback)))]


def _is_plain(entry: object) -> bool:
    return getattr(entry, "weight", None) == _REGULAR and getattr(entry, "style", "") == "normal"


@cache
def _points(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):  # a font file that went away or that FreeType cannot read
        return frozenset()
