"""A brick wall full of posters."""

from __future__ import annotations

import numpy as np

from . import effects
from .effects import Lens
from .facade import KIND, SUBSET, Shop, facade, plate, road_material
from .fonts import FontBook
from .page import Page, photo
from .sheet import Sheet, ask
from .world import Camera, World, sky


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
    sheet = Sheet.of(effects.gradient(620, 900, (34, 30, 66), (160, 78, 92)))
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
    world.paint_ground(road_material(rng, (-0.9, 5.5)))
    end = Shop(
        "", "lato", "#4a4f4c", "#ffffff", wall="plaster", tone=(206, 196, 178), wide=7, tall=8
    )
    block = facade(end, fonts, rng)
    for index in range(3):
        world.stand(block, (-13 + 7 * index, 24), (-6 + 7 * index, 24), 0, 8.0, 0.85, read=False)
    wall = Sheet.of(effects.brick(3000, 900, (146, 82, 64), rng, (50, 17)))
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
        (_classes_poster(fonts), 0.42, 1.02, 0.96, 0.012),
        (_planning_notice(fonts), 1.56, 0.92, 1.06, -0.015),
        (_cat_poster(fonts), 2.60, 0.98, 0.98, 0.02),
        (_play_poster(fonts), 3.74, 1.24, 0.80, 0.0),
        (_gig_poster(fonts), 5.12, 1.40, 0.72, -0.012),
        (_flea_poster(fonts), 6.68, 1.90, 0.94, 0.01),
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
    street = plate((("TANNERY YARD", 100),), "#22303c", "open-bold", fonts, 900)
    world.stand(street, (-2.98, 1.7), (-2.98, 3.1), 2.6, 2.92)
    ban = plate(
        (("STICK NO BILLS", 84), ("Fine \u00a3200. By order, Borough Surveyor", 44)),
        "#f4f1e8",
        "serif-bold",
        fonts,
        980,
        "#7d1713",
    )
    world.stand(ban, (-2.98, 4.4), (-2.98, 6.3), 2.8, 3.26)
    world.shadow(
        ((-1.9, 0.01, 2.8), (-1.1, 0.01, 2.8), (-0.9, 0.01, 3.5), (-1.7, 0.01, 3.5)), 16, 0.6
    )
    world.board(_bin(fonts), (-1.5, 0.5, 2.95), 0.56, 1.0, -52)
    world.picture.replace(effects.lit_from(world.picture.image, (0.45, 0.35), 0.95, 0.8, 1.1))
    return photo(world.picture, (1200, 900), Lens(0.55, 3.2, 0.32, warmth=0.1, contrast=1.05), rng)


PAGE = Page(
    SUBSET,
    "tannery-yard.jpg",
    KIND,
    _poster_wall,
    (
        ask("What is the name of the missing cat?", "Biscuit"),
        ask("How much does the bookbinding course cost?", "\u00a385", "85"),
        ask("Who wrote the play?", "Ines Halloran"),
        ask("What is the application number on the planning notice?", "31/0487/FUL"),
    ),
)
