"""Pipes, devices, endless files and link loops: one clear error, never a wait or a full memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from data_releases import DTVQA, make_test_release, start_python, tree

from dtvqa_plugin.data import Store, read_split, read_test
from dtvqa_plugin.data.archives import FolderSource
from dtvqa_plugin.data.store import read_checks
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import TooLargeError, open_regular, read_regular
from dtvqa_plugin.utils.images import load_rgb

Put = Callable[[Path], None]


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


SPECIAL = pytest.mark.parametrize("put", [os.mkfifo, endless], ids=["pipe", "endless device"])


def replace(path: Path, put: Put) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    put(path)


@SPECIAL
@pytest.mark.parametrize("name", ["test/DTScene.json", "test/DT_test.json", "image.zip"])
def test_importing_it_is_one_error_and_no_store(tmp_path: Path, name: str, put: Put) -> None:
    """In a separate process, with a limit of time and memory, as a fault would need neither."""
    release = make_test_release(tmp_path / "release", combined="DT_test" in name, images="zip")
    replace(release / name, put)
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))\n"
        f"import sys; sys.argv = ['dtvqa', 'data', 'import', {str(release)!r}]\n{DTVQA}"
    )
    process = start_python(code, DTVQA_HOME=str(tmp_path / "home"))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.count("\n") == 1
    assert f"{release / name}: cannot be read: it is a pipe or a device" in err
    assert tree(tmp_path / "home") == {}


@SPECIAL
def test_in_a_store_it_is_one_error(tmp_path: Path, put: Put) -> None:
    home = make_test_release(tmp_path / "home")
    replace(home / "test/DTScene.json", put)
    with pytest.raises(DataError, match=r"DTScene\.json: this is a pipe or a device, not"):
        read_split("test", home=home)
    store = Store(home)
    replace(store.manifest_path, put)
    replace(home / "checksums/DTScene/test.json", put)
    for read in (store.manifest, lambda: read_checks(store, ["DTScene/test/0.png"])):
        with pytest.raises(DataError, match=r"cannot read it: .*pipe or a device"):
            read()


@SPECIAL
def test_as_an_image_it_is_missing_and_named(
    tmp_path: Path, dtvqa_home: Path, put: Put, caplog: pytest.LogCaptureFixture
) -> None:
    release = make_test_release(tmp_path / "release")
    replace(release / "image/DTScene/test/1.png", put)
    report = import_release(release)
    assert f"{release}/image/DTScene/test/1.png: not a regular file; this image" in caplog.text
    count = report.images["test", "DTScene"]
    assert (count.present, count.expected) == (2, 3)
    with pytest.raises(DataError, match=r"1\.png: cannot be read: it is a pipe or a device"):
        load_rgb(release / "image/DTScene/test/1.png")


def test_one_that_is_put_there_after_the_look_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr("dtvqa_plugin.utils.files.kind", lambda path: "file")
    with pytest.raises(OSError, match="pipe or a device"):
        open_regular(tmp_path / "pipe")


class TestSizeLimit:
    def test_a_huge_annotation_file_is_refused_before_it_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "DTScene.json"
        with path.open("wb") as handle:
            handle.truncate(2**40)  # sparse: takes no room, and would fill any memory
        with pytest.raises(DataError, match=r"over the limit of 256 MiB for an annotation file"):
            read_test(path)

    @pytest.mark.parametrize("size", [0, 9, 10])
    def test_up_to_the_limit_a_file_is_read(self, tmp_path: Path, size: int) -> None:
        (tmp_path / "file").write_bytes(b"x" * size)
        assert read_regular(tmp_path / "file", 10) == b"x" * size

    def test_over_the_limit_it_is_not(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"x" * 11)
        with pytest.raises(TooLargeError):
            read_regular(tmp_path / "file", 10)

    @pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs Linux's /proc")
    def test_a_file_that_names_no_size_is_read_to_its_end(self) -> None:
        assert read_regular(Path("/proc/self/status")).startswith(b"Name:")


class TestLinks:
    def test_loops_are_walked_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        release = make_test_release(tmp_path / "release")
        for number in range(20):
            (release / f"l{number}").symlink_to(".")
            (release / f"image/l{number}").symlink_to("..")
        folders = 1 + sum(p.is_dir() and not p.is_symlink() for p in release.rglob("*"))
        listed: list[str] = []
        scandir = os.scandir

        def counted(path: Path) -> object:
            listed.append(str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", counted)
        wanted = {f"{s}/test/{n}.png" for s in ("DTScene", "DTTabShot") for n in range(3)}
        assert set(FolderSource(release).find(wanted)) == wanted
        # pathlib lists some of them again from Python 3.13 on; a loop would be 20^5 lists.
        assert len(set(listed)) == folders
        assert len(listed) < 2 * folders

    def test_a_subset_that_loops_into_itself(self, tmp_path: Path) -> None:
        release = make_test_release(tmp_path / "release")
        (release / "image/DTScene/DTScene").symlink_to(".")
        (release / "image/DTScene/test/test").symlink_to("..")
        wanted = {f"DTScene/test/{n}.png" for n in range(3)}
        assert set(FolderSource(release).find(wanted)) == wanted

    @pytest.mark.parametrize("blobs", ["a-before-links", "z-after-links"])
    def test_folders_that_only_links_give_their_names(self, tmp_path: Path, blobs: str) -> None:
        """The real folder is met under a name that matches nothing, before or after the link."""
        release = make_test_release(tmp_path / "release")
        (release / blobs).mkdir()
        (release / "image/DTScene").rename(release / blobs / "one")
        (release / "image/DTScene").symlink_to(release / blobs / "one")
        (release / "image/DTTabShot/test").rename(release / blobs / "two")
        (release / "image/DTTabShot/test").symlink_to(release / blobs / "two")
        wanted = {f"{s}/test/{n}.png" for s in ("DTScene", "DTTabShot") for n in range(3)}
        assert set(FolderSource(release).find(wanted)) == wanted

    def test_a_deep_way_to_a_folder_does_not_hide_the_short_one(self, tmp_path: Path) -> None:
        release = make_test_release(tmp_path / "release")
        deep = release / "a/b/c/d"
        deep.mkdir(parents=True)
        (deep / "image").symlink_to(release / "image")
        wanted = {f"DTScene/test/{n}.png" for n in range(3)}
        assert set(FolderSource(release).find(wanted)) == wanted
