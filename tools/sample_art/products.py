"""MiniProdCap: product pictures in Chinese and English, as web shops show them."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from . import effects
from .effects import Lens, Quad
from .fonts import FontBook
from .page import Page, photo
from .products_boxes import charger, shampoo
from .sheet import Color, Sheet, ask

SUBSET = "MiniProdCap"
_KIND = "Product Picture (sample)"


def _leaf(sheet: Sheet, at: tuple[float, float], size: float, degrees: float, color: Color) -> None:
    t = np.linspace(0, np.pi, 24)
    length, half = np.cos(t) * size, np.sin(t) ** 1.3 * size * 0.32
    outline = np.concatenate(
        [np.stack([length, half], 1), np.stack([length[::-1], -half[::-1]], 1)]
    )
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = [(at[0] + float(x), at[1] + float(y)) for x, y in outline @ turn.T]
    sheet.draw.polygon(points, color)


# --- 1: a tea tin on the opening picture of a shop ----------------------------------------------


def _tea_label(fonts: FontBook) -> Sheet:
    sheet = Sheet(900, 1060, "#12392b")
    for inset, width in ((26, 6), (42, 2)):
        sheet.rect((inset, inset, 900 - inset, 1060 - inset), outline="#d6b25e", width=width)
    sheet.draw.ellipse((330, 90, 570, 330), outline="#d6b25e", width=6)
    for turn in (-90, -150, -30):
        _leaf(sheet, (450, 235), 78, turn, "#d6b25e")
    sheet.text((450, 352), "云栖溪", fonts("kai-bold", 170), "#f3e3b5", "ma")
    sheet.text((450, 556), "YUNQI CREEK", fonts("garamond-bold", 66), "#d6b25e", "ma", tracking=8)
    sheet.line([(200, 650), (700, 650)], "#d6b25e", 3)
    sheet.text((450, 672), "明前高山白毫茶", fonts("song-bold", 66), "#f3e3b5", "ma")
    sheet.text((450, 766), "High Mountain White Tea", fonts("garamond-italic", 54), "#f3e3b5", "ma")
    sheet.text((450, 860), "净含量：125克", fonts("song", 44), "#f3e3b5", "ma")
    sheet.text((450, 924), "NET WT. 125 g (4.4 OZ)", fonts("garamond", 40), "#f3e3b5", "ma")
    return sheet


def _tea(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(101)
    sheet = Sheet.of(effects.gradient(1800, 1800, (246, 243, 232), (219, 226, 206)))
    hills = Sheet(1800, 1800)
    for base, tall, tone in ((1020, 360, 60), (1180, 300, 95), (1330, 220, 130)):
        ridge = effects.cloud_noise(1800, 4, 520, rng)[0] * tall
        points = [(x, base - float(ridge[x])) for x in range(0, 1800, 8)]
        color = (118, 150, 122, tone)
        hills.draw.polygon([(0, 1800), *points, (1800, base), (1800, 1800)], color)
    sheet.image.alpha_composite(hills.image.filter(ImageFilter.GaussianBlur(9)))
    sheet.text((90, 70), "一芽一叶  山场鲜采", fonts("song-bold", 104), "#12392b")
    sheet.text(
        (94, 208),
        "Hand-picked before Qingming, 1,180 m above sea level",
        fonts("garamond", 56),
        "#40604f",
    )
    x, y = 94, 330
    features: tuple[tuple[str, str], ...] = (
        ("产地直供", "Single origin: Lingfeng"),
        ("低温烘焙", "Baked at 68\u00b0C"),
        ("耐泡七道", "Brews seven times"),
        ("独立小袋", "25 bags x 5 g"),
    )
    for chinese, english in features:
        sheet.draw.ellipse((x, y + 8, x + 84, y + 92), "#12392b")
        _leaf(sheet, (x + 42, y + 50), 30, -40, "#d6b25e")
        sheet.text((x + 112, y), chinese, fonts("hei-bold", 54), "#12392b")
        sheet.text((x + 112, y + 70), english, fonts("cabin", 40), "#40604f")
        y += 158
    tin = Sheet(1000, 1240, "#0e2e23")
    tin.paste(_tea_label(fonts), (50, 120))
    curved = effects.bent(tin.image, 74, 40, light=-0.4, edge=0.3)
    curved = curved.resize((760, 1186), Image.Resampling.LANCZOS)
    left, top = 950, 430
    quad: Quad = ((left + 60, 1560), (left + 900, 1540), (left + 860, 1640), (left, 1640))
    effects.soft_shadow(sheet.image, quad, 34, 0.5)
    sheet.image.alpha_composite(curved, (left, top))
    lid = effects.bent(Image.new("RGBA", (1040, 190), (201, 164, 78, 255)), 76, 26, -0.4, 0.35)
    lid = lid.resize((780, 214), Image.Resampling.LANCZOS)
    sheet.image.alpha_composite(lid, (left - 10, top - 110))
    sheet.texts.extend(tin.texts)
    for _ in range(60):
        at = (float(rng.normal(900, 330)), float(rng.normal(1690, 36)))
        if at[1] < 1620:
            continue
        tone = int(rng.integers(60, 110))
        _leaf(
            sheet, at, float(rng.uniform(18, 40)), float(rng.uniform(0, 360)), (tone, tone + 24, 62)
        )
    sheet.rect((90, 1010, 800, 1420), "#b3202a", radius=34)
    sheet.text((130, 1030), "新茶上市价", fonts("hei-bold", 60), "#ffe9b8")
    sheet.text((130, 1282), "¥", fonts("roboto-bold", 100), "white", "ls")
    sheet.text((200, 1282), "168", fonts("roboto-black", 190), "white", "ls")
    sheet.text((560, 1282), "原价 ¥238", fonts("hei", 44), "#ffd3c0", "ls")
    sheet.text((130, 1326), "前500名加赠茶则一把", fonts("hei", 54), "#ffe9b8")
    sheet.text((94, 1470), "服务热线 0600-555-0127", fonts("hei-bold", 50), "#12392b")
    sheet.text((94, 1546), "24小时内发货 · 七天无理由退换", fonts("hei", 42), "#40604f")
    return photo(sheet, (900, 900), Lens(0.4, 1.6, 0.08), rng)


# --- 2: the parameter page of a snack, with its bag ---------------------------------------------

_SNACK = (
    ("品名 Product", "蜂蜜黄油海苔脆 Honey Butter Seaweed Crisps"),
    ("品牌 Brand", "海小满 Haixiaoman"),
    ("净含量 Net content", "88克（8克×11袋）"),
    ("配料 Ingredients", "海苔、夹心芝麻、白砂糖、黄油粉、蜂蜜粉、食用盐"),
    ("保质期 Shelf life", "9个月 9 months"),
    ("产地 Origin", "东屿省 望潮市"),
    ("贮存 Storage", "阴凉干燥处，避免阳光直射"),
    ("产品标准号 Standard", "Q/HXM 0006S"),
    ("生产许可证 Licence", "SC10755501880236"),
    ("生产商 Maker", "望潮市小满食品有限公司"),
)


def _snack_bag(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(202)
    bag = Sheet(660, 940, "#f6c445")
    bag.draw.ellipse((-150, 520, 810, 1300), "#1d5b4f")
    for x in range(0, 660, 10):
        bag.line([(x, 0), (x, 40)], "#d9a42c", 3)
        bag.line([(x, 900), (x, 940)], "#17493f", 3)
    bag.text(
        (330, 66), "海小满", fonts("smiley", 190), "#c8321f", "ma", outline="white", outline_width=7
    )
    bag.text((330, 280), "HAIXIAOMAN", fonts("bebas", 76), "#7a3410", "ma", tracking=6)
    bag.text((330, 372), "蜂蜜黄油味", fonts("hei-bold", 72), "#7a3410", "ma")
    for _ in range(26):
        at = (float(rng.uniform(110, 550)), float(rng.uniform(545, 690)))
        tone = int(rng.integers(26, 60))
        _leaf(
            bag,
            at,
            float(rng.uniform(46, 70)),
            float(rng.uniform(0, 360)),
            (tone, tone + 34, tone + 10),
        )
    bag.text((330, 712), "海苔脆", fonts("smiley", 110), "white", "ma")
    bag.text((330, 840), "SEAWEED CRISPS 88g", fonts("open-condensed", 44), "#f6c445", "ma")
    foil = effects.crumpled(bag.image, rng, 260, 7, 0.34)
    bag.replace(foil)
    return bag


def _snack(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(203)
    sheet = Sheet(1800, 1800, "#fff9ee")
    sheet.rect((0, 0, 1800, 170), "#1d5b4f")
    sheet.text((80, 85), "产品参数", fonts("hei-bold", 84), "white", "lm")
    sheet.text((470, 92), "PRODUCT DETAILS", fonts("open-condensed", 60), "#f6c445", "lm")
    sheet.text((1720, 85), "好吃不粘牙", fonts("smiley", 76), "#ffe9b8", "rm")
    bag = _snack_bag(fonts)
    quad: Quad = ((90, 300), (680, 252), (720, 1120), (110, 1150))
    effects.soft_shadow(sheet.image, quad, 26, 0.45, (24, 34))
    effects.warp_onto(sheet.image, bag.image, quad)
    sheet.texts.extend(bag.texts)
    y, left, middle, right = 246, 780, 1110, 1730
    for index, (name, value) in enumerate(_SNACK):
        chinese, english = name.split(" ", 1)
        lines = 2 if index in (0, 3) else 1
        height = 128 if lines == 2 else 94
        sheet.rect((left, y, middle, y + height), "#e4efe6", "#1d5b4f", 3)
        sheet.rect((middle, y, right, y + height), "white", "#1d5b4f", 3)
        sheet.text(
            (left + 18, y + height / 2 - 22), chinese, fonts("hei-bold", 36), "#1d5b4f", "lm"
        )
        sheet.text((left + 18, y + height / 2 + 22), english, fonts("open", 28), "#4a6b62", "lm")
        sheet.paragraph(
            (middle + 18, y + height / 2 - (46 if lines == 2 else 24)),
            value,
            fonts("hei", 36),
            right - middle - 30,
            "#2b2b2b",
            leading=1.26,
        )
        y += height
    sheet.rect((80, 1300, 1720, 1720), "#fdeec2", radius=30)
    sheet.text((130, 1316), "营养成分表 Nutrition", fonts("hei-bold", 48), "#7a3410")
    heads = ("项目 Item", "每100克 per 100 g", "NRV%")
    cells = (
        ("能量 Energy", "1985千焦 (kJ)", "24%"),
        ("蛋白质 Protein", "17.6克 (g)", "29%"),
        ("脂肪 Fat", "24.3克 (g)", "41%"),
        ("钠 Sodium", "612毫克 (mg)", "31%"),
    )
    for row, values in enumerate((heads, *cells)):
        y = 1394 + row * 62
        face = "hei-bold" if row == 0 else "hei"
        for x, value in zip((130, 560, 1010), values, strict=True):
            sheet.text((x, y), value, fonts(face, 38), "#3c2a14")
        sheet.line([(130, y + 56), (1180, y + 56)], "#c99a3c", 2)
    sheet.draw.ellipse((1270, 1330, 1640, 1700), "#c8321f")
    sheet.text((1455, 1362), "两件", fonts("hei-bold", 60), "white", "ma")
    sheet.text((1455, 1432), "85折", fonts("smiley", 120), "#ffe45c", "ma")
    sheet.text((1455, 1650), "15% OFF", fonts("roboto-bold", 44), "white", "mm")
    return photo(sheet, (900, 900), Lens(0.35, 1.2, 0.0), rng)


# --- 3: the back of a charger's box -------------------------------------------------------------


PAGES = (
    Page(
        SUBSET,
        "white-tea.jpg",
        _KIND,
        _tea,
        (
            ask("What is the brand name of the tea?", "Yunqi Creek", "YUNQI CREEK", "云栖溪"),
            ask("What is the price of the product?", "168", "168元", "¥168", "¥ 168", "168 yuan"),
            ask("What is the net content of the product?", "125g", "125 g", "125", "125克"),
            ask("What is the service hotline?", "0600-555-0127"),
        ),
    ),
    Page(
        SUBSET,
        "seaweed-crisps.jpg",
        _KIND,
        _snack,
        (
            ask("What is the shelf life of the product?", "9个月", "9 months"),
            ask("What flavor is the product?", "蜂蜜黄油", "蜂蜜黄油味", "Honey Butter"),
            ask("What is the production license number of the product?", "SC10755501880236"),
            ask("How much sodium is there per 100 g?", "612毫克", "612 mg", "612mg", "612"),
        ),
    ),
    Page(
        SUBSET,
        "charger-box.jpg",
        _KIND,
        charger,
        (
            ask("What is the input voltage of the charger?", "100-240V", "100-240V~"),
            ask("What is the model of the charger?", "VF-65C3"),
            ask("What is the color of the product?", "Graphite Grey", "石墨灰"),
            ask("What is the product's email address?", "support@voltfinch.example"),
        ),
    ),
    Page(
        SUBSET,
        "shampoo-bottle.jpg",
        _KIND,
        shampoo,
        (
            ask("What is the volume of the shampoo?", "500mL", "500 mL", "500ml", "500 ml", "500"),
            ask("What is the fragrance of the product?", "White Peach Oolong", "白桃乌龙"),
            ask("What is the expiration date of the product?", "2034年06月", "2034年6月"),
            ask("What is the brand name of the product?", "Moonbloom", "MOONBLOOM", "月见棠"),
        ),
    ),
)
