"""MiniNutrCap, European and Australian labels: a crumpled bag and a jar."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from . import effects
from .barcode import barcode
from .effects import Lens, Quad
from .fonts import FontBook
from .page import photo
from .sheet import Sheet

_EU_ROWS = (
    ("Energy / Energie", "2146 kJ / 514 kcal", "644 kJ / 154 kcal", "8%"),
    ("Fat / Fett", "28.4 g", "8.5 g", "12%"),
    ("  of which saturates / davon gesättigt", "2.6 g", "0.8 g", "4%"),
    ("Carbohydrate / Kohlenhydrate", "55.3 g", "16.6 g", "6%"),
    ("  of which sugars / davon Zucker", "2.9 g", "0.9 g", "1%"),
    ("Fibre / Ballaststoffe", "5.1 g", "1.5 g", "\u2013"),
    ("Protein / Eiweiß", "7.2 g", "2.2 g", "4%"),
    ("Salt / Salz", "1.35 g", "0.41 g", "7%"),
)


def _crisp_back(fonts: FontBook) -> Sheet:
    sheet = Sheet(1300, 1240, "#1f4e79")
    sheet.text((650, 30), "Kettle Moor", fonts("lobster", 92), "#ffd65a", "ma")
    sheet.text(
        (650, 148),
        "SEA SALT & MALT VINEGAR LENTIL CURLS",
        fonts("open-condensed", 46),
        "white",
        "ma",
    )
    y = sheet.paragraph(
        (70, 232),
        "GB Lentil snack with sea salt and malt vinegar. Ingredients: lentil flour (54%), "
        "sunflower oil, potato starch, rice flour, seasoning (sugar, sea salt, BARLEY malt "
        "vinegar powder, acid: citric acid), colour: turmeric extract.",
        fonts("open", 31),
        1160,
        "white",
        leading=1.22,
    )
    y = sheet.paragraph(
        (70, y + 8),
        "DE Linsensnack mit Meersalz und Malzessig. Kann Spuren von MILCH und SOJA enthalten. "
        "Trocken lagern.",
        fonts("open", 31),
        1160,
        "white",
        leading=1.22,
    )
    top = round(y + 18)
    columns = (70, 610, 890, 1148, 1230)
    rows = len(_EU_ROWS)
    height = 56
    bottom = top + 92 + rows * height
    sheet.rect((58, top, 1242, bottom), "#f7f4ea", radius=14)
    sheet.text(
        (78, top + 46), "Nutrition / Nährwerte", fonts("open-condensed", 36), "#1f4e79", "lm"
    )
    for x, head in zip(columns[1:4], ("per 100 g", "per 30 g", "%RI*"), strict=True):
        shift = 200 if head != "%RI*" else 76
        sheet.text((x + shift, top + 46), head, fonts("open-condensed", 36), "#1f4e79", "rm")
    y = top + 92
    for index, (name, hundred, portion, share) in enumerate(_EU_ROWS):
        if index % 2 == 0:
            sheet.rect((58, y, 1242, y + height), "#e3ecf2")
        ink = "#1c2733"
        indent = 30 if name.startswith(" ") else 0
        middle = y + height / 2
        sheet.fit((78 + indent, middle), name.strip(), fonts("open", 29), 470, ink, "lm")
        sheet.text((columns[1] + 200, middle), hundred, fonts("open-semibold", 29), ink, "rm")
        sheet.text((columns[2] + 200, middle), portion, fonts("open-semibold", 29), ink, "rm")
        sheet.text((columns[3] + 76, middle), share, fonts("open-semibold", 29), ink, "rm")
        y += height
    y = sheet.paragraph(
        (70, bottom + 14),
        "*Reference intake of an average adult (8400 kJ / 2000 kcal). "
        "This pack contains 5 portions.",
        fonts("open", 26),
        1160,
        "white",
    )
    sheet.text((70, y + 18), "150 g e", fonts("open-bold", 54), "#ffd65a")
    sheet.text((70, y + 98), "BEST BEFORE / MHD: 14.02.2033  L6127 B", fonts("hack", 34), "white")
    sheet.text(
        (70, y + 152), "Kettle Moor Foods, 3 Tarn Lane, Wexford Bridge", fonts("open", 28), "white"
    )
    barcode(sheet, (900, y + 6, 1230, y + 150), "2 006381 729150", fonts)
    return sheet


def bag(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(34)
    print_ = _crisp_back(fonts)
    pack = Sheet(1420, 1460, "#1f4e79")
    for top in (0, 1380):
        for x in range(0, 1420, 14):
            pack.line([(x, top), (x, top + 80)], "#173d61", 5)
    pack.paste(print_, (60, 100))
    foil = effects.crumpled(pack.image, rng, 340, 16, 0.5)
    gloss = effects.cloud_noise(1420, 1460, 300, rng)
    foil = effects.shade(foil, (1 + 0.3 * np.clip(gloss - 0.45, 0, 1)).astype(np.float32))
    cloth = effects.flat(2000, 2000, (196, 178, 152))
    cloth = effects.grain(cloth, 14, 260, rng)
    weave = np.indices((2000, 2000)).sum(axis=0) % 8 < 4
    scene = Sheet.of(effects.to_image((cloth - 7 * weave[..., None]).astype(np.float32)))
    quad = effects.rotated_quad((1000, 1000), 1740, 1760, 3.2, -0.03)
    effects.soft_shadow(scene.image, quad, 36, 0.7, (-34, 40))
    effects.warp_onto(scene.image, foil, quad)
    scene.replace(effects.lit_from(scene.image, (0.8, 0.25), 0.7, 0.68, 1.12))
    lens = Lens(blur=0.8, noise=3.2, vignette=0.3, warmth=-0.25, contrast=1.03)
    scene.texts = print_.texts
    return photo(scene, (1000, 1000), lens, rng)


# --- 3: a jar with the Australian panel ---------------------------------------------------------

_JAR_ROWS = (
    ("Energy", "520kJ (124Cal)", "2600kJ (621Cal)"),
    ("Protein", "5.1g", "25.4g"),
    ("Fat, total", "10.3g", "51.7g"),
    ("  - saturated", "1.7g", "8.4g"),
    ("Carbohydrate", "2.4g", "12.1g"),
    ("  - sugars", "1.3g", "6.6g"),
    ("Dietary fibre", "1.6g", "8.2g"),
    ("Sodium", "78mg", "390mg"),
)


def _jar_label(fonts: FontBook) -> Sheet:
    sheet = Sheet(1560, 900, "#fbf5e6")
    sheet.rect((0, 0, 1560, 26), "#c8442b")
    sheet.rect((0, 874, 1560, 900), "#c8442b")
    sheet.text((360, 60), "Dingo Flat", fonts("lobster", 104), "#c8442b", "ma")
    sheet.text((360, 186), "CRUNCHY PEANUT BUTTER", fonts("slab-bold", 42), "#3c2a1e", "ma")
    y = sheet.paragraph(
        (90, 258),
        "Ingredients: Roasted peanuts (94%), vegetable oil, raw sugar, salt. Contains peanuts. "
        "May be present: tree nuts, sesame.",
        fonts("lato", 32),
        560,
        "#2a211b",
    )
    y = sheet.paragraph(
        (90, y + 16),
        "Store below 25\u00b0C. Oil separation is natural: stir before use. Use within 3 months of "
        "opening.",
        fonts("lato", 32),
        560,
        "#2a211b",
    )
    sheet.text((90, y + 22), "375g NET", fonts("lato-black", 60), "#c8442b")
    y = sheet.paragraph(
        (90, y + 106),
        "Packed by Dingo Flat Pantry, 18 Saltbush Road, Mount Arrino. Freecall 1800 975 711",
        fonts("lato", 28),
        580,
        "#2a211b",
        leading=1.2,
    )
    left, right = 740, 1480
    sheet.rect((left, 56, right, 846), "white", "#3c2a1e", 4)
    sheet.text(
        ((left + right) / 2, 68), "NUTRITION INFORMATION", fonts("lato-black", 42), anchor="ma"
    )
    sheet.text((left + 20, 124), "Servings per package: 18", fonts("lato", 32))
    sheet.text((left + 20, 164), "Serving size: 20g (1 tablespoon)", fonts("lato", 32))
    sheet.rect((left, 210, right, 296), "#3c2a1e")
    for x, first, second in ((1200, "Avg. Qty", "Per Serving"), (1462, "Avg. Qty", "Per 100g")):
        sheet.text((x, 216), first, fonts("lato-bold", 30), "white", "ra")
        sheet.text((x, 254), second, fonts("lato-bold", 30), "white", "ra")
    y = 302.0
    for name, portion, hundred in _JAR_ROWS:
        indent = 24 if name.startswith(" ") else 0
        sheet.text((left + 20 + indent, y + 6), name.strip(), fonts("lato", 32))
        sheet.text((1200, y + 6), portion, fonts("lato", 32), anchor="ra")
        sheet.text((1462, y + 6), hundred, fonts("lato", 32), anchor="ra")
        y += 55
        sheet.line([(left, y), (right, y)], "#3c2a1e", 2)
    sheet.paragraph(
        (left + 20, y + 8),
        "Health Star Rating not assessed. All values are averages.",
        fonts("lato", 25),
        700,
    )
    return sheet


def jar(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(55)
    label = _jar_label(fonts)
    wall = effects.to_pixels(effects.gradient(2200, 1800, (201, 205, 196), (170, 176, 168)))
    scene = Sheet.of(effects.to_image(effects.grain(wall, 6, 500, rng)))
    # White tiles behind, a stone worktop in front.
    for x in range(-100, 2200, 420):
        scene.line([(x, 0), (x, 1330)], (150, 154, 148), 9)
    for y in range(170, 1330, 380):
        scene.line([(0, y), (2200, y)], (150, 154, 148), 9)
    top = effects.grain(effects.flat(2200, 470, (92, 88, 86)), 20, 40, rng)
    top += rng.normal(0, 12, (470, 2200, 1))
    scene.image.paste(effects.to_image(top.astype(np.float32)), (0, 1330))
    scene.replace(scene.image.filter(ImageFilter.GaussianBlur(7)))
    body = Sheet(1560, 1500)
    body.rect((30, 60, 1530, 1490), (150, 100, 52, 255), radius=90)
    specks = body.image.getchannel("A")
    paste = effects.grain(effects.flat(1560, 1500, (158, 108, 58)), 30, 26, rng)
    body.image.paste(effects.to_image(paste), (0, 0), specks)
    body.paste(label, (0, 380))
    curved = effects.bent(body.image, 68, 46, light=-0.35, edge=0.42)
    scale = 1500 / curved.width
    curved = curved.resize((1500, round(curved.height * scale)), Image.Resampling.LANCZOS)
    x0, y0 = 360, 250
    lid = Sheet(1380, 250, (0, 0, 0, 0))
    lid.rect((0, 0, 1379, 249), "#b23a24", radius=46)
    for x in range(16, 1380, 20):
        lid.line([(x, 60), (x, 250)], "#9a2f1c", 7)
    bottom = y0 + curved.height
    shadow: Quad = (
        (x0 + 30, bottom - 110),
        (x0 + 1700, bottom - 140),
        (x0 + 1560, bottom),
        (x0, bottom),
    )
    effects.soft_shadow(scene.image, shadow, 40, 0.75)
    scene.image.alpha_composite(curved, (x0, y0))
    lid_curved = effects.bent(lid.image, 66, 20, light=-0.35, edge=0.35)
    lid_curved = lid_curved.resize((1420, 270), Image.Resampling.LANCZOS)
    scene.image.alpha_composite(lid_curved, (x0 + 40, y0 - 130))
    scene.replace(effects.lit_from(scene.image, (0.3, 0.3), 0.8, 0.72, 1.1))
    scene.replace(scene.image.rotate(1.4, Image.Resampling.BICUBIC, fillcolor=(120, 122, 118, 255)))
    scene.replace(scene.image.crop((40, 40, 2160, 1760)))
    lens = Lens(blur=0.6, noise=3.4, vignette=0.35, warmth=0.2, contrast=1.04)
    scene.texts = label.texts
    return photo(scene, (1110, 900), lens, rng)


# --- 4: a drink carton with the bilingual Canadian panel, in dim light --------------------------
