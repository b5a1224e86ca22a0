"""Which question a record without an id was asked: its prompt, its turns and its other fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from host_files import SAMPLE, write_lines
from prompt_cases import PROMPTS

from dtvqa_plugin.report import read_run

FIRST, SECOND, THIRD = SAMPLE[:3]
OTHER = SAMPLE[-1]


def filled(template: str) -> str:
    questions = {str(number): record.question for number, record in enumerate(SAMPLE[:3], 1)}
    for number, question in questions.items():
        template = template.replace(f"{{{number}}}", question)
    return template.replace("{{", "{").replace("}}", "}")


def answered(tmp_path: Path, record: dict[str, Any]) -> int:
    """The number of the question that a record of the first picture is scored under, 0 if none."""
    whole = {"question_id": OTHER.question_id, "response": "x"}
    line = {"images": [FIRST.image], "response": "x", **record}
    run = read_run(write_lines(tmp_path / "run.jsonl", [whole, line]))
    ids = [r.question_id for r in SAMPLE]
    (found,) = {ids.index(a.question_id) + 1 for a in run.answers} - {len(SAMPLE)} or {0}
    assert run.faults.unreadable_count == (found == 0)
    return found


@pytest.mark.parametrize(("prompt", "number"), PROMPTS)
@pytest.mark.parametrize("field", ["prompt", "messages"])
def test_a_prompt_with_several_questions(
    tmp_path: Path, prompt: str, number: int, field: str
) -> None:
    text = filled(prompt)
    value = text if field == "prompt" else [{"role": "user", "content": text}]
    assert answered(tmp_path, {field: value}) == number


def turns(*texts: str) -> list[dict[str, Any]]:
    """User turns, with an answer after each but the last."""
    said = {"role": "assistant", "content": "an example"}
    return [turn for text in texts for turn in ({"role": "user", "content": text}, said)][:-1]


@pytest.mark.parametrize(
    ("record", "number"),
    [
        ({"messages": turns("{1}", "{2}")}, 2),
        ({"messages": turns("{1}", "{2}"), "query": "{2}"}, 2),
        ({"messages": turns("{1}", "{2}"), "query": "{1}"}, 0),
        ({"messages": turns("{1}", "{2}"), "question": "{1}"}, 0),
        ({"messages": turns("{1}", "Are you sure?"), "query": "{1}"}, 0),
        ({"messages": turns("{1}", "Are you sure?"), "question": "{1}"}, 0),
        ({"messages": turns("{1}", "Are you sure?"), "prompt": "{1}"}, 0),
        ({"messages": turns("Are you sure?"), "query": "{1}"}, 0),
        ({"messages": turns("Are you sure?"), "prompt": "{1}"}, 0),
        ({"messages": turns("Was steht im Bild?"), "question": "{1}"}, 1),
        ({"messages": turns("<image>"), "query": "{1}"}, 1),
        ({"messages": turns("<image>\n{1}"), "query": "{1}"}, 1),
        ({"messages": turns("Be brief. {1}"), "question": "{1}"}, 1),
        ({"messages": turns(""), "query": "{1}"}, 1),
        ({"messages": [], "query": "{1}"}, 1),
        ({"messages": turns("{1}", "Go on."), "input": "{1}"}, 1),
        ({"messages": turns("{1}", "{2}"), "input": "{1}"}, 0),
        ({"messages": turns("Q: {1} A: Foo Q: {2} A:"), "question": "{2}"}, 2),
        ({"messages": turns("Q: {1} A: Foo Q: {2} A:"), "question": "{1}"}, 0),
        ({"query": "{1}", "question": "{2}"}, 0),
        ({"query": "Q: {1} A: Foo Q: {2} A:", "question": "{2}"}, 2),
        ({"query": "{1}\n{2}", "question": "{2}"}, 0),
        ({"input": turns("{1}", "{2}")}, 2),
    ],
    ids=str,
)
def test_fields_of_a_record_must_agree(tmp_path: Path, record: dict[str, Any], number: int) -> None:
    def put(value: Any) -> Any:
        if isinstance(value, str):
            return filled(value)
        return [{**turn, "content": filled(turn["content"])} for turn in value]

    assert answered(tmp_path, {name: put(value) for name, value in record.items()}) == number


def test_an_example_of_another_picture_is_not_what_was_asked(tmp_path: Path) -> None:
    other = next(record for record in SAMPLE if record.image != FIRST.image)
    text = f"Q: {other.question} A: {other.answers[0]} Q: {FIRST.question} A:"
    images = [other.image, FIRST.image]
    assert answered(tmp_path, {"prompt": text, "images": images}) == 1
    turned = {"messages": turns(other.question, FIRST.question), "images": images}
    assert answered(tmp_path, turned) == 1
