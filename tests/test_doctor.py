"""``dtvqa doctor``: what it says of hosts and data, and how it exits."""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from dtvqa_plugin.cli import doctor as doctor_module
from dtvqa_plugin.cli import main
from dtvqa_plugin.data import records

HOSTS = ("lmms_eval", "lmms-eval", "ms-vlmeval", "nvidia-vlmeval", "vlmeval")


@pytest.fixture(autouse=True)
def wide_console(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell is folded, so that a row is a line."""
    monkeypatch.setattr(doctor_module, "Console", lambda: Console(width=900))


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
    joined = shutil.ignore_patterns("DT_test.json")  # it would replace a missing file
    shutil.copytree(released, dtvqa_home / "test", ignore=joined)
    for image in {record.image for record in records("test")}:
        path = dtvqa_home / "image" / image
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture.getvalue())
    return dtvqa_home


def test_no_fault_is_status_0(
    whole_release: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_versions(monkeypatch, lmms_eval="0.7.3")
    status, out = examine(capsys)
    assert (status, "!!" in out) == (0, False)
    assert "ok data: embedded sample 64 of 64 questions" in out
    assert "ok data: test DTTabShot 300 questions, 260 of 260 images" in out
    assert "-- data: val not downloaded: DTScene, DTTabShot dtvqa data fetch --split val" in out


def test_what_was_never_downloaded_is_no_fault(
    dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_versions(monkeypatch, lmms_eval="0.7.3")
    status, out = examine(capsys)
    assert (status, "!!" in out) == (0, False)
    assert "-- data: test not downloaded: DTNutrCap, DTProdCap, DTScene, DTTabShot dtvqa" in out
    assert "ok fine; -- not there, which is a matter of choice" in out


@pytest.mark.parametrize("width", [60, 80])
def test_lines_are_as_wide_as_the_terminal_and_commands_are_whole(
    dtvqa_home: Path, tmp_path: Path, width: int
) -> None:
    done = doctor_process(cwd=tmp_path, COLUMNS=str(width))
    assert max(map(len, done.stdout.splitlines())) <= width
    for split in ("test", "val", "train"):
        assert f"dtvqa data fetch --split {split}" in done.stdout


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
def test_faults_of_the_data_are_reported(
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
    assert (status, out.count("!! data")) == (1, 1)
    assert "!! wrong: the command below it is the cure" in out


@pytest.mark.parametrize(
    ("installed", "words"),
    [
        ({"lmms_eval": "0.5.0"}, "!! lmms-eval 0.5.0, not tested (0.6.0 <= version < 0.8)"),
        ({"lmms_eval": "0.8.0"}, "!! lmms-eval 0.8.0, not tested"),
        ({"lmms_eval": "main"}, "!! lmms-eval main, not tested"),
        ({"lmms_eval": "0.6.1"}, "ok lmms-eval 0.6.1 (supported"),
        ({"lmms_eval": "0.7.1"}, "!! lmms-eval 0.7.1 from the package index cannot index any task"),
        ({"lmms_eval": "0.7.2"}, 'its wheel is incomplete pip install "lmms-eval==0.7.3"'),
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
    assert status == (0 if words.startswith("ok") else 1)


RUN = "from dtvqa_plugin.cli import main; main()"


def doctor_process(
    *options: str, cwd: Path, path: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """``dtvqa doctor`` in a separate process; ``path`` goes before the installed packages."""
    env = {**os.environ, "COLUMNS": "900", **({"PYTHONPATH": str(path)} if path else {}), **more}
    return subprocess.run(
        [sys.executable, "-c", RUN, "doctor", *options],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stdout.split())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_a_quick_look_imports_no_host_and_stays_small(dtvqa_home: Path, tmp_path: Path) -> None:
    # Not getrusage: its peak includes that of the process which started this one.
    code = (
        "import json, pathlib, sys\n"
        "from dtvqa_plugin.cli import main\n"
        "try: main(['doctor'])\n"
        "except SystemExit: pass\n"
        "heavy = [m for m in ('torch', 'lmms_eval', 'vlmeval', 'datasets') if m in sys.modules]\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(json.dumps([heavy, int(status.partition('VmHWM:')[2].split()[0]) / 1024]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    heavy, megabytes = json.loads(done.stdout.splitlines()[-1])
    assert heavy == []
    assert megabytes < 100


@pytest.mark.slow
def test_deep_tries_the_hosts_and_leaves_its_own_process_small(
    dtvqa_home: Path, tmp_path: Path
) -> None:
    pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    out = one_line(doctor_process("--deep", cwd=tmp_path))
    assert "ok lmms-eval hook active: the task index contains dtvqa" in out
    assert "!! VLMEvalKit import" not in out
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss == before


def fake(folder: Path, **modules: str) -> Path:
    """Packages that hide the installed ones: name and code of each ``__init__``."""
    for name, code in modules.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(code)
    return folder


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        (
            {"lmms_eval": "import filelock._api_of_long_ago"},
            "!! lmms-eval hook lmms-eval itself fails: ModuleNotFoundError: No module named "
            "'filelock._api_of_long_ago' pip install \"filelock<4\"",
        ),
        (
            {"lmms_eval": "open('tasks/x/_default_template_yaml')"},
            "No such file or directory: 'tasks/x/_default_template_yaml' "
            'pip install "lmms-eval==0.7.3"',
        ),
        (
            {"vlmeval": "import rouge_score_of_august"},
            "!! VLMEvalKit import VLMEvalKit itself fails: ModuleNotFoundError: No module named "
            "'rouge_score_of_august' pip install rouge_score_of_august",
        ),
    ],
    ids=["a module that filelock lost", "an incomplete wheel", "an unlisted requirement"],
)
def test_deep_reports_a_broken_host_as_the_hosts_fault_with_the_cure(
    modules: dict[str, str], words: str, dtvqa_home: Path, tmp_path: Path
) -> None:
    pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")
    pytest.importorskip("vlmeval", reason="needs the extra: pip install 'dtvqa-plugin[vlmeval]'")
    # Both are hidden: the other one would be imported for real, which takes long.
    path = fake(tmp_path / "packages", **{"lmms_eval": "", "vlmeval": "", **modules})
    done = doctor_process("--deep", cwd=tmp_path, path=path)
    assert words in one_line(done)
    assert done.returncode == 1


FILELOCK_4 = "class FileLock: ...\nclass Timeout(Exception): ...\n"


def test_filelock_4_is_seen_without_importing_the_host(dtvqa_home: Path, tmp_path: Path) -> None:
    pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")
    path = fake(
        tmp_path / "packages", filelock=FILELOCK_4, lmms_eval="raise SystemExit('imported')"
    )
    (path / "lmms_eval/evaluator.py").write_text("import filelock._api as _fl_api\n")
    out = one_line(doctor_process(cwd=tmp_path, path=path))
    assert "!! lmms-eval hook lmms-eval imports filelock._api, which filelock" in out
    assert 'lacks pip install "filelock<4"' in out


def test_a_folder_that_hides_a_task_is_reported(dtvqa_home: Path, tmp_path: Path) -> None:
    pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")
    (tmp_path / "dtvqa_mini").mkdir()
    out = one_line(doctor_process(cwd=tmp_path))
    assert "!! lmms-eval tasks the folder ./dtvqa_mini hides the task" in out
