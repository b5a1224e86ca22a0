"""``dtvqa gate``: may this run be released? Exit status 0 yes, 1 no, 2 cannot tell."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from dtvqa_plugin.analysis.gate import (
    Decision,
    Minimum,
    Rules,
    Verdict,
    decide,
    part_named,
    undecided,
)
from dtvqa_plugin.cli.options import Points, Share, Whole, is_number
from dtvqa_plugin.cli.output import check_place
from dtvqa_plugin.cli.run_options import Source, resampling_options, source_options
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.metrics.names import HEADLINE, METRICS
from dtvqa_plugin.report.gate import gate_document, gate_junit, gate_text
from dtvqa_plugin.report.rendering import to_json
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.files import written
from dtvqa_plugin.utils.text import visible

STATUS = {Verdict.PASSED: 0, Verdict.FAILED: 1, Verdict.CANNOT_TELL: 2}
USAGE_STATUS = 64
"""Of a wrong command line (EX_USAGE of sysexits.h): click's own 2 means "cannot tell" here."""

_PATH = click.Path(path_type=Path)
_SUFFIXES = {".json": "json", ".xml": "junit"}
_LOOKED_AT = 1 << 20
_MARKS = ('<testsuites name="dtvqa gate"', '"verdict": "', "\ngate: ")
"""What the decisions in the three forms hold."""


if TYPE_CHECKING:
    _MinimumType = click.ParamType[Minimum]
else:  # click before 8.5 has no generic parameter types
    _MinimumType = click.ParamType


class _GateUsageError(click.UsageError):
    """A wrong command line of ``dtvqa gate``."""

    exit_code = USAGE_STATUS


class _Gate(click.Command):
    """A command whose usage errors have an exit status of their own."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise _GateUsageError(error.format_message(), error.ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _GateUsageError(error.format_message(), error.ctx) from error


class _Minimum(_MinimumType):
    """``accanls=60`` or ``DTScene:acc=50``."""

    name = "[part:]metric=points"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Minimum:
        if isinstance(value, Minimum):
            return value
        named, _, number = str(value).partition("=")
        part, colon, metric = named.rpartition(":")
        points = float(number) if is_number(number) else -1.0
        if metric not in METRICS or not 0.0 <= points <= 100.0 or (colon and not part):
            self.fail(
                f"{value!r} is not METRIC=POINTS or SUBSET:METRIC=POINTS, with one of "
                f"{', '.join(METRICS)} and 0 to 100 points, such as accanls=60",
                param,
                ctx,
            )
        return Minimum(metric, points, part or OVERALL)


@click.command(cls=_Gate)
@click.argument("run", nargs=-1, required=True, type=_PATH)
@click.option(
    "--min",
    "minimums",
    type=_Minimum(),
    multiple=True,
    help="Least figure, 0-100: accanls=60, DTScene:acc=50 (may be repeated).",
)
@click.option("--baseline", type=_PATH, help="The run that RUN must not be worse than.")
@click.option(
    "--max-drop",
    type=Points(0, 100),
    help="Points below the baseline that are allowed.  [default: 1.0]",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default=HEADLINE,
    show_default=True,
    help="What must not drop.",
)
@click.option(
    "--confidence",
    type=Share(0.5, 1, True, True),
    default=0.95,
    show_default=True,
    help="How surely a larger drop must be excluded (one-sided).",
)
@click.option("--complete", is_flag=True, help="All subsets of the split must be answered.")
@click.option("--max-failed", type=Whole(0), help="Questions without an output allowed.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["terminal", "json", "junit"]),
    default="terminal",
    show_default=True,
    help="Of standard output.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    type=_PATH,
    multiple=True,
    help="Write the decision here as well: .json, .xml (JUnit), else text (may be repeated). "
    "Also written where the run cannot be read.",
)
@resampling_options
@source_options
def gate(
    run: tuple[Path, ...],
    minimums: tuple[Minimum, ...],
    baseline: Path | None,
    max_drop: float | None,
    metric: str,
    confidence: float,
    complete: bool,
    max_failed: int | None,
    style: str,
    outputs: tuple[Path, ...],
    resamples: int,
    seed: int,
    source: Source,
) -> None:
    """Decide whether RUN is good enough. RUN is given as to 'dtvqa score' and must be one run.

    At least one of --min, --baseline, --complete and --max-failed says what is checked.

    Exit status: 0 passed, 1 a check failed, 2 cannot tell (unreadable or partial run, answers that
    contradict each other, other questions or another condition than the baseline, stale answers),
    64 wrong command line.
    """
    if max_drop is not None and baseline is None:
        raise click.UsageError("--max-drop needs --baseline")
    if len(run) > 1 and not (source.join or source.repeats):
        raise click.UsageError(
            f"gate judges one run, got {len(run)} paths; --join joins shards, --repeats seeds"
        )
    if not (minimums or complete) and max_failed is None and baseline is None:
        raise click.UsageError(
            "nothing to check: give one of --min, --baseline, --complete, --max-failed"
        )
    rules = Rules(
        minimums=minimums,
        max_drop=1.0 if max_drop is None else max_drop,
        metric=metric,
        confidence=confidence,
        complete=complete,
        max_failed=max_failed,
        resamples=resamples,
        seed=seed,
    )
    try:
        for output in outputs:
            check_place(output)
        judged = source.run(*run)
        rules = replace(rules, minimums=tuple(_of_split(judged, least) for least in minimums))
        against = None if baseline is None else source.run(baseline)
        decision = decide(judged, rules, against, questions=source.questions(judged.split))
        _write(decision, outputs)
    except DTVQAError as error:
        _end_undecided(rules, str(error), style, outputs, source)
    except click.ClickException:
        raise
    except KeyboardInterrupt:
        _end_undecided(rules, "the gate was interrupted", style, outputs, source)
    except Exception as error:
        traceback.print_exc()
        said = f"the gate ended by a fault of its own ({type(error).__name__}: {error})"
        _end_undecided(rules, said, style, outputs, source)
    click.echo(_rendered(decision, style), nl=False)
    sys.exit(STATUS[decision.verdict])


def _of_split(run: Run, minimum: Minimum) -> Minimum:
    """A minimum with its part's name as the run's split has it."""
    part = part_named(run, minimum.part)
    if part is None:
        named = ", ".join(get_split(run.split).subsets)
        said = f"--min: split {run.split} has no part {minimum.part!r}; it has overall, {named}"
        raise click.UsageError(visible(said))
    return replace(minimum, part=part)


def _end_undecided(
    rules: Rules, why: str, style: str, outputs: Iterable[Path], source: Source
) -> NoReturn:
    """End with "cannot tell" in every output, so that none of an earlier run is left."""
    click.echo(f"dtvqa: error: {visible(why)}", err=True)
    decision = undecided(rules, why)
    for output in outputs:
        try:
            check_place(output)
            if source.may_read(output) and not _holds_decision(output):
                raise DTVQAError(
                    f"{output}: not written, it lies in a folder that is read and holds no "
                    "decision of this command"
                )
            _write(decision, [output])
        except DTVQAError as error:
            if str(error) != why:
                click.echo(f"dtvqa: error: {visible(str(error))}", err=True)
    if style != "terminal":
        click.echo(_rendered(decision, style), nl=False)
    sys.exit(STATUS[Verdict.CANNOT_TELL])


def _write(decision: Decision, outputs: Iterable[Path]) -> None:
    for output in outputs:
        with written(output) as partial:
            text = _rendered(decision, _SUFFIXES.get(output.suffix.lower(), "terminal"))
            partial.write_text(text, encoding="utf-8")


def _holds_decision(path: Path) -> bool:
    """Whether a file is empty or one that this command wrote."""
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(_LOOKED_AT).strip()
    return not text or any(mark in text for mark in _MARKS)


def _rendered(decision: Decision, style: str) -> str:
    if style == "json":
        return to_json(gate_document(decision, STATUS[decision.verdict]))
    return gate_junit(decision) if style == "junit" else gate_text(decision)
