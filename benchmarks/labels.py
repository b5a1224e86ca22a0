"""Product labels with known text, for the walk in docs/annotate.md."""

from __future__ import annotations

import random
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

BRANDS = ("Moorland", "Blue Gannet", "Tidewater", "Old Quarry", "Ferndale", "Kestrel & Co")
GOODS = (
    ("Oat Biscuits", "g", (150, 200, 250, 300)),
    ("Apple Juice", "ml", (250, 330, 750, 1000)),
    ("Lentil Soup", "g", (400, 800, 1200, 1500)),
    ("Heather Honey", "g", (227, 340, 454, 680)),
    ("Sea Salt Crisps", "g", (40, 125, 150, 180)),
)
TOWNS = ("Penrith", "Whitby", "Oban", "Kendal", "Ludlow")
MONTHS = ("January", "March", "May", "August", "October", "December")


def draw_label(path: Path, chance: random.Random) -> list[list[str]]:
    """Draw one label; returns the question and answer pairs that it holds."""
    brand, (product, unit, sizes) = chance.choice(BRANDS), chance.choice(GOODS)
    size, price = chance.choice(sizes), f"${chance.randint(1, 9)}.{chance.randint(10, 99)}"
    energy, sugar, share = chance.randint(180, 2400), chance.randint(2, 60), chance.randint(2, 40)
    day, month, year = chance.randint(1, 28), chance.choice(MONTHS), chance.randint(2026, 2028)
    town, batch = chance.choice(TOWNS), f"L{chance.randint(1000, 9999)}"
    image = Image.new(
        "RGB", (720, 560), chance.choice(("#fbf6e9", "#eef5f1", "#f4f0f7", "#fdf1ee"))
    )
    pen = ImageDraw.Draw(image)
    pen.rectangle((18, 18, 701, 541), outline="#333333", width=3)
    dark, soft = "#1d1d1f", "#55565a"

    def write(x: int, y: int, text: str, height: int, colour: str = dark) -> None:
        pen.text((x, y), text, font=ImageFont.load_default(height), fill=colour)

    write(48, 40, brand.upper(), 46, "#7a2d2d")
    write(48, 102, product, 38)
    write(520, 60, price, 44, "#1f5c3a")
    write(48, 170, f"Net contents {size:,} {unit}", 24)
    write(48, 226, "Nutrition per 100 " + unit, 22, soft)
    for row, (name, value) in enumerate(
        (("Energy", f"{energy:,} kJ"), ("Sugars", f"{sugar} g"), ("Daily value", f"{share}%"))
    ):
        pen.line((48, 262 + 42 * row, 400, 262 + 42 * row), fill="#999999")
        write(48, 270 + 42 * row, name, 24)
        write(270, 270 + 42 * row, value, 24)
    write(48, 420, f"Best before {day} {month} {year}", 22)
    write(48, 456, f"Made in {town} by {brand} Foods. Batch {batch}", 20, soft)
    write(48, 492, "Store in a cool, dry place. Once opened use within 3 days.", 18, soft)
    image.save(path)
    return [
        ["What is the brand of this product?", brand.upper()],
        ["How much does the product cost?", price],
        ["What are the net contents?", f"{size:,} {unit}"],
        ["How much energy is there per 100 " + unit + "?", f"{energy:,} kJ"],
        ["What percentage of the daily value is given?", f"{share}%"],
        ["By which date should the product be used best?", f"{day} {month} {year}"],
        ["Where was the product made?", town],
        ["What is the batch number?", batch],
    ]
