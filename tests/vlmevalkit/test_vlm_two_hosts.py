"""One truth in two hosts: equal predictions, equal scores; equal questions, equal requests."""

from __future__ import annotations

import functools
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("vlmeval")
pytest.importorskip("lmms_eval.api")

import pandas
from awkward import PREDICTIONS
from canned import CannedModel
from lmms_eval import evaluator
from lmms_eval.api.metrics import mean
from lmms_eval.api.model import lmms
from lmms_eval.loggers import EvaluationTracker
from lmms_eval.tasks import TaskManager
from loopback import LoopbackOpenAI, image_of, parts, text_of
from PIL import Image
from vlm_host import infer, prediction_file
from vlm_release import write_release
from vlmeval.inference import infer_data_job
from vlmeval.smp import dump

from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.data import records
from dtvqa_plugin.hosts.lmms_eval.task import process_results
from dtvqa_plugin.hosts.vlmevalkit import register
from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset
from dtvqa_plugin.hosts.vlmevalkit.host import need_host
from dtvqa_plugin.metrics import prepare
from dtvqa_plugin.utils.images import load_rgb

register()


KEYS = ("accanls", "anls", "acc")
HEADINGS = ("AccANLS", "ANLS", "Acc")
SAME = (*KEYS, "unanswered")
FORMATS = ["tsv", "xlsx", "json"] if need_host().honours_pred_format else ["xlsx"]


def evaluated(dataset: DTVQADataset, path: Path) -> tuple[pandas.DataFrame, list[dict[str, Any]]]:
    frame = dataset.evaluate(str(path)).set_index("Subset")
    lines = path.with_name(f"{path.stem}_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return frame, [json.loads(line) for line in lines]


def test_all_golden_vectors(
    shared_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gzip.open(shared_dir / "golden" / "scores.jsonl.gz", "rt", encoding="utf-8") as handle:
        golden = [json.loads(line) for line in handle]
    assert len(golden) == 12_000
    release = write_release(tmp_path / "DT-VQA", [row["answers"] for row in golden])
    monkeypatch.setenv("DTVQA_HOME", str(release))
    dataset = DTVQADataset("DTVQA")
    path = tmp_path / "golden_DTVQA.tsv"
    predictions = [row["prediction"] for row in golden]
    dump(pandas.DataFrame({"index": dataset.data["index"], "prediction": predictions}), str(path))
    frame, ours = evaluated(dataset, path)

    theirs = [
        process_results({**question, "image": question["subset"]}, [prediction])
        for question, prediction in zip(ours, predictions, strict=True)
    ]
    for key in SAME:
        assert [question[key] for question in ours] == [sample[key] for sample in theirs]
    assert [{k: q[k] for k in s["dtvqa"]} for q, s in zip(ours, theirs, strict=True)] == [
        sample["dtvqa"] for sample in theirs
    ]
    for subset in SUBSETS:
        rows = [s for s in theirs if s["dtvqa"]["subset"] == subset]
        wanted = [mean([row[key] for row in rows]) * 100 for key in KEYS]
        assert list(frame.loc[subset, list(HEADINGS)]) == wanted
    wanted = [mean([row[key] for row in theirs]) * 100 for key in KEYS]
    assert list(frame.loc["Overall", list(HEADINGS)]) == wanted
    as_released = [
        (question, row)
        for question, row in zip(ours, golden, strict=True)
        if prepare(row["prediction"]).text == row["prediction"]
    ]
    assert len(as_released) > 10_000
    for question, row in as_released:
        assert [question[key] for key in KEYS] == [row[key] for key in KEYS]


class CannedLmms(lmms):  # type: ignore[misc]  # the host ships no types
    """An lmms-eval model with a fixed answer for each question."""

    is_simple = True

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: Sequence[Any]) -> list[str]:
        return [self.answers[request.args[0]] for request in requests]

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
        raise NotImplementedError


@functools.cache
def task_manager() -> TaskManager:
    return TaskManager()


def lmms_run(model: Any, tasks: list[str], **options: Any) -> dict[str, Any]:
    results = evaluator.simple_evaluate(
        model=model, tasks=tasks, batch_size=1, task_manager=task_manager(), **options
    )
    assert isinstance(results, dict)
    return results


@pytest.fixture
def awkward_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    answers = [[text.strip() or "word", "x"] for text in PREDICTIONS]
    home = write_release(tmp_path / "DT-VQA", answers)
    monkeypatch.setenv("DTVQA_HOME", str(home))
    return home


def test_awkward_predictions_through_each_hosts_own_files(
    awkward_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {f"Question {n}?": text for n, text in enumerate(PREDICTIONS)}
    tasks = [f"dtvqa_{subset.task}" for subset in SUBSETS.values()]
    results = lmms_run(CannedLmms(answers), tasks, log_samples=True)
    tracker = EvaluationTracker(output_path=str(tmp_path / "lmms"))
    tracker.date_id, tracker.general_config_tracker.model_name_sanitized = "run", "canned"
    theirs = {}
    for task in tasks:
        tracker.save_results_samples(task, results["samples"][task])
        (path,) = (tmp_path / "lmms").rglob(f"*samples_{task}.jsonl")
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            sample = json.loads(line)
            theirs[sample["dtvqa"]["question_id"]] = sample
    assert len(theirs) == len(PREDICTIONS)

    for suffix in FORMATS:
        monkeypatch.setenv("PRED_FORMAT", suffix)
        dataset = DTVQADataset("DTVQA")
        folder = tmp_path / suffix
        folder.mkdir()
        infer_data_job(CannedModel(answers), str(folder), "canned", dataset)
        frame, ours = evaluated(dataset, prediction_file(folder, "canned", "DTVQA"))
        for question in ours:
            sample = theirs[question["question_id"]]
            assert {key: question[key] for key in SAME} == {key: sample[key] for key in SAME}
            assert question["prediction"] == sample["dtvqa"]["prediction"]
        for subset in SUBSETS.values():
            row = results["results"][f"dtvqa_{subset.task}"]
            wanted = [row[f"{key},none"] * 100 for key in KEYS]
            assert list(frame.loc[subset.name, list(HEADINGS)]) == wanted


def both_hosts(
    task: str, dataset: DTVQADataset, folder: Path
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The requests that lmms-eval and VLMEvalKit sent, in pairs by their text."""
    sent = []
    with LoopbackOpenAI(lambda request: "7") as server:
        options = f"model_version=loopback,base_url={server.url},api_key=none"
        options += ",num_concurrent=4"
        lmms_run("openai", [task], model_args=options)
        sent.append(different(server.requests))
    with LoopbackOpenAI(lambda request: "7") as server:
        infer(dataset, server, folder, img_detail="high")
        sent.append(different(server.requests))
    return list(zip(*sent, strict=True))


def different(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests in the order of their text, each once: a host sends a request that failed again.

    Both clients do this by themselves when a busy machine breaks a connection or a time limit.
    """
    return sorted({json.dumps(each): each for each in requests}.values(), key=text_of)


def check_texts(pairs: list[tuple[dict[str, Any], dict[str, Any]]], dataset: Any) -> None:
    """Both hosts ask every question in the dataset's words, the image before the text."""
    for place in range(2):
        asked = [pair[place] for pair in pairs]
        assert [text_of(request) for request in asked] == sorted(dataset.data["question"])
        assert all([kind for kind, _ in parts(r)] == ["image", "text"] for r in asked)


def test_same_figures_on_the_embedded_sample(tmp_path: Path) -> None:
    """To the last bit in every cell: the sample is one task in lmms-eval as well."""
    questions = records("mini")
    answers = {
        record.question: (record.answers[0] if n % 3 else f"{record.answers[0][:-1]}~")
        for n, record in enumerate(questions)
    }
    row = lmms_run(CannedLmms(answers), ["dtvqa_mini"])["results"]["dtvqa_mini"]
    dataset = DTVQADataset("DTVQA_MINI")
    infer_data_job(CannedModel(answers), str(tmp_path), "canned", dataset)
    frame, _ = evaluated(dataset, prediction_file(tmp_path, "canned", "DTVQA_MINI"))
    assert list(frame.index) == [*SAMPLE_SUBSETS, "Overall"]
    wanted = [row[f"{key},none"] * 100 for key in KEYS]
    assert list(frame.loc["Overall", list(HEADINGS)]) == wanted
    assert 0 < wanted[2] < 100


def pixels(image: Image.Image) -> np.ndarray[Any, np.dtype[np.int16]]:
    return np.asarray(image.convert("RGB"), dtype=np.int16)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("dtvqa", "DTVQA"),
        ("dtvqa_prompted", "DTVQA_PROMPTED"),
        ("dtvqa_mini", "DTVQA_MINI"),
    ],
)
def test_same_requests(task: str, name: str, small_home: Path, tmp_path: Path) -> None:
    dataset = DTVQADataset(name)
    check_texts(both_hosts(task, dataset, tmp_path), dataset)


def test_same_requests_on_the_real_questions_whose_images_are_here(
    shared_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("test", "image"):
        (home / name).symlink_to(shared_dir / "hub" / "DT-VQA" / name)
    monkeypatch.setenv("DTVQA_HOME", str(home))
    monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", "1")
    dataset = DTVQADataset("DTVQA_DTTabShot")
    assert len(dataset) == 146
    pairs = both_hosts("dtvqa_tabshot", dataset, tmp_path / "vlm")
    check_texts(pairs, dataset)
    paths: dict[str, set[str]] = {}
    for row in dataset.data.itertuples():
        paths.setdefault(row.question, set()).add(row.image_path)
    worst = 0.0
    for other, mine in pairs:
        if len(paths[text_of(mine)]) > 1:
            continue  # the same question about several tables: no telling which request is whose
        (path,) = paths[text_of(mine)]
        source = pixels(load_rgb(path))
        # What we hand over: the very pixels. What the hosts send on: lmms-eval a PNG,
        # VLMEvalKit's API classes a JPEG of quality 75, at least 100 pixels on each side.
        assert np.array_equal(pixels(Image.open(path)), source)
        assert np.array_equal(pixels(Image.open(io.BytesIO(image_of(other)))), source)
        sent = Image.open(io.BytesIO(image_of(mine)))
        assert sent.format == "JPEG"
        if min(source.shape[:2]) < 100:
            assert min(sent.size) >= 99
            continue
        seen = pixels(sent)
        assert seen.shape == source.shape
        worst = max(worst, float(np.abs(seen - source).mean()))
    assert worst < 4.0
