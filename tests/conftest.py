"""Fixtures shared by all tests: the released material beside the repository, and a store's home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


QUICK_LEAVES_OUT = {
    *("lmms_eval", "vlmevalkit", "hosts", "conditions"),
    *("ocr", "page", "consumers"),
    *("annotate", "fetch"),
}
"""Test folders that need a host, an OCR engine or a browser, or that start many processes."""
QUICK_LEAVES_OUT_FIXTURES = {"tiny_qwen2_5_vl", "tiny_llava", "browser"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="leave out what needs a host, OCR or a browser"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    quick = config.getoption("--quick")
    return True if quick and collection_path.name in QUICK_LEAVES_OUT else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    heavy = {
        item
        for item in items
        if item.get_closest_marker("slow")
        or QUICK_LEAVES_OUT_FIXTURES & set(getattr(item, "fixturenames", ()))
    }
    config.hook.pytest_deselected(items=list(heavy))
    items[:] = [item for item in items if item not in heavy]


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """``../shared`` beside the repository: released annotations, some images, golden scores."""
    if not (SHARED / "hub" / "DT-VQA" / "test").is_dir():
        pytest.skip("needs the released material in ../shared beside the repository")
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def session_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test reads or writes the user's own store, or fetches from the network unasked.

    ``DTVQA_HOME`` and the user's cache are folders of this session, ``DTVQA_AUTO_FETCH`` is off.
    """
    home = tmp_path_factory.mktemp("dtvqa-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DTVQA_HOME", str(home))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("user-cache")))
        patch.setenv("DTVQA_AUTO_FETCH", "0")
        # COLUMNS: pytest-xdist sets it in its workers, and tables are laid out by it.
        for name in ("DTVQA_ALLOW_PARTIAL", "DTVQA_LOCK_TIMEOUT", "COLUMNS"):
            patch.delenv(name, raising=False)
        yield home


@pytest.fixture
def dtvqa_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty ``DTVQA_HOME`` for this test alone (the folder is not made)."""
    home = tmp_path / "dtvqa-home"
    monkeypatch.setenv("DTVQA_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def tiny_qwen2_5_vl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL of random weights, small enough for a host to run on a CPU."""
    pytest.importorskip("transformers")
    from tiny_vlm import make_tiny_qwen2_5_vl

    return make_tiny_qwen2_5_vl(tmp_path_factory.mktemp("models") / "tiny-qwen2.5-vl")


@pytest.fixture(scope="session")
def tiny_llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LLaVA of random weights, small enough for a host to run on a CPU."""
    pytest.importorskip("transformers")
    from tiny_vlm import make_tiny_llava

    return make_tiny_llava(tmp_path_factory.mktemp("models") / "tiny-llava")
