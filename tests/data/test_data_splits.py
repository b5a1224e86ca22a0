"""Splits as hosts and reports read them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
from data_releases import (
    TEST_SUBSETS,
    conversation,
    make_test_release,
    png,
    sound_record,
    write_json,
)
from PIL import Image

from dtvqa_plugin.data import (
    Store,
    annotation_sha,
    content_digest,
    coverage,
    data_signature,
    load_split,
    read_split,
    records,
)
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.errors import DataError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A whole little store."""
    import_release(make_test_release(tmp_path / "release"), home=tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def partial_home(tmp_path: Path) -> Path:
    """DTScene has 2 of 3 images, DTTabShot none, the others all."""
    release = make_test_release(tmp_path / "release")
    (release / "image/DTScene/test/1.png").unlink()
    for number in range(3):
        (release / f"image/DTTabShot/test/{number}.png").unlink()
    import_release(release, home=tmp_path / "home")
    return tmp_path / "home"


class TestLoadSplit:
    def test_columns_types_and_order(self, home: Path) -> None:
        dataset = load_split("test", home=home)
        assert dataset.column_names == [
            "question_id",
            "subset",
            "image",
            "question",
            "answers",
            "source",
        ]
        assert isinstance(dataset.features["image"], datasets.Image)
        ids = [f"{subset}/{number}" for subset in TEST_SUBSETS for number in range(3)]
        assert dataset["question_id"][:] == ids
        row = dataset[7]
        image = row.pop("image")
        assert row == {
            "question_id": "DTScene/1",
            "subset": "DTScene",
            "question": "What stands in line 1?",
            "answers": ["line 1", "LINE 1"],
            "source": "DTScene in miniature",
        }
        assert isinstance(image, Image.Image)
        assert (image.mode, image.size) == ("RGB", (24, 16))

    @pytest.mark.parametrize("subset", ["DTScene", ["DTScene"], ("DTTabShot", "DTScene")])
    def test_subsets_come_in_file_order_whatever_the_order_asked(
        self, home: Path, subset: str | list[str]
    ) -> None:
        names = [subset] if isinstance(subset, str) else sorted(subset)
        assert load_split("test", subset, home=home)["subset"][:] == [
            n for n in names for _ in range(3)
        ]

    def test_images_stay_files_until_a_row_is_read(self, home: Path) -> None:
        dataset = load_split("test", "DTScene", home=home)
        stored = dataset.cast_column("image", datasets.Image(decode=False))[0]["image"]
        path = home / "image/DTScene/test/0.png"
        assert stored == {"bytes": None, "path": str(path)}
        path.write_bytes(b"no image")
        assert dataset.remove_columns("image")[0]["question_id"] == "DTScene/0"
        with pytest.raises(DataError, match=r"DTScene/test/0\.png: not an image"):
            dataset[0]

    def test_odd_images_are_upright_rgb_in_the_dataset_too(self, home: Path) -> None:
        path = home / "image/DTScene/test/0.png"
        exif = Image.Exif()
        exif[0x0112] = 6
        Image.new("RGBA", (8, 4), (255, 0, 0, 0)).save(path, exif=exif)
        image = load_split("test", "DTScene", home=home)[0]["image"]
        assert (image.mode, image.size, image.getpixel((0, 0))) == ("RGB", (4, 8), (255,) * 3)

    def test_the_decoding_outlives_what_hosts_do_to_datasets(self, home: Path) -> None:
        Image.new("RGBA", (8, 4)).save(home / "image/DTScene/test/0.png")
        dataset = load_split("test", "DTScene", home=home)
        for changed in (
            dataset.filter(lambda row: True),
            dataset.map(lambda row: {"more": row["question"]}),
            dataset.select([0]),
            dataset.remove_columns("source"),
            dataset.shard(2, 0),
            datasets.concatenate_datasets([dataset, dataset]),
        ):
            assert changed[0]["image"].mode == "RGB"

    def test_it_can_be_saved_and_read_by_datasets_alone(self, home: Path, tmp_path: Path) -> None:
        load_split("test", "DTScene", home=home).save_to_disk(str(tmp_path / "saved"))
        again = datasets.load_from_disk(str(tmp_path / "saved"))
        assert type(again.features["image"]) is datasets.Image
        assert again[0]["image"].size == (24, 16)

    def test_memory_does_not_grow_with_the_images(self, tmp_path: Path) -> None:
        sizes = {}
        for side in (16, 1024):
            release = make_test_release(tmp_path / str(side), images="none")
            for subset in TEST_SUBSETS:
                folder = release / "image" / subset / "test"
                folder.mkdir(parents=True)
                for number in range(3):
                    (folder / f"{number}.png").write_bytes(png(number, (side, side)))
            sizes[side] = load_split("test", home=release).data.nbytes
        assert abs(sizes[16] - sizes[1024]) < 200
        assert sizes[1024] < 12 * 400

    def test_unusable_records_are_counted_aloud(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        items = [sound_record("DTScene", 0), sound_record("DTScene", 1, answers=[""])]
        write_json(tmp_path / "test/DTScene.json", items)
        assert [r.question_id for r in records("test", "DTScene", home=tmp_path)] == ["DTScene/0"]
        assert "1 unusable records" in caplog.text
        with pytest.raises(DataError, match="1 unusable"):
            records("test", "DTScene", home=tmp_path, strict=True)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("dev",), "no split 'dev'; there are test, val, train, mini"),
            (("test", "Scene"), "no subset Scene; split test has DTNutrCap, DTProdCap"),
            (("val", "DTNutrCap"), "DTNutrCap has no questions in split val"),
            (("mini", "DTScene"), "DTScene has no questions in split mini"),
            (("test", []), "no subset chosen"),
        ],
    )
    def test_unknown_names(self, home: Path, arguments: tuple[str, ...], words: str) -> None:
        with pytest.raises(DataError, match=words):
            load_split(*arguments, home=home)

    @pytest.mark.parametrize("items", [[], [sound_record("DTScene", 0, answers=[])]])
    def test_a_subset_without_a_usable_question_is_never_left_out_in_silence(
        self, home: Path, items: list[object]
    ) -> None:
        write_json(home / "test/DTScene.json", items)
        for subset in ("DTScene", None):
            with pytest.raises(DataError, match=r"no usable question of DTScene in .*dtvqa data"):
                load_split("test", subset, home=home)
        assert len(load_split("test", "DTTabShot", home=home)) == 3

    def test_unknown_sources(self, home: Path) -> None:
        with pytest.raises(DataError, match=r"no source 'x' here; there are .*gpt-4v"):
            load_split("train", "DTScene", sources=["x"], home=home)

    @pytest.mark.parametrize("split", ["test", "val", "train"])
    def test_missing_annotations_name_the_cure(self, tmp_path: Path, split: str) -> None:
        with pytest.raises(DataError, match=f"dtvqa data import FOLDER --split {split}") as caught:
            load_split(split, home=tmp_path / "none", allow_partial=True)
        assert str(tmp_path / "none") in str(caught.value)
        assert ".json" in str(caught.value)

    def test_validation_answers_are_lists_of_one(self, tmp_path: Path) -> None:
        item = conversation("./image/DTScene/val/a.jpg", ("q", "a"), ("r", "b"))
        write_json(tmp_path / "train/DTScene_val.json", [item])
        (tmp_path / "image/DTScene/val").mkdir(parents=True)
        (tmp_path / "image/DTScene/val/a.jpg").write_bytes(png())
        dataset = load_split("val", "DTScene", home=tmp_path)
        assert dataset["answers"][:] == [["a"], ["b"]]
        assert dataset["question_id"][:] == ["DTScene_val/a#1", "DTScene_val/a#2"]
        assert set(dataset["source"]) == {"DTScene_val"}


class TestMissingImages:
    def test_by_default_nothing_is_skipped(self, partial_home: Path) -> None:
        with pytest.raises(DataError) as caught:
            load_split("test", home=partial_home)
        text = str(caught.value)
        assert "DTScene: 1 of 3 images; DTTabShot: 3 of 3 images" in text
        assert "--split test --subset DTScene --subset DTTabShot" in text
        assert "DTVQA_ALLOW_PARTIAL=1 to evaluate the 8 of 12" in text

    def test_other_subsets_are_not_held_up(self, partial_home: Path) -> None:
        assert len(load_split("test", ["DTNutrCap", "DTProdCap"], home=partial_home)) == 6

    @pytest.mark.parametrize("value", ["1", "true", " YES "])
    def test_the_variable_allows_a_partial_run_and_the_log_says_so(
        self,
        partial_home: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        value: str,
    ) -> None:
        monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", value)
        dataset = load_split("test", home=partial_home)
        assert len(dataset) == 8
        assert "DTScene/1" not in dataset["question_id"][:]
        assert "8 of 12 questions" in caplog.text
        with pytest.raises(DataError, match="images"):
            load_split("test", home=partial_home, allow_partial=False)

    def test_nothing_at_all_is_an_error_even_so(self, partial_home: Path) -> None:
        with pytest.raises(DataError, match="DTTabShot: 3 of 3 images") as caught:
            load_split("test", "DTTabShot", home=partial_home, allow_partial=True)
        assert "DTVQA_ALLOW_PARTIAL" not in str(caught.value)

    @pytest.mark.parametrize("value", ["0", "", "no"])
    def test_values_that_do_not_allow(
        self, partial_home: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", value)
        with pytest.raises(DataError, match="images"):
            load_split("test", home=partial_home)

    def test_values_that_mean_nothing(
        self, partial_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", "maybe")
        with pytest.raises(DataError, match="DTVQA_ALLOW_PARTIAL='maybe'"):
            load_split("test", home=partial_home)

    def test_coverage(self, partial_home: Path) -> None:
        found = coverage("test", home=partial_home)
        assert {name: str(part) for name, part in found.items()} == {
            "DTNutrCap": "3 of 3",
            "DTProdCap": "3 of 3",
            "DTScene": "2 of 3",
            "DTTabShot": "0 of 3",
            "overall": "8 of 12",
        }
        assert [part.complete for part in found.values()] == [True, True, False, False, False]

    def test_a_folder_named_like_an_image_is_no_image(self, partial_home: Path) -> None:
        (partial_home / "image/DTScene/test/1.png").mkdir()
        assert str(coverage("test", "DTScene", home=partial_home)["DTScene"]) == "2 of 3"


class TestSignature:
    def test_it_is_plain_json_and_names_the_files(self, home: Path) -> None:
        found = data_signature("test", "DTScene", home=home)
        assert json.loads(json.dumps(found)) == found
        sha = Store(home).manifest().files["test/DTScene.json"].sha256
        assert found["files"] == {
            "test/DTScene.json": {"sha256": sha, "released": False, "revision": None}
        }
        assert annotation_sha("test", "DTScene", home=home) == {"test/DTScene.json": sha}
        assert found["coverage"] == {"DTScene": "3 of 3", "overall": "3 of 3"}

    def test_the_same_records_from_the_joined_file_sign_the_same(
        self, home: Path, tmp_path: Path
    ) -> None:
        joined = make_test_release(tmp_path / "joined", combined=True)
        one, other = (data_signature("test", home=place) for place in (home, joined))
        assert list(other["files"]) == ["test/DT_test.json"]
        assert one["records_sha256"] == other["records_sha256"]
        assert one["images_sha256"] == other["images_sha256"]

    @pytest.mark.parametrize("change", ["answer", "image", "fewer images"])
    def test_it_changes_with_the_data(self, home: Path, change: str) -> None:
        before = data_signature("test", "DTScene", home=home)
        image = home / "image/DTScene/test/0.png"
        if change == "answer":
            path = home / "test/DTScene.json"
            path.write_text(path.read_text().replace("LINE 2", "LINE 3"))
        elif change == "image":
            image.write_bytes(png(9, (50, 50)))
        else:
            image.unlink()
        after = data_signature("test", "DTScene", home=home)
        changed = {key for key in before if before[key] != after[key]}
        assert (
            changed
            == {
                "answer": {"files", "records_sha256"},
                "image": {"images_sha256"},
                "fewer images": {"images_sha256", "coverage"},
            }[change]
        )

    def test_released_files_are_known(self, shared_dir: Path) -> None:
        release = shared_dir / "hub/DT-VQA"
        found = data_signature("test", home=release)
        assert all(part["released"] for part in found["files"].values())
        assert (found["questions"], found["coverage"]["overall"]) == (1200, "146 of 1200")


class TestContentDigest:
    def digest(self, home: Path, subset: str = "DTScene") -> str:
        reading = read_split("test", subset, home=home)
        return content_digest(reading.records, reading.store)

    def test_it_stays_with_the_content_when_the_store_moves(
        self, home: Path, tmp_path: Path
    ) -> None:
        before = self.digest(home)
        image = home / "image/DTScene/test/0.png"
        os.utime(image, ns=(1, 1))
        assert self.digest(home) == before
        shutil.copytree(home, tmp_path / "copy")
        home.rename(tmp_path / "moved")
        assert self.digest(tmp_path / "copy") == self.digest(tmp_path / "moved") == before

    @pytest.mark.parametrize("change", ["image", "question", "order"])
    def test_it_changes_with_the_content(self, home: Path, change: str) -> None:
        before = self.digest(home)
        image, annotations = home / "image/DTScene/test/0.png", home / "test/DTScene.json"
        if change == "image":
            times = image.stat()
            content = bytearray(image.read_bytes())
            content[-1] ^= 1
            image.write_bytes(content)  # the same file, size and time
            os.utime(image, ns=(times.st_atime_ns, times.st_mtime_ns))
            assert image.stat().st_mtime_ns == times.st_mtime_ns
        elif change == "question":
            annotations.write_text(annotations.read_text().replace("LINE 2", "LINE 3"))
        else:
            write_json(annotations, json.loads(annotations.read_text())[::-1])
        assert self.digest(home) != before

    def test_an_unreadable_image_is_one_error(self, home: Path) -> None:
        (home / "image/DTScene/test/0.png").unlink()
        with pytest.raises(DataError, match=r"DTScene/test/0\.png: cannot read it: no such file"):
            self.digest(home)


class TestEmbeddedSample:
    def test_it_needs_no_store(self, dtvqa_home: Path) -> None:
        dataset = load_split("mini")
        assert len(dataset) == len(records("mini"))
        assert {name[:4] for name in dataset["subset"]} == {"Mini"}
        assert dataset[0]["image"].mode == "RGB"
        assert load_split("mini", "MiniScene")["subset"][0] == "MiniScene"
        assert not dtvqa_home.exists()


def test_records_are_read_without_datasets_or_torch(home: Path) -> None:
    code = (
        "import sys\nfrom dtvqa_plugin.data import records, data_signature, coverage\n"
        f"records(home={str(home)!r}), data_signature(home={str(home)!r})\n"
        "print([m for m in ('datasets', 'torch', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_problem_in_one_subset_of_the_joined_file_does_not_hide(tmp_path: Path) -> None:
    items = [sound_record("DTScene", 0), sound_record("Elsewhere", 1)]
    write_json(tmp_path / "test/DT_test.json", items)
    assert [p.code for p in read_split("test", home=tmp_path).problems] == ["unknown-subset"]
