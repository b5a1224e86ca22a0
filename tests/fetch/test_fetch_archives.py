"""Bad archives and bad images in them: one error, and the store as it was."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest
from fetch_helpers import Start, dtvqa, fetch, images, tree
from PIL import Image
from remote_releases import images_of, make_annotations, picture, write_zip

WANTED = "image/DTScene/test/0.png"


def symlink(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def bomb() -> bytes:
    """Half a gigabyte of zeros, which claims no more than it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(WANTED, "w") as member:
            for _ in range(300):
                member.write(bytes(2**20))
        archive.writestr("image/DTScene/test/1.png", picture("DTScene/test/1.png"))
    return buffer.getvalue()


def zip_of(members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def huge_picture() -> bytes:
    """A small file that unfolds to 180 megapixels."""
    buffer = io.BytesIO()
    Image.new("1", (15_000, 12_000)).save(buffer, "PNG")
    return buffer.getvalue()


GOOD = [(f"image/{image}", picture(image)) for image in images_of("DTScene")]

REFUSED = {
    "climbs out": (zip_of([*GOOD, ("../../etc/x.png", b"x")]), "leaves its folder"),
    "absolute": (zip_of([*GOOD, ("/etc/x.png", b"x")]), "is absolute"),
    "symbolic link": (zip_of([*GOOD, (symlink("image/link"), b"/etc")]), "symbolic link"),
    "two for one image": (
        zip_of([*GOOD, (f"other/{WANTED}", b"x")]),
        "two members match the image DTScene/test/0.png",
    ),
    "bomb": (bomb(), "decompression bomb"),
    "no archive": (b"not a zip at all" * 5000, "not a zip archive"),
    "empty": (b"", "not a zip archive"),
    "cut off": (zip_of(GOOD)[:-200], "zip archive"),
    "another archive": (zip_of([("readme.txt", b"hello")]), "holds none of the 6 images"),
    "directory too large": (
        b"PK\x05\x06" + bytes(8) + b"\xff\xff\xff\x7f" + b"\0\0\0\0" + bytes(2),
        "zip archive",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_archive_is_one_error_and_the_store_untouched(
    tmp_path: Path, dtvqa_home: Path, start: Start, case: str
) -> None:
    content, said = REFUSED[case]
    make_annotations(tmp_path / "release")
    (tmp_path / "release" / "image.zip").write_bytes(content)
    result = fetch(start(tmp_path / "release"), dtvqa_home, subsets=["DTScene"])
    assert said in result["error"]
    assert "Traceback" not in result["stderr"]
    assert tree(dtvqa_home) == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"plain text", "not an image"),
        (b"", "empty"),
        (huge_picture(), "megapixels"),
        (picture("DTScene/test/0.png")[:-2000], "damaged"),
    ],
    ids=["no image", "empty", "picture bomb", "cut off"],
)
def test_a_member_that_is_no_sound_image_is_one_error_that_names_it(
    tmp_path: Path, dtvqa_home: Path, start: Start, content: bytes, said: str
) -> None:
    make_annotations(tmp_path / "release")
    members = [(name, content if name == WANTED else good) for name, good in GOOD]
    write_zip(tmp_path / "release" / "image.zip", members)
    result = fetch(start(tmp_path / "release"), dtvqa_home, subsets=["DTScene"])
    assert said in result["error"]
    assert WANTED in result["error"]
    assert "DTScene/test/0.png" not in images(dtvqa_home)


def test_images_that_the_archive_lacks_are_counted(
    tmp_path: Path, dtvqa_home: Path, start: Start
) -> None:
    make_annotations(tmp_path / "release")
    write_zip(tmp_path / "release" / "image.zip", GOOD[:4])
    done = dtvqa(start(tmp_path / "release"), dtvqa_home, "data", "fetch", "--subset", "DTScene")
    assert done.returncode == 1
    assert "2 of 6 images are not in it" in done.stderr
    assert "DTScene: 4 of 6, 2 missing" in done.stdout
