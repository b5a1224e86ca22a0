"""Everything that the report page shows, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.analysis.audits import BOUNDS, Audit
from dtvqa_plugin.analysis.bootstrap import LEVEL, RESAMPLES, SEED
from dtvqa_plugin.analysis.comparison import Comparison, compare
from dtvqa_plugin.analysis.failures.conditions import Conditions
from dtvqa_plugin.analysis.failures.diagnosis import Diagnosis
from dtvqa_plugin.analysis.published import PublishedRow
from dtvqa_plugin.analysis.significance import holm
from dtvqa_plugin.analysis.tables import PERCENT, Row, result_tables
from dtvqa_plugin.data import Record
from dtvqa_plugin.metrics.names import HEADINGS, METRICS
from dtvqa_plugin.metrics.scored import ScoredAnswer
from dtvqa_plugin.report.html import edits
from dtvqa_plugin.report.html.joined import conditions_values
from dtvqa_plugin.report.html.pictures import Picture
from dtvqa_plugin.report.html.why import DECIMALS, Why
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.references import PART_ORDER
from dtvqa_plugin.runs.remarks import remarks
from dtvqa_plugin.runs.run import TEXT_KEPT, Run

MAX_RUNS = 4
LETTERS = "ABCD"

TEXT_BUDGET = 4_000_000
"""Characters of outputs on a page; a Chinese one takes three bytes."""
LEAST_TEXT = 300

VERBOSE = "verbose"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are drawn: resamples of images, seed, level (0-1)."""

    resamples: int = RESAMPLES
    seed: int = SEED
    level: float = LEVEL


def check_runs(runs: Sequence[Run]) -> None:
    """Raise RunError unless there are one to four runs over one split, scored alike."""
    if not runs:
        raise RunError("no runs: nothing to report")
    listing = "".join(f"\n  {run.name} [{run.condition}]: {run.paths[0]}" for run in runs)
    if len(runs) > MAX_RUNS:
        raise RunError(
            f"a page holds up to {MAX_RUNS} runs side by side, these are {len(runs)}; "
            f"pass fewer of their files:{listing}"
        )
    splits = list(dict.fromkeys(run.split for run in runs))
    if len(splits) > 1:
        raise RunError(
            f"a page holds one split, these runs are over {' and '.join(splits)}; "
            f"write one page per split:{listing}"
        )


def questions(runs: Sequence[Run]) -> list[Record]:
    """Every question of the runs' subsets, answered or not, in the paper's order of subsets."""
    found: dict[str, Record] = {}
    for run in runs:
        for record in (*run.records, *run.missing):
            found.setdefault(record.question_id, record)
    places = {name: place for place, name in enumerate(PART_ORDER)}
    return sorted(found.values(), key=lambda record: places.get(record.subset, len(places)))


def page_document(
    runs: Sequence[Run],
    pictures: Mapping[str, Picture],
    *,
    title: str | None = None,
    published: Sequence[PublishedRow] = (),
    sampling: Sampling | None = None,
    diagnosis: Diagnosis | None = None,
    conditions: Conditions | None = None,
) -> dict[str, Any]:
    """The page's content. Scores of questions are 0-1, figures in tables 0-100.

    ``diagnosis`` is of the same runs in the same order; without it, or without ``conditions``, the
    page has no such section.
    Raises RunError as `check_runs` does.
    """
    check_runs(runs)
    drawn = sampling or Sampling()
    (table,) = result_tables(
        runs, published, resamples=drawn.resamples, seed=drawn.seed, level=drawn.level
    )
    records = questions(runs)
    images = {name: place for place, name in enumerate(dict.fromkeys(r.image for r in records))}
    flags = _flags(runs, table.audits)
    limit = text_limit(len(records) * len(runs))
    why = None if diagnosis is None else Why(diagnosis)
    return {
        "version": __version__,
        "title": title or _default_title(runs),
        "heading": table.title,
        "split": table.split,
        "tau": runs[0].tau,
        "sample": runs[0].is_sample,
        "textLimit": limit,
        "metrics": [{"key": name, "name": HEADINGS[name]} for name in METRICS],
        "parts": list(table.parts),
        "overall": OVERALL,
        "sampling": {"resamples": drawn.resamples, "seed": drawn.seed, "level": drawn.level},
        "notes": table.notes(),
        "runs": [
            {**_figures(row), **_run(run), "letter": LETTERS[place]}
            for place, (run, row) in enumerate(zip(runs, table.run_rows, strict=True))
        ],
        "published": [_figures(row) for row in table.rows if row.source is not None],
        "pairs": _pairs(runs, drawn),
        "verbosity": {"bounds": list(BOUNDS), "bins": [_bins(found) for found in table.audits]},
        "flags": [flag.listing() for flag in flags],
        "diagnosis": None if why is None else why.document(),
        "conditions": None if conditions is None else conditions_values(conditions),
        "images": [
            {
                **_picture(name, pictures.get(name, Picture(problem="not in the store"))),
                "page": None if why is None else why.size(name),
            }
            for name in images
        ],
        "subsets": list(dict.fromkeys(record.subset for record in records)),
        "questions": [
            {
                "id": record.question_id,
                "subset": record.subset,
                "image": images[record.image],
                "question": record.question,
                "answers": list(record.answers),
                **_bins_of(why, record),
                "results": [
                    _explained(
                        why,
                        place,
                        _result(run, record, limit, _flagged(flags, place, record.question_id)),
                        record,
                    )
                    for place, run in enumerate(runs)
                ],
            }
            for record in records
        ],
    }


def text_limit(outputs: int) -> int:
    """How many characters of each output are shown when there are so many outputs."""
    return max(LEAST_TEXT, min(TEXT_KEPT, TEXT_BUDGET // max(1, outputs)))


def _default_title(runs: Sequence[Run]) -> str:
    return " · ".join(dict.fromkeys(run.name for run in runs))


# --- runs and figures -------------------------------------------------------------------------


def _run(run: Run) -> dict[str, Any]:
    return {
        "model": run.context.model,
        "host": run.context.host,
        "hostVersion": run.context.host_version,
        "generation": run.context.generation,
        "files": [path.name for path in run.paths],
        "remarks": remarks(run),
        "answered": len(run.answers),
    }


def _figures(row: Row) -> dict[str, Any]:
    figures: dict[str, dict[str, list[float]]] = {}
    for (part, metric), (value, interval) in row.cells.items():
        bounds = [] if interval is None else [interval.low, interval.high]
        figures.setdefault(part, {})[metric] = [
            round(figure, DECIMALS) for figure in (value, *bounds)
        ]
    return {
        "name": row.name,
        "marks": row.marks,
        "condition": row.condition,
        "figures": figures,
        "counts": dict(row.counts),
        "images": dict(row.images),
        "failed": row.failed,
        "missing": row.missing,
        "source": row.source,
        "signature": row.signature,
    }


def _bins(found: Audit) -> dict[str, Any]:
    return {
        "hits": found.verbosity.hits,
        "counts": [part.hits for part in found.verbosity.bins],
        "accanls": [round(part.accanls_up_to * PERCENT, DECIMALS) for part in found.verbosity.bins],
        "warning": found.verbosity.warning(),
    }


def _pairs(runs: Sequence[Run], drawn: Sampling) -> list[dict[str, Any]]:
    """All pairs; p-values corrected by Holm over them: overall ones, and those of all subsets."""
    pairs = [_pair(runs, i, j, drawn) for i, j in combinations(range(len(runs)), 2)]
    for metric in METRICS:
        rows = {
            (number, part): row
            for number, pair in enumerate(pairs)
            for part, row in pair.get("metrics", {}).get(metric, {"parts": {}})["parts"].items()
        }
        for whole in (True, False):
            family = {key: row["p"] for key, row in rows.items() if (key[1] == OVERALL) is whole}
            for key, corrected in holm(family).items():
                rows[key]["holm"] = corrected
    return pairs


def _pair(runs: Sequence[Run], i: int, j: int, drawn: Sampling) -> dict[str, Any]:
    """Run ``i`` minus run ``j`` on the questions that both have; points (0-100)."""
    a, b = runs[i], runs[j]
    if a.by_question.keys().isdisjoint(b.by_question):
        return {"a": i, "b": j, "common": 0, "onlyA": len(a.answers), "onlyB": len(b.answers)}
    found = compare(
        a, b, common=True, resamples=drawn.resamples, seed=drawn.seed, level=drawn.level
    )
    return {
        "a": i,
        "b": j,
        "common": len(found.a.answers),
        "onlyA": len(found.only_a),
        "onlyB": len(found.only_b),
        "metrics": {metric: _differences(found, metric) for metric in METRICS},
    }


def _differences(found: Comparison, metric: str) -> dict[str, Any]:
    flips = found.flips[metric]
    gained = sum(flip.gained for flip in flips)
    rows = {
        row.part: {
            "n": row.n,
            "difference": round(row.difference.value * PERCENT, DECIMALS),
            "low": round(row.difference.low * PERCENT, DECIMALS),
            "high": round(row.difference.high * PERCENT, DECIMALS),
            "p": row.p_value,
            "holm": row.p_holm,
        }
        for row in found.rows(metric)
    }
    return {"parts": rows, "gained": gained, "lost": len(flips) - gained}


# --- audit flags ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Flag:
    """A mark on outputs. ``found`` (question ids) and ``of`` (how many could) go by run."""

    name: str
    meaning: str
    found: tuple[frozenset[str], ...]
    of: tuple[int, ...]

    def listing(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "meaning": self.meaning,
            "counts": [len(ids) for ids in self.found],
            "of": list(self.of),
        }


def _flags(runs: Sequence[Run], audits: Sequence[Audit]) -> list[_Flag]:
    flags = [
        _Flag(
            VERBOSE,
            f"Acc hits by outputs over {BOUNDS[-1]:g} times as long as the answer",
            tuple(_verbose(run) for run in runs),
            tuple(found.verbosity.hits for found in audits),
        )
    ]
    for same in zip(*(found.all_findings for found in audits), strict=True):
        flags.append(
            _Flag(
                same[0].name,
                same[0].meaning,
                tuple(frozenset(finding.question_ids) for finding in same),
                tuple(finding.of for finding in same),
            )
        )
    answered = tuple(len(run.answers) for run in runs)
    of_files = (
        (
            "answered twice",
            "the run has several outputs for the question; the last one counts",
            [run.faults.doubled for run in runs],
        ),
        (
            "stored score differs",
            "the host saved another score than the one recomputed here",
            [[item.question_id for item in run.faults.differences] for run in runs],
        ),
        (
            "altered by its file",
            "the file format changed what the model wrote",
            [[a.question_id for a in run.answers if a.loss] for run in runs],
        ),
    )
    for name, meaning, ids in of_files:
        known = tuple(
            frozenset(run.by_question.keys() & set(found))
            for run, found in zip(runs, ids, strict=True)
        )
        if any(known):
            flags.append(_Flag(name, meaning, known, answered))
    return flags


def _verbose(run: Run) -> frozenset[str]:
    return frozenset(
        answer.question_id
        for answer in run.answers
        if answer.acc > 0 and (answer.length_ratio or 0.0) > BOUNDS[-1]
    )


def _flagged(flags: Sequence[_Flag], place: int, question_id: str) -> list[int]:
    return [number for number, flag in enumerate(flags) if question_id in flag.found[place]]


# --- questions --------------------------------------------------------------------------------


def _picture(name: str, picture: Picture) -> dict[str, Any]:
    return {
        "name": name,
        "size": picture.size,
        "file": picture.file,
        "problem": picture.problem,
    }


def outcome(answer: ScoredAnswer) -> str:
    """``exact``, ``contained`` (Acc), ``near`` (ANLS only), ``none``, or ``failed``."""
    if answer.failed:
        return "failed"
    if answer.exact_match:
        return "exact"
    if answer.acc > 0:
        return "contained"
    return "near" if answer.anls > 0 else "none"


def _result(run: Run, record: Record, limit: int, flags: list[int]) -> dict[str, Any] | None:
    """One output; None where the run does not answer the question."""
    answer = run.by_question.get(record.question_id)
    if answer is None:
        return None
    contained = answer.acc > 0 and answer.matched_answer is not None
    result: dict[str, Any] = {
        "outcome": outcome(answer),
        "scores": [round(getattr(answer, metric), 6) for metric in METRICS],
        "length": answer.length,
        "output": _output(answer, limit, contained),
        "flags": flags,
    }
    if answer.matched_answer is not None:
        result["matched"] = record.answers.index(answer.matched_answer)
        result["ratio"] = None if answer.length_ratio is None else round(answer.length_ratio, 3)
    if answer.truncated:
        result["truncated"] = True
    if not contained:
        result.update(_edit(answer, record, limit))
    return result


def _bins_of(why: Why | None, record: Record) -> dict[str, Any]:
    return {} if why is None else why.question(record.question_id)


def _explained(
    why: Why | None, place: int, result: dict[str, Any] | None, record: Record
) -> dict[str, Any] | None:
    if why is None or result is None:
        return result
    return {**result, **why.result(place, record.question_id)}


def _output(answer: ScoredAnswer, limit: int, contained: bool) -> list[edits.Piece]:
    if answer.passage is not None:
        return edits.excerpt_beyond(answer.text, answer.passage, limit, answer.length)
    spans = edits.mark_match(answer.text, answer.matched_answer or "") if contained else []
    return edits.excerpt(answer.text, spans, limit, answer.length)


def _edit(answer: ScoredAnswer, record: Record, limit: int) -> dict[str, Any]:
    """The edit from the matched reference, else from one near enough to be worth showing."""
    if not answer.text or answer.length > min(limit, TEXT_KEPT):
        return {}
    if answer.matched_answer is not None:
        best = answer.matched_answer
        _, distance = edits.nearest(answer.text, [best])
    else:
        best, distance = edits.nearest(answer.text, record.answers)
        if distance >= edits.NEAREST_SHOWN:
            return {}
    return {
        "edit": edits.edit(best, answer.text),
        "nearest": record.answers.index(best),
        "distance": round(distance, 4),
    }
