"""What counts as a word, in English, Chinese and the mixtures that the benchmark has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jieba")
pytest.importorskip("wordcloud")

from dtvqa_plugin.stats.words import stop_words, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What is the NET weight?", ["what", "is", "the", "net", "weight"]),
        ("12.5g, 1,200 kJ", ["12.5g", "1,200", "kj"]),
        ("the product's don’t", ["the", "product's", "don’t"]),
        ("2019-20 and/or (A&B)", ["2019-20", "and/or", "a&b"]),
        ("$5.00 - 30%", ["5.00", "30"]),
        ("Nauja narė", ["nauja", "narė"]),
        ("cafe\u0301", ["café"]),
        ("我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("生产日期：2018/06/10（见包装）", ["生产日期", "2018/06/10", "见", "包装"]),
        ("USB接口", ["usb", "接口"]),
        ("３Ｃ", ["３ｃ"]),
        ("?! — …", []),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_stop_words_are_of_both_languages() -> None:
    assert {"the", "is", "的", "是"} <= stop_words()
    assert "protein" not in stop_words()


def test_segmenting_leaves_nothing_in_the_shared_temporary_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from dtvqa_plugin.cli import stats as command;"
        "from dtvqa_plugin.stats import split_statistics;"
        "print(sorted({'matplotlib', 'wordcloud', 'jieba'} & set(sys.modules)));"
        "from dtvqa_plugin.stats.words import words_of; print(words_of('生产日期'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["[]", "['生产日期']"]
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []
