"""How many test questions a log without ids and picture names tells, as docs/formats.md says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dtvqa_plugin.data import records
from dtvqa_plugin.predictions.question import asked
from dtvqa_plugin.runs.references import References


@pytest.mark.parametrize(
    ("repeated", "told"),
    [(lambda answers: list(answers), 1139), (lambda answers: answers[0], 1133)],
    ids=["all answers", "the first answer"],
)
def test_questions_told_by_reference_answers_and_text(
    shared_dir: Path, repeated: Callable[[Sequence[str]], object], told: int
) -> None:
    home = shared_dir / "hub" / "DT-VQA"
    references = References(home)
    found = {}
    for record in records("test", home=home):
        said = asked({"input": record.question, "target": repeated(record.answers)})
        assert said is not None
        question = references.find_asked(said)
        if question is not None:
            found[record.question_id] = question[1].question_id
    assert all(name == question_id for name, question_id in found.items())
    assert len(found) == told
