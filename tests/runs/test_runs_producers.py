"""Logs that inspect_ai, EvalScope and ms-swift wrote themselves (tests/runs/producers)."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from host_files import lmms_run

from dtvqa_plugin.predictions.kinds import Kind
from dtvqa_plugin.report import read_run, read_runs

PRODUCERS = Path(__file__).parent / "producers"
ASKED = json.loads((PRODUCERS / "questions.json").read_text(encoding="utf-8"))


def said_by(path: Path) -> dict[str, list[str]]:
    """Question -> outputs that score 1, of each repeat."""
    run = read_run(path)
    repeats = run.repeats or (run.answers,)
    return {a.question_id: [given[i].text for given in repeats] for i, a in enumerate(run.answers)}


TINY = "openai-api/loop/tiny"
RIGHT = {
    asked["question_id"]: "no idea" if place == len(ASKED) - 1 else asked["answer"]
    for place, asked in enumerate(ASKED)
}


@pytest.mark.parametrize(
    ("name", "kind", "host", "model", "settings"),
    [
        (
            "inspect.eval",
            Kind.INSPECT,
            "inspect_ai=0.3.285",
            "openai-api/loop/tiny",
            "max_tokens=50",
        ),
        (
            "inspect.json",
            Kind.INSPECT,
            "inspect_ai=0.3.285",
            "openai-api/loop/tiny",
            "max_tokens=50",
        ),
        ("evalscope", Kind.EVALSCOPE, "EvalScope=1.14.1", "loop", "max_tokens=20"),
        ("evalscope/predictions", Kind.EVALSCOPE, "EvalScope=1.14.1", "loop", "max_tokens=20"),
        ("evalscope/reviews", Kind.EVALSCOPE_REVIEW, "EvalScope=1.14.1", "loop", "max_tokens=20"),
    ],
)
def test_logs_that_the_real_programs_wrote(
    name: str, kind: Kind, host: str, model: str, settings: str
) -> None:
    """Written by producers/make.py: six questions, two responses to each."""
    run = read_run(PRODUCERS / name)
    assert run.kind is kind
    assert said_by(PRODUCERS / name) == {key: [text, text] for key, text in RIGHT.items()}
    signature = run.signature()
    assert f"{signature.host}={signature.host_version}" == host
    assert run.name == model
    assert settings in signature.generation
    assert "key" not in str(signature)


def test_a_file_that_ms_swift_wrote_is_read_by_picture_and_question() -> None:
    path = PRODUCERS / "swift.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert not any("id" in line or "question_id" in line for line in lines)
    said = {
        a["question_id"]: [line["response"].strip()] for a, line in zip(ASKED, lines, strict=True)
    }
    assert said_by(path) == said
    assert read_run(path).signature().host == "ms-swift"


def changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A log of inspect_ai with one sample changed, packed by deflate as older versions did."""
    document = json.loads((PRODUCERS / "inspect.json").read_text(encoding="utf-8"))
    samples = [sample for sample in document.pop("samples") if sample["epoch"] == 1]
    change(next(sample for sample in samples if sample["id"] == ASKED[0]["question_id"]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(document))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    return path


def parts_of_reasoning(sample: dict[str, Any]) -> None:
    sample["output"]["choices"][0]["message"]["content"] = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "Quill"},
        {"type": "text", "text": "er"},
    ]


def broken(sample: dict[str, Any]) -> None:
    sample["error"] = {"message": "timeout"}


def nothing(sample: dict[str, Any]) -> None:
    sample["output"]["choices"] = []


def attached(sample: dict[str, Any]) -> None:
    sample["output"]["choices"][0]["message"]["content"] = "attachment://ab12"
    sample["attachments"] = {"ab12": "long text"}


@pytest.mark.parametrize(
    ("change", "text", "failed"),
    [
        (parts_of_reasoning, "Quiller", False),
        (attached, "long text", False),
        (broken, "", True),
        (nothing, "", True),
    ],
)
def test_a_sample_of_inspect(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], text: str, failed: bool
) -> None:
    """A log of a killed run has no header.json."""
    run = read_run(changed(tmp_path / "log.eval", change))
    assert (run.answers[0].text, run.answers[0].failed) == (text, failed)
    assert run.name == TINY


def test_a_packed_log_of_lmms_eval_keeps_what_stands_beside_it(tmp_path: Path) -> None:
    lmms_run(tmp_path)
    (whole,) = read_runs(tmp_path)
    for path in tmp_path.rglob("*.jsonl"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    (run,) = read_runs(tmp_path)
    assert run.signature() == whole.signature()
    assert run.answers == whole.answers
