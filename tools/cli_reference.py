"""Write ``docs/reference/cli.md`` from the commands themselves.

Run from the repository root: ``python tools/cli_reference.py``. A test fails where the page and the
commands differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from dtvqa_plugin.cli import cli

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"
WIDTH = 96

HEAD = """\
# Command line

`tools/cli_reference.py` generates this page from the commands' own help texts.
"""


def pages(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[str]:
    """One section for a command, then one for each of its subcommands."""
    done = CliRunner().invoke(cli, [*words, "--help"], prog_name="dtvqa", terminal_width=WIDTH)
    title = " ".join(("dtvqa", *words))
    yield f"## {title}\n\n```text\n{done.stdout.rstrip()}\n```\n"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from pages(found, (*words, name))


def render() -> str:
    """Return the whole page."""
    return "\n".join((HEAD, *pages(cli)))


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
