"""The entry point: tasks become known without a flag, and nothing of ours can break the host."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

import lmms_eval.models
from lmms_eval.tasks import TaskManager

from dtvqa_plugin.hosts.lmms_eval import plugin
from dtvqa_plugin.hosts.task_configs import task_configs_dir

GROUPS = (
    *("dtvqa", "dtvqa_prompted", "dtvqa_blind", "dtvqa_val"),
    *("dtvqa_px448", "dtvqa_px896", "dtvqa_px1344", "dtvqa_px2048", "dtvqa_resolution"),
    *("dtvqa_text", "dtvqa_image_text", "dtvqa_mini_resolution"),
)
HOST_TASK = "mme"


def test_the_entry_point_makes_every_task_and_the_model_known() -> None:
    manager = TaskManager()
    names = {path.stem for path in task_configs_dir("lmms_eval").rglob("*.yaml")}
    assert names <= set(manager.all_tasks)
    assert set(GROUPS) <= set(manager.all_groups)
    assert HOST_TASK in manager.all_tasks
    assert "dtvqa_ocr" in lmms_eval.models.list_available_models()


def test_installing_the_hook_again_changes_nothing() -> None:
    before = TaskManager.initialize_tasks
    plugin.install_task_hook()
    plugin.manifests()
    assert TaskManager.initialize_tasks is before
    assert plugin.hook_is_active()


def test_include_path_by_hand_works_without_the_hook_and_twice_with_it() -> None:
    folder = str(task_configs_dir("lmms_eval"))
    unhooked = TaskManager.initialize_tasks.__wrapped__
    manager = TaskManager(include_path=folder, include_defaults=False)
    assert "dtvqa" in unhooked(manager, include_path=folder, include_defaults=False)
    assert "dtvqa" in manager.all_groups


def test_a_users_task_of_the_same_name_wins_and_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine.yaml").write_text("task: dtvqa_scene\noutput_type: generate_until\n")
    with caplog.at_level(logging.WARNING, "dtvqa_plugin"):
        manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    assert manager.task_index["dtvqa_scene"]["yaml_path"] == str(tmp_path / "mine.yaml")
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "'dtvqa_scene'" in warning
    assert str(tmp_path) in warning


@pytest.mark.parametrize("fault", [OSError("no such folder"), RuntimeError("host has changed")])
def test_when_our_tasks_cannot_be_added_the_host_continues_with_one_warning(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(host: str) -> Path:
        raise fault

    monkeypatch.setattr("dtvqa_plugin.hosts.task_configs.task_configs_dir", broken)
    with caplog.at_level(logging.WARNING, "dtvqa_plugin"):
        manager = TaskManager()
    assert HOST_TASK in manager.all_tasks
    assert "dtvqa" not in manager.all_tasks
    (warning,) = [record.getMessage() for record in caplog.records]
    assert '--include_path "$(dtvqa tasks-path)"' in warning
    assert str(fault) in warning


def test_when_the_host_lacks_its_parts_the_entry_point_warns_and_returns(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "lmms_eval.tasks", None)
    monkeypatch.setitem(sys.modules, "lmms_eval.models.registry_v2", None)
    with caplog.at_level(logging.WARNING, "dtvqa_plugin"):
        assert plugin.manifests() == []
    assert len(caplog.records) == 2
    assert all("--include_path" in record.getMessage() for record in caplog.records)


def test_importing_the_package_or_the_entry_point_imports_no_host_and_no_torch() -> None:
    code = (
        "import sys, dtvqa_plugin, dtvqa_plugin.hosts.lmms_eval.plugin, dtvqa_plugin.cli;"
        "print([m for m in ('torch', 'lmms_eval', 'vlmeval', 'datasets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
