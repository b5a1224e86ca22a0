"""``dtvqa doctor``: what it says of hosts and data, and how it exits."""

from __future__ import annotations

import importlib.metadata
import io
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from dtvqa_plugin.cli import doctor as doctor_module
from dtvqa_plugin.cli import main
from dtvqa_plugin.cli.doctor import Finding
from dtvqa_plugin.data import records

HOSTS = ("lmms_eval", "lmms-eval", "ms-vlmeval", "nvidia-vlmeval", "vlmeval")


@pytest.fixture(autouse=True)
def wide_console(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell is folded, so that a row is a line."""
    monkeypatch.setattr(doctor_module, "Console", lambda width: Console(width=width and 900))


@pytest.fixture(autouse=True)
def hook_active(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host itself is asked in one test alone: importing it takes seconds."""
    active = Finding("lmms-eval hook", "active", True)
    monkeypatch.setattr(doctor_module, "_hook", lambda: active)


def with_versions(monkeypatch: pytest.MonkeyPatch, **installed: str) -> None:
    """Only these hosts are installed."""
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name in installed:
            return installed[name]
        if name in HOSTS:
            raise PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor_module, "version", version)


def examine(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and what is printed, in one line a row, each blank alone."""
    with pytest.raises(SystemExit) as left:
        main(["doctor"])
    out = " ".join(capsys.readouterr().out.split())
    return int(left.value.code or 0), out


@pytest.fixture
def whole_release(shared_dir: Path, dtvqa_home: Path) -> Path:
    """The released test annotations, with a small picture in place of every image."""
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    released = shared_dir / "hub/DT-VQA/test"
    joined = shutil.ignore_patterns("DT_test.json")  # it would stand in for a file taken away
    shutil.copytree(released, dtvqa_home / "test", ignore=joined)
    for image in {record.image for record in records("test")}:
        path = dtvqa_home / "image" / image
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture.getvalue())
    return dtvqa_home


def test_nothing_amiss_is_status_0(
    whole_release: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_versions(monkeypatch, lmms_eval="0.7.3")
    status, out = examine(capsys)
    assert (status, "!!" in out) == (0, False)
    assert "ok data: embedded sample 64 of 64 questions" in out
    assert "ok data: test DTTabShot 300 questions, 260 of 260 images" in out
    assert (
        "-- data: val DTScene not there (train/DTScene_val.json) dtvqa data fetch --split val"
        in out
    )


def cut_off(home: Path) -> None:
    path = home / "test/DTScene.json"
    path.write_bytes(path.read_bytes()[:999])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (
            lambda home: next((home / "image/DTScene/test").iterdir()).unlink(),
            "!! data: test DTScene 300 questions, 271 of 272 images dtvqa data fetch --split test",
        ),
        (
            lambda home: (home / "test/DTScene.json").unlink(),
            "!! data: test DTScene not there (test/DTScene.json) dtvqa data fetch --split test",
        ),
        (
            lambda home: (home / "test/DTScene.json").write_text("[1]"),
            "!! data: test DTScene 0 questions, 0 of 0 images, 1 unusable",
        ),
        (cut_off, "test/DTScene.json: line 38: not valid JSON"),
        (lambda home: (home / "manifest.json").write_text("{"), "!! data the manifest is damaged"),
    ],
    ids=["an image missing", "a file missing", "other content", "cut off", "manifest"],
)
def test_what_is_amiss_in_the_data_is_told(
    damage: Callable[[Path], object],
    words: str,
    whole_release: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_versions(monkeypatch, lmms_eval="0.7.3")
    damage(whole_release)
    status, out = examine(capsys)
    assert words in out
    assert (status, out.count("!!")) == (1, 1)


@pytest.mark.parametrize(
    ("installed", "words"),
    [
        ({"lmms_eval": "0.5.0"}, "!! lmms-eval 0.5.0, not seen working (0.6.0 <= version < 0.8)"),
        ({"lmms_eval": "0.8.0"}, "!! lmms-eval 0.8.0, not seen working"),
        ({"lmms_eval": "main"}, "!! lmms-eval main, not seen working"),
        ({"lmms_eval": "0.6.1"}, "ok lmms-eval 0.6.1 (supported"),
        ({"ms-vlmeval": "0.0.20"}, "ok VLMEvalKit (ms-vlmeval) 0.0.20 (supported"),
        ({}, '!! evaluation host none installed pip install "dtvqa-plugin[lmms]" or'),
    ],
)
def test_hosts_and_their_range(
    installed: dict[str, str],
    words: str,
    dtvqa_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_versions(monkeypatch, **installed)
    status, out = examine(capsys)
    assert words in out
    assert status == 1
