"""Names from annotation files and archives never lead out of the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dtvqa_plugin.benchmark.image_paths import EscapingPathError, UnsafePathError, image_key
from dtvqa_plugin.data import Store
from dtvqa_plugin.errors import DataError


@pytest.mark.parametrize(
    "path",
    [
        "DTScene/test/a.jpg",
        "image/DTScene/test/a.jpg",
        "./image/DTScene/test/a.jpg",
        "DT-VQA/image/DTScene/test/a.jpg",
        "image\\DTScene\\test\\a.jpg",
        ".//x/./DTScene//test/./a.jpg",
    ],
)
def test_any_prefix_is_accepted(path: str) -> None:
    assert image_key(path) == "DTScene/test/a.jpg"


@pytest.mark.parametrize(
    "path",
    [
        "../DTScene/test/a.jpg",
        "image/DTScene/test/../a.jpg",
        "image/DTScene/test/..",
        "a\\..\\..\\DTScene\\test\\a.jpg",
        "/image/DTScene/test/a.jpg",
        "\\image\\DTScene\\test\\a.jpg",
        "\\\\host\\DTScene\\test\\a.jpg",
        "C:/DTScene/test/a.jpg",
        "c:DTScene/test/a.jpg",
        "image/DTScene/test/a.jpg\0.txt",
    ],
)
def test_paths_that_lead_out_are_refused(path: str) -> None:
    with pytest.raises(EscapingPathError):
        image_key(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "a.jpg",
        "test/a.jpg",
        "DTScene/test/",
        "x/DTScene/test/.",
        "DTScene/test/...",
        "DTScene/ /a.jpg",
        "DTScene/test/a:b.jpg",
        "DTScene/test/a\n.jpg",
        "DTScene/test/\ud800.jpg",
        "DTScene/test/" + "é" * 128,
    ],
)
def test_paths_that_name_no_image_are_refused(path: str) -> None:
    with pytest.raises(UnsafePathError):
        image_key(path)


PARTS = st.sampled_from(
    [
        "..",
        ".",
        "...",
        "",
        "/",
        "\\",
        "C:",
        "image",
        "DTScene",
        "test",
        "a.jpg",
        "\0",
        "~",
        " ",
        "\u202e",
    ]
)


@given(st.text() | st.lists(PARTS | st.text(max_size=5), max_size=8).map("/".join))
@example("image/DTScene/test/..\\..\\..\\..\\etc")
def test_no_text_leads_out_of_the_store(text: str) -> None:
    root = Path("/somewhere/store")
    try:
        key = image_key(text)
    except UnsafePathError:
        with pytest.raises(DataError):
            Store(root).image_path(text)
        return
    path = Store(root).image_path(text)
    assert path == root / "image" / key
    assert path.resolve() == path
    assert len(key.split("/")) == 3
    assert image_key(key) == image_key(f"some/prefix/{key}") == key
