"""Clients in separate processes, with the environment of a user who has set a mirror."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopback_hub import LoopbackHub

CLIENT = Path(__file__).with_name("client.py")
Start = Callable[..., LoopbackHub]
COMMAND = "from dtvqa_plugin.cli import main; main()"

DIRECTORY = 500_000
"""The small release's directory, and what is read ahead of it, begin behind this."""


def environment(hub: LoopbackHub | str, home: Path, **more: str) -> dict[str, str]:
    """What a user sets to fetch from another endpoint; nothing else of the hub's settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HF_", "HUGGING", "DTVQA_", "TRANSFORMERS_"))
        and not name.lower().endswith("_proxy")
    }
    url = hub if isinstance(hub, str) else hub.url
    return {
        **kept,
        "HF_ENDPOINT": url,
        "HF_HOME": str(home.parent / "hf-home"),
        "HF_HUB_DOWNLOAD_TIMEOUT": "2",
        "HF_HUB_ETAG_TIMEOUT": "2",
        "DTVQA_HOME": str(home),
        **more,
    }


def fetching(hub: LoopbackHub | str, home: Path, /, **options: Any) -> subprocess.Popen[str]:
    """Start a fetch in a separate process (`client`). ``env`` adds to its environment."""
    more = options.pop("env", {})
    return subprocess.Popen(
        [sys.executable, str(CLIENT), json.dumps(options)],
        env=environment(hub, home, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,
    )


def _interruptible() -> None:
    """Take Ctrl-C as a terminal's process does; what a script starts with ``&`` ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(process: subprocess.Popen[str], timeout: float = 60) -> dict[str, Any]:
    """What the client said, with what it wrote to standard error under ``stderr``."""
    out, err = process.communicate(timeout=timeout)
    assert out.strip(), err
    result: dict[str, Any] = json.loads(out.splitlines()[-1])
    return {**result, "stderr": err, "stdout": out}


def fetch(hub: LoopbackHub | str, home: Path, /, **options: Any) -> dict[str, Any]:
    """Fetch in a separate process and wait for it."""
    return finished(fetching(hub, home, **options))


def dtvqa(
    hub: LoopbackHub | str, home: Path, *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the ``dtvqa`` command."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        env=environment(hub, home, **more),
        capture_output=True,
        text=True,
        timeout=120,
    )


def tree(home: Path) -> dict[str, bytes]:
    """Every file of a store except its lock, by relative path."""
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def python(
    hub: LoopbackHub | str, home: Path, code: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a piece of Python."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(hub, home, **more),
        capture_output=True,
        text=True,
        timeout=120,
    )


def images(home: Path) -> dict[str, bytes]:
    """The images of a store, by SUBSET/SPLIT/FILE."""
    return {
        path.relative_to(home / "image").as_posix(): path.read_bytes()
        for path in sorted((home / "image").rglob("*"))
        if path.is_file()
    }
