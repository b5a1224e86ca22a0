"""A country junction with direction signs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import ImageFilter

from . import effects
from .effects import Lens, Pixels
from .facade import KIND, SUBSET
from .fonts import FontBook
from .page import Page, photo
from .sheet import Sheet, ask
from .world import Array, Camera, World, sample, sky


def _hills(width: int, horizon: float, rng: np.random.Generator) -> Sheet:
    sheet = Sheet(width, round(horizon) + 40)
    for base, tall, color in (
        (0, 200, (142, 164, 178)),
        (10, 130, (126, 152, 138)),
        (26, 70, (104, 136, 84)),
    ):
        ridge = effects.cloud_noise(width, 4, width / 3, rng)[0]
        top = [
            (x, horizon - tall * (0.55 + 0.5 * float(ridge[x])) + base) for x in range(0, width, 6)
        ]
        top.append((width, top[-1][1]))
        sheet.draw.polygon([(0, horizon + 40), *top, (width, horizon + 40)], color)
    for _ in range(420):
        x = float(rng.uniform(0, width))
        size = float(rng.uniform(8, 26))
        y = horizon - float(rng.uniform(-4, 26))
        tone = int(rng.integers(52, 92))
        sheet.draw.ellipse(
            (x - size, y - size, x + size, y + size * 0.5), (tone, tone + 26, tone - 10)
        )
    return sheet


def _tree(rng: np.random.Generator) -> Sheet:
    sheet = Sheet(700, 900)
    sheet.draw.polygon([(330, 900), (345, 480), (365, 480), (385, 900)], (74, 58, 46))
    for _ in range(1500):
        angle, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0, 1) ** 0.6
        x = 350 + 290 * reach * float(np.cos(angle))
        y = 340 + 290 * reach * float(np.sin(angle))
        light = 1.15 - y / 800 + float(rng.normal(0, 0.08))
        size = float(rng.uniform(8, 22))
        color = (int(86 * light), int(122 * light), int(52 * light))
        sheet.draw.ellipse((x - size, y - size, x + size, y + size), color)
    sheet.replace(sheet.image.filter(ImageFilter.GaussianBlur(2)))
    return sheet


@dataclass(frozen=True)
class _Fields:
    """A country road with grass on both sides."""

    clouds: Array
    grit: Array

    def __call__(self, x: Array, z: Array) -> Pixels:
        out = np.empty((*x.shape, 3), np.float32)
        out[:] = (112, 136, 66)
        out += (18 * sample(self.clouds, x, z, 14) + 12 * sample(self.grit, x, z, 50))[..., None]
        road = np.abs(x) < 2.7
        tar = np.empty_like(out)
        tar[:] = (104, 102, 102)
        tar += (9 * sample(self.clouds, x, z, 30) + 7 * sample(self.grit, x, z, 160))[..., None]
        tar[(np.abs(x) < 0.08) & (z % 6 < 3.6)] = (226, 224, 216)
        tar[np.abs(np.abs(x) - 2.5) < 0.06] = (222, 220, 212)
        out[road] = tar[road]
        verge = (np.abs(x) >= 2.7) & (np.abs(x) < 3.2)
        out[verge] = out[verge] * 0.6 + np.array((150, 136, 108), np.float32) * 0.4
        return out


def _direction_sign(fonts: FontBook) -> Sheet:
    sheet = Sheet(1500, 1120, "#0b6b3a")
    sheet.rect((12, 12, 1488, 1108), outline="white", width=12, radius=30)
    sheet.line([(760, 1070), (760, 330)], "white", 58)
    sheet.draw.polygon([(690, 340), (830, 340), (760, 240)], "white")
    sheet.line([(760, 700), (470, 700)], "white", 46)
    sheet.draw.polygon([(510, 640), (510, 760), (430, 700)], "white")
    sheet.line([(760, 850), (1010, 850)], "white", 34)
    sheet.draw.polygon([(1000, 800), (1000, 900), (1066, 850)], "white")
    big, small = fonts("open-bold", 104), fonts("open-bold", 80)
    sheet.text((760, 40), "Elder Marsh 6", big, "white", "ma")
    sheet.text((830, 168), "(A381)", small, "#ffd84a")
    sheet.text((60, 480), "Corran", big, "white")
    sheet.text((60, 590), "Bridge 14", small, "white")
    sheet.text((60, 790), "B4107", small, "#ffd84a")
    sheet.rect((1010, 540, 1450, 770), "white", radius=16)
    sheet.text((1230, 548), "Low Tarn", small, "#111111", "ma")
    sheet.text((1230, 644), "Ferry 2\u00bd", small, "#111111", "ma")
    sheet.rect((880, 930, 1450, 1060), "#7a4a1e", "white", 8, radius=16)
    sheet.text((1165, 994), "Wren Castle", small, "white", "mm")
    return sheet


def _fuel_totem(fonts: FontBook) -> Sheet:
    sheet = Sheet(620, 1500, "#f2f2f0")
    sheet.rect((0, 0, 620, 380), "#d4351c")
    sheet.draw.ellipse((230, 36, 390, 196), "#ffcf33")
    sheet.text((310, 210), "OTTERFUEL", fonts("roboto-black", 96), "white", "ma")
    sheet.text((310, 320), "Junction Services", fonts("open-bold", 46), "#ffe9a8", "ma")
    rows = (("Unleaded", "148.9"), ("Super", "162.7"), ("Diesel", "154.3"), ("LPG", "89.5"))
    for index, (name, price) in enumerate(rows):
        y = 404 + 196 * index
        sheet.rect((24, y, 596, y + 178), "#15171a", radius=14)
        sheet.text((44, y + 16), name, fonts("open-bold", 56), "white")
        sheet.text((580, y + 164), price, fonts("hack-bold", 94), "#ffb020", "rs")
    sheet.text((310, 1204), "Car wash \u00a37", fonts("open-bold", 66), "#15171a", "ma")
    sheet.text(
        (310, 1292), "Caf\u00e9 \u00b7 Cash \u00b7 Air", fonts("open-bold", 58), "#15171a", "ma"
    )
    sheet.text((310, 1380), "Open 24 hours", fonts("open-bold", 66), "#d4351c", "ma")
    return sheet


def _farm_board(fonts: FontBook) -> Sheet:
    sheet = Sheet.of(effects.planks(900, 760, (226, 214, 190), np.random.default_rng(7), 150))
    sheet.text((450, 22), "Hollin Farm Shop", fonts("lobster", 112), "#2f6b2f", "ma")
    rows = (
        ("New potatoes", "\u00a31.80 kg"),
        ("Strawberries", "\u00a33.50"),
        ("Free range eggs", "\u00a32.20 doz"),
        ("Heather honey", "\u00a36"),
    )
    for index, (name, price) in enumerate(rows):
        y = 176 + 104 * index
        sheet.text((44, y), name, fonts("condensed-bold", 72), "#3a2412")
        sheet.text((856, y), price, fonts("condensed-bold", 72), "#b3261e", "ra")
    sheet.text(
        (450, 612),
        "300 yards on left \u00b7 Closed Mondays",
        fonts("cabin-bold", 50),
        "#3a2412",
        "ma",
    )
    sheet.text((450, 678), "No card? Honesty box!", fonts("cabin-bold", 50), "#2f6b2f", "ma")
    return sheet


def _works_sign(fonts: FontBook) -> Sheet:
    sheet = Sheet(860, 760, "#f7b500")
    sheet.rect((10, 10, 849, 749), outline="#151515", width=12, radius=26)
    sheet.fit((430, 36), "ROAD AHEAD CLOSED", fonts("open-bold", 78), 780, "#151515", "ma")
    sheet.text((430, 150), "at Corran Bridge", fonts("open-bold", 76), "#151515", "ma")
    sheet.text((430, 262), "from 9 June", fonts("open-bold", 88), "#151515", "ma")
    sheet.text((430, 380), "for 12 weeks", fonts("open-bold", 88), "#151515", "ma")
    sheet.line([(60, 512), (800, 512)], "#151515", 6)
    sheet.text((430, 530), "Delays possible", fonts("open-bold", 72), "#151515", "ma")
    sheet.text((430, 630), "Tel 01632 960835", fonts("open-bold", 72), "#151515", "ma")
    return sheet


def _village_sign(fonts: FontBook) -> Sheet:
    sheet = Sheet(1000, 620, "#fbfaf5")
    sheet.rect((10, 10, 989, 609), outline="#1c2f4d", width=10, radius=30)
    sheet.text((500, 40), "Welcome to", fonts("garamond-bold", 84), "#1c2f4d", "ma")
    sheet.text((500, 140), "NETHER QUILL", fonts("garamond-bold", 124), "#1c2f4d", "ma")
    sheet.text((500, 290), "Twinned with Saint-Orval", fonts("garamond-bold", 70), "#1c2f4d", "ma")
    sheet.text((500, 384), "Best Kept Village 2029", fonts("garamond-bold", 66), "#7a5a1c", "ma")
    sheet.text((500, 494), "Please drive carefully", fonts("garamond-bold", 76), "#a3231d", "ma")
    return sheet


def _signed(
    world: World, sheet: Sheet, at: tuple[float, float, float], wide: float, facing: float
) -> None:
    """A sign on two posts; ``at`` is x, height of its lower edge, z."""
    x, low, z = at
    tall = wide * sheet.height / sheet.width
    turn = np.deg2rad(facing)
    dx, dz = 0.36 * wide * float(np.cos(turn)), -0.36 * wide * float(np.sin(turn))
    for side in (-1, 1):
        world.post(x + side * dx, z + side * dz + 0.03, low + tall * 0.9, 0.1, (128, 130, 132))
    world.board(sheet, (x, low + tall / 2, z), wide, tall, facing)


def _junction(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(1003)
    camera = Camera(2400, 1800, 1900, (-0.6, 1.8, 0.0), 0, 3.8, 0.5)
    world = World(camera, (214, 212, 206), 170)
    horizon = camera.see((-0.6, 1.8, 1000.0))[1]
    world.backdrop(sky(2400, 1800, rng, (88, 130, 190), (240, 220, 194), 0.46))
    world.paint_ground(
        _Fields(
            effects.cloud_noise(512, 512, 120, rng), rng.normal(0, 1, (512, 512)).astype(np.float32)
        )
    )
    hills = _hills(2400, horizon, rng)
    world.picture.image.alpha_composite(hills.image.filter(ImageFilter.GaussianBlur(2.5)))
    for x, z, tall in ((-14, 52, 9), (12, 60, 10), (-22, 40, 8), (24, 46, 9), (-9, 30, 6.5)):
        world.stand(_tree(rng), (x - tall * 0.4, z), (x + tall * 0.4, z), 0, tall, 0.95, read=False)

    def ground_shadow(x: float, z: float, wide: float) -> None:
        spot = (
            (x - wide, 0.01, z - 0.1),
            (x + wide, 0.01, z - 0.1),
            (x + wide * 1.6, 0.01, z + 0.5),
            (x - wide * 0.6, 0.01, z + 0.5),
        )
        world.shadow(spot, 14, 0.4)

    for sheet, at, wide, facing in (
        (_fuel_totem(fonts), (4.65, 1.75, 12.0), 2.0, 4),
        (_direction_sign(fonts), (-5.3, 1.98, 11.0), 3.9, -6),
        (_farm_board(fonts), (-3.4, 0.3, 9.0), 1.7, -5),
        (_works_sign(fonts), (-4.9, 0.3, 8.5), 1.55, -8),
        (_village_sign(fonts), (3.5, 0.5, 8.4), 1.96, 8),
    ):
        ground_shadow(at[0], at[2], wide * 0.4)
        _signed(world, sheet, at, wide, facing)
    world.picture.replace(effects.lit_from(world.picture.image, (0.8, 0.3), 1.0, 0.86, 1.08))
    return photo(world.picture, (1200, 900), Lens(0.55, 2.8, 0.3, warmth=0.35, contrast=1.06), rng)


PAGE = Page(
    SUBSET,
    "elder-marsh-junction.jpg",
    KIND,
    _junction,
    (
        ask("What is the price of diesel?", "154.3"),
        ask("Which place is 14 miles away?", "Corran Bridge"),
        ask("What is the name of the village?", "Nether Quill", "NETHER QUILL"),
        ask("How long will the road be closed?", "12 weeks", "for 12 weeks"),
    ),
)
