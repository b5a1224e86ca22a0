"""Archives as tools write them that cannot be read here: each has a specific message."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest
from data_releases import make_test_release

from dtvqa_plugin.data.transfer import import_release
from dtvqa_plugin.errors import DataError


def part_of_a_split_archive(path: Path, *, first: bool) -> None:
    """What ``zip -s`` leaves: parts that begin with the split mark, the last with its number."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("image/DTScene/test/0.png", bytes(100_000))
    content = bytearray(path.read_bytes())
    if first:
        path.write_bytes(b"PK\7\x08" + content[: len(content) // 2])
        return
    end = content.rfind(b"PK\5\6")
    struct.pack_into("<HH", content, end + 4, 2, 2)  # this is part 3, the directory is in it
    (directory,) = struct.unpack_from("<L", content, end + 16)
    struct.pack_into("<L", content, end + 16, directory - 50_000)  # counted from this part's start
    path.write_bytes(content[50_000:])


def over_4_gib_without_zip64(path: Path) -> None:
    """As tools write it that know no ZIP64: offsets modulo 2**32 (a sparse file)."""
    with path.open("wb") as handle:
        handle.truncate(2**32 + 5_000)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("image/DTScene/test/0.png", b"x" * 50)
        archive.writestr("image/DTScene/test/1.png", b"x" * 50)
        start = archive.start_dir
    entry, end = struct.Struct("<4s4B4HL2L5H2L"), struct.Struct("<4s4H2LH")
    directory = b""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.encode()
            fields = (b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 33, info.CRC, 50, 50, len(name))
            offset = info.header_offset % 2**32
            directory += entry.pack(*fields, 0, 0, 0, 0, 0, offset) + name
    with path.open("r+b") as handle:
        handle.truncate(start)
        handle.seek(start)
        handle.write(directory)
        handle.write(end.pack(b"PK\5\6", 0, 0, 2, 2, len(directory), start % 2**32, 0))


@pytest.mark.parametrize("first", [True, False], ids=["first part", "last part"])
def test_a_part_of_a_split_archive_is_called_one(
    tmp_path: Path, dtvqa_home: Path, first: bool
) -> None:
    release = make_test_release(tmp_path / "release")
    part_of_a_split_archive(release / "image.zip", first=first)
    with pytest.raises(DataError, match=r"one part of a split archive .*zip -s 0"):
        import_release(release)
    assert not dtvqa_home.exists()


def test_an_archive_over_4_gib_without_zip64_is_not_to_be_got_again(
    tmp_path: Path, dtvqa_home: Path
) -> None:
    release = make_test_release(tmp_path / "release")
    over_4_gib_without_zip64(release / "image.zip")
    with pytest.raises(DataError, match="without ZIP64") as raised:
        import_release(release)
    assert "downloading it again does not help" in str(raised.value)
    assert not dtvqa_home.exists()


@pytest.mark.skipif(shutil.which("zip") is None, reason="Info-ZIP's zip is not installed")
@pytest.mark.parametrize("part", ["whole.zip", "whole.z01"])
def test_a_part_that_info_zip_wrote_is_called_one(
    tmp_path: Path, dtvqa_home: Path, part: str
) -> None:
    release = make_test_release(tmp_path / "release")
    folder = tmp_path / "image/DTScene/test"
    folder.mkdir(parents=True)
    (folder / "0.png").write_bytes(random.Random(0).randbytes(300_000))
    subprocess.run(["zip", "-q", "-s", "64k", "-r", "whole.zip", "image"], cwd=tmp_path, check=True)
    shutil.copyfile(tmp_path / part, release / "image.zip")
    with pytest.raises(DataError, match="one part of a split archive"):
        import_release(release)
