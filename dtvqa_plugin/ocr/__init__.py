"""Text on images: RapidOCR, a reader that answers from its lines, and kept recognised text.

The reader is an honest lower bound, not a model: see docs/ocr-reader.md.
"""

from __future__ import annotations

from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.ocr.reader import OCRReader
from dtvqa_plugin.ocr.recognised import Line, RecognisedText, RecognisedTexts, recognised_texts

__all__ = [
    "Line",
    "OCRReader",
    "RecognisedText",
    "RecognisedTexts",
    "TextBox",
    "recognised_texts",
]
