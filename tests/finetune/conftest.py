"""Fixtures of the fine-tuning tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from finetune_release import make_release, make_test_part


@pytest.fixture(scope="session")
def train_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in miniature with every file; no test writes to it."""
    return make_release(tmp_path_factory.mktemp("train-release") / "DT-VQA")


@pytest.fixture
def train_home(train_release: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That release as this test's ``DTVQA_HOME``."""
    monkeypatch.setenv("DTVQA_HOME", str(train_release))
    return train_release


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with the test part alone, for the test to add to."""
    home = tmp_path / "store"
    make_test_part(home)
    monkeypatch.setenv("DTVQA_HOME", str(home))
    return home
