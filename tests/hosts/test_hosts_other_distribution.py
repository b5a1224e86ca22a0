"""The VLMEvalKit suite against another distribution, in that distribution's own environment.

Not in the default run: it needs a Python with, say, nvidia-vlmeval, pytest and this package::

    DTVQA_HOST_PYTHON=/path/to/venv/bin/python python -m pytest tests/hosts
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
HOST_PYTHON = os.environ.get("DTVQA_HOST_PYTHON", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not HOST_PYTHON, reason="set DTVQA_HOST_PYTHON to a Python with another VLMEvalKit"
    ),
]


def test_whole_suite() -> None:
    """The very tests that the default run makes against ms-vlmeval."""
    done = subprocess.run(
        [HOST_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS / "vlmevalkit")],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:]
    assert " passed" in done.stdout
