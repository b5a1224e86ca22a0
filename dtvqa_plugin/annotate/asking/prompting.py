"""What a model is shown and asked: instruction, recognised text, and the image as it is sent."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from dtvqa_plugin.annotate.project.config import Round, Source, Style
from dtvqa_plugin.annotate.project.inventory import ImageFile
from dtvqa_plugin.annotate.text.reader import describe
from dtvqa_plugin.ocr import TextBox

_SEND_AS_IS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
_MAX_BYTES = 4_000_000
_CHARS_PER_TOKEN = 4
_PATCH = 28
_TOKENS_PER_PAIR = 45
UNREAD_TEXT_TOKENS = 600
"""Assumed for recognised text that is not read yet."""


@dataclass(frozen=True, slots=True)
class Template:
    """A round's instruction for a style. ``sha`` names it in every raw answer.

    The recognised text itself is not part of ``sha``: the same instruction over better text is
    not paid for again.
    """

    text: str
    with_ocr: str | None
    sha: str

    @classmethod
    def make(cls, style: Style, source: Source, turn: Round) -> Template:
        """The instruction with its number of pairs filled in."""
        text = style.instruction.replace("{pairs}", str(turn.pairs)).strip()
        told = source.ocr.origin != "none" and source.ocr.in_prompt
        with_ocr = style.with_ocr.strip() if told else None
        digest = hashlib.sha256(f"{text}\0{with_ocr or ''}".encode()).hexdigest()
        return cls(text, with_ocr, digest[:16])

    def render(self, image: ImageFile, boxes: Sequence[TextBox] | None, max_lines: int) -> str:
        """The request's text for one image."""
        if self.with_ocr is None or not boxes:
            return self.text
        described = describe(boxes, image.width, image.height, max_lines)
        return f"{self.text}\n\n{self.with_ocr.replace('{ocr}', described)}"


def encode_image(image: ImageFile, pixels: Image.Image, longest: int) -> tuple[str, bytes]:
    """Media type and bytes to send: the file as it is where that will do, else a new JPEG.

    ``pixels`` are the decoded image (upright, RGB); larger than ``longest`` it is scaled down.
    """
    size = image.path.stat().st_size
    if max(pixels.size) <= longest and size <= _MAX_BYTES:
        with Image.open(image.path) as opened:
            media = _SEND_AS_IS.get(opened.format or "")
            plain = opened.mode in ("RGB", "L") and opened.getexif().get(0x0112, 1) == 1
        if media and plain:
            return media, image.path.read_bytes()
    scale = longest / max(pixels.size)
    if scale < 1:
        width, height = (max(1, round(side * scale)) for side in pixels.size)
        pixels = pixels.resize((width, height), Image.Resampling.LANCZOS)
    target = io.BytesIO()
    pixels.save(target, "JPEG", quality=92)
    return "image/jpeg", target.getvalue()


def text_tokens(text: str) -> int:
    """A rough number of tokens: a token for four letters, one for each Chinese character."""
    wide = sum(ord(char) > 0x2E7F for char in text)
    return wide + math.ceil((len(text) - wide) / _CHARS_PER_TOKEN)


def image_tokens(width: int, height: int, longest: int) -> int:
    """A rough number of tokens of an image: one for a patch of 28 x 28 pixels, as sent."""
    scale = min(1.0, longest / max(width, height))
    return math.ceil(width * scale / _PATCH) * math.ceil(height * scale / _PATCH)


def answer_tokens(pairs: int) -> int:
    """A rough number of tokens of an answer with that many pairs."""
    return pairs * _TOKENS_PER_PAIR
