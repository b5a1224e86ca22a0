"""Bad input: one clear error each, before a model is loaded."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vlmeval")

from vlm_host import command

from dtvqa_plugin.hosts.vlmevalkit.host import need_host

DTVQA = (str(Path(sys.executable).with_name("dtvqa")),)
MODEL = ["--model", "GPT4o"]


def entry(key: str, **settings: str) -> dict[str, Any]:
    return {"model": {"m": {"class": "GPT4V"}}, "data": {key: settings}}


@pytest.mark.parametrize(
    ("arguments", "config", "said"),
    [
        (["--data", "DTVQA_Scene", *MODEL], None, "no dataset 'DTVQA_Scene'.*DTVQA_DTScene"),
        (["--data", "MMBench", "dtvqa", *MODEL], None, "no dataset 'dtvqa'.*mean DTVQA"),
        (["--data", "DTVQA", *MODEL, "--run-py", "absent.py"], None, "absent.py: no such file"),
        (["--config", "absent.json"], None, "absent.json: cannot be read"),
        (["--config", "config.json"], "{", "config.json: not valid JSON"),
        (["--config", "config.json"], [], 'no record "data"'),
        (
            ["--config", "config.json"],
            entry("mine", **{"class": "DTVQADataset", "dataset": "DTVQA"}),
            "entry 'mine'.*key to be the dataset's name",
        ),
        (
            ["--config", "config.json"],
            entry("DTVQA_NATIVE", **{"class": "DTVQADataset", "dataset": "DTVQA_NATIVE"}),
            "DTVQANativeDataset",
        ),
        (
            ["--config", "config.json"],
            entry("DTVQA", **{"class": "ImageVQADataset", "dataset": "DTVQA"}),
            '"class": "DTVQADataset"',
        ),
        (
            ["--config", "config.json"],
            entry("DTVQA_X", **{"class": "DTVQADataset"}),
            "no dataset 'DTVQA_X'",
        ),
    ],
)
def test_arguments(
    arguments: list[str], config: Any, said: str, small_release: Path, tmp_path: Path
) -> None:
    if config is not None:
        text = config if isinstance(config, str) else json.dumps(config)
        (tmp_path / "config.json").write_text(text, encoding="utf-8")
    run = command(["vlmeval", *arguments], tmp_path, small_release, start=DTVQA)
    check_one_error(run.status, run.output, said)


def check_one_error(status: int, output: str, said: str) -> None:
    assert status == 1, output
    assert output.startswith("dtvqa: error: ")
    assert len(output.strip().splitlines()) == 1, output
    assert re.search(said, output), output


def test_missing_data(tmp_path: Path) -> None:
    arguments = ["vlmeval", "--data", "DTVQA_DTScene", *MODEL]
    run = command(arguments, tmp_path, tmp_path / "empty", start=DTVQA)
    check_one_error(run.status, run.output, "annotations are missing.*run 'dtvqa data")


@pytest.mark.parametrize("name", ["vlmeval", "vlmutil", "vlmeval-enable", "vlmeval-disable"])
def test_host_missing(name: str, small_release: Path, tmp_path: Path) -> None:
    arguments = [name, "--data", "DTVQA"] if name == "vlmeval" else [name]
    arguments += ["dlist", "all"] if name == "vlmutil" else []
    without = "import sys; sys.modules['vlmeval'] = None; from dtvqa_plugin.cli import main; main()"
    run = command(arguments, tmp_path, small_release, start=[sys.executable, "-c", without])
    check_one_error(run.status, run.output, r"VLMEvalKit is not installed .*pip install")


@pytest.mark.parametrize(
    ("module", "cure"),
    [("absent_score_package", "pip install absent-score-package"), ("filelock._api_gone", "<3.25")],
)
def test_host_that_cannot_be_imported(module: str, cure: str, tmp_path: Path) -> None:
    """A checkout does not list all that it needs."""
    dataset = tmp_path / "vlmeval" / "dataset" / "__init__.py"
    dataset.parent.mkdir(parents=True)
    (tmp_path / "vlmeval" / "__init__.py").touch()
    dataset.write_text(f"import {module}", encoding="utf-8")
    (tmp_path / "run.py").write_text("import vlmeval", encoding="utf-8")
    arguments = ["vlmeval", "--data", "DTVQA_MINI", *MODEL]
    run = command(arguments, tmp_path, tmp_path, start=DTVQA, extra={"PYTHONPATH": str(tmp_path)})
    check_one_error(run.status, run.output, f"cannot be imported .*{re.escape(cure)}")


UNPRIVILEGED = """
import os, sys
from dtvqa_plugin.cli import main
from dtvqa_plugin.cli import vlmeval
from dtvqa_plugin.hosts.vlmevalkit import enable
enable.need_host()
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
main(["vlmeval-enable"])
"""
"""Imports first: an ordinary user need not be able to read root's Python."""


def test_unwritable_host(small_release: Path) -> None:
    """As a user other than the owner of the host's files."""
    original = need_host().dataset_module.read_bytes()
    with tempfile.TemporaryDirectory() as name:
        package = Path(name) / "vlmeval"
        module = package / "dataset" / "__init__.py"
        module.parent.mkdir(parents=True)
        (package / "__init__.py").touch()
        module.write_bytes(original)
        module.chmod(0o444)
        for folder in (module.parent, package, Path(name)):
            folder.chmod(0o555)
        start = [sys.executable, "-c", UNPRIVILEGED]
        run = command([], small_release, small_release, start=start, extra={"PYTHONPATH": name})
        left = (module.read_bytes(), [path.name for path in module.parent.iterdir()])
        for folder in (Path(name), package, module.parent):
            folder.chmod(0o755)
    check_one_error(run.status, run.output, "cannot be written .Permission denied.*nothing was")
    assert left == (original, ["__init__.py"])


@pytest.mark.parametrize("name", ["vlmeval", "vlmutil"])
def test_help_names_the_examples(name: str, small_release: Path, tmp_path: Path) -> None:
    run = command([name, "--help"], tmp_path, small_release, start=DTVQA)
    assert run.status == 0
    assert f"dtvqa {name} " in run.output
