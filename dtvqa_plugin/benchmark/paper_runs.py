"""How the paper's released runners asked each model, and under which names the hosts run it.

The facts are those of the released runners (repository ``ShuoZhang2003/DT-VQA``). Where they are
not known to this project a field is None: nothing is filled in by guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_PLAIN = {"none": "none", "paper": "paper"}
_ANSWER = {"none": "answer", "paper": "paper_answer"}
_QUESTION_ANSWER = {"none": "question_answer", "paper": "paper_question_answer"}


@dataclass(frozen=True, slots=True)
class PaperRun:
    """One model of the paper as its released runner asked it. All outputs were stripped.

    Attributes:
        model: the paper's name of the model.
        new_tokens: most new tokens of an answer (``max_new_tokens``); None where the runner
            bounds ``max_length``, or where the bound is not known here.
        max_length: the possible values of ``max_length``, which counts the prompt as well; empty
            where the runner bounds new tokens.
        num_beams: beams of the search; 1 is greedy.
        image: what the runner did to the picture before the model's own preprocessing; "" where
            nothing is known to be done.
        prompts: name of the prompt (`benchmark.prompts`) by condition.
        lmms_eval: ``--model`` names of lmms-eval whose default weights are this model.
        vlmevalkit: names in VLMEvalKit's configuration.
        weights: names of weights without their owner, lower case.
    """

    model: str
    new_tokens: int | None = None
    max_length: tuple[int, ...] = ()
    num_beams: int = 1
    image: str = ""
    prompts: Mapping[str, str] = field(default_factory=lambda: _PLAIN)
    lmms_eval: tuple[str, ...] = ()
    vlmevalkit: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()


PAPER_RUNS: tuple[PaperRun, ...] = (
    PaperRun(
        "BLIP-2",
        prompts=_QUESTION_ANSWER,
        lmms_eval=("blip2",),
    ),
    PaperRun(
        "Qwen-VL",
        new_tokens=100,
        prompts=_ANSWER,
        lmms_eval=("qwen_vl",),
        vlmevalkit=("qwen_base",),
        weights=("qwen-vl",),
    ),
    PaperRun(
        "Monkey",
        new_tokens=100,
        prompts=_ANSWER,
        lmms_eval=("monkey",),
        vlmevalkit=("monkey",),
        weights=("monkey",),
    ),
    PaperRun("LLaVA", new_tokens=100, vlmevalkit=("llava_v1_7b",)),
    PaperRun(
        "LLaVA-1.5",
        new_tokens=128,
        lmms_eval=("llava",),
        vlmevalkit=("llava_v1.5_7b", "llava_v1.5_13b"),
        weights=(
            "llava-v1.5-7b",
            "llava-v1.5-13b",
            "llava-1.5-7b-hf",
            "llava-1.5-13b-hf",
        ),
    ),
    PaperRun("LLaVAR", new_tokens=200, image="shrunk to 336 pixels"),
    PaperRun("mPLUG-Owl", max_length=(100, 150)),
    PaperRun(
        "mPLUG-Owl2",
        new_tokens=100,
        image="made square",
        vlmevalkit=("mPLUG-Owl2",),
        weights=("mplug-owl2-llama2-7b",),
    ),
    PaperRun("BLIVA", max_length=(100, 150)),
    PaperRun(
        "InstructBLIP",
        max_length=(100, 150),
        num_beams=5,
        lmms_eval=("instructblip",),
        vlmevalkit=("instructblip_7b", "instructblip_13b"),
        weights=("instructblip-vicuna-7b", "instructblip-vicuna-13b"),
    ),
    PaperRun(
        "GPT-4V",
        new_tokens=500,
        lmms_eval=("gpt4v",),
        vlmevalkit=("GPT4V", "GPT4V_HIGH"),
        weights=("gpt-4-vision-preview", "gpt-4-1106-vision-preview"),
    ),
)
"""The models of the paper that this project knows the settings of, each once."""


def own_prompts() -> dict[str, dict[str, str]]:
    """Prompt names by condition for the lmms-eval model names that have their own template."""
    return {
        name: dict(run.prompts)
        for run in PAPER_RUNS
        if run.prompts != _PLAIN
        for name in run.lmms_eval
    }


def paper_run(host: str, model: str, weights: Iterable[str] = ()) -> PaperRun | None:
    """The paper's run of a model that a host ran, None for a model that is not the paper's.

    Args:
        host: ``lmms-eval`` or ``VLMEvalKit``.
        model: the host's own name of it.
        weights: names of the weights, if any were given; they decide over the host's name.
    """
    given = [name.replace("\\", "/").rstrip("/").rpartition("/")[2].lower() for name in weights]
    for run in PAPER_RUNS:
        if any(name in run.weights for name in given):
            return run
    if given:
        return None
    for run in PAPER_RUNS:
        if model in {"lmms-eval": run.lmms_eval, "VLMEvalKit": run.vlmevalkit}.get(host, ()):
            return run
    return None
