"""MiniProdCap: a charger's box and a shampoo bottle."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from . import effects
from .barcode import barcode
from .effects import Lens, Quad
from .fonts import FontBook
from .page import photo
from .sheet import Sheet


def _charger_back(fonts: FontBook) -> Sheet:
    sheet = Sheet(1100, 1420, "#f4f5f7")
    sheet.rect((0, 0, 1100, 250), "#20242e")
    sheet.text((60, 40), "VOLTFINCH", fonts("bebas", 120), "#ffb22e", tracking=6)
    sheet.text((60, 172), "伏雀 65W 氮化镓充电器", fonts("hei-bold", 50), "white")
    sheet.text((1040, 66), "GaN", fonts("roboto-black", 90), "white", "ra")
    sheet.text((60, 286), "技术参数 Specifications", fonts("hei-bold", 44), "#20242e")
    rows = (
        ("型号 Model", "VF-65C3"),
        ("输入 Input", "100-240V~ 50/60Hz 1.6A"),
        ("输出 USB-C1", "5V3A / 9V3A / 20V3.25A"),
        ("输出 USB-C2", "5V3A / 9V2.22A / 12V1.67A"),
        ("输出 USB-A", "5V4.5A (22.5W Max)"),
        ("尺寸 Size", "66 x 39 x 31 mm"),
        ("重量 Weight", "118g"),
        ("颜色 Color", "石墨灰 Graphite Grey"),
    )
    y = 356.0
    for index, (name, value) in enumerate(rows):
        if index % 2 == 0:
            sheet.rect((44, y, 1056, y + 62), "#e2e5ea")
        sheet.text((60, y + 31), name, fonts("hei-bold", 36), "#20242e", "lm")
        sheet.text((1040, y + 31), value, fonts("hei", 36), "#20242e", "rm")
        y += 62
    y = sheet.paragraph(
        (60, y + 24),
        "注意：请勿拆卸、浸水或置于高温环境。仅限室内使用。儿童须在成人看护下使用。",
        fonts("hei", 32),
        980,
        "#3a404c",
        leading=1.35,
    )
    y = sheet.paragraph(
        (60, y + 8),
        "Caution: indoor use only. Do not open, wet or expose to heat. Keep away from children.",
        fonts("roboto", 32),
        980,
        "#3a404c",
        leading=1.25,
    )
    y = sheet.paragraph(
        (60, y + 16),
        "制造商：鹭洲伏雀电子科技有限公司\n地址：鹭洲市听涛区星河路88号\n"
        "执行标准：GB 4943.1  保修期：18个月",
        fonts("hei", 32),
        640,
        "#20242e",
        leading=1.4,
    )
    sheet.text((60, y + 8), "support@voltfinch.example", fonts("roboto-medium", 34), "#b35c00")
    barcode(sheet, (700, 1176, 1056, 1370), "2 955501 203417", fonts)
    sheet.text((60, 1364), "生产日期：2031/11/08", fonts("hei", 32), "#20242e")
    return sheet


def _charger_front(fonts: FontBook) -> Sheet:
    sheet = Sheet(560, 1420, "#20242e")
    sheet.text((280, 110), "VOLTFINCH", fonts("bebas", 124), "#ffb22e", "ma")
    sheet.text((280, 250), "伏雀", fonts("hei-bold", 110), "white", "ma")
    sheet.rect((120, 480, 440, 960), "#565d6b", radius=60)
    sheet.rect((150, 510, 410, 930), "#6c7484", radius=44)
    for y in (590, 690, 790):
        sheet.rect((215, y, 345, y + 46), "#1a1d25", radius=20)
    sheet.text((280, 1020), "65W", fonts("roboto-black", 190), "white", "ma")
    sheet.text((280, 1240), "三口快充", fonts("hei-bold", 80), "#ffb22e", "ma")
    return sheet


def charger(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(303)
    desk = effects.planks(1900, 2100, (186, 164, 138), rng, 420)
    scene = Sheet.of(effects.shade(desk, 1.05))
    back, front = _charger_back(fonts), _charger_front(fonts)
    edge_top, edge_bottom = (520.0, 176.0), (536.0, 1970.0)
    back_quad: Quad = (edge_top, (1736, 250), (1700, 1846), edge_bottom)
    front_quad: Quad = ((150, 262), edge_top, edge_bottom, (196, 1830))
    ground: Quad = ((196, 1800), (1760, 1750), (1880, 1960), (536, 2060))
    effects.soft_shadow(scene.image, ground, 40, 0.6)
    effects.warp_onto(scene.image, back.image, back_quad)
    effects.warp_onto(scene.image, effects.shade(front.image, 0.72), front_quad)
    scene.texts = back.texts + front.texts
    light = Image.new("L", scene.image.size)
    ImageDraw.Draw(light).ellipse((1150, 120, 1800, 900), 80)
    glow = light.filter(ImageFilter.GaussianBlur(180))
    scene.replace(
        ImageChops.screen(scene.image.convert("RGB"), Image.merge("RGB", (glow, glow, glow)))
    )
    scene.replace(effects.lit_from(scene.image, (0.65, 0.3), 0.8, 0.7, 1.06))
    lens = Lens(0.6, 3.0, 0.3, warmth=0.15)
    return photo(scene, (950, 1050), lens, rng)


# --- 4: shampoo bottle, back label --------------------------------------------------------------


def _shampoo_label(fonts: FontBook) -> Sheet:
    sheet = Sheet(1080, 1500, "#e9f1ef")
    ink = "#1d4a55"
    sheet.rect((0, 0, 1080, 16), "#e08e6d")
    sheet.text((540, 40), "月见棠", fonts("song-bold", 130), ink, "ma")
    sheet.text((540, 206), "MOONBLOOM", fonts("lato-bold", 62), ink, "ma", tracking=18)
    sheet.text((540, 294), "氨基酸柔顺洗发露", fonts("hei-bold", 60), "#b5573a", "ma")
    sheet.text((540, 374), "Amino Acid Smoothing Shampoo", fonts("lato", 48), "#b5573a", "ma")
    sheet.line([(90, 450), (990, 450)], ink, 3)
    body = fonts("hei", 35)
    y = sheet.paragraph(
        (90, 468),
        "【使用方法】取适量于掌心，加水揉出泡沫，轻柔按摩头皮一至两分钟，再以清水洗净。",
        body,
        900,
        ink,
        leading=1.36,
    )
    y = sheet.paragraph(
        (90, y + 6),
        "Directions: lather with water, massage the scalp for two minutes, rinse well.",
        fonts("lato", 35),
        900,
        ink,
        leading=1.22,
    )
    y = sheet.paragraph(
        (90, y + 12),
        "【成分】水、椰油酰甘氨酸钾、甘油、棠梨花提取物、泛醇、柠檬酸、香精",
        body,
        900,
        ink,
        leading=1.36,
    )
    y = sheet.paragraph(
        (90, y + 6),
        "Ingredients: aqua, potassium cocoyl glycinate, glycerin, crabapple flower extract, "
        "panthenol, citric acid, parfum.",
        fonts("lato", 35),
        900,
        ink,
        leading=1.22,
    )
    y = sheet.paragraph(
        (90, y + 12),
        "【注意】避免入眼；如不慎入眼，请立即用清水冲洗。请置于儿童不易触及处。",
        body,
        900,
        ink,
        leading=1.36,
    )
    y = sheet.paragraph(
        (90, y + 12),
        "香型：白桃乌龙 White Peach Oolong\n限期使用日期：2034年06月\n"
        "备案编号：东妆网备字2031005512\n委托方：澜汀日化（澜汀市）有限公司",
        body,
        900,
        ink,
        leading=1.4,
    )
    sheet.text((90, y + 16), "500mL", fonts("lato-black", 84), ink)
    sheet.text((90, y + 116), "16.9 FL. OZ.", fonts("lato", 42), ink)
    barcode(sheet, (600, y + 16, 990, y + 170), "2 970555 018826", fonts)
    return sheet


def shampoo(fonts: FontBook) -> Sheet:
    rng = np.random.default_rng(404)
    tiles = Sheet(1800, 2200, (214, 196, 186))
    for x in range(0, 1800, 225):
        for y in range(0, 2200, 225):
            tone = rng.normal(0, 5)
            color = (int(206 + tone), int(176 + tone), int(164 + tone))
            tiles.rect((x + 5, y + 5, x + 220, y + 220), color, radius=10)
    tiles.replace(effects.to_image(effects.grain(effects.to_pixels(tiles.image), 9, 400, rng)))
    scene = Sheet.of(tiles.image.filter(ImageFilter.GaussianBlur(11)))
    shelf = effects.gradient(1800, 330, (240, 236, 230), (198, 190, 182))
    scene.image.paste(shelf.filter(ImageFilter.GaussianBlur(4)), (0, 1870))
    label = _shampoo_label(fonts)
    bottle = Sheet(1560, 1800)
    bottle.rect((0, 0, 1560, 1799), "#7fb3ad", radius=200)
    bottle.image.alpha_composite(label.image, (240, 190))
    curved = effects.bent(bottle.image, 72, 20, light=-0.3, edge=0.4)
    curved = curved.resize((1330, 1790), Image.Resampling.LANCZOS)
    left, top = 240, 250
    ground: Quad = ((left, 1940), (left + 1360, 1920), (left + 1500, 2060), (left + 60, 2060))
    effects.soft_shadow(scene.image, ground, 40, 0.55)
    pump = effects.bent(Image.new("RGBA", (480, 320), (236, 240, 238, 255)), 78, 12, -0.3, 0.5)
    scene.image.alpha_composite(pump.resize((360, 320)), (left + 485, -10))
    scene.image.alpha_composite(curved, (left, top))
    scene.texts = label.texts
    glare = Image.new("L", scene.image.size)
    ImageDraw.Draw(glare).rectangle((left + 130, 420, left + 210, 1900), 90)
    glare = glare.filter(ImageFilter.GaussianBlur(34))
    scene.replace(
        ImageChops.screen(scene.image.convert("RGB"), Image.merge("RGB", (glare, glare, glare)))
    )
    scene.replace(effects.lit_from(scene.image, (0.35, 0.25), 0.9, 0.74, 1.08))
    scene.replace(scene.image.rotate(1.6, Image.Resampling.BICUBIC).crop((60, 60, 1740, 2140)))
    return photo(scene, (880, 1090), Lens(0.55, 2.6, 0.28, warmth=0.1), rng)
