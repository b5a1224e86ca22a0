"""A custom set, a server, and runs of the host's own script, all in this process."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import LoopbackOpenAI, text_of
from PIL import Image
from vlm_host import HostRun, api_model, results

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.vlmevalkit.launcher import run_host

NAME = "DTVQA_CUSTOM"
KEY = "sk-very-secret-0123456789"
QUESTIONS = {"Food/0": "Weight?", "Food/1": "Calories?", "Food/2": "Price?"}
Settings = dict[str, Any]


class Bench:
    """A custom set, a server, and runs of the host's own script in one work folder."""

    def __init__(
        self,
        folder: Path,
        server: LoopbackOpenAI,
        capture: pytest.CaptureFixture[str],
        log: pytest.LogCaptureFixture,
        patch: pytest.MonkeyPatch,
    ) -> None:
        self.folder, self.server = folder, server
        self.capture, self.log, self.patch = capture, log, patch
        patch.setenv("DTVQA_CUSTOM", str(folder / "set"))
        self.out, self.store = folder / "out", folder / "set"
        self.failing: set[str] = set()
        self.write(QUESTIONS)

    def write(self, questions: dict[str, str], colour: str = "white") -> None:
        """Export the custom set (again)."""
        shutil.rmtree(self.store, ignore_errors=True)
        (self.store / "test").mkdir(parents=True)
        rows = []
        for name, question in questions.items():
            number = int(name.split("/")[1])
            path = self.store / "image" / "Food" / "test" / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            shade = colour if number == 1 else "white"
            Image.new("RGB", (120, 110 + number), shade).save(path)
            rows.append(
                {
                    "dataset_name": "Food",
                    "id": number,
                    "image_path": f"./image/Food/test/{number}.png",
                    "question": question,
                    "answers": [f"answer {number}"],
                    "type": "made for a test",
                }
            )
        text = json.dumps(rows)
        (self.store / "test" / "DT_custom.json").write_text(text, encoding="utf-8")
        (self.store / "custom.json").write_text('{"name": "food"}', encoding="utf-8")

    def run(self, *arguments: str, model: Settings | None = None) -> HostRun:
        """Run a config file; ``model`` changes the model's entry."""
        entry = {**api_model(self.server), "key": KEY, "retry": 1, **(model or {})}
        config = {
            "model": {"mine": entry},
            "data": {NAME: {"class": "DTVQADataset", "dataset": NAME}},
        }
        path = self.folder / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return self.start("--config", str(path), "--work-dir", str(self.out), *arguments)

    def start(self, *arguments: str) -> HostRun:
        """Run the host's own script in this process."""
        return self.call(run_host, *arguments)

    def call(self, command: Callable[[list[str]], None], *arguments: str) -> HostRun:
        """Run a command of this plugin in this process."""
        self.capture.readouterr()
        self.log.clear()
        self.patch.setenv("DTVQA_ASK_AGAIN", "0")  # --ask-again sets it; undone after the test
        before = sys.argv
        try:
            command(list(arguments))
        except SystemExit as error:
            print(error, file=sys.stderr)
            status = 1
        except DTVQAError as error:
            print(f"error: {error}", file=sys.stderr)
            status = 1
        else:
            status = 0
        finally:
            sys.argv = before
        captured = self.capture.readouterr()
        return HostRun(status, captured.out + captured.err + self.log.text)

    def answer(self, request: dict[str, Any]) -> str:
        """What the server replies; it fails for the questions in ``failing``."""
        text = text_of(request)
        if text in self.failing:
            raise RuntimeError("this server fails for this question")
        return f"answer to {text}"

    def summary(self) -> dict[str, Any]:
        return results(self.out, "mine", NAME)[0]

    def predictions(self) -> Path:
        """The newest prediction file; some hosts make a folder for every run."""
        found = [path for path in self.out.rglob(f"mine_{NAME}.*") if ".moved" not in str(path)]
        return max(path for path in found if not path.is_symlink())
