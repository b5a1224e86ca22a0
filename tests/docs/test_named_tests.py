"""Every test that a documentation page names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = re.compile(r"tests/[\w./-]+\.py::\w+(?:::\w+)*")
PAGES = sorted([*ROOT.joinpath("docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
TEST_FILE = re.compile(r"tests/[\w/-]+\.py\b")


def defined(path: Path) -> set[str]:
    """Test functions of a file as pytest names them, ``Class::method`` for methods."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = (item for item in node.body if isinstance(item, ast.FunctionDef))
            names.update(f"{node.name}::{method.name}" for method in methods)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tests_and_test_files_named_on_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    absent = {name for name in TEST_FILE.findall(text) if not (ROOT / name).is_file()}
    assert not absent
    unresolved = []
    for reference in REFERENCE.findall(text):
        file, name = reference.split("::", 1)
        if name not in defined(ROOT / file):
            unresolved.append(reference)
    assert not unresolved


def test_the_trust_page_names_a_check_for_every_claim() -> None:
    rows = [
        line
        for line in (ROOT / "docs" / "trust.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| Claim |")
    ]
    assert len(rows) > 30
    without = [row for row in rows if "`" not in row.rstrip(" |").rsplit(" | ", 1)[-1]]
    assert not without
