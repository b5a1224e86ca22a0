"""The paper's result table as data: one row a run and condition, figures 0-100 with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dtvqa_plugin.analysis.audits import Audit, audit
from dtvqa_plugin.analysis.bootstrap import (
    LEVEL,
    RESAMPLES,
    SEED,
    Interval,
    intervals_of_runs,
)
from dtvqa_plugin.analysis.published import PublishedRow
from dtvqa_plugin.analysis.seeds import between, over_repeats
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.metrics.names import METRICS
from dtvqa_plugin.runs.design import OVERALL, Design
from dtvqa_plugin.runs.references import PART_ORDER
from dtvqa_plugin.runs.remarks import remarks
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.text import counted

PERCENT = 100.0

_Ends: TypeAlias = dict[str, list[Interval]]

PARTIAL_MARK = "†"
VERBOSE_MARK = "‡"

FEW_IMAGES = 30
"""Below this many images a interval is rough, and a note is printed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. ``cells`` maps (part, metric) to a figure with its interval, all 0-100.

    ``counts`` and ``images`` are the numbers of questions and images by part, ``missing`` the
    number that the run lacks in these parts. ``repeats`` holds the figure of each repeat where
    there are several responses to each question; the intervals in ``cells`` are then over images
    and repeats, those in ``over_images`` over images alone. Published rows have an interval of
    None, no counts, and a source.
    """

    name: str
    condition: str
    cells: Mapping[tuple[str, str], tuple[float, Interval | None]]
    counts: Mapping[str, int]
    images: Mapping[str, int] = field(default_factory=dict)
    failed: int = 0
    missing: int = 0
    partial: bool = False
    verbose: bool = False
    source: str | None = None
    signature: str | None = None
    repeats: Mapping[tuple[str, str], tuple[float, ...]] = field(default_factory=dict)
    over_images: Mapping[tuple[str, str], Interval] = field(default_factory=dict)

    @property
    def marks(self) -> str:
        """Signs that point to the notes below the table."""
        return PARTIAL_MARK * self.partial + VERBOSE_MARK * self.verbose

    @property
    def label(self) -> str:
        """The run's name with its marks."""
        return self.name + self.marks


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table over one split. ``audits``, ``remarks`` and ``oddities`` go with the run rows.

    ``oddities`` maps missing, doubled, failed and unknown to question ids (of the unknown ones
    the first few).
    """

    title: str
    split: str
    parts: tuple[str, ...]
    rows: tuple[Row, ...]
    audits: tuple[Audit, ...]
    remarks: tuple[tuple[str, ...], ...]
    oddities: tuple[Mapping[str, tuple[str, ...]], ...]
    resamples: int
    seed: int
    level: float

    @property
    def run_rows(self) -> tuple[Row, ...]:
        """The rows that were computed here."""
        return tuple(row for row in self.rows if row.source is None)

    def notes(self, *, intervals: bool = True, warned: int | None = None) -> list[str]:
        """What must stand under the table: how the figures were made, marks, sources, remarks.

        Args:
            intervals: Whether the table shows intervals.
            warned: Most warnings of each kind from the audits; None for all of them.

        Returns:
            One sentence or more each.
        """
        repeats = any(row.repeats for row in self.rows)
        notes = [self._made(intervals)]
        if repeats:
            of = "; its interval is over images and repeats (a method of this package)"
            notes.append(f"Of runs with repeats the mean is shown{of * intervals}.")
        if any(row.partial for row in self.rows):
            notes.append(
                f"{PARTIAL_MARK} over part of the questions only: does not compare with "
                "whole-set figures."
            )
        few = dict.fromkeys(
            part for row in self.rows for part, count in row.images.items() if count < FEW_IMAGES
        )
        if few and intervals:
            notes.append(
                f"Fewer than {FEW_IMAGES} images in {', '.join(few)}: intervals there are rough."
            )
        notes += self._warnings(warned)
        notes += self._remarks_of(self.remarks)
        notes += [f"{row.name}: published, {row.source}." for row in self.rows if row.source]
        return notes

    def _made(self, intervals: bool) -> str:
        """How the figures were made."""
        if not intervals:
            return "Figures times 100."
        return (
            f"Figures times 100; {self.level:.0%} BCa interval from {self.resamples:,} bootstrap "
            f"resamples of images within each subset (seed {self.seed})."
        )

    def _warnings(self, most: int | None) -> list[str]:
        """What the audits warn of: the first ``most`` of each kind, and how many more there are."""
        long = [
            f"{VERBOSE_MARK} {_who(row)}: {warning}."
            for row, found in zip(self.run_rows, self.audits, strict=True)
            if (warning := found.verbosity.warning())
        ]
        others = self._remarks_of(found.warnings() for found in self.audits)
        lines = [*long[:most], *others[:most]]
        more = len(long) + len(others) - len(lines)
        if more:
            lines.append(f"{counted(more, 'more warning')} of the audits; --audits shows them.")
        return lines

    def _remarks_of(self, said: Iterable[Sequence[str]]) -> list[str]:
        """Sentences with the runs that they are about, each sentence once."""
        about: dict[str, list[str]] = {}
        for row, sentences in zip(self.run_rows, said, strict=True):
            for sentence in sentences:
                about.setdefault(sentence, []).append(_who(row))
        return [f"{', '.join(names)}: {sentence}." for sentence, names in about.items()]

    def signatures(self) -> list[str]:
        """The signature of each computed row."""
        return [row.signature for row in self.run_rows if row.signature is not None]


def _who(row: Row) -> str:
    return f"{row.name} [{row.condition}]"


def result_tables(
    runs: Sequence[Run],
    published: Sequence[PublishedRow] = (),
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> list[ResultTable]:
    """One table for each split among the runs; published rows join the table of their split."""
    tables = []
    for split in dict.fromkeys(run.split for run in runs):
        chosen = [run for run in runs if run.split == split]
        audits = tuple(audit(run) for run in chosen)
        bounds = _intervals(chosen, resamples, seed, level)
        rows = [
            _run_row(run, found, ends, level)
            for run, found, ends in zip(chosen, audits, bounds, strict=True)
        ]
        rows += [_published_row(row) for row in published if row.split == split]
        tables.append(
            ResultTable(
                title=get_split(split).title(chosen[0].annotations.revision),
                split=split,
                parts=_parts(chosen, rows, split),
                rows=tuple(rows),
                audits=audits,
                remarks=tuple(tuple(remarks(run)) for run in chosen),
                oddities=tuple(run.oddities() for run in chosen),
                resamples=resamples,
                seed=seed,
                level=level,
            )
        )
    return tables


def _parts(runs: Sequence[Run], rows: Sequence[Row], split: str) -> tuple[str, ...]:
    """Overall where a row has it, and the subsets: all of the split's, or the only one there is."""
    there = {name for run in runs for name in run.subsets}
    every = get_split(split).subsets
    wanted = there if len(there) == 1 else {*there, *every}
    order = dict.fromkeys((*PART_ORDER, *every))
    overall = any(part == OVERALL for row in rows for part, _ in row.cells)
    return (*(OVERALL,) * overall, *(name for name in order if name in wanted))


def _intervals(runs: Sequence[Run], resamples: int, seed: int, level: float) -> list[_Ends]:
    """The intervals of each run, by part; runs over the same questions are resampled together."""
    alike: dict[Design, list[int]] = {}
    for place, run in enumerate(runs):
        alike.setdefault(run.design, []).append(place)
    found: dict[int, _Ends] = {}
    for design, places in alike.items():
        values = [runs[place].values * PERCENT for place in places]
        every = intervals_of_runs(values, design, resamples, seed, level, scale=(0.0, PERCENT))
        found.update(zip(places, every, strict=True))
    return [found[place] for place in range(len(runs))]


def _run_row(run: Run, found: Audit, bounds: _Ends, level: float) -> Row:
    images = bounds
    if run.repeats:
        bounds = _over_repeats(run, bounds, level)
    whole = set(run.subsets) >= set(get_split(run.split).subsets)
    cells: dict[tuple[str, str], tuple[float, Interval | None]] = {}
    # Overall is a mean over all subsets: a run over some of them has none.
    for part in run.design.parts if whole else run.subsets:
        for metric, interval in zip(METRICS, bounds[part], strict=True):
            cells[part, metric] = (interval.value, _on_scale(interval))
    return Row(
        name=run.name,
        condition=run.condition,
        cells=cells,
        counts={part: run.design.size(part) for part in run.design.parts},
        images={part: run.design.images(part) for part in run.design.parts},
        failed=run.failed,
        missing=len(run.missing),
        partial=bool(run.missing) or not whole,
        verbose=found.verbosity.warn,
        signature=str(run.signature()),
        repeats=_repeat_figures(run) if run.repeats else {},
        over_images={
            (part, metric): interval
            for part in run.design.parts
            for metric, interval in zip(METRICS, images[part], strict=True)
        }
        if run.repeats
        else {},
    )


def _over_repeats(run: Run, bounds: _Ends, level: float) -> _Ends:
    values, repeats = run.values * PERCENT, run.repeat_values * PERCENT
    return {
        part: over_repeats(
            found, values, between(repeats, run.design, part), run.design, part, level
        )
        for part, found in bounds.items()
    }


def _on_scale(interval: Interval) -> Interval:
    return Interval(interval.value, max(0.0, interval.low), min(PERCENT, interval.high))


def _repeat_figures(run: Run) -> dict[tuple[str, str], tuple[float, ...]]:
    means = [run.design.means(values * PERCENT) for values in run.repeat_values]
    return {
        (part, metric): tuple(float(mean[part][column]) for mean in means)
        for part in run.design.parts
        for column, metric in enumerate(METRICS)
    }


def _published_row(row: PublishedRow) -> Row:
    cells: dict[tuple[str, str], tuple[float, Interval | None]] = {
        (part, metric): (value, None)
        for part, values in row.figures.items()
        for metric, value in values.items()
    }
    return Row(row.name, row.condition or "unknown", cells, counts={}, source=row.source)
