"""The commands of ``dtvqa data``, one file a command."""

from __future__ import annotations

import click

from dtvqa_plugin.cli.data.export import export
from dtvqa_plugin.cli.data.fetch import fetch
from dtvqa_plugin.cli.data.import_data import import_data
from dtvqa_plugin.cli.data.path import path
from dtvqa_plugin.cli.data.recognise import recognise
from dtvqa_plugin.cli.data.status import status
from dtvqa_plugin.cli.data.to_parquet import to_parquet
from dtvqa_plugin.cli.data.verify import verify
from dtvqa_plugin.cli.finetune import leakage

__all__ = ["data"]


@click.group()
def data() -> None:
    """Download and inspect the released data (the store: DTVQA_HOME)."""


for command in (export, fetch, import_data, leakage, path, recognise, status, to_parquet, verify):
    data.add_command(command)
