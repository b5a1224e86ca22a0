"""Copies of test images found, and different images called copies, for each kind of copy.

    python benchmarks/leakage.py                      # the sample and drawn labels
    python benchmarks/leakage.py --images FOLDER      # and the images in a folder

Half of a set's images are the "test images". Of each, every kind of copy is looked for (found: the
right image is named). The other half are different images: each one reported as a test
image is a false alarm. The labels are one template with other numbers, so they differ in nothing
else; the first few are the test images.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from dtvqa_plugin.data import sample_dir
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.image_match import MIN_LIKENESS, BenchmarkImages

Change = Callable[[Image.Image, random.Random], Image.Image]

SHADES = ["white", "black", "#707070", "#b03020", "#205090"]


def bordered(image: Image.Image, rng: random.Random) -> Image.Image:
    """A frame of one colour around the image, of even or of different widths."""
    sides = [round(rng.uniform(0, 0.12) * min(image.size)) for _ in range(4)]
    if rng.random() < 0.5:
        sides = [max(2, sides[0])] * 4
    return ImageOps.expand(image, (sides[0], sides[1], sides[2], sides[3]), rng.choice(SHADES))


def watermarked(image: Image.Image, rng: random.Random) -> Image.Image:
    """Half transparent words across the image, once and large or many times and small."""
    shade = rng.choice([(110, 110, 110), (220, 30, 30), (255, 255, 255), (0, 0, 0)])
    across = rng.random() < 0.5
    size = max(11, round(min(image.size) * (rng.uniform(0.1, 0.2) if across else 0.05)))
    over = Image.new("RGBA", image.size, (0, 0, 0, 0))
    font, alpha = ImageFont.load_default(size), rng.randint(60, 150)
    if across:
        words = Image.new("RGBA", (size * 10, size * 2), (0, 0, 0, 0))
        text = rng.choice(["SPECIMEN", "do not copy", "PROOF"])
        ImageDraw.Draw(words).text((4, 4), text, font=font, fill=(*shade, alpha))
        words = words.crop(words.getbbox()).rotate(rng.choice([0, 20, 45, -30]), expand=True)
        over.paste(words, ((image.width - words.width) // 2, (image.height - words.height) // 2))
    else:
        draw = ImageDraw.Draw(over)
        for y in range(0, image.height, 5 * size):
            for x in range(-(y // size % 4) * size, image.width, 9 * size):
                draw.text((x, y), "example.org", font=font, fill=(*shade, alpha))
    return Image.alpha_composite(image.convert("RGBA"), over).convert("RGB")


def stamped(image: Image.Image, rng: random.Random) -> Image.Image:
    """An opaque box with words in a corner."""
    image = image.copy()
    width, height = round(image.width * rng.uniform(0.2, 0.3)), round(image.height * 0.07)
    left, top = rng.choice([0, image.width - width]), rng.choice([0, image.height - height])
    draw = ImageDraw.Draw(image)
    draw.rectangle((left, top, left + width, top + height), fill=rng.choice(SHADES))
    font = ImageFont.load_default(max(8, height * 0.6))
    draw.text((left + 3, top + 2), "(c) example.org", font=font, fill="orange")
    return image


def cropped(image: Image.Image, rng: random.Random) -> Image.Image:
    """Five per cent of width and height less: off one side, two sides, or spread over all."""
    kind = rng.choice(["side", "corner", "each", "all"])
    left, top, right, bottom = {
        "side": (0.05, 0.0, 0.0, 0.0),
        "corner": (0.05, 0.05, 0.0, 0.0),
        "each": (0.025, 0.025, 0.025, 0.025),
        "all": (0.05, 0.05, 0.05, 0.05),
    }[kind]
    if rng.random() < 0.5:
        left, right, top, bottom = right, left, bottom, top
    w, h = image.size
    return image.crop(
        (round(left * w), round(top * h), round((1 - right) * w), round((1 - bottom) * h))
    )


def turned(image: Image.Image, rng: random.Random) -> Image.Image:
    return image.rotate(
        rng.choice([1, -1]),
        Image.Resampling.BICUBIC,
        expand=rng.random() < 0.5,
        fillcolor=rng.choice(SHADES[:3]),
    )


def recompressed(image: Image.Image, rng: random.Random) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=rng.choice([20, 35, 60]))
    return Image.open(buffer).convert("RGB")


def rescaled(image: Image.Image, rng: random.Random) -> Image.Image:
    factor = rng.choice([0.4, 0.5, 0.75, 1.6])
    return image.resize((round(image.width * factor), round(image.height * factor)))


COPIES: dict[str, Change] = {
    "as it is": lambda image, _: image,
    "border": bordered,
    "watermark": watermarked,
    "opaque stamp": stamped,
    "crop of 5 %": cropped,
    "mirrored": lambda image, _: ImageOps.mirror(image),
    "inverted": lambda image, _: ImageOps.invert(image),
    "turned by 1 degree": turned,
    "recompressed": recompressed,
    "rescaled": rescaled,
    "squashed": lambda image, _: image.resize((448, 448)),
    "grey": lambda image, _: image.convert("L").convert("RGB"),
    "crop, rescaled, recompressed": lambda image, rng: recompressed(
        rescaled(cropped(image, rng), rng), rng
    ),
}

ROWS = ("Calories", "Total fat", "Saturated fat", "Cholesterol", "Sodium", "Carbohydrate",
        "Dietary fibre", "Total sugars", "Protein", "Vitamin D", "Calcium", "Iron")  # fmt: skip


def label(number: int) -> Image.Image:
    """A nutrition label; only its numbers depend on ``number``."""
    rng = random.Random(f"label {number}")
    image = Image.new("RGB", (460, 640), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((6, 6, 453, 633), outline="black", width=4)
    draw.text((18, 14), "Nutrition Facts", font=ImageFont.load_default(46), fill="black")
    small, bold = ImageFont.load_default(21), ImageFont.load_default(25)
    draw.text((18, 80), f"{rng.randint(2, 40)} servings per container", font=small, fill="black")
    draw.text((18, 108), f"Serving size {rng.randint(20, 250)} g", font=bold, fill="black")
    draw.rectangle((12, 146, 447, 156), fill="black")
    for row, name in enumerate(ROWS):
        top = 166 + 37 * row
        draw.text((18, top), name, font=small, fill="black")
        draw.text(
            (245, top), f"{rng.randint(0, 60)}.{rng.randint(0, 9)} g", font=small, fill="black"
        )
        draw.text((375, top), f"{rng.randint(0, 99)} %", font=bold, fill="black")
        draw.line((12, top + 31, 447, top + 31), fill="black")
    text = "* The daily value tells you how much a nutrient adds to a diet."
    draw.text((18, 612), text, font=ImageFont.load_default(13), fill="black")
    return image


def save(image: Image.Image, path: Path) -> Path:
    image.save(path)
    return path


def sets(
    folders: list[Path], scratch: Path, count: int, most: int
) -> Iterator[tuple[str, list[Path], int]]:
    """Name, images, and how many of them are test images, of each set."""
    yield "labels", [save(label(n), scratch / f"label-{n}.png") for n in range(count)], 8
    for folder in [sample_dir() / "image", *folders]:
        paths = sorted(path for path in folder.rglob("*.*") if path.is_file())
        random.Random(0).shuffle(paths)
        paths = paths[:most]
        yield (folder.name if folder in folders else "sample"), paths, (len(paths) + 1) // 2


def measure(
    name: str, images: list[Path], number: int, bar: float, scratch: Path, kinds: list[str]
) -> None:
    tests = BenchmarkImages([], [(path.name, path) for path in images[:number]])
    tests.hash_all()
    print(f"\n{name}: {number} test images, {len(images) - number} different ones", flush=True)
    for kind, change in COPIES.items():
        if kinds and kind not in kinds:
            continue
        copies = []
        for path in images[:number]:
            rng = random.Random(f"{kind} {path.name}")
            copy = change(Image.open(path).convert("RGB"), rng)
            copies.append((path.name, save(copy, scratch / f"copy-{path.stem}.png")))
        found = dict(tests.by_picture(copies, min_likeness=0))
        right = [
            m for n, m in found.items() if not isinstance(m, DataError) and m and m.test_image == n
        ]
        passed = [match for match in right if match.score is not None and match.score >= bar]
        scores = sorted(match.score or 0 for match in right)
        least = f"{scores[0]:.3f}" if scores else "-"
        print(f"  {kind:30} found {len(passed):4} of {number}   lowest score {least}", flush=True)
    others = [(path.name, path) for path in images[number:]]
    started = time.process_time()
    scores = sorted(
        (match.score or 0, query, match.test_image)
        for query, match in tests.by_picture(others, min_likeness=0)
        if match is not None and not isinstance(match, DataError)
    )
    spent = (time.process_time() - started) / max(1, len(others))
    false = sum(score >= bar for score, _, _ in scores)
    print(
        f"  {'different images':30} found {false:4} of {len(others)}   highest scores {scores[-2:]}"
    )
    print(f"  CPU seconds for each different image: {spent:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--images", action="append", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--labels", type=int, default=308, help="number of drawn labels")
    parser.add_argument("--most", type=int, default=1000, help="images of a folder, at most")
    parser.add_argument("--bar", type=float, default=MIN_LIKENESS, help="least likeness of a match")
    parser.add_argument("--kind", action="append", dest="kinds", default=[], help="only this kind")
    parser.add_argument("--set", dest="chosen", help="only this set")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, images, number in sets(given.images, Path(folder), given.labels, given.most):
            if given.chosen in (None, name):
                measure(name, images, number, given.bar, Path(folder), given.kinds)


if __name__ == "__main__":
    main()
