"""The names VLMEvalKit learns. No host needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.task_configs import task_configs_dir
from dtvqa_plugin.hosts.vlmevalkit.names import DATASETS, get_entry, looks_like_ours

CONFIGS = task_configs_dir("vlmevalkit")


def test_every_part_has_a_plain_and_a_prompted_name() -> None:
    parts = ["DTVQA", *(f"DTVQA_{subset}" for subset in SUBSETS), "DTVQA_MINI", "DTVQA_CUSTOM"]
    wanted = {name + ending for name in parts for ending in ("", "_PROMPTED")}
    conditions = {
        f"{name}_{ending}"
        for name in ("DTVQA", "DTVQA_MINI")
        for ending in ("PX448", "PX896", "PX1344", "PX2048", "TEXT", "IMAGE_TEXT")
    }
    assert set(DATASETS) == wanted | conditions | {"DTVQA_NATIVE"}


@pytest.mark.parametrize("name", list(DATASETS))
def test_name_says_what_is_asked(name: str) -> None:
    entry = DATASETS[name]
    own = {"MINI": "mini", "CUSTOM": "custom"}
    assert entry.split == next((split for part, split in own.items() if part in name), "test")
    assert entry.subset == next((subset for subset in SUBSETS if subset in name), None)
    prompts = {"NATIVE": "native", "PROMPTED": "paper", "TEXT": "given_text"}
    assert entry.prompt == next(
        (prompt for part, prompt in prompts.items() if part in name), "none"
    )


@pytest.mark.parametrize(
    ("name", "likely"),
    [
        ("DTVQA_Scene", "DTVQA_DTScene"),
        ("dtvqa", "DTVQA"),
        ("DT-VQA", "DTVQA"),
        ("DTVQA_PROMPT", "DTVQA_PROMPTED"),
        ("DTVQA_DTTabshot", "DTVQA_DTTabShot"),
        ("DTVQ", "DTVQA"),
        ("DTQA_MINI", "DTVQA_MINI"),
    ],
)
def test_misspelt_name_is_one_error_with_the_likely_names(name: str, likely: str) -> None:
    with pytest.raises(HostError, match=rf"no dataset '{name}'.*did you mean .*\b{likely}\b"):
        get_entry(name)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("DTVQA", True),
        ("dt-vqa_scene", True),
        ("DT_VQA", True),
        ("DTVQ", True),
        ("DVTQA_MINI", True),
        ("DocVQA_VAL", False),
        ("MTVQA_TEST", False),
        ("", False),
    ],
)
def test_only_names_meant_for_us_are_checked(name: str, ours: bool) -> None:
    assert looks_like_ours(name) is ours


def test_no_dataset_of_the_host_is_taken_for_ours() -> None:
    host = pytest.importorskip("vlmeval.dataset")
    named = [name for name in host.SUPPORTED_DATASETS if looks_like_ours(name)]
    assert set(named) <= set(DATASETS)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.name)
def test_shipped_config_names_each_dataset_as_the_host_needs_it(path: Path) -> None:
    config = json.loads(path.read_text(encoding="utf-8"))
    assert config["model"]
    for key, value in config["data"].items():
        assert value == {"class": DATASETS[key].class_name, "dataset": key}


def test_configs_are_shipped() -> None:
    assert {path.name for path in CONFIGS.glob("*.json")} == {
        "dtvqa.json",
        "dtvqa_subsets.json",
        "dtvqa_mini.json",
        "dtvqa_native.json",
        "dtvqa_conditions.json",
    }
