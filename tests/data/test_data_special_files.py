"""Pipes, devices and link loops in what is imported: one error or none, and no waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from data_releases import make_test_release

COMMAND = "from dtvqa_plugin.cli import main; main()"


def dtvqa(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``dtvqa data``; a process that waits for a pipe, or reads a device, is an error."""
    return subprocess.run(
        ["prlimit", "--as=4000000000", sys.executable, "-c", COMMAND, "data", *map(str, arguments)],
        env={**os.environ, "DTVQA_HOME": str(home), "DTVQA_AUTO_FETCH": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def make_special(path: Path, what: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("what", ["pipe", "device"])
@pytest.mark.parametrize("place", ["image.zip", "test/DTScene.json", "test/DT_test.json"])
def test_a_special_file_in_a_release_is_one_error(
    tmp_path: Path, dtvqa_home: Path, what: str, place: str
) -> None:
    release = make_test_release(tmp_path / "release", combined="DT_test" in place)
    make_special(release / place, what)
    done = dtvqa(dtvqa_home, "import", release)
    assert done.returncode == 1
    assert done.stderr.count("dtvqa: error:") == 1
    assert str(release / place) in done.stderr
    assert "Traceback" not in done.stderr
    assert not dtvqa_home.exists()


@pytest.mark.parametrize("what", ["pipe", "device"])
@pytest.mark.parametrize("name", ["image.zip", "export.tar", "folder"])
def test_a_special_file_given_itself_is_one_error(
    tmp_path: Path, dtvqa_home: Path, what: str, name: str
) -> None:
    make_special(tmp_path / name, what)
    done = dtvqa(dtvqa_home, "import", tmp_path / name)
    assert done.returncode == 1
    assert f"{tmp_path / name}: it is a pipe or a device" in done.stderr
    assert not dtvqa_home.exists()


@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_special_file_in_place_of_an_image_counts_as_missing(
    tmp_path: Path, dtvqa_home: Path, what: str
) -> None:
    release = make_test_release(tmp_path / "release")
    make_special(release / "image/DTScene/test/1.png", what)
    done = dtvqa(dtvqa_home, "import", release)
    assert done.returncode == 1
    assert "DTScene: 2 of 3, 1 missing" in done.stdout


@pytest.mark.parametrize("what", ["pipe", "device"])
@pytest.mark.parametrize("place", ["custom.json", "test/DT_custom.json", "image/Mine/test/0.png"])
def test_a_special_file_in_a_custom_set_is_one_error(
    tmp_path: Path, dtvqa_home: Path, what: str, place: str
) -> None:
    release = make_test_release(tmp_path / "other")
    folder = tmp_path / "mine"
    record = {
        "dataset_name": "Mine",
        "id": 0,
        "image_path": "./image/Mine/test/0.png",
        "question": "What?",
        "answers": ["it"],
        "type": "Mine",
    }
    for name in ("test", "image/Mine/test"):
        (folder / name).mkdir(parents=True)
    (folder / "test/DT_custom.json").write_text(json.dumps([record]))
    (folder / "custom.json").write_text('{"name": "mine"}')
    image = (release / "image/DTScene/test/0.png").read_bytes()
    (folder / "image/Mine/test/0.png").write_bytes(image)
    assert dtvqa(dtvqa_home, "import", folder).returncode == 0
    make_special(folder / place, what)
    done = dtvqa(dtvqa_home, "import", folder)
    assert done.returncode == 1
    assert "dtvqa: error:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_full_of_links_to_itself_is_walked_once(tmp_path: Path, dtvqa_home: Path) -> None:
    release = make_test_release(tmp_path / "release")
    for number in range(20):
        (release / f"l{number}").symlink_to(".")
    (release / "image/back").symlink_to("..")
    done = dtvqa(dtvqa_home, "import", release)
    assert done.returncode == 0, done.stderr
    assert "test: 12 of 12 images" in done.stdout
