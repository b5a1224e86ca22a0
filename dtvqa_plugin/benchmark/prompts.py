"""The prompts a question can be asked with: one registry, every prompt has a name.

The paper measures each model twice, with the bare question and with an instruction before it
(section 4); its runners for Qwen-VL and Monkey end the text with `` Answer:``, as those models
were trained, and BLIP-2's asks ``Question: ... Answer:``. Which model of the paper was asked with
which prompt stands in `benchmark.paper_runs`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dtvqa_plugin.benchmark.paper_runs import own_prompts

PAPER_INSTRUCTION = (
    "This is a question related to text in an image, please provide a word or phrase "
    "from the image text as an answer. "
)
"""The paper's instruction, its trailing blank included (released runners)."""

QUESTION_OPENING = "Question: "
ANSWER_ENDING = " Answer:"

CONDITIONS = ("none", "paper")
"""The paper's two conditions: without and with its instruction."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands around a question: ``before + question + after``."""

    name: str
    condition: str
    before: str = ""
    after: str = ""

    def render(self, question: str) -> str:
        """Return the text a model is asked; the question's own characters stay as they are."""
        return f"{self.before}{question}{self.after}"


PROMPTS: dict[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt("none", "none"),
        Prompt("paper", "paper", before=PAPER_INSTRUCTION),
        Prompt("answer", "none", after=ANSWER_ENDING),
        Prompt("paper_answer", "paper", before=PAPER_INSTRUCTION, after=ANSWER_ENDING),
        Prompt("question_answer", "none", before=QUESTION_OPENING, after=ANSWER_ENDING),
        Prompt(
            "paper_question_answer",
            "paper",
            before=QUESTION_OPENING + PAPER_INSTRUCTION,
            after=ANSWER_ENDING,
        ),
    )
}

_MODEL_PROMPTS = own_prompts()


def get_prompt(name: str) -> Prompt:
    """Return the prompt called ``name``; ValueError lists the known names otherwise."""
    try:
        return PROMPTS[name]
    except KeyError:
        raise ValueError(f"unknown prompt {name!r}; known: {', '.join(PROMPTS)}") from None


def prompt_for(condition: str, model: str | None = None) -> Prompt:
    """Return the prompt of a paper condition for a host's model name (``--model`` string).

    Models without their own template get the condition's plain prompt.
    Raises ValueError for a condition that the paper does not have.
    """
    if condition not in CONDITIONS:
        raise ValueError(f"unknown condition {condition!r}; known: {', '.join(CONDITIONS)}")
    return get_prompt(_MODEL_PROMPTS.get(model or "", {}).get(condition, condition))


def models_with_own_prompt() -> tuple[str, ...]:
    """Return the host model names whose text differs from the plain prompt."""
    return tuple(_MODEL_PROMPTS)


def identify_prompt(text: str, question: str) -> Prompt | None:
    """Return the prompt that turns ``question`` into ``text``, or None if none of ours does."""
    return next((prompt for prompt in PROMPTS.values() if prompt.render(question) == text), None)
