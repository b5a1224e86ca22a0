"""``dtvqa export`` and ``dtvqa data leakage``: training sets without the test set in them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from dtvqa_plugin.benchmark.prompts import PROMPTS
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.cli.options import Share, Whole
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.finetune import (
    CHECKS,
    EXPORT_SPLITS,
    FORMATS,
    MIN_LIKENESS,
    PAPER_SUBSETS,
    TURNS,
    ExportOptions,
    ExportReport,
    Leakage,
    find_leakage,
)
from dtvqa_plugin.finetune import export as run_export
from dtvqa_plugin.utils.progress import progress_bar

_SHOWN = 20

_FORMAT_HELP = "; ".join(f"{form.name}: {form.readers}" for form in FORMATS.values())
_LIKENESS = click.option(
    "--min-likeness",
    type=Share(0, 1, min_open=True),
    default=MIN_LIKENESS,
    show_default=True,
    help="Least likeness of a picture that is called like a test image: the share of the test "
    "image's text that is in the same place on it.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.command()
@click.option(
    "--to", "format_name", required=True, type=click.Choice(tuple(FORMATS)), help=_FORMAT_HELP
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="New folder.")
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice(EXPORT_SPLITS),
    default=("train",),
    show_default=True,
    help="Give it again for more; mini, the embedded sample, is for trying the tools.",
)
@click.option(
    "--subset",
    "subsets",
    multiple=True,
    type=click.Choice((*SUBSETS, *SAMPLE_SUBSETS)),
    help=f"Only this subset; give it again for more. Default: {', '.join(PAPER_SUBSETS)}.",
)
@click.option(
    "--gpt4v/--no-gpt4v", default=True, show_default=True, help="DTScene's second, GPT-4V round."
)
@click.option(
    "--turns",
    type=click.Choice(TURNS),
    default="all",
    show_default=True,
    help="All turns of a record in one sample, or one turn per sample.",
)
@click.option(
    "--prompt",
    type=click.Choice(tuple(PROMPTS)),
    default="none",
    show_default=True,
    help="Prompt around each question; choose the one you will evaluate with.",
)
@click.option("--seed", type=Whole(0), help="Shuffle. Default: the order of the files.")
@click.option(
    "--held-out",
    type=Share(0, 1, max_open=True),
    default=0.0,
    help="Share of the images whose samples are written to a second file, held_out.",
)
@click.option("--embed", is_flag=True, help="Images inside the file (ms-swift, messages).")
@click.option(
    "--image-root", help="Folder that image paths begin with. Default: the store's, absolute."
)
@click.option("--shard-size", type=Whole(1), help="Maximum samples per JSON Lines file.")
@click.option(
    "--check",
    type=click.Choice(CHECKS),
    default="full",
    show_default=True,
    help="Compare with the test images by name and picture, or by name alone.",
)
@_LIKENESS
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@_JSON
def export(
    format_name: str,
    output: Path,
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    gpt4v: bool,
    turns: str,
    prompt: str,
    seed: int | None,
    held_out: float,
    embed: bool,
    image_root: str | None,
    shard_size: int | None,
    check: str,
    min_likeness: float,
    force: bool,
    as_json: bool,
) -> None:
    """Write the training splits in a trainer's format, without the test images.

    What was left out, and why, is printed and written to manifest.json. The same data and options
    give the same bytes.
    """
    options = ExportOptions(
        format=format_name,
        splits=splits,
        subsets=subsets or None,
        gpt4v=gpt4v,
        turns=turns,
        prompt=prompt,
        seed=seed,
        held_out=held_out,
        embed=embed,
        image_root=image_root,
        shard_size=shard_size,
        check=check,
        min_likeness=min_likeness,
    )
    report = run_export(output, options, force=force, progresses=progress_bar)
    if as_json:
        say_json(report.as_json())
    else:
        for line in _export_lines(report, output):
            say(line)


def _export_lines(report: ExportReport, output: Path) -> Iterator[str]:
    parts = ", ".join(f"{name} {count}" for name, count in report.by_subset.items())
    yield (
        f"{output}: {report.pairs} pairs in {report.samples} samples over {report.images} images "
        f"({parts})"
    )
    for entry in report.files:
        yield f"  {entry['file']}: {entry['samples']} samples, {entry['bytes'] / 1e6:.1f} MB"
    if report.absent:
        yield f"left out: annotation files that are not in the store ({', '.join(report.absent)})"
    if report.faulty:
        counts = ", ".join(f"{count} {code}" for code, count in sorted(report.faulty.items()))
        yield f"left out: {sum(report.faulty.values())} unusable records or turns ({counts})"
    if report.missing:
        counts = ", ".join(f"{name} {count}" for name, count in report.missing.items())
        yield f"left out: {report.missing_pairs} pairs whose image is missing (images: {counts})"
    if report.unreadable:
        yield f"left out: {report.unreadable_pairs} pairs whose image cannot be read"
        yield from _some([f"  {text}" for text in report.unreadable])
    if report.leaks:
        yield (
            f"left out: {report.leaked_pairs} pairs on {len(report.leaks)} images that are or look "
            "like a test image"
        )
        yield from _some([f"  {leak}" for leak in report.leaks])
    if report.marked:
        yield f"left out: {report.marked} pairs whose text holds the format's own image mark"
    if report.test_images is None:
        yield "not compared with the test set: the sample's images are this project's own"
    else:
        yield (
            f"compared with {report.test_images} test images by name, with {report.compared} "
            "of them by picture"
        )


def _some(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"  and {len(lines) - _SHOWN} more (--json lists them)"


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--image-root",
    type=click.Path(path_type=Path),
    help="Folder that image paths in the records begin at.",
)
@click.option(
    "--check",
    type=click.Choice(CHECKS),
    default="full",
    show_default=True,
    help="Compare images by name and picture, or by name alone.",
)
@_LIKENESS
@_JSON
def leakage(
    path: Path, image_root: Path | None, check: str, min_likeness: float, as_json: bool
) -> None:
    """Check a training set (a folder, .json or .jsonl) for test images and test questions.

    Records may have any form that 'dtvqa export' writes, the released forms, or fields named
    question and answer. Exit status 1: an image is or looks like a test image, or more than half of
    a subset's test questions were found with an answer to them (a few are usual on other images).
    """
    with progress_bar("files", unit="") as progress:
        found = find_leakage(
            path,
            image_root=image_root,
            names_only=check == "names",
            min_likeness=min_likeness,
            progress=progress,
        )
    if as_json:
        say_json(found.as_json())
    else:
        for line in _leakage_lines(found):
            say(line)
    if found.images or found.copied:
        sys.exit(1)


def _leakage_lines(found: Leakage) -> Iterator[str]:
    yield (
        f"{found.path}: {found.records} records, {found.pairs} questions, "
        f"{found.compared + found.named} images"
    )
    yield (
        f"images: {found.compared} compared by name and picture with "
        f"{found.test_images_compared} of {found.test_images} test images, {found.named} by name "
        "alone"
    )
    yield f"images that are or look like a test image: {len(found.images)}"
    yield from _some([f"  {match}" for match in found.images])
    same = sum(match.same_answer for match in found.questions)
    how = Counter(match.how for match in found.questions)
    kinds = "".join(f", {name} {count}" for name, count in how.most_common())
    yield f"questions like a test question: {len(found.questions)}{kinds}"
    removed = Counter(text for match in found.questions for text in match.removed)
    yield from (f"  {count} without {text!r}" for text, count in removed.most_common(5))
    yield f"  {same} of them with an answer to it"
    yield "test questions found with an answer to them, by subset:"
    for subset, count in found.answered.items():
        copied = "  COPIED" if subset in found.copied else ""
        yield f"  {subset}: {count} of {found.test_questions[subset]}{copied}"
    if found.unreadable:
        yield f"images that cannot be read: {len(found.unreadable)}"
        yield from _some([f"  {text}" for text in found.unreadable])
    if found.skipped:
        yield f"skipped: {len(found.skipped)}"
        yield from _some([f"  {text}" for text in found.skipped])
