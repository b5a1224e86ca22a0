"""A reader that needs no GPU: RapidOCR finds the text, layout rules pick the answer.

An honest lower bound, not a model: see docs/ocr-reader.md.
"""

from __future__ import annotations

from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.ocr.reader import OCRReader

__all__ = ["OCRReader", "TextBox"]
