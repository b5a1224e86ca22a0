"""What reaches the model: by model class, by dataset name, through the host's own inference.

The model classes are the host's; they are made without weights, and only their last step, the
generation, is replaced by one that notes what came in.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vlmeval")

import vlmeval.vlm
from canned import CannedModel
from vlm_host import prediction_file
from vlmeval.inference import infer_data_job

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.hosts.vlmevalkit import register
from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset, DTVQANativeDataset
from dtvqa_plugin.hosts.vlmevalkit.host import need_host

register()


HONOURS = need_host().honours_dataset_prompt
SINGLE = "Answer the question using a single word or phrase."
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "Qwen2VLChat": {"_use_custom_prompt": True},
    "Qwen3VLChat": {"_use_custom_prompt": True},
    "InternVLChat": {
        "_use_custom_prompt": True,
        "use_custom_prompt_flag": True,
        "use_mpo_prompt": False,
        "use_cot": False,
        "cot_prompt": None,
        "screen_parse": False,
    },
    "MiniCPM_V": {},
    "MiniCPM_Llama3_V": {"vqa_prompt": SINGLE},
    "MiniCPM_V_2_6": {"vqa_prompt": SINGLE},
    "LLaVA": {},
    "LLaVA_Next": {},
    "LLaVA_OneVision": {},
    "QwenVL": {},
}
"""What the classes' own ``__init__`` would have set, as far as their prompt builders ask."""
CLASSES = [name for name in ATTRIBUTES if hasattr(vlmeval.vlm, name)]
ADDED = {
    "Qwen2VLChat": "\nPlease try to answer the question with short words or phrases if possible.",
    "Qwen3VLChat": "\nPlease answer concisely with short words or phrases when possible.",
    "InternVLChat": f"\n{SINGLE}",
    "MiniCPM_Llama3_V": f"{SINGLE}\n",
    "MiniCPM_V_2_6": SINGLE,
}
"""Words that each class adds where its own builder is let act (``DTVQA_NATIVE``)."""


def seen_by(name: str, dataset: DTVQADataset, folder: Path) -> list[list[dict[str, str]]]:
    seen: list[list[dict[str, str]]] = []

    def note(message: list[dict[str, str]], dataset: str | None = None) -> str:
        seen.append(message)
        return "noted"

    model = object.__new__(getattr(vlmeval.vlm, name))
    model.__dict__.update(ATTRIBUTES[name], generate_inner=note)
    infer_data_job(model, str(folder), name, dataset)
    return seen


@pytest.mark.parametrize("dataset_name", ["DTVQA", "DTVQA_PROMPTED"])
@pytest.mark.parametrize("name", CLASSES)
def test_benchmark_words_and_nothing_else(
    name: str, dataset_name: str, small_home: Path, tmp_path: Path
) -> None:
    dataset = DTVQADataset(dataset_name)
    instruction = PAPER_INSTRUCTION if dataset_name.endswith("PROMPTED") else ""
    texts = [instruction + record.question for record in dataset._records.values()]
    images = list(dataset.data["image_path"])

    seen = seen_by(name, dataset, tmp_path)
    assert [[part["value"] for part in message if part["type"] == "text"] for message in seen] == [
        [text] for text in texts
    ]
    assert [[part["value"] for part in message if part["type"] == "image"] for message in seen] == [
        [image] for image in images
    ]
    if HONOURS or name != "InternVLChat":
        assert {message[0]["type"] for message in seen} == {"image"}


@pytest.mark.parametrize("name", [name for name in CLASSES if name in ADDED])
def test_native_dataset_lets_the_class_add_its_words(
    name: str, small_home: Path, tmp_path: Path
) -> None:
    dataset = DTVQANativeDataset("DTVQA_NATIVE")
    seen = seen_by(name, dataset, tmp_path)
    for message, record in zip(seen, dataset._records.values(), strict=True):
        text = "".join(part["value"] for part in message if part["type"] == "text")
        assert record.question in text
        assert text.replace(record.question, "").strip("\n") == ADDED[name].strip("\n")


def test_internvl_gives_our_names_6_tiles_where_docvqa_gets_18() -> None:
    """A difference that the docs name: the host decides tiles by dataset name."""
    model = object.__new__(vlmeval.vlm.InternVLChat)
    tiles = {}
    for name in ("DTVQA", "DTVQA_NATIVE", "DocVQA_VAL"):
        model.set_max_num(name)
        tiles[name] = model.max_num
    assert tiles == {"DTVQA": 6, "DTVQA_NATIVE": 6, "DocVQA_VAL": 18}


@pytest.mark.parametrize(
    ("name", "arguments", "asked_here", "enforced", "said"),
    [
        ("DTVQA_PROMPTED", [], True, HONOURS, None),
        ("DTVQA_PROMPTED", [], False, None, "Scored from a file"),
        ("DTVQA_PROMPTED", ["--api-mode"], True, False, "--api-mode"),
        ("DTVQA_NATIVE", [], True, False, "The model class built its own prompt"),
    ],
)
def test_summary_says_whether_the_prompt_was_enforced(
    name: str,
    arguments: list[str],
    asked_here: bool,
    enforced: bool | None,
    said: str | None,
    small_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
    with caplog.at_level(logging.WARNING, logger="dtvqa_plugin"):
        dataset = vlmeval.dataset.build_dataset(name)
    path = tmp_path / f"m_{name}.tsv"
    if asked_here:
        answers = dict.fromkeys(dataset.data["question"], "Word0")
        infer_data_job(CannedModel(answers), str(tmp_path), "m", dataset)
        path = prediction_file(tmp_path, "m", name)
    else:
        path.write_text("index\tprediction\nDTScene/0\tWord0\n", encoding="utf-8")
    dataset.evaluate(str(path))
    summary = json.loads((tmp_path / f"m_{name}_summary.json").read_text(encoding="utf-8"))
    assert summary["condition"] == ("native" if "NATIVE" in name else "paper")
    assert summary["prompt_enforced"] is enforced
    if enforced is False and name != "DTVQA_NATIVE":
        assert summary["prompt_note"] in caplog.text
    if HONOURS:
        assert (summary["prompt_note"] or "").startswith(said or "")
        assert (summary["prompt_note"] is None) is (said is None)
