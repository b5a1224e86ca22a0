"""A model's settings as the host resolves them: defaults filled in, secrets removed."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vlmeval")

from vlmeval.config import supported_VLM

from dtvqa_plugin.hosts.vlmevalkit.earlier.model_settings import describe_configured, describe_named

SECRET = "sk-0123456789"


def described(**settings: Any) -> dict[str, Any]:
    return describe_configured({"class": "GPT4V", "model": "m", **settings}, "mine")


@pytest.mark.parametrize(
    "settings",
    [
        {"key": SECRET},
        {"api_key": SECRET},
        {"access_token": SECRET},
        {"extra_headers": {"X-Anything": SECRET}},
        {"default": {"password": SECRET}},
        {"api_base": f"http://user:{SECRET}@127.0.0.1:8000/v1?token={SECRET}"},
    ],
)
def test_no_secret_is_recorded(settings: dict[str, Any]) -> None:
    assert SECRET not in json.dumps(described(**settings))


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"key": "another"}, True),
        ({"retry": 9, "wait": 9, "timeout": 9, "verbose": True}, True),
        ({"img_size": -1}, True),  # the class's default, given
        ({"img_size": 512}, False),
        ({"max_tokens": 4096}, False),
        ({"max_new_tokens": 4096}, False),
        ({"api_base": "http://127.0.0.1:9/v1"}, False),
    ],
)
def test_settings_that_change_answers(settings: dict[str, Any], same: bool) -> None:
    assert (described(**settings) == described()) is same


def test_local_weights_that_were_written_again(tmp_path: Path) -> None:
    weights = tmp_path / "checkpoint" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"first" * 4096)
    before = described(model_path=str(weights.parent))
    weights.write_bytes(b"again" * 4096)
    after = described(model_path=str(weights.parent))
    assert before["settings"] == after["settings"]
    assert before["weights"] != after["weights"]


def test_what_happens_to_a_picture() -> None:
    said = described(img_size=512, img_detail="high")["image_path_to_model"]
    assert (said["img_size"], said["img_detail"]) == ("512", "high")
    assert said["encoding"].startswith("JPEG")
    assert all(isinstance(value, str) for value in said.values())


class Model:
    """A class of a user's own, as an entry of the host's list names it."""

    def __init__(self, model_path: str, tiles: int = 6) -> None: ...


def test_an_entry_that_gives_its_settings_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(supported_VLM, "of my own", functools.partial(Model, "org/weights"))
    assert describe_named("of my own")["settings"] == {"model_path": "org/weights", "tiles": 6}
