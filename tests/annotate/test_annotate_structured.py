"""Asking for structure: what is sent, how an endpoint's way is found, what is read from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from annotate.annotate_server import Endpoint, Fault, status
from annotate.conftest import ANSWER, MakeProject

from dtvqa_plugin.annotate.answers import read_structured
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.project import Project
from dtvqa_plugin.annotate.run import Bounds, run

PAIRS = [
    {"question": "What is written below 'A1: Size'?", "answer": "A1: Skin Type: Oily"},
    {"question": "Which file?", "answer": "**my__file.txt** | 2"},
]
STRUCTURED = json.dumps({"pairs": PAIRS})


def way(request: dict[str, Any]) -> str:
    if "response_format" in request:
        return "schema"
    return "tool" if "tools" in request else "text"


def by_schema(number: int, request: dict[str, Any]) -> str | dict[str, Any] | Fault:
    return STRUCTURED if way(request) == "schema" else ANSWER


def by_tool(number: int, request: dict[str, Any]) -> str | dict[str, Any] | Fault:
    if way(request) == "schema":
        return status(400, "response_format is not supported")
    if way(request) == "tool":
        name = request["tools"][0]["function"]["name"]
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": STRUCTURED}}
        return {"content": None, "tool_calls": [call], "finish_reason": "tool_calls"}
    return ANSWER


def only_text(number: int, request: dict[str, Any]) -> str | dict[str, Any] | Fault:
    return ANSWER if way(request) == "text" else status(400, "unknown field")


def deaf(number: int, request: dict[str, Any]) -> str | dict[str, Any] | Fault:
    return ANSWER


@pytest.mark.parametrize(
    ("script", "mode", "ways"),
    [
        (by_schema, "schema", ["schema"] * 4),
        (by_tool, "tool", ["schema", "tool", "tool", "tool", "tool"]),
        (only_text, "text", ["schema", "tool", "text", "text", "text", "text"]),
        (deaf, "text", ["schema", "tool", "text", "text"]),
    ],
    ids=["schema", "tool call", "refuses both", "ignores both"],
)
def test_way_of_an_endpoint_is_found_once_and_every_answer_counts(
    make: MakeProject, script: Any, mode: str, ways: list[str]
) -> None:
    with Endpoint(script) as server:
        project = make(server.url, structured="auto", concurrency=4)
        report = run(project, Bounds())
        assert (report.answered, report.failed) == (4, 0)
        assert [way(request) for request in server.requests] == ways
        assert [entry["mode"] for _, entry in project.endpoints.read()] == [mode]
        project.raw.path.unlink()
        run(Project.open(project.root), Bounds())
    assert {way(request) for request in server.requests[len(ways) :]} == {mode}


def test_structured_values_are_taken_as_they_are(make: MakeProject) -> None:
    with Endpoint(by_schema) as server:
        project = make(server.url, structured="auto")
        run(project, Bounds(max_images=1))
    (entry,) = [entry for _, entry in project.raw.read()]
    assert (entry["text"], entry["structured"]) == (STRUCTURED, "schema")
    extract(project)
    found = [(e["question"], e["answers"]) for _, e in project.pairs.read()]
    assert found == [(pair["question"], [pair["answer"]]) for pair in PAIRS]


def test_request_holds_a_strict_schema_of_the_pairs(make: MakeProject) -> None:
    with Endpoint(by_schema) as server:
        run(make(server.url, structured="schema"), Bounds(max_images=1))
    wanted = server.requests[0]["response_format"]["json_schema"]
    assert wanted["strict"] is True
    assert wanted["schema"]["additionalProperties"] is False
    assert wanted["schema"]["required"] == ["pairs"]


@pytest.mark.parametrize("text", [STRUCTURED[:-20], "Q1: What?\nA1: Yes it is", '{"pairs": 3}'])
def test_answer_that_breaks_the_schema_is_read_as_free_text(text: str) -> None:
    found = [(pair.question, *pair.answers) for pair in read_structured(text).pairs]
    wanted = {(pair["question"], pair["answer"]) for pair in PAIRS} | {("What?", "Yes it is")}
    assert set(found) <= wanted


def test_places_of_structured_pairs_and_empty_sides() -> None:
    text = '{"pairs": [{"question": "Q?", "answer": "a\\"b"}, {"question": "R?", "answer": " "}]}'
    reading = read_structured(text)
    (pair,) = reading.pairs
    assert pair.answers == ('a"b',)
    assert text[slice(*pair.question_span)] == "Q?"
    assert text[slice(*pair.answer_spans[0])] == 'a\\"b'
    assert any("R?" in part for part in reading.unread)
