"""Files in the shapes that the hosts really write, over questions of the embedded sample."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dtvqa_plugin.data import Record, records
from dtvqa_plugin.predictions.record import score_output

SAMPLE: tuple[Record, ...] = tuple(records("mini"))

Output = Callable[[Record], Any]


def right(record: Record) -> str:
    return record.answers[0]


def wrong(record: Record) -> str:
    return "no idea"


def lmms_sample(record: Record, number: int, output: Any, logged: Any = None) -> dict[str, Any]:
    """A line of ``*_samples_*.jsonl`` as lmms-eval 0.7.3 writes it.

    ``output`` is what the model gave, ``logged`` the host's ``filtered_resps`` if it is another:
    the host puts every response through ``str``.
    """
    first = output[0] if isinstance(output, list) else output
    sample: dict[str, Any] = {"doc_id": number, "target": str(list(record.answers))}
    if isinstance(output, list):
        sample["resps"] = output
    sample["filtered_resps"] = str(first) if logged is None else logged
    sample["doc_hash"] = f"{number:064d}"
    sample |= score_output(record.question_id, record.subset, record.answers, first, "none")
    sample["input"] = record.question
    return sample


def lmms_run(
    folder: Path,
    output: Output = right,
    *,
    stamp: str = "20261130_100000",
    task: str = "dtvqa_mini",
    model_args: str = "pretrained=Qwen/Qwen2.5-VL-7B-Instruct",
    generation: Mapping[str, Any] = {"max_new_tokens": 100, "temperature": 0},
    metadata: Mapping[str, Any] = {
        "condition": "none",
        "image": "original",
        "image_path_to_model": {},
    },
    config: Mapping[str, Any] | None = None,
    chosen: Sequence[Record] = SAMPLE,
    **top: Any,
) -> Path:
    """A results file and a sample log; returns the log."""
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "results": {task: {"alias": task}},
        "configs": {
            task: {
                "task": task,
                "generation_kwargs": dict(generation),
                "metadata": dict(metadata),
            }
        },
        "config": {"model": "qwen2_5_vl", "model_args": model_args, **(config or {})},
        **top,
    }
    (folder / f"{stamp}_results.json").write_text(json.dumps(results))
    rows = (lmms_sample(record, i, output(record)) for i, record in enumerate(chosen))
    return write_lines(folder / f"{stamp}_samples_{task}.jsonl", rows)


def vlmevalkit_run(
    folder: Path,
    output: Output = right,
    *,
    model: str = "m",
    dataset: str = "DTVQA_MINI",
    summary: Mapping[str, Any] | None = None,
    chosen: Sequence[Record] = SAMPLE,
) -> Path:
    """A tsv prediction file as VLMEvalKit writes it, and the adapter's summary beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{model}_{dataset}.tsv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, "excel-tab")
        writer.writerow(["index", "subset", "question", "image_path", "prediction"])
        for record in chosen:
            row = [record.question_id, record.subset, record.question, record.image]
            writer.writerow([*row, output(record)])
    if summary is not None:
        said = {"dataset": dataset, "model": model, "condition": "none", **summary}
        path.with_name(f"{path.stem}_summary.json").write_text(json.dumps(said))
    return path


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
    return path
