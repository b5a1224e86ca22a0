"""Generated documentation equals what its generator writes now."""

from __future__ import annotations

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
