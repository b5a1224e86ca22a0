"""A small release on a loopback hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fetch_helpers import Start
from loopback_hub import LoopbackHub
from remote_releases import make_remote


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Test, val and train annotations and ``image.zip``; not to be changed."""
    return make_remote(tmp_path_factory.mktemp("release"))


@pytest.fixture
def start() -> Iterator[Start]:
    """``start(folder, **options)`` serves a folder until the test ends."""
    running: list[LoopbackHub] = []

    def begin(folder: Path, **options: Any) -> LoopbackHub:
        hub = LoopbackHub(folder, **{"redirect_over": 20_000, **options})
        running.append(hub.__enter__())
        return hub

    yield begin
    for hub in running:
        hub.__exit__(None, None, None)


@pytest.fixture
def hub(release: Path, start: Start) -> LoopbackHub:
    return start(release)
