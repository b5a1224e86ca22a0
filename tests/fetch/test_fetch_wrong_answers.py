"""A web page, a short file or another server's answer in place of the data is never kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fetch_helpers import Start, dtvqa, fetch, images, tree
from loopback_hub import Answer, Fault, LoopbackHub, Seen
from remote_releases import images_of, picture

PAGE = b"<!DOCTYPE html><title>Log in</title>..."
HTML = Answer(PAGE, {"Content-Type": "text/html; charset=utf-8"})
UNMARKED = Answer(PAGE, {"Content-Type": "application/octet-stream"})
ERROR_TEXT = Answer(b'{"error": "quota"}', {"Content-Type": "application/json"})
SHORT = Answer(b"PK\3\4" + bytes(38), {"Content-Type": "application/octet-stream"})

NOT_THE_ARCHIVE = {
    "a page": (HTML, "web page (HTML)"),
    "a page without its type": (UNMARKED, "answered with 39 bytes where the hub announced"),
    "a page without type and length": (replace(UNMARKED, length=False), "web page (HTML)"),
    "an error text": (ERROR_TEXT, "answered with application/json, not the file"),
    "a short file": (SHORT, "answered with 42 bytes where the hub announced"),
}


def instead(answer: Answer, end: str, server: str = "store") -> Callable[[Seen], Fault | None]:
    def decide(seen: Seen) -> Fault | None:
        asked = seen.server == server and seen.path.partition("?")[0].endswith(end)
        return Fault(answer=answer) if asked else None

    return decide


@pytest.mark.parametrize("case", NOT_THE_ARCHIVE)
@pytest.mark.parametrize("full", [True, False], ids=["whole archive", "ranges"])
def test_another_answer_than_the_archive_is_named_and_not_kept(
    hub: LoopbackHub, dtvqa_home: Path, case: str, full: bool
) -> None:
    answer, said = NOT_THE_ARCHIVE[case]
    hub.fault = instead(answer, "image.zip")
    result = fetch(hub, dtvqa_home, full=full)
    assert said in result["error"]
    assert hub.store_url + "/blobs/image.zip" in result["error"]
    assert "login page of a network, or a proxy" in result["error"]
    assert "ignores byte ranges" not in result["error"]
    assert tree(dtvqa_home) == {}


def test_after_a_page_the_next_run_is_whole(
    hub: LoopbackHub, release: Path, dtvqa_home: Path
) -> None:
    hub.fault = instead(HTML, "image.zip")
    fetch(hub, dtvqa_home, full=True)
    hub.fault = lambda seen: None
    assert "error" not in fetch(hub, dtvqa_home, full=True)
    assert (dtvqa_home / "image.zip").read_bytes() == (release / "image.zip").read_bytes()


def test_a_page_that_an_earlier_version_kept_is_not_gone_on_with(
    hub: LoopbackHub, release: Path, dtvqa_home: Path
) -> None:
    hub.fault = lambda s: Fault(stop_after=200_000) if s.server == "store" else None
    fetch(hub, dtvqa_home, full=True, retries=0)
    (part,) = (dtvqa_home / ".download").iterdir()
    part.write_bytes(PAGE)
    hub.seen.clear()
    hub.fault = lambda seen: None
    assert "error" not in fetch(hub, dtvqa_home, full=True)
    assert next(seen.start for seen in hub.seen if seen.server == "store") == 0
    assert (dtvqa_home / "image.zip").read_bytes() == (release / "image.zip").read_bytes()


@pytest.mark.parametrize("answer", [HTML, UNMARKED], ids=["marked", "unmarked"])
def test_a_page_in_place_of_an_annotation_file_names_the_address(
    hub: LoopbackHub, dtvqa_home: Path, answer: Answer
) -> None:
    def decide(seen: Seen) -> Fault | None:
        get = seen.method == "GET" and seen.path.endswith("DTScene.json")
        return Fault(answer=answer) if get else None

    hub.fault = decide
    result = fetch(hub, dtvqa_home, subsets=["DTScene"])
    assert f"{hub.url}/shuozhang2/DT-VQA/resolve" in result["error"]
    assert "login page of a network, or a proxy" in result["error"]
    assert str(dtvqa_home) not in result["error"]
    assert "raw file" not in result["error"]
    assert tree(dtvqa_home) == {}


def test_a_network_that_answers_everything_with_its_login_page(
    hub: LoopbackHub, dtvqa_home: Path
) -> None:
    hub.fault = lambda seen: Fault(answer=HTML)
    result = fetch(hub, dtvqa_home, subsets=["DTScene"])
    assert "login page of a network, or a proxy" in result["error"]
    assert str(dtvqa_home) not in result["error"]
    assert tree(dtvqa_home) == {}


def test_an_annotation_file_that_is_no_json_names_the_address(
    release: Path, tmp_path: Path, dtvqa_home: Path, start: Start
) -> None:
    shutil.copytree(release, tmp_path / "release")
    (tmp_path / "release/test/DTScene.json").write_text('[{"dataset_name": "DTSc')
    hub = start(tmp_path / "release")
    result = fetch(hub, dtvqa_home, subsets=["DTScene"])
    assert "DT-VQA/test/DTScene.json" in result["error"]
    assert str(dtvqa_home) not in result["error"]


class TestSmallFilesWithoutRanges:
    @pytest.mark.parametrize("how", ["close", "reset"])
    def test_one_that_breaks_off_once_is_begun_again(
        self, hub: LoopbackHub, dtvqa_home: Path, how: str
    ) -> None:
        left = iter([Fault(stop_after=300, how=how, ignore_range=True)])

        def decide(seen: Seen) -> Fault | None:
            if seen.method == "GET" and seen.path.endswith("DTScene.json"):
                return next(left, Fault(ignore_range=True))
            return None

        hub.fault = decide
        result = fetch(hub, dtvqa_home, subsets=["DTScene"])
        assert "error" not in result, result
        assert images(dtvqa_home) == {image: picture(image) for image in images_of("DTScene")}

    def test_one_that_always_breaks_off_is_an_error(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        def decide(seen: Seen) -> Fault | None:
            get = seen.method == "GET" and seen.path.endswith("DTScene.json")
            return Fault(stop_after=300, ignore_range=True) if get else None

        hub.fault = decide
        result = fetch(hub, dtvqa_home, subsets=["DTScene"], retries=2)
        assert "DTScene.json" in result["error"]
        assert "tries" in result["error"]
        assert tree(dtvqa_home) == {}


def test_the_user_agent_names_the_version(hub: LoopbackHub, dtvqa_home: Path) -> None:
    from dtvqa_plugin._version import __version__

    done = dtvqa(hub, dtvqa_home, "data", "fetch", "--subset", "DTScene")
    assert done.returncode == 0, done.stderr
    named = [s.agent for s in hub.seen if s.method == "GET" and s.server == "store"]
    assert named
    assert all(agent.startswith(f"dtvqa-plugin/{__version__};") for agent in named)
