"""Killed at any moment, several at once, and hosts that need data: whole processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from fetch_helpers import Start, dtvqa, environment, fetch, fetching, finished, images, python, tree
from loopback_hub import Fault, LoopbackHub, Seen
from remote_releases import SUBSETS, images_of, make_remote, picture

from dtvqa_plugin.data import Store

NUMBER = 60
SIDE = 130
EVERY = [image for subset in SUBSETS for image in images_of(subset, NUMBER)]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """240 images of 50 kB: several requests' worth."""
    return make_remote(tmp_path_factory.mktemp("large"), number=NUMBER, side=SIDE, decoys=4)


def packed_size(release: Path) -> int:
    with zipfile.ZipFile(release / "image.zip") as archive:
        wanted = {f"image/{image}" for image in EVERY}
        return sum(info.compress_size for info in archive.infolist() if info.filename in wanted)


def all_right(home: Path) -> bool:
    return images(home) == {image: picture(image, SIDE) for image in EVERY}


class TestKilled:
    @pytest.mark.parametrize("part", [0.05, 0.4, 0.8])
    def test_it_continues_and_fetches_at_most_what_was_in_flight_again(
        self,
        large: Path,
        dtvqa_home: Path,
        start: Start,
        part: float,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        total = packed_size(large)
        hub = start(large, rate=8e6)
        reached = threading.Event()

        def watch(seen: Seen) -> None:
            if hub.sent("image.zip") > part * total:
                reached.set()

        hub.on_sent = watch
        process = fetching(hub, dtvqa_home)
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        stored = images(dtvqa_home)
        assert all(content == picture(image, SIDE) for image, content in stored.items())
        hub.on_sent, hub.rate = (lambda seen: None), None
        hub.seen.clear()
        monkeypatch.setenv("DTVQA_LOCK_TIMEOUT", "20")  # the dead process's lock is not held
        result = fetch(hub, dtvqa_home)
        assert "error" not in result, result
        assert all_right(dtvqa_home)
        left = total - sum(len(content) for content in stored.values())
        assert hub.sent("image.zip") <= 1.03 * left + 60_000
        assert not list((dtvqa_home / ".partial").glob("*"))
        assert Store(dtvqa_home).manifest().images["DTScene/test"].present == NUMBER

    def test_annotation_files_are_not_fetched_twice(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=8e6)
        process = fetching(hub, dtvqa_home)
        while not images(dtvqa_home):
            time.sleep(0.02)
        process.kill()
        process.communicate()
        hub.seen.clear()
        hub.rate = None
        fetch(hub, dtvqa_home)
        assert not hub.of(".json")
        assert all_right(dtvqa_home)

    def test_interrupted_by_the_user_it_ends_at_once(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=2e6)
        process = fetching(hub, dtvqa_home)
        while not hub.sent("image.zip") > 500_000:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode != 0


class TestSeveralAtOnce:
    def test_one_fetches_and_the_others_wait(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=6e6)
        processes = [fetching(hub, dtvqa_home) for _ in range(4)]
        seen_whole = 0
        while any(process.poll() is None for process in processes):
            for image, content in images(dtvqa_home).items():
                assert content == picture(image, SIDE)  # never half-written
                seen_whole += 1
            time.sleep(0.2)
        results = [finished(process) for process in processes]
        assert seen_whole > 0
        assert all("error" not in result for result in results)
        added = [sum(c[2] for c in result["images"].values()) for result in results]
        assert sorted(added) == [0, 0, 0, len(EVERY)]
        assert hub.sent("image.zip") <= 1.02 * packed_size(large) + 60_000
        assert sum(seen.method == "HEAD" for seen in hub.of("image.zip")) == 1
        assert all_right(dtvqa_home)

    def test_waiting_too_long_is_an_error(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=2e6)
        first = fetching(hub, dtvqa_home)
        while not hub.sent("image.zip"):
            time.sleep(0.02)
        second = fetch(hub, dtvqa_home, env={"DTVQA_LOCK_TIMEOUT": "1"})
        assert "another process has held the store" in second["error"]
        first.kill()
        first.communicate()


# --- when a host needs data ----------------------------------------------------------------------

LOAD = "from dtvqa_plugin import load_split; print(len(load_split('test', 'DTScene')))"


class TestByItself:
    def test_what_is_needed_comes_with_a_progress_bar(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        done = python(hub, dtvqa_home, LOAD)
        assert done.stdout.strip() == "12", done.stderr
        assert sorted(images(dtvqa_home)) == sorted(images_of("DTScene"))
        assert "fetching what split test lacks" in done.stderr
        assert not hub.of("DTTabShot.json")
        hub.seen.clear()
        assert python(hub, dtvqa_home, LOAD).stdout.strip() == "12"
        assert hub.seen == []

    def test_the_bar_shows_bytes_rate_and_time_left(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        done = dtvqa(start(large, rate=6e6), dtvqa_home, "data", "fetch")
        (last,) = [line for line in done.stderr.split("\r") if "100%" in line][-1:]
        assert "B/s" in last
        assert "12." in last  # megabytes
        assert "<" in last  # elapsed<left

    @pytest.mark.parametrize(
        "setting",
        [{"DTVQA_AUTO_FETCH": "0"}, {"HF_HUB_OFFLINE": "1"}],
        ids=["switched off", "offline"],
    )
    def test_not_where_it_is_forbidden(
        self, hub: LoopbackHub, dtvqa_home: Path, setting: dict[str, str]
    ) -> None:
        done = python(hub, dtvqa_home, LOAD, **setting)
        (last,) = done.stderr.strip().splitlines()[-1:]
        assert "test annotations are missing (test/DTScene.json)" in last
        assert "dtvqa data fetch --split test" in last
        assert ("unset HF_HUB_OFFLINE and run" in last) == ("HF_HUB_OFFLINE" in setting)
        assert hub.seen == []

    def test_a_failed_fetch_is_one_error_with_what_is_missing_and_the_cure(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        hub.fault = lambda seen: Fault(status=404) if "image.zip" in seen.path else None
        done = python(hub, dtvqa_home, LOAD)
        (last,) = done.stderr.strip().splitlines()[-1:]
        assert "test/DTScene.json of split test are missing and could not be fetched" in last
        assert "dtvqa data import FOLDER --split test --subset DTScene" in last

    def test_a_partial_run_continues_with_the_data_in_the_store(
        self, hub: LoopbackHub, release: Path, dtvqa_home: Path
    ) -> None:
        fetch(hub, dtvqa_home, subsets=["DTScene"])
        for image in images_of("DTScene")[:2]:
            Store(dtvqa_home).image_path(image).unlink()
        hub.fault = lambda seen: Fault(status=404)
        done = python(hub, dtvqa_home, LOAD, DTVQA_ALLOW_PARTIAL="1")
        assert done.stdout.strip() == "8", done.stderr
        assert "continuing with the data in the store" in done.stderr
        assert "8 of 12 questions" in done.stderr

    def test_records_alone_bring_no_images(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        code = "from dtvqa_plugin.data import records; print(len(records('val')))"
        assert python(hub, dtvqa_home, code).stdout.strip() == "12"
        assert not hub.of("image.zip")
        assert images(dtvqa_home) == {}


def test_a_read_only_store_that_is_complete_needs_nothing(
    hub: LoopbackHub, dtvqa_home: Path
) -> None:
    fetch(hub, dtvqa_home, subsets=["DTScene"])
    before = tree(dtvqa_home)
    if os.geteuid() == 0:
        mounted = ["mount", "--bind", "-o", "ro", str(dtvqa_home), str(dtvqa_home)]
        if subprocess.run(mounted, capture_output=True).returncode != 0:
            pytest.skip("root may write everywhere, and mounting is not allowed here")
    else:
        subprocess.run(["chmod", "-R", "a-w", str(dtvqa_home)], check=True)
    try:
        hub.seen.clear()
        assert python(hub, dtvqa_home, LOAD).stdout.strip() == "12"
        assert dtvqa(hub, dtvqa_home, "data", "fetch", "--subset", "DTScene").returncode == 0
        assert dtvqa(hub, dtvqa_home, "data", "verify").returncode == 0
        assert hub.seen == []
        lacking = dtvqa(hub, dtvqa_home, "data", "fetch", "--subset", "DTTabShot")
        assert lacking.returncode == 1
        assert "read-only" in lacking.stderr or "no permission" in lacking.stderr
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(dtvqa_home)], check=True)
        else:
            subprocess.run(["chmod", "-R", "u+w", str(dtvqa_home)], check=True)
    assert tree(dtvqa_home) == before


@pytest.mark.slow
def test_lmms_eval_on_a_machine_with_the_network_and_no_data(
    hub: LoopbackHub, tmp_path: Path, dtvqa_home: Path
) -> None:
    pytest.importorskip("lmms_eval.api")
    from loopback import MODEL, LoopbackOpenAI

    with LoopbackOpenAI(lambda request: "answer 1") as server:
        model = f"model_version={MODEL},base_url={server.url},api_key=x"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "lmms_eval", "--model", "openai", "--model_args", model),
                *("--tasks", "dtvqa_scene", "--output_path", str(tmp_path / "out")),
            ],
            env=environment(hub, dtvqa_home, OPENAI_API_KEY="x"),
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
        )
        assert list((tmp_path / "out").rglob("*results.json")), done.stderr[-3000:]
        assert server.count == 12
    assert sorted(images(dtvqa_home)) == sorted(images_of("DTScene"))


@pytest.mark.slow
def test_vlmevalkit_on_a_machine_with_the_network_and_no_data(
    hub: LoopbackHub, tmp_path: Path, dtvqa_home: Path
) -> None:
    pytest.importorskip("vlmeval")
    from loopback import LoopbackOpenAI
    from vlm_host import command, write_config

    online = environment(hub, dtvqa_home, HF_HUB_OFFLINE="0", DTVQA_AUTO_FETCH="1")
    with LoopbackOpenAI(lambda request: "answer 1") as server:
        config = write_config(tmp_path / "config.json", server, "DTVQA_DTScene")
        done = command(["--config", str(config)], tmp_path, dtvqa_home, extra=online)
        assert done.status == 0, done.output[-3000:]
        assert server.count == 12
    assert sorted(images(dtvqa_home)) == sorted(images_of("DTScene"))
