"""Images as users have them: upright RGB, or one error naming the file."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.images import MAX_PIXELS, check_image, load_rgb

RED, WHITE, HALF = (255, 0, 0), (255, 255, 255), (255, 127, 127)
SIZE = (6, 4)


def palette(transparent: bool) -> Image.Image:
    image = Image.new("P", SIZE, 1)
    image.putpalette([0, 0, 255, 255, 0, 0])
    if transparent:
        image.info["transparency"] = 1
    return image


def grey16(value: int) -> Image.Image:
    return Image.fromarray(np.full(SIZE[::-1], value, dtype=np.uint16))


def png16_rgb() -> bytes:
    """A 16-bit-per-channel PNG, which Pillow reads but does not write."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    row = b"\0" + struct.pack(">3H", 0xFFFF, 0, 0) * SIZE[0]
    header = struct.pack(">2I5B", *SIZE, 16, 2, 0, 0, 0)
    data = zlib.compress(row * SIZE[1])
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("name", "image", "options", "colour"),
    [
        ("rgb.png", Image.new("RGB", SIZE, RED), {}, RED),
        ("rgb.jpg", Image.new("RGB", SIZE, RED), {"quality": 95}, RED),
        ("rgba.png", Image.new("RGBA", SIZE, (255, 0, 0, 128)), {}, HALF),
        ("clear.png", Image.new("RGBA", SIZE, (255, 0, 0, 0)), {}, WHITE),
        ("rgb-key.png", Image.new("RGB", SIZE, RED), {"transparency": RED}, WHITE),
        ("la.png", Image.new("LA", SIZE, (0, 128)), {}, (127, 127, 127)),
        ("l.png", Image.new("L", SIZE, 7), {}, (7, 7, 7)),
        ("l-key.png", Image.new("L", SIZE, 7), {"transparency": 7}, WHITE),
        ("1.png", Image.new("1", SIZE, 1), {}, WHITE),
        ("palette.png", palette(False), {}, RED),
        ("palette-clear.png", palette(True), {}, WHITE),
        ("palette.gif", palette(False), {}, RED),
        ("cmyk.jpg", Image.new("CMYK", SIZE, (0, 255, 255, 0)), {"quality": 95}, RED),
        ("cmyk.tif", Image.new("CMYK", SIZE, (0, 255, 255, 0)), {}, RED),
        ("16.png", grey16(0x8080), {}, (128, 128, 128)),
        ("16.tif", grey16(0xFFFF), {}, WHITE),
        ("16-dark.png", grey16(257), {}, (1, 1, 1)),
        ("float.tif", Image.new("F", SIZE, 0.5), {}, (128, 128, 128)),
        ("float-255.tif", Image.new("F", SIZE, 200.0), {}, (200, 200, 200)),
        ("rgb.webp", Image.new("RGB", SIZE, RED), {"lossless": True}, RED),
        ("rgb.bmp", Image.new("RGB", SIZE, RED), {}, RED),
        ("ycbcr.jpg", Image.new("RGB", SIZE, RED).convert("YCbCr"), {"quality": 95}, RED),
    ],
)
def test_every_mode_becomes_rgb(
    tmp_path: Path,
    name: str,
    image: Image.Image,
    options: dict[str, object],
    colour: tuple[int, int, int],
) -> None:
    path = tmp_path / name
    image.save(path, **options)
    check_image(path, name)
    for given in (path, str(path), Image.open(path)):
        found = load_rgb(given)
        assert (found.mode, found.size) == ("RGB", SIZE)
        np.testing.assert_allclose(np.asarray(found), np.full((*SIZE[::-1], 3), colour), atol=2)
        assert "transparency" not in found.info


def of_numbers(mode: str, *values: float) -> Image.Image:
    return Image.fromarray(np.array([values], dtype="float32" if mode == "F" else "int32"))


def sixteen(mode: str, *values: int) -> Image.Image:
    order = {"I;16": "<u2", "I;16L": "<u2", "I;16B": ">u2", "I;16N": "=u2"}[mode]
    content = np.array(values, dtype=order).tobytes()
    return Image.frombytes(mode, (len(values), 1), content, "raw", mode)


def with_key(image: Image.Image, key: object) -> Image.Image:
    image.info["transparency"] = key
    return image


def palette_with_alpha() -> Image.Image:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 255, 0, 0, 0, 0], "RGBA")
    image.putdata([0, 1])
    return image


def of_colours(mode: str, *colours: object) -> Image.Image:
    image = Image.new(mode, (len(colours), 1))
    for place, colour in enumerate(colours):
        image.putpixel((place, 0), colour)  # type: ignore[arg-type]  # each mode has its own
    return image


BLACK = (0, 0, 0)
GREY = (128, 128, 128)
MODES = {
    "1": (of_colours("1", 0, 255), BLACK, WHITE),
    "L": (of_colours("L", 0, 128), BLACK, GREY),
    "L with a key": (with_key(of_colours("L", 0, 128), 0), WHITE, GREY),
    "LA": (of_colours("LA", (0, 255), (0, 127)), BLACK, GREY),
    "La": (of_colours("LA", (0, 255), (0, 127)).convert("La"), BLACK, GREY),
    "P": (palette(False).resize((2, 1)), RED, RED),
    "P with a key": (palette(True).resize((2, 1)), WHITE, WHITE),
    "P with alpha": (palette_with_alpha(), RED, WHITE),
    "PA": (of_colours("RGBA", (255, 0, 0, 255), (0, 0, 0, 0)).convert("PA"), RED, WHITE),
    "RGB": (of_colours("RGB", RED, BLACK), RED, BLACK),
    "RGBX": (of_colours("RGB", RED, BLACK).convert("RGBX"), RED, BLACK),
    "RGBA": (of_colours("RGBA", (255, 0, 0, 255), (0, 0, 0, 127)), RED, GREY),
    "RGBa": (of_colours("RGBA", (255, 0, 0, 255), (0, 0, 0, 127)).convert("RGBa"), RED, GREY),
    "CMYK": (of_colours("CMYK", (0, 255, 255, 0), (0, 0, 0, 255)), RED, BLACK),
    "YCbCr": (of_colours("RGB", RED, GREY).convert("YCbCr"), RED, GREY),
    "HSV": (of_colours("RGB", RED, GREY).convert("HSV"), RED, GREY),
    "LAB": (of_colours("LAB", (0, 128, 128), (255, 128, 128)), BLACK, WHITE),
    "I": (of_numbers("I", 0, 0x8080), BLACK, GREY),
    "I of small values": (of_numbers("I", 0, 257), BLACK, (1, 1, 1)),
    "F to 1": (of_numbers("F", 0.0, 0.5), BLACK, GREY),
    "F to 255": (of_numbers("F", 0.0, 128.0), BLACK, GREY),
    "I;16": (sixteen("I;16", 0, 0x8080), BLACK, GREY),
    "I;16 of small values": (sixteen("I;16", 0, 257), BLACK, (1, 1, 1)),
    "I;16 with a key": (with_key(sixteen("I;16", 0, 0x8080), 0), WHITE, GREY),
    "I;16L": (sixteen("I;16L", 0, 0x8080), BLACK, GREY),
    "I;16B": (sixteen("I;16B", 0, 0x80FF), BLACK, (129, 129, 129)),
    "I;16N": (sixteen("I;16N", 0, 0x8080), BLACK, GREY),
}


def test_the_table_has_every_mode_of_this_pillow() -> None:
    assert set(Image.MODES) <= {name.split(" ")[0] for name in MODES}


@pytest.mark.parametrize("name", MODES)
def test_every_pillow_mode_in_memory(name: str) -> None:
    image, *colours = MODES[name]
    before = image.tobytes()
    found = np.asarray(load_rgb(image))
    assert (found.dtype, found.shape) == (np.uint8, (1, 2, 3))
    np.testing.assert_allclose(found[0].astype(int), colours, atol=2)
    assert image.tobytes() == before, "the caller's image stays as it is"


def test_an_image_without_pixels() -> None:
    for mode in Image.MODES:
        assert load_rgb(Image.new(mode, (0, 0))).size == (0, 0)


def test_16_bits_a_channel(tmp_path: Path) -> None:
    path = tmp_path / "48.png"
    path.write_bytes(png16_rgb())
    assert load_rgb(path).getpixel((0, 0)) == RED


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_exif_orientation_is_applied_once(tmp_path: Path, orientation: int, suffix: str) -> None:
    upright = Image.new("RGB", (64, 32), "white")
    upright.paste("red", (0, 0, 32, 16))
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = upright.transpose(undo[orientation]) if orientation in undo else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"turned.{suffix}"
    stored.save(path, exif=exif, **({"quality": 95, "subsampling": 0} if suffix == "jpg" else {}))
    found = load_rgb(path)
    np.testing.assert_allclose(np.asarray(found), np.asarray(upright), atol=4)
    assert load_rgb(found).tobytes() == found.tobytes()


def test_damaged_exif_costs_the_rotation_not_the_image(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "exif.jpg"
    Image.new("RGB", SIZE, RED).save(path, exif=b"Exif\0\0not a TIFF header")
    assert load_rgb(path).size == SIZE


def jpeg(size: tuple[int, int] = (64, 64)) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise(size, 50).convert("RGB").save(buffer, "JPEG")
    return buffer.getvalue()


def header_only(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds next to nothing."""
    data = png16_rgb()
    header = b"IHDR" + struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    return data[:12] + header + struct.pack(">I", zlib.crc32(header)) + data[33:]


def cut_png() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(buffer, "PNG")
    return buffer.getvalue()[:-200]


@pytest.mark.parametrize("tolerant", [False, True], ids=["plain", "under a tolerant host"])
@pytest.mark.parametrize("content", [jpeg()[:-40], cut_png()], ids=["JPEG", "PNG"])
def test_truncation_shows_under_any_host_and_the_hosts_setting_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, tolerant: bool
) -> None:
    # lmms-eval switches Pillow's tolerance on for its whole process.
    monkeypatch.setattr("PIL.ImageFile.LOAD_TRUNCATED_IMAGES", tolerant)
    path = tmp_path / "cut"
    path.write_bytes(content)
    with pytest.raises(DataError, match="cut off or damaged"):
        load_rgb(path)
    assert tolerant is ImageFile.LOAD_TRUNCATED_IMAGES


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"<html>404</html>", "not an image"),
        (b"hello", "not an image"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git-LFS pointer"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not an image"),
        (jpeg()[:500], "cut off or damaged"),
        (jpeg()[:-40], "cut off or damaged"),
        (cut_png(), "cut off or damaged"),
        (jpeg()[:10], "not an image|cannot be read|damaged"),
        (header_only(20_000, 10_000), "megapixels"),
        (header_only(12_500, 12_500), "megapixels"),
        (header_only(2**31 - 1, 2**31 - 1), "megapixels"),
    ],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_one_error_names_the_file(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "broken.jpg"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words) as caught:
        load_rgb(path)
    assert str(path) in str(caught.value)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_an_image_opened_elsewhere_is_held_to_the_limit_too(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(header_only(12_500, 12_500))
    with Image.open(path) as image, pytest.raises(DataError, match=r"large\.png.*megapixels"):
        load_rgb(image)


@pytest.mark.parametrize(
    "make", [lambda path: None, Path.mkdir], ids=["no such file", "a folder in its place"]
)
def test_missing_and_folder(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "a.png"
    make(path)
    with pytest.raises(DataError, match=r"a\.png"):
        load_rgb(path)


def test_floats_of_no_known_range_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.tif"
    Image.new("F", SIZE, 1e6).save(path)
    with pytest.raises(DataError, match="no known range"):
        load_rgb(path)


def test_the_limit_lies_below_the_one_at_which_pillow_refuses() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert MAX_PIXELS < 2 * Image.MAX_IMAGE_PIXELS
    assert MAX_PIXELS >= 100_000_000
