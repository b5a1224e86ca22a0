"""Buildings and ground of the street scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from . import effects
from .effects import RGB, Pixels
from .fonts import FontBook
from .sheet import Sheet
from .world import Array, sample

SUBSET = "MiniScene"
KIND = "Street Scene (sample)"
METRE = 170
"""Pixels of a facade's texture per metre."""


@dataclass(frozen=True)
class Shop:
    """A shop front: the words on it and how it looks."""

    name: str
    face: str
    band: str
    ink: str
    line: str = ""
    glass: Sequence[str] = ()
    hours: Sequence[str] = ()
    wall: str = "brick"
    tone: RGB = (150, 86, 66)
    goods: Sequence[RGB] = ((190, 150, 90), (120, 140, 90), (160, 90, 80))
    wide: float = 6.0
    tall: float = 9.0


def _window(sheet: Sheet, box: tuple[float, float, float, float], rng: np.random.Generator) -> None:
    x0, y0, x1, y1 = (round(v) for v in box)
    width, height = x1 - x0, y1 - y0
    glass = effects.to_pixels(effects.gradient(width, height, (92, 108, 124), (52, 60, 68)))
    glass += 26 * effects.smooth_noise(width, height, width / 2, rng)[..., None]
    sheet.rect((x0 - 12, y0 - 14, x1 + 12, y1 + 10), (214, 207, 194))
    sheet.image.paste(effects.to_image(glass.astype(np.float32)), (x0, y0))
    if rng.random() < 0.7:
        curtain = round(width * rng.uniform(0.16, 0.3))
        for left in (x0, x1 - curtain):
            sheet.rect((left, y0, left + curtain, y1), (196, 190, 178, 190))
    frame = (238, 234, 226)
    sheet.rect((x0, y0, x1, y1), outline=frame, width=9)
    sheet.rect((x0, (y0 + y1) // 2 - 5, x1, (y0 + y1) // 2 + 5), frame)
    sheet.rect(((x0 + x1) // 2 - 4, y0, (x0 + x1) // 2 + 4, y1), frame)
    sheet.rect((x0 - 22, y1 + 6, x1 + 22, y1 + 26), (188, 180, 168))
    sheet.rect((x0 - 18, y1 + 26, x1 + 18, y1 + 36), (60, 50, 46, 90))


def _shop_window(
    sheet: Sheet, box: tuple[float, float, float, float], shop: Shop, rng: np.random.Generator
) -> None:
    x0, y0, x1, y1 = (round(v) for v in box)
    width, height = x1 - x0, y1 - y0
    pane = Sheet(width, height)
    pane.replace(effects.gradient(width, height, (46, 44, 46), (84, 76, 66)))
    for _ in range(4):
        lamp = (rng.uniform(0, width), rng.uniform(0, height * 0.3))
        pane.draw.ellipse((lamp[0], lamp[1], lamp[0] + 40, lamp[1] + 40), (255, 226, 170))
    for shelf in np.linspace(height * 0.5, height * 0.94, 3):
        x = 0.0
        while x < width:
            item = float(rng.uniform(26, 64))
            color = shop.goods[int(rng.integers(len(shop.goods)))]
            tint = tuple(int(c + rng.normal(0, 14)) for c in color)
            pane.rect(
                (x, shelf - rng.uniform(40, 110), x + item, shelf), (tint[0], tint[1], tint[2])
            )
            x += item + float(rng.uniform(2, 16))
        pane.rect((0, shelf, width, shelf + 12), (74, 58, 46))
    inside = pane.image.filter(ImageFilter.GaussianBlur(8))
    shine = Image.new("RGBA", (width, height))
    pen = ImageDraw.Draw(shine)
    for start in (0.12, 0.55):
        left = width * start
        pen.polygon(
            [
                (left, 0),
                (left + width * 0.16, 0),
                (left - width * 0.08, height),
                (left - width * 0.24, height),
            ],
            (255, 255, 255, 34),
        )
    inside.alpha_composite(shine.filter(ImageFilter.GaussianBlur(6)))
    sheet.image.alpha_composite(inside, (x0, y0))
    sheet.rect((x0, y0, x1, y1), outline=shop.band, width=12)


def _wall(shop: Shop, width: int, height: int, rng: np.random.Generator) -> Image.Image:
    if shop.wall == "brick":
        return effects.brick(width, height, shop.tone, rng, (38, 13))
    return effects.plaster(width, height, shop.tone, rng)


def facade(shop: Shop, fonts: FontBook, rng: np.random.Generator) -> Sheet:
    """Draw a shop front with the floors above it, ``METRE`` pixels a metre."""
    width, height = round(shop.wide * METRE), round(shop.tall * METRE)
    sheet = Sheet.of(_wall(shop, width, height, rng))
    floor = height - round(4.0 * METRE)
    rows = max(1, round((shop.tall - 4.4) / 2.9))
    columns = 3 if shop.wide > 5.5 else 2
    for row in range(rows):
        top = floor - round((row + 0.88) * 2.75 * METRE)
        for column in range(columns):
            middle = width * (column + 0.5) / columns
            _window(
                sheet, (middle - 0.48 * METRE, top, middle + 0.48 * METRE, top + 1.55 * METRE), rng
            )
    for offset, thick, tone in ((0, 44, 216), (44, 16, 150)):
        sheet.rect((0, offset, width, offset + thick), (tone, tone - 6, tone - 18))
    sheet.rect((0, floor, width, height), shop.band)
    sheet.rect((0, floor - 16, width, floor), (226, 220, 208))
    for x in (0, width - 52):
        sheet.rect((x, floor, x + 52, height), shop.band)
        sheet.rect((x + 10, floor + 20, x + 42, height - 30), outline=(255, 255, 255, 60), width=3)
    sign_low = floor + round(0.98 * METRE)
    sheet.rect((56, floor + 22, width - 56, sign_low - 10), shop.band, (255, 255, 255, 90), 4)
    name_y = floor + (0.36 if shop.line else 0.5) * METRE
    sheet.fit((width / 2, name_y), shop.name, fonts(shop.face, 112), width - 170, shop.ink, "mm")
    if shop.line:
        sheet.fit(
            (width / 2, floor + 0.76 * METRE),
            shop.line,
            fonts("open-semibold", 44),
            width - 170,
            shop.ink,
            "mm",
        )
    base = height - round(0.5 * METRE)
    door_left = width - round(1.62 * METRE)
    _shop_window(sheet, (70, sign_low + 16, door_left - 40, base), shop, rng)
    _shop_window(sheet, (door_left, sign_low + 16, width - 70, height - 40), shop, rng)
    middle = (70 + door_left - 40) / 2
    y = sign_low + 70.0
    for text in shop.glass:
        sheet.fit(
            (middle, y),
            text,
            fonts("cabin-bold", 66),
            door_left - 190,
            "#fffbe8",
            "ma",
            outline=(20, 20, 20, 130),
            outline_width=2,
        )
        y += 86
    if shop.hours:
        card = Sheet(round(1.16 * METRE), 44 + 46 * len(shop.hours), "#fbfaf4")
        for index, text in enumerate(shop.hours):
            font = fonts("roboto-bold", 38)
            card.fit(
                (card.width / 2, 20 + 46 * index), text, font, card.width - 18, "#1c1c1c", "ma"
            )
        sheet.paste(card, (door_left + 22, sign_low + 120))
    sheet.rect((0, height - 22, width, height), (70, 66, 62))
    light = np.ones((height, width), np.float32)
    light[floor : floor + 12] = 0.7
    light *= np.linspace(1.05, 0.93, height, dtype=np.float32)[:, None]
    sheet.replace(effects.shade(sheet.image, light))
    return sheet


def road_material(rng: np.random.Generator, kerbs: tuple[float, float]) -> Material:
    return Material(
        effects.cloud_noise(512, 512, 160, rng),
        rng.normal(0, 1, (512, 512)).astype(np.float32),
        kerbs,
    )


@dataclass(frozen=True)
class Material:
    """Asphalt between two kerbs (world x), pavement slabs beyond them."""

    clouds: Array
    grit: Array
    kerbs: tuple[float, float]

    def __call__(self, x: Array, z: Array) -> Pixels:
        grit = self.grit
        left, right = self.kerbs
        out = np.empty((*x.shape, 3), np.float32)
        out[:] = (86, 87, 90)
        out += (12 * sample(self.clouds, x, z, 30) + 6 * sample(grit, x, z, 190))[..., None]
        middle = np.abs(x - (left + right) / 2) < 0.07
        out[middle & (z % 4 < 2.2)] = (208, 206, 196)
        for edge in (left + 0.35, right - 0.35):
            out[np.abs(x - edge) < 0.05] = (196, 176, 92)
        pavement = (x < left) | (x > right)
        row = np.floor(z / 0.6)
        across = (x + 0.3 * (row % 2)) % 0.9
        slab = sample(grit, np.floor((x + 0.3 * (row % 2)) / 0.9), row, 7)
        stone = np.empty_like(out)
        stone[:] = (168, 162, 152)
        stone += (7 * slab + 8 * sample(self.clouds, x, z, 40) + 3 * sample(grit, x, z, 170))[
            ..., None
        ]
        joint = (across < 0.025) | (z % 0.6 < 0.025)
        stone[joint] -= 36
        out[pavement] = stone[pavement]
        for edge in (left, right):
            near = np.abs(x - edge) < 0.14
            out[near] = (
                np.array((186, 182, 174), np.float32) + 5 * sample(grit, x, z, 60)[near, None]
            )
            out[near & (z % 0.9 < 0.03)] -= 40
        return out


def plate(
    words: Sequence[tuple[str, float]],
    color: str,
    face: str,
    fonts: FontBook,
    width: int,
    ink: str = "white",
) -> Sheet:
    """A plate with a rim and centred lines of (text, size)."""
    height = round(sum(size * 1.22 for _, size in words) + 44)
    sheet = Sheet(width, height)
    sheet.rect((0, 0, width - 1, height - 1), ink, radius=26)
    sheet.rect((8, 8, width - 9, height - 9), color, radius=20)
    y = 20.0
    for text, size in words:
        sheet.fit((width / 2, y), text, fonts(face, size), width - 44, ink, "ma")
        y += size * 1.22
    return sheet
