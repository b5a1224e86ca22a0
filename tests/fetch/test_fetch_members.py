"""Only the needed parts of the remote archive are read, for any form of archive."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import threading
import zipfile
from pathlib import Path

import pytest
from fetch_helpers import Start, dtvqa, fetch, images, tree
from loopback_hub import COMMIT, Fault, LoopbackHub, Seen
from PIL import Image
from remote_releases import (
    SUBSETS,
    TRAIN_FILES,
    images_of,
    make_annotations,
    make_remote,
    picture,
    train_images,
    write_json,
    write_zip,
)

from dtvqa_plugin.data import Store, data_signature, load_split

EVERY_TEST_IMAGE = sorted(image for subset in SUBSETS for image in images_of(subset))


@pytest.mark.parametrize("prefix", ["", "image/", "./image/", "DT-VQA/image/"])
def test_members_match_under_any_prefix(
    tmp_path: Path, dtvqa_home: Path, start: Start, prefix: str
) -> None:
    hub = start(make_remote(tmp_path / "release", prefix=prefix))
    result = fetch(hub, dtvqa_home)
    assert result["images"] == {f"{subset}/test": [6, 6, 6, 0] for subset in SUBSETS}
    assert images(dtvqa_home) == {image: picture(image) for image in EVERY_TEST_IMAGE}


def test_what_was_fetched_is_a_split_with_known_provenance(
    hub: LoopbackHub, release: Path, dtvqa_home: Path
) -> None:
    fetch(hub, dtvqa_home)
    rows = load_split("test")
    assert len(rows) == 48
    assert rows[0]["image"].mode == "RGB"
    manifest = Store(dtvqa_home).manifest()
    assert {entry.revision for entry in manifest.files.values()} == {COMMIT}
    assert {entry.revision for entry in manifest.images.values()} == {COMMIT}
    for name in SUBSETS:
        stored = (dtvqa_home / "test" / f"{name}.json").read_bytes()
        assert stored == (release / "test" / f"{name}.json").read_bytes()
        assert manifest.files[f"test/{name}.json"].source == f"{hub.url}/shuozhang2/DT-VQA/" + (
            f"test/{name}.json"
        )


def test_zip64_offsets_beyond_four_gigabytes(
    tmp_path: Path, dtvqa_home: Path, start: Start
) -> None:
    folder = tmp_path / "release"
    make_annotations(folder)
    archive = folder / "image.zip"
    with archive.open("wb") as handle:
        handle.truncate(4_400_000_000)  # a hole: it takes no room on the disk
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_STORED) as zipped:
        for image in EVERY_TEST_IMAGE:
            zipped.writestr(f"image/{image}", picture(image))
    hub = start(folder, archive_tag="0" * 40)
    fetch(hub, dtvqa_home)
    assert images(dtvqa_home) == {image: picture(image) for image in EVERY_TEST_IMAGE}
    assert hub.sent("image.zip") < 300_000


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("scattered", [False, True])
def test_bytes_received_are_those_needed(
    tmp_path: Path, dtvqa_home: Path, start: Start, scattered: bool, method: int
) -> None:
    folder = tmp_path / "release"
    number = 30
    make_annotations(folder, number)
    needed = {image for subset in SUBSETS for image in images_of(subset, number)}
    others = [f"DTScene/train/{place}.png" for place in range(400)]
    order = [*others[:200], *sorted(needed), *others[200:]]
    if scattered:
        random.Random(0).shuffle(order)
    content = {image: picture(image, 110) for image in needed}
    write_zip(
        folder / "image.zip",
        ((f"image/{name}", content.get(name, picture("other"))) for name in order),
        method,
    )
    with zipfile.ZipFile(folder / "image.zip") as zipped:
        infos = zipped.infolist()
        packed = sum(i.compress_size for i in infos if i.filename[6:] in needed)
        directory = (folder / "image.zip").stat().st_size - zipped.start_dir
    hub = start(folder)
    fetch(hub, dtvqa_home)
    assert images(dtvqa_home) == content
    assert hub.sent("image.zip") <= 1.02 * packed + directory
    gets = [seen for seen in hub.of("image.zip") if seen.method == "GET"]
    if not scattered:
        assert len(gets) <= 2 + 2  # the directory in two, 4.4 MB of neighbours in two


def test_requests_run_side_by_side(tmp_path: Path, dtvqa_home: Path, start: Start) -> None:
    together = threading.Barrier(3, timeout=10)
    spans: list[Seen] = []

    def meet(seen: Seen) -> None:
        """Answer none of the first three requests before all three are there."""
        if "/blobs/image.zip" in seen.path and seen.start < first_directory_byte:
            spans.append(seen)
            if len(spans) <= 3:
                together.wait()

    folder = make_remote(tmp_path / "release", number=60, side=130)
    with zipfile.ZipFile(folder / "image.zip") as zipped:
        first_directory_byte = zipped.start_dir - 8192
    hub = start(folder, fault=meet)
    assert "error" not in fetch(hub, dtvqa_home, env={"HF_HUB_DOWNLOAD_TIMEOUT": "30"})
    assert len({seen.start for seen in spans[:3]}) == 3
    assert not together.broken


class TestOnlyTheChoice:
    def test_one_subset(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        result = fetch(hub, dtvqa_home, subsets=["DTScene"])
        assert result["files"] == ["test/DTScene.json"]
        assert sorted(images(dtvqa_home)) == sorted(images_of("DTScene"))
        assert not hub.of("DTTabShot.json")

    def test_train_without_the_gpt4v_round(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        sources = [name for name in TRAIN_FILES if name.endswith(("train", "train_val"))]
        result = fetch(hub, dtvqa_home, splits=["train"], sources=sources)
        assert result["files"] == [f"train/{name}.json" for name in sources]
        assert not hub.of("DTScene_train_gpt-4v.json")
        rows = load_split("train", "DTScene", sources=["DTScene_train"])
        assert set(rows["source"]) == {"DTScene_train"}

    def test_faults_of_val_and_train_are_reported(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        done = dtvqa(
            hub, dtvqa_home, "data", "fetch", "--split", "val", "--split", "train", "--json"
        )
        files = {entry["file"]: entry for entry in json.loads(done.stdout)["files"]}
        assert set(files) == {f"train/{name}.json" for name in TRAIN_FILES}
        assert all(e["problems"] == {"null-conversations": 1} for e in files.values())
        assert all(entry["questions"] == 6 for entry in files.values())
        every = {image for name in TRAIN_FILES for image in train_images(name)}
        assert set(images(dtvqa_home)) == every

    def test_strict_refuses_them_and_writes_nothing(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        result = fetch(hub, dtvqa_home, splits=["val"], strict=True)
        assert "record 3" in result["error"]
        assert tree(dtvqa_home) == {}

    def test_annotations_only(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        done = dtvqa(hub, dtvqa_home, "data", "fetch", "--no-images")
        assert done.returncode == 0, done.stderr
        assert not hub.of("image.zip")
        assert images(dtvqa_home) == {}


class TestAgain:
    def test_nothing_is_asked_for_when_all_is_there(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        fetch(hub, dtvqa_home)
        before = tree(dtvqa_home)
        hub.seen.clear()
        result = fetch(hub, dtvqa_home)
        assert result["images"]["DTScene/test"] == [6, 6, 0, 0]
        assert not hub.of("image.zip") + hub.of(".json")
        assert tree(dtvqa_home) == before

    def test_a_damaged_image_is_fetched_again_alone(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        fetch(hub, dtvqa_home)
        path = Store(dtvqa_home).image_path("DTScene/test/2.png")
        content = bytearray(path.read_bytes())
        content[-30] ^= 1
        path.write_bytes(content)
        hub.seen.clear()
        result = fetch(hub, dtvqa_home)
        assert result["images"]["DTScene/test"] == [6, 6, 0, 1]
        assert path.read_bytes() == picture("DTScene/test/2.png")
        assert hub.sent("image.zip") < 8192 + 1.1 * len(content)
        assert not hub.of(".json")

    def test_a_store_keeps_to_the_commit_it_began_with(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path, start: Start
    ) -> None:
        fetch(hub, dtvqa_home)
        later = start(release, commit="f" * 40)
        result = fetch(later, dtvqa_home, splits=["val"])
        assert f"no revision '{COMMIT}'" in result["error"]
        assert all(f"/resolve/{COMMIT}/" in s.path for s in later.seen if "resolve" in s.path)

    def test_another_revision_replaces_what_differs(
        self, hub: LoopbackHub, tmp_path: Path, dtvqa_home: Path, start: Start
    ) -> None:
        fetch(hub, dtvqa_home)
        newer = make_remote(tmp_path / "newer")
        changed = "DTScene/test/1.png"
        write_zip(
            newer / "image.zip",
            ((f"image/{i}", picture("changed" if i == changed else i)) for i in EVERY_TEST_IMAGE),
        )
        later = start(newer, commit="f" * 40)
        result = fetch(later, dtvqa_home, revision="main")
        assert result["images"]["DTScene/test"] == [6, 6, 0, 1]
        assert images(dtvqa_home)[changed] == picture("changed")
        manifest = Store(dtvqa_home).manifest()
        entries = [*manifest.files.values(), *manifest.images.values()]
        assert {entry.revision for entry in entries} == {"f" * 40}

    def test_a_file_that_differs_from_the_released_one_is_reported_and_signed(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        result = fetch(hub, dtvqa_home, subsets=["DTScene"])
        (warning,) = result["warnings"]
        assert "test/DTScene.json" in warning
        assert "may not compare with published ones" in warning
        assert Store(dtvqa_home).manifest().files["test/DTScene.json"].released is False
        signed = data_signature("test", "DTScene")["files"]["test/DTScene.json"]
        assert (signed["released"], signed["revision"]) == (False, COMMIT)


def test_released_test_files_are_known_and_need_no_warning(
    shared_dir: Path, tmp_path: Path, dtvqa_home: Path, start: Start
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(shared_dir / "hub" / "DT-VQA" / "test", folder / "test")
    shutil.copytree(shared_dir / "hub" / "DT-VQA" / "train", folder / "train")
    hub = start(folder, redirect_over=2_000_000)
    result = fetch(hub, dtvqa_home, images=False)
    assert result["warnings"] == []
    assert all(entry.released for entry in Store(dtvqa_home).manifest().files.values())
    result = fetch(hub, dtvqa_home, splits=["val"], images=False)
    assert result["warnings"] == []
    assert len(result["files"]) == 2


def test_a_copy_of_the_archive_kept_in_the_store_serves_further_splits(
    hub: LoopbackHub, release: Path, dtvqa_home: Path
) -> None:
    fetch(hub, dtvqa_home, full=True)
    assert (dtvqa_home / "image.zip").read_bytes() == (release / "image.zip").read_bytes()
    hub.seen.clear()
    result = fetch(hub, dtvqa_home, splits=["val"])
    assert result["images"]["DTScene/val"] == [3, 3, 3, 0]
    assert hub.sent("image.zip") == 0


def test_memory_stays_small_with_large_members(
    tmp_path: Path, dtvqa_home: Path, start: Start
) -> None:
    folder = tmp_path / "release"
    large = {}
    for place in range(4):
        buffer = io.BytesIO()
        side = 3600 if place else 100  # 39 MB each: over what is unpacked ahead
        Image.frombytes("RGB", (side, side), os.urandom(side * side * 3)).save(buffer, "BMP")
        large[f"DTScene/test/{place}.bmp"] = buffer.getvalue()
    records = [
        {
            "dataset_name": "DTScene",
            "id": place,
            "image_path": f"./image/{image}",
            "question": "Large?",
            "answers": ["yes"],
            "type": "large",
        }
        for place, image in enumerate(large)
    ]
    write_json(folder / "test" / "DTScene.json", records)
    write_zip(
        folder / "image.zip", ((f"image/{n}", c) for n, c in large.items()), zipfile.ZIP_STORED
    )
    result = fetch(start(folder), dtvqa_home, subsets=["DTScene"])
    assert images(dtvqa_home) == large
    assert result["peak_mb"] < 300


def test_a_mirror_may_live_under_a_path_and_serve_files_itself(
    release: Path, dtvqa_home: Path, start: Start
) -> None:
    mirror = start(release, prefix="/hf/mirror", redirect_over=10**9)
    fetch(mirror, dtvqa_home)
    assert len(images(dtvqa_home)) == 24
    assert {seen.server for seen in mirror.seen} == {"hub"}
    source = Store(dtvqa_home).manifest().files["test/DTScene.json"].source
    assert source.startswith(f"{mirror.url}/")


def test_a_proxy_is_used(release: Path, dtvqa_home: Path, start: Start) -> None:
    proxy = start(release)
    result = fetch(
        "http://hub.invalid", dtvqa_home, env={"HTTP_PROXY": proxy.url, "http_proxy": proxy.url}
    )
    assert "error" not in result, result
    assert any(seen.path.startswith("http://hub.invalid/") for seen in proxy.seen)
    assert len(images(dtvqa_home)) == 24


def test_an_expired_address_is_asked_for_again(hub: LoopbackHub, dtvqa_home: Path) -> None:
    once = iter([Fault(status=403)])
    hub.fault = lambda seen: next(once, None) if seen.server == "store" else None
    result = fetch(hub, dtvqa_home)
    assert "error" not in result
    looked_up = [seen for seen in hub.of("image.zip") if seen.method == "HEAD"]
    assert len(looked_up) == 2
