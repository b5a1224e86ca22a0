"""Question-answer pairs out of a model's answer.

Contract: `read_answer` (free text) and `read_structured` with `Reading` and
`Pair`, and `Labels` (the words that mark both sides).
"""

from __future__ import annotations

from dtvqa_plugin.annotate.answers.labels import DEFAULT, Labels
from dtvqa_plugin.annotate.answers.reading import Pair, Reading, read_answer
from dtvqa_plugin.annotate.answers.structured import read_structured

__all__ = ["DEFAULT", "Labels", "Pair", "Reading", "read_answer", "read_structured"]
