"""``dtvqa data recognise`` with the real engine: processes, kill and resume, text from a file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from released_layout import answers_of, make_release

from dtvqa_plugin.data import Store, records
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.ocr import RecognisedTexts, recognised_texts

IMAGES = 8
"""Different images of the small release: subsets share those of equal text."""


@pytest.fixture
def home(tmp_path: Path, dtvqa_home: Path) -> Path:
    """A store that holds the small release."""
    import_release(make_release(tmp_path / "release"))
    return dtvqa_home


def command(*arguments: str) -> list[str]:
    main = "from dtvqa_plugin.cli import main; main()"
    return [sys.executable, "-c", main, "data", "recognise", *arguments]


def dtvqa(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=600)


def read_back() -> RecognisedTexts:
    store = Store()
    return recognised_texts({r.image: store.image_path(r.image) for r in records("test")})


def kept(home: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in home.glob("recognised/*/*.json")}


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in listed]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes in /proc")
def test_killed_then_run_again_it_reads_only_what_is_left(home: Path) -> None:
    pytest.importorskip("rapidocr")
    running = subprocess.Popen(command("--workers", "2"), stderr=subprocess.DEVNULL)
    while len(kept(home)) < 2:
        assert running.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    workers = children(running.pid)
    running.send_signal(signal.SIGKILL)
    running.wait()
    deadline = time.monotonic() + 120
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived the command"
        time.sleep(0.05)
    before = kept(home)
    assert 2 <= len(before) < IMAGES

    broken = Store().image_path("DTScene/test/4.png")
    broken.write_bytes(broken.read_bytes()[:-200])
    again = dtvqa("--workers", "2", "--json")
    assert again.returncode == 1, again.stderr
    report = json.loads(again.stdout)
    assert "4.png: cut off or damaged" in report["unreadable"][0]
    assert report["recognised"] + report["known"] == IMAGES - 1
    assert report["known"] >= len(before) - 1
    assert before.items() <= kept(home).items()
    assert not list(home.glob("recognised/*/.*"))
    assert "image/s" in again.stderr or "s/image" in again.stderr

    found = read_back()
    assert found.engine == report["engine"]
    assert found.missing == ("DTScene/test/4.png",)
    text = found.texts["DTProdCap/test/1.png"]
    (line,) = text.lines
    assert (text.width, text.height, line.text) == (160, 64, answers_of("DTProdCap", 1)[0])
    left, top, right, bottom = line.box
    assert 0 <= left < 16 < right < 120
    assert 0 <= top < 30 < bottom < 64
    assert line.confidence is not None
    assert line.confidence > 0.5


def test_text_from_a_file_is_kept_under_the_name_that_was_given(home: Path, tmp_path: Path) -> None:
    ocr = tmp_path / "lines.jsonl"
    line = {"image": "scans/3.jpg", "lines": [{"text": "Total 7", "box": [1, 2, 30, 14]}]}
    ocr.write_text(json.dumps(line) + "\n")
    options = ["--ocr-file", str(ocr), "--ocr-format", "json", "--ocr-name", "paddleocr-3.1"]
    done = dtvqa(*options, "--subset", "DTTabShot")
    assert done.returncode == 0, done.stderr
    assert "file-paddleocr-3.1: text of 1 image added, 0 known already" in done.stdout
    assert "not in the OCR file: 3 images" in done.stdout
    found = read_back()
    assert found.engine == "file-paddleocr-3.1"
    assert [line.text for line in found.texts["DTTabShot/test/3.png"].lines] == ["Total 7"]

    clash = dtvqa(*options)
    assert clash.returncode == 1
    assert "have one name" in clash.stderr


def test_folders_of_scene_text_are_read_and_other_files_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "gt_3.csv").write_text("1,2,30,2,30,14,1,14,Latin,Total 7\n", encoding="utf-8-sig")
    options = ["--subset", "DTTabShot", "--ocr-name", "mlt-2019", "--ocr-format"]
    done = dtvqa(*options, "icdar", "--ocr-file", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [line.text for line in read_back().texts["DTTabShot/test/3.png"].lines] == ["Total 7"]
    refused = dtvqa(*options, "rctw", "--ocr-file", str(tmp_path))
    assert refused.returncode == 1
    assert "gt_3.csv: line 1: expected x1,y1" in refused.stderr
    assert "it looks like 'mlt'" in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ocr-file", "x.json"], "go together"),
        (["--ocr-name", "x"], "go together"),
        (["--ocr-file", "x", "--ocr-format", "json", "--ocr-name", "../x"], "--ocr-name '../x'"),
        (["--workers", "0"], "0 is not in the range"),
    ],
)
def test_wrong_options_are_refused(options: list[str], message: str, home: Path) -> None:
    done = dtvqa(*options)
    assert done.returncode == 2
    assert message in done.stderr


def test_an_empty_store_says_what_is_missing(dtvqa_home: Path) -> None:
    done = dtvqa()
    assert done.returncode == 1
    assert "test annotations are missing" in done.stderr
    assert not dtvqa_home.exists()
