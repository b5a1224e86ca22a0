"""Options that the commands over runs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dtvqa_plugin.analysis.bootstrap import LEVEL, RESAMPLES, SEED
from dtvqa_plugin.cli.options import Share
from dtvqa_plugin.metrics import DEFAULT_TAU

Command = TypeVar("Command", bound=Callable[..., Any])


def reference_options(command: Command) -> Command:
    """``--data`` and ``--tau``: what the predictions are scored against."""
    data = click.option(
        "--data",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="Data store or folder in the published layout (default: your store).",
    )
    tau = click.option(
        "--tau",
        type=Share(0, 1, min_open=True),
        default=DEFAULT_TAU,
        show_default=True,
        help="ANLS threshold.",
    )
    return data(tau(command))


def resampling_options(command: Command) -> Command:
    """``--resamples`` and ``--seed`` of the bootstrap."""
    resamples = click.option(
        "--resamples",
        type=click.IntRange(100),
        default=RESAMPLES,
        show_default=True,
        help="Number of bootstrap resamples.",
    )
    seed = click.option(
        "--seed",
        type=click.IntRange(0),
        default=SEED,
        show_default=True,
        help="Seed of the resampling; the same seed gives the same intervals.",
    )
    return resamples(seed(command))


def level_option(command: Command) -> Command:
    """``--level``: the confidence level of the intervals (0-1)."""
    level = click.option(
        "--level",
        type=Share(0, 1, True, True),
        default=LEVEL,
        show_default=True,
        help="Confidence level of the intervals.",
    )
    return level(command)
