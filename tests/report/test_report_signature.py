"""The signature: one line, always the same for the same run, read back without loss."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtvqa_plugin.runs.signature import SAMPLE, Signature, parse_signature

FIELDS: dict[str, Any] = {
    "version": "0.1.0",
    "split": "test",
    "subsets": {"DTScene": 300, "DTTabShot": 146},
    "annotations": "df6498905c82953a",
    "revision": "unknown",
    "prompt": "paper",
    "tau": 0.5,
    "reasoning": "stripped",
    "host": "lmms-eval",
    "host_version": "0.7.3",
    "model": "qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)",
    "generation": "max_new_tokens=100,temperature=0",
    "failed": 2,
    "partial": 154,
}
LINE = (
    "DTVQA|v:0.1.0|split:test|subsets:DTScene=300,DTTabShot=146|n:446|ann:df6498905c82953a"
    "|rev:unknown|prompt:paper|image:original|tau:0.5|acc:containment-lower|reasoning:stripped"
    "|host:lmms-eval=0.7.3|model:qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)"
    "|gen:max_new_tokens=100,temperature=0|failed:2|partial:missing=154"
)


def test_the_line() -> None:
    assert str(Signature(**FIELDS)) == LINE
    whole = Signature(**{**FIELDS, "partial": 0, "benchmark": SAMPLE})
    assert str(whole).startswith("DTVQA-SAMPLE|")
    assert str(whole).endswith("|partial:no")


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.floats(0.01, 1.0), st.integers(0, 10**6))
def test_any_names_come_back(model: str, host: str, prompt: str, tau: float, failed: int) -> None:
    changes = {"model": model, "generation": model, "host": host, "host_version": host}
    changes |= {"prompt": prompt, "tau": tau, "failed": failed, "subsets": {model: 3, host: 4}}
    signature = Signature(**{**FIELDS, **changes})
    line = str(signature)
    assert len(line.splitlines()) == 1
    assert parse_signature(line) == signature


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "begins DTVQA"),
        ("BLEU|v:1", "begins DTVQA"),
        ("DTVQA|v:0.1.0", "no field"),
        (LINE.replace("|n:446", "|n:447"), "add up"),
        (LINE.replace("failed:2", "failed:two"), "not a count"),
        (LINE.replace("stripped", "maybe"), "stripped or kept"),
        (LINE + "|failed:2", "occurs twice"),
        (LINE.replace("|split:test", "|split"), "KEY:VALUE"),
        (LINE.replace("tau:0.5", "tau:half"), "field tau is 'half'"),
    ],
    ids=["empty", "other", "short", "sum", "count", "reasoning", "twice", "colon", "tau"],
)
def test_what_is_no_signature_is_an_error(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_signature(line)
