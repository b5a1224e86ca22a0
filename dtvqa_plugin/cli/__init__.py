"""The ``dtvqa`` command: each family of subcommands is a module, loaded when asked for."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from dtvqa_plugin._version import __version__
from dtvqa_plugin.cli.output import escape_what_streams_cannot_hold
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.utils.text import visible

__all__ = ["COMMANDS", "cli", "main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "annotate": ("dtvqa_plugin.cli.annotate:annotate", "Make a question set from your images."),
    "data": ("dtvqa_plugin.cli.data:data", "Download and inspect the released data."),
    "diagnose": (
        "dtvqa_plugin.cli.diagnose:diagnose",
        "Show why runs fail: outcomes, density.",
    ),
    "doctor": ("dtvqa_plugin.cli.doctor:doctor", "Check hosts, hook and data in one screen."),
    "score": ("dtvqa_plugin.cli.results:score", "Score runs: the paper's table and audits."),
    "compare": ("dtvqa_plugin.cli.results:compare", "Compare two runs, or the prompt conditions."),
    "export": ("dtvqa_plugin.cli.finetune:export", "Write training sets for trainers."),
    "gate": ("dtvqa_plugin.cli.gate:gate", "Decide whether a run is good enough, for CI."),
    "power": ("dtvqa_plugin.cli.results:power", "The smallest difference that can be detected."),
    "publish": (
        "dtvqa_plugin.cli.publish:publish",
        "Write rows a question, or results for others to read.",
    ),
    "rank": ("dtvqa_plugin.cli.rank:rank", "Rank runs, and which cannot be told apart."),
    "report": ("dtvqa_plugin.cli.report:report", "Show runs side by side in one HTML page."),
    "stats": ("dtvqa_plugin.cli.stats:stats", "Count words, lengths and image sizes of a split."),
    "tasks-path": (
        "dtvqa_plugin.cli.tasks:tasks_path",
        "Print the folder of the hosts' task files.",
    ),
    "vlmeval": ("dtvqa_plugin.cli.vlmeval:vlmeval", "Run VLMEvalKit with the DT-VQA datasets."),
    "vlmutil": (
        "dtvqa_plugin.cli.vlmeval:vlmutil",
        "Run VLMEvalKit's vlmutil with these datasets.",
    ),
    "evalscope": ("dtvqa_plugin.cli.vlmeval:evalscope", "Run EvalScope with these datasets."),
    "vlmeval-enable": (
        "dtvqa_plugin.cli.vlmeval:enable",
        "Make plain 'python run.py --data DTVQA' work.",
    ),
    "vlmeval-disable": ("dtvqa_plugin.cli.vlmeval:disable", "Undo vlmeval-enable."),
}


_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


@contextmanager
def _without_blas_threads() -> Iterator[None]:
    """Load numpy so that its OpenBLAS starts no threads, unless the environment sets their number.

    The matrices here are small: threads that wait for work cost more CPU time than they save.
    OpenBLAS reads the variable once. Processes that a command starts do not see it.
    """
    given = _BLAS_THREADS in os.environ
    os.environ.setdefault(_BLAS_THREADS, "1")
    try:
        yield
    finally:
        if not given:
            del os.environ[_BLAS_THREADS]


class LazyGroup(click.Group):
    """Import a command's module only when that command is asked for: start-up stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        with _without_blas_threads():
            command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dtvqa")
def cli() -> None:
    """DT-VQA: dense-text visual question answering for lmms-eval and VLMEvalKit."""


def main(argv: Sequence[str] | None = None, **extra: Any) -> None:
    """Run ``dtvqa``. An error that the user can fix is one message on stderr and exit status 1."""
    escape_what_streams_cannot_hold()
    try:
        cli.main(args=argv, prog_name="dtvqa", **extra)
    except DTVQAError as error:
        print(f"dtvqa: error: {visible(str(error))}", file=sys.stderr)
        sys.exit(1)
