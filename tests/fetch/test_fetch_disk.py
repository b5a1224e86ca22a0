"""A store that cannot be written: wrong kinds of files, no permission, a full disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetch_helpers import DIRECTORY, fetch, images, tree
from loopback_hub import LoopbackHub, Seen
from remote_releases import picture

from dtvqa_plugin.data import Store


def test_a_folder_where_a_file_is_expected(hub: LoopbackHub, dtvqa_home: Path) -> None:
    (dtvqa_home / "test" / "DTScene.json").mkdir(parents=True)
    result = fetch(hub, dtvqa_home)
    assert "DTScene.json: " in result["error"]
    assert "a folder" in result["error"]
    assert images(dtvqa_home) == {}


def test_a_file_where_the_store_is_expected(hub: LoopbackHub, dtvqa_home: Path) -> None:
    dtvqa_home.write_text("mine")
    result = fetch(hub, dtvqa_home)
    assert f"{dtvqa_home}: this is a file, not a folder" in result["error"]
    assert dtvqa_home.read_text() == "mine"


def test_no_permission(hub: LoopbackHub, dtvqa_home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    dtvqa_home.mkdir(mode=0o500)
    result = fetch(hub, dtvqa_home)
    assert "no permission" in result["error"]


def test_a_write_that_fails_leaves_what_is_complete(hub: LoopbackHub, dtvqa_home: Path) -> None:
    result = fetch(hub, dtvqa_home, file_limit=5000)  # annotations fit, images do not
    assert "cannot write" in result["error"]
    assert images(dtvqa_home) == {}
    assert not list((dtvqa_home / ".partial").glob("*"))
    again = fetch(hub, dtvqa_home)
    assert "error" not in again, again


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A separate file system of 100 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root to mount a small file system")
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_what_would_not_fit_is_an_error_before_anything_is_written(
    hub: LoopbackHub, small_disk: Path
) -> None:
    home = small_disk / "home"
    result = fetch(hub, home)
    assert "do not fit" in result["error"]
    assert tree(home) == {}


def test_a_disk_that_fills_up_leaves_a_store_that_can_continue(
    hub: LoopbackHub, small_disk: Path
) -> None:
    home = small_disk / "home"
    filled = False

    def fill(seen: Seen) -> None:
        nonlocal filled
        if seen.server == "store" and seen.start < DIRECTORY and not filled:
            filled = True
            (small_disk / "other").write_bytes(bytes(45_000))

    hub.on_sent = fill
    result = fetch(hub, home, subsets=["DTScene"])
    assert "the disk is full" in result["error"], result
    stored = images(home)
    assert all(content == picture(image) for image, content in stored.items())
    (small_disk / "other").unlink()
    assert fetch(hub, home, subsets=["DTScene"])["images"]["DTScene/test"][0] == 6
    assert Store(home).manifest().images["DTScene/test"].present == 6
