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


TEXT_HEADING = "Text recognised in the image, in reading order:\n"
TEXT_END = "\n\n"
"""What stands before and after the recognised text of a picture, where it is given."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands around a question: ``before + question + after``.

    With ``takes_text`` the recognised text of the picture comes first, between `TEXT_HEADING` and
    `TEXT_END`.
    """

    name: str
    condition: str
    before: str = ""
    after: str = ""
    takes_text: bool = False

    def render(self, question: str, text: str | None = None) -> str:
        """Return the text a model is asked; the question's own characters stay as they are.

        Args:
            question: The question.
            text: The recognised text of the picture, for a prompt that takes it.

        Raises:
            ValueError: The text is missing, or this prompt takes none.
        """
        if self.takes_text != (text is not None):
            has = "needs the recognised text" if self.takes_text else "takes no recognised text"
            raise ValueError(f"prompt {self.name!r} {has}")
        given = "" if text is None else f"{TEXT_HEADING}{text}{TEXT_END}"
        return f"{given}{self.before}{question}{self.after}"


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

GIVEN_TEXT_PROMPT = "given_text"

TEXT_PROMPTS: dict[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(GIVEN_TEXT_PROMPT, "none", takes_text=True),
        Prompt("given_text_answer", "none", after=ANSWER_ENDING, takes_text=True),
        Prompt(
            "given_text_question_answer",
            "none",
            before=QUESTION_OPENING,
            after=ANSWER_ENDING,
            takes_text=True,
        ),
    )
}
"""Prompts with the recognised text of the picture before the question."""

_MODEL_PROMPTS = own_prompts()


def get_prompt(name: str) -> Prompt:
    """Return the prompt called ``name``; ValueError lists the known names otherwise."""
    known = {**PROMPTS, **TEXT_PROMPTS}
    try:
        return known[name]
    except KeyError:
        raise ValueError(f"unknown prompt {name!r}; known: {', '.join(known)}") from None


def prompt_for(condition: str, model: str | None = None, *, gives_text: bool = False) -> Prompt:
    """Return the prompt of a paper condition for a host's model name (``--model`` string).

    Models without their own template get the condition's plain prompt. With ``gives_text`` the
    recognised text stands before it (condition ``none`` only).
    Raises ValueError for a condition that the paper does not have.
    """
    if condition not in CONDITIONS:
        raise ValueError(f"unknown condition {condition!r}; known: {', '.join(CONDITIONS)}")
    name = _MODEL_PROMPTS.get(model or "", {}).get(condition, condition)
    if gives_text:
        name = GIVEN_TEXT_PROMPT if name == "none" else f"{GIVEN_TEXT_PROMPT}_{name}"
    return get_prompt(name)


def models_with_own_prompt() -> tuple[str, ...]:
    """Return the host model names whose text differs from the plain prompt."""
    return tuple(_MODEL_PROMPTS)


def identify_prompt(text: str, question: str) -> Prompt | None:
    """Return the prompt that turns ``question`` into ``text``, or None if none of ours does.

    Prompts with recognised text are not looked for.
    """
    return next((prompt for prompt in PROMPTS.values() if prompt.render(question) == text), None)
