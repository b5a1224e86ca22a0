"""``dtvqa tasks-path``: the hosts' task files, printed and copied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dtvqa_plugin.cli.tasks import tasks_path
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.task_configs import task_configs_dir


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [([], "lmms_eval"), (["--host", "vlmevalkit"], "vlmevalkit")],
)
def test_the_folder_is_printed(arguments: list[str], folder: str) -> None:
    result = CliRunner().invoke(tasks_path, arguments, catch_exceptions=False)
    assert result.output == f"{task_configs_dir(folder)}\n"


def test_the_files_are_copied_and_never_replaced(tmp_path: Path) -> None:
    arguments = ["--host", "vlmevalkit", "--copy-to", str(tmp_path / "new")]
    result = CliRunner().invoke(tasks_path, arguments, catch_exceptions=False)
    copied = [Path(line) for line in result.output.splitlines()]
    assert {path.name for path in copied} == {
        path.name for path in task_configs_dir("vlmevalkit").iterdir()
    }
    assert all("data" in json.loads(path.read_text(encoding="utf-8")) for path in copied)
    copied[0].write_text("edited", encoding="utf-8")
    copied[1].unlink()
    with pytest.raises(DTVQAError, match=copied[0].name):
        CliRunner().invoke(tasks_path, arguments, catch_exceptions=False)
    assert copied[0].read_text(encoding="utf-8") == "edited"
    assert not copied[1].exists()
