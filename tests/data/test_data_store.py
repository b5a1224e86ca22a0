"""The store on disk: where it is, who may read it, and what blocks it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest
from data_releases import DTVQA, make_test_release, make_zip, png, tree

import dtvqa_plugin
from dtvqa_plugin.data import Store, default_home, load_split
from dtvqa_plugin.data.status import store_status
from dtvqa_plugin.data.store import SCHEMA, lock_timeout
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.errors import DataError


class TestWhere:
    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_the_users_cache_by_default(
        self, monkeypatch: pytest.MonkeyPatch, value: str | None
    ) -> None:
        if value is None:
            monkeypatch.delenv("DTVQA_HOME")
        else:
            monkeypatch.setenv("DTVQA_HOME", value)
        assert default_home() == Path(platformdirs.user_cache_dir("dtvqa"))

    def test_the_variable_may_be_relative_or_begin_with_a_tilde(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("DTVQA_HOME", "here")
        assert Store().home == tmp_path / "here"
        monkeypatch.setenv("DTVQA_HOME", "~/there")
        assert Store().home == Path.home() / "there"

    def test_a_user_that_is_not_known_is_one_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DTVQA_HOME", "~no-such-user/there")
        with pytest.raises(DataError, match="DTVQA_HOME=~no-such-user/there: no such user"):
            Store()

    def test_looking_makes_nothing(self, dtvqa_home: Path) -> None:
        store_status()
        with pytest.raises(DataError):
            load_split("test")
        assert not dtvqa_home.exists()


def file_at(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (file_at, "this is a file, not a folder for the store"),
        (lambda home: file_at(home / "image"), "a file has the name of a needed folder"),
        (lambda home: file_at(home / "test"), "a file has the name of a needed folder"),
        (lambda home: (home / "image/DTScene/test/0.png").mkdir(parents=True), "a folder has"),
        (
            lambda home: (home / "test/DTScene.json").mkdir(parents=True),
            "this is a folder, not an annotation file",
        ),
        (lambda home: (home / "manifest.json").mkdir(parents=True), "a folder has"),
        (lambda home: (home / ".lock").mkdir(parents=True), "a folder has"),
    ],
    ids=["home", "image", "test", "an image", "an annotation file", "manifest", "lock"],
)
def test_something_else_in_a_place_is_one_error(
    tmp_path: Path, dtvqa_home: Path, block: Callable[[Path], object], words: str
) -> None:
    release = make_test_release(tmp_path / "release", {"DTScene": 2})
    block(dtvqa_home)
    with pytest.raises(DataError, match=words) as caught:
        import_release(release, subsets=["DTScene"])
    assert str(dtvqa_home) in str(caught.value)


class TestManifest:
    def imported(self, tmp_path: Path) -> Store:
        import_release(make_test_release(tmp_path / "release", {"DTScene": 2}), subsets=["DTScene"])
        return Store()

    def test_it_says_where_everything_came_from(self, tmp_path: Path, dtvqa_home: Path) -> None:
        store = self.imported(tmp_path)
        raw = json.loads(store.manifest_path.read_text())
        assert raw["schema"] == SCHEMA
        assert raw["plugin_version"] == dtvqa_plugin.__version__
        assert set(raw["files"]) == {"test/DTScene.json"}
        entry = raw["files"]["test/DTScene.json"]
        assert entry["source"] == str(tmp_path / "release/test/DTScene.json")
        assert (entry["records"], entry["problems"], entry["released"]) == (2, 0, False)
        assert len(entry["sha256"]) == 64
        assert raw["images"]["DTScene/test"]["present"] == 2
        assert store.manifest().files["test/DTScene.json"].sha256 == entry["sha256"]

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[]",
            b"{}",
            b'{"schema": "1"}',
            b'{"schema": 1}',
            b"\xff",
            b'{"schema": 1, "plugin_version": "", "created": "", "updated": "", "images": {},'
            b' "files": []}',
            b'{"schema": 1, "plugin_version": "", "created": "", "updated": "", "images": {},'
            b' "files": {"test/DTScene.json": {"sha256": 5}}}',
        ],
    )
    def test_a_damaged_one_is_one_error_and_nothing_is_written(
        self, tmp_path: Path, dtvqa_home: Path, content: bytes
    ) -> None:
        self.imported(tmp_path).manifest_path.write_bytes(content)
        before = tree(dtvqa_home)
        for act in (Store().manifest, lambda: import_release(tmp_path / "release")):
            with pytest.raises(DataError, match=r"manifest is damaged .* move it away"):
                act()
        assert tree(dtvqa_home) == before

    def test_one_from_a_later_version(self, tmp_path: Path, dtvqa_home: Path) -> None:
        store = self.imported(tmp_path)
        raw = json.loads(store.manifest_path.read_text())
        raw.update(schema=SCHEMA + 1, plugin_version="99.0")
        store.manifest_path.write_text(json.dumps(raw))
        with pytest.raises(DataError, match=r"dtvqa-plugin 99\.0 in schema 2.*upgrade"):
            store.manifest()

    def test_fields_that_a_later_version_adds_are_let_pass(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        store = self.imported(tmp_path)
        raw = json.loads(store.manifest_path.read_text())
        raw["colour"] = raw["files"]["test/DTScene.json"]["colour"] = "red"
        store.manifest_path.write_text(json.dumps(raw))
        assert store.manifest().files["test/DTScene.json"].records == 2


class TestWriting:
    def test_an_exception_leaves_the_old_file(self, dtvqa_home: Path) -> None:
        store = Store()
        target = dtvqa_home / "test/x.json"
        with store.lock():
            with store.writing(target) as handle:
                handle.write(b"old")
            with pytest.raises(TypeError), store.writing(target) as handle:
                handle.writelines([b"new, half of it", None])  # type: ignore[list-item]  # fails
        assert tree(dtvqa_home) == {"test/x.json": b"old"}

    def test_a_reader_of_the_old_file_keeps_reading_it(self, dtvqa_home: Path) -> None:
        store = Store()
        target = dtvqa_home / "test/x.json"
        with store.lock():
            with store.writing(target) as handle:
                handle.write(b"old")
            with target.open("rb") as reader:
                with store.writing(target) as handle:
                    handle.write(b"new")
                    handle.flush()
                    assert target.read_bytes() == b"old"
                assert reader.read() == b"old"
        assert tree(dtvqa_home) == {"test/x.json": b"new"}

    def test_leftovers_of_a_dead_writer_are_cleared(self, dtvqa_home: Path) -> None:
        left = dtvqa_home / ".partial" / "left"
        left.parent.mkdir(parents=True)
        left.write_bytes(b"half")
        with Store().lock():
            assert not left.exists()
        assert tree(dtvqa_home) == {}

    @pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf"])
    def test_a_lock_timeout_that_is_no_number(
        self, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        monkeypatch.setenv("DTVQA_LOCK_TIMEOUT", value)
        with pytest.raises(DataError, match="DTVQA_LOCK_TIMEOUT"):
            lock_timeout()


# --- without permission --------------------------------------------------------------------------


def give_up_override() -> None:
    """Take from this process, and what it executes, root's leave to ignore file modes."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if libc.prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "PR_CAPBSET_DROP")


def bound_by_modes(home: Path, *arguments: object, code: str = DTVQA) -> tuple[int, str, str]:
    """Run ``dtvqa`` (or ``code``) as a process to which file modes apply, even under root."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, "DTVQA_HOME": str(home)},
            preexec_fn=give_up_override,
        )
    except subprocess.SubprocessError:
        pytest.skip("root here cannot give up its leave to ignore file modes")
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def closable(tmp_path: Path) -> Iterator[Path]:
    """A folder that is opened again at the end, so that it can be removed."""
    yield tmp_path
    subprocess.run(["chmod", "-R", "u+rwx", tmp_path], check=True)


def make_read_only(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_a_read_only_store_can_be_read(closable: Path) -> None:
    home = closable / "home"
    import_release(make_test_release(closable / "release"), home=home)
    make_read_only(home)
    code = "from dtvqa_plugin import load_split; print([r['image'].size for r in load_split()][0])"
    assert bound_by_modes(home, code=code)[:2] == (0, "(24, 16)\n")
    assert bound_by_modes(home, "data", "status")[0] == 0


def test_a_read_only_store_cannot_be_written(closable: Path) -> None:
    home = closable / "home"
    release = make_test_release(closable / "release")
    import_release(release, home=home)
    before = tree(home)
    make_read_only(home)
    status, _, err = bound_by_modes(home, "data", "import", release)
    assert status == 1
    assert str(home) in err
    assert "no permission" in err
    assert "DTVQA_HOME" in err
    assert tree(home) == before


@pytest.mark.parametrize(
    "closed", ["home", "home/image/DTScene/test", "home/test/DTScene.json", "home/manifest.json"]
)
def test_a_store_that_may_not_be_read(closable: Path, closed: str) -> None:
    home = closable / "home"
    import_release(make_test_release(closable / "release"), home=home)
    (closable / closed).chmod(0)
    code = (
        "from dtvqa_plugin.data import load_split, data_signature\n"
        "from dtvqa_plugin.errors import DTVQAError\n"
        "try:\n    load_split()\n    data_signature()\n"
        "except DTVQAError as error:\n    print(error)"
    )
    status, out, _ = bound_by_modes(home, code=code)
    assert status == 0
    assert str(closable / closed) in out
    assert "no permission" in out or "cannot be read: Permission denied" in out


@pytest.mark.parametrize("closed", ["image.zip", "test/DTScene.json", "test"])
def test_a_release_that_may_not_be_read(closable: Path, closed: str) -> None:
    release = make_test_release(closable / "release", {"DTScene": 1}, images="none")
    make_zip(release / "image.zip", {"DTScene/test/0.png": png()})
    (release / closed).chmod(0)
    home = closable / "home"
    status, _, err = bound_by_modes(home, "data", "import", release, "--subset", "DTScene")
    assert status == 1
    assert str(release / closed) in err
    assert "ermission" in err
    assert not home.exists()
