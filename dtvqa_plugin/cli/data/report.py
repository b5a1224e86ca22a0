"""What an import or a fetch did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dtvqa_plugin.benchmark.release import ARCHIVE_NAME, REPO_ID
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data.splits import PARTIAL_VARIABLE
from dtvqa_plugin.data.transfer.report import ImportReport

_SHOWN_PROBLEMS = 3


def echo_report(report: ImportReport, as_json: bool) -> None:
    """Print what an import or a fetch did."""
    if as_json:
        say_json(_values(report))
        return
    for line in _lines(report):
        say(line)


_RELEASED = {None: "no hash known", True: "released file", False: "DIFFERS from the released file"}


def _lines(report: ImportReport) -> Iterator[str]:
    yield f"store: {report.home}"
    for part in report.files:
        faults = len(part.reading.problems)
        yield (
            f"  {part.file.path}: {len(part.reading.records)} questions, "
            f"{_RELEASED[part.released]}{f', {faults} unusable' if faults else ''}"
        )
    yield from _problem_lines(report)
    for file in report.absent:
        yield f"  {file.path}: not found"
    for split in dict.fromkeys(split for split, _ in report.images):
        counts = {s: count for (of, s), count in report.images.items() if of == split}
        yield (
            f"{split}: {sum(c.present for c in counts.values())} of "
            f"{sum(c.expected for c in counts.values())} images "
            f"({sum(c.added for c in counts.values())} added, "
            f"{sum(c.replaced for c in counts.values())} replaced)"
        )
        for subset, count in counts.items():
            gone = count.expected - count.present
            missing = f", {gone} missing" if gone else ""
            yield f"  {subset}: {count.present} of {count.expected}{missing}"
    for text in report.bad:
        yield f"left out: {text}"
    gone = sum(count.expected - count.present for count in report.images.values())
    if gone:
        yield (
            f"{gone} images are missing; the release has them in {ARCHIVE_NAME} ({REPO_ID} on the "
            f"Hugging Face hub). {PARTIAL_VARIABLE}=1 evaluates what is there."
        )


def _problem_lines(report: ImportReport) -> Iterator[str]:
    problems = report.problems
    for problem in problems[:_SHOWN_PROBLEMS]:
        yield f"    {problem}"
    if len(problems) > _SHOWN_PROBLEMS:
        rest = len(problems) - _SHOWN_PROBLEMS
        yield f"    and {rest} more: 'dtvqa data status --problems' lists them"


def _values(report: ImportReport) -> dict[str, Any]:
    return {
        "home": str(report.home),
        "files": [
            {
                "file": part.file.path,
                "source": part.origin,
                "sha256": part.reading.sha256,
                "released": part.released,
                "questions": len(part.reading.records),
                "problems": part.reading.counts(),
            }
            for part in report.files
        ],
        "absent": [file.path for file in report.absent],
        "images": [
            {
                "split": split,
                "subset": subset,
                "expected": count.expected,
                "present": count.present,
                "added": count.added,
                "replaced": count.replaced,
            }
            for (split, subset), count in report.images.items()
        ],
        "bad": report.bad,
        "warnings": report.warnings,
    }
