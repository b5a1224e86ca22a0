"""``dtvqa data import``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from dtvqa_plugin.benchmark.records import Problem
from dtvqa_plugin.cli.data import options
from dtvqa_plugin.cli.data.report import echo_report
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data.archives import is_tar
from dtvqa_plugin.data.splits import CUSTOM_VARIABLE, INFO_FILE, CustomSet
from dtvqa_plugin.data.transfer.import_archive import import_archive
from dtvqa_plugin.data.transfer.import_custom import import_custom
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.utils.progress import progress_bar

_SHOWN = 5
"""Unusable records that are printed."""


@click.command("import")
@click.pass_context
@click.argument("path", type=click.Path(path_type=Path))
@options.split("import")
@options.subset
@options.strict
@options.skip_bad
@click.option("--revision", help="Revision of the release, for the manifest.")
@options.as_json
def import_data(
    context: click.Context,
    path: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    strict: bool,
    skip_bad: bool,
    revision: str | None,
    as_json: bool,
) -> None:
    """Copy a release into the store.

    PATH is a folder in the published layout (test/, train/, image/ or image.zip), such a zip
    with the annotations beside it or in the store already, or an archive that 'dtvqa data export'
    wrote (taken whole unless --split is given), or a custom set that 'dtvqa annotate export'
    wrote. Safe to interrupt and to repeat.
    """
    given = context.get_parameter_source("splits") is not ParameterSource.DEFAULT
    with progress_bar() as progress:
        if (path / INFO_FILE).is_file():
            _echo_custom(*import_custom(path, strict=strict), as_json)
            return
        if is_tar(path):
            report = import_archive(
                path,
                splits if given else None,
                subsets or None,
                strict=strict,
                skip_bad=skip_bad,
                progress=progress,
            )
        else:
            report = import_release(
                path,
                splits,
                subsets or None,
                strict=strict,
                skip_bad=skip_bad,
                revision=revision,
                progress=progress,
            )
    echo_report(report, as_json)
    if not report.complete:
        sys.exit(1)


def _echo_custom(custom: CustomSet, problems: tuple[Problem, ...], as_json: bool) -> None:
    """Print what set of the user's own was imported, and how to evaluate it."""
    if as_json:
        values = {**custom.signature(), "folder": str(custom.folder), "subsets": custom.subsets}
        values["problems"] = [str(problem) for problem in problems]
        say_json(values)
        return
    say(f"imported {custom.title}: {', '.join(custom.subsets)}")
    for problem in problems[:_SHOWN]:
        say(f"left out: {problem}")
    if len(problems) > _SHOWN:
        say(f"and {len(problems) - _SHOWN} more: 'dtvqa data status --problems' lists them")
    say(f"evaluate it: {CUSTOM_VARIABLE}={custom.name} lmms-eval --tasks dtvqa_custom ...")
