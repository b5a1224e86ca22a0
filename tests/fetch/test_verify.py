"""A store is re-checked: annotation files by digest, images by size and CRC-32 or by decoding."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fetch_helpers import dtvqa, fetch
from loopback_hub import LoopbackHub

from dtvqa_plugin.data import Store
from dtvqa_plugin.data.verify import verify_store

NOWHERE = "http://127.0.0.1:9"
IMAGE = "image/DTScene/test/2.png"


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory, release: Path) -> Path:
    home = tmp_path_factory.mktemp("fetched") / "home"
    with LoopbackHub(release, redirect_over=20_000) as hub:
        assert "error" not in fetch(hub, home, subsets=["DTScene"])
    return home


@pytest.fixture
def home(fetched: Path, dtvqa_home: Path) -> Path:
    shutil.copytree(fetched, dtvqa_home)
    return dtvqa_home


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_good_store(home: Path) -> None:
    result = verify_store()
    assert result.ok
    assert (result.checked, result.decoded, result.missing) == (6, 0, 0)
    assert "test/DTScene.json: differs from the released file" in result.notes[0]


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "one bit in the pixels": (lambda h: flip(h / IMAGE, -40), "2.png: changed since it was stored"),
    "cut off": (lambda h: (h / IMAGE).write_bytes((h / IMAGE).read_bytes()[:-9]), "2.png: changed"),
    "gone": (lambda h: (h / IMAGE).unlink(), "1 images missing (first: DTScene/test/2.png)"),
    "annotations edited": (
        lambda h: flip(h / "test/DTScene.json", (h / "test/DTScene.json").read_text().index("0?")),
        "test/DTScene.json: changed since it was imported",
    ),
    "annotations cut off": (
        lambda h: (h / "test/DTScene.json").write_text("[{"),
        "not valid JSON",
    ),
    "annotations gone": (
        lambda h: (h / "test/DTScene.json").unlink(),
        "no annotation file in the store",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_named(home: Path, case: str) -> None:
    damage, said = DAMAGE[case]
    damage(home)
    result = verify_store()
    assert not result.ok
    assert any(said in fault for fault in result.faults), result.faults


def test_an_unpacked_release_is_decoded_instead(home: Path) -> None:
    shutil.rmtree(home / "checksums")
    (home / "manifest.json").unlink()
    result = verify_store()
    assert result.ok
    assert (result.checked, result.decoded) == (0, 6)
    (home / IMAGE).write_bytes((home / IMAGE).read_bytes()[:-2000])
    assert "2.png" in verify_store().faults[0]


def test_a_split_asked_for_that_is_not_there(home: Path) -> None:
    result = verify_store(["val"])
    assert "train/DTScene_val.json: missing" in result.faults


def test_the_command(home: Path) -> None:
    done = dtvqa(NOWHERE, home, "data", "verify", "--json", HF_HUB_OFFLINE="1")
    assert done.returncode == 0
    assert json.loads(done.stdout)["checked"] == 6
    flip(home / IMAGE, -40)
    done = dtvqa(NOWHERE, home, "data", "verify", HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert "2.png: changed since it was stored" in done.stdout
    assert "dtvqa data fetch" in done.stdout


def test_damaged_checksums_are_one_error(home: Path) -> None:
    (Store(home).home / "checksums/DTScene/test.json").write_text('{"2.png": "x"}')
    done = dtvqa(NOWHERE, home, "data", "verify", HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert "the checksums are damaged" in done.stderr
