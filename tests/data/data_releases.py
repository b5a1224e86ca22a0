"""Small releases in the published layout, and archives good and bad, made for these tests."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

TEST_SUBSETS = ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot")


def png(seed: int = 0, size: tuple[int, int] = (24, 16)) -> bytes:
    """A small PNG whose content depends on ``seed``."""
    buffer = io.BytesIO()
    Image.new("RGB", size, (seed % 256, seed // 256 % 256, 90)).save(buffer, "PNG")
    return buffer.getvalue()


def noise(seed: int, side: int) -> bytes:
    """A BMP of ``3 * side * side`` bytes that no compression shrinks."""
    import numpy as np

    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "BMP")
    return buffer.getvalue()


def sound_record(subset: str = "DTScene", number: int = 0, **changes: Any) -> dict[str, Any]:
    """A sound record of the test format with ``changes``; a change to ``...`` drops the field."""
    record: dict[str, Any] = {
        "dataset_name": subset,
        "id": number,
        "image_path": f"./image/{subset}/test/{number}.png",
        "question": f"What stands in line {number}?",
        "answers": [f"line {number}", f"LINE {number}"],
        "type": f"{subset} in miniature",
    }
    record.update(changes)
    return {key: value for key, value in record.items() if value is not ...}


def conversation(image: str, *pairs: tuple[Any, Any]) -> dict[str, Any]:
    """A sound record of the training format."""
    turns: list[dict[str, Any]] = []
    for number, (question, answer) in enumerate(pairs):
        start = f"<img>{image}</img> " if number == 0 else " "
        turns.append({"from": "user", "value": f"{start}{question} Answer: "})
        turns.append({"from": "assistant", "value": answer})
    return {"id": image, "conversations": turns}


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def make_test_release(
    root: Path,
    sizes: Mapping[str, int] = dict.fromkeys(TEST_SUBSETS, 3),
    *,
    combined: bool = False,
    images: str = "tree",
    prefix: str = "image/",
) -> Path:
    """A test release: ``images`` is ``tree``, ``zip`` or ``none``; ``combined``: DT_test.json."""
    content = {
        f"{subset}/test/{number}.png": png(number + 10 * place)
        for place, (subset, size) in enumerate(sizes.items())
        for number in range(size)
    }
    records = {s: [sound_record(s, n) for n in range(size)] for s, size in sizes.items()}
    if combined:
        joined = [record for part in records.values() for record in part]
        write_json(root / "test" / "DT_test.json", joined)
    else:
        for subset, part in records.items():
            write_json(root / "test" / f"{subset}.json", part)
    if images == "tree":
        for name, data in content.items():
            path = root / "image" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    elif images == "zip":
        make_zip(root / "image.zip", {prefix + name: data for name, data in content.items()})
    return root


def make_zip(
    path: Path,
    members: Mapping[str, bytes] | Iterable[tuple[str, bytes]],
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    pairs = members.items() if isinstance(members, Mapping) else members
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in pairs:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return path


def tree(root: Path) -> dict[str, bytes]:
    """Every file under ``root`` but the lock and the checksums, with its content."""
    if not root.exists():
        return {}
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != ".lock" and "checksums" not in path.parts
    }


def start_python(code: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start ``python -c code`` with the real package."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


DTVQA = "from dtvqa_plugin.cli import main; main()"
"""Code for `start_python` that is the ``dtvqa`` command."""
