"""The conditions in both hosts: the same request texts, the same pixels, their own names."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("vlmeval")
pytest.importorskip("lmms_eval.api")

from condition_text import ENGINE, texts
from lmms_host import command as lmms_command
from lmms_host import evaluate, scores_of
from loopback import LoopbackOpenAI, parts, text_of
from PIL import Image
from vlm_host import command as vlm_command
from vlm_host import infer, results, write_config

from dtvqa_plugin.data import records
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.hosts.vlmevalkit import register
from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset
from dtvqa_plugin.report import parse_signature, read_run
from dtvqa_plugin.utils.images import load_rgb, reduced

register()

LIMIT = 6
FIRST = records("mini")[:LIMIT]
PICTURES = {"px448": 448, "px896": 896, "text": None, "image_text": 10**6}
"""Longest side of the picture by condition; None where there is none."""


def asked(server: LoopbackOpenAI) -> list[dict[str, Any]]:
    return sorted(server.requests, key=text_of)


def picture(request: dict[str, Any]) -> Image.Image | None:
    found = [value for kind, value in parts(request) if kind == "image"]
    return Image.open(io.BytesIO(bytes(found[0]))) if found else None  # type: ignore[arg-type]


@pytest.mark.parametrize("condition", PICTURES)
def test_both_hosts_send_the_same_text_and_picture(
    condition: str, recognised: Path, tmp_path: Path
) -> None:
    with LoopbackOpenAI(lambda request: "7") as server:
        evaluate(server, [f"dtvqa_mini_{condition}"], limit=LIMIT)
        from_lmms = asked(server)
    dataset = DTVQADataset(f"DTVQA_MINI_{condition.upper()}")
    dataset.data = dataset.data.iloc[:LIMIT]
    with LoopbackOpenAI(lambda request: "7") as server:
        infer(dataset, server, tmp_path, img_detail="high")
        from_vlm = asked(server)
    assert [text_of(r) for r in from_lmms] == [text_of(r) for r in from_vlm]
    assert len(from_lmms) == LIMIT
    store = get_split("mini").store()
    by_question = {record.question: record for record in FIRST}
    for first, second in zip(from_lmms, from_vlm, strict=True):
        text = text_of(first)
        record = by_question[text.splitlines()[-1]]
        if "text" in condition:
            lines = texts()[record.image].lines
            places = [text.find(line.text) for line in lines]
            assert min(places) > 0
            assert text.endswith(f"\n\n{record.question}")
        else:
            assert text == record.question
        side = PICTURES[condition]
        shown = [picture(first), picture(second)]
        if side is None:
            assert shown == [None, None]
            continue
        exact = reduced(load_rgb(store.image_path(record.image)), side)
        assert shown[0] is not None
        assert np.array_equal(np.asarray(shown[0].convert("RGB")), np.asarray(exact))
        # VLMEvalKit's class opens the file that it is handed and sends a JPEG of it.
        row = dataset.data.set_index("index").loc[record.question_id]
        (handed,) = dataset.dump_image(row)
        assert np.array_equal(np.asarray(load_rgb(handed)), np.asarray(exact))
        assert shown[1] is not None
        assert shown[1].size == exact.size


def test_a_run_in_a_text_condition_is_named_and_signed_as_such(
    recognised: Path, tmp_path: Path
) -> None:
    with LoopbackOpenAI(lambda request: "7") as server:
        run = lmms_command(
            [
                *("--model", "openai", "--tasks", "dtvqa_mini_text,dtvqa_mini_px448"),
                *("--model_args", f"model_version=m,base_url={server.url},api_key=none"),
                *("--limit", "4"),
            ],
            tmp_path / "lmms",
        )
        sample = run.samples["dtvqa_mini_text"][0]
        assert sample["dtvqa"]["condition"] == "text"
        assert scores_of(run.results, "dtvqa_mini_text").keys() == {"accanls", "anls", "acc"}
        config = write_config(tmp_path / "c.json", server, "DTVQA_MINI_TEXT", "DTVQA_MINI_PX448")
        done = vlm_command(["--config", str(config)], tmp_path, recognised)
    summary, questions = results(tmp_path, "loopback", "DTVQA_MINI_TEXT")
    assert (summary["condition"], summary["recognised_by"]) == ("text", ENGINE), done.output
    assert {question["condition"] for question in questions} == {"text"}
    files = [
        next(run.folder.rglob("*_samples_dtvqa_mini_text.jsonl")),
        next(path for path in tmp_path.rglob("loopback_DTVQA_MINI_TEXT.tsv")),
    ]
    for file in files:
        found = read_run(file)
        signature = found.signature()
        assert found.condition == "text"
        assert (signature.prompt, signature.image) == ("given_text", "none")
        assert f"|input:text({ENGINE})|" in str(signature)
        assert parse_signature(str(signature)) == signature
    small = [
        next(run.folder.rglob("*_samples_dtvqa_mini_px448.jsonl")),
        next(path for path in tmp_path.rglob("loopback_DTVQA_MINI_PX448.tsv")),
    ]
    for file in small:
        signature = read_run(file).signature()
        assert signature.image.startswith("longest-side=448,")
        assert "|input:" not in str(signature)


@pytest.mark.parametrize("host", ["lmms-eval", "VLMEvalKit --data", "VLMEvalKit --config"])
def test_missing_text_is_one_error_before_a_model_is_loaded(
    host: str, dtvqa_home: Path, tmp_path: Path
) -> None:
    with LoopbackOpenAI(lambda request: "7") as server:
        if host == "lmms-eval":
            # A model that cannot be loaded: its error would come first.
            arguments = ["--model", "qwen2_5_vl", "--model_args", "pretrained=/nowhere"]
            run = lmms_command([*arguments, "--tasks", "dtvqa_mini_text"], tmp_path)
            status, output = run.status, run.output
        else:
            config = write_config(tmp_path / "c.json", server, "DTVQA_MINI_TEXT")
            arguments = (
                ["--config", str(config)]
                if "config" in host
                else ["--data", "DTVQA_MINI_TEXT", "--model", "Qwen2-VL-2B-Instruct"]
            )
            done = vlm_command(arguments, tmp_path, dtvqa_home)
            status, output = done.status, done.output
        assert not server.requests
    assert status != 0
    assert "no recognised text of 17 of 17 images" in output
    assert "dtvqa data recognise --split mini" in output
    assert "nowhere" not in output
