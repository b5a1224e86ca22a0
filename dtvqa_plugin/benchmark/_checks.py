"""Checks of one value in an annotation record; each raises `FaultError` for what it finds."""

from __future__ import annotations

from pathlib import Path

from dtvqa_plugin.benchmark.image_paths import UnsafePathError, image_key
from dtvqa_plugin.benchmark.records import Problem


class FaultError(Exception):
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason

    def problem(self, path: Path, index: int, name: str | None, turn: int | None = None) -> Problem:
        return Problem(path.name, index, name, self.code, self.reason, turn)


_KINDS = {
    type(None): "null",
    bool: "true/false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def kind_of(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def shown(value: object) -> str:
    spelled = ascii(value)
    return spelled if len(spelled) <= 80 else spelled[:77] + "..."


def mapping(item: object) -> dict[str, object]:
    if not isinstance(item, dict):
        raise FaultError("not-an-object", f"expected an object, found {kind_of(item)}")
    return item


def text_field(item: dict[str, object], field: str) -> str:
    if field not in item:
        raise FaultError("missing-field", f"has no {field!r}")
    return checked_text(item[field], field)


def checked_text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise FaultError("not-a-string", f"{what!r} is {kind_of(value)}, not a string")
    if not value.strip():
        raise FaultError(f"blank-{what}", f"{what!r} is blank")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise FaultError("bad-unicode", f"{what!r} holds half a surrogate pair") from None
    return value


def image_of(value: str) -> str:
    try:
        return image_key(value)
    except UnsafePathError as error:
        raise FaultError("unsafe-path", f"image path {shown(value)} {error}") from None
