"""Options that the commands over runs share."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dtvqa_plugin.analysis.bootstrap import LEVEL, RESAMPLES, SEED
from dtvqa_plugin.cli.options import Share, Whole
from dtvqa_plugin.cli.output import keep_inputs
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.data.splits.custom import CUSTOM_SPLIT
from dtvqa_plugin.data.splits.sample import SAMPLE_SPLIT
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.predictions.opening import bare_name
from dtvqa_plugin.predictions.shapes import Columns, Kind
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.files import by_products
from dtvqa_plugin.runs.joining import join_repeats, join_runs, shards_among, unjoined
from dtvqa_plugin.runs.naming import distinct_names
from dtvqa_plugin.runs.reading import read_run, read_runs
from dtvqa_plugin.runs.references import References
from dtvqa_plugin.runs.run import TEXT_KEPT, Run
from dtvqa_plugin.utils.text import counted, visible

if TYPE_CHECKING:
    from dtvqa_plugin.ocr.recognised import RecognisedTexts

Command = TypeVar("Command", bound=Callable[..., Any])

_FILES_NAMED = 3
_SPLITS_HERE = ("test", SAMPLE_SPLIT, CUSTOM_SPLIT)
"""Splits whose stores are different folders."""


@dataclass(frozen=True, slots=True)
class Source:
    """How the runs of a command are read: against which answers, from which columns.

    ``outputs`` are the files that the command writes; a file that is read must be none of them.
    ``inputs`` are the files and folders that it was given.
    """

    data: Path | None
    references: References
    tau: float
    columns: Columns
    join: bool = False
    repeats: bool = False
    text_kept: int = TEXT_KEPT
    outputs: tuple[Path, ...] = ()
    inputs: tuple[Path, ...] = ()

    @property
    def _options(self) -> dict[str, Any]:
        return {"tau": self.tau, "columns": self.columns, "text_kept": self.text_kept}

    def run(self, *paths: Path) -> Run:
        """The one run at a path; with ``join`` also at several."""
        if not (self.join or self.repeats):
            (path,) = paths
            held = read_run(path, self.references, **self._options)
            keep_inputs(self.outputs, self._files_of(held))
            return held
        found = self.runs(paths)
        if len(found) > 1:
            names = ", ".join(f"{run.name} [{run.condition}]" for run in found)
            raise RunError(f"{paths[0]}: {len(found)} runs after joining: {names}; give one run")
        return found[0]

    def runs(self, paths: Iterable[Path]) -> list[Run]:
        """All runs at some paths, with distinct names."""
        if self.join:
            held = join_runs(paths, self.references, **self._options)
            for line in unjoined(held):
                click.echo(f"note: {visible(line)}", err=True)
        else:
            held = self._one_by_one(paths)
        keep_inputs(self.outputs, chain.from_iterable(map(self._files_of, held)))
        return join_repeats(held) if self.repeats else distinct_names(held)

    def recognised(
        self, split: str, images: Iterable[str], engine: str | None = None
    ) -> RecognisedTexts:
        """The recognised text of a split's images: that beside ``--data``, if it has any."""
        from dtvqa_plugin.ocr.recognised import recognised_folder, recognised_texts  # not for score

        beside = self.data is not None and recognised_folder(self.data).is_dir()
        store = get_split(split).store(self.data)
        return recognised_texts(
            {name: store.image_path(name) for name in images},
            engine=engine,
            home=self.data if beside else None,
        )

    def questions(self, split: str) -> int | None:
        """Number of questions of a split; None if the annotations of a subset are missing."""
        known = self.references.split(split).values()
        whole = {record.subset for record in known} >= set(get_split(split).subsets)
        return len(known) if whole else None

    def may_read(self, path: Path) -> bool:
        """Whether there is a file at a path, in a folder that runs or questions are read from."""
        if not path.is_file():
            return False
        folders = [*self.inputs]
        for name in _SPLITS_HERE:
            with contextlib.suppress(DataError):  # no custom set
                folders.append(get_split(name).store(self.data).home)
        where = path.resolve()
        return any(where.is_relative_to(one.resolve()) for one in folders if one.is_dir())

    def _files_of(self, run: Run) -> Iterator[Path]:
        """The files that a run and its questions are read from."""
        for path in run.paths:
            yield path
            if run.context.stamp:
                yield path.with_name(f"{run.context.stamp}_results.json")
            if run.kind is Kind.VLMEVALKIT:
                yield path.with_name(f"{bare_name(path)}_summary.json")
                yield path.with_name(f"{bare_name(path)}_questions.jsonl")
        store = get_split(run.split).store(self.data)
        yield from (store.home / file for file in run.annotations.files)
        yield from {store.image_path(record.image) for record in run.records}

    def _one_by_one(self, paths: Iterable[Path]) -> list[Run]:
        """The runs of each path; what looks like shards is pointed out."""
        held: list[Run] = []
        for path in paths:
            held += read_runs(path, self.references, **self._options)
        shards = shards_among(held)
        if shards:
            files = ", ".join(visible(str(run.paths[0])) for run in shards[:_FILES_NAMED])
            more = f" and {len(shards) - _FILES_NAMED} more" * (len(shards) > _FILES_NAMED)
            said = "answer different questions under one name: --join joins shards of one run"
            click.echo(f"note: {files}{more} {said}", err=True)
        return held


_STANDARD_INPUT = Path("/dev/stdin")
"""What ``-`` is read from, where the system has a name for it."""

_OUTPUTS = ("output", "outputs")
"""Names of the options that say where a command writes; all other paths are inputs."""


def _paths(value: object) -> list[Path]:
    """The path or paths that an option holds; none if it holds something else."""
    several = value if isinstance(value, tuple) else (value,)
    return [path for path in several if isinstance(path, Path)]


def _without_byproducts(paths: list[Path], columns: Columns) -> tuple[Path, ...]:
    """The paths without what only belongs to another of them, which a note names."""
    owners = by_products(paths, columns)
    if owners:
        named = ", ".join(visible(str(path)) for path in list(owners)[:_FILES_NAMED])
        more = f" and {len(owners) - _FILES_NAMED} more" * (len(owners) > _FILES_NAMED)
        said = f"skipped {counted(len(owners), 'by-product')} of the runs given: {named}{more}"
        click.echo(f"note: {said}", err=True)
    return tuple(path for path in paths if path not in owners)


def source_options(command: Callable[..., Any]) -> Any:
    """``--data``, ``--tau``, ``--id-column``, and how files are joined, as a `Source`."""

    @functools.wraps(command)
    def with_source(
        *args: Any,
        data: Path | None,
        tau: float,
        id_column: str | None,
        prediction_column: str | None,
        join_shards: bool,
        as_repeats: bool,
        **options: Any,
    ) -> Any:
        outputs = tuple(path for name in _OUTPUTS for path in _paths(options.get(name)))
        given = [
            p for name, value in options.items() if name not in _OUTPUTS for p in _paths(value)
        ]
        given = [_STANDARD_INPUT if str(path) == "-" else path for path in given]
        keep_inputs(outputs, [path for path in given if not path.is_dir()])
        columns = Columns(id_column, prediction_column)
        for name, value in options.items():
            if name not in _OUTPUTS and isinstance(value, tuple) and len(_paths(value)) > 1:
                options[name] = _without_byproducts(_paths(value), columns)
        source = Source(
            data,
            References(data),
            tau,
            columns,
            join_shards,
            as_repeats,
            outputs=outputs,
            inputs=tuple(given),
        )
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
    join = click.option(
        "--join",
        "join_shards",
        is_flag=True,
        help="Join shards: files of one model, condition and split with different questions and "
        "equal settings become one run.",
    )
    repeats = click.option(
        "--repeats",
        "as_repeats",
        is_flag=True,
        help="Runs of one model, condition and split that differ in their seed only are repeats of "
        "one run.",
    )
    return data(tau(ids(outputs(join(repeats(with_source))))))


def resampling_options(command: Command) -> Command:
    """``--resamples`` and ``--seed`` of the bootstrap."""
    resamples = click.option(
        "--resamples",
        type=Whole(100),
        default=RESAMPLES,
        show_default=True,
        help="Number of bootstrap resamples.",
    )
    seed = click.option(
        "--seed",
        type=Whole(0),
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
