"""A huge sample log is read with memory that depends on the benchmark, not on the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from report_runs import SAMPLE

READ = """
import resource, sys
from dtvqa_plugin.report import read_run
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = read_run(sys.argv[1])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(len(run.answers), int(run.values[:, 1].sum()), grown)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="resource is a Unix module")
def test_memory_stays_bounded(tmp_path: Path) -> None:
    """160 MB of reasoning, 2.5 MB a question, is read in under 60 MB beyond the imports."""
    path = tmp_path / "huge.jsonl"
    thought = "the label says so much here. " * 90_000
    with path.open("w", encoding="utf-8") as handle:
        for record in SAMPLE:
            output = f"<think>{thought}</think>{record.answers[0]}"
            line = {"question_id": record.question_id, "prediction": output}
            handle.write(json.dumps(line) + "\n")
    assert path.stat().st_size > 150 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    answers, hits, grown = map(int, done.stdout.split())
    assert (answers, hits) == (64, 64)
    assert grown < 60 * 1024, f"{grown} KiB"
