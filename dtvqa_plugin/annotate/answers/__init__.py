"""Question-answer pairs out of a model's answer.

Contract: `read_answer` with `Reading` and `Pair`.
"""

from __future__ import annotations

from dtvqa_plugin.annotate.answers.reading import Pair, Reading, read_answer

__all__ = ["Pair", "Reading", "read_answer"]
