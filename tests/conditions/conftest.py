"""A store with the recognised text of the sample's pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from condition_text import ENGINE, texts

from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.ocr.recognised import image_key, recognised_folder, write_text


@pytest.fixture
def recognised(dtvqa_home: Path) -> Path:
    """``DTVQA_HOME`` of this test, with what RapidOCR reads on the sample's pictures."""
    store = get_split("mini").store(None)
    for name, text in texts().items():
        key = image_key(store.image_path(name))
        write_text(recognised_folder(dtvqa_home) / ENGINE / f"{key}.json", text)
    return dtvqa_home
