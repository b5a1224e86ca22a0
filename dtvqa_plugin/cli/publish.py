"""``dtvqa publish``: one row a question, or figures in the forms that others read."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import click

from dtvqa_plugin.analysis.tables import result_tables
from dtvqa_plugin.cli.output import note
from dtvqa_plugin.cli.run_options import Source, level_option, resampling_options, source_options
from dtvqa_plugin.ocr.recognised import RecognisedText
from dtvqa_plugin.report import leaderboards
from dtvqa_plugin.report.questions import check_name, question_rows, write_questions
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.files import written
from dtvqa_plugin.utils.text import counted

_PATH = click.Path(path_type=Path)
FORMS = ("questions", "eval-results", "model-index", "every-eval-ever")


@click.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH)
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMS),
    default="questions",
    show_default=True,
    help="questions: one row a question (.csv, .parquet). eval-results: .eval_results/dtvqa.yaml "
    "of a model repository on the Hugging Face hub. model-index: the model card's older form. "
    "every-eval-ever: one JSON file a run.",
)
@click.option(
    "-o",
    "--output",
    type=_PATH,
    required=True,
    help="File to write (questions, model-index), or folder (the others).",
)
@click.option("--dataset-id", help="Hub repository of the questions, where it is not DT-VQA's.")
@click.option("--source-url", help="eval-results: where the evaluation can be looked up.")
@click.option("--organization", help="every-eval-ever: who publishes the figures.")
@click.option(
    "--relationship",
    type=click.Choice(leaderboards.RELATIONSHIPS),
    default="other",
    show_default=True,
    help="every-eval-ever: the publisher's relation to the model.",
)
@click.option("--model-id", help="every-eval-ever: the model, such as Qwen/Qwen2.5-VL-7B-Instruct.")
@resampling_options
@level_option
@source_options
def publish(
    runs: tuple[Path, ...],
    form: str,
    output: Path,
    dataset_id: str | None,
    source_url: str | None,
    organization: str | None,
    relationship: str,
    model_id: str | None,
    resamples: int,
    seed: int,
    level: float,
    source: Source,
) -> None:
    """Write RUNS in a form that other programs and sites read. Nothing is uploaded.

    RUNS are given as to 'dtvqa score'. Figures of partial runs are not published.
    """
    if form == "questions":
        check_name(output)
        found = replace(source, text_kept=sys.maxsize).runs(runs)
        _write_questions(found, source, output)
        return
    found = source.runs(runs)
    tables = result_tables(found, [], resamples=resamples, seed=seed, level=level)
    items = leaderboards.published(found, tables)
    if form == "eval-results":
        entries = leaderboards.eval_results(items, dataset_id=dataset_id, source_url=source_url)
        _write_yaml(entries, output / leaderboards.RESULTS_FILE)
    elif form == "model-index":
        _write_yaml(leaderboards.model_index(items, dataset_id=dataset_id), output)
    else:
        if organization is None:
            raise click.UsageError("--as every-eval-ever needs --organization")
        evaluator = leaderboards.Evaluator(organization, relationship, model_id)
        _write_every_eval_ever(items, evaluator, output)


def _write_questions(found: list[Run], source: Source, output: Path) -> None:
    rows = list(question_rows(found, _texts(found, source)))
    altered = write_questions(output, rows)
    if altered:
        note(
            f"{counted(altered, 'row')} held half of a character pair (a lone surrogate), which "
            "no file of this kind can hold; U+FFFD stands there"
        )
    note(f"Written: {output} ({counted(len(rows), 'row')})")


def _texts(found: list[Run], source: Source) -> dict[str, RecognisedText]:
    """The recognised text of the questions' images, where 'dtvqa data recognise' kept it."""
    texts: dict[str, RecognisedText] = {}
    for split in dict.fromkeys(run.split for run in found):
        images = dict.fromkeys(
            record.image for run in found if run.split == split for record in run.records
        )
        texts.update(source.recognised(split, images).texts)
    return texts


def _write_yaml(document: object, path: Path) -> None:
    import yaml  # heavy; there through huggingface_hub

    with written(path, make_folder=True) as partial:
        text = yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=1 << 16)
        partial.write_text(text, encoding="utf-8")
    note(f"Written: {path}")


def _write_every_eval_ever(
    items: list[leaderboards.Published], evaluator: leaderboards.Evaluator, folder: Path
) -> None:
    retrieved = int(datetime.now(timezone.utc).timestamp())
    for item in items:
        document = leaderboards.every_eval_ever(item, evaluator, retrieved)
        signature = str(item.run.signature())
        path = folder / leaderboards.every_eval_ever_path(document, signature)
        with written(path, make_folder=True) as partial:
            text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
            partial.write_text(text + "\n", encoding="utf-8")
        note(f"Written: {path}")
