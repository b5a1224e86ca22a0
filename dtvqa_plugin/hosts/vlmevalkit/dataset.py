"""The dataset classes VLMEvalKit builds. Seen on ms-vlmeval 0.0.20 and nvidia-vlmeval 26.3.

``TYPE`` decides which words a model class adds: a type that contains ``VQA``, ``MCQ``
or ``Y/N`` makes some twenty of them add an instruction, ``DTQA`` makes none of the known ones.
Local inference of ms-vlmeval and of a checkout also asks ``force_use_dataset_prompt`` first.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas
from tabulate import tabulate
from vlmeval.dataset.image_base import ImageBaseDataset

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.data import data_signature, load_split, read_split
from dtvqa_plugin.data.splits import benchmark_title
from dtvqa_plugin.errors import DataError, HostError
from dtvqa_plugin.hosts.given_text import given_text
from dtvqa_plugin.hosts.vlmevalkit.earlier import guard
from dtvqa_plugin.hosts.vlmevalkit.earlier.asked import (
    Answers,
    Question,
    Run,
    count_answers,
    differences,
    refusal,
)
from dtvqa_plugin.hosts.vlmevalkit.evaluation import (
    OVERALL,
    Evaluation,
    Joined,
    evaluate,
    join,
    write_results,
)
from dtvqa_plugin.hosts.vlmevalkit.host import Host, need_host
from dtvqa_plugin.hosts.vlmevalkit.images import path_for_model
from dtvqa_plugin.hosts.vlmevalkit.names import DATASETS, DatasetEntry, get_entry
from dtvqa_plugin.metrics import DEFAULT_TAU, is_failure
from dtvqa_plugin.metrics.names import HEADINGS, HEADLINE_FIRST
from dtvqa_plugin.predictions.reader import read_predictions
from dtvqa_plugin.predictions.rows import PredictionTable
from dtvqa_plugin.utils.files import explained, file_sha256

logger = logging.getLogger("dtvqa_plugin")

PRIMARY_METRIC = f"Subset={OVERALL}|{HEADINGS['accanls']}"
"""The key under which the host's run report keeps a cell of the returned table."""

scored: list[tuple[str, Path]] = []
"""Each (dataset name, prediction file) scored in this process: the launcher looks here, because
the host always ends with status 0."""


class DTVQADataset(ImageBaseDataset):  # type: ignore[misc]  # the host ships no types
    """DT-VQA in VLMEvalKit, asked in the benchmark's own words (see `names.DATASETS`)."""

    TYPE = "DTQA"
    MODALITY = "IMAGE"
    force_use_dataset_prompt = True

    def __init__(self, dataset: str = "DTVQA", skip_noimg: bool = True) -> None:
        # Not the host's __init__: it evaluates ids as Python code and makes ~/LMUData.
        self.dataset_name = dataset
        self.skip_noimg = skip_noimg
        self.meta_only = True
        self.data = self.load_data(dataset)
        self.img_root = ""
        self.answers: tuple[Path, Answers] | None = None
        guard.install()
        _warn_if_uncontrolled(self.entry)

    @property
    def entry(self) -> DatasetEntry:
        """What this dataset's name asks. Raises HostError for a name of the other class."""
        entry = get_entry(self.dataset_name)
        if entry.name not in self.supported_datasets():
            raise HostError(
                f"dataset {entry.name!r} is not of class {type(self).__name__}; "
                f'in the config entry write "class": "{entry.class_name}"'
            )
        return entry

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Return the names this class answers to."""
        return [name for name, entry in DATASETS.items() if not entry.native]

    def load_data(self, dataset: str) -> pandas.DataFrame:
        """Return index (the question id), subset, question, image_path (absolute); no images.

        ``question`` is the whole text to ask: a model class that builds its own message from the
        row, where the host lets it, still asks with the dataset's prompt.
        Raises DataError when annotations, images or the recognised text that the dataset gives are
        missing.
        """
        entry = self.entry
        present = set(load_split(entry.split, entry.subset)["question_id"])
        reading = read_split(entry.split, entry.subset)
        self._records = {
            record.question_id: record
            for record in reading.records
            if record.question_id in present
        }
        records = self._records.values()
        prompt = get_prompt("none" if entry.native else entry.prompt)
        self._given = given_text(entry.split, records) if entry.gives_text else None
        texts = {} if self._given is None else self._given.by_image
        return pandas.DataFrame(
            {
                "index": list(self._records),
                "subset": [record.subset for record in records],
                "question": [
                    prompt.render(record.question, texts.get(record.image)) for record in records
                ],
                "image_path": [str(reading.store.image_path(record.image)) for record in records],
            },
            dtype=object,
        )

    def dump_image(self, line: Mapping[str, Any]) -> list[str]:
        """Return the path of the row's image as a model is to see it; none in ``..._TEXT``."""
        if not self.entry.gives_picture:
            return []
        return [str(path_for_model(Path(line["image_path"]), self.entry.longest_side))]

    def build_prompt(self, line: int | Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the image, then the question in this dataset's prompt."""
        row = self.data.iloc[line] if isinstance(line, int) else line
        images = [{"type": "image", "value": path} for path in self.dump_image(row)]
        return [*images, {"type": "text", "value": row["question"]}]

    def asked_questions(self, names: Iterable[str]) -> dict[str, Question]:
        """Return what is asked for each question id: text, image content, condition.

        Raises DataError when an image cannot be read.
        """
        rows = self.data.set_index("index").loc[list(names)]
        digest = functools.cache(_image_digest)
        return {
            name: Question(text, digest(path), self.entry.condition)
            for name, text, path in zip(
                rows.index, rows["question"], rows["image_path"], strict=True
            )
        }

    def prompt_control(self) -> dict[str, Any]:
        """Return whether the model sees the benchmark's words alone, and if not, why."""
        reasons = list(_uncontrolled(self.entry, _host()))
        return {"prompt_enforced": not reasons, "prompt_note": " ".join(reasons) or None}

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> pandas.DataFrame:
        """Score a prediction file; print and return the paper's table (scores times 100).

        Writes the questions and a summary beside the file. ``judge_kwargs`` are the host's; no
        judge is used. Raises DataError for a file that cannot be read.
        """
        path = Path(eval_file)
        if not path.is_file():
            raise DataError(_no_file(path))
        table = read_predictions(path)
        answers, runs = self._provenance(path, table)
        records = [self._records[name] for name in self.data["index"]]
        joined = join([record.question_id for record in records], table, self._memory())
        result = evaluate(records, joined, self.entry.condition)
        remarks = answers.remarks() + joined.remarks(len(records))
        remarks += [f"{place} cannot be read: {why}." for place, why in table.faults]
        if result.message:
            remarks.append(result.message)
        summary = self._summary(path, joined, result, remarks, answers, runs)
        for remark in remarks:
            logger.warning("dtvqa-plugin: %s: %s", path.name, remark)
        details, overview = write_results(path, result.questions, summary)
        frame = _frame(result)
        print(f"\n{self.dataset_name}, condition: {self.entry.condition}, scores times 100")
        print(tabulate(frame, headers="keys", floatfmt=".2f", showindex=False))
        print(f"Question scores: {details}\nSummary: {overview}\n")
        scored.append((self.dataset_name, path))
        return frame

    def _memory(self) -> dict[str, object] | None:
        """This process's own predictions, where the host has left them (local inference)."""
        if "prediction" not in self.data:
            return None
        return dict(zip(self.data["index"], self.data["prediction"], strict=True))

    def _provenance(self, path: Path, table: PredictionTable) -> tuple[Answers, list[Run]]:
        """Which answers are of earlier runs, and the runs that asked, as far as is known.

        Raises HostError when the record says that other questions were asked.
        """
        names = list(self.data["index"])
        rows = {row.index for row in table.rows}
        present = [name for name in names if name in rows]
        asked = guard.fitting_record(path, table)
        runs = [] if asked is None else asked.runs_of(present)
        if self.answers is not None and self.answers[0] == path.parent.resolve():
            guard.seal(path, table)
            return self.answers[1], runs
        if asked is not None:
            lines = differences(asked, present, self.asked_questions(present))
            if lines:
                raise HostError(refusal(path, [run.date for run in runs], lines, "the dataset"))
        return count_answers(asked, names, present), runs

    def _summary(
        self,
        path: Path,
        joined: Joined,
        result: Evaluation,
        remarks: list[str],
        answers: Answers,
        runs: Sequence[Run],
    ) -> dict[str, Any]:
        entry = self.entry
        ending = f"_{self.dataset_name}"
        return {
            "benchmark": benchmark_title(entry.split),
            "dataset": self.dataset_name,
            "model": path.stem[: -len(ending)] if path.stem.endswith(ending) else path.stem,
            "condition": entry.condition,
            "prompt_text": _prompt_text(entry),
            **self._given_fields(),
            **self._prompt_control_of(answers, runs),
            "scores": result.scores,
            "acc": "containment",
            "tau": DEFAULT_TAU,
            "unanswered": dict(result.unanswered),
            "file": {
                "name": path.name,
                "sha256": file_sha256(path),
                "missing": joined.missing,
                "unknown": joined.unknown,
                "doubled": joined.doubled,
                "contradictory": joined.contradictory,
                "reordered": joined.reordered,
                "recovered": joined.recovered,
                "losses": len(joined.losses),
                "blank_cells": joined.blank_cells,
            },
            "remarks": remarks,
            "data": data_signature(entry.split, entry.subset),
            "host": dict(runs[-1].host) if runs else need_host().identity,
            "dtvqa_plugin": __version__,
            "answers": answers.as_json(),
            **_model_of(runs),
        }

    def _given_fields(self) -> dict[str, str]:
        """The prompt's name, and the engine of the recognised text that stands in it."""
        if self._given is None:
            return {}
        return {"prompt_name": self.entry.prompt, "recognised_by": self._given.engine}

    def _prompt_control_of(self, answers: Answers, runs: Sequence[Run]) -> dict[str, Any]:
        """As the runs that asked noted it; ``prompt_enforced`` is None where that is not known."""
        if answers.unknown or not (runs or self._memory()):
            note = "Scored from a file: in which mode the host asked is not known."
            return {"prompt_enforced": None, "prompt_note": note}
        if not runs:
            return self.prompt_control()
        notes = dict.fromkeys(run.prompt_note for run in runs if run.prompt_note)
        enforced = all(run.prompt_enforced for run in runs)
        return {"prompt_enforced": enforced, "prompt_note": " ".join(notes) or None}

    @classmethod
    def report_primary_metric(cls, metrics: Mapping[str, Any] | None) -> dict[str, float]:
        """Return Overall AccANLS (0-100) for the host's run report."""
        value = (metrics or {}).get(PRIMARY_METRIC)
        return {} if value is None else {PRIMARY_METRIC: float(value)}

    @classmethod
    def report_infer_err(cls, prediction_file: str | Path | None) -> dict[str, int]:
        """Count failed calls for the host's run report."""
        if prediction_file is None or not Path(prediction_file).is_file():
            return {"failed": 0, "total": 0}
        try:
            rows = read_predictions(prediction_file).rows
        except DataError as error:  # the report covers other datasets as well
            logger.warning("dtvqa-plugin: %s", error)
            return {"failed": 0, "total": 0}
        return {"failed": sum(is_failure(row.prediction) for row in rows), "total": len(rows)}

    @classmethod
    def report_judge_err(
        cls, prediction_file: str | Path | None, **asked: Any
    ) -> dict[str, int | None]:
        """Return nothing: no judge is used, so none can fail."""
        return {"failed": None, "total": None}


class DTVQANativeDataset(DTVQADataset):
    """DT-VQA asked in the model's own way: its class may add words, pick tiles, set lengths.

    For a model's best figure. It is not the paper's condition, so it has its own name.
    """

    TYPE = "VQA"
    force_use_dataset_prompt = False

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Return the names this class answers to."""
        return [name for name, entry in DATASETS.items() if entry.native]


def _prompt_text(entry: DatasetEntry) -> str | None:
    if entry.native:
        return None
    return get_prompt(entry.prompt).render("{question}", "{text}" if entry.gives_text else None)


def _frame(result: Evaluation) -> pandas.DataFrame:
    columns = [*(HEADINGS[key] for key in HEADLINE_FIRST), "n", "failed"]
    rows = [[name, *(part[key] for key in columns)] for name, part in result.scores.items()]
    return pandas.DataFrame(rows, columns=["Subset", *columns])


def _model_of(runs: Sequence[Run]) -> dict[str, Any]:
    """The model as the last run that asked had it, and what its class does to a picture."""
    if not runs:
        return {"model_settings": None, "image_path_to_model": {"encoding": "unknown"}}
    model = dict(runs[-1].model)
    return {"image_path_to_model": model.pop("image_path_to_model", {}), "model_settings": model}


def _image_digest(path: str) -> str:
    with explained(Path(path), "read"):
        return file_sha256(Path(path))


def _uncontrolled(entry: DatasetEntry, host: Host) -> Iterator[str]:
    if entry.native:
        yield "The model class built its own prompt."
        return
    advice = (
        "The dataset's type keeps the known model classes from adding words, "
        "but not a class that always adds its own."
    )
    if "--api-mode" in sys.argv:
        yield f"--api-mode does not ask the dataset for its prompt first. {advice}"
    elif not host.honours_dataset_prompt:
        yield (
            f"{host.distribution} {host.version} does not ask the dataset for its prompt first. "
            f"{advice}"
        )


def _warn_if_uncontrolled(entry: DatasetEntry) -> None:
    for reason in () if entry.native else _uncontrolled(entry, _host()):
        logger.warning("dtvqa-plugin: %s: %s", entry.name, reason)


@functools.cache
def _host() -> Host:
    return need_host()


def _no_file(path: Path) -> str:
    pickled = path.with_suffix(".pkl")
    if pickled.is_file():
        return (
            f"{path}: the host could not write this format and left {pickled.name}, which is never "
            "opened (a pickle can run code); set PRED_FORMAT=json and run the inference again"
        )
    return f"{path}: no such prediction file; run the inference first"
