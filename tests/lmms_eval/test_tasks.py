"""The task files: what each task asks, of which data, and what stops it."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

from lmms_eval.tasks import get_task_dict
from lmms_host import task_manager
from PIL import Image
from released_layout import SIZES, make_release

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION, PROMPTS, identify_prompt, prompt_for
from dtvqa_plugin.benchmark.subsets import SUBSETS
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.hosts.lmms_eval import tables, task_values
from dtvqa_plugin.hosts.task_configs import task_configs_dir

QUESTION = "What does label 0 of DTScene say?"


def load(name: str, model: str = "openai", kind: str = "chat") -> Any:
    return get_task_dict([name], task_manager(model), kind)[name]


@pytest.mark.parametrize("subset", ["DTScene", "DTTabShot"])
def test_the_splits_released_apart_have_a_validation_task(
    subset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = f"./image/{subset}/val/a.png"
    turns = [
        {"from": "user", "value": f"<img>{image}</img> What is the name? Answer: "},
        {"from": "assistant", "value": "Ada"},
        {"from": "user", "value": " Which year? Answer: "},
        {"from": "assistant", "value": "1815"},
    ]
    annotations = tmp_path / f"train/{subset}_val.json"
    annotations.parent.mkdir()
    annotations.write_text(json.dumps([{"id": image, "conversations": turns}]))
    (tmp_path / image).parent.mkdir(parents=True)
    Image.new("RGB", (20, 10)).save(tmp_path / image)
    monkeypatch.setenv("DTVQA_HOME", str(tmp_path))
    task = load(f"dtvqa_val_{SUBSETS[subset].task}")
    assert [(task.doc_to_text(doc), task.doc_to_target(doc)) for doc in task.test_docs()] == [
        ("What is the name?", ["Ada"]),
        ("Which year?", ["1815"]),
    ]
    assert task.config.metadata["data"]["split"] == "val"


@pytest.mark.parametrize("suffix", ["", "_prompted"])
@pytest.mark.parametrize("subset", SUBSETS.values(), ids=lambda subset: subset.task)
def test_each_subset_has_a_task_in_both_conditions(
    small_home: Path, subset: Any, suffix: str
) -> None:
    task = load(f"dtvqa_{subset.task}{suffix}")
    docs = task.test_docs()
    assert len(docs) == SIZES[subset.name]
    assert set(docs["subset"]) == {subset.name}
    assert task.config.generation_kwargs["max_new_tokens"] == 100
    assert task.config.generation_kwargs["do_sample"] is False
    assert task.config.generation_kwargs["until"] == []
    metadata = task.config.metadata
    assert metadata["condition"] == ("paper" if suffix else "none")
    assert metadata["data"]["coverage"]["overall"] == f"{SIZES[subset.name]} of {len(docs)}"


@pytest.mark.parametrize(
    ("task_name", "model", "text"),
    [
        ("dtvqa_scene", "openai", QUESTION),
        ("dtvqa_scene_prompted", "openai", PAPER_INSTRUCTION + QUESTION),
        ("dtvqa_scene", "qwen_vl", QUESTION + " Answer:"),
        ("dtvqa_scene_prompted", "qwen_vl", PAPER_INSTRUCTION + QUESTION + " Answer:"),
        ("dtvqa_blind_scene", "openai", QUESTION),
    ],
)
def test_chat_and_simple_runners_get_the_same_words(
    small_home: Path, task_name: str, model: str, text: str
) -> None:
    simple = load(task_name, model, "simple")
    chat = load(task_name, model, "chat")
    doc = simple.test_docs()[0]
    assert simple.doc_to_text(doc) == text
    (turn,) = chat.doc_to_messages(chat.test_docs()[0])
    assert turn["role"] == "user"
    assert [part["type"] for part in turn["content"]] == ["image", "text"]
    assert turn["content"][1]["text"] == text
    assert turn["content"][0]["url"].tobytes() == simple.doc_to_visual(doc)[0].tobytes()


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ("openai", {"default": "none", "qwen_vl": "answer", "prompt": "none"}),
        ("qwen_vl", {"default": "none", "qwen_vl": "answer"}),
    ],
)
def test_the_saved_config_tells_the_prompt_by_model(
    small_home: Path, model: str, seen: dict[str, str]
) -> None:
    # What reports read: the host writes "prompt" beside the models only where it took the default.
    config = load("dtvqa_scene", model).dump_config()
    saved = config["lmms_eval_specific_kwargs"]
    named = {key: saved[key]["prompt"] for key in ("default", "qwen_vl")}
    assert {**named, **({"prompt": saved["prompt"]} if "prompt" in saved else {})} == seen
    assert config["metadata"]["prompt_text"]["default"] == "{question}"
    assert config["metadata"]["prompt_text"]["qwen_vl"] == "{question} Answer:"


def test_the_blind_task_shows_a_grey_picture_of_the_same_size(small_home: Path) -> None:
    blind, seeing = load("dtvqa_blind_scene"), load("dtvqa_scene")
    grey = blind.doc_to_visual(blind.test_docs()[0])[0]
    seen = seeing.doc_to_visual(seeing.test_docs()[0])[0]
    assert grey.size == seen.size
    assert grey.getcolors() == [(grey.width * grey.height, (127, 127, 127))]
    assert blind.config.metadata["image"] == "plain grey"


def test_the_sample_needs_no_store(dtvqa_home: Path) -> None:
    task = load("dtvqa_mini")
    assert len(task.test_docs()) >= 48
    assert task.config.metadata["benchmark"] == "embedded sample (not DT-VQA)"


def test_every_prompt_has_a_name_that_its_text_gives_back() -> None:
    for prompt in PROMPTS.values():
        assert identify_prompt(prompt.render(QUESTION), QUESTION) is prompt
    assert identify_prompt(f"Please: {QUESTION}", QUESTION) is None
    with pytest.raises(ValueError, match="known: none, paper"):
        prompt_for("polite")


def test_the_instruction_is_the_papers_to_the_last_blank() -> None:
    assert PROMPTS["paper"].render("Q") == (
        "This is a question related to text in an image, please provide a word or phrase from "
        "the image text as an answer. Q"
    )


def test_an_unknown_lazy_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tables__test'"):
        getattr(task_values, "tables__test")  # noqa: B009  (getattr is what the host calls)


def test_without_data_the_task_stops_with_the_cure(
    dtvqa_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ImportError) as stopped:
        load("dtvqa_scene")
    assert isinstance(stopped.value.__cause__, DataError)
    assert "dtvqa data" in str(stopped.value.__cause__)
    assert any("dtvqa data" in record.getMessage() for record in caplog.records)


def test_missing_images_stop_the_task_unless_a_partial_run_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    release = make_release(tmp_path / "DT-VQA")
    for name in ("1.png", "3.png"):
        (release / "image/DTTabShot/test" / name).unlink()
    monkeypatch.setenv("DTVQA_HOME", str(release))
    with pytest.raises(ImportError) as stopped:
        load("dtvqa_tabshot")
    message = str(stopped.value.__cause__)
    assert "DTTabShot: 2 of 4 images" in message
    assert "dtvqa data" in message
    monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", "1")
    caplog.clear()
    task = load("dtvqa_tabshot")
    assert len(task.test_docs()) == 2
    assert task.config.metadata["data"]["coverage"]["DTTabShot"] == "2 of 4"
    assert any("2 of 4" in record.getMessage() for record in caplog.records)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for this test alone, so that no other store holds its tables' data."""
    cache = tmp_path / "own-cache"
    monkeypatch.setattr(tables, "user_cache", lambda: cache)
    return cache


def copied(release: Path, to: Path) -> Path:
    shutil.copytree(release, to, ignore=shutil.ignore_patterns("tables"))
    return to


def test_a_changed_image_or_answer_changes_the_tables_name_and_removes_the_old_table(
    own_cache: Path, small_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = copied(small_release, tmp_path / "DT-VQA")
    monkeypatch.setenv("DTVQA_HOME", str(release))
    first = Path(tables.table("test", "DTScene"))
    other = Path(tables.table("test", "DTTabShot"))
    assert Path(tables.table("test", "DTScene")) == first
    image = release / "image/DTScene/test/0.png"
    before = image.stat()
    content = bytearray(image.read_bytes())
    content[-1] ^= 1
    image.write_bytes(content)
    os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = Path(tables.table("test", "DTScene"))
    annotations = release / "test/DTScene.json"
    annotations.write_text(annotations.read_text().replace("Word0", "Wort0"))
    third = Path(tables.table("test", "DTScene"))
    assert len({first, second, third}) == 3
    assert [path.is_dir() for path in (first, second, third, other)] == [False, False, True, True]


def test_a_moved_store_has_the_same_table(
    small_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(copied(small_release, tmp_path / "here")))
    before = tables.table("test", "DTScene")
    (tmp_path / "here").rename(tmp_path / "there")
    monkeypatch.setenv("DTVQA_HOME", str(tmp_path / "there"))
    assert tables.table("test", "DTScene") == before
    doc = load("dtvqa_scene").test_docs()[0]
    assert tables.image_file(doc).is_relative_to(tmp_path / "there")


def test_tables_of_another_datasets_version_are_told_apart_and_kept(
    own_cache: Path, small_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = copied(small_release, tmp_path / "DT-VQA")
    monkeypatch.setenv("DTVQA_HOME", str(release))
    ours = Path(tables.table("test", "DTScene"))
    monkeypatch.setattr(tables, "version", lambda name: "3.6.0")
    theirs = Path(tables.table("test", "DTScene"))
    assert theirs.name.endswith("-datasets3")
    assert ours != theirs
    annotations = release / "test/DTScene.json"
    annotations.write_text(annotations.read_text().replace("Word0", "Wort0"))
    tables.table("test", "DTScene")
    assert [ours.is_dir(), theirs.is_dir()] == [True, False]


def test_tables_of_version_0_1_0_and_of_stores_that_are_gone_are_removed(
    own_cache: Path, small_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = copied(small_release, tmp_path / "gone")
    annotations = gone / "test/DTScene.json"
    annotations.write_text(annotations.read_text().replace("Word0", "Gone0"))
    monkeypatch.setenv("DTVQA_HOME", str(gone))
    of_the_gone = Path(tables.table("test", "DTScene"))
    shutil.rmtree(gone)
    release = copied(small_release, tmp_path / "DT-VQA")
    annotations = release / "test/DTScene.json"
    annotations.write_text(annotations.read_text().replace("Word0", "New0"))
    old = release / "tables/test-DTScene-0123456789abcdef"
    old.mkdir(parents=True)
    monkeypatch.setenv("DTVQA_HOME", str(release))
    assert Path(tables.table("test", "DTScene")).is_dir()
    assert not of_the_gone.exists()
    assert not old.exists()


def test_a_read_only_cache_or_store_is_enough(
    small_release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = copied(small_release, tmp_path / "DT-VQA")
    monkeypatch.setenv("DTVQA_HOME", str(release))
    cache = tmp_path / "cache"
    monkeypatch.setattr(tables, "user_cache", lambda: cache)
    closed: list[Path] = []  # root may write anywhere: os.access says what it may not
    monkeypatch.setattr(
        "os.access", lambda path, mode: not any(Path(path).is_relative_to(home) for home in closed)
    )
    # The same place in every run: the host's response cache has the path in its keys.
    assert Path(tables.table("test", "DTScene")).parent == cache / "tables"
    closed.append(cache)
    assert Path(tables.table("test", "DTScene")).parent == release / "tables"
    closed.append(release)
    temporary = Path(tables.table("test", "DTScene"))
    assert (temporary / "dataset_dict.json").is_file()
    assert not any(temporary.is_relative_to(home) for home in closed)


def test_every_name_in_the_task_files_resolves_and_every_value_is_used() -> None:
    named = set()
    for path in filter(Path.is_file, task_configs_dir("lmms_eval").rglob("*")):
        named.update(re.findall(r"!function (\S+)", path.read_text(encoding="utf-8")))
    tables_and_metadata = {
        **task_values.TABLES,
        **task_values.TEXT_TABLES,
        **task_values.METADATA,
    }
    values = {**tables_and_metadata, **task_values.PROMPTS}
    prefix = "dtvqa_plugin.hosts.lmms_eval.task_values."
    assert {name.removeprefix(prefix) for name in named if name.startswith(prefix)} == set(values)
    for name in sorted(name for name in named if not name.startswith(prefix)):
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute)), name
    for name, arguments in tables_and_metadata.items():
        assert name.split("__")[1:] == list(arguments)
