"""Faults in transfer are tried again, then reported; nothing wrong enters the store."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fetch_helpers import DIRECTORY, Start, dtvqa, fetch, images, tree
from loopback_hub import SIGNATURE, Fault, LoopbackHub, Seen
from remote_releases import images_of, make_annotations, make_remote, picture


def on_images(fault: Fault, times: int) -> Callable[[Seen], Fault | None]:
    """The fault for the first ``times`` requests for members of the archive."""
    left = iter(range(times))

    def decide(seen: Seen) -> Fault | None:
        member = seen.server == "store" and seen.start < DIRECTORY
        return fault if member and next(left, None) is not None else None

    return decide


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


def test_a_broken_answer_is_continued_where_it_broke(hub: LoopbackHub, dtvqa_home: Path) -> None:
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


def test_a_wait_of_hours_is_an_error_instead(hub: LoopbackHub, dtvqa_home: Path) -> None:
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
def test_a_lasting_fault_is_one_error_and_leaves_no_image(
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

    def test_it_is_an_error_and_the_archive_is_not_read(
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
    def test_an_interrupted_whole_download_continues(
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

    def test_no_network_is_an_error_soon(self, dtvqa_home: Path) -> None:
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
