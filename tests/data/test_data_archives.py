"""Archives: hostile and broken ones are one error each, and the store stays as it was."""

from __future__ import annotations

import contextlib
import io
import random
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from data_releases import conversation, make_test_release, make_zip, png, tree, write_json

from dtvqa_plugin.data.archives import (
    MAX_IMAGE_BYTES,
    MemberError,
    MemberSource,
    ZipSource,
)
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.errors import DataError

GOOD = "image/DTScene/test/0.png"
OTHER = "image/DTScene/test/1.png"

Build = Callable[[Path], object]


def members(*pairs: tuple[str, bytes]) -> Build:
    return lambda path: make_zip(path, pairs)


def patched(build: Build, old: bytes, new: bytes, times: int) -> Build:
    """The archive with ``old`` replaced by ``new`` of the same length."""

    def made(path: Path) -> None:
        build(path)
        data = path.read_bytes()
        assert len(old) == len(new)
        assert data.count(old) == times
        path.write_bytes(data.replace(old, new))

    return made


def with_header(field: int, value: bytes, name: str = GOOD) -> Build:
    """One member whose headers lie: ``field`` is the offset in the central directory entry.

    The field is set in the local header as well (there it stands two bytes earlier).
    """

    def made(path: Path) -> None:
        make_zip(path, {name: png(size=(64, 64))})
        data = bytearray(path.read_bytes())
        central = data.index(b"PK\x01\x02")
        data[central + field : central + field + len(value)] = value
        data[field - 2 : field - 2 + len(value)] = value
        path.write_bytes(data)

    return made


def with_mode(mode: int, name: str = "image/link") -> Build:
    def made(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(GOOD, png())
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = (mode | 0o777) << 16
            archive.writestr(info, "/etc/passwd")

    return made


def bomb(path: Path) -> None:
    """A member that really holds more than an image may, well packed."""
    method = zipfile.ZIP_DEFLATED
    with (
        zipfile.ZipFile(path, "w", method, compresslevel=1) as archive,
        archive.open(GOOD, "w") as handle,
    ):
        for _ in range(MAX_IMAGE_BYTES // 2**24):
            handle.write(bytes(2**24))
        handle.write(b"!")


def cut(path: Path) -> None:
    make_zip(path, {GOOD: png(), OTHER: png(1)})
    path.write_bytes(path.read_bytes()[:-60])


def wrong_crc(path: Path) -> None:
    content = png()
    make_zip(path, {GOOD: content}, zipfile.ZIP_STORED)
    data = path.read_bytes()
    assert data.count(content[40:60]) == 1
    path.write_bytes(data.replace(content[40:60], bytes(20)))


DIRECTORY = [
    ("parent", members((GOOD, png()), ("image/../../../evil.png", png())), "leaves its folder"),
    (
        "parent, Windows",
        members((GOOD, png()), ("image\\..\\..\\evil.png", png())),
        "leaves its folder",
    ),
    ("parent before a match", members(("../DTScene/test/0.png", png())), "leaves its folder"),
    ("absolute", members((GOOD, png()), ("/etc/DTScene/test/1.png", png())), "absolute"),
    ("drive letter", members((GOOD, png()), ("C:/DTScene/test/1.png", png())), "drive letter"),
    (
        "NUL",
        patched(members((GOOD, png()), ("image/DTScene/test/1@.png", png())), b"1@", b"1\0", 2),
        "NUL",
    ),
    ("symbolic link", with_mode(stat.S_IFLNK), "symbolic link"),
    ("link at an image", with_mode(stat.S_IFLNK, OTHER), "symbolic link"),
    ("device", with_mode(stat.S_IFCHR), "no regular file"),
    (
        "two prefixes",
        members((GOOD, png()), ("old/DTScene/test/0.png", png())),
        "two members match",
    ),
    ("one name twice", members((GOOD, png()), (GOOD, png(1))), "two members match"),
    (
        "slashes and backslashes",
        members((GOOD, png()), (GOOD.replace("/", "\\"), png())),
        "two members match",
    ),
    ("encrypted", with_header(8, b"\x01\x00"), "encrypted"),
    ("deflate64", with_header(10, b"\x09\x00"), "method 9"),
    ("bzip2", lambda path: make_zip(path, {GOOD: png()}, zipfile.ZIP_BZIP2), "method 12"),
    ("bomb", bomb, "decompression bomb"),
    ("bomb by its word", with_header(24, b"\xff\xff\xff\x7f"), "decompression bomb"),
    ("cut off", cut, "cut off or damaged"),
    ("empty file", lambda path: path.write_bytes(b""), "not a zip archive"),
    ("text", lambda path: path.write_bytes(b"hello"), "not a zip archive"),
    ("web page", lambda path: path.write_bytes(b"<html>"), "web page"),
    (
        "git-LFS pointer",
        lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n"),
        "git lfs pull",
    ),
    ("folder", Path.mkdir, "this is a folder, not the archive"),
]

MEMBERS = [
    ("CRC", wrong_crc, "CRC"),
    ("no image", members((GOOD, b"hello")), "not an image"),
    ("empty", members((GOOD, b"")), "empty"),
    ("unpacks to more", with_header(24, b"\x10\x00\x00\x00"), "damaged|unpacks to"),
    ("unpacks to less", with_header(24, b"\x00\x00\x10\x00"), "unpacks to"),
    ("damaged stream", with_header(20, b"\x10\x00\x00\x00"), "damaged"),
]


def release_with(tmp_path: Path, build: Build) -> Path:
    release = make_test_release(tmp_path / "release", {"DTScene": 2}, images="none")
    build(release / "image.zip")
    return release


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("build", "words"), [case[1:] for case in DIRECTORY], ids=[case[0] for case in DIRECTORY]
)
def test_refused_whole_before_anything_is_written(
    tmp_path: Path, dtvqa_home: Path, build: Build, words: str
) -> None:
    release = release_with(tmp_path, build)
    outside = tree(tmp_path)
    with pytest.raises(DataError, match=words) as caught:
        import_release(release, subsets=["DTScene"], skip_bad=True)
    assert str(release / "image.zip") in str(caught.value)
    assert not dtvqa_home.exists()
    assert tree(tmp_path) == outside


@pytest.mark.parametrize(
    ("build", "words"), [case[1:] for case in MEMBERS], ids=[case[0] for case in MEMBERS]
)
def test_a_bad_member_is_never_stored(
    tmp_path: Path, dtvqa_home: Path, build: Build, words: str
) -> None:
    release = release_with(tmp_path, build)
    with pytest.raises(DataError, match=words) as caught:
        import_release(release, subsets=["DTScene"])
    assert GOOD in str(caught.value)
    assert tree(dtvqa_home) == {}
    report = import_release(release, subsets=["DTScene"], skip_bad=True)
    assert len(report.bad) == 1
    assert report.images["test", "DTScene"].present == 0
    assert not any(name.startswith("image/") for name in tree(dtvqa_home))


def test_names_that_are_odd_but_harm_nothing_do_not_block(tmp_path: Path, dtvqa_home: Path) -> None:
    odd = [
        "x\ny",
        "ab:c",
        "...",
        "d/",
        "image/DTScene/test/",
        "__MACOSX/DTScene/test/._0.png",
        "é" * 200,
    ]
    release = release_with(
        tmp_path, members((GOOD, png()), (OTHER, png(1)), *((name, b"") for name in odd))
    )
    assert import_release(release, subsets=["DTScene"]).images["test", "DTScene"].present == 2


def test_members_that_are_not_needed_may_be_encrypted_or_large(
    tmp_path: Path, dtvqa_home: Path
) -> None:
    release = release_with(tmp_path, with_header(8, b"\x01\x00", "image/DTScene/train/9.png"))
    assert import_release(release, subsets=["DTScene"]).images["test", "DTScene"].present == 0


@pytest.mark.parametrize("declared", [True, False], ids=["says UTF-8", "does not say"])
def test_names_beyond_ascii(tmp_path: Path, dtvqa_home: Path, declared: bool) -> None:
    name = "DTProdCap/train_val/茶.png"
    write_json(
        tmp_path / "train/DTProdCap_train_val.json", [conversation(f"image/{name}", ("q", "a"))]
    )
    path = make_zip(tmp_path / "image.zip", {name: png()})
    if not declared:
        data = bytearray(path.read_bytes())
        central = data.index(b"PK\x01\x02")
        data[7] &= ~0x08
        data[central + 9] &= ~0x08
        path.write_bytes(data)
    report = import_release(tmp_path, ["train"], ["DTProdCap"])
    assert report.images["train", "DTProdCap"].present == 1


def test_zip64_archives(tmp_path: Path) -> None:
    path = tmp_path / "image.zip"
    with zipfile.ZipFile(path, "w") as archive, archive.open(GOOD, "w", force_zip64=True) as handle:
        handle.write(png())
    source = ZipSource(path)
    found = source.find(["DTScene/test/0.png"])
    ((member, chunks),) = source.read(found.values())
    assert (member.size, b"".join(chunks)) == (len(png()), png())
    source.close()


def test_a_source_reads_any_seekable_file_and_tells_where_members_lie(tmp_path: Path) -> None:
    """What a reader of remote archives builds on: ranges known ahead, one file object."""
    wanted = {f"DTScene/test/{number}.png": png(number) for number in range(6)}
    plain = make_zip(tmp_path / "image.zip", {f"image/{n}": d for n, d in wanted.items()})
    data = plain.read_bytes()
    source: MemberSource = ZipSource(io.BytesIO(data), "somewhere else")
    found = source.find({"DTScene/test/4.png", "DTScene/test/1.png", "DTScene/test/77.png"})
    assert sorted(found) == ["DTScene/test/1.png", "DTScene/test/4.png"]
    for member in found.values():
        assert data[member.offset : member.offset + 4] == b"PK\x03\x04"
        assert member.packed > 0
    got = {member.image: b"".join(chunks) for member, chunks in source.read(found.values())}
    assert got == {name: wanted[name] for name in found}
    assert source.label == "somewhere else"
    source.close()


@pytest.mark.parametrize("seed", range(60))
def test_an_archive_with_random_damage_is_an_error_or_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """No damage makes another exception, or lets a wrong byte through."""
    wanted = {f"DTScene/test/{number}.png": png(number, (40, 40)) for number in range(3)}
    path = make_zip(tmp_path / "image.zip", wanted)
    data = bytearray(path.read_bytes())
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 6)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    path.write_bytes(data[: len(data) - dice.choice([0, 0, 0, 1, 30])])
    monkeypatch.setattr("dtvqa_plugin.data.archives.zip.MAX_IMAGE_BYTES", 10**6)
    try:
        source = ZipSource(path)
        found = source.find(wanted)
    except DataError:
        return
    for member, chunks in source.read(found.values()):
        with contextlib.suppress(MemberError):
            assert b"".join(chunks) == wanted[member.image]
    source.close()
