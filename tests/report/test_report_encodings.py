"""Redirected output in a console's own encoding: every command ends as it does in UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_runs import SAMPLE, plain_run

ENCODINGS = ("ascii", "gbk", "cp1252")
NAMES = ("模型™ é 😀 Ω", "модель †‡ – ı\u0301")
"""No single-byte encoding has all of these, and GBK lacks some."""

EVERY = """
import json, sys, traceback
from dtvqa_plugin.cli import main
ended = {}
for line in json.loads(sys.argv[1]):
    try:
        main(line)
        ended[" ".join(line)] = 0
    except SystemExit as end:
        ended[" ".join(line)] = end.code or 0
    except BaseException:
        ended[" ".join(line)] = traceback.format_exc()
open(sys.argv[2], "w").write(json.dumps(ended))
"""


def commands(a: str, b: str, folder: str) -> list[list[str]]:
    few = ["--resamples", "100"]
    styles = [[], ["--format", "markdown"], ["--format", "json"]]
    return [
        *(["score", a, b, *few, *style] for style in styles),
        *(["score", a, b, *few, "--format", style] for style in ("latex", "csv")),
        ["compare", a, b, *few],
        ["rank", a, b, *few],
        ["diagnose", a, b, *few],
        *(["gate", a, "--complete", *few, "--format", style] for style in ("terminal", "junit")),
        ["power", a, b],
        ["report", a, b, *few, "--no-thumbnails", "-o", f"{folder}/模型.html"],
        ["score", f"{folder}/没有 é.jsonl"],
        ["gate", f"{folder}/没有 é.jsonl", "--complete"],
        ["gate", a, "--min", "没有:acc=1"],
        ["data", "status"],
        ["doctor"],
        ["tasks-path"],
        ["--help"],
    ]


def outputs(folder: Path, encoding: str) -> tuple[bytes, dict[str, object]]:
    folder.mkdir()
    paths = []
    for place, name in enumerate(NAMES):
        say = f"{name}\u2028\N{FULLWIDTH DIGIT ONE}" if place else "答案 ☃ é"
        paths.append(plain_run(folder / f"{place}.jsonl", lambda record, say=say: say, model=name))
    ended = folder / "ended.json"
    done = subprocess.run(
        [
            *(sys.executable, "-X", "utf8=0", "-c", EVERY),
            json.dumps(commands(str(paths[0]), str(paths[1]), str(folder))),
            str(ended),
        ],
        capture_output=True,
        check=False,
        env={
            **{key: value for key, value in os.environ.items() if not key.startswith("LC_")},
            "PYTHONIOENCODING": encoding,
            "DTVQA_HOME": str(folder),
            "HF_HUB_OFFLINE": "1",
        },
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
    found: dict[str, object] = json.loads(ended.read_text())
    return done.stdout, {key.replace(str(folder), ""): value for key, value in found.items()}


@pytest.fixture(scope="module")
def in_utf8(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    printed, ended = outputs(tmp_path_factory.mktemp("utf-8") / "f", "utf-8")
    assert NAMES[0] in printed.decode("utf-8")
    assert set(ended.values()) <= {0, 1, 2, 64}, ended
    return ended


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_command_ends_in_an_encode_error(
    tmp_path: Path, in_utf8: dict[str, object], encoding: str
) -> None:
    printed, ended = outputs(tmp_path / "f", encoding)
    assert ended == in_utf8
    shown = printed.decode(encoding)
    assert ("模型" in shown) is (encoding == "gbk")
    assert r"\ud83d\ude00" in shown


JSON: dict[str, Callable[[Any], object]] = {
    "score": lambda document: document["tables"][0]["rows"][0]["name"],
    "compare": lambda document: document["comparisons"][0]["a"]["name"],
    "rank": lambda document: document["runs"][0]["name"],
    "diagnose": lambda document: document["runs"][0]["name"],
    "gate": lambda document: document["run"]["name"],
}
TWO = ("compare", "rank")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_stays_json(tmp_path: Path, encoding: str) -> None:
    a = plain_run(tmp_path / "a.jsonl", chosen=SAMPLE, model=NAMES[0])
    b = plain_run(tmp_path / "b.jsonl", lambda record: "no", chosen=SAMPLE, model=NAMES[1])
    lines = [
        [command, str(a), *[str(b)] * (command in TWO), "--format", "json", "--resamples", "100"]
        for command in JSON
    ]
    lines[-1] += ["--complete"]
    printed = """
import json, sys
from dtvqa_plugin.cli import main
for line in json.loads(sys.argv[1]):
    try:
        main(line)
    except SystemExit as end:
        assert not end.code, line
    print("end of a document", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", printed, json.dumps(lines)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    *documents, rest = done.stdout.decode(encoding).split("end of a document")
    assert (done.returncode, rest.strip()) == (0, ""), done.stderr
    found = [named(json.loads(text)) for named, text in zip(JSON.values(), documents, strict=True)]
    assert found == [NAMES[0]] * len(JSON)
