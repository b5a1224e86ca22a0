"""``dtvqa annotate``: make a dense-text question set from your images (see docs/annotate.md)."""

from __future__ import annotations

import importlib.util
import logging

import click

from dtvqa_plugin.cli.annotate.deciding import export, merge, review, status
from dtvqa_plugin.cli.annotate.stages import check, expand, extract, init, recognise, run
from dtvqa_plugin.errors import DTVQAError

__all__ = ["annotate"]


@click.group()
def annotate() -> None:
    """Make a question set from your images, as DT-VQA was made.

    init, run, extract, check, expand, review, export: each stage can be interrupted and repeated.
    """
    for name in ("yaml", "pydantic", "openai"):
        if importlib.util.find_spec(name) is None:
            raise DTVQAError(
                f'dtvqa annotate needs {name}, not installed: pip install "dtvqa-plugin[annotate]"'
            )
    if not logging.getLogger().handlers:
        logging.basicConfig(format="%(message)s", level=logging.WARNING)


for command in (init, recognise, run, extract, check, expand, review, merge, export, status):
    annotate.add_command(command)
