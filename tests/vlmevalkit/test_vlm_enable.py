"""The block in the host's file: found and removed again after any change of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.vlmevalkit import enable as block
from dtvqa_plugin.hosts.vlmevalkit.host import Host

PLAIN = b"DATASET_CLASSES = []\nx = 1\n"
BEGIN = PLAIN + b"\n# >>> dtvqa-plugin: added by 'dtvqa vlmeval-enable', removed by ...\nown = 1\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    host = Host(tmp_path, "checkout", "unknown")
    host.dataset_module.parent.mkdir()
    monkeypatch.setattr(block, "need_host", lambda: host)
    return host.dataset_module


def unchanged(content: bytes) -> bytes:
    return content


def as_windows(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def without_last_line_end(content: bytes) -> bytes:
    return content.rstrip(b"\n") if b"dtvqa" in content else content


@pytest.mark.parametrize(
    "original", [PLAIN, PLAIN[:-1], as_windows(PLAIN), b"\xef\xbb\xbf" + PLAIN]
)
@pytest.mark.parametrize(
    "edit",
    [
        unchanged,
        as_windows,
        without_last_line_end,
        lambda content: content + b"y = 2\n",
        lambda content: b"# first\n" + content,
    ],
    ids=["unchanged", "windows", "last-line-end", "appended", "prepended"],
)
def test_disable_leaves_the_file_as_others_left_it(
    module: Path, original: bytes, edit: Callable[[bytes], bytes]
) -> None:
    module.write_bytes(original)
    assert block.enable().diff
    module.write_bytes(edit(module.read_bytes()))
    enabled = module.read_bytes()
    assert block.enable().diff == ""
    assert module.read_bytes() == enabled
    change = block.disable()
    assert module.read_bytes() == edit(original)
    assert change.restored is (edit(original) == original)
    assert block.disable().diff == ""


def test_a_block_whose_end_is_gone_takes_nothing_else_with_it(module: Path) -> None:
    module.write_bytes(BEGIN)
    block.enable()
    assert block.disable().restored
    assert module.read_bytes() == BEGIN


def test_a_file_of_another_form_is_left_alone(module: Path) -> None:
    module.write_bytes(b"x = 1\n")
    with pytest.raises(HostError, match="too old"):
        block.enable()
    assert module.read_bytes() == b"x = 1\n"
