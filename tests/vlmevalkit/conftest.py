"""Fixtures for the tests that run VLMEvalKit, whichever distribution is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import LoopbackOpenAI
from released_layout import make_release
from vlm_bench import Bench


@pytest.fixture(scope="session")
def small_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in miniature; an unpacked release is a readable store."""
    return make_release(tmp_path_factory.mktemp("vlm-release") / "DT-VQA")


@pytest.fixture
def small_home(small_release: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small release as this test's ``DTVQA_HOME``."""
    monkeypatch.setenv("DTVQA_HOME", str(small_release))
    return small_release


@pytest.fixture
def bench(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Bench]:
    monkeypatch.setenv("PRED_FORMAT", "tsv")
    monkeypatch.chdir(tmp_path)
    """A custom set of three questions and a server, for runs of the host in this process."""
    with LoopbackOpenAI(lambda request: made.answer(request)) as server:
        made = Bench(tmp_path, server, capfd, caplog, monkeypatch)
        yield made
