"""Copies of test images are found after common changes; other pages of a template are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from finetune_release import picture, save
from PIL import Image, ImageDraw, ImageFont, ImageOps

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.finetune import BenchmarkImages, find_leakage
from dtvqa_plugin.finetune.image_match import MIN_LIKENESS

NAMES = [
    "Energy",
    "Fat",
    "Saturates",
    "Sugars",
    "Fibre",
    "Protein",
    "Salt",
    "Calcium",
    "Iron",
    "Potassium",
]


def ticket(number: int) -> Image.Image:
    """A page of one template: words stay, numbers depend on ``number``."""
    image = Image.new("RGB", (520, 560), (250, 248, 240))
    draw = ImageDraw.Draw(image)
    draw.text((30, 20), "Typical values per 100 g", font=ImageFont.load_default(30), fill="black")
    font = ImageFont.load_default(24)
    for row, name in enumerate(NAMES):
        value = (7919 * (number + 1) * (row + 3) + 31 * number**2) % 9973
        draw.text((30, 80 + 46 * row), name, font=font, fill="black")
        draw.text((330, 80 + 46 * row), f"{value / 10:.1f} mg", font=font, fill="black")
        draw.line((20, 114 + 46 * row, 500, 114 + 46 * row), fill="gray")
    return image


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkImages:
    """Two pages of the template and two other pictures as test images."""
    folder = tmp_path_factory.mktemp("test-images")
    paths = [(f"ticket-{n}", save(ticket(n), folder / f"ticket-{n}.png")) for n in (0, 1)]
    paths += [(f"boxes-{n}", save(picture(n, (640, 480)), folder / f"{n}.png")) for n in (0, 1)]
    found = BenchmarkImages([], paths)
    found.hash_all()
    return found


def watermarked(image: Image.Image) -> Image.Image:
    over = Image.new("RGBA", image.size, (0, 0, 0, 0))
    font = ImageFont.load_default(90)
    ImageDraw.Draw(over).text((40, 200), "SAMPLE", font=font, fill=(200, 0, 0, 110))
    return Image.alpha_composite(image.convert("RGBA"), over).convert("RGB")


def cut(image: Image.Image) -> Image.Image:
    """Five per cent less on every side."""
    w, h = image.size
    return image.crop((round(0.05 * w), round(0.05 * h), round(0.95 * w), round(0.95 * h)))


COPIES: list[tuple[str, Callable[[Image.Image], Image.Image], str]] = [
    ("white border", lambda im: ImageOps.expand(im, 50, "white"), ""),
    ("black bars", lambda im: ImageOps.expand(im, (0, 60, 0, 60), "black"), ""),
    ("watermark", watermarked, ""),
    ("crop", cut, ""),
    ("mirrored", ImageOps.mirror, "mirrored"),
    ("inverted", ImageOps.invert, "inverted"),
    ("both", lambda im: ImageOps.invert(ImageOps.mirror(im)), "mirrored and inverted"),
    ("turned", lambda im: im.rotate(1, Image.Resampling.BICUBIC, fillcolor="white"), ""),
    ("turned and larger", lambda im: im.rotate(-1, expand=True, fillcolor="black"), ""),
    ("squashed", lambda im: im.resize((400, 400)), ""),
    ("crop, half size", lambda im: cut(im).resize((im.width // 2, im.height // 2)), ""),
]


@pytest.mark.parametrize(("kind", "change", "said"), COPIES, ids=[kind for kind, *_ in COPIES])
@pytest.mark.parametrize("name", ["ticket-1", "boxes-0"])
def test_a_copy_is_reported_as_its_test_image(
    kind: str,
    change: Callable[[Image.Image], Image.Image],
    said: str,
    name: str,
    tests: BenchmarkImages,
    tmp_path: Path,
) -> None:
    original = ticket(1) if name == "ticket-1" else picture(0, (640, 480))
    path = save(change(original), tmp_path / "copy.png")
    ((_, match),) = tests.by_picture([("copy", path)])
    assert match is not None
    assert not isinstance(match, DTVQAError)
    assert (match.test_image, match.change) == (name, said)
    assert match.score is not None
    assert MIN_LIKENESS <= match.score <= 1
    change_said = f"{said}, " if said else ""
    assert str(match) == (f"copy looks like the test image {name} ({change_said}{match.score:.2f})")


def test_other_pages_of_the_template_are_not(tests: BenchmarkImages, tmp_path: Path) -> None:
    others = [(f"{n}", save(ticket(n), tmp_path / f"{n}.png")) for n in range(2, 12)]
    assert [match for _, match in tests.by_picture(others)] == [None] * 10


def test_the_user_sets_the_bar(tests: BenchmarkImages, tmp_path: Path) -> None:
    path = save(ticket(5), tmp_path / "5.png")
    ((_, match),) = tests.by_picture([("5", path)], min_likeness=0.3)
    assert match is not None
    assert not isinstance(match, DTVQAError)
    assert match.score is not None
    assert 0.3 <= match.score < 0.9
    assert match.test_image.startswith("ticket-")


@pytest.mark.parametrize("size", [(1, 1), (3, 400), (64, 64)])
def test_blank_and_tiny_images_match_nothing(
    size: tuple[int, int], tests: BenchmarkImages, tmp_path: Path
) -> None:
    path = save(Image.new("RGB", size, "white"), tmp_path / "blank.png")
    assert [match for _, match in tests.by_picture([("blank", path)])] == [None]


@pytest.mark.parametrize("name", ["2-180342-8", "2-15526447-1"])
def test_a_wide_table_made_square_is_found(name: str, shared_dir: Path, tmp_path: Path) -> None:
    folder = shared_dir / "hub/DT-VQA/image/DTTabShot/test"
    tests = BenchmarkImages([], [(name, folder / f"{name}.png")])
    tests.hash_all()
    with Image.open(folder / f"{name}.png") as table:
        path = save(table.convert("RGB").resize((448, 448)), tmp_path / "square.png")
    ((_, match),) = tests.by_picture([("square", path)])
    assert match is not None
    assert not isinstance(match, DTVQAError)
    assert match.test_image == name


def test_the_real_tables_are_told_apart(shared_dir: Path) -> None:
    folder = shared_dir / "hub/DT-VQA/image/DTTabShot/test"
    paths = [(path.stem, path) for path in sorted(folder.iterdir())]
    tests = BenchmarkImages([], paths[::4])
    tests.hash_all()
    others = [item for number, item in enumerate(paths) if number % 4 == 1]
    assert [match for _, match in tests.by_picture(others)] == [None] * len(others)


@pytest.mark.parametrize("module", ["cv2", "imagehash"])
def test_without_the_extra_the_message_says_what_to_install(
    module: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DTVQAError, match=r"dtvqa-plugin\[leakage\].*names alone"):
        find_leakage(own_home / "test")
    assert find_leakage(own_home / "test", names_only=True).records == 12
