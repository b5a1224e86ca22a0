"""The ``dtvqa`` command in this process."""

from __future__ import annotations

import pytest

from dtvqa_plugin.cli import main


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run ``dtvqa``; what it prints."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return said.out
