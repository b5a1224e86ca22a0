"""Imports that are killed, run at once, or end on a full disk; and the released material."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from data_releases import (
    DTVQA,
    make_test_release,
    make_zip,
    noise,
    png,
    start_python,
    tree,
)

from dtvqa_plugin.data import load_split
from dtvqa_plugin.data.transfer import ImportReport, import_release
from dtvqa_plugin.errors import DataError


def images(report: ImportReport) -> dict[str, tuple[int, int, int, int]]:
    return {
        f"{split}/{subset}": (c.expected, c.present, c.added, c.replaced)
        for (split, subset), c in report.images.items()
    }


def tree_images(home: Path) -> list[str]:
    return [name for name in tree(home) if name.startswith("image/")]


STALL = """
import sys, time
from pathlib import Path
from dtvqa_plugin.data.transfer.import_release import import_release

def stall(done, total):
    if done >= int(sys.argv[2]):
        print("stalled", flush=True)
        time.sleep(600)

import_release(sys.argv[1], subsets=["DTScene"], progress=stall)
"""


class TestInterruptedAndCrowded:
    @pytest.mark.parametrize("shape", ["tree", "zip"])
    @pytest.mark.parametrize("kill_at", [1, 5_000_000])
    def test_after_a_kill_it_continues(
        self, tmp_path: Path, dtvqa_home: Path, shape: str, kill_at: int
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 5}, images="none")
        content = {f"DTScene/test/{n}.png": noise(n, 800) for n in range(5)}  # 1.9 MB each
        if shape == "zip":
            make_zip(release / "image.zip", content)
        for name, data in content.items():
            if shape == "tree":
                (release / "image" / name).parent.mkdir(parents=True, exist_ok=True)
                (release / "image" / name).write_bytes(data)
        process = start_python(STALL, release, kill_at)
        assert process.stdout is not None
        assert process.stdout.readline() == "stalled\n"
        process.send_signal(signal.SIGKILL)
        process.communicate()

        left = tree(dtvqa_home)
        done = {name for name in left if not name.startswith(".partial/")}
        assert any(name.startswith(".partial/") for name in left)
        assert all(left[name] == content[name.removeprefix("image/")] for name in done)
        assert len(done) == kill_at // (800 * 800 * 3)
        stamps = {name: (dtvqa_home / name).stat().st_mtime_ns for name in done}

        report = import_release(release, subsets=["DTScene"])
        assert images(report) == {"test/DTScene": (5, 5, 5 - len(done), 0)}
        after = tree(dtvqa_home)
        assert {n: d for n, d in after.items() if n.startswith("image/")} == {
            f"image/{name}": data for name, data in content.items()
        }
        assert not any(name.startswith(".partial") for name in after)
        assert stamps == {name: (dtvqa_home / name).stat().st_mtime_ns for name in done}

    def test_an_interrupt_from_the_keyboard_leaves_nothing_half_written(
        self, tmp_path: Path, dtvqa_home: Path
    ) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 3})

        def interrupt(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            import_release(release, subsets=["DTScene"], progress=interrupt)
        assert tree(dtvqa_home) == {}
        assert len(import_release(release, subsets=["DTScene"]).files) == 1

    def test_two_processes_at_once(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 60}, images="zip")
        arguments = ("data", "import", release, "--subset", "DTScene", "--json")
        both = [start_python(DTVQA, *arguments) for _ in range(2)]
        outputs = [process.communicate() for process in both]
        assert [process.returncode for process in both] == [0, 0], outputs
        counts = [json.loads(out)["images"][0] for out, _ in outputs]
        assert [count["present"] for count in counts] == [60, 60]
        assert sum(count["added"] for count in counts) == 60
        assert sum(count["replaced"] for count in counts) == 0
        assert len(tree_images(dtvqa_home)) == 60

    def test_a_held_lock_is_waited_for_then_named(
        self, tmp_path: Path, dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = make_test_release(tmp_path / "release")
        holder = start_python(
            "import time\nfrom dtvqa_plugin.data import Store\n"
            "with Store().lock():\n    print('held', flush=True)\n    time.sleep(600)"
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        monkeypatch.setenv("DTVQA_LOCK_TIMEOUT", "0.3")
        with pytest.raises(DataError, match=r"\.lock: another process has held the store"):
            import_release(release)
        holder.kill()
        holder.communicate()
        assert import_release(release).images  # a dead process's lock does not block

    def test_a_lock_released_in_time_is_taken(self, tmp_path: Path, dtvqa_home: Path) -> None:
        holder = start_python(
            "import time\nfrom dtvqa_plugin.data import Store\n"
            "with Store().lock():\n    print('held', flush=True)\n    time.sleep(1)"
        )
        assert holder.stdout is not None
        holder.stdout.readline()
        assert import_release(make_test_release(tmp_path / "release"), lock_timeout=30).images
        holder.communicate()

    def test_a_disk_that_takes_no_more(self, tmp_path: Path, dtvqa_home: Path) -> None:
        release = make_test_release(tmp_path / "release", {"DTScene": 2}, images="none")
        make_zip(
            release / "image.zip",
            {"DTScene/test/0.png": png(), "DTScene/test/1.png": noise(1, 400)},
        )
        code = (
            "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
            + DTVQA
        )
        process = start_python(code, "data", "import", release, "--subset", "DTScene")
        _, err = process.communicate()
        assert process.returncode == 1
        assert "cannot write it" in err
        assert "Traceback" not in err
        assert tree(dtvqa_home) == {"image/DTScene/test/0.png": png()}


class TestReleasedMaterial:
    def test_the_part_of_the_release_at_hand(self, shared_dir: Path, dtvqa_home: Path) -> None:
        report = import_release(shared_dir / "hub/DT-VQA")
        assert images(report) == {
            "test/DTNutrCap": (187, 0, 0, 0),
            "test/DTProdCap": (221, 0, 0, 0),
            "test/DTScene": (272, 0, 0, 0),
            "test/DTTabShot": (260, 130, 130, 0),
        }
        assert [part.released for part in report.files] == [True] * 4
        assert report.warnings == report.bad == []
        with pytest.raises(DataError, match="DTTabShot: 130 of 260 images"):
            load_split("test", "DTTabShot")
        dataset = load_split("test", "DTTabShot", allow_partial=True)
        assert len(dataset) == 146
        assert {row["image"].mode for row in dataset} == {"RGB"}
