"""What is shipped: wheel and sdist, the task files in each, an import that stays light."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
CHECKOUT = (ROOT / "pyproject.toml").is_file() and (ROOT / "task_configs").is_dir()
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="needs the repository around the tests")

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "mkdocs.yml",
    "scripts",
    "dtvqa_plugin",
    "task_configs",
    "tools",
    "tests",
    "docs",
    "benchmarks",
}
BASE = {
    *("click", "datasets", "filelock", "huggingface-hub", "numpy", "packaging", "pillow"),
    *("platformdirs", "pyarrow", "rapidfuzz", "rich", "tqdm"),
}
SAMPLE_LIMIT = 2_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


def task_files() -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "task_configs").rglob("*")
        if path.is_file()
    }


def test_the_wheel_holds_package_task_files_and_sample(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        sample = [
            i for i in archive.infolist() if i.filename.startswith("dtvqa_plugin/data/sample")
        ]
    assert {f"dtvqa_plugin/{path}" for path in task_files()} <= names
    assert "dtvqa_plugin/py.typed" in names
    assert not any(name.startswith("tests/") for name in names)
    assert 0 < sum(item.file_size for item in sample) <= SAMPLE_LIMIT


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert {path.name for path in source.iterdir()} >= TOP_LEVEL
    out = tmp_path / "dist"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (first,), (second,) = built.glob("*.whl"), out.glob("*.whl")
    with zipfile.ZipFile(first) as a, zipfile.ZipFile(second) as b:
        assert {i.filename: i.CRC for i in a.infolist()} == {
            i.filename: i.CRC for i in b.infolist()
        }


def test_an_installed_wheel_finds_its_files_and_writes_nothing_beside_them(
    built: Path, tmp_path: Path
) -> None:
    (wheel,) = built.glob("*.whl")
    site = tmp_path / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import dtvqa_plugin;"
        "from dtvqa_plugin.hosts.task_configs import task_configs_dir;"
        "from dtvqa_plugin import load_split;"
        "from dtvqa_plugin.hosts.lmms_eval import task_values;"
        "table = task_values.table('mini', 'all');"
        "print(dtvqa_plugin.__file__, task_configs_dir('lmms_eval'), len(load_split('mini')))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=tmp_path,
        env={"PATH": "", "DTVQA_HOME": str(tmp_path / "home"), "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=True,
    )
    package, folder, count = done.stdout.split()[-3:]
    assert Path(package).is_relative_to(site)
    assert Path(folder) == site / "dtvqa_plugin" / "task_configs" / "lmms_eval"
    assert int(count) >= 48
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


def test_the_base_install_stays_small() -> None:
    base = {
        requirement.name
        for requirement in map(Requirement, requires("dtvqa-plugin") or [])
        if requirement.marker is None
    }
    assert base == BASE


def test_the_top_level_is_what_a_newcomer_expects() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("needs a git checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL


def test_importing_the_package_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import dtvqa_plugin, dtvqa_plugin.cli;"
        "heavy = {'torch', 'datasets', 'lmms_eval', 'vlmeval', 'numpy', 'PIL', 'rapidfuzz'};"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed on Linux only")
def test_a_command_over_runs_starts_no_threads_for_small_matrices() -> None:
    """Threads of OpenBLAS cost CPU time while they wait. Other processes see no changed setting."""
    code = (
        "import os; from dtvqa_plugin.cli import cli; cli.get_command(None, 'score'); "
        "print(len(os.listdir('/proc/self/task')), os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    unset = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["1", "None"]
