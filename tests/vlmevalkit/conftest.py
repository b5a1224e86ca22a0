"""Fixtures for the tests that run VLMEvalKit, whichever distribution is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from released_layout import make_release


@pytest.fixture(scope="session")
def small_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in miniature; an unpacked release is a readable store."""
    return make_release(tmp_path_factory.mktemp("vlm-release") / "DT-VQA")


@pytest.fixture
def small_home(small_release: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small release as this test's ``DTVQA_HOME``."""
    monkeypatch.setenv("DTVQA_HOME", str(small_release))
    return small_release
