"""Full disks, and names that hold terminal escapes: what `dtvqa data` prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from data_releases import make_test_release, noise

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
COMMAND = "from dtvqa_plugin.cli import main; main()"


def dtvqa(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "data", *map(str, arguments)],
        env={**os.environ, "DTVQA_HOME": str(home), "DTVQA_AUTO_FETCH": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def assert_no_control(text: str) -> None:
    assert not [c for c in text if not c.isprintable() and c not in "\n\r"], ascii(text)


def test_names_with_escapes_reach_no_terminal(tmp_path: Path) -> None:
    release = make_test_release(tmp_path / f"release{ESCAPE}")
    (release / "image/DTScene/test/1.png").write_bytes(b"no image")
    (release / f"image/locked{ESCAPE}").mkdir(mode=0)
    home = tmp_path / f"home{ESCAPE}"
    for arguments in (
        ("import", release, "--skip-bad"),
        ("import", release),
        ("status", "--problems"),
        ("verify",),
        ("export", tmp_path / f"out{ESCAPE}.tar"),
        ("to-parquet", tmp_path / f"out{ESCAPE}"),
    ):
        done = dtvqa(home, *arguments)
        assert_no_control(done.stdout)
        assert_no_control(done.stderr)
        assert "\\x1b]0;owned\\x07" in done.stdout + done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a tmpfs may not be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("command", ["export", "to-parquet"])
def test_a_full_disk_names_what_helps(tmp_path: Path, small_disk: Path, command: str) -> None:
    home = tmp_path / "home"
    release = make_test_release(tmp_path / "release")
    for image in (release / "image").rglob("*.png"):
        image.write_bytes(noise(0, 120))
    done = dtvqa(home, "import", release)
    assert done.returncode == 0, done.stderr
    done = dtvqa(home, command, small_disk / "out")
    assert done.returncode == 1
    assert "the disk is full; nothing was kept" in done.stderr
    assert "write to another disk" in done.stderr
    assert "DTVQA_HOME" not in done.stderr
    assert "Traceback" not in done.stderr
    assert list(small_disk.iterdir()) == []
