"""An exported set in both hosts: found, evaluated, titled by its own name and hash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annotate.conftest import ANSWER, draw, fill
from loopback import LoopbackOpenAI, text_of

from dtvqa_plugin.analysis.tables import result_tables
from dtvqa_plugin.annotate.export import ExportReport, export
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.init import Wish, make_project
from dtvqa_plugin.annotate.review.decisions import Decisions
from dtvqa_plugin.report import parse_signature, read_runs


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> ExportReport:
    """Six accepted questions over three images."""
    root = tmp_path_factory.mktemp("custom")
    for number in range(3):
        draw(root / "images" / f"{number}.png", "BLUE BIRD", f"pears 2.5{number}")
    project = make_project(root / "project", Wish("Shops", root / "images", "scene"))
    fill(project, [ANSWER] * 3)
    extract(project)
    decisions = Decisions(project)
    for _, pair in project.pairs.read():
        decisions.record(pair, "Ada", "accept", pair["question"], pair["answers"])
    return export(project, root / "out")


@pytest.fixture
def custom(
    exported: ExportReport, dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch
) -> ExportReport:
    monkeypatch.setenv("DTVQA_CUSTOM", str(exported.folder))
    return exported


@pytest.fixture
def server() -> Iterator[LoopbackOpenAI]:
    """Knows the shop's name, not the price."""
    with LoopbackOpenAI(lambda r: "Blue Bird" if "called" in text_of(r) else "?") as running:
        yield running


def check_title(metadata: dict[str, Any], exported: ExportReport) -> None:
    assert metadata["benchmark"] == f"Shops (custom set {exported.sha256[:16]}, not DT-VQA)"
    assert metadata["data"]["custom"] == {
        "name": "Shops",
        "sha256": exported.sha256,
        "as_exported": True,
    }


@pytest.mark.parametrize("task", ["dtvqa_custom", "dtvqa_custom_prompted"])
def test_lmms_eval_runs_the_set(
    custom: ExportReport, server: LoopbackOpenAI, tmp_path: Path, task: str
) -> None:
    pytest.importorskip("lmms_eval.api")  # the tests have a folder of the first name
    import lmms_eval.models  # loads the entry points: our tasks become known
    from lmms_host import evaluate, scores_of

    assert lmms_eval.models
    results = evaluate(server, [task], log_samples=True)
    assert scores_of(results, task)["acc"] == 0.5
    assert server.count == 6
    check_title(results["configs"][task]["metadata"], custom)
    assert ("word or phrase" in text_of(server.requests[0])) == task.endswith("prompted")


def test_score_signs_the_set_with_its_name_and_hash(custom: ExportReport, tmp_path: Path) -> None:
    reading = json.loads((custom.folder / "test" / "DT_custom.json").read_text())
    lines = [
        {"question_id": f"{r['dataset_name']}/{r['id']}", "prediction": r["answers"][0]}
        for r in reading
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    (run,) = read_runs(path)
    signature = parse_signature(str(run.signature()))
    assert (signature.benchmark, signature.split) == ("DTVQA-CUSTOM", "custom")
    assert signature.revision == f"Shops@{custom.sha256[:16]}"
    assert signature.subsets == {"Shops-scene": 6}
    (table,) = result_tables([run], resamples=100)
    assert "not DT-VQA" in table.title
    assert list(table.parts)[-1] == "Shops-scene"


def test_vlmevalkit_runs_the_set(
    custom: ExportReport, server: LoopbackOpenAI, tmp_path: Path
) -> None:
    pytest.importorskip("vlmeval")
    from vlmevalkit.vlm_host import infer, results

    from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset

    dataset = DTVQADataset("DTVQA_CUSTOM")
    path = infer(dataset, server, tmp_path / "work")
    dataset.evaluate(str(path))
    summary, questions = results(tmp_path / "work", "loopback", "DTVQA_CUSTOM")
    check_title(summary, custom)
    assert summary["scores"]["Overall"]["Acc"] == 50.0
    assert len(questions) == 6
