"""MiniScene: streets with shop signs, road signs and posters, photographed on foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from . import effects
from .effects import RGB, Lens, Pixels
from .fonts import FontBook
from .page import Page
from .sheet import Color, Sheet, ask
from .world import Array, Camera, World, sample, sky

SUBSET = "MiniScene"
_KIND = "Street Scene (sample)"
_M = 170  # pixels of a facade's texture per metre


def _develop(world: World, size: tuple[int, int], lens: Lens, rng: np.random.Generator) -> Sheet:
    world.picture.replace(effects.photograph(world.picture.image, size, lens, rng))
    return world.picture


def _sheet_of(image: Image.Image) -> Sheet:
    sheet = Sheet(*image.size)
    sheet.replace(image)
    return sheet


# --- buildings ----------------------------------------------------------------------------------


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


def _facade(shop: Shop, fonts: FontBook, rng: np.random.Generator) -> Sheet:
    """Draw a shop front with the floors above it, ``_M`` pixels a metre."""
    width, height = round(shop.wide * _M), round(shop.tall * _M)
    sheet = _sheet_of(_wall(shop, width, height, rng))
    floor = height - round(4.0 * _M)
    rows = max(1, round((shop.tall - 4.4) / 2.9))
    columns = 3 if shop.wide > 5.5 else 2
    for row in range(rows):
        top = floor - round((row + 0.88) * 2.75 * _M)
        for column in range(columns):
            middle = width * (column + 0.5) / columns
            _window(sheet, (middle - 0.48 * _M, top, middle + 0.48 * _M, top + 1.55 * _M), rng)
    for offset, thick, tone in ((0, 44, 216), (44, 16, 150)):
        sheet.rect((0, offset, width, offset + thick), (tone, tone - 6, tone - 18))
    sheet.rect((0, floor, width, height), shop.band)
    sheet.rect((0, floor - 16, width, floor), (226, 220, 208))
    for x in (0, width - 52):
        sheet.rect((x, floor, x + 52, height), shop.band)
        sheet.rect((x + 10, floor + 20, x + 42, height - 30), outline=(255, 255, 255, 60), width=3)
    sign_low = floor + round(0.98 * _M)
    sheet.rect((56, floor + 22, width - 56, sign_low - 10), shop.band, (255, 255, 255, 90), 4)
    name_y = floor + (0.36 if shop.line else 0.5) * _M
    sheet.fit((width / 2, name_y), shop.name, fonts(shop.face, 112), width - 170, shop.ink, "mm")
    if shop.line:
        sheet.fit(
            (width / 2, floor + 0.76 * _M),
            shop.line,
            fonts("open-semibold", 44),
            width - 170,
            shop.ink,
            "mm",
        )
    base = height - round(0.5 * _M)
    door_left = width - round(1.62 * _M)
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
        card = Sheet(round(1.16 * _M), 44 + 46 * len(shop.hours), "#fbfaf4")
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


def _road_material(rng: np.random.Generator, kerbs: tuple[float, float]) -> _Material:
    return _Material(
        effects.cloud_noise(512, 512, 160, rng),
        rng.normal(0, 1, (512, 512)).astype(np.float32),
        kerbs,
    )


@dataclass(frozen=True)
class _Material:
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


def _plate(
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


# --- 1: a shopping street by day ----------------------------------------------------------------

_HIGH_STREET = (
    Shop(
        "Pennywhistle Books",
        "garamond-bold",
        "#1e3a34",
        "#e9d9a6",
        "New, used & antiquarian since 1974",
        ("Half price travel", "guides this week"),
        ("OPEN", "Mon-Sat", "9.30-6.00"),
        "brick",
        (158, 92, 70),
        ((120, 60, 50), (60, 80, 110), (190, 170, 120), (80, 100, 70)),
        6.4,
        9.6,
    ),
    Shop(
        "Fig & Thistle",
        "lobster",
        "#6b2c46",
        "#fbe9d2",
        "BAKERY \u00b7 COFFEE \u00b7 CAKES",
        ("Sourdough \u00a34.20", "Cardamom buns \u00a32.80"),
        (),
        "plaster",
        (222, 205, 176),
        ((206, 150, 84), (226, 190, 130), (150, 90, 50)),
        5.6,
        8.4,
    ),
    Shop(
        "Northlight Cycles",
        "roboto-black",
        "#16334f",
        "#ffd23f",
        "Repairs while you wait",
        ("Service from \u00a335",),
        (),
        "brick",
        (134, 104, 82),
        ((70, 90, 120), (180, 60, 50), (60, 60, 60)),
        6.0,
        9.0,
    ),
    Shop(
        "Marlowe Opticians",
        "lato-bold",
        "#e9ecec",
        "#0b5d63",
        "Eye tests \u00b7 Contact lenses",
        (),
        (),
        "plaster",
        (196, 204, 206),
        ((200, 210, 210), (90, 110, 120)),
        5.6,
        8.6,
    ),
    Shop(
        "The Anchor Rest",
        "slab-bold",
        "#24211f",
        "#e6b24c",
        "Free house",
        (),
        (),
        "brick",
        (122, 74, 58),
        ((150, 110, 70), (90, 70, 50)),
        7.0,
        9.4,
    ),
)


def _van_side(fonts: FontBook) -> Sheet:
    sheet = Sheet(1500, 700)
    sheet.draw.rounded_rectangle((20, 20, 1480, 590), 70, "#f2f2ee")
    sheet.draw.polygon([(1210, 20), (1500, 20), (1500, 330), (1420, 300)], (0, 0, 0, 0))
    sheet.draw.polygon([(1180, 20), (1240, 24), (1470, 310), (1480, 420), (1180, 420)], "#f2f2ee")
    sheet.draw.polygon([(1170, 90), (1236, 90), (1400, 300), (1170, 300)], "#2c3640")
    sheet.rect((20, 520, 1480, 590), "#c9c9c4")
    for x in (330, 1210):
        sheet.draw.ellipse((x - 108, 480, x + 108, 696), "#1a1a1a")
        sheet.draw.ellipse((x - 62, 526, x + 62, 650), "#9b9fa4")
        sheet.draw.ellipse((x - 20, 568, x + 20, 608), "#55595e")
    sheet.text((590, 70), "Hobbs & Daughter", fonts("lobster", 130), "#0d5c9c", "ma")
    sheet.text((590, 240), "PLUMBING \u00b7 HEATING", fonts("open-condensed", 92), "#d0342c", "ma")
    sheet.text((590, 366), "020 7946 0318", fonts("roboto-black", 104), "#0d5c9c", "ma")
    return sheet


def _van_back(fonts: FontBook) -> Sheet:
    sheet = Sheet(700, 700)
    sheet.draw.rounded_rectangle((10, 20, 690, 640), 60, "#e4e4df")
    sheet.rect((346, 40, 354, 600), "#a5a5a0")
    for left in (60, 380):
        sheet.rect((left, 80, left + 260, 270), "#2c3640", radius=24)
    for left in (24, 626):
        sheet.rect((left, 330, left + 50, 500), "#b3241d", radius=12)
    sheet.text((350, 290), "No tools left in van", fonts("open-bold", 46), "#0d5c9c", "ma")
    sheet.rect((200, 420, 500, 500), "#f4cf3a", "#222222", 3, radius=10)
    sheet.text((350, 460), "HD31 PVC", fonts("condensed-bold", 70), "#111111", "mm")
    sheet.rect((10, 580, 690, 650), "#3b3d40", radius=20)
    for left in (60, 520):
        sheet.rect((left, 640, left + 120, 700), "#161616")
    return sheet


def _menu_board(title: str, lines: Sequence[str], fonts: FontBook) -> Sheet:
    sheet = Sheet(560, 900)
    sheet.rect((0, 0, 559, 899), "#7a5330")
    sheet.rect((34, 34, 526, 866), "#22282a")
    sheet.text((280, 62), title, fonts("lobster", 92), "#ffe07a", "ma")
    y = 196
    for text in lines:
        sheet.fit((280, y), text, fonts("kaffeesatz-bold", 84), 460, "#f4f1e6", "ma")
        y += 108
    return sheet


def _high_street(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(1001)
    camera = Camera(2400, 1800, 1700, (3.6, 1.7, -1.0), -37, 6.5, 0.6)
    world = World(camera, (203, 212, 222), 150)
    world.backdrop(sky(2400, 1800, rng, (96, 144, 204), (214, 224, 232), 0.34))
    world.paint_ground(_road_material(rng, (-3.3, 1.5)))
    # The far side of the street closes the view on the right.
    far = Shop("", "lato", "#5d5148", "#ffffff", tone=(168, 132, 104), wide=8, tall=10)
    for index in range(3):
        block = _facade(far, fonts, rng)
        x = -5.4 + 8.0 * index
        world.stand(block, (x, 44), (x + 8, 44), 0, 10.5, 0.9, read=False)
    ends = [1.2]
    for shop in _HIGH_STREET:
        ends.append(ends[-1] + shop.wide)
    for index in reversed(range(len(_HIGH_STREET))):
        shop = _HIGH_STREET[index]
        near, away = ends[index], ends[index + 1]
        front = _facade(shop, fonts, rng)
        hidden = index == 4  # behind the parking sign
        light = 1.04 - 0.03 * index
        world.stand(front, (-5.4, near), (-5.4, away), 0, shop.tall, light, read=not hidden)
        if index == 1:
            _awning(world, near, away, "#8a3555")
        hanging = {
            0: ("BOOKS", "#1e3a34", "#e9d9a6"),
            2: ("Bike hire", "#16334f", "#ffd23f"),
        }
        if index in hanging:
            text, color, ink = hanging[index]
            sign = _plate([(text, 110)], color, "slab-bold", fonts, 520, ink)
            z = away - 0.5
            world.board(sign, (-4.75, 4.6, z), 1.15, 0.44)
    world.shadow(
        ((-5.4, 0.01, 2.2), (-5.4, 0.01, 30), (-4.5, 0.01, 30), (-4.5, 0.01, 2.2)), 22, 0.4
    )
    world.shadow(
        ((-3.25, 0.01, 9.0), (-3.25, 0.01, 14.2), (-0.9, 0.01, 14.2), (-0.9, 0.01, 9.0)), 22, 0.75
    )
    back = _van_back(fonts)
    world.stand(_van_side(fonts), (-1.15, 9.0), (-1.15, 14.0), 0, 2.3, 0.98)
    world.stand(back, (-3.1, 9.0), (-1.15, 9.0), 0, 2.3, 0.8)
    board = _menu_board(
        "Lunch today",
        (
            "Leek & potato soup",
            "Cheese toastie \u00a36.50",
            "Rhubarb crumble",
            "Oat milk, no extra",
        ),
        fonts,
    )
    world.shadow(
        ((-4.5, 0.01, 7.0), (-3.3, 0.01, 7.2), (-3.1, 0.01, 7.7), (-4.4, 0.01, 7.6)), 12, 0.6
    )
    world.board(board, (-3.85, 0.72, 7.0), 0.86, 1.38, -30)
    world.shadow(((2.2, 0.01, 4.4), (3.6, 0.01, 5.6), (3.6, 0.01, 5.8), (2.2, 0.01, 4.6)), 8, 0.4)
    world.post(2.3, 4.52, 3.5, 0.09, (120, 124, 128))
    name = _plate(
        (("HARBOUR LANE", 96), ("leading to Fishmarket Square", 50)),
        "#f7f7f4",
        "open-bold",
        fonts,
        860,
        "#151515",
    )
    world.board(name, (2.3, 3.22, 4.5), 1.3, 0.38, -22)
    parking = _plate(
        (
            ("P", 190),
            ("Permit holders", 62),
            ("or pay at machine", 62),
            ("Mon - Sat", 62),
            ("8 am - 6.30 pm", 62),
            ("Max stay 2 hours", 62),
        ),
        "#0f4c9a",
        "open-bold",
        fonts,
        620,
    )
    world.board(parking, (2.3, 2.4, 4.48), 0.86, 1.02, -22)
    world.picture.replace(effects.lit_from(world.picture.image, (0.3, 0.3), 1.1, 0.9, 1.08))
    return _develop(world, (1200, 900), Lens(0.55, 3.0, 0.3, warmth=0.25, contrast=1.06), rng)


def _awning(world: World, near: float, away: float, color: Color) -> None:
    cloth = Sheet(1100, 260)
    for index, x in enumerate(range(0, 1100, 110)):
        cloth.rect((x, 0, x + 110, 260), color if index % 2 else "#f3e7d6")
    slope = (
        (-5.38, 3.02, near + 0.3),
        (-5.38, 3.02, away - 0.3),
        (-4.3, 2.62, away - 0.3),
        (-4.3, 2.62, near + 0.3),
    )
    world.put(cloth, slope, 0.92, read=False)
    hem = Sheet(1100, 60)
    for index, x in enumerate(range(0, 1100, 110)):
        tone = color if index % 2 else "#f3e7d6"
        hem.rect((x, 0, x + 110, 30), tone)
        hem.draw.ellipse((x, 0, x + 109, 58), tone)
    world.stand(hem, (-4.3, near + 0.3), (-4.3, away - 0.3), 2.42, 2.62, 1.0, read=False)


# --- 2: a brick wall full of posters ------------------------------------------------------------


def _gig_poster(fonts: FontBook) -> Sheet:
    sheet = Sheet(640, 900, "#f2d14b")
    for turn in range(0, 360, 15):
        angle = np.deg2rad(turn)
        end = (320 + 900 * float(np.cos(angle)), 620 + 900 * float(np.sin(angle)))
        other = (320 + 900 * float(np.cos(angle + 0.13)), 620 + 900 * float(np.sin(angle + 0.13)))
        sheet.draw.polygon([(320, 620), end, other], "#f0b93a")
    sheet.text((320, 36), "THE COPPER", fonts("bebas", 150), "#b3261e", "ma")
    sheet.text((320, 176), "KETTLES", fonts("bebas", 190), "#b3261e", "ma")
    sheet.text((320, 372), "with the Mira Vance Trio", fonts("slab-bold", 44), "#2a1a12", "ma")
    sheet.draw.ellipse((222, 446, 418, 642), "#b3261e")
    sheet.rect((296, 424, 344, 460), "#b3261e")
    sheet.draw.arc((150, 470, 290, 610), 90, 270, "#b3261e", 22)
    sheet.text((320, 662), "FRI 14 NOV", fonts("bebas", 100), "#2a1a12", "ma")
    sheet.text(
        (320, 764), "Lantern Hall \u00b7 Doors 7.30 pm", fonts("slab-bold", 40), "#2a1a12", "ma"
    )
    sheet.text((320, 822), "Tickets \u00a312 / \u00a39", fonts("slab-bold", 46), "#b3261e", "ma")
    return sheet


def _cat_poster(fonts: FontBook) -> Sheet:
    sheet = Sheet(600, 820, "#fdfdfb")
    sheet.text((300, 20), "LOST CAT", fonts("roboto-black", 124), "#c01818", "ma")
    sheet.rect((120, 174, 480, 470), "#9db28f")
    sheet.draw.ellipse((200, 330, 430, 500), "#d98236")
    sheet.rect((121, 470, 479, 510), "#fdfdfb")
    sheet.draw.ellipse((220, 220, 370, 370), "#e08d3f")
    for tip, left, right in ((228, 226, 280), (362, 310, 364)):
        sheet.draw.polygon([(tip, 186), (left, 270), (right, 236)], "#e08d3f")
    for eye in (262, 328):
        sheet.draw.ellipse((eye - 14, 276, eye + 14, 304), "#e9f2a0")
        sheet.draw.ellipse((eye - 5, 278, eye + 5, 302), "#20180f")
    sheet.draw.polygon([(286, 316), (304, 316), (295, 328)], "#b0505a")
    sheet.paragraph(
        (40, 486),
        "Answers to BISCUIT. Ginger, white socks, very shy. Last seen near Mill Street on 3 May.",
        fonts("open-semibold", 42),
        520,
        "#1d1d1d",
        leading=1.2,
        align="m",
    )
    sheet.text((300, 690), "REWARD \u00a350", fonts("roboto-black", 60), "#c01818", "ma")
    sheet.text((300, 758), "07700 900461", fonts("roboto-bold", 52), "#1d1d1d", "ma")
    return sheet


def _classes_poster(fonts: FontBook) -> Sheet:
    sheet = Sheet(700, 940, "#dff0ee")
    sheet.rect((0, 0, 700, 210), "#146c68")
    sheet.text((350, 22), "Evening classes", fonts("lobster", 96), "white", "ma")
    sheet.text((350, 136), "Saltmarsh Adult College", fonts("lato-bold", 46), "#bfe6df", "ma")
    rows = (
        ("Mon", "Pottery", "6.00 pm", "\u00a378"),
        ("Tue", "Welsh", "7.15 pm", "\u00a352"),
        ("Wed", "Life drawing", "6.30 pm", "\u00a364"),
        ("Thu", "Bookbinding", "7.00 pm", "\u00a385"),
        ("Fri", "Ukulele", "5.45 pm", "\u00a340"),
    )
    heads = ("Day", "Course", "Starts", "Fee")
    for index, cells in enumerate((heads, *rows)):
        y = 236 + 82 * index
        if index % 2:
            sheet.rect((20, y, 680, y + 82), "#c4e4df")
        face = "lato-black" if index == 0 else "lato-bold"
        for x, cell in zip((34, 136, 396, 590), cells, strict=True):
            sheet.text((x, y + 41), cell, fonts(face, 40), "#123b39", "lm")
    sheet.text((350, 752), "Term begins 22 September", fonts("lato-bold", 48), "#146c68", "ma")
    sheet.text((350, 816), "Enrol in the library, desk 4", fonts("lato", 44), "#123b39", "ma")
    sheet.text((350, 874), "or call 01632 960572", fonts("lato", 44), "#123b39", "ma")
    return sheet


def _play_poster(fonts: FontBook) -> Sheet:
    sheet = _sheet_of(effects.gradient(620, 900, (34, 30, 66), (160, 78, 92)))
    sheet.draw.ellipse((180, 240, 440, 500), "#f5dfb0")
    sheet.draw.ellipse((236, 216, 496, 476), (88, 50, 80))
    for x, tall in ((90, 190), (230, 240), (400, 210), (520, 260)):
        sheet.draw.polygon([(x - 70, 700), (x, 700 - tall), (x + 70, 700)], (22, 24, 40))
    sheet.rect((0, 690, 620, 900), (22, 24, 40))
    sheet.text((310, 36), "THE GLASS", fonts("garamond-bold", 100), "#f5dfb0", "ma")
    sheet.text((310, 132), "ORCHARD", fonts("garamond-bold", 112), "#f5dfb0", "ma")
    sheet.text((310, 704), "a play by Ines Halloran", fonts("garamond-italic", 52), "#f5dfb0", "ma")
    sheet.text((310, 770), "BROOK THEATRE", fonts("garamond-bold", 58), "white", "ma")
    sheet.text((310, 836), "6 - 22 June, nightly at 8", fonts("garamond-bold", 44), "white", "ma")
    return sheet


def _flea_poster(fonts: FontBook) -> Sheet:
    sheet = Sheet(720, 620, "#f7efe2")
    sheet.rect((14, 14, 706, 606), outline="#1b6b8f", width=10)
    sheet.text((360, 30), "FLEA MARKET", fonts("bebas", 150), "#e0522d", "ma")
    sheet.text((360, 190), "every first Sunday", fonts("lobster", 80), "#1b6b8f", "ma")
    sheet.text((360, 300), "Tannery Yard, 8 am - 2 pm", fonts("slab-bold", 50), "#222222", "ma")
    sheet.fit(
        (360, 372),
        "Records \u00b7 Lamps \u00b7 Maps \u00b7 Chairs",
        fonts("slab", 40),
        620,
        "#222222",
        "ma",
    )
    sheet.rect((70, 446, 650, 530), "#1b6b8f", radius=20)
    sheet.text((360, 488), "Stalls from \u00a315", fonts("slab-bold", 52), "white", "mm")
    sheet.text((360, 542), "Free entry, dogs welcome", fonts("slab", 40), "#222222", "ma")
    return sheet


def _planning_notice(fonts: FontBook) -> Sheet:
    sheet = Sheet(640, 900, "#f6e86a")
    sheet.text((320, 28), "PLANNING NOTICE", fonts("sans-bold", 64), "#141414", "ma")
    sheet.line([(40, 112), (600, 112)], "#141414", 5)
    y = sheet.paragraph(
        (40, 130),
        "Proposal: change of use from tannery to nine flats and a bakery, with cycle store and "
        "green roof.",
        fonts("sans", 44),
        560,
        "#141414",
        leading=1.2,
    )
    for label, value in (
        ("Application", "31/0487/FUL"),
        ("Site", "12 Tannery Yard"),
        ("Officer", "P. Okonjo"),
        ("Reply by", "30 October"),
    ):
        y += 14
        sheet.text((40, y), label + ":", fonts("sans", 42), "#141414")
        sheet.text((600, y), value, fonts("sans-bold", 44), "#141414", "ra")
        y += 46
    sheet.paragraph(
        (40, y + 24),
        "Plans may be seen at the Town Hall, room 116, Tuesday to Thursday.",
        fonts("sans", 42),
        560,
        "#141414",
        leading=1.2,
    )
    return sheet


def _bin(fonts: FontBook) -> Sheet:
    sheet = Sheet(560, 1000)
    sheet.rect((0, 60, 560, 1000), "#23282b", radius=40)
    sheet.rect((0, 0, 560, 120), "#15181a", radius=50)
    sheet.rect((60, 170, 500, 330), "#08090a", radius=30)
    sheet.text((280, 400), "LITTER", fonts("condensed-bold", 130), "#e5c65a", "ma")
    sheet.text((280, 570), "Saltmarsh", fonts("condensed-bold", 70), "#d8d8d2", "ma")
    sheet.text((280, 650), "Borough Council", fonts("condensed-bold", 70), "#d8d8d2", "ma")
    sheet.replace(effects.bent(sheet.image, 70, 26, light=-0.4, edge=0.35))
    return sheet


def _worn(sheet: Sheet, rng: np.random.Generator) -> Sheet:
    """Give a poster the creases and stains of weather."""
    width, height = sheet.image.size
    tone = 1 + 0.06 * effects.cloud_noise(width, height, width / 2, rng)
    for _ in range(3):
        at = int(rng.integers(width // 6, width))
        tone[:, at : at + 3] *= float(rng.uniform(0.8, 1.15))
    at = int(rng.integers(height // 4, height))
    tone[at : at + 3] *= 0.86
    sheet.replace(effects.shade(sheet.image, tone.astype(np.float32)))
    return sheet


def _poster_wall(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(1002)
    camera = Camera(2400, 1800, 1750, (0.2, 1.62, 0.0), -52, 1.5, -0.8)
    world = World(camera, (196, 196, 194), 90)
    world.backdrop(sky(2400, 1800, rng, (150, 166, 186), (222, 224, 224), 0.7))
    world.paint_ground(_road_material(rng, (-0.9, 5.5)))
    end = Shop(
        "", "lato", "#4a4f4c", "#ffffff", wall="plaster", tone=(206, 196, 178), wide=7, tall=8
    )
    block = _facade(end, fonts, rng)
    for index in range(3):
        world.stand(block, (-13 + 7 * index, 24), (-6 + 7 * index, 24), 0, 8.0, 0.85, read=False)
    wall = _sheet_of(effects.brick(3000, 900, (146, 82, 64), rng, (50, 17)))
    wall.rect((0, 0, 3000, 40), (178, 170, 158))
    wall.rect((0, 836, 3000, 900), (92, 88, 84))
    tone = np.ones((900, 3000), np.float32)
    tone[40:70] = 0.66
    tone *= (1 + 0.1 * effects.cloud_noise(3000, 900, 500, rng)).astype(np.float32)
    tone[600:] *= np.linspace(1, 0.72, 300, dtype=np.float32)[:, None]
    wall.replace(effects.shade(wall.image, tone))
    world.stand(wall, (-3.0, -1.2), (-3.0, 10.8), 0, 3.6)
    world.shadow(
        ((-3.0, 0.01, 0.4), (-3.0, 0.01, 12), (-2.5, 0.01, 12), (-2.5, 0.01, 0.4)), 24, 0.5
    )
    posters = (
        # (sheet, near end on the wall, width, low, tilt)
        (_classes_poster(fonts), 0.50, 0.98, 0.98, 0.012),
        (_gig_poster(fonts), 1.62, 1.06, 0.92, -0.02),
        (_cat_poster(fonts), 2.84, 0.80, 1.18, 0.02),
        (_play_poster(fonts), 3.80, 1.08, 0.90, 0.0),
        (_planning_notice(fonts), 5.04, 0.98, 0.98, -0.01),
        (_flea_poster(fonts), 6.22, 1.50, 1.02, 0.015),
    )
    for poster, near, wide, low, tilt in posters:
        tall = wide * poster.height / poster.width
        away = near + wide
        lift = tilt * wide
        _worn(poster, rng)
        edge = (
            (-2.99, low + tall, near),
            (-2.99, low + tall + lift, away),
            (-2.99, low + lift, away),
            (-2.99, low, near),
        )
        world.shadow([(x, y - 0.02, z + 0.02) for x, y, z in edge], 7, 0.5)
        world.put(poster, edge)
    plate = _plate((("TANNERY YARD", 100),), "#22303c", "open-bold", fonts, 900)
    world.stand(plate, (-2.98, 2.2), (-2.98, 3.5), 2.66, 2.96)
    ban = _plate(
        (("STICK NO BILLS", 84), ("Fine \u00a3200. By order, Borough Surveyor", 44)),
        "#f4f1e8",
        "serif-bold",
        fonts,
        980,
        "#7d1713",
    )
    world.stand(ban, (-2.98, 4.6), (-2.98, 6.0), 2.56, 2.92)
    world.shadow(
        ((-1.9, 0.01, 2.8), (-1.1, 0.01, 2.8), (-0.9, 0.01, 3.5), (-1.7, 0.01, 3.5)), 16, 0.6
    )
    world.board(_bin(fonts), (-1.5, 0.5, 2.95), 0.56, 1.0, -52)
    world.picture.replace(effects.lit_from(world.picture.image, (0.45, 0.35), 0.95, 0.8, 1.1))
    return _develop(world, (1200, 900), Lens(0.55, 3.2, 0.32, warmth=0.1, contrast=1.05), rng)


# --- 3: a country junction with direction signs -------------------------------------------------


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
    sheet.draw.polygon([(480, 640), (480, 760), (400, 700)], "white")
    sheet.line([(760, 850), (1010, 850)], "white", 34)
    sheet.draw.polygon([(1000, 800), (1000, 900), (1066, 850)], "white")
    big, small = fonts("open-bold", 104), fonts("open-bold", 80)
    sheet.text((760, 40), "Elder Marsh 6", big, "white", "ma")
    sheet.text((830, 168), "(A381)", small, "#ffd84a")
    sheet.text((60, 480), "Corran", big, "white")
    sheet.text((60, 590), "Bridge 14", small, "white")
    sheet.text((60, 790), "B4107", small, "#ffd84a")
    sheet.rect((1010, 560, 1450, 760), "white", radius=16)
    sheet.text((1230, 580), "Low Tarn", small, "#111111", "ma")
    sheet.text((1230, 664), "Ferry 2\u00bd", small, "#111111", "ma")
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
        sheet.text((580, y + 164), price, fonts("hack-bold", 104), "#ffb020", "rs")
    sheet.text((310, 1204), "Car wash \u00a37", fonts("open-bold", 66), "#15171a", "ma")
    sheet.text(
        (310, 1292), "Caf\u00e9 \u00b7 Cash \u00b7 Air", fonts("open-bold", 58), "#15171a", "ma"
    )
    sheet.text((310, 1380), "Open 24 hours", fonts("open-bold", 66), "#d4351c", "ma")
    return sheet


def _farm_board(fonts: FontBook) -> Sheet:
    sheet = _sheet_of(effects.planks(900, 760, (226, 214, 190), np.random.default_rng(7), 150))
    sheet.text((450, 22), "Hollin Farm Shop", fonts("lobster", 112), "#2f6b2f", "ma")
    rows = (
        ("New potatoes", "\u00a31.80 kg"),
        ("Strawberries", "\u00a33.50"),
        ("Free range eggs", "\u00a32.20 doz"),
        ("Heather honey", "\u00a36"),
    )
    for index, (name, price) in enumerate(rows):
        y = 176 + 104 * index
        sheet.text((44, y), name, fonts("kaffeesatz-bold", 92), "#3a2412")
        sheet.text((856, y), price, fonts("kaffeesatz-bold", 92), "#b3261e", "ra")
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
    sheet.text((500, 40), "Welcome to", fonts("garamond-italic", 84), "#1c2f4d", "ma")
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
        (_farm_board(fonts), (-3.45, 0.3, 9.0), 1.72, -5),
        (_works_sign(fonts), (-4.86, 0.3, 8.5), 1.62, -8),
        (_village_sign(fonts), (3.5, 0.5, 8.4), 1.96, 8),
    ):
        ground_shadow(at[0], at[2], wide * 0.4)
        _signed(world, sheet, at, wide, facing)
    world.picture.replace(effects.lit_from(world.picture.image, (0.8, 0.3), 1.0, 0.86, 1.08))
    return _develop(world, (1200, 900), Lens(0.55, 2.8, 0.3, warmth=0.35, contrast=1.06), rng)


# --- 4: a wet street by night -------------------------------------------------------------------

_NIGHT = (
    Shop(
        "Orpheum Cinema",
        "bebas",
        "#3d0f18",
        "#ffd98a",
        "",
        (),
        (),
        "plaster",
        (150, 132, 120),
        ((200, 60, 50), (220, 180, 90), (70, 60, 120)),
        7.0,
        9.4,
    ),
    Shop(
        "Golden Ladle Noodle Bar",
        "lobster",
        "#7c1414",
        "#ffe28a",
        "Eat in or take away until 1 am",
        (),
        (),
        "brick",
        (120, 80, 66),
        ((230, 150, 60), (200, 70, 50), (240, 200, 120)),
        6.2,
        8.8,
    ),
    Shop(
        "Midnight Pharmacy",
        "lato-black",
        "#0e4f3c",
        "#eafff4",
        "Prescriptions \u00b7 First aid \u00b7 24 hours",
        (),
        (),
        "plaster",
        (170, 170, 160),
        ((230, 236, 230), (120, 190, 170), (220, 220, 240)),
        6.0,
        9.0,
    ),
    Shop(
        "Vinyl Parlour",
        "smiley",
        "#241a4a",
        "#ff8ad8",
        "Buy \u00b7 sell \u00b7 swap",
        (),
        (),
        "brick",
        (110, 84, 84),
        ((80, 60, 140), (200, 80, 160), (60, 140, 180)),
        5.6,
        8.8,
    ),
)


def _neon(
    words: Sequence[tuple[str, float]], face: str, color: RGB, fonts: FontBook, width: int
) -> Sheet:
    """Glass tubes bent to letters, on clear ground."""
    height = round(sum(size * 1.2 for _, size in words) + 40)
    sheet = Sheet(width, height)
    y = 20.0
    pale = (min(255, color[0] + 90), min(255, color[1] + 90), min(255, color[2] + 90))
    for text, size in words:
        sheet.text(
            (width / 2, y), text, fonts(face, size), pale, "ma", outline=color, outline_width=5
        )
        y += size * 1.2
    return sheet


def _marquee(fonts: FontBook) -> Sheet:
    sheet = Sheet(1300, 620, "#2a0d12")
    sheet.rect((26, 26, 1274, 594), "#fff6dc")
    for x in range(30, 1290, 52):
        for y in (13, 607):
            sheet.draw.ellipse((x - 9, y - 9, x + 9, y + 9), "#ffe9a0")
    sheet.text((650, 40), "NOW SHOWING", fonts("condensed-bold", 80), "#b3101e", "ma")
    rows = (
        ("1", "THE TIDEKEEPER", "6.15  8.40"),
        ("2", "MOSS AND MARBLE", "7.00  9.25"),
        ("3", "A CLERK IN VENICE", "5.50  8.05"),
        ("L", "PAPER LIONS", "10.30"),
    )
    for index, (screen, title, times) in enumerate(rows):
        y = 142 + 110 * index
        sheet.text((56, y), screen, fonts("condensed-bold", 84), "#b3101e")
        sheet.text((126, y), title, fonts("condensed-bold", 84), "#14110f")
        sheet.text((1250, y), times, fonts("condensed-bold", 84), "#14110f", "ra")
    return sheet


def _noodle_menu(fonts: FontBook) -> Sheet:
    sheet = Sheet(760, 800, "#fff2d4")
    sheet.rect((0, 0, 760, 130), "#c01f1f")
    sheet.text((380, 66), "HOT BOWLS", fonts("bebas", 120), "#ffe9a0", "mm")
    rows = (
        ("Ginger duck noodles", "\u00a39.80"),
        ("Chilli tofu ramen", "\u00a38.40"),
        ("Leek dumplings", "\u00a36.90"),
        ("Sesame greens", "\u00a34.50"),
        ("Lemon barley tea", "\u00a32.20"),
    )
    for index, (name, price) in enumerate(rows):
        y = 150 + 108 * index
        sheet.text((26, y), name, fonts("condensed-bold", 64), "#3a1a10")
        sheet.text((736, y), price, fonts("condensed-bold", 68), "#c01f1f", "ra")
    sheet.text(
        (380, 712), "Students 10% off before 7", fonts("condensed-bold", 58), "#3a1a10", "ma"
    )
    return sheet


def _bus_stop(fonts: FontBook) -> Sheet:
    sheet = Sheet(760, 820, "#0d1218")
    sheet.rect((0, 0, 760, 150), "#f5b400")
    sheet.text((30, 14), "BUS", fonts("roboto-black", 66), "#111111")
    sheet.text((730, 14), "Stop K", fonts("roboto-black", 66), "#111111", "ra")
    sheet.text((30, 88), "Lamplighter Street", fonts("roboto-bold", 52), "#111111")
    rows = (
        ("7", "Quarry Hill", "2 min"),
        ("N19", "Airport", "6 min"),
        ("34", "Dockside", "9 min"),
        ("7", "Quarry Hill", "17 min"),
        ("88X", "University", "21 min"),
    )
    for index, cells in enumerate(rows):
        y = 176 + 104 * index
        for x, cell, anchor in ((30, cells[0], "la"), (170, cells[1], "la"), (730, cells[2], "ra")):
            sheet.text((x, y), cell, fonts("condensed-bold", 72), "#ffb43a", anchor)
    sheet.text((380, 716), "Fares from 11 pm: \u00a33.40", fonts("hack-bold", 44), "#ffd58a", "ma")
    return sheet


def _by_night(front: Sheet, shop: Shop, rng: np.random.Generator) -> Sheet:
    """Darken a facade but for its lit shop window, fascia and a few rooms."""
    height, width = front.height, front.width
    tone = np.full((height, width), 0.2, np.float32)
    floor = height - round(4.0 * _M)
    tone[floor : floor + round(0.98 * _M)] = 0.85
    tone[floor + round(0.98 * _M) :] = 0.95
    tone[height - round(0.5 * _M) :] = 0.5
    spill = np.linspace(0.2, 0.5, 260, dtype=np.float32)[:, None]
    tone[floor - 260 : floor] = spill
    lit = effects.shade(front.image, tone)
    cold = effects.to_pixels(lit)
    cold[:floor] *= np.array((0.75, 0.85, 1.15), np.float32)
    cold[floor + round(0.98 * _M) :] *= np.array((1.2, 1.05, 0.8), np.float32)
    front.replace(effects.to_image(cold))
    columns = 3 if shop.wide > 5.5 else 2
    for column in range(columns):
        if rng.random() < 0.5:
            middle = width * (column + 0.5) / columns
            top = floor - round(0.88 * 2.75 * _M)
            pane = effects.gradient(
                round(0.92 * _M), round(1.5 * _M), (255, 214, 138), (214, 150, 80)
            )
            room = pane.convert("RGBA")
            room.putalpha(190)
            front.image.alpha_composite(room, (round(middle - 0.46 * _M), top))
    return front


def _night_street(world: World, fonts: FontBook) -> None:
    rng = np.random.default_rng(7)
    ends = [1.4]
    for shop in _NIGHT:
        ends.append(ends[-1] + shop.wide)
    far = Shop("", "lato", "#2a2a30", "#ffffff", tone=(96, 90, 92), wide=8, tall=10)
    for index in range(3):
        block = _by_night(_facade(far, fonts, rng), far, rng)
        world.stand(block, (-5.4 + 8 * index, 40), (2.6 + 8 * index, 40), 0, 10, 0.8, read=False)
    for index in reversed(range(len(_NIGHT))):
        shop = _NIGHT[index]
        near, away = ends[index], ends[index + 1]
        front = _by_night(_facade(shop, fonts, rng), shop, rng)
        world.stand(front, (-5.2, near), (-5.2, away), 0, shop.tall, 1.0)
        lit = front.image.crop((0, front.height - round(4 * _M), front.width, front.height - 80))
        effects.warp_onto(
            world.glow.image,
            effects.shade(lit, 0.5),
            world.quad(((-5.2, 4, near), (-5.2, 4, away), (-5.2, 0.5, away), (-5.2, 0.5, near)))[0],
        )
    marquee = _marquee(fonts)
    world.stand(marquee, (-5.1, ends[0] + 0.9), (-5.1, ends[1] - 0.6), 4.15, 6.6, 1.0, shine=True)
    cross = _neon((("OPEN", 150), ("ALL NIGHT", 96)), "condensed-bold", (30, 220, 130), fonts, 480)
    world.board(cross, (-4.5, 4.9, ends[3] - 0.8), 1.3, 1.0, 0, shine=True)
    hotel = _neon(tuple((c, 150) for c in "HOTEL"), "lato-black", (255, 60, 90), fonts, 240)
    hotel.texts = ["HOTEL"]
    world.board(hotel, (-4.6, 6.6, ends[4] - 0.4), 1.2, 4.6, 0, shine=True)
    bowl = _neon((("Golden", 150), ("Ladle", 150)), "lobster", (255, 140, 30), fonts, 560)
    world.board(bowl, (-4.45, 5.2, ends[2] - 0.3), 1.5, 1.06, 0, shine=True)
    for x, z in ((-4.5, 5.8), (-3.3, 6.6)):
        world.post(x, z, 2.5, 0.08, (60, 60, 66))
    world.board(_noodle_menu(fonts), (-3.9, 1.62, 6.15), 1.75, 1.84, -36, shine=True)
    world.post(2.15, 5.55, 3.1, 0.1, (70, 74, 80))
    world.board(_bus_stop(fonts), (2.15, 2.3, 5.5), 1.3, 1.4, -22, shine=True)


def _night(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(1004)
    camera = Camera(2400, 1800, 1640, (3.0, 1.7, -0.6), -36, 6, -0.5)
    air = (22, 24, 36)
    below = World(camera, air, 120, mirrored=True)
    below.backdrop(sky(2400, 1800, rng, (12, 14, 30), (38, 36, 52), 0.0))
    _night_street(below, fonts)
    world = World(camera, air, 120)
    dusk = effects.gradient(2400, 1800, (14, 17, 38), (66, 52, 70))
    world.backdrop(dusk)
    world.paint_ground(_road_material(rng, (-3.2, 1.6)))
    x, _, reach = camera.ground()
    on_ground = np.isfinite(reach)
    ripple = effects.smooth_noise(2400, 1800, 26, rng)
    mirror = effects.to_pixels(_streaked(below.picture.image))
    pavement = (x < -3.2) | (x > 1.6)
    puddle = np.clip(0.62 + 0.5 * effects.cloud_noise(2400, 1800, 420, rng), 0.25, 1)
    share = np.where(pavement, 0.34, 0.72) * puddle + 0.1 * ripple
    pixels = effects.to_pixels(world.picture.image)
    wet = pixels * 0.2 + mirror * share[..., None]
    pixels[on_ground] = wet[on_ground]
    world.picture.replace(effects.to_image(pixels.astype(np.float32)))
    _night_street(world, fonts)
    glow = world.glow.image
    black = Image.new("RGBA", glow.size, "black")
    black.alpha_composite(glow)
    total = effects.to_pixels(world.picture.image)
    for radius, strength in ((12, 0.12), (50, 0.16), (160, 0.2)):
        halo = black.convert("RGB").reduce(4).filter(ImageFilter.GaussianBlur(radius / 4))
        total += strength * effects.to_pixels(halo.resize(glow.size, Image.Resampling.BICUBIC))
    world.picture.replace(effects.to_image(total))
    return _develop(world, (1200, 900), Lens(0.6, 3.2, 0.35, warmth=0.1, contrast=1.04), rng)


def _streaked(image: Image.Image) -> Image.Image:
    """The reflection as rough tar gives it back: drawn out downwards."""
    small = image.convert("RGB").resize(
        (image.width // 2, image.height // 16), Image.Resampling.BOX
    )
    small = small.filter(ImageFilter.GaussianBlur(2))
    return small.resize(image.size, Image.Resampling.BICUBIC)


PAGES = (
    Page(
        SUBSET,
        "harbour-lane.jpg",
        _KIND,
        _high_street,
        (
            ask("What is the name of the bookshop?", "Pennywhistle Books"),
            ask("What is the phone number on the van?", "020 7946 0318"),
            ask("How much is the sourdough?", "\u00a34.20", "4.20"),
            ask("What is the maximum stay for parking?", "2 hours", "Max stay 2 hours"),
        ),
    ),
    Page(
        SUBSET,
        "tannery-yard.jpg",
        _KIND,
        _poster_wall,
        (
            ask("What is the name of the missing cat?", "Biscuit"),
            ask("How much does the bookbinding course cost?", "\u00a385", "85"),
            ask("Who wrote the play?", "Ines Halloran"),
            ask("What is the application number on the planning notice?", "31/0487/FUL"),
        ),
    ),
    Page(
        SUBSET,
        "elder-marsh-junction.jpg",
        _KIND,
        _junction,
        (
            ask("What is the price of diesel?", "154.3"),
            ask("Which place is 14 miles away?", "Corran Bridge"),
            ask("What is the name of the village?", "Nether Quill", "NETHER QUILL"),
            ask("How long will the road be closed?", "12 weeks", "for 12 weeks"),
        ),
    ),
    Page(
        SUBSET,
        "lamplighter-street.jpg",
        _KIND,
        _night,
        (
            ask("Where does bus N19 go?", "Airport"),
            ask(
                "At what times is Moss and Marble shown?",
                "7.00 9.25",
                "7.00, 9.25",
                "7.00 and 9.25",
            ),
            ask("How much is the chilli tofu ramen?", "\u00a38.40", "8.40"),
            ask("What is the name of the cinema?", "Orpheum Cinema", "Orpheum"),
        ),
    ),
)
