"""A split in one file: out on a machine with the network, in on one without."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fetch_helpers import dtvqa, fetch, images, tree
from loopback_hub import COMMIT, LoopbackHub
from remote_releases import SUBSETS, images_of, picture

from dtvqa_plugin.data import Store, load_split
from dtvqa_plugin.data.transfer import export_archive, import_archive
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr import Line, RecognisedText, recognised_texts
from dtvqa_plugin.ocr.recognised import image_key, write_text

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, release: Path) -> Path:
    """A store with the splits test and val."""
    home = tmp_path_factory.mktemp("source") / "home"
    with LoopbackHub(release, redirect_over=20_000) as hub:
        assert "error" not in fetch(hub, home, splits=["test", "val"])
    return home


@pytest.fixture(scope="module")
def archive(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "dtvqa.tar"
    export_archive(path, ["test", "val"], home=source)
    return path


class TestThereAndBack:
    def test_the_whole_command_line_way_without_a_network(
        self, source: Path, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        path = tmp_path / "portable.tar"
        offline = {"HF_HUB_OFFLINE": "1"}
        out = dtvqa(NOWHERE, source, "data", "export", str(path), "--split", "val", **offline)
        assert out.returncode == 0, out.stderr
        assert "2 annotation files and 6 images" in out.stdout
        done = dtvqa(NOWHERE, dtvqa_home, "data", "import", str(path), **offline)
        assert done.returncode == 0, done.stderr
        assert "val: 6 of 6 images (6 added, 0 replaced)" in done.stdout
        assert dtvqa(NOWHERE, dtvqa_home, "data", "verify", **offline).returncode == 0

    def test_same_bytes_same_rows_same_revision(
        self, source: Path, archive: Path, dtvqa_home: Path
    ) -> None:
        import_archive(archive)
        ours, theirs = tree(dtvqa_home), tree(source)
        for name in ("manifest.json",):
            ours.pop(name), theirs.pop(name)
        assert ours == theirs
        assert len(load_split("test")) == 48
        files = Store(dtvqa_home).manifest().files
        assert {entry.revision for entry in files.values()} == {COMMIT}

    def test_the_archive_is_a_plain_tar_of_the_layout_and_the_same_each_time(
        self, source: Path, archive: Path, tmp_path: Path
    ) -> None:
        again = tmp_path / "again.tar"
        report = export_archive(again, ["test", "val"], home=source)
        assert again.read_bytes() == archive.read_bytes()
        assert report.images == 30
        with tarfile.open(again, "r:") as tar:
            names = tar.getnames()
        assert names[0] == "manifest.json"
        assert {f"image/{i}" for s in SUBSETS for i in images_of(s)} < set(names)
        assert not any(name.startswith("/") for name in names)

    def test_recognised_text_goes_along_with_its_images(
        self, source: Path, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        home = tmp_path / "home"
        shutil.copytree(source, home)
        store = Store(home)
        image = images_of(SUBSETS[0])[0]
        text = RecognisedText(9, 9, (Line("one", (0, 0, 5, 5), 0.5),))
        for engine, key in (("x-1", image_key(store.image_path(image))), ("x-1", "0" * 64)):
            write_text(home / f"recognised/{engine}/{key}.json", text)
        path = tmp_path / "with-text.tar"
        export_archive(path, home=home)
        import_archive(path)
        assert len(list((dtvqa_home / "recognised").rglob("*.json"))) == 1
        found = recognised_texts({image: Store(dtvqa_home).image_path(image)})
        assert (found.engine, found.texts) == ("x-1", {image: text})

    def test_only_one_subset(self, source: Path, tmp_path: Path, dtvqa_home: Path) -> None:
        path = tmp_path / "scene.tar"
        export_archive(path, ["test"], ["DTScene"], home=source)
        report = import_archive(path)
        assert report.images[("test", "DTScene")].present == 6
        assert sorted(images(dtvqa_home)) == sorted(images_of("DTScene"))

    def test_only_a_split_of_it(self, archive: Path, dtvqa_home: Path) -> None:
        import_archive(archive, ["val"])
        assert all("/val/" in image for image in images(dtvqa_home))

    def test_into_a_store_it_completes_only_what_differs_is_written(
        self, archive: Path, dtvqa_home: Path
    ) -> None:
        import_archive(archive, ["test"])
        Store(dtvqa_home).image_path("DTScene/test/0.png").write_bytes(b"rotten")
        Store(dtvqa_home).image_path("DTScene/test/1.png").unlink()
        count = import_archive(archive, ["test"]).images[("test", "DTScene")]
        assert (count.present, count.added, count.replaced) == (6, 1, 1)


class TestExportRefuses:
    def test_an_incomplete_store(self, source: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"nothing is exported.*dtvqa data fetch --split train"):
            export_archive(tmp_path / "x.tar", ["train"], home=source)
        assert list(tmp_path.iterdir()) == []

    def test_an_image_that_rotted(self, archive: Path, dtvqa_home: Path, tmp_path: Path) -> None:
        import_archive(archive, ["test"])
        path = Store(dtvqa_home).image_path("DTScene/test/0.png")
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        with pytest.raises(DataError, match=r"0\.png: changed since it was imported"):
            export_archive(tmp_path / "x.tar", ["test"])
        assert not list(tmp_path.glob("*.tar*"))

    def test_to_overwrite_without_consent(self, source: Path, tmp_path: Path) -> None:
        path = tmp_path / "mine.tar"
        path.write_text("precious")
        with pytest.raises(DataError, match="exists already"):
            export_archive(path, home=source)
        assert path.read_text() == "precious"
        export_archive(path, home=source, force=True)
        assert tarfile.is_tarfile(path)

    def test_a_folder_that_is_not_there(self, source: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no such file or folder"):
            export_archive(tmp_path / "absent" / "x.tar", home=source)


# --- archives that are not to be trusted ---------------------------------------------------------


def rewritten(
    archive: Path, target: Path, change: Callable[[tarfile.TarInfo, bytes], object]
) -> Path:
    """The archive with each member passed through ``change`` (``None`` leaves it out)."""
    with tarfile.open(archive) as old, tarfile.open(target, "w") as new:
        for info in old:
            handle = old.extractfile(info)
            content = handle.read() if handle else b""
            result = change(info, content)
            if isinstance(result, bytes):
                info.size = len(result)
                new.addfile(info, io.BytesIO(result))
    return target


def with_member(archive: Path, target: Path, info: tarfile.TarInfo, content: bytes = b"") -> Path:
    target.write_bytes(archive.read_bytes())
    with tarfile.open(target, "a") as tar:
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return target


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    return info


HOSTILE = {
    "climbs out": (member("image/../../x.png"), "leaves its folder"),
    "absolute": (member("/etc/passwd"), "is absolute"),
    "symbolic link": (member("image/DTScene/test/0.png", tarfile.SYMTYPE, "/etc"), "a link"),
    "hard link": (member("image/DTScene/test/z.png", tarfile.LNKTYPE, "manifest.json"), "a link"),
    "device": (member("image/DTScene/test/z.png", tarfile.CHRTYPE), "no regular file"),
    "pipe": (member("image/DTScene/test/z.png", tarfile.FIFOTYPE), "no regular file"),
    "foreign": (member(".bashrc"), "no part of an export"),
    "twice": (member("image/DTScene/test/0.png"), "twice"),
    "nested": (member("image/DTScene/test/more/0.png"), "no part of an export"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_member_is_refused_and_nothing_written(
    archive: Path, tmp_path: Path, dtvqa_home: Path, case: str
) -> None:
    info, said = HOSTILE[case]
    path = with_member(archive, tmp_path / "hostile.tar", info)
    with pytest.raises(DataError, match=said):
        import_archive(path)
    assert not dtvqa_home.exists()


@pytest.mark.parametrize("keep", [0.999, 0.5, 0.1])
def test_a_cut_off_archive(archive: Path, tmp_path: Path, dtvqa_home: Path, keep: float) -> None:
    content = archive.read_bytes()
    last = content.rstrip(b"\0")
    path = tmp_path / "cut.tar"
    path.write_bytes(last[: int(len(last) * keep)])
    with pytest.raises(DataError, match=r"cut off|no checksum"):
        import_archive(path)
    assert not dtvqa_home.exists()


def test_a_compressed_archive_says_what_to_do(
    archive: Path, tmp_path: Path, dtvqa_home: Path
) -> None:
    path = tmp_path / "packed.tar.gz"
    path.write_bytes(gzip.compress(archive.read_bytes()))
    done = dtvqa(NOWHERE, dtvqa_home, "data", "import", str(path))
    assert done.returncode == 1
    assert "unpack a compressed one first" in done.stderr


@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 10240], ids=["empty", "text", "zeros"])
def test_what_is_no_archive(tmp_path: Path, dtvqa_home: Path, content: bytes) -> None:
    path = tmp_path / "thing.tar"
    path.write_bytes(content)
    done = dtvqa(NOWHERE, dtvqa_home, "data", "import", str(path))
    assert done.returncode == 1
    assert done.stderr.count("dtvqa: error:") == 1
    assert "Traceback" not in done.stderr


def test_an_image_that_is_not_what_its_checksum_says(
    archive: Path, tmp_path: Path, dtvqa_home: Path
) -> None:
    def swap(info: tarfile.TarInfo, content: bytes) -> bytes:
        if info.name != "image/DTScene/test/3.png":
            return content
        return content[:-10] + bytes(10)

    path = rewritten(archive, tmp_path / "swapped.tar", swap)
    with pytest.raises(DataError, match=r"DTScene/test/3\.png: damaged"):
        import_archive(path)
    assert "DTScene/test/3.png" not in images(dtvqa_home)


def test_an_image_without_checksum(archive: Path, tmp_path: Path, dtvqa_home: Path) -> None:
    def drop(info: tarfile.TarInfo, content: bytes) -> bytes | None:
        return None if info.name == "checksums/DTScene/test.json" else content

    path = rewritten(archive, tmp_path / "bare.tar", drop)
    with pytest.raises(DataError, match="has no checksum"):
        import_archive(path)
    assert not dtvqa_home.exists()


def test_a_manifest_that_lies_about_its_origin_is_not_believed(
    archive: Path, tmp_path: Path, dtvqa_home: Path
) -> None:
    def forge(info: tarfile.TarInfo, content: bytes) -> bytes:
        if info.name != "manifest.json":
            return content
        manifest = json.loads(content)
        for entry in manifest["files"].values():
            entry.update(released=True, revision="\x1b[31m forged", sha256="0" * 64)
        return json.dumps(manifest).encode()

    import_archive(rewritten(archive, tmp_path / "forged.tar", forge))
    for entry in Store(dtvqa_home).manifest().files.values():
        assert entry.revision is None
        assert entry.sha256 != "0" * 64
        assert entry.released is False
    assert images(dtvqa_home)["DTScene/test/0.png"] == picture("DTScene/test/0.png")
