"""A split as Parquet that `datasets.load_dataset` reads by config and split."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fetch_helpers import dtvqa, fetch
from loopback_hub import LoopbackHub
from remote_releases import SUBSETS, TRAIN_FILES, picture

from dtvqa_plugin.data import Store, load_split
from dtvqa_plugin.data.transfer.export_parquet import to_parquet
from dtvqa_plugin.errors import DataError

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, release: Path) -> Path:
    """A store with every split."""
    home = tmp_path_factory.mktemp("store") / "home"
    with LoopbackHub(release, redirect_over=20_000) as hub:
        assert "error" not in fetch(hub, home, splits=["test", "val", "train"])
    return home


@pytest.fixture(scope="module")
def folder(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parquet") / "out"
    to_parquet(path, ["test", "val", "train"], home=home)
    return path


def load(folder: Path, config: str | None, split: str, cache: Path) -> object:
    import datasets

    return datasets.load_dataset(str(folder), config, split=split, cache_dir=str(cache))


@pytest.mark.parametrize("split", ["test", "val", "train"])
def test_rows_are_those_of_the_split(folder: Path, home: Path, tmp_path: Path, split: str) -> None:
    loaded = load(folder, "DTScene", split, tmp_path)
    ours = load_split(split, "DTScene", home=home)
    assert loaded.column_names == ours.column_names
    plain = [name for name in ours.column_names if name != "image"]
    assert loaded.select_columns(plain).to_list() == ours.select_columns(plain).to_list()
    for row, own in zip(loaded, ours, strict=True):
        assert row["image"].tobytes() == own["image"].tobytes()


def test_configs_are_the_subsets_and_all_of_them(folder: Path, tmp_path: Path) -> None:
    import datasets

    assert datasets.get_dataset_config_names(str(folder)) == ["all", *SUBSETS]
    assert len(load(folder, None, "test", tmp_path)) == 48
    assert set(load(folder, "DTNutrCap", "train", tmp_path)["subset"]) == {"DTNutrCap"}


def test_image_files_are_kept_as_they_are(folder: Path, tmp_path: Path) -> None:
    import datasets

    loaded = load(folder, "DTTabShot", "test", tmp_path)
    cells = loaded.cast_column("image", datasets.Image(decode=False))["image"]
    assert cells[0]["bytes"] == picture("DTTabShot/test/0.png")


def test_the_card_says_what_it_was_made_from(folder: Path, home: Path) -> None:
    card = (folder / "README.md").read_text()
    manifest = Store(home).manifest()
    for name in TRAIN_FILES:
        entry = manifest.files[f"train/{name}.json"]
        assert f"`train/{name}.json`: SHA-256 `{entry.sha256}`, revision {entry.revision}" in card
    assert "1 unusable records or turns left out" in card
    assert "license" not in card.split("---")[1]


def test_the_gpt4v_round_can_be_left_out(home: Path, tmp_path: Path) -> None:
    done = dtvqa(
        NOWHERE, home, "data", "to-parquet", str(tmp_path / "out"),
        *("--split", "train", "--subset", "DTScene", "--source", "DTScene_train", "--json"),
        HF_HUB_OFFLINE="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (part,) = json.loads(done.stdout)
    assert (part["subset"], part["split"], part["rows"]) == ("DTScene", "train", 6)
    assert set(load(tmp_path / "out", "DTScene", "train", tmp_path)["source"]) == {"DTScene_train"}


def test_shards_hold_about_what_is_asked_for(home: Path, tmp_path: Path) -> None:
    (part,) = to_parquet(tmp_path / "out", ["test"], ["DTScene"], home=home, shard_bytes=15_000)
    assert len(part.shards) == 3  # six images of seven kilobytes
    assert part.shards[0] == "data/DTScene/test-00000-of-00003.parquet"
    loaded = load(tmp_path / "out", "DTScene", "test", tmp_path)
    assert loaded["question_id"] == load_split("test", "DTScene", home=home)["question_id"]


def test_an_image_asked_about_twice_is_stored_once(home: Path, folder: Path) -> None:
    size = (folder / "data/DTScene/test-00000-of-00001.parquet").stat().st_size
    once = sum(len(picture(f"DTScene/test/{n}.png")) for n in range(6))
    assert once < size < 1.3 * once


class TestRefused:
    def test_a_folder_with_something_in_it(self, home: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("precious")
        with pytest.raises(DataError, match="no empty folder"):
            to_parquet(tmp_path, home=home)
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]

    def test_missing_data(self, tmp_path: Path, dtvqa_home: Path) -> None:
        with pytest.raises(DataError, match="annotations are missing"):
            to_parquet(tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_a_damaged_image_leaves_nothing_behind(
        self, home: Path, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        import shutil

        shutil.copytree(home, dtvqa_home)
        Store(dtvqa_home).image_path("DTScene/test/5.png").write_bytes(b"rotten")
        with pytest.raises(DataError, match=r"5\.png: not an image"):
            to_parquet(tmp_path / "out", subsets=["DTScene"])
        assert not list(tmp_path.glob("*out*"))


MEMORY = """
import sys
from pathlib import Path
from dtvqa_plugin.data.transfer.export_parquet import to_parquet
to_parquet(sys.argv[1], subsets=["DTScene"])
print(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024)
"""


def test_memory_does_not_grow_with_the_split(tmp_path: Path) -> None:
    """Four times the images take the same memory (and far less than the images)."""
    from PIL import Image

    peaks = []
    for number in (25, 100):
        home = tmp_path / f"home{number}"
        (home / "image/DTScene/test").mkdir(parents=True)
        (home / "test").mkdir()
        noise = Image.frombytes("RGB", (1000, 1000), os.urandom(3_000_000))
        records = []
        for place in range(number):
            name = f"{place}.bmp"
            noise.putpixel((0, 0), (place, 0, 0))
            noise.save(home / "image/DTScene/test" / name)
            records.append(
                {
                    "dataset_name": "DTScene", "id": place, "question": "What?",
                    "image_path": f"./image/DTScene/test/{name}", "answers": ["it"], "type": "t",
                }
            )  # fmt: skip
        (home / "test/DTScene.json").write_text(json.dumps(records))
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(tmp_path / f"out{number}")],
            env={**os.environ, "DTVQA_HOME": str(home), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] + 60  # megabytes; the larger split holds 225 more
