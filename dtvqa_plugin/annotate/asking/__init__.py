"""Asking OpenAI-compatible endpoints: requests, replies, faults, cost.

Contract: `Asker` with `Answer`, `AskError` and `Stopped`, and `Template` (what is asked).
"""

from __future__ import annotations

from dtvqa_plugin.annotate.asking.endpoint import Asker, Stopped
from dtvqa_plugin.annotate.asking.prompting import Template
from dtvqa_plugin.annotate.asking.replies import Answer, AskError

__all__ = ["Answer", "AskError", "Asker", "Stopped", "Template"]
