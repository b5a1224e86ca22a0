"""The review page's server: who gets what, and what a decision holds."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest
from annotate.conftest import MakeProject, Serve, held

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review import ReviewServer
from dtvqa_plugin.annotate.review.server import checked_name

if TYPE_CHECKING:
    pass


def ask(
    server: ReviewServer,
    path: str,
    *,
    token: str | None = None,
    method: str = "GET",
    body: bytes | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    address = f"/{server.token if token is None else token}/{path}"
    connection.request(method, address, body, named)
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read()


def decide(server: ReviewServer, values: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    body = values if isinstance(values, bytes) else json.dumps(values).encode()
    sent = {"Content_Type": "application/json", **headers}
    code, _, answer = ask(server, "api/decide", method="POST", body=body, **sent)
    return code, json.loads(answer)


def test_page_is_served_under_its_token_alone(project: Project, serve: Serve) -> None:
    server = serve(project)
    assert len(server.token) >= 32
    code, headers, body = ask(server, "")
    assert code == 200
    assert b"<script src=" in body
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    for wrong in ("", "x", server.token[:-1], server.token + "x"):
        assert ask(server, "", token=wrong)[0] == 404
        assert ask(server, "api/state", token=wrong)[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_other_hosts_and_origins_get_nothing(
    project: Project, serve: Serve, headers: dict[str, str]
) -> None:
    server = serve(project)
    assert ask(server, "api/state", **headers)[0] == 403
    pair = next(entry for _, entry in project.pairs.read())
    values = {"pair": pair["pair"], "verdict": "reject", "question": "q", "answers": ["a"]}
    assert decide(server, values, **headers)[0] == 403
    assert held(project) == []


def test_server_listens_on_this_machine_only(project: Project, serve: Serve) -> None:
    assert serve(project)._http.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    [
        "../config.yaml",
        "image/../../etc/passwd",
        "image/" + "0" * 64,
        "image/abc",
        "raw.jsonl",
        "x",
    ],
)
def test_nothing_but_the_page_and_known_images_is_served(
    project: Project, serve: Serve, path: str
) -> None:
    assert ask(serve(project), path)[0] in (404, 409)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"verdict": "maybe"}, 400),
        ({"question": "  "}, 400),
        ({"answers": []}, 400),
        ({"answers": ["a", " "]}, 400),
        ({"answers": "a"}, 400),
        ({"answers": ["x" * 2001]}, 400),
        ({"answers": ["\ud800"]}, 400),
        ({"pair": "000000000000"}, 409),
        ({"pair": None}, 409),
    ],
    ids=str,
)
def test_unusable_decision_is_refused_and_saved_nowhere(
    project: Project, serve: Serve, values: dict[str, Any], code: int
) -> None:
    pair = next(entry for _, entry in project.pairs.read())
    whole = {"pair": pair["pair"], "verdict": "accept", "question": "q", "answers": ["a"], **values}
    assert decide(serve(project), whole)[0] == code
    assert held(project) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_unusable_body_is_refused(project: Project, serve: Serve, body: bytes) -> None:
    assert decide(serve(project), body)[0] == 400


def test_form_posts_and_huge_bodies_are_refused(project: Project, serve: Serve) -> None:
    server = serve(project)
    assert decide(server, b"{}", Content_Type="text/plain")[0] == 415
    code, _, _ = ask(
        server,
        "api/decide",
        method="POST",
        Content_Type="application/json",
        Content_Length="99999999",
    )
    assert code == 413


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "a\u202eb", "a\x00b"])
def test_unusable_reviewer_names(name: str) -> None:
    with pytest.raises(AnnotateError, match="1 to 40 printable"):
        checked_name(name)


def test_nothing_to_review_is_one_error(make: MakeProject) -> None:
    with pytest.raises(AnnotateError, match="nothing to review"):
        ReviewServer(make())


def test_a_decision_says_who_when_and_on_what(project: Project, serve: Serve) -> None:
    pair = next(entry for _, entry in project.pairs.read())
    values = {"pair": pair["pair"], "verdict": "accept", "question": "New?", "answers": ["b", "b"]}
    code, saved = decide(serve(project), values)
    assert code == 200
    (entry,) = held(project)
    assert entry["id"] == saved["saved"]
    assert (entry["reviewer"], entry["action"]) == ("Ada", "accept")
    assert (entry["question"], entry["answers"], entry["edited"]) == ("New?", ["b"], True)
    assert entry["at"].startswith("20")
    assert entry["image"] == pair["image"]
