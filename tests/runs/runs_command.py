"""The ``dtvqa`` command in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dtvqa_plugin.cli import main


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run ``dtvqa``; what it prints."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    return said.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Run ``dtvqa``, which must end with exit status 1; the lines that it says."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    assert ended.value.code == 1, said.out
    assert not said.out
    return said.err.splitlines()


def table_of(capsys: pytest.CaptureFixture[str], *paths: Path) -> dict[str, Any]:
    """The one table of ``dtvqa score`` over some paths."""
    said = dtvqa(capsys, "score", *map(str, paths), "--format", "json", "--resamples", "100")
    (table,) = json.loads(said)["tables"]
    found: dict[str, Any] = table
    return found


def figures_of(capsys: pytest.CaptureFixture[str], *paths: Path) -> list[dict[str, Any]]:
    """The figures and remarks of each run; the same for two files of the same content."""
    table = table_of(capsys, *paths)
    kept = ("parts", "failed", "missing", "partial")
    rows = [{key: row[key] for key in kept} for row in table["rows"]]
    return [{**row, "remarks": len(table["remarks"])} for row in rows]
