"""A stretch of an answer as a value: markup off, and whether what is left can be trusted."""

from __future__ import annotations

import html
import re
import unicodedata

from dtvqa_plugin.annotate.answers.labels import Labels

Span = tuple[int, int]

_INLINE_TAG = re.compile(
    r"</?(?:b|i|u|em|strong|code|span|font|mark|small|sub|sup)\b[^<>]{0,99}>", re.I
)
_BLOCK_TAG = re.compile(
    r"</?(?:br|p|div|ul|ol|li|tr|table|thead|tbody|details|summary|dl|dt|dd|html|body|td|th|qa|pairs?|"
    r"item|qa_pairs?|q|a|question|answer)(?:[_ ]?\d{1,3})?\s*/?>",
    re.I,
)
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,30}(?:\s[^<>]{0,200})?/?>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,20});", re.I)
_ENUMERATED = re.compile(
    r"[#№(\[]\d|\d{1,3}(?:[.)\]/:](?:\s|[^\x00-\x7f])|、|\.\d+\s)|[ivx]{1,5}[.)]\s|[A-Za-z][.)]\s|"
    r"[\u2460-\u24ff\u2776-\u2793]|\w{1,12}\s?[>|]|\w{1,3}\ufe0f?\u20e3",
    re.IGNORECASE,
)
_WORD_LABEL = re.compile(r"[^\W\d]{1,15}\s?\d{0,3}(?:\s?[:~|>]|\s[-–—])|Q\s")
"""A word and a sign, which may be a label of a language that is not in the table."""
_WHY = re.compile(r"expl|reason|rational|evidence|justif|erkl|begr|解|説|설", re.IGNORECASE)
_OPTIONS = re.compile(r"(?<!\w)\(?A[).:]\s?\S.*(?<!\w)\(?B[).:]\s?\S", re.IGNORECASE)
_LEFT_BEFORE = re.compile(r"[*`|]|#(?!\d)|[-–—•>=]+\s|[,;:：…※}\])]|\[[ xX]?\]|[\u2190-\u21ff]")
"""What is left of a list, a quotation or a sign before a value."""
_LEFT_BEHIND = re.compile(
    r"[`|\\,;]\Z|(?<!\d)\*\Z|\*\*|[{\[(]\Z|"
    r"\s(?:\[\d+\]|//|[-–—]+|->|=>|[\u2190-\u21ff]|\^\d+|#|<|[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)\Z"
)
_ASKED = re.compile(r"[?？؟](?P<rest>[^?？؟]*)\Z")
_SENTENCE = re.compile(r"[\s\"'”’»」』)）\]*]*|\s*\([^()]+\)|\s*\w+[\s,]\s*\w.*[.。!)]", re.S)
_LATEX = re.compile(r"\\[A-Za-z]+\s?\{")
_WRAPPERS = (
    ("***", "***"), ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_"), ("```", "```"), ("`", "`"),
    ("==", "=="), ("~~", "~~"), ('"', '"'), ("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"),
    ("'", "'"), ("‘", "’"), ("„", "“"),
)  # fmt: skip
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("（", "）"), ("【", "】"), ("<", ">"))


def clean(text: str) -> str:
    """The value of a stretch: tags, entities, markup around it and runs of blanks taken off."""
    text = _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", text))
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    text = " ".join(text.split())
    while (inner := _unwrapped(text)) != text:
        text = inner
    text = re.sub(r"\*\*(?=\S)([^*]+?)(?<=\S)\*\*", r"\1", text)
    return re.sub(r"\\([*_`#$~|+.!-])", r"\1", text).strip()


def _unwrapped(text: str) -> str:
    for first, last in _WRAPPERS:
        inner = text[len(first) : len(text) - len(last)]
        if not (text.startswith(first) and text.endswith(last)) or not inner.strip():
            continue
        if first in inner or last in inner or (first == "__" and re.fullmatch(r"[a-z_]+", inner)):
            continue
        return inner.strip()
    return text


def sound(question: str, answers: tuple[str, ...], labels: Labels, *, bars: bool) -> bool:
    """Whether a question and its answers look whole: nothing of their wrapping is left on them.

    ``bars``: whether a bar between words is text (in JSON and tables) and not a sign of a row.
    """
    if not bars and (
        any(" | " in text for text in (question, *answers))
        or _WORD_LABEL.match(half_width(question))
    ):
        return False
    if (
        _prefixed(question, labels)
        or _labelled(question, labels, "qa")
        or not _whole(question)
        or not re.search(r"\w", question)
        or not _ends_as_question(question)
    ):
        return False
    return bool(answers) and all(
        _whole(answer) and not _labelled(answer, labels, "a") and re.search(r"[\w%]|\S", answer)
        for answer in answers
    )


def _ends_as_question(question: str) -> bool:
    """Whether behind the last question mark there is nothing but quotes, an aside or a sentence."""
    asked = _ASKED.search(question)
    return asked is None or _SENTENCE.fullmatch(asked["rest"]) is not None


def _prefixed(question: str, labels: Labels) -> bool:
    """Whether a question begins with a number or something like a label, or holds options."""
    if _ENUMERATED.match(question) or _OPTIONS.search(question):
        return True
    start = re.match(r"([^?:]{1,25}):\s*\S", half_width(question))
    if start is None:
        return (
            re.match(r"[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f\u20e3]|\d\ufe0f", question)
            is not None
        )
    words = re.findall(r"[^\W\d_]+", start[1].casefold())
    known = any(labels.side(word) == ("q", None) for word in words)
    return known or re.search(r"\d", start[1]) is not None


def _whole(text: str) -> bool:
    if not text or text.endswith((":", "：")) or _ENTITY.search(text) or _TAG.search(text):
        return False
    if _LATEX.search(text) or re.match(r"\w{1,3}\ufe0f?\u20e3", text):
        return False
    if (text[0] == "_" or text[-1] == "_") and not re.fullmatch(r"_*[A-Za-z]\w*", text):
        return False
    if _LEFT_BEFORE.match(text) or unicodedata.category(text[0]) == "So":
        return False
    if _LEFT_BEHIND.search(text) and not re.search(r"[\u0370-\u03ff];\Z", text):
        return False
    if re.search(r"\\[nrt\"'(]|[\"'”’]\s*[:,]\s*[\"'“{\[]|[\"'][}\]]+\Z|```", text):
        return False
    return _balanced(text)


def _balanced(text: str) -> bool:
    """Quotation marks and brackets at the ends have their partners."""
    for first, last in _BRACKETS:
        if text.startswith(first) and last not in text and not re.match(r"<\s?\d", text):
            return False
        if text.endswith(last) and first not in text:
            return False
    if text.count("[") != text.count("]") or re.search(r"[€$£¥]\s?[\d.,]+\"\Z", text):
        return False
    opening = text[0] in '"“「『«' and text[1:].count(_partner(text[0])) == 0
    closing = (text[-1] == '"' and text.count('"') % 2 == 1 and not re.search(r"\d\"\Z", text)) or (
        text[-1] in "”」』»" and not any(mark in text for mark in "“「『«„")
    )
    return not (opening or closing)


def _partner(mark: str) -> str:
    return {'"': '"', "“": "”", "「": "」", "『": "』", "«": "»"}[mark]


def _labelled(text: str, labels: Labels, sides: str) -> bool:
    """Whether a label is left on a value: at its start, or a numbered one anywhere in it."""
    folded = half_width(text)
    for match in labels.inline.finditer(folded):
        side = "q" if match["q"] else "a"
        if match["n"]:
            if (
                sides == "a"
                and match.start() > 0
                and _WHY.match(match["n"])
                and match["sep"] == ":"
            ):
                return True
            continue
        if match["sep"] is None:
            told = match["num"] or folded[match.end() :].lstrip()[:1].isupper()
            if match.start() == 0 and side == "q" and told and "q" in sides:
                return True
            continue
        if sides == "a" and match.start() > 0 and match["sep"].strip() == ":" and "?" in folded:
            return True
        if match.start() == 0:
            word = match["q"] or match["a"]
            if side in sides and (match["sep"].strip() != "-" or len(word) > 2):
                return True
        elif (
            (match["num"] or len(match["q"] or match["a"]) > 2)
            and match["sep"].strip() in (":", "=")
            and not _quoted(folded, match.start())
        ):
            return True
    return False


def _quoted(text: str, place: int) -> bool:
    return place > 0 and text[place - 1] in "'\"“‘「«"


def half_width(text: str) -> str:
    """The same text, as long, with full-width letters, digits and signs made usual."""
    if text.isascii():
        return text
    return "".join(_half(char) for char in text)


def _half(char: str) -> str:
    if char < "\u2000" or "\u2460" <= char <= "\u24ff" or "\u2776" <= char <= "\u2793":
        return char
    folded = unicodedata.normalize("NFKC", char)
    return folded if len(folded) == 1 else char
