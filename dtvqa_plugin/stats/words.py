"""Words of English and Chinese text, counted alike for questions and answers.

A stretch of Chinese is cut into words by jieba; anything else is cut at white space and
punctuation, keeping what joins letters and digits inside a word (``12.5g``, ``don't``,
``2019-20``). Words are lower-cased, in Unicode's composed form (NFC).
"""

from __future__ import annotations

import logging
import re
import tempfile
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from functools import cache

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PLAIN = rf"[^\W_{_HAN}]"
_WORD = re.compile(rf"[{_HAN}]+|{_PLAIN}+(?:['’.,:/&\-–]{_PLAIN}+)*")
_CHINESE = re.compile(f"[{_HAN}]")

CHINESE_STOP_WORDS = frozenset(
    ("的", "了", "是", "在", "和", "与", "及", "或", "等", "中", "为", "这", "那", "个", "有", "吗")
)


def words_of(text: str) -> list[str]:
    """The words of a text in order; [] if it holds neither letters nor digits."""
    found: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFC", text).lower()):
        word = match[0]
        found += _segmenter()(word) if _CHINESE.match(word) else [word]
    return found


def stop_words() -> frozenset[str]:
    """Words that figures leave out: wordcloud's English list and a few Chinese ones."""
    from wordcloud import STOPWORDS

    return frozenset(STOPWORDS) | CHINESE_STOP_WORDS


@cache
def _segmenter() -> Callable[[str], Iterable[str]]:
    """Jieba's cut. It would keep a cache in the shared temporary folder; ours is made afresh."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its sources hold escapes that Python 3.12 warns of
        import jieba

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.tmp_dir = folder
        tokenizer.initialize()
    cut: Callable[[str], Iterable[str]] = tokenizer.lcut
    return cut
