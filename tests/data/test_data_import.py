"""Importing a release: what comes over, from which shapes of source, and how it ends when cut."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from data_releases import (
    TEST_SUBSETS,
    conversation,
    make_test_release,
    make_zip,
    png,
    sound_record,
    tree,
    write_json,
)

from dtvqa_plugin.data import Store, load_split, read_split
from dtvqa_plugin.data.transfer import ImportReport, import_release
from dtvqa_plugin.errors import DataError


def images(report: ImportReport) -> dict[str, tuple[int, int, int, int]]:
    return {
        f"{split}/{subset}": (c.expected, c.present, c.added, c.replaced)
        for (split, subset), c in report.images.items()
    }


def tree_images(home: Path) -> list[str]:
    return [name for name in tree(home) if name.startswith("image/")]


class TestWhatComesOver:
    @pytest.mark.parametrize("shape", ["tree", "zip"])
    @pytest.mark.parametrize("combined", [False, True])
    def test_annotations_byte_for_byte_and_every_image(
        self, tmp_path: Path, dtvqa_home: Path, shape: str, combined: bool
    ) -> None:
        release = make_test_release(tmp_path / "release", images=shape, combined=combined)
        report = import_release(release)
        expected = tree(make_test_release(tmp_path / "plain", combined=combined))
        found = tree(dtvqa_home)
        found.pop("manifest.json")
        assert found == expected
        assert images(report) == {f"test/{name}": (3, 3, 3, 0) for name in TEST_SUBSETS}
        assert len(load_split("test")) == 12

    @pytest.mark.parametrize(
        "prefix", ["", "image/", "./image/", "DT-VQA/image/", "image\\", "a/b/c/d/e/f/g/"]
    )
    def test_archive_members_match_under_any_prefix(
        self, tmp_path: Path, dtvqa_home: Path, prefix: str
    ) -> None:
        release = make_test_release(
            tmp_path / "release", {"DTScene": 4}, images="zip", prefix=prefix
        )
        report = import_release(release, subsets=["DTScene"])
        assert images(report) == {"test/DTScene": (4, 4, 4, 0)}

    @pytest.mark.parametrize("inner", ["", "image", "image/image", "DT-VQA/image"])
    def test_image_trees_match_under_any_prefix(
        self, tmp_path: Path, dtvqa_home: Path, inner: str
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 4})
        moved = tmp_path / "moved"
        shutil.copytree(release / "image", moved / inner)
        shutil.copytree(release / "test", moved / "test")
        assert images(import_release(moved, subsets=["DTScene"]))["test/DTScene"] == (4, 4, 4, 0)

    def test_only_what_the_chosen_splits_and_subsets_need(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        release = make_test_release(tmp_path / "release", images="zip")
        with_more = [(f"image/DTScene/train/{n}.png", png(n)) for n in range(9)]
        shutil.move(release / "image.zip", tmp_path / "old.zip")
        members = [
            (f"image/{s}/test/{n}.png", png(n)) for s in TEST_SUBSETS for n in range(4)
        ] + with_more
        make_zip(release / "image.zip", members)
        import_release(release, subsets=["DTScene", "DTTabShot"])
        assert tree_images(dtvqa_home) == [
            f"image/{s}/test/{n}.png" for s in ("DTScene", "DTTabShot") for n in range(3)
        ]
        assert sorted(p.name for p in (dtvqa_home / "test").iterdir()) == [
            "DTScene.json",
            "DTTabShot.json",
        ]

    @pytest.mark.parametrize(
        ("records", "first"),
        [([], ""), ([None, {}], r" \(the first: DTScene.json: record 0: expected an object")],
    )
    def test_a_file_without_a_usable_record_never_replaces_one_that_has_some(
        self, tmp_path: Path, dtvqa_home: Path, records: list[object], first: str
    ) -> None:
        release = make_test_release(tmp_path / "release")
        import_release(release)
        before = tree(dtvqa_home)
        path = write_json(release / "test/DTScene.json", records)
        with pytest.raises(DataError, match=f"{path}: holds no usable record{first}"):
            import_release(release)
        assert tree(dtvqa_home) == before

    def test_dt_test_json_alone_is_enough(self, tmp_path: Path, dtvqa_home: Path) -> None:
        items = [sound_record(s, n) for s in TEST_SUBSETS for n in range(2)]
        write_json(tmp_path / "DT_test.json", items)
        report = import_release(tmp_path)
        assert [part.file.path for part in report.files] == ["test/DT_test.json"]
        assert images(report) == {f"test/{name}": (2, 0, 0, 0) for name in TEST_SUBSETS}
        ids = [record.question_id for record in read_split("test").records]
        assert ids == [f"{s}/{n}" for s in TEST_SUBSETS for n in range(2)]

    def test_an_archive_by_itself_with_annotations_beside_it_or_in_the_store(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        release = make_test_release(tmp_path / "release", images="zip")
        assert import_release(release / "image.zip").images
        shutil.rmtree(dtvqa_home)
        moved = tmp_path / "elsewhere" / "pictures.zip"
        moved.parent.mkdir()
        shutil.copy(release / "image.zip", moved)
        with pytest.raises(DataError, match="no annotation file there or in the store"):
            import_release(moved)
        assert not dtvqa_home.exists()
        (release / "image.zip").unlink()
        import_release(release)
        report = import_release(moved)
        assert report.files == []
        assert images(report)["test/DTScene"] == (3, 3, 3, 0)

    def test_tree_first_then_the_archive_for_what_the_tree_lacks(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 2}, images="zip")
        folder = release / "image/DTScene/test"
        folder.mkdir(parents=True)
        (folder / "1.png").write_bytes(png(99))
        import_release(release, subsets=["DTScene"])
        assert tree(dtvqa_home)["image/DTScene/test/0.png"] == png(0)
        assert tree(dtvqa_home)["image/DTScene/test/1.png"] == png(99)

    def test_validation_and_training_splits(self, tmp_path: Path, dtvqa_home: Path) -> None:
        def one(subset: str, split: str) -> list[object]:
            return [conversation(f"./image/{subset}/{split}/a.jpg", ("q", "a"), ("r", "b"))]

        write_json(tmp_path / "train/DTScene_val.json", one("DTScene", "val"))
        write_json(tmp_path / "train/DTTabShot_val.json", one("DTTabShot", "val"))
        write_json(tmp_path / "train/DTScene_train.json", one("DTScene", "train"))
        write_json(tmp_path / "train/DTScene_train_gpt-4v.json", one("DTScene", "train"))
        write_json(tmp_path / "train/DTNutrCap_train_val.json", one("DTNutrCap", "train_val"))
        for place in ("DTScene/val", "DTTabShot/val", "DTScene/train", "DTNutrCap/train_val"):
            (tmp_path / "image" / place).mkdir(parents=True)
            (tmp_path / "image" / place / "a.jpg").write_bytes(png())
        report = import_release(tmp_path, ["val", "train"], ["DTScene", "DTNutrCap"])
        assert images(report) == {
            "val/DTScene": (1, 1, 1, 0),
            "train/DTNutrCap": (1, 1, 1, 0),
            "train/DTScene": (1, 1, 1, 0),
        }
        assert [r.question_id for r in read_split("val", "DTScene").records] == [
            "DTScene_val/a#1",
            "DTScene_val/a#2",
        ]
        both = read_split("train", "DTScene").records
        assert {r.source for r in both} == {"DTScene_train", "DTScene_train_gpt-4v"}
        assert len({r.question_id for r in both}) == 4
        alone = read_split("train", "DTScene", sources=["DTScene_train"]).records
        assert {r.source for r in alone} == {"DTScene_train"}

    def test_missing_training_files_are_named(self, tmp_path: Path, dtvqa_home: Path) -> None:
        item = conversation("./image/DTScene/train/a.jpg", ("q", "a"))
        write_json(tmp_path / "train/DTScene_train.json", [item])
        report = import_release(tmp_path, ["train"], ["DTScene"])
        assert [file.name for file in report.absent] == ["DTScene_train_gpt-4v"]

    def test_links_into_a_hub_cache_are_followed_and_its_revision_kept(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        blobs = make_test_release(tmp_path / "blobs", {"DTScene": 2})
        revision = "0123456789abcdef0123456789abcdef01234567"
        snapshot = tmp_path / "models--x" / "snapshots" / revision
        for path in sorted(p for p in blobs.rglob("*") if p.is_file()):
            link = snapshot / path.relative_to(blobs)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
        import_release(snapshot, subsets=["DTScene"])
        assert not any(path.is_symlink() for path in dtvqa_home.rglob("*"))
        assert Store().manifest().files["test/DTScene.json"].revision == revision

    def test_files_are_readable_by_others_as_the_umask_allows(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        old = os.umask(0o022)
        try:
            import_release(make_test_release(tmp_path / "release"))
        finally:
            os.umask(old)
        modes = {p.stat().st_mode & 0o777 for p in dtvqa_home.rglob("*") if p.is_file()}
        assert modes - {0o666} == {0o644}  # the lock is for every user

    def test_a_release_unpacked_in_the_home_is_a_store_already(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = make_test_release(tmp_path / "release")
        monkeypatch.setenv("DTVQA_HOME", str(release))
        before = tree(release)
        assert len(load_split("test")) == 12
        report = import_release(release)
        after = tree(release)
        assert after.pop("manifest.json")
        assert after == before
        assert images(report)["test/DTScene"] == (3, 3, 0, 0)


class TestAgain:
    def test_a_second_import_touches_nothing(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release", images="zip")
        import_release(release)
        before = {p: p.stat() for p in dtvqa_home.rglob("*") if p.is_file()}
        report = import_release(release)
        assert images(report)["test/DTScene"] == (3, 3, 0, 0)
        for path, stat in before.items():
            now = path.stat()
            if path.name != ".lock":
                assert (now.st_ino, now.st_mtime_ns) == (stat.st_ino, stat.st_mtime_ns), path

    @pytest.mark.parametrize("shape", ["tree", "zip"])
    def test_images_that_differ_are_replaced_and_counted(
        self, tmp_path: Path, dtvqa_home: Path, shape: str
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 3}, images=shape)
        import_release(release, subsets=["DTScene"])
        stored = dtvqa_home / "image/DTScene/test/1.png"
        good = stored.read_bytes()
        stored.write_bytes(good[:-1] + b"?")  # as long as the sound one
        (dtvqa_home / "image/DTScene/test/2.png").write_bytes(good + b"??")
        report = import_release(release, subsets=["DTScene"])
        assert images(report) == {"test/DTScene": (3, 3, 0, 2)}
        assert stored.read_bytes() == good

    def test_more_images_later(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 3})
        hidden = tmp_path / "2.png"
        shutil.move(release / "image/DTScene/test/2.png", hidden)
        assert images(import_release(release, subsets=["DTScene"]))["test/DTScene"] == (3, 2, 2, 0)
        shutil.move(hidden, release / "image/DTScene/test/2.png")
        assert images(import_release(release, subsets=["DTScene"]))["test/DTScene"] == (3, 3, 1, 0)
        assert Store().manifest().images["DTScene/test"].present == 3

    def test_a_joined_file_may_not_be_overruled_by_an_older_subset_file(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        import_release(make_test_release(tmp_path / "old", {"DTScene": 2}), subsets=["DTScene"])
        joined = make_test_release(tmp_path / "new", {"DTScene": 3}, combined=True)
        before = tree(dtvqa_home)
        with pytest.raises(DataError, match=r"DT_test\.json: its DTScene records differ"):
            import_release(joined, subsets=["DTScene"])
        assert tree(dtvqa_home) == before


class TestBadInput:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda root: None, "no such folder or archive"),
            (lambda root: root.write_text("[]"), "this is not a release"),
            (lambda root: root.mkdir(), "no annotation file"),
            (
                lambda root: (root / "test/DTScene.json").mkdir(parents=True),
                "this is a folder, not an annotation file",
            ),
            (lambda root: write_json(root / "test/DTScene.json", {}), "expected a list"),
        ],
    )
    def test_no_release_is_one_error_and_no_store(
        self, tmp_path: Path, dtvqa_home: Path, make: Callable[[Path], object], words: str
    ) -> None:
        make(tmp_path / "release")
        with pytest.raises(DataError, match=words):
            import_release(tmp_path / "release")
        assert not dtvqa_home.exists()

    def test_strict_refuses_unusable_records_others_count_them(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        items = [sound_record("DTScene", 0), sound_record("DTScene", 1, answers=[])]
        write_json(tmp_path / "test/DTScene.json", items)
        with pytest.raises(DataError, match=r"DTScene\.json: 1 unusable; the first is record 1"):
            import_release(tmp_path, subsets=["DTScene"], strict=True)
        assert not dtvqa_home.exists()
        report = import_release(tmp_path, subsets=["DTScene"])
        assert len(report.problems) == 1
        assert Store().manifest().files["test/DTScene.json"].problems == 1

    def test_an_image_no_usable_record_needs_is_not_expected(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        items = [
            conversation("./image/DTScene/val/a.jpg", ("q", "a")),
            {"id": "./image/DTScene/val/b.jpg", "conversations": None},
        ]
        write_json(tmp_path / "train/DTScene_val.json", items)
        report = import_release(tmp_path, ["val"], ["DTScene"])
        assert images(report) == {"val/DTScene": (1, 0, 0, 0)}

    def test_subsets_a_split_lacks(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release")
        with pytest.raises(DataError, match="DTNutrCap has no questions in split val"):
            import_release(release, ["val"], ["DTNutrCap"])
        with pytest.raises(DataError, match="no subset Other"):
            import_release(release, ["val", "test"], ["Other"])
        with pytest.raises(DataError, match="no split 'mini'"):
            import_release(release, ["mini"])

    def test_a_changed_annotation_file_is_a_warning_that_stays(
        self, tmp_path: Path, dtvqa_home: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        report = import_release(make_test_release(tmp_path / "release"), subsets=["DTScene"])
        (warning,) = report.warnings
        assert "DTScene.json: differs from the released" in warning
        assert warning in caplog.text
        assert Store().manifest().files["test/DTScene.json"].released is False

    @pytest.mark.parametrize("content", [b"", b"no image", png()[:40]])
    def test_a_file_that_is_no_image(
        self, tmp_path: Path, dtvqa_home: Path, content: bytes
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 3})
        bad = release / "image/DTScene/test/1.png"
        bad.write_bytes(content)
        with pytest.raises(DataError) as caught:
            import_release(release, subsets=["DTScene"])
        assert str(bad) in str(caught.value)
        assert "--skip-bad" in str(caught.value)
        assert "image/DTScene/test/1.png" not in tree(dtvqa_home)
        assert "test/DTScene.json" not in tree(dtvqa_home)
        report = import_release(release, subsets=["DTScene"], skip_bad=True)
        assert images(report) == {"test/DTScene": (3, 2, 1, 0)}
        assert len(report.bad) == 1
        assert str(bad) in report.bad[0]

    def test_the_same_image_in_two_places(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 2})
        shutil.copytree(release / "image", release / "old" / "image")
        with pytest.raises(DataError, match=r"two members match the image DTScene/test/0\.png"):
            import_release(release, subsets=["DTScene"])
        assert not dtvqa_home.exists()

    def test_links_to_folders_outside_are_followed_by_the_names_of_the_layout_alone(
        self, tmp_path: Path, dtvqa_home: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 2})
        other = make_test_release(tmp_path / "other", {"DTScene": 2})
        (release / "image").rename(tmp_path / "disk")
        (release / "image").symlink_to(tmp_path / "disk")
        (release / "root").symlink_to("/")
        (release / "test" / "cwd").symlink_to(other)
        report = import_release(release, subsets=["DTScene"])
        assert images(report)["test/DTScene"] == (2, 2, 2, 0)
        assert "2 links to folders outside of it not followed" in caplog.text
        assert f"{release / 'root'}" in caplog.text

    def test_too_many_folders_are_no_release(
        self, tmp_path: Path, dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("dtvqa_plugin.data.archives.folder.MAX_FOLDERS", 20)
        release = make_test_release(tmp_path / "release", {"DTScene": 2})
        for number in range(30):
            (release / f"f{number}").mkdir()
        with pytest.raises(DataError, match="over 20 folders; name the folder that holds"):
            import_release(release, subsets=["DTScene"])
        assert not dtvqa_home.exists()

    def test_a_folder_linked_twice_is_one_place(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 2})
        (release / "again").symlink_to(release / "image")
        (release / "image" / "loop").symlink_to(release)
        assert images(import_release(release, subsets=["DTScene"]))["test/DTScene"] == (2, 2, 2, 0)
