"""What goes wrong on the way is tried again, then told plainly; nothing wrong enters the store."""

from __future__ import annotations

import io
import os
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fetch_helpers import Start, dtvqa, fetch, images, tree
from loopback_hub import SIGNATURE, Fault, LoopbackHub, Seen
from PIL import Image
from remote_releases import images_of, make_annotations, make_remote, picture, write_zip

from dtvqa_plugin.data import Store


def on_images(fault: Fault, times: int) -> Callable[[Seen], Fault | None]:
    """The fault for the first ``times`` requests for members of the archive."""
    left = iter(range(times))

    def decide(seen: Seen) -> Fault | None:
        member = seen.server == "store" and seen.start < DIRECTORY
        return fault if member and next(left, None) is not None else None

    return decide


DIRECTORY = 500_000
"""The small release's directory, and what is read ahead of it, begin behind this."""

TRANSIENT = {
    "429": Fault(status=429),
    "429 with a time to wait": Fault(status=429, headers=(("Retry-After", "1"),)),
    "500": Fault(status=500),
    "503": Fault(status=503, headers=(("Retry-After", "0"),)),
    "cut off at once": Fault(stop_after=0),
    "cut off half way": Fault(stop_after=60_000),
    "reset": Fault(stop_after=60_000, how="reset"),
    "stalled": Fault(stop_after=60_000, how="stall"),
}


@pytest.fixture(params=TRANSIENT)
def transient(request: pytest.FixtureRequest) -> Fault:
    return TRANSIENT[request.param]


def test_a_passing_fault_is_got_over(hub: LoopbackHub, dtvqa_home: Path, transient: Fault) -> None:
    hub.fault = on_images(transient, 2)
    result = fetch(hub, dtvqa_home, subsets=["DTScene"])
    assert "error" not in result, result
    assert images(dtvqa_home) == {image: picture(image) for image in images_of("DTScene")}


def test_an_answer_that_breaks_off_is_taken_up_where_it_broke(
    hub: LoopbackHub, dtvqa_home: Path
) -> None:
    hub.fault = on_images(Fault(stop_after=30_000), 1)
    fetch(hub, dtvqa_home, subsets=["DTScene"])
    first, second = (s for s in hub.seen if s.server == "store" and s.start < DIRECTORY)
    assert second.start == first.start + 30_000
    assert first.sent == 30_000


def test_the_time_that_the_server_asks_for_is_waited(hub: LoopbackHub, dtvqa_home: Path) -> None:
    hub.fault = on_images(Fault(status=429, headers=(("Retry-After", "2"),)), 1)
    fetch(hub, dtvqa_home, subsets=["DTScene"])
    first, second = (s for s in hub.seen if s.server == "store" and s.start < DIRECTORY)
    assert second.at - first.at >= 2


def test_a_wait_of_hours_is_told_instead(hub: LoopbackHub, dtvqa_home: Path) -> None:
    hub.fault = on_images(Fault(status=429, headers=(("Retry-After", "7200"),)), 9)
    result = fetch(hub, dtvqa_home, subsets=["DTScene"])
    assert "asks to wait 7200 s" in result["error"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(status=429), "limits requests (HTTP status 429)"),
        (Fault(status=500), "is failing (HTTP status 500)"),
        (Fault(stop_after=0), "connection failed"),
        (Fault(stop_after=0, how="stall"), "no answer in time"),
        (Fault(status=418), "HTTP status 418"),
        (Fault(status=403), "is refused"),
    ],
    ids=["429", "500", "cut off", "stalled", "refused outright", "refused address"],
)
def test_a_fault_that_stays_is_told_plainly_and_leaves_no_image(
    hub: LoopbackHub, dtvqa_home: Path, fault: Fault, said: str
) -> None:
    hub.fault = on_images(fault, 10**6)
    result = fetch(hub, dtvqa_home, subsets=["DTScene"], retries=1)
    assert said in result["error"]
    assert "image.zip" in result["error"]
    assert "Traceback" not in result["stderr"]
    assert images(dtvqa_home) == {}


class TestWrongContent:
    def test_damage_on_the_way_is_asked_for_again(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path
    ) -> None:
        hub.fault = on_images(Fault(flip_at=middle_of(release, "DTScene/test/3.png")), 1)
        fetch(hub, dtvqa_home, subsets=["DTScene"])
        assert images(dtvqa_home) == {image: picture(image) for image in images_of("DTScene")}

    def test_a_wrong_crc_is_never_accepted(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path
    ) -> None:
        bad = "DTScene/test/3.png"
        hub.fault = on_images(Fault(flip_at=middle_of(release, bad)), 10**6)
        result = fetch(hub, dtvqa_home, subsets=["DTScene"])
        assert bad in result["error"]
        assert "damaged" in result["error"]
        stored = images(dtvqa_home)
        assert bad not in stored
        assert all(content == picture(image) for image, content in stored.items())

    def test_it_may_be_left_out_and_is_counted(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path
    ) -> None:
        bad = "DTScene/test/3.png"
        hub.fault = on_images(Fault(flip_at=middle_of(release, bad)), 10**6)
        result = fetch(hub, dtvqa_home, subsets=["DTScene"], skip_bad=True)
        assert result["images"]["DTScene/test"] == [5, 6, 5, 0]
        assert bad in result["bad"][0]

    def test_a_damaged_annotation_file_is_noticed_by_its_digest(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        hub.fault = lambda s: Fault(flip_at=300) if s.path.endswith("DTScene.json") else None
        result = fetch(hub, dtvqa_home, subsets=["DTScene"])
        assert "DTScene.json: damaged in transfer" in result["error"]
        assert tree(dtvqa_home) == {}


def middle_of(release: Path, image: str) -> int:
    with zipfile.ZipFile(release / "image.zip") as archive:
        info = archive.getinfo(f"image/{image}")
        return info.header_offset + 30 + len(info.filename) + info.compress_size // 2


class TestNoRanges:
    def ignore(self, seen: Seen) -> Fault | None:
        return Fault(ignore_range=True) if seen.server == "store" else None

    def test_it_is_told_and_the_archive_is_not_read(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path
    ) -> None:
        hub.fault = self.ignore
        result = fetch(hub, dtvqa_home)
        assert "ignores byte ranges" in result["error"]
        assert "dtvqa data fetch --full" in result["error"]
        assert tree(dtvqa_home) == {}

    def test_with_consent_the_whole_archive_is_fetched(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        hub.fault = self.ignore
        done = dtvqa(hub, dtvqa_home, "data", "fetch", "--full", "--subset", "DTScene")
        assert done.returncode == 0, done.stderr
        assert images(dtvqa_home) == {image: picture(image) for image in images_of("DTScene")}
        assert "kept for further splits" in done.stderr

    @pytest.mark.parametrize("ranges", [True, False])
    def test_an_interrupted_whole_download_goes_on(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path, ranges: bool
    ) -> None:
        size = (release / "image.zip").stat().st_size
        hub.fault = lambda s: Fault(stop_after=200_000) if s.server == "store" else None
        first = fetch(hub, dtvqa_home, full=True, retries=0)
        assert "cut off" in first["error"] or "connection failed" in first["error"]
        hub.seen.clear()
        hub.fault = (lambda seen: None) if ranges else self.ignore
        second = fetch(hub, dtvqa_home, full=True)
        assert "error" not in second, second
        begun = [seen.start for seen in hub.seen if seen.server == "store"]
        assert begun[0] == 200_000
        assert hub.sent("image.zip") < size if ranges else begun[-1] == 0
        assert (dtvqa_home / "image.zip").read_bytes() == (release / "image.zip").read_bytes()

    def test_a_whole_archive_with_another_digest_is_not_taken(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        hub.fault = lambda s: Fault(flip_at=1000) if s.server == "store" else None
        result = fetch(hub, dtvqa_home, full=True)
        assert "damaged in transfer" in result["error"]
        assert not (dtvqa_home / "image.zip").exists()


class TestTheHub:
    def test_offline_nothing_is_tried(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        done = dtvqa(hub, dtvqa_home, "data", "fetch", HF_HUB_OFFLINE="1")
        assert done.returncode == 1
        assert done.stderr.count("dtvqa: error:") == 1
        assert "HF_HUB_OFFLINE is set" in done.stderr
        assert "test/DTScene.json" in done.stderr
        assert hub.seen == []
        assert not dtvqa_home.exists()

    def test_no_network_is_told_soon(self, dtvqa_home: Path) -> None:
        result = fetch("http://127.0.0.1:9", dtvqa_home)
        assert "connection failed" in result["error"]
        assert "HF_ENDPOINT" in result["error"]

    def test_an_unknown_revision(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        result = fetch(hub, dtvqa_home, revision="v9")
        assert "no revision 'v9'" in result["error"]

    def test_a_repository_that_this_user_may_not_see(
        self, release: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(release, token="hf_goodtoken")
        result = fetch(hub, dtvqa_home)
        assert "HF_TOKEN" in result["error"]

    def test_a_file_that_is_not_there(self, tmp_path: Path, dtvqa_home: Path, start: Start) -> None:
        make_annotations(tmp_path / "release")
        result = fetch(start(tmp_path / "release"), dtvqa_home)
        assert "image.zip: not in the repository" in result["error"]
        assert tree(dtvqa_home) == {}

    def test_a_login_page_in_the_way(self, tmp_path: Path, dtvqa_home: Path, start: Start) -> None:
        folder = make_remote(tmp_path / "release")
        (folder / "test" / "DTScene.json").write_text("<!DOCTYPE html><title>Log in</title>")
        result = fetch(start(folder), dtvqa_home)
        assert "web page" in result["error"]
        assert tree(dtvqa_home) == {}


class TestSecrets:
    TOKEN = "hf_averysecrettoken123"

    def test_token_and_signature_are_in_no_log_message_or_file(
        self, release: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(release, token=self.TOKEN)
        hub.fault = on_images(Fault(stop_after=1000), 2)
        result = fetch(
            hub, dtvqa_home, level="DEBUG", env={"HF_TOKEN": self.TOKEN, "HF_DEBUG": "1"}
        )
        assert "error" not in result, result["error"]
        written = result["stdout"] + result["stderr"]
        assert "/blobs/image.zip" in written  # the libraries did log the address
        everything = written.encode() + b"".join(tree(dtvqa_home).values())
        assert self.TOKEN.encode() not in everything
        assert SIGNATURE.encode() not in everything

    def test_in_errors_neither(self, release: Path, dtvqa_home: Path, start: Start) -> None:
        hub = start(release, token=self.TOKEN)
        hub.fault = on_images(Fault(status=500), 10**6)
        url = hub.url.replace("://", "://user:passw0rd@")
        done = fetch(url, dtvqa_home, retries=0, level="DEBUG", env={"HF_TOKEN": self.TOKEN})
        assert "error" in done
        written = done["stdout"] + done["stderr"]
        for secret in (self.TOKEN, SIGNATURE, "passw0rd"):
            assert secret not in written

    def test_the_token_goes_to_the_hub_and_not_to_where_it_redirects(
        self, release: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(release, token=self.TOKEN)
        fetch(hub, dtvqa_home, env={"HF_TOKEN": self.TOKEN})
        asked = {s.server: s.authorization for s in hub.seen if "/api/" not in s.path}
        assert asked == {"hub": f"Bearer {self.TOKEN}", "store": None}


# --- archives ------------------------------------------------------------------------------------

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


# --- the store -----------------------------------------------------------------------------------


def test_a_folder_where_a_file_is_expected(hub: LoopbackHub, dtvqa_home: Path) -> None:
    (dtvqa_home / "test" / "DTScene.json").mkdir(parents=True)
    result = fetch(hub, dtvqa_home)
    assert "DTScene.json: " in result["error"]
    assert "a folder" in result["error"]
    assert images(dtvqa_home) == {}


def test_a_file_where_the_store_is_expected(hub: LoopbackHub, dtvqa_home: Path) -> None:
    dtvqa_home.write_text("mine")
    result = fetch(hub, dtvqa_home)
    assert f"{dtvqa_home}: this is a file, not a folder" in result["error"]
    assert dtvqa_home.read_text() == "mine"


def test_no_permission(hub: LoopbackHub, dtvqa_home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    dtvqa_home.mkdir(mode=0o500)
    result = fetch(hub, dtvqa_home)
    assert "no permission" in result["error"]


def test_a_write_that_fails_leaves_what_is_complete(hub: LoopbackHub, dtvqa_home: Path) -> None:
    result = fetch(hub, dtvqa_home, file_limit=5000)  # annotations fit, images do not
    assert "cannot write" in result["error"]
    assert images(dtvqa_home) == {}
    assert not list((dtvqa_home / ".partial").glob("*"))
    again = fetch(hub, dtvqa_home)
    assert "error" not in again, again


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, 100 kB large."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root to mount a small file system")
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_what_would_not_fit_is_told_before_anything_is_written(
    hub: LoopbackHub, small_disk: Path
) -> None:
    home = small_disk / "home"
    result = fetch(hub, home)
    assert "do not fit" in result["error"]
    assert tree(home) == {}


def test_a_disk_that_fills_up_leaves_a_store_that_goes_on(
    hub: LoopbackHub, small_disk: Path
) -> None:
    home = small_disk / "home"
    filled = False

    def fill(seen: Seen) -> None:
        nonlocal filled
        if seen.server == "store" and seen.start < DIRECTORY and not filled:
            filled = True
            (small_disk / "other").write_bytes(bytes(45_000))

    hub.on_sent = fill
    result = fetch(hub, home, subsets=["DTScene"])
    assert "the disk is full" in result["error"], result
    stored = images(home)
    assert all(content == picture(image) for image, content in stored.items())
    (small_disk / "other").unlink()
    assert fetch(hub, home, subsets=["DTScene"])["images"]["DTScene/test"][0] == 6
    assert Store(home).manifest().images["DTScene/test"].present == 6
