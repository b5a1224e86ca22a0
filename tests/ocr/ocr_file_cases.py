"""Files as data sets of scene text have them, and what they say. Written before the readers.

`SEEN` were used while the readers were written; `HELD` were first read when they were done.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import Any

Bounds = tuple[float, float, float, float]


@dataclass(frozen=True)
class Case:
    """One file, or a folder of files, and either what it says or why it is refused.

    Attributes:
        name: What the case is about.
        format: The format that the user names.
        files: File names and contents; a name that begins with ``/`` is the path given, not a
            file in the folder given.
        says: The texts with the edges of their boxes by image name.
        refused: A regular expression of the error.
    """

    name: str
    format: str
    files: dict[str, str | bytes]
    says: dict[str, list[tuple[str, Bounds]]] = field(default_factory=dict)
    refused: str | None = None


BOX: Bounds = (10, 20, 90, 40)
CORNERS = "10,20,90,20,90,40,10,40"
POINTS = [[10, 20], [90, 20], [90, 40], [10, 40]]
CURVED = [[10, 30], [30, 21], [60, 20], [90, 30], [90, 40], [60, 32], [30, 33], [10, 39]]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def word(text: str, points: Any = POINTS, **more: Any) -> dict[str, Any]:
    return {"transcription": text, "points": points, **more}


def page(name: str, *lines: dict[str, Any]) -> dict[str, Any]:
    parts = {"vertices": POINTS, "legible": True, "lines": list(lines)}
    return {"image_id": name, "image_width": 100, "image_height": 50, "paragraphs": [parts]}


def line(text: str, **more: Any) -> dict[str, Any]:
    return {"vertices": POINTS, "text": text, "legible": True, "words": [], **more}


SEEN = [
    Case(
        "ICDAR 2015: byte order mark, Windows line ends, commas in the text, an unreadable word",
        "icdar",
        {
            "gt_img_1.txt": f"\ufeff{CORNERS},Genaxis Theatre\r\n{CORNERS},###\r\n"
            f"{CORNERS},9:30, daily\r\n"
        },
        {"img_1": [("Genaxis Theatre", BOX), ("9:30, daily", BOX)]},
    ),
    Case(
        "ICDAR 2013, training: blanks between four edges, text in quotes",
        "icdar",
        {"gt_100.txt": '10 20 90 40 "Footpath"\n10 20 90 40 "To"\n'},
        {"100": [("Footpath", BOX), ("To", BOX)]},
    ),
    Case(
        "ICDAR 2013, test: commas between four edges, text in quotes",
        "icdar",
        {"gt_img_2.txt": '10, 20, 90, 40, "Tiredness"\r\n10, 20, 90, 40, "kills, A"\r\n'},
        {"img_2": [("Tiredness", BOX), ("kills, A", BOX)]},
    ),
    Case(
        "MLT: the script is a column, not text",
        "icdar",
        {
            "gt_img_3.txt": f"{CORNERS},Latin,CAFE\n{CORNERS},Korean,카페\n{CORNERS},None,###\n"
            f"{CORNERS},Latin,Salt, pepper\n"
        },
        {"img_3": [("CAFE", BOX), ("카페", BOX), ("Salt, pepper", BOX)]},
    ),
    Case(
        "MLT with the text in quotes",
        "icdar",
        {"img_4.txt": f'{CORNERS},Latin,"CAFE"\n'},
        {"img_4": [("CAFE", BOX)]},
    ),
    Case(
        "RCTW: a column of 0 and 1, text in quotes; what is difficult but written down stays",
        "icdar",
        {"image_0.txt": f'{CORNERS},0,"金氏眼镜"\n{CORNERS},1,"###"\n{CORNERS},1,"创于1989"\n'},
        {"image_0": [("金氏眼镜", BOX), ("创于1989", BOX)]},
    ),
    Case(
        "a folder of .csv files is read like one of .txt files",
        "icdar",
        {"img_5.csv": f"{CORNERS},Exit\n", "img_6.TXT": f"{CORNERS},Way out\n", "img_5.jpg": b"x"},
        {"img_5": [("Exit", BOX)], "img_6": [("Way out", BOX)]},
    ),
    Case(
        "an empty file is an image without text",
        "icdar",
        {"gt_img_7.txt": "", "gt_img_8.txt": f"{CORNERS},Exit\n"},
        {"img_7": [], "img_8": [("Exit", BOX)]},
    ),
    Case(
        "ICDAR: only some lines have a script",
        "icdar",
        {"img_9.txt": f"{CORNERS},Latin,CAFE\n{CORNERS},Exit\n"},
        refused=r"img_9\.txt: line 2: .*script.*'mlt'.*'icdar2015'",
    ),
    Case(
        "the user says that there is no column of scripts",
        "icdar2015",
        {"img_9.txt": f"{CORNERS},Latin,CAFE\n{CORNERS},Exit\n"},
        {"img_9": [("Latin,CAFE", BOX), ("Exit", BOX)]},
    ),
    Case(
        "ICDAR: polygons of more than four corners are not of this format",
        "icdar",
        {"img_1.txt": f"{CORNERS},5,30,5,25,curved\n{CORNERS},5,30,5,25,words\n"},
        refused="12 numbers",
    ),
    Case("ICDAR: a folder without text files", "icdar", {"a.json": "{}"}, refused=r"no \.txt"),
    Case(
        "LSVT: quadrangles, text on which nothing can be read",
        "lsvt",
        {
            "/train_full_labels.json": dumps(
                {
                    "gt_0": [
                        word("一站式购物中心", illegibility=False),
                        word("###", illegibility=True),
                        word("模糊", illegibility=True),
                    ],
                    "gt_1": [],
                }
            )
        },
        {"gt_0": [("一站式购物中心", BOX)], "gt_1": []},
    ),
    Case(
        "ArT: polygons of any number of corners",
        "art",
        {"/train_labels.json": dumps({"gt_0": [word("Diner", CURVED, language="Latin")]})},
        {"gt_0": [("Diner", BOX)]},
    ),
    Case(
        "PaddleOCR: a line an image",
        "paddleocr",
        {
            "/Label.txt": f"imgs/a.jpg\t{dumps([word('MASA', difficult=False), word('###')])}\n"
            f"imgs/b.jpg\t[]\r\n"
        },
        {"imgs/a.jpg": [("MASA", BOX)], "imgs/b.jpg": []},
    ),
    Case(
        "PaddleOCR: words that were cut out have no boxes",
        "paddleocr",
        {"/rec_gt.txt": "crop_img/word_1.jpg\tGenaxis\ncrop_img/word_2.jpg\tTheatre\n"},
        refused=r"rec_gt\.txt: line 1: .*without boxes",
    ),
    Case(
        "HierText as published: one object, packed",
        "hiertext",
        {
            "/train.jsonl.gz": gzip.compress(
                dumps(
                    {
                        "info": {"date": "", "version": ""},
                        "annotations": [
                            page("a1", line("BLUE BIRD"), line("smudge", legible=False)),
                            page("a2"),
                        ],
                    }
                ).encode()
            )
        },
        {"a1": [("BLUE BIRD", BOX)], "a2": []},
    ),
    Case(
        "HierText, an image a line",
        "hiertext",
        {"/val.jsonl": dumps(page("a1", line("BLUE BIRD"))) + "\n" + dumps(page("a2")) + "\n"},
        {"a1": [("BLUE BIRD", BOX)], "a2": []},
    ),
    Case(
        "HierText: a file of LSVT",
        "hiertext",
        {"/labels.json": dumps({"gt_0": [word("购物")]})},
        refused="not a file of format 'hiertext'.*looks like 'lsvt'",
    ),
    Case(
        "one image twice",
        "paddleocr",
        {"/Label.txt": f"x/a.jpg\t{dumps([word('A')])}\ny/a.jpg\t{dumps([word('B')])}\n"},
        refused="line 2: .*'a'.*twice",
    ),
]

HELD = [
    Case(
        "ICDAR 2015: quotes inside the text stay, quotes around it go",
        "icdar",
        {"gt_img_1.txt": f'{CORNERS},the "Ritz" bar\n{CORNERS},"A" and "B"\n{CORNERS},"Ritz"\n'},
        {"img_1": [('the "Ritz" bar', BOX), ('"A" and "B"', BOX), ("Ritz", BOX)]},
    ),
    Case(
        "ICDAR 2015: a text of numbers with commas",
        "icdar",
        {"gt_img_1.txt": f"{CORNERS},1,250\n{CORNERS},Price: 5,10\n{CORNERS},Exit\n"},
        {"img_1": [("1,250", BOX), ("Price: 5,10", BOX), ("Exit", BOX)]},
    ),
    Case(
        "ICDAR 2013: quotes within quotes",
        "icdar",
        {"gt_img_2.txt": '10, 20, 90, 40, "the "Ritz" bar"\n10, 20, 90, 40, "x"\n'},
        {"img_2": [('the "Ritz" bar', BOX), ("x", BOX)]},
    ),
    Case(
        "ICDAR 2013: text that begins with numbers",
        "icdar",
        {"gt_img_2.txt": '10, 20, 90, 40, "12, 14, 16, 18, 20"\n'},
        {"img_2": [("12, 14, 16, 18, 20", BOX)]},
    ),
    Case(
        "MLT 2019: more scripts, a byte order mark, commas and quotes in the text, blanks",
        "mlt",
        {
            "tr_img_00001.txt": f'\ufeff{CORNERS},Hindi,नमस्ते\r\n{CORNERS},Symbols,","\r\n'
            f'{CORNERS},Mixed,A, "B" और C\r\n{CORNERS},Arabic,مقهى\r\n{CORNERS},Bangla,ঢাকা\r\n'
        },
        {
            "tr_img_00001": [
                ("नमस्ते", BOX),
                (",", BOX),
                ('A, "B" और C', BOX),
                ("مقهى", BOX),
                ("ঢাকা", BOX),
            ]
        },
    ),
    Case(
        "MLT: text written by a program for csv files",
        "icdar",
        {"a.csv": f'{CORNERS},Latin,"Say ""hi"", please"\n{CORNERS},Latin,Exit\n'},
        {"a": [('Say "hi", please', BOX), ("Exit", BOX)]},
    ),
    Case(
        "MLT named, a line without a script",
        "mlt",
        {"a.txt": f"{CORNERS},Latin,Exit\n{CORNERS},Exit\n"},
        refused=r"a\.txt: line 2: expected .*script",
    ),
    Case(
        "RCTW named, commas and quotes in the text",
        "rctw",
        {"image_1.txt": f'\ufeff{CORNERS},0,"A, "B""\r\n{CORNERS},0,""\r\n'},
        {"image_1": [('A, "B"', BOX)]},
    ),
    Case(
        "RCTW named, a file of ICDAR 2015",
        "rctw",
        {"image_1.txt": f"{CORNERS},Exit\n"},
        refused=r"image_1\.txt: line 1: expected",
    ),
    Case(
        "ICDAR: corners with fractions, below zero and with blanks",
        "icdar",
        {"a.txt": "-1.5, 2, 90.25, 2, 90.25, 40, -1.5, 40, Exit\n"},
        {"a": [("Exit", (-1.5, 2, 90.25, 40))]},
    ),
    Case(
        "ICDAR: a box without text behind it",
        "icdar",
        {"a.txt": f"{CORNERS}\n{CORNERS}\n"},
        refused=r"a\.txt: line 1: .*without text",
    ),
    Case(
        "ICDAR: a file in an unknown encoding",
        "icdar",
        {"a.txt": f"{CORNERS},Café\n".encode("latin-1")},
        refused=r"a\.txt: .*UTF-8",
    ),
    Case(
        "ICDAR: one image as .txt and as .csv",
        "icdar",
        {"a.txt": f"{CORNERS},Exit\n", "a.csv": f"{CORNERS},Exit\n"},
        refused=r"a\.txt: .*'a'.*twice",
    ),
    Case(
        "ICDAR: a label file in the place of the folder",
        "icdar",
        {"/Label.txt": f"a.jpg\t{dumps([word('A')])}\n"},
        refused="folder.*looks like 'paddleocr'",
    ),
    Case(
        "ICDAR: lines of YOLO",
        "icdar",
        {"a.txt": "0 0.5 0.5 0.1 0.2\n"},
        refused=r"a\.txt: line 1: .*found '0 0\.5 0\.5 0\.1 0\.2'",
    ),
    Case(
        "LSVT: weak annotations have no boxes",
        "lsvt",
        {"/train_weak_labels.json": dumps({"gt_0": [{"transcription": "购物"}]})},
        refused="'gt_0'.*without boxes",
    ),
    Case(
        "LSVT, packed; vertical text whose corners begin elsewhere",
        "lsvt",
        {
            "/labels.json.gz": gzip.compress(
                dumps({"gt_7": [word("竖排", [[10, 90], [10, 10], [30, 10], [30, 90]])]}).encode()
            )
        },
        {"gt_7": [("竖排", (10, 10, 30, 90))]},
    ),
    Case(
        "ArT: twelve corners, a byte order mark",
        "lsvt",
        {
            "/train_labels.json": "\ufeff"
            + dumps(
                {
                    "gt_3": [
                        word("OPEN", [*CURVED, [9, 35], [9, 33]], language="Latin"),
                        word("###", POINTS, language="Others", illegibility=True),
                    ]
                }
            )
        },
        {"gt_3": [("OPEN", (9, 20, 90, 40))]},
    ),
    Case(
        "LSVT named, the plain form of this program",
        "lsvt",
        {"/text.json": dumps({"a.jpg": [{"text": "Exit", "box": [1, 2, 3, 4]}]})},
        refused="looks like 'json'",
    ),
    Case(
        "PaddleOCR: results with scores, tabs in names and texts of other scripts, keys of tables",
        "paddleocr",
        {
            "/system_results.txt": "\ufeffdir with blanks/a 1.jpg\t"
            + dumps([word("a\tb", score=0.98), word("商品: 5,10", key_cls="total")])
            + "\r\n\r\nb.jpg\t"
            + dumps([word("Exit", CURVED)])
        },
        {
            "dir with blanks/a 1.jpg": [("a\tb", BOX), ("商品: 5,10", BOX)],
            "b.jpg": [("Exit", BOX)],
        },
    ),
    Case(
        "PaddleOCR: detection only",
        "paddleocr",
        {"/det_results.txt": f"a.jpg\t{dumps([POINTS, POINTS])}\n"},
        refused=r"det_results\.txt: line 1: .*'transcription'",
    ),
    Case(
        "PaddleOCR: a Python list in place of JSON",
        "paddleocr",
        {"/Label.txt": f"a.jpg\t{[word('A')]}\n"},
        refused=r"Label\.txt: line 1: not JSON",
    ),
    Case(
        "PaddleOCR: a broken line behind good ones",
        "paddleocr",
        {"/Label.txt": f"a.jpg\t{dumps([word('A')])}\nb.jpg\t[" + '{"transcription": "B"}]\n'},
        refused=r"Label\.txt: line 2: .*without boxes",
    ),
    Case(
        "HierText, an image a line, packed",
        "hiertext",
        {"/val.jsonl.gz": gzip.compress((dumps(page("a1", line("BIRD", vertical=True)))).encode())},
        {"a1": [("BIRD", BOX)]},
    ),
    Case(
        "HierText: a packed file that was cut off",
        "hiertext",
        {"/val.jsonl.gz": gzip.compress(dumps(page("a1", line("BIRD"))).encode())[:-9]},
        refused=r"val\.jsonl\.gz: .*cut off",
    ),
    Case(
        "HierText named, COCO found",
        "hiertext",
        {
            "/coco.json": dumps(
                {"images": [{"id": 1}], "annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4]}]}
            )
        },
        refused="annotation 1: expected a list of objects in 'paragraphs'",
    ),
    Case(
        "the plain form named, HierText found",
        "json",
        {"/train.json": dumps({"info": {}, "annotations": [page("a1", line("BIRD"))]})},
        refused="looks like 'hiertext'",
    ),
    Case(
        "the plain form named, POIE found",
        "json",
        {
            "/poie.jsonl": dumps(
                {"file_name": "a.jpg", "annotations": [{"polygon": POINTS, "text": "x"}]}
            )
        },
        refused="looks like 'poie'",
    ),
    Case(
        "ICDAR 2015 named, every line has a script",
        "icdar2015",
        {"a.txt": f"{CORNERS},Latin,Exit\n{CORNERS},None,###\n"},
        refused="looks like 'mlt'",
    ),
    Case(
        "ICDAR 2013 named, four corners found",
        "icdar2013",
        {"a.txt": f"{CORNERS},Exit\n"},
        refused="line 1: expected left.*looks like 'icdar2015'",
    ),
    Case("an empty label file", "paddleocr", {"/Label.txt": ""}, refused="empty"),
    Case(
        "an image in place of a label file",
        "lsvt",
        {"/a.png": b"\x89PNG\r\n\x1a\n\0\0"},
        refused="a.png",
    ),
]
