"""Predictions that files and readers like to change: about a hundred."""

from __future__ import annotations

import csv
import io

NA_LIKE = ["N/A", "NA", "n/a", "#N/A", "NaN", "nan", "-nan", "None", "NULL", "null", "<NA>", ""]
NUMERIC = [
    "007",
    "7",
    "1.0",
    "1e5",
    "-0",
    "+3",
    "0x10",
    "1,234",
    "١٢",
    "½",
    "1_000",
    "99999999999999999999",
]
LOGICAL = ["True", "FALSE", "inf", "-inf"]
FORMULAS = [
    "=SUM(1,2)",
    "=1+1",
    "=",
    "==",
    "{=A1}",
    "=a}",
    "=FILTER(A1:A2,1)",
    "+1-2",
    "-1+2",
    "@SUM(1)",
    "'quoted",
]
CONTROL = [
    "a\x00b",
    "a\x0bb",
    "a\x1fb",
    "\x07",
    "a\x7fb",
    "_x000D_",
    "_x005F_x000D_",
    "a\r\nb",
    "a\nb",
    "a\rb",
    "\t",
    "a\tb",
    "\ufeffa",
]
SPACE = [" lead", "trail ", "\u00a0x\u3000", "  ", "a  b", "\n"]
QUOTES = [
    '"',
    '""',
    'a"b',
    "a,b",
    "a;b",
    "\\",
    "\\n",
    "a\\",
    "|",
    "<b>bold</b>",
    "&amp;",
    "<r>run</r>",
]
LINKS = [
    "http://a.b/c",
    "https://a.b/?q=1#x",
    "mailto:a@b.c",
    "internal:Sheet1!A1",
    "ftp://a.b",
    "file:///etc/passwd",
]
UNICODE = [
    "é",
    "e\u0301",
    "İ",
    "ß",
    "ﬁ",
    "漢字",
    "👩‍👩‍👧",
    "\u202eabc",
    "\u2028",
    "\uffff",
    "a\u200bb",
]
LISTS = ["['x']", '["x"]', "{'a': 1}", "[]", "__import__('os').getcwd()"]
REASONING = ["<think>x</think>word", "<think>word", "</think>word"]
FAILED = ["Failed to obtain answer via API.", "Failed to obtain answer: <class 'OSError'>"]
LONG = ["x" * 32_767, "x" * 32_768, "https://a.b/" + "y" * 2_080, "漢" * 40_000]

ALL = [
    *NA_LIKE, *NUMERIC, *LOGICAL, *FORMULAS, *CONTROL, *SPACE, *QUOTES, *LINKS, *UNICODE, *LISTS,
    *REASONING, *FAILED, *LONG,
]  # fmt: skip


def _writes_nul() -> bool:
    """Whether this Python's csv writer, which pandas uses, takes a NUL (3.11 and later)."""
    try:
        csv.writer(io.StringIO()).writerow(["\0"])
    except csv.Error:
        return False
    return True


PREDICTIONS = [text for text in ALL if "\0" not in text or _writes_nul()]
