"""A shopping street by day."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import effects
from .effects import Lens
from .facade import KIND, SUBSET, Shop, facade, plate, road_material
from .fonts import FontBook
from .page import Page, photo
from .sheet import Color, Sheet, ask
from .world import Camera, World, sky

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
        "",
        (),
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
        "",
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
        sheet.fit((280, y), text, fonts("condensed-bold", 80), 468, "#f4f1e6", "ma")
        y += 108
    return sheet


def _high_street(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(1001)
    camera = Camera(2400, 1800, 1700, (3.6, 1.7, -1.0), -37, 6.5, 0.6)
    world = World(camera, (203, 212, 222), 150)
    world.backdrop(sky(2400, 1800, rng, (96, 144, 204), (214, 224, 232), 0.34))
    world.paint_ground(road_material(rng, (-3.3, 1.5)))
    # The far side of the street closes the view on the right.
    far = Shop("", "lato", "#5d5148", "#ffffff", tone=(168, 132, 104), wide=8, tall=10)
    for index in range(3):
        block = facade(far, fonts, rng)
        x = -5.4 + 8.0 * index
        world.stand(block, (x, 44), (x + 8, 44), 0, 10.5, 0.9, read=False)
    ends = [1.2]
    for shop in _HIGH_STREET:
        ends.append(ends[-1] + shop.wide)
    for index in reversed(range(len(_HIGH_STREET))):
        shop = _HIGH_STREET[index]
        near, away = ends[index], ends[index + 1]
        front = facade(shop, fonts, rng)
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
            sign = plate([(text, 110)], color, "slab-bold", fonts, 520, ink)
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
            "Leek soup \u00a34",
            "Toasties \u00a36.50",
            "Rhubarb pie \u00a35",
            "Chai latte \u00a33.30",
            "Scones \u00a32.10",
        ),
        fonts,
    )
    world.shadow(
        ((-4.5, 0.01, 7.0), (-3.3, 0.01, 7.2), (-3.1, 0.01, 7.7), (-4.4, 0.01, 7.6)), 12, 0.6
    )
    world.board(board, (-3.8, 0.86, 6.7), 1.04, 1.66, -33)
    world.shadow(((2.2, 0.01, 4.4), (3.6, 0.01, 5.6), (3.6, 0.01, 5.8), (2.2, 0.01, 4.6)), 8, 0.4)
    world.post(2.3, 4.52, 3.5, 0.09, (120, 124, 128))
    name = plate(
        (("HARBOUR LANE", 96), ("leading to Fishmarket Square", 50)),
        "#f7f7f4",
        "open-bold",
        fonts,
        860,
        "#151515",
    )
    world.board(name, (2.3, 3.22, 4.5), 1.3, 0.38, -22)
    parking = plate(
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
    return photo(world.picture, (1200, 900), Lens(0.55, 3.0, 0.3, warmth=0.25, contrast=1.06), rng)


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


PAGE = Page(
    SUBSET,
    "harbour-lane.jpg",
    KIND,
    _high_street,
    (
        ask("What is the name of the bookshop?", "Pennywhistle Books"),
        ask("What is the phone number on the van?", "020 7946 0318"),
        ask("How much is the sourdough?", "\u00a34.20", "4.20"),
        ask("What is the maximum stay for parking?", "2 hours", "Max stay 2 hours"),
    ),
)
