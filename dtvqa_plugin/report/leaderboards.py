"""Figures for others to read: Hugging Face evaluation results, model-index, Every Eval Ever."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.analysis.tables import ResultTable, Row
from dtvqa_plugin.benchmark.release import REPO_ID
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.metrics import DEFAULT_TAU
from dtvqa_plugin.metrics.names import HEADINGS, HEADLINE, METRICS
from dtvqa_plugin.report.rendering import part_heading, with_bounds
from dtvqa_plugin.runs.design import OVERALL
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.runs.signature import UNKNOWN

EVERY_EVAL_EVER_SCHEMA = "0.3.0"
RESULTS_FILE = ".eval_results/dtvqa.yaml"
_SHA = re.compile(r"[0-9a-f]{40}")
_ENDINGS = {"none": "", "paper": "_prompted"}


@dataclass(frozen=True, slots=True)
class Published:
    """One run with its row of the result table."""

    run: Run
    row: Row
    table: ResultTable


def published(runs: Sequence[Run], tables: Sequence[ResultTable]) -> list[Published]:
    """Pair runs with their rows.

    Raises:
        DTVQAError: A run is partial, or scored with another tau than the paper's: its figures
            would stand under the benchmark's name.
    """
    rows = {
        (row.name, row.condition, table.split): (row, table)
        for table in tables
        for row in table.run_rows
    }
    for run in runs:
        if run.tau != DEFAULT_TAU:
            raise DTVQAError(
                f"{run.name}: scored with tau {run.tau:g}, and the published ANLS is that of "
                f"{DEFAULT_TAU:g}; leave --tau out"
            )
    found = [Published(run, *rows[run.name, run.condition, run.split]) for run in runs]
    for item in found:
        if item.row.partial or (OVERALL, HEADLINE) not in item.row.cells:
            raise DTVQAError(
                f"{item.run.name} [{item.run.condition}]: answers only part of the questions, so "
                "it has no figure to publish; complete the run"
            )
    return found


def _is_benchmark(run: Run) -> bool:
    """Whether a run is over DT-VQA's test questions, not over the sample or a custom set."""
    return run.split == "test"


def _dataset(run: Run, dataset_id: str | None) -> str:
    if dataset_id is not None:
        return dataset_id
    if not _is_benchmark(run):
        raise DTVQAError(
            f"{run.name}: its questions are not DT-VQA's test questions (split {run.split}); name "
            "the dataset that they belong to with --dataset-id"
        )
    return REPO_ID


def _revision(run: Run, dataset_id: str | None) -> str | None:
    revision = run.annotations.revision or ""
    return revision if dataset_id is None and _SHA.fullmatch(revision) else None


def task_id(run: Run) -> str:
    """The name of the run's questions and condition: ``dtvqa_prompted``, ``dtvqa_mini``.

    These are the names of our lmms-eval tasks; of an unknown condition, ``dtvqa_unknown``.
    """
    base = "dtvqa" if _is_benchmark(run) else f"dtvqa_{run.split}"
    ending = _ENDINGS.get(run.condition, f"_{run.condition}")
    return f"{base}{ending}"


def _what(run: Run, part: str) -> str:
    return f"{_title(run)} ({part_heading(part)}, condition {run.condition})"


def _title(run: Run) -> str:
    return "DT-VQA" if _is_benchmark(run) else f"dtvqa-plugin's split {run.split}"


def eval_results(
    items: Sequence[Published], *, dataset_id: str | None = None, source_url: str | None = None
) -> list[dict[str, Any]]:
    """Hugging Face evaluation results of one model: the content of ``.eval_results/*.yaml``.

    Args:
        items: Runs of one model, one a condition.
        dataset_id: Repository of the questions (default: DT-VQA's, for its test questions).
        source_url: Where the evaluation can be looked up.

    Returns:
        One entry a condition: AccANLS (0-100), the other figures and the signature in ``notes``.

    Raises:
        DTVQAError: Two runs have one condition, or huggingface_hub is too old.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise DTVQAError(
            "this huggingface_hub knows no evaluation results; pip install -U huggingface_hub"
        ) from error
    _check_one_a_condition(items)
    entries = [
        EvalResultEntry(
            dataset_id=_dataset(item.run, dataset_id),
            task_id=task_id(item.run),
            value=round(item.row.cells[OVERALL, HEADLINE][0], 2),
            dataset_revision=_revision(item.run, dataset_id),
            source_url=source_url,
            notes=_notes(item),
        )
        for item in items
    ]
    found: list[dict[str, Any]] = eval_result_entries_to_yaml(entries)
    return found


def _check_one_a_condition(items: Sequence[Published]) -> None:
    seen: dict[str, Published] = {}
    for item in items:
        other = seen.setdefault(item.run.condition, item)
        if other is not item:
            raise DTVQAError(
                f"two runs in condition {item.run.condition!r} ({other.run.name}, "
                f"{item.run.name}); a model's results hold one entry a condition"
            )
    titles = dict.fromkeys(item.run.title or item.run.name for item in items)
    if len(titles) > 1:
        raise DTVQAError(f"runs of several models ({', '.join(titles)}); publish one at a time")


def _notes(item: Published) -> str:
    figures = [f"{HEADINGS[name]} {with_bounds(item.row, OVERALL, name)}" for name in METRICS]
    return f"condition {item.run.condition}; {', '.join(figures)}; {item.run.signature()}"


def model_index(items: Sequence[Published], *, dataset_id: str | None = None) -> dict[str, Any]:
    """The legacy ``model-index`` of a model card: all metrics of all parts.

    Args:
        items: Runs of one model, one a condition.
        dataset_id: Repository of the questions (default: DT-VQA's, for its test questions).

    Returns:
        ``{"model-index": [...]}`` for the card's front matter; values are 0-100.

    Raises:
        DTVQAError: Two runs have one condition, or runs are of several models.
    """
    from huggingface_hub import EvalResult
    from huggingface_hub.repocard_data import eval_results_to_model_index

    _check_one_a_condition(items)
    results = [
        EvalResult(
            task_type="visual-question-answering",
            dataset_type=_dataset(item.run, dataset_id),
            dataset_name=_what(item.run, part),
            dataset_config=f"{task_id(item.run)}/{part}",
            dataset_split=item.run.split,
            dataset_revision=_revision(item.run, dataset_id),
            metric_type=metric,
            metric_name=HEADINGS[metric],
            metric_value=round(value, 2),
            metric_args={"signature": str(item.run.signature())},
        )
        for item in items
        for (part, metric), (value, _) in item.row.cells.items()
    ]
    title = items[0].run.title or items[0].run.name
    return {"model-index": eval_results_to_model_index(title, results)}


# --- Every Eval Ever --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who publishes: the organisation, and its relation to the model.

    ``relationship`` is ``first_party``, ``third_party``, ``collaborative`` or ``other``.
    """

    organization: str
    relationship: str = "other"
    model_id: str | None = None


RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")


def every_eval_ever(item: Published, evaluator: Evaluator, retrieved: int) -> dict[str, Any]:
    """One run as a document of Every Eval Ever (schema 0.3.0).

    Args:
        item: The run.
        evaluator: Who publishes it.
        retrieved: The present time, in seconds since 1970.

    Returns:
        The document. Figures are 0-100 with their interval, the signature in each one's details.
    """
    run, model = item.run, evaluator.model_id or item.run.title or item.run.name
    identity = f"{task_id(run)}/{model}/{retrieved}"
    return {
        "schema_version": EVERY_EVAL_EVER_SCHEMA,
        "evaluation_id": identity,
        "retrieved_timestamp": str(retrieved),
        "source_metadata": {
            "source_name": "dtvqa-plugin",
            "source_type": "evaluation_run",
            "source_organization_name": evaluator.organization,
            "evaluator_relationship": evaluator.relationship,
        },
        "eval_library": {
            "name": "dtvqa-plugin",
            "version": __version__,
            "additional_details": {
                "host": run.context.host,
                "host_version": run.context.host_version,
            },
        },
        "model_info": {
            "name": model,
            "id": model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                "arguments": json.dumps(dict(run.context.arguments), sort_keys=True),
            },
        },
        "evaluation_results": [
            _result(item, part, metric, identity) for part, metric in item.row.cells
        ],
    }


def _result(item: Published, part: str, metric: str, identity: str) -> dict[str, Any]:
    run = item.run
    value, interval = item.row.cells[part, metric]
    count = item.row.counts.get(part, 0)
    uncertainty: dict[str, Any] = {"num_samples": count}
    if interval is not None:
        uncertainty["num_bootstrap_samples"] = item.table.resamples
        uncertainty["confidence_interval"] = {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": item.table.level,
            "method": "BCa bootstrap over images within each subset",
        }
    result: dict[str, Any] = {
        "evaluation_result_id": f"{identity}#{part}.{metric}",
        "evaluation_name": f"{task_id(run)}.{part}.{metric}",
        "source_data": _source_data(run, count),
        "metric_config": {
            "evaluation_description": _what(run, part),
            "metric_id": f"dtvqa.{metric}",
            "metric_name": HEADINGS[metric],
            "metric_kind": metric,
            "metric_unit": "percent",
            "metric_parameters": {"tau": run.tau},
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 100,
        },
        "score_details": {
            "score": value,
            "details": {"signature": str(run.signature())},
            "uncertainty": uncertainty,
        },
    }
    settings = _generation(run.context.settings)
    if settings:
        result["generation_config"] = settings
    return result


def _source_data(run: Run, count: int) -> dict[str, Any]:
    details = {"annotations_sha256": run.annotations.sha256}
    if not _is_benchmark(run):
        return {
            "dataset_name": _title(run),
            "source_type": "other",
            "additional_details": details,
        }
    return {
        "dataset_name": _title(run),
        "source_type": "hf_dataset",
        "hf_repo": REPO_ID,
        "hf_split": "test",
        "samples_number": count,
        "additional_details": {**details, "revision": run.annotations.revision or UNKNOWN},
    }


def _generation(settings: Mapping[str, str]) -> dict[str, Any]:
    """The settings that the schema names, as numbers; all of them as text."""
    known: dict[str, Any] = {}
    for name, keys in (
        ("temperature", ("temperature",)),
        ("top_p", ("top_p",)),
        ("top_k", ("top_k",)),
        ("max_tokens", ("max_tokens", "max_new_tokens")),
    ):
        for key in keys:
            try:
                number = float(settings[key])
            except (KeyError, ValueError):
                continue
            if name != "max_tokens":
                known[name] = number
            elif number >= 1:
                known[name] = int(number)
    if not settings:
        return {}
    return {"generation_args": known, "additional_details": dict(settings)}


def every_eval_ever_path(document: Mapping[str, Any], signature: str) -> str:
    """Where the datastore keeps a document; equal runs get equal names."""
    developer, _, model = str(document["model_info"]["id"]).rpartition("/")
    name = uuid.UUID(bytes=hashlib.sha256(signature.encode()).digest()[:16], version=4)
    return f"data/dtvqa/{_folder(developer)}/{_folder(model)}/{name}.json"


def _folder(name: str) -> str:
    return re.sub(r"[^\w.()=@+-]+", "_", name).strip("._") or UNKNOWN
