"""Removal of a reasoning model's thoughts, one rule for every host.

Containment would score any answer that a thought mentions, so only what stands outside the
thoughts is scored.
"""

from __future__ import annotations

import re

__all__ = ["REASONING_TAGS", "is_truncated_reasoning", "strip_reasoning"]

REASONING_TAGS = ("think", "thinking", "thought", "analysis", "reasoning")
"""Names of the `<name>...</name>` blocks that are removed; `◁think▷` is known as well."""

# No character can be taken by two parts of the pattern, so matching is linear in the text.
_TAG = re.compile(
    rf"<(?P<close>/?)(?P<name>{'|'.join(REASONING_TAGS)})(?:[\s/][^<>]*)?>"
    r"|\u25c1(?P<close_triangle>/?)think\u25b7",
    re.IGNORECASE,
)


def strip_reasoning(text: str) -> str:
    """Return `text` without its reasoning.

    - A block from an opening tag to the next closing tag of the same name is removed; opening
      tags inside it are part of it. Case and attributes of tags do not matter, and an empty
      element (`<think/>`) is removed.
    - A closing tag outside any block closes what the prompt opened: everything before it goes.
    - An opening that is never closed leaves no answer: the result is empty
      (see `is_truncated_reasoning`).

    Text without such tags is returned as it is, white space included. Idempotent, and linear
    in the length of the text.
    """
    return _split(text)[0]


def is_truncated_reasoning(text: str) -> bool:
    """True if `text` breaks off inside its reasoning, so that no answer was given."""
    return _split(text)[1]


def _split(text: str) -> tuple[str, bool]:
    """The text outside the reasoning, and whether the reasoning never ends."""
    outside: list[str] = []
    position = 0
    open_name: str | None = None
    for tag in _TAG.finditer(text):
        name = (tag["name"] or "\u25c1think").lower()
        closing = bool(tag["close"] or tag["close_triangle"])
        if open_name is not None:
            if not closing or name != open_name:
                continue
            open_name = None
        elif closing:
            outside.clear()
        else:
            outside.append(text[position : tag.start()])
            open_name = None if tag[0].endswith("/>") else name
        position = tag.end()
    if open_name is not None:
        return "", True
    if position == 0:
        return text, False
    outside.append(text[position:])
    answer = "".join(outside)
    # Only text built to do so ("<thi<think>x</think>nk>") leaves a tag behind.
    return ("", True) if _TAG.search(answer) else (answer, False)
