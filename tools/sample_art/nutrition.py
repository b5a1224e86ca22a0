"""MiniNutrCap: nutrition panels on packs, as a hand-held camera sees them."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from . import effects
from .barcode import barcode
from .effects import Lens, Quad
from .fonts import FontBook
from .nutrition_europe import bag, jar
from .page import Page, photo
from .sheet import Color, Sheet, ask

SUBSET = "MiniNutrCap"
_KIND = "Nutrition Label Photo (sample)"


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
        bag,
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
        jar,
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
