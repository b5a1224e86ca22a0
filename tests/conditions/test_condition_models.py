"""The host's own runners, chat and simple, under a resolution and with text given."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

from lmms_host import command

from dtvqa_plugin.report import read_run

TASKS = ("dtvqa_mini_px448", "dtvqa_mini_text", "dtvqa_mini_image_text")
QWEN = "pretrained={},device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544"
LLAVA = "pretrained={},device=cpu,device_map=cpu"


@pytest.mark.parametrize(
    ("model", "arguments", "weights", "flags", "picture"),
    [
        ("qwen2_5_vl", QWEN, "tiny_qwen2_5_vl", [], "none"),
        ("llava_hf", LLAVA, "tiny_llava", ["--force_simple"], "grey,host-default"),
    ],
    ids=["qwen2_5_vl chat", "llava_hf simple"],
)
def test_the_hosts_own_runners_answer_in_each_condition(
    model: str,
    arguments: str,
    weights: str,
    flags: list[str],
    picture: str,
    recognised: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    folder = request.getfixturevalue(weights)
    run = command(
        [
            *("--model", model, "--model_args", arguments.format(folder), *flags),
            *("--tasks", ",".join(TASKS), "--limit", "2", "--batch_size", "1"),
            *("--gen_kwargs", "max_new_tokens=4"),
        ],
        tmp_path,
    )
    assert run.results, run.output
    for task in TASKS:
        condition = task.removeprefix("dtvqa_mini_")
        logged = [sample["dtvqa"] for sample in run.samples[task]]
        assert [entry["condition"] for entry in logged] == [condition] * 2
        assert not any(entry["failed"] for entry in logged)
    (log,) = run.folder.rglob("*_samples_dtvqa_mini_text.jsonl")
    assert read_run(log).signature().image == picture
