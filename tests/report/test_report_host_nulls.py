"""A real lmms-eval run whose endpoint gives null answers, several responses and JPEG pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopback import LoopbackOpenAI, image_of, text_of
from report_runs import SAMPLE, run_host

from dtvqa_plugin.report import Run, read_run

pytestmark = pytest.mark.slow

KINDS = (None, "None", "right")


FIRST = {record.question: i for i, record in reversed(list(enumerate(SAMPLE)))}
"""The place of each question text; some stand on several images of the sample."""


def kind_of(question: str) -> str | None:
    return KINDS[FIRST[question] % len(KINDS)]


def reply(request: dict[str, Any]) -> Any:
    """Null, the word None, or the right answer, by the question's place in the sample."""
    text = text_of(request)
    question = max((q for q in FIRST if text.endswith(q)), key=len)
    said = kind_of(question)
    return SAMPLE[FIRST[question]].answers[0] if said == "right" else said


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[bytes]]:
    """The output folder, and how the pictures that were sent begin."""
    pytest.importorskip("lmms_eval.api")
    folder = tmp_path_factory.mktemp("nulls")
    with LoopbackOpenAI(reply) as server:
        model = f"model_version=loopback,base_url={server.url},api_key=none"
        arguments = ["-m", "lmms_eval", "--model", "openai", "--model_args", model]
        arguments += ["--tasks", "dtvqa_mini", "--output_path", str(folder), "--log_samples"]
        run_host(arguments, folder, LMMS_IMAGE_ENCODE_FORMAT="JPEG")
        starts = {image_of(request)[:3] for request in server.requests}
    return folder, starts


@pytest.fixture(scope="module")
def run(output: tuple[Path, set[bytes]]) -> Run:
    return read_run(output[0])


def test_a_null_is_no_answer_and_the_word_none_is_one(run: Run) -> None:
    kinds = {record.question_id: kind_of(record.question) for record in SAMPLE}
    first = {SAMPLE[place].question_id for place in FIRST.values()}
    for answer in run.answers:
        assert (answer.unanswered is not None) == (kinds[answer.question_id] is None)
        if answer.question_id in first:
            assert answer.acc == (kinds[answer.question_id] == "right")
    assert run.faults.differences == ()


def test_jpeg_pictures_are_sent_and_do_not_pass_as_the_host_default(
    output: tuple[Path, set[bytes]], run: Run
) -> None:
    assert output[1] == {b"\xff\xd8\xff"}
    assert "encode_format=JPEG" in run.signature().image
    assert run.signature().runner == "chat"
