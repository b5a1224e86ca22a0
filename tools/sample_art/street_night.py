"""A wet street by night."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageFilter

from . import effects
from .effects import RGB, Lens
from .facade import KIND, METRE, SUBSET, Shop, facade, road_material
from .fonts import FontBook
from .page import Page, photo
from .sheet import Sheet, ask
from .world import Camera, World, sky

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
        "",
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
        "",
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
    floor = height - round(4.0 * METRE)
    tone[floor : floor + round(0.98 * METRE)] = 0.85
    tone[floor + round(0.98 * METRE) :] = 0.95
    tone[height - round(0.5 * METRE) :] = 0.5
    spill = np.linspace(0.2, 0.5, 260, dtype=np.float32)[:, None]
    tone[floor - 260 : floor] = spill
    lit = effects.shade(front.image, tone)
    cold = effects.to_pixels(lit)
    cold[:floor] *= np.array((0.75, 0.85, 1.15), np.float32)
    cold[floor + round(0.98 * METRE) :] *= np.array((1.2, 1.05, 0.8), np.float32)
    front.replace(effects.to_image(cold))
    columns = 3 if shop.wide > 5.5 else 2
    for column in range(columns):
        if rng.random() < 0.5:
            middle = width * (column + 0.5) / columns
            top = floor - round(0.88 * 2.75 * METRE)
            pane = effects.gradient(
                round(0.92 * METRE), round(1.5 * METRE), (255, 214, 138), (214, 150, 80)
            )
            room = pane.convert("RGBA")
            room.putalpha(190)
            front.image.alpha_composite(room, (round(middle - 0.46 * METRE), top))
    return front


def _night_street(world: World, fonts: FontBook) -> None:
    rng = np.random.default_rng(7)
    ends = [1.4]
    for shop in _NIGHT:
        ends.append(ends[-1] + shop.wide)
    far = Shop("", "lato", "#2a2a30", "#ffffff", tone=(96, 90, 92), wide=8, tall=10)
    for index in range(3):
        block = _by_night(facade(far, fonts, rng), far, rng)
        world.stand(block, (-5.4 + 8 * index, 40), (2.6 + 8 * index, 40), 0, 10, 0.8, read=False)
    for index in reversed(range(len(_NIGHT))):
        shop = _NIGHT[index]
        near, away = ends[index], ends[index + 1]
        front = _by_night(facade(shop, fonts, rng), shop, rng)
        world.stand(front, (-5.2, near), (-5.2, away), 0, shop.tall, 1.0)
        lit = front.image.crop((0, front.height - round(4 * METRE), front.width, front.height - 80))
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
    world.paint_ground(road_material(rng, (-3.2, 1.6)))
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
    return photo(world.picture, (1200, 900), Lens(0.6, 3.2, 0.35, warmth=0.1, contrast=1.04), rng)


def _streaked(image: Image.Image) -> Image.Image:
    """The reflection as rough tar gives it back: drawn out downwards."""
    small = image.convert("RGB").resize(
        (image.width // 2, image.height // 16), Image.Resampling.BOX
    )
    small = small.filter(ImageFilter.GaussianBlur(2))
    return small.resize(image.size, Image.Resampling.BICUBIC)


PAGE = Page(
    SUBSET,
    "lamplighter-street.jpg",
    KIND,
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
)
