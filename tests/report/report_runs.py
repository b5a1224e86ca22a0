"""Runs made up for tests of the results room, over the questions of the embedded sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dtvqa_plugin.data import Record, records

SAMPLE: tuple[Record, ...] = tuple(records("mini"))
BY_ID: dict[str, Record] = {record.question_id: record for record in SAMPLE}


def first_answer(record: Record) -> str:
    return record.answers[0]


def dump(record: Record) -> str:
    """An output some hundred times as long as the answer that it holds."""
    return f"{'lorem ipsum ' * 200}{record.answers[0]} and so on"


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def plain_run(
    path: Path,
    output: Callable[[Record], str | None] = first_answer,
    chosen: Iterable[Record] = SAMPLE,
    **more: Any,
) -> Path:
    """A plain JSON Lines run; ``more`` goes into every record."""
    rows = ({"question_id": r.question_id, "prediction": output(r), **more} for r in chosen)
    return write_lines(path, rows)


def run_host(arguments: list[str], folder: Path, **environment: str) -> str:
    """Run a host in a process of its own; its output. Fails where the process does."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "",
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-3000:]
    return output
