"""Which writing a text is in, as far as checks need it."""

from __future__ import annotations

import re
import unicodedata

from dtvqa_plugin.utils import scripts

_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]")
_WORD = re.compile(r"[^\W_]+(?:[.,'’:/-][^\W_]+)*")


def letters(text: str) -> dict[str, int]:
    """Number of letters by script; kana count as Han, scripts that are not known are left out."""
    counts: dict[str, int] = {}
    for script, count in scripts.letters(text).items():
        if script != scripts.OTHER:
            name = "Han" if script == "Kana" else script
            counts[name] = counts.get(name, 0) + count
    return counts


def weighted_script(text: str) -> str | None:
    """The script of most letters, a Han character weighing as much as three; None without."""
    counts = letters(text)
    weights = {name: count * (3 if name == "Han" else 1) for name, count in counts.items()}
    return max(weights, key=lambda name: weights[name]) if weights else None


def count_words(text: str) -> int:
    """Words; of writing without blanks, two characters count as one."""
    wide = len(_WIDE.findall(text))
    return len(_WORD.findall(_WIDE.sub(" ", text))) + (wide + 1) // 2


def plain(text: str) -> str:
    """For comparisons: compatibility forms folded, case and runs of blanks and signs ignored."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"[^\w%$€£¥°.+]+", " ", folded).split()).strip(". ")
