"""Recognised text of images, and rules about writing.

Contract: `TextReader` (text of a project's images), `propose` (variants of an answer), and
the counts in `scripts`.
"""

from __future__ import annotations

from dtvqa_plugin.annotate.text.reader import TextReader
from dtvqa_plugin.annotate.text.variants import propose

__all__ = ["TextReader", "propose"]
