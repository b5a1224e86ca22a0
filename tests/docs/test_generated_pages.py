"""Generated documentation equals what its generator writes now."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import cli_reference
import rooms


def test_the_command_line_reference_is_current() -> None:
    """In a process of its own: click keeps the help option of a command that ran before."""
    code = "import cli_reference, sys; sys.stdout.buffer.write(cli_reference.render().encode())"
    tools = Path(cli_reference.__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=tools, capture_output=True, check=True)
    written = cli_reference.PAGE.read_text("utf-8")
    assert written == done.stdout.decode("utf-8"), "run: python tools/cli_reference.py"


def test_the_architecture_page_lists_the_rooms_and_their_contracts() -> None:
    written = rooms.PAGE.read_text("utf-8")
    assert written == rooms.render(written), "run: python tools/rooms.py"


def test_every_room_names_its_contract() -> None:
    """A room without names of its own lists its modules, all of them."""
    for init in rooms.PACKAGE.rglob("__init__.py"):
        source = init.read_text("utf-8")
        assert re.search("^__all__\\b", source, re.MULTILINE), f"{init}: no __all__"
        names = rooms.contract(ast.parse(source))
        folder = init.parent
        modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        modules |= {path.parent.name for path in folder.glob("*/__init__.py")}
        if names and set(names) <= modules:
            assert modules == set(names), f"{init}: __all__ is not the list of its modules"
