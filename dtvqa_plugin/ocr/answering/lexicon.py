"""Words and forms that the reader knows: general English and Chinese, no answers of any kind."""

from __future__ import annotations

import re

_STOP = (
    "a an the of in on at to for from by with and or as is was are were be been did do does has "
    "have had that which who whom whose what when where how there this it its their his her they "
    "many much s per during between against into image text table shown given listed list "
    "according mentioned value amount content typical"
)
STOP_WORDS = frozenset(_STOP.split())

# Words that heads and labels use for one another, a line each.
CONCEPTS = (
    "team club side squad school",
    "player name driver rider golfer athlete person swimmer wrestler boxer skater pilot member",
    "country nation nationality",
    "location venue place site stadium ground city arena circuit course",
    "score result final",
    "attendance crowd spectator attended",
    "position pos rank place finish finished standing placed ranking",
    "point pts score",
    "win won w winning winner victory",
    "lose loss lost l losing loser defeat",
    "draw drawn tied tie d",
    "round rd",
    "year season",
    "title episode name",
    "opponent against opposition visitor",
    "time duration length",
    "candidate incumbent winner",
    "writer written wrote author",
    "director directed direct",
    "constructor manufacturer chassis",
    "price cost",
    "built completed opened year",
    "viewer audience rating",
    "number no num",
    "calorie calory energy kcal",
    "carbohydrate carb",
    "fibre fiber",
    "sodium salt",
    "% percent percentage pct",
)

# What the printed value of a thing looks like, by a word that the question uses for the thing.
VALUE_FORMS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(form, re.IGNORECASE))
    for asked, form in (
        (r"\be-?mail", r"[\w.+-]+@[\w-]+\.[\w.]+"),
        (r"\bweb ?(?:site|page| address)|\burl\b|网址|网站",
         r"(?:https?:\W+|www\.)\S+|[\w-]+\.(?:com|org|net|cn|edu|gov|co)\b\S*"),
        (r"\btwitter|\bhandle\b|\binstagram", r"@\w+"),
        (r"\b(?:tele)?phone|\bcontact number|\bhotline|\bfax\b|电话|热线",
         r"[+(]?\d[\d ()\-–.]{5,}\d"),
        (r"\bprice|\bcosts?\b|\bhow much (?:is|are|does|do) |价格",
         r"[$£€¥￥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:元|[$£€¥])"),
        (r"\bpercent|\bdaily value|\balcohol|\bthe ri\b|酒精", r"[<≥>]?\s?\d[\d.]*\s?%(?:\s?vol)?"),
        (r"\bcalorie|\bkcal", r"\d[\d.,]*\s?k?cal\w*|\d[\d.,]*"),
        (r"\benergy|\bkilojoule|能量", r"\d[\d.,]*\s?(?:kj|kcal|千焦)(?:\s?/\s?\d[\d.,]*\s?kcal)?"),
        (r"\bmilligram", r"[<≤~]?\s?\d[\d.,]*\s?(?:mg|毫克)"),
        (r"\bgrams?\b", r"[<≤~]?\s?\d[\d.,]*\s?(?:g|克)\b"),
        (r"\bweight|\bnet content|\bvolume|\bhow (?:much|heavy)\b|净含量|净重",
         r"[<≤~]?\s?\d[\d.,]*\s?(?:kg|mg|ml|g|l|fl\.? ?oz|oz|lbs?|千克|毫克|毫升|克|升)(?![a-z])"),
        (r"\bdate\b|\bwhen\b|日期",
         r"\d{4}\s?[-./年]\s?\d{1,2}\s?[-./月]\s?\d{1,2}日?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
         r"|(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
         r"\s+\d{1,4}(?:,?\s+\d{4})?|\b(?:1[5-9]|20)\d\d\b"),
        (r"\byear\b|\bwhen\b", r"\b(?:1[5-9]|20)\d\d\b"),
        (r"\bwhat time|\bhours?\b", r"\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|\d{1,2}[:.]\d\d"),
        (r"\bhow many|\bnumber\b|\bhow old|\bhow long", r"\d[\d.,]*"),
    )
)  # fmt: skip

# Chinese names that packs print for what an English question asks about.
CHINESE_LABELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"net (?:weight|content)|\bweight\b|\bvolume\b", ("净含量", "净重", "容量", "规格")),
    (r"shelf life|best before|how long .* (?:keep|last|stored)", ("保质期", "保存期")),
    (r"expir", ("有效期", "限用日期", "保质期")),
    (r"production date|manufactur\w* date|when .* (?:produced|made)", ("生产日期",)),
    (r"ingredient", ("配料表", "配料", "成分", "原料")),
    (r"standard", ("产品标准号", "产品标准代号", "执行标准", "标准号", "标准代号")),
    (r"licen[sc]e", ("生产许可证编号", "生产许可证", "许可证编号", "许可证")),
    (r"stor(?:age|ed?)\b", ("贮存条件", "储存条件", "贮存方法", "储藏方法", "保存方法", "贮藏")),
    (r"manufacturer|produce[rd]|who makes|company",
     ("生产商", "制造商", "生产企业", "生产厂家", "生产者", "委托方", "出品商")),
    (r"distribut|import", ("进口商", "经销商", "总经销", "代理商")),
    (r"address|located", ("生产地址", "厂址", "地址")),
    (r"origin|where .* (?:made|produced|from)|country", ("原产国", "原产地", "产地")),
    (r"phone|contact|hotline", ("服务热线", "联系电话", "客服热线", "电话", "热线")),
    (r"brand", ("品牌",)),
    (r"product'?s? name|name of the (?:product|drink|medicine|food)",
     ("产品名称", "食品名称", "品名", "名称")),
    (r"alcohol", ("酒精度", "酒精含量")),
    (r"flavou?r|taste", ("口味", "味道")),
    (r"usage|directions|how .* use", ("使用方法", "用法用量", "食用方法", "用法")),
    (r"dosage", ("用法用量", "用量")),
    (r"\benerg|calorie", ("能量", "热量")),
    (r"protein", ("蛋白质",)),
    (r"saturated", ("饱和脂肪",)),
    (r"\bfat\b", ("脂肪",)),
    (r"carbohydrate", ("碳水化合物",)),
    (r"sugar", ("糖",)),
    (r"sodium", ("钠",)),
)  # fmt: skip
