"""Images as users have them, decoded to upright RGB, or one error naming the file."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import NotRegularError, kind
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

MAX_PIXELS = 150_000_000
"""Most pixels an image may have; below the size at which Pillow itself refuses to open one."""

# Raster formats only: Pillow would hand EPS, for one, to an external program.
_FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")

ImageInput: TypeAlias = "str | Path | Image.Image"


def load_rgb(image: ImageInput) -> Image.Image:
    """Decode to mode RGB, upright (EXIF orientation applied), fully loaded.

    This is the only rule for pixels here: hosts, OCR and reports all see its result. Transparency
    (RGBA, LA, palette) is composited on white; 16-bit and float grey is scaled to 8 bits; CMYK and
    the rest are converted by Pillow; of an animation the first frame is taken.

    Args:
        image: A file, or an image that is open already.

    Returns:
        The image, mode RGB; ``numpy.asarray`` of it is uint8 of shape (height, width, 3).

    Raises:
        DataError: It is missing, empty, no image, cut off, over `MAX_PIXELS`, or its values have
            no known range. The message names the file.
    """
    if isinstance(image, Image.Image):
        return _decode(image, str(getattr(image, "filename", "") or "image in memory"))
    path = Path(image)
    with strict_decoding(), open_image(path) as opened:
        return _decode(opened, str(path))


def reduced(image: Image.Image, longest_side: int) -> Image.Image:
    """Reduce an image until its longest side has ``longest_side`` pixels; never enlarge it.

    Lanczos filter over the whole image (Pillow's ``resize``); the other side is rounded to whole
    pixels, at least 1. The same image gives the same pixels in every host.

    Args:
        image: The image as `load_rgb` gives it.
        longest_side: Pixels.
    """
    longest = max(image.size)
    if longest <= longest_side:
        return image
    width, height = (max(1, round(side * longest_side / longest)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def open_image(path: Path, name: str | None = None) -> Image.Image:
    """Open an image file without decoding its pixels. Raises `DataError` as `load_rgb` does.

    ``name`` stands for the file in messages (default: its path).
    """
    name = str(path) if name is None else name
    try:
        if kind(path) == "other":  # opening a pipe would wait for its writer
            raise NotRegularError(path)
        opened = Image.open(path, formats=_formats())
    except UnidentifiedImageError:
        raise DataError(_no_image(path, name)) from None
    except Image.DecompressionBombError:
        raise DataError(_too_large(name)) from None
    except FileNotFoundError:
        raise DataError(f"{name}: no such image; 'dtvqa data status' lists what is there") from None
    except OSError as error:
        if error.errno is None:  # Pillow's, not the operating system's
            raise DataError(_damaged(name, error)) from error
        raise DataError(f"{name}: cannot be read: {error.strerror}") from error
    except (ValueError, SyntaxError, struct.error) as error:
        raise DataError(_damaged(name, error)) from error
    try:
        _check_size(opened, name)
    except DataError:
        opened.close()
        raise
    return opened


def open_bytes(content: bytes, name: str) -> Image.Image:
    """`open_image` for an image in memory, called ``name`` in messages."""
    try:
        opened = Image.open(BytesIO(content), formats=_formats())
    except UnidentifiedImageError:
        raise DataError(f"{name}: not an image of any known format") from None
    except Image.DecompressionBombError:
        raise DataError(_too_large(name)) from None
    except (OSError, ValueError, SyntaxError, struct.error) as error:
        raise DataError(_damaged(name, error)) from error
    _check_size(opened, name)
    return opened


def check_image(path: Path, name: str) -> None:
    """Check from header and checksums alone that a file is an image of acceptable size.

    Raises `DataError` with ``name`` for the file.
    """
    with strict_decoding(), open_image(path, name) as opened:
        try:
            opened.verify()
        except Exception as error:  # verify() raises whatever its format's plugin does
            raise DataError(_damaged(name, error)) from error


_strict_lock = threading.Lock()
_strict_depth = 0
_tolerant_before = False


@contextmanager
def strict_decoding() -> Iterator[None]:
    """See truncation for what it is, also where a host tells Pillow to paint the missing part grey.

    lmms-eval sets ``ImageFile.LOAD_TRUNCATED_IMAGES`` for its whole process (seen on 0.7.3); the
    host's setting is put back when the last of our threads is done.
    """
    global _strict_depth, _tolerant_before
    with _strict_lock:
        if _strict_depth == 0:
            _tolerant_before = ImageFile.LOAD_TRUNCATED_IMAGES
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        _strict_depth += 1
    try:
        yield
    finally:
        with _strict_lock:
            _strict_depth -= 1
            if _strict_depth == 0:
                ImageFile.LOAD_TRUNCATED_IMAGES = _tolerant_before


@cache
def _formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def _no_image(path: Path, name: str) -> str:
    try:
        with path.open("rb") as handle:
            start = handle.read(64)
    except OSError:
        start = b"?"
    if not start:
        return f"{name}: the file is empty, not an image; get it again"
    if start.startswith(b"version https://git-lfs"):
        return f"{name}: this is a git-LFS pointer, not an image; run 'git lfs pull' there"
    return f"{name}: not an image of any known format; get it again"


def _damaged(name: str, error: Exception) -> str:
    return f"{name}: cut off or damaged image: {error}; get it again"


def _too_large(name: str) -> str:
    return f"{name}: over the limit of {MAX_PIXELS // 1_000_000} megapixels; scale it down"


def _check_size(image: Image.Image, name: str) -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise DataError(_too_large(f"{name} ({width} x {height})"))


def _decode(image: Image.Image, name: str) -> Image.Image:
    _check_size(image, name)
    try:
        with strict_decoding():
            image.load()
        return _to_rgb(_upright(image, name), name)
    except Image.DecompressionBombError:
        raise DataError(_too_large(name)) from None
    except (OSError, ValueError, SyntaxError, EOFError, struct.error) as error:
        raise DataError(_damaged(name, error)) from error


def _upright(image: Image.Image, name: str) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except Exception as error:  # damaged metadata raise anything; the pixels are sound
        logger.warning("%s: its EXIF data cannot be read (%s); taken as upright", name, error)
        return image


def _to_rgb(image: Image.Image, name: str) -> Image.Image:
    if image.mode.startswith("I") or image.mode == "F":
        return _from_wide(image, name)
    if image.mode == "La":  # Pillow turns it into nothing but LA
        image = image.convert("LA")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _from_wide(image: Image.Image, name: str) -> Image.Image:
    """Grey of more than 8 bits to RGB: 16 bits (``I``, ``I;16*``) or floats, 0-1 or 0-255.

    Which range floats have is seen from the highest. A 16-bit value that the file declares
    transparent becomes white.
    """
    grey = np.asarray(image).astype(np.float64)
    low, high = float(grey.min(initial=0.0)), float(grey.max(initial=0.0))
    top = 65535.0 if image.mode != "F" else (1.0 if high <= 1.0 else 255.0)
    if not (low >= 0.0 and high <= top):
        raise DataError(
            f"{name}: {image.mode} pixels from {low:g} to {high:g} have no known range; "
            "save it as an 8-bit or 16-bit image"
        )
    pixels = np.rint(grey * (255.0 / top)).astype(np.uint8)
    clear = image.info.get("transparency")
    if isinstance(clear, int):
        pixels[grey == clear] = 255
    return Image.fromarray(pixels).convert("RGB")
