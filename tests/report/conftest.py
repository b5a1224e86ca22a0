"""Fixtures of the results room: each host runs once a session over the embedded sample."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from loopback import LoopbackOpenAI, parts, text_of
from PIL import Image
from report_runs import SAMPLE, run_host

from dtvqa_plugin.data import Record


def awkward_answer(record: Record, number: int) -> str:
    """What the loopback model says: right, padded, wrong, odd for files, thought aloud, nothing."""
    answer = record.answers[0]
    thoughts = (
        f"<think>perhaps {answer}?</think>{answer}",
        f"<|channel|>analysis<|message|>x {answer}?<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{answer}",
        f"analysisThe user asks for a word. Perhaps it is this one.assistantfinal{answer}",
    )
    says = (
        answer,
        f"The answer is {answer}.",
        "no idea",
        "N/A",
        "=SUM(1,2)",
        thoughts[number // 8 % len(thoughts)],
        f"<think>it says {answer}",
        f"007\x0b {answer}",
    )
    return says[number % len(says)]


def reply(request: dict[str, Any]) -> str:
    """Answer by question; a plain grey picture is answered with a guess."""
    text = text_of(request)
    number, record = max(
        ((i, r) for i, r in enumerate(SAMPLE) if text.endswith(r.question)),
        key=lambda pair: len(pair[1].question),
    )
    (picture,) = [value for kind, value in parts(request) if kind == "image"]
    assert isinstance(picture, bytes)
    colours = Image.open(io.BytesIO(picture)).convert("L").getextrema()
    if colours[0] == colours[1]:
        return record.answers[0] if number % 16 == 0 else "I cannot see any text."
    return awkward_answer(record, number)


@pytest.fixture(scope="session")
def lmms_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An lmms-eval output folder: the sample bare, with the paper's prompt, and over grey."""
    pytest.importorskip("lmms_eval.api")
    folder = tmp_path_factory.mktemp("lmms-output")
    tasks = "dtvqa_mini,dtvqa_mini_prompted,dtvqa_mini_blind"
    with LoopbackOpenAI(reply) as server:
        model = f"model_version=loopback,base_url={server.url},api_key=none"
        arguments = ["-m", "lmms_eval", "--model", "openai", "--model_args", model]
        arguments += ["--tasks", tasks, "--output_path", str(folder / "out"), "--log_samples"]
        output = run_host(arguments, folder)
    assert list(folder.rglob("*_results.json")), output[-3000:]
    return folder / "out"


@pytest.fixture(scope="session")
def vlmevalkit_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A VLMEvalKit work folder with xlsx predictions of the sample, bare and prompted."""
    pytest.importorskip("vlmeval")
    folder = tmp_path_factory.mktemp("vlmevalkit-output")
    with LoopbackOpenAI(reply) as server:
        entry = {
            "class": "GPT4V",
            "model": "loopback",
            "api_base": f"{server.url}/chat/completions",
            "key": "none",
            "temperature": 0,
            "max_tokens": 100,
            "retry": 2,
            "wait": 1,
        }
        names = ("DTVQA_MINI", "DTVQA_MINI_PROMPTED")
        data = {name: {"class": "DTVQADataset", "dataset": name} for name in names}
        config = folder / "config.json"
        config.write_text(json.dumps({"model": {"loopback": entry}, "data": data}))
        arguments = ["-m", "dtvqa_plugin.hosts.vlmevalkit", "--config", str(config)]
        arguments += ["--work-dir", str(folder / "out")]
        run_host(arguments, folder, PRED_FORMAT="xlsx", LMUData=str(folder))
    return folder / "out"
