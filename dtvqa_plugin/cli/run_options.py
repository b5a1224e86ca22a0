"""Options that the commands over runs share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from dtvqa_plugin.analysis.bootstrap import LEVEL, RESAMPLES, SEED
from dtvqa_plugin.cli.options import Share
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.predictions.shapes import Columns
from dtvqa_plugin.runs.naming import distinct_names
from dtvqa_plugin.runs.reading import read_run, read_runs
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.runs.run import Run

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Source:
    """How the runs of a command are read: against which answers, from which columns."""

    data: Path | None
    references: References
    tau: float
    columns: Columns

    def run(self, path: Path) -> Run:
        """The one run at a path."""
        return read_run(path, self.references, tau=self.tau, columns=self.columns)

    def runs(self, paths: Iterable[Path]) -> list[Run]:
        """All runs at some paths, with distinct names."""
        held: list[Run] = []
        for path in paths:
            held += read_runs(path, self.references, tau=self.tau, columns=self.columns)
        return distinct_names(held)


def source_options(command: Callable[..., Any]) -> Any:
    """``--data``, ``--tau``, ``--id-column``, ``--prediction-column``, as one `Source`."""

    @functools.wraps(command)
    def with_source(
        *args: Any,
        data: Path | None,
        tau: float,
        id_column: str | None,
        prediction_column: str | None,
        **options: Any,
    ) -> Any:
        source = Source(data, References(data), tau, Columns(id_column, prediction_column))
        return command(*args, source=source, **options)

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
    ids = click.option(
        "--id-column",
        metavar="NAME",
        help="Column or key of the question's id in the files (a.b for a nested one).",
    )
    outputs = click.option(
        "--prediction-column",
        metavar="NAME",
        help="Column or key of the model's output in the files (a.b for a nested one).",
    )
    return data(tau(ids(outputs(with_source))))


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
