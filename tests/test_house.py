"""The shape of the repository: file sizes, and a page that lists the rooms as they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINE_LIMIT = 450
NO_CODE = {".eval", ".yaml", ".json", ".jsonl", ".md", ".txt", ".png", ".jpg", ".gz", ".svg"}


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("needs a git checkout")
    return [line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_file_of_code_is_over_the_line_limit() -> None:
    long = {
        name: count
        for name in tracked()
        if Path(name).suffix not in NO_CODE
        and name != "LICENSE"
        and (count := len((ROOT / name).read_text("utf-8").splitlines())) > LINE_LIMIT
    }
    assert not long
