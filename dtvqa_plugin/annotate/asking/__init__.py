"""Asking OpenAI-compatible endpoints: requests, replies, faults, cost.

Contract: `Asker` with `Answer`, `AskError` and `Stopped`, and `Template` (what is asked).
"""

from __future__ import annotations

from dtvqa_plugin.annotate.asking.endpoint import Answer, Asker, AskError, Stopped
from dtvqa_plugin.annotate.asking.prompting import Template

__all__ = ["Answer", "AskError", "Asker", "Stopped", "Template"]
