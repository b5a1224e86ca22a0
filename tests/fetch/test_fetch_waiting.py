"""What a user sees while a fetch waits, and what a slow line or a missing lock does to it."""

from __future__ import annotations

import itertools
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fetch_helpers import Start, dtvqa, environment, fetch, fetching, images, python
from loopback_hub import Fault, LoopbackHub, Seen
from remote_releases import SUBSETS, images_of, make_remote, picture

LOAD = "from dtvqa_plugin import load_split; print(len(load_split('test', 'DTScene')))"
SIDE = 260
"""Images of about 200 kB."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_remote(tmp_path_factory.mktemp("large"), number=20, side=SIDE, decoys=4)


class TestRetryAfter:
    @pytest.mark.parametrize("name", ["image.zip", "DTScene.json"])
    def test_a_host_that_waits_says_so_once_and_then_shows_progress(
        self, hub: LoopbackHub, dtvqa_home: Path, name: str
    ) -> None:
        asked = itertools.count()

        def busy(seen: Seen) -> Fault | None:
            member = seen.method == "GET" and seen.path.partition("?")[0].endswith(name)
            wait = Fault(status=429, headers=(("Retry-After", "2"),))
            return wait if member and not next(asked) else None

        hub.fault = busy
        done = python(hub, dtvqa_home, LOAD)
        assert done.stdout.strip() == "12", done.stderr
        said = [line for line in done.stderr.splitlines() if "trying again in 2 s" in line]
        assert len(said) == 1
        assert "limits requests (HTTP status 429)" in said[0]
        assert name in said[0]
        assert "100%" in done.stderr

    def test_the_command_says_it_too(self, hub: LoopbackHub, dtvqa_home: Path) -> None:
        asked = itertools.count()
        busy = Fault(status=503, headers=(("Retry-After", "2"),))
        hub.fault = lambda s: busy if s.server == "store" and not next(asked) else None
        done = dtvqa(hub, dtvqa_home, "data", "fetch", "--subset", "DTScene")
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("trying again in 2 s") == 1


class TestSlowLine:
    def test_the_bar_stands_at_0_before_the_first_image(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=2e6)
        done = dtvqa(hub, dtvqa_home, "data", "fetch")
        assert done.returncode == 0, done.stderr
        bars = [line for line in done.stderr.splitlines() if line.startswith("images:")]
        assert bars[0].startswith("images:   0%")
        assert " 0.00/16.3M " in bars[0]

    def test_images_are_stored_as_they_complete_and_a_kill_loses_single_members(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=1e6)
        process = fetching(hub, dtvqa_home)
        while len(images(dtvqa_home)) < 8:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
        process.communicate()
        time.sleep(0.3)  # the server notices
        stored = images(dtvqa_home)
        assert all(content == picture(image, SIDE) for image, content in stored.items())
        kept = sum(len(content) for content in stored.values())
        member = max(len(content) for content in stored.values())
        # Eight members under way, what sockets hold of each, and those being written.
        assert hub.sent("image.zip") <= kept + 16 * (member + 100_000) + 20_000

    def test_killed_again_and_again_it_comes_to_an_end(
        self, large: Path, dtvqa_home: Path, start: Start
    ) -> None:
        hub = start(large, rate=3e6)
        rounds = 0
        while len(images(dtvqa_home)) < 20 * len(SUBSETS):
            rounds += 1
            before = len(images(dtvqa_home))
            process = fetching(hub, dtvqa_home)
            while process.poll() is None and len(images(dtvqa_home)) < before + 20:
                time.sleep(0.02)
            process.kill()
            process.communicate()
            assert rounds < 8
        wanted = {i: picture(i, SIDE) for subset in SUBSETS for i in images_of(subset, 20)}
        assert images(dtvqa_home) == wanted


WITHOUT_FLOCK = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
# BPF: load the call's number; flock fails with ENOSYS, all else is allowed.
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 73), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]
program = b"".join(struct.pack("HBBI", *line) for line in code)
buffer = ctypes.create_string_buffer(program)
filters = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges
if libc.prctl(22, 2, filters, 0, 0) != 0:  # seccomp filter
    print("no seccomp:", os.strerror(ctypes.get_errno())); sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""The kernel itself refuses flock, as some network file systems do (by a seccomp filter)."""


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the filter names system calls by their x86-64 numbers",
)
class TestNoLocks:
    def run(
        self, hub: LoopbackHub, home: Path, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_FLOCK, *arguments],
            env=environment(hub, home),
            capture_output=True,
            text=True,
            timeout=120,
        )
        if done.returncode == 77:
            pytest.skip(f"a process may not filter its own system calls here: {done.stdout}")
        return done

    COMMAND = ("-c", "from dtvqa_plugin.cli import main; main()", "data", "fetch")

    def test_a_fetch_says_that_there_are_no_locks_and_what_to_do(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        done = self.run(hub, dtvqa_home, *self.COMMAND)
        assert done.returncode == 1
        assert "this file system has no file locks" in done.stderr
        assert "DTVQA_HOME" in done.stderr
        assert "Traceback" not in done.stderr
        assert images(dtvqa_home) == {}
        assert hub.seen == []

    def test_a_complete_store_is_read_without_locks(
        self, hub: LoopbackHub, dtvqa_home: Path
    ) -> None:
        fetch(hub, dtvqa_home, subsets=["DTScene"])
        hub.seen.clear()
        assert self.run(hub, dtvqa_home, "-c", LOAD).stdout.strip() == "12"
        done = self.run(hub, dtvqa_home, *self.COMMAND, "--subset", "DTScene")
        assert done.returncode == 0, done.stderr
        assert hub.seen == []
