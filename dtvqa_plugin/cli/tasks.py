"""``dtvqa tasks-path``: where the hosts' task files are, and a copy of them."""

from __future__ import annotations

from pathlib import Path

import click

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.task_configs import task_configs_dir
from dtvqa_plugin.utils.files import written

_FOLDERS = {"lmms-eval": "lmms_eval", "vlmevalkit": "vlmevalkit"}


@click.command("tasks-path")
@click.option(
    "--host",
    type=click.Choice(list(_FOLDERS)),
    default="lmms-eval",
    show_default=True,
    help="Whose files: lmms-eval's tasks, or examples of VLMEvalKit's --config.",
)
@click.option(
    "--copy-to",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Copy the files into this folder and print their new names; no file is replaced.",
)
def tasks_path(host: str, copy_to: Path | None) -> None:
    """Print the folder of task files, or copy them to edit.

    \b
    lmms-eval --include_path "$(dtvqa tasks-path)" ...
    dtvqa tasks-path --host vlmevalkit --copy-to .
    """
    folder = task_configs_dir(_FOLDERS[host])
    if copy_to is None:
        click.echo(folder)
        return
    for path in _copied(folder, copy_to):
        click.echo(path)


def _copied(folder: Path, target: Path) -> list[Path]:
    """Copy every file of ``folder``. Raises DTVQAError, before any is copied, if one is there."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    there = [name for name in names if (target / name).exists()]
    if there:
        raise DTVQAError(
            f"{target}: holds {', '.join(there)} already; name another folder, or move them away"
        )
    for name in names:
        with written(target / name, make_folder=True) as partial:
            partial.write_bytes((folder / name).read_bytes())
    return [target / name for name in names]
