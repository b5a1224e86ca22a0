"""Generated documentation equals what its generator writes now."""

from __future__ import annotations

import cli_reference
import rooms


def test_the_command_line_reference_is_current() -> None:
    written = cli_reference.PAGE.read_text("utf-8")
    assert written == cli_reference.render(), "run: python tools/cli_reference.py"


def test_the_architecture_page_lists_the_rooms_and_their_contracts() -> None:
    written = rooms.PAGE.read_text("utf-8")
    assert written == rooms.render(written), "run: python tools/rooms.py"
