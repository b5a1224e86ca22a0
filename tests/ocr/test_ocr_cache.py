"""Recognised boxes on disk: keyed by pixels, whole or absent, never in the way."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from dtvqa_plugin.ocr import TextBox, cache
from dtvqa_plugin.ocr.cache import BoxCache, content_key, default_cache_dir

BOXES = (
    TextBox("净含量：188克", (1.0, 2.5, 90.0, 2.0, 90.0, 20.0, 1.0, 20.5), 0.987),
    TextBox('"quoted" \\ \u2028 \ud800 text', (0.0, 30.0, 50.0, 30.0, 50.0, 45.0, 0.0, 45.0), 1.0),
)
KEY = "ab" * 32


def pixels(height: int, width: int, value: int = 7) -> np.ndarray:
    return np.full((height, width, 3), value, dtype=np.uint8)


def test_the_key_tells_pixels_and_sizes_apart() -> None:
    keys = {
        content_key(pixels(2, 3)),
        content_key(pixels(3, 2)),
        content_key(pixels(1, 6)),
        content_key(pixels(2, 3, value=8)),
    }
    assert len(keys) == 4
    assert content_key(pixels(4, 6)[::2, ::2]) == content_key(pixels(2, 3))


@pytest.mark.parametrize("boxes", [BOXES, ()], ids=["boxes", "an image without text"])
def test_what_is_put_is_got_in_this_process_and_the_next(
    tmp_path: Path, boxes: tuple[TextBox, ...]
) -> None:
    here = BoxCache(tmp_path, "engine-1")
    assert here.get(KEY) is None
    here.put(KEY, boxes)
    assert here.get(KEY) == boxes
    assert BoxCache(tmp_path, "engine-1").get(KEY) == boxes


def test_another_engine_or_setting_shares_nothing(tmp_path: Path) -> None:
    BoxCache(tmp_path, "engine-1").put(KEY, BOXES)
    assert BoxCache(tmp_path, "engine-2").get(KEY) is None


def entry(**changes: object) -> bytes:
    good: dict[str, object] = {"key": KEY, "boxes": [["a", [0, 0, 9, 0, 9, 9, 0, 9], 0.5]]}
    return json.dumps({**good, **changes}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b"[" * 100_000,
        entry()[:-9],
        entry(key="cd" * 32),
        entry(boxes=None),
        entry(boxes=[["a", [0, 0, 9, 0, 9, 9, 0], 0.5]]),
        entry(boxes=[["a", [0, 0, 9, 0, 9, 9, 0, "9"], 0.5]]),
        entry(boxes=[[None, [0, 0, 9, 0, 9, 9, 0, 9], 0.5]]),
        entry(boxes=[["a", [0, 0, 9, 0, 9, 9, 0, 9]]]),
        entry(boxes=[["a", [0, 0, 9, 0, 9, 9, 0, float("nan")], 0.5]]),
    ],
)
def test_a_damaged_entry_is_a_warning_and_a_miss_and_is_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    damaged = BoxCache(tmp_path, "engine-1")
    damaged.directory.mkdir()
    damaged.path(KEY).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert damaged.get(KEY) is None
    assert [str(damaged.path(KEY)) in record.getMessage() for record in caplog.records] == [True]
    damaged.put(KEY, BOXES)
    assert BoxCache(tmp_path, "engine-1").get(KEY) == BOXES


def test_a_good_entry_is_read_without_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = BoxCache(tmp_path, "engine-1")
    good.directory.mkdir()
    good.path(KEY).write_bytes(entry())
    assert good.get(KEY) == (TextBox("a", (0, 0, 9, 0, 9, 9, 0, 9), 0.5),)
    assert not caplog.records


def a_file_in_the_way(root: Path) -> Path:
    (root / "file").write_text("not a directory")
    return root / "file"


def a_directory_without_write_permission(root: Path) -> Path:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (root / "locked").mkdir(mode=0o555)
    return root / "locked"


@pytest.mark.parametrize("place", [a_file_in_the_way, a_directory_without_write_permission])
def test_a_directory_that_cannot_be_written_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, place: object
) -> None:
    assert callable(place)
    unwritable = BoxCache(place(tmp_path), "engine-1")
    for key in (KEY, "cd" * 32):
        assert unwritable.get(key) is None
        unwritable.put(key, BOXES)
        assert unwritable.get(key) == BOXES
    assert len(caplog.records) == 1
    assert "DTVQA_HOME" in caplog.text


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    kept = BoxCache(tmp_path, "engine-1")
    kept.put(KEY, BOXES)
    blocked = "cd" * 32
    kept.path(blocked).mkdir()
    kept.put(blocked, BOXES)
    assert sorted(path.name for path in kept.directory.iterdir()) == [
        f"{KEY}.json",
        f"{blocked}.json",
    ]


def test_memory_keeps_the_latest_entries_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_IN_MEMORY", 2)
    small = BoxCache(a_file_in_the_way(tmp_path), "engine-1")
    for key in ("a", "b"):
        small.put(key, BOXES)
    assert small.get("a") == BOXES
    small.put("c", BOXES)
    assert [small.get(key) is None for key in ("a", "b", "c")] == [False, True, False]


def test_the_default_directory_is_in_the_home_or_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / "ocr-cache"
    monkeypatch.setenv("DTVQA_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert default_cache_dir().is_absolute()
    assert default_cache_dir().name == "ocr-cache"
    assert default_cache_dir() != tmp_path / "ocr-cache"
