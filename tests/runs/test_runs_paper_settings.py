"""The paper's runners as a table, and the remark where a run was made otherwise."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from host_files import lmms_run, vlmevalkit_run

from dtvqa_plugin.benchmark.paper_runs import PAPER_RUNS, own_prompts, paper_run
from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION, get_prompt, prompt_for
from dtvqa_plugin.report import read_run
from dtvqa_plugin.runs import remarks

FACTS = {  # the text of the question, tokens, max_length, beams, picture; as issue 10 states them
    "BLIP-2": ("Question: {} Answer:", None, (), 1, ""),
    "Qwen-VL": ("{} Answer:", 100, (), 1, ""),
    "Monkey": ("{} Answer:", 100, (), 1, ""),
    "LLaVA": ("{}", 100, (), 1, ""),
    "LLaVA-1.5": ("{}", 128, (), 1, ""),
    "LLaVAR": ("{}", 200, (), 1, "336"),
    "mPLUG-Owl": ("{}", None, (100, 150), 1, ""),
    "mPLUG-Owl2": ("{}", 100, (), 1, "square"),
    "BLIVA": ("{}", None, (100, 150), 1, ""),
    "InstructBLIP": ("{}", None, (100, 150), 5, ""),
    "GPT-4V": ("{}", 500, (), 1, ""),
}


def test_each_model_stands_once() -> None:
    assert [run.model for run in PAPER_RUNS] == list(FACTS)


@pytest.mark.parametrize("run", PAPER_RUNS, ids=lambda run: run.model)
def test_the_facts_of_a_model(run: Any) -> None:
    template, tokens, length, beams, picture = FACTS[run.model]
    assert get_prompt(run.prompts["none"]).render("Q?") == template.format("Q?")
    inside = template.format(f"{PAPER_INSTRUCTION}Q?")
    assert get_prompt(run.prompts["paper"]).render("Q?") == inside
    assert (run.new_tokens, run.max_length, run.num_beams) == (tokens, length, beams)
    assert picture in run.image


def test_host_models_with_a_template_of_their_own_get_it() -> None:
    assert set(own_prompts()) == {"blip2", "qwen_vl", "monkey"}
    assert prompt_for("none", "blip2").render("Q?") == "Question: Q? Answer:"
    assert prompt_for("none", "llava").render("Q?") == "Q?"


def host_file(package: str, name: str) -> str:
    spec = find_spec(package)
    # Without the host, tests/lmms_eval on the path is a package without a file.
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return (Path(spec.submodule_search_locations[0]) / name).read_text(encoding="utf-8")


def test_the_names_are_the_hosts_own() -> None:
    """Names that the installed hosts do not know would never match (blip2 and monkey: lmms-eval
    has no such runner, a plugin may)."""
    source = host_file("lmms_eval", "models/__init__.py")
    names = {name for run in PAPER_RUNS for name in run.lmms_eval}
    assert {name for name in names if f'"{name}": "' not in source} == {"blip2", "monkey"}
    source = host_file("vlmeval", "config.py")
    for run in PAPER_RUNS:
        assert all(f'"{name}": partial(' in source for name in run.vlmevalkit), run.model


@pytest.mark.parametrize(
    ("host", "model", "weights", "found"),
    [
        ("lmms-eval", "qwen_vl", [], "Qwen-VL"),
        ("lmms-eval", "qwen_vl", ["Qwen/Qwen-VL"], "Qwen-VL"),
        ("lmms-eval", "qwen_vl", ["Qwen/Qwen-VL-Chat"], None),
        ("lmms-eval", "llava", [], "LLaVA-1.5"),
        ("lmms-eval", "llava", ["/models/llava-v1.5-13b/"], "LLaVA-1.5"),
        ("lmms-eval", "llava", ["liuhaotian/llava-v1.6-vicuna-7b"], None),
        ("lmms-eval", "llava_hf", ["llava-hf/llava-1.5-7b-hf"], "LLaVA-1.5"),
        ("lmms-eval", "openai", ["gpt-4-vision-preview"], "GPT-4V"),
        ("lmms-eval", "openai", ["gpt-4o"], None),
        ("lmms-eval", "minimonkey", [], None),
        ("lmms-eval", "mplug_owl_video", [], None),
        ("VLMEvalKit", "qwen_base", [], "Qwen-VL"),
        ("VLMEvalKit", "qwen_chat", [], None),
        ("VLMEvalKit", "mPLUG-Owl2", [], "mPLUG-Owl2"),
        ("VLMEvalKit", "GPT4V", [], "GPT-4V"),
        ("unknown", "qwen_vl", [], None),
    ],
)
def test_which_model_of_the_paper_a_run_is_of(
    host: str, model: str, weights: list[str], found: str | None
) -> None:
    run = paper_run(host, model, weights)
    assert (run.model if run else None) == found


GREEDY = {"max_new_tokens": 100, "temperature": 0}


@pytest.mark.parametrize(
    ("model", "args", "generation", "prompt", "said"),
    [
        ("qwen_vl", "", GREEDY, "answer", None),
        ("qwen_vl", "", GREEDY, "none", "Qwen-VL was: prompt none, the paper's is answer"),
        (
            "qwen_vl",
            "",
            {"max_new_tokens": 4096, "temperature": 0.7},
            "answer",
            "max_new_tokens 4096, the paper's is 100; temperature 0.7, the paper's runner does not",
        ),
        ("llava", "", {**GREEDY, "max_new_tokens": 128}, "none", None),
        ("llava", "", GREEDY, "none", "LLaVA-1.5 was: max_new_tokens 100, the paper's is 128"),
        ("llava", "", {"max_new_tokens": 128, "do_sample": False}, "none", None),
        (
            "instructblip",
            "",
            GREEDY,
            "none",
            "max_new_tokens 100, the paper's is max_length 100 or 150 (the prompt counts); "
            "num_beams 1, the paper's is 5",
        ),
        (
            "instructblip",
            "",
            {"max_length": 150, "num_beams": 5, "do_sample": False},
            "none",
            None,
        ),
        ("qwen2_5_vl", "pretrained=Qwen/Qwen2.5-VL-7B-Instruct", GREEDY, "none", None),
        ("qwen_vl", "pretrained=Qwen/Qwen-VL-Chat", GREEDY, "none", None),
        ("gpt4v", "", GREEDY, "none", "GPT-4V was: max_new_tokens 100, the paper's is 500"),
    ],
)
def test_score_remarks_on_what_differs(
    tmp_path: Path, model: str, args: str, generation: Any, prompt: str, said: str | None
) -> None:
    path = lmms_run(tmp_path, model_args=args, generation=generation, config={"model": model})
    results = path.with_name("20261130_100000_results.json")
    prompts = {"lmms_eval_specific_kwargs": {"default": {"prompt": "none"}, "prompt": prompt}}
    text = results.read_text().replace('"task": "dtvqa_mini"', f'"task": "x", {str(prompts)[1:-1]}')
    results.write_text(text.replace("'", '"'))
    found = [line for line in remarks(read_run(path)) if "asked as the paper" in line]
    assert len(found) == bool(said)
    if said:
        assert said in found[0]


def test_a_command_line_setting_replaces_the_tasks_own(tmp_path: Path) -> None:
    config = {"model": "llava", "gen_kwargs": {"max_new_tokens": 128}}
    path = lmms_run(tmp_path, model_args="", generation=GREEDY, config=config)
    assert not any("asked as the paper" in line for line in remarks(read_run(path)))


def test_what_vlmevalkit_does_not_record_is_unknown(tmp_path: Path) -> None:
    (said,) = [
        line
        for line in remarks(read_run(vlmevalkit_run(tmp_path, model="mPLUG-Owl2")))
        if "asked as the paper" in line
    ]
    assert "new tokens unknown, the paper's are 100" in said
    assert "greedy or sampled is unknown" in said
    assert "the paper's runner: picture made square; this run: original,path=unknown" in said
