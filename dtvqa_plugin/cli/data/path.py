"""``dtvqa data path``."""

from __future__ import annotations

import click

from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.output import say_json
from dtvqa_plugin.data.store import Store


@click.command()
@options.as_json
def path(as_json: bool) -> None:
    """Print where the store is."""
    store = Store()
    store.check_home()
    if as_json:
        values = {"home": str(store.home), "images": str(store.image_root)}
        say_json({**values, "exists": store.home.is_dir()})
    else:
        click.echo(store.home)  # as it is: a shell's $(dtvqa data path) takes it
