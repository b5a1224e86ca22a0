"""The store's manifest: where its content came from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import HOME_VARIABLE
from dtvqa_plugin.utils.text import now

SCHEMA = 1


@dataclass(slots=True)
class FileEntry:
    """What the manifest says of one annotation file.

    ``released`` is whether its bytes are the known released ones (``None``: no hash known).
    ``records`` counts usable questions, ``problems`` unusable records or turns.
    """

    sha256: str
    split: str
    subset: str | None
    source: str
    revision: str | None
    released: bool | None
    records: int
    problems: int
    imported: str


@dataclass(slots=True)
class ImageEntry:
    """What the manifest says of the images one split of one subset needs, at the last import."""

    present: int
    expected: int
    source: str
    revision: str | None
    imported: str


@dataclass(slots=True)
class Manifest:
    """Where the store's content came from. Keys: ``test/DTScene.json``; ``DTScene/test``."""

    schema: int = SCHEMA
    plugin_version: str = __version__
    created: str = field(default_factory=now)
    updated: str = field(default_factory=now)
    files: dict[str, FileEntry] = field(default_factory=dict)
    images: dict[str, ImageEntry] = field(default_factory=dict)


def dump_manifest(manifest: Manifest) -> bytes:
    """The manifest file's bytes."""
    text = json.dumps(asdict(manifest), indent=2, ensure_ascii=False, sort_keys=True)
    return text.encode() + b"\n"


def parse_manifest(content: bytes, path: Path) -> Manifest:
    """Read the manifest file's bytes. Raises `DataError`, with ``path`` for the file."""
    cure = f"move it away and run 'dtvqa data import' again (images stay): {path}"
    try:
        raw: object = json.loads(content.decode())
        if not isinstance(raw, dict) or not isinstance(raw.get("schema"), int):
            raise ValueError("it has no schema number")
        if raw["schema"] > SCHEMA:
            raise DataError(
                f"{path}: written by dtvqa-plugin {raw.get('plugin_version', '(unknown)')} in "
                f"schema {raw['schema']}, this is {__version__} with schema {SCHEMA}; "
                f"upgrade dtvqa-plugin or set {HOME_VARIABLE} to another folder"
            )
        return Manifest(
            schema=SCHEMA,
            plugin_version=str(raw["plugin_version"]),
            created=str(raw["created"]),
            updated=str(raw["updated"]),
            files={key: FileEntry(**_known(FileEntry, e)) for key, e in raw["files"].items()},
            images={key: ImageEntry(**_known(ImageEntry, e)) for key, e in raw["images"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"the manifest is damaged ({error}); {cure}") from None


_ENTRY_TYPES: dict[str, tuple[type, ...]] = {
    "present": (int,),
    "expected": (int,),
    "records": (int,),
    "problems": (int,),
    "released": (bool, type(None)),
    "revision": (str, type(None)),
    "subset": (str, type(None)),
}


def _known(entry: type, raw: dict[str, Any]) -> dict[str, Any]:
    """The fields ``entry`` has, each of its right type; fields of later versions are ignored."""
    names = [f.name for f in fields(entry)]
    for name in names:
        if not isinstance(raw[name], _ENTRY_TYPES.get(name, (str,))):
            raise ValueError(f"{name!r} is {raw[name]!a}")
    return {name: raw[name] for name in names}
