"""Question-answer pairs out of a model's answer.

Contract: `read_answer` with `Reading` and `Pair`, and `Labels` (the words that it knows).
"""

from __future__ import annotations

from dtvqa_plugin.annotate.answers.labels import DEFAULT, Labels
from dtvqa_plugin.annotate.answers.reading import Pair, Reading, read_answer

__all__ = ["DEFAULT", "Labels", "Pair", "Reading", "read_answer"]
