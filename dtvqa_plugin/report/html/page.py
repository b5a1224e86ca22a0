"""Put the page together: template, style and script of this package, content as JSON.

Nothing of a run is ever part of the markup. It is in a data block with ``<``, ``>`` and ``&``
escaped, the script turns it into text nodes, and a content security policy allows exactly this
script and this style and no connection at all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from dtvqa_plugin.report.html.pictures import Picture
from dtvqa_plugin.utils.files import written
from dtvqa_plugin.utils.text import plain

SCRIPTS = (
    "dom.js",
    "charts.js",
    "why.js",
    "conditions.js",
    "summary.js",
    "filters.js",
    "cards.js",
    "list.js",
    "main.js",
)

LIMIT = 40_000_000
"""Most bytes of a page over the test split with four runs."""

_UNSAFE = re.compile("[<>&\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def render_page(document: Mapping[str, Any], pictures: Mapping[str, Picture]) -> str:
    """The whole page as text. ``document`` is what `page_document` made of the same pictures."""
    style = _asset("page.css")
    script = "'use strict';\n(() => {\n" + "\n".join(map(_asset, SCRIPTS)) + "})();\n"
    thumbnails = [
        getattr(pictures.get(image["name"]), "data", None) for image in document["images"]
    ]
    return Template(_asset("page.html")).substitute(
        policy=html.escape(policy(style, script)),
        title=html.escape(plain(f"{document['title']} · {document['heading']}")),
        style=style,
        script=script,
        document=as_json(document),
        thumbnails=as_json(thumbnails),
    )


def write_page(path: Path, page: str) -> int:
    """Write the page whole or not at all; returns its size in bytes. DTVQAError if it cannot be."""
    content = page.encode("utf-8")
    with written(path) as partial:
        partial.write_bytes(content)
    return len(content)


def as_json(value: object) -> str:
    """JSON that can end no script element and holds no character that a parser would change."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def policy(style: str, script: str) -> str:
    """The content security policy: this style, this script, images from data and disk."""
    rules: Sequence[str] = (
        "default-src 'none'",
        "img-src data: file:",
        f"style-src '{_digest(style)}'",
        f"script-src '{_digest(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return "; ".join(rules)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _asset(name: str) -> str:
    folder = importlib.resources.files("dtvqa_plugin.report.html") / "assets"
    return (folder / name).read_text(encoding="utf-8").replace("\r\n", "\n")
