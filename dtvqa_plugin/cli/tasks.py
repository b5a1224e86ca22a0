"""``dtvqa tasks-path``: the folder for ``lmms-eval --include_path``."""

from __future__ import annotations

import click

from dtvqa_plugin.hosts.task_configs import task_configs_dir


@click.command("tasks-path")
def tasks_path() -> None:
    """Print the lmms-eval task folder, for ``--include_path "$(dtvqa tasks-path)"``."""
    click.echo(task_configs_dir("lmms_eval"))
