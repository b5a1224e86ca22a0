"""MiniNutrCap: nutrition panels on packs, as a hand-held camera sees them."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from . import effects
from .effects import Lens, Quad
from .fonts import FontBook
from .page import Page, photo
from .sheet import Color, Sheet, ask

SUBSET = "MiniNutrCap"
_KIND = "Nutrition Label Photo (sample)"


def barcode(
    sheet: Sheet, box: tuple[float, float, float, float], digits: str, fonts: FontBook
) -> None:
    """Draw a made-up bar code with its digits below."""
    left, top, right, bottom = box
    sheet.rect(box, "white")
    rng = np.random.default_rng(int(digits.replace(" ", "")))
    size = (right - left) / 15
    x, end = left + size, right - size
    bars_bottom = bottom - size * 1.5
    while x < end:
        width = size / 8 * int(rng.integers(1, 4))
        sheet.rect((x, top + size * 0.7, min(x + width, end), bars_bottom), "black")
        x += width + size / 8 * int(rng.integers(1, 4))
    font = fonts("hack", size * 1.3)
    sheet.text(((left + right) / 2, bottom - size * 0.15), digits, font, anchor="mb")


# --- 1: a carton with the panel used in the United States ---------------------------------------

_US_ROWS = (
    # (indent, bold part, rest, daily value)
    (0, "Total Fat", "9g", "12%"),
    (1, "", "Saturated Fat 1.5g", "8%"),
    (1, "", "Trans Fat 0g", ""),
    (0, "Cholesterol", "0mg", "0%"),
    (0, "Sodium", "135mg", "6%"),
    (0, "Total Carbohydrate", "38g", "14%"),
    (1, "", "Dietary Fiber 5g", "18%"),
    (1, "", "Total Sugars 11g", ""),
    (2, "", "Includes 8g Added Sugars", "16%"),
    (0, "Protein", "6g", ""),
)
_US_MINERALS = (
    ("Vitamin D 0mcg", "0%"),
    ("Calcium 42mg", "4%"),
    ("Iron 2.3mg", "15%"),
    ("Potassium 245mg", "6%"),
)


def _us_facts(fonts: FontBook) -> Sheet:
    sheet = Sheet(620, 1064, "white")
    left, right = 22, 598
    sheet.rect((2, 2, 617, 1061), outline="black", width=4)
    sheet.fit((left - 3, 4), "Nutrition Facts", fonts("sans-bold", 88), right - left)
    sheet.line([(left, 106), (right, 106)], width=2)
    sheet.text((left, 112), "About 9 servings per container", fonts("sans", 32))
    sheet.text((left, 150), "Serving size", fonts("sans-bold", 36))
    sheet.text((right, 150), "2/3 cup (58g)", fonts("sans-bold", 36), anchor="ra")
    sheet.rect((left, 198, right, 214), "black")
    sheet.text((left, 220), "Amount per serving", fonts("sans-bold", 25))
    sheet.text((left, 308), "Calories", fonts("sans-bold", 62), anchor="ls")
    sheet.text((right, 308), "250", fonts("sans-bold", 84), anchor="rs")
    sheet.rect((left, 322, right, 330), "black")
    sheet.text((right, 336), "% Daily Value*", fonts("sans-bold", 25), anchor="ra")
    y = 368
    for indent, bold, rest, value in _US_ROWS:
        start = left + 34 * indent
        sheet.line([(start if indent > 1 else left, y), (right, y)], width=2)
        x = float(start)
        if bold:
            x += sheet.text((x, y + 4), bold, fonts("sans-bold", 31)) + 10
        sheet.text((x, y + 4), rest, fonts("sans", 31))
        if value:
            sheet.text((right, y + 4), value, fonts("sans-bold", 31), anchor="ra")
        y += 41
    sheet.rect((left, y + 2, right, y + 18), "black")
    y += 22
    for name, value in _US_MINERALS:
        sheet.text((left, y), name, fonts("sans", 28))
        sheet.text((right, y), value, fonts("sans", 28), anchor="ra")
        y += 36
        sheet.line([(left, y), (right, y)], width=2)
    sheet.rect((left, y, right, y + 8), "black")
    sheet.paragraph(
        (left, y + 12),
        "* The % Daily Value (DV) tells you how much a nutrient in a serving of food contributes "
        "to a daily diet. 2,000 calories a day is used for general nutrition advice.",
        fonts("sans", 20),
        right - left,
        leading=1.2,
    )
    return sheet


def _granola_side(fonts: FontBook) -> Sheet:
    sheet = Sheet(1260, 1150, "#efe3c8")
    sheet.rect((0, 0, 1260, 14), "#7c4a21")
    facts = _us_facts(fonts)
    sheet.paste(facts, (40, 46))
    x, width = 700, 520
    sheet.text((x, 40), "Bramble & Oat", fonts("lobster", 80), "#7c4a21")
    sheet.text((x, 140), "MAPLE PECAN GRANOLA", fonts("condensed-bold", 42), "#3d2b1a")
    sheet.text((x, 194), "NET WT 18.5 OZ (524g)", fonts("condensed-bold", 32), "#3d2b1a")
    y = sheet.paragraph(
        (x, 252),
        "INGREDIENTS: Whole grain rolled oats, pecans, maple syrup, sunflower oil, brown rice "
        "crisps, coconut flakes, flaxseed, sea salt, cinnamon, natural flavor, vitamin E "
        "(to keep fresh).",
        fonts("cabin", 30),
        width,
        "#2b2118",
        leading=1.18,
    )
    y = sheet.paragraph(
        (x, y + 16),
        "CONTAINS: PECANS, COCONUT. MAY CONTAIN SOY, MILK AND ALMONDS.",
        fonts("cabin-bold", 28),
        width,
        "#2b2118",
        leading=1.18,
    )
    y = sheet.paragraph(
        (x, y + 20),
        "Best before: see top of box. Keep in a cool, dry place. Questions? Call 1-800-555-0199, "
        "weekdays 9 to 5.",
        fonts("cabin", 27),
        width,
        "#2b2118",
        leading=1.18,
    )
    y = sheet.paragraph(
        (x, y + 18),
        "Baked in small batches by Bramble & Oat Mills, 77 Cooper Street, Larkspur Falls. Share "
        "your breakfast with #brambleandoat",
        fonts("cabin-bold", 27),
        width,
        "#7c4a21",
        leading=1.18,
    )
    sheet.text((x, y + 26), "LOT 0419 K2", fonts("hack", 30), "#2b2118")
    sheet.text((x, 1060), "Recycle", fonts("cabin-bold", 34), "#3d7a3a")
    sheet.text((x, 1098), "this box", fonts("cabin-bold", 34), "#3d7a3a")
    barcode(sheet, (x + 190, 960, x + width, 1124), "4 41790 55263 8", fonts)
    return sheet


def _carton(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(21)
    panel = _granola_side(fonts)
    table = Sheet.of(effects.planks(2200, 1800, (143, 101, 66), rng, 300))
    front = effects.rotated_quad((1085, 900), 1820, 1600, -2.6, 0.035)
    _, b, c, _ = front
    effects.soft_shadow(table.image, front, 40, 0.75, (60, 55))
    side: Quad = (b, (b[0] + 110, b[1] + 90), (c[0] + 96, c[1] - 36), c)
    effects.warp_onto(table.image, Image.new("RGBA", (8, 8), (150, 128, 96, 255)), side)
    board = effects.grain(effects.to_pixels(panel.image), 3.5, 30, rng)
    effects.warp_onto(table.image, effects.to_image(board), front)
    lit = effects.lit_from(table.image, (0.28, 0.18), 0.75, 0.62, 1.12)
    table.replace(lit)
    lens = Lens(blur=0.75, noise=3.5, vignette=0.3, warmth=0.55)
    table.texts = panel.texts
    return photo(table, (1100, 900), lens, rng)


# --- 2: a crisp bag with the European table -----------------------------------------------------

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


def _bag(fonts: FontBook) -> Sheet:
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


def _jar(fonts: FontBook) -> Sheet:
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

_CA_ROWS = (
    (0, "Fat / Lipides 3.5 g", "5 %"),
    (1, "Saturated / saturés 0.4 g", "2 %"),
    (1, "+ Trans / trans 0 g", ""),
    (0, "Carbohydrate / Glucides 17 g", ""),
    (1, "Fibre / Fibres 2 g", "7 %"),
    (1, "Sugars / Sucres 9 g", "9 %"),
    (0, "Protein / Protéines 4 g", ""),
    (0, "Cholesterol / Cholestérol 0 mg", ""),
    (0, "Sodium 115 mg", "5 %"),
    (0, "Potassium 390 mg", "11 %"),
    (0, "Calcium 300 mg", "23 %"),
    (0, "Iron / Fer 0.75 mg", "4 %"),
)


def _ca_facts(fonts: FontBook) -> Sheet:
    sheet = Sheet(640, 972, "#fdfdfb")
    left, right = 20, 620
    ink: Color = "#0c2b22"
    sheet.rect((1, 1, 638, 970), outline=ink, width=4)
    sheet.text((left, 4), "Nutrition Facts", fonts("sans-bold", 58), ink)
    sheet.text((left, 64), "Valeur nutritive", fonts("sans-bold", 58), ink)
    sheet.text((left, 134), "Per 1 cup (250 mL)", fonts("sans", 33), ink)
    sheet.text((left, 172), "pour 1 tasse (250 mL)", fonts("sans", 33), ink)
    sheet.rect((left, 218, right, 228), ink)
    sheet.text((left, 234), "Calories 120", fonts("sans-bold", 54), ink)
    sheet.text((right, 232), "% Daily Value*", fonts("sans-bold", 25), ink, "ra")
    sheet.text((right, 262), "% valeur quotidienne*", fonts("sans-bold", 25), ink, "ra")
    sheet.rect((left, 300, right, 305), ink)
    y = 308
    for indent, name, value in _CA_ROWS:
        face = "sans" if indent else "sans-bold"
        sheet.text((left + 30 * indent, y + 3), name, fonts(face, 31), ink)
        if value:
            sheet.text((right, y + 3), value, fonts("sans", 31), ink, "ra")
        y += 45
        sheet.line([(left, y), (right, y)], ink, 2)
    sheet.rect((left, y, right, y + 6), ink)
    sheet.text(
        (left, y + 12), "*5% or less is a little, 15% or more is a lot", fonts("sans", 25), ink
    )
    sheet.text((left, y + 44), "*5% ou moins c'est peu, 15% ou plus c'est", fonts("sans", 25), ink)
    sheet.text((left, y + 74), "beaucoup", fonts("sans", 25), ink)
    return sheet


def _oat_carton(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(89)
    panel = Sheet(760, 1560, "#2f6f5b")
    panel.rect((0, 0, 760, 190), "#f2c14e")
    panel.text((380, 92), "Avoinelle", fonts("kaffeesatz-bold", 150), "#17372d", "mm")
    panel.paste(_ca_facts(fonts), (60, 214))
    y = panel.paragraph(
        (60, 1206),
        "Ingredients: Water, oats (12%), canola oil, tricalcium phosphate, sea salt. "
        "Ingrédients : eau, avoine (12 %), huile de canola.",
        fonts("cabin", 28),
        640,
        "white",
        leading=1.15,
    )
    panel.text((60, y + 8), "SHAKE WELL / BIEN AGITER", fonts("cabin-bold", 32), "#f2c14e")
    panel.text((60, y + 54), "Refrigerate after opening: 7 days", fonts("cabin", 30), "white")
    panel.text((60, 1476), "946 mL", fonts("cabin-bold", 60), "white")
    barcode(panel, (400, 1440, 700, 1546), "4 77294 00318 5", fonts)
    front = Sheet(760, 1560, "#f6efe0")
    front.draw.ellipse((90, 420, 670, 1000), "#f2c14e")
    front.text((380, 150), "Avoinelle", fonts("kaffeesatz-bold", 190), "#2f6f5b", "mm")
    front.text((380, 700), "BARISTA", fonts("bebas", 170), "#17372d", "mm")
    front.text((380, 1120), "OAT DRINK", fonts("bebas", 120), "#2f6f5b", "mm")
    front.text((380, 1230), "boisson d'avoine", fonts("cabin", 64), "#2f6f5b", "mm")
    front.text((380, 1420), "0 g lactose", fonts("cabin-bold", 60), "#17372d", "mm")
    shelf = effects.to_pixels(effects.gradient(1900, 2100, (66, 60, 58), (38, 34, 34)))
    scene = Sheet.of(effects.to_image(effects.grain(shelf, 14, 300, rng)))
    for x, color in ((-60, (92, 60, 50)), (1640, (50, 66, 90)), (1300, (104, 92, 54))):
        scene.rect((x, 260, x + 330, 1840), color)
    wood = effects.planks(1900, 300, (104, 76, 54), rng, 300)
    scene.image.paste(wood, (0, 1820))
    scene.replace(scene.image.filter(ImageFilter.GaussianBlur(16)))
    edge_top, edge_bottom = (1080.0, 92.0), (1068.0, 1990.0)
    facts_quad: Quad = ((250, 150), edge_top, edge_bottom, (286, 1872))
    front_quad: Quad = (edge_top, (1520, 200), (1478, 1838), edge_bottom)
    base: Quad = ((180, 1820), (1500, 1800), (1640, 1990), (1068, 2060))
    effects.soft_shadow(scene.image, base, 40, 0.8)
    effects.warp_onto(scene.image, panel.image, facts_quad)
    effects.warp_onto(scene.image, effects.shade(front.image, 0.62), front_quad)
    glare = Image.new("L", scene.image.size)
    ImageDraw.Draw(glare).polygon([(300, 150), (470, 130), (760, 1900), (620, 1890)], 54)
    glare = glare.filter(ImageFilter.GaussianBlur(70))
    white = Image.merge("RGB", (glare, glare, glare))
    scene.replace(ImageChops.screen(scene.image.convert("RGB"), white))
    scene.replace(effects.lit_from(scene.image, (0.42, 0.3), 0.85, 0.56, 1.1))
    scene.replace(scene.image.rotate(-2.2, Image.Resampling.BICUBIC).crop((70, 70, 1700, 2030)))
    lens = Lens(blur=0.65, noise=3.2, vignette=0.35, warmth=0.35, motion=2)
    scene.texts = panel.texts + front.texts
    return photo(scene, (915, 1100), lens, rng)


PAGES = (
    Page(
        SUBSET,
        "granola-carton.jpg",
        _KIND,
        _carton,
        (
            ask("How many grams of protein are there per serving?", "6g", "6 g", "6 grams", "6"),
            ask("What is the serving size?", "2/3 cup (58g)", "2/3 cup", "58g", "58 g"),
            ask("How many calories are there per serving?", "250", "250 calories"),
            ask("What is the phone number on the package?", "1-800-555-0199"),
        ),
    ),
    Page(
        SUBSET,
        "lentil-bag.jpg",
        _KIND,
        _bag,
        (
            ask("How many grams of fat are there per 100g?", "28.4 g", "28.4g", "28.4"),
            ask("What percentage of the RI is salt per 30g?", "7%", "7 %"),
            ask(
                "What is the energy value per 30g?",
                "644 kJ / 154 kcal",
                "644kJ/154kcal",
                "644 kJ",
                "154 kcal",
                "644kJ",
                "154kcal",
            ),
            ask("What is the best before date?", "14.02.2033"),
        ),
    ),
    Page(
        SUBSET,
        "peanut-jar.jpg",
        _KIND,
        _jar,
        (
            ask("How many servings are there per package?", "18", "18 servings"),
            ask(
                "How many grams of sugars are there per 100g?", "6.6g", "6.6 g", "6.6 grams", "6.6"
            ),
            ask("How much sodium is there per serving?", "78mg", "78 mg", "78"),
            ask("What is the brand name of the product?", "Dingo Flat"),
        ),
    ),
    Page(
        SUBSET,
        "oat-drink.jpg",
        _KIND,
        _oat_carton,
        (
            ask("How many milligrams of calcium are there per cup?", "300 mg", "300mg", "300"),
            ask("What is the daily value of potassium?", "11 %", "11%"),
            ask("How many grams of fibre are there per cup?", "2 g", "2g", "2 grams", "2"),
            ask("What is the volume of the carton?", "946 mL", "946mL", "946 ml", "946"),
        ),
    ),
)
