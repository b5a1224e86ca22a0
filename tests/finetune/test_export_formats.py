"""Each format: golden files, the released form given back, prompts, turns, what is left out."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from finetune_release import (
    conversation,
    image_of,
    make_train_file,
    pairs_of,
    rows,
)
from PIL import Image

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION, PROMPTS
from dtvqa_plugin.data import read_train
from dtvqa_plugin.finetune import FORMATS, ExportOptions, export

GOLDEN = Path(__file__).parent / "golden"

# Two turns, then one with all that JSON and markup could trip over.
AWKWARD = (
    conversation(
        "DTTabShot/train/2-10002-1.png",
        ("Which team won?", "Ribe HK"),
        ('How much is "B"?', "1 000 kr."),
    ),
    conversation(
        "DTTabShot/train/2-10003-7.png", ("上面写着什么？\nSecond line", "第一行 \\ {x} </s>")
    ),
)


def exported(folder: Path, name: str, **options: Any) -> Path:
    export(folder, ExportOptions(format=name, **options))
    suffix = "jsonl" if FORMATS[name].lines else "json"
    return folder / f"train.{suffix}"


@pytest.mark.parametrize("name", FORMATS)
def test_export_is_the_golden_file(name: str, own_home: Path, tmp_path: Path) -> None:
    make_train_file(own_home, "DTTabShot_train", AWKWARD)
    path = exported(tmp_path / "out", name, subsets=("DTTabShot",), image_root="images")
    assert path.read_bytes() == (GOLDEN / f"{name}{path.suffix}").read_bytes()


def test_llava_comes_with_dataset_info(own_home: Path, tmp_path: Path) -> None:
    make_train_file(own_home, "DTTabShot_train", AWKWARD)
    options = ExportOptions(format="llava", subsets=("DTTabShot",), held_out=0.5)
    export(tmp_path / "out", options)
    info = json.loads((tmp_path / "out" / "dataset_info.json").read_text(encoding="utf-8"))
    columns = {"messages": "conversations", "images": "image"}
    assert info == {
        f"dtvqa_{part}": {"file_name": f"{part}.json", "formatting": "sharegpt", "columns": columns}
        for part in ("train", "held_out")
    }


@pytest.mark.parametrize("file", ["DTNutrCap_train_val", "DTTabShot_val"])
def test_monkey_gives_back_the_released_file(
    file: str, shared_dir: Path, own_home: Path, tmp_path: Path
) -> None:
    released = json.loads((shared_dir / f"hub/DT-VQA/train/{file}.json").read_text("utf-8"))[:60]
    make_train_file(own_home, file, released)
    subset, _, split = file.partition("_")
    path = exported(
        tmp_path / "out",
        "monkey",
        splits=("val" if split == "val" else "train",),
        subsets=(subset,),
        image_root="./image",
    )
    sound = [
        r
        for r in released
        if r["conversations"] and all(t["value"].strip() for t in r["conversations"])
    ]
    assert len(sound) > 40
    written = {row["id"]: row for row in rows(path)}
    assert [written[record["id"]] for record in sound] == sound


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("turns", ["all", "one"])
def test_every_pair_of_the_store_is_there_once(
    name: str, turns: str, train_home: Path, tmp_path: Path
) -> None:
    path = exported(tmp_path / "out", name, turns=turns, subsets=("DTScene",))
    files = [train_home / "train" / f"DTScene_train{end}.json" for end in ("", "_gpt-4v")]
    read = [record for file in files for record in read_train(file).records]
    found = [(image_of(row), *pair) for row in rows(path) for pair in pairs_of(row)]
    assert found == [(str(train_home / "image" / r.image), r.question, r.answer) for r in read]
    if turns == "one":
        assert {len(pairs_of(row)) for row in rows(path)} == {1}
    if name != "monkey":
        ids = [row["id"] for row in rows(path)]
        keys = [record.question_id for record in read]
        if turns == "all":
            keys = list(dict.fromkeys(key.partition("#")[0] for key in keys))
        assert ids == keys


@pytest.mark.parametrize("name", FORMATS)
def test_the_image_is_marked_once_and_in_the_first_question(
    name: str, train_home: Path, tmp_path: Path
) -> None:
    for row in rows(exported(tmp_path / "out", name)):
        text = json.dumps(row)
        mark = FORMATS[name].mark or '{"type": "image"}'
        assert text.count(mark) == 1
        assert mark in json.dumps((row.get("messages") or row["conversations"])[0])


PROMPTED = [
    ("llava", "none", "<image>\nWhich?"),
    ("llava", "paper", f"<image>\n{PAPER_INSTRUCTION}Which?"),
    ("llava", "answer", "<image>\nWhich? Answer:"),
    ("ms-swift", "paper_answer", f"<image>{PAPER_INSTRUCTION}Which? Answer:"),
    ("monkey", "none", "<img>DTTabShot/train/a.png</img> Which? Answer: "),
    ("monkey", "answer", "<img>DTTabShot/train/a.png</img> Which? Answer: "),
    ("monkey", "paper", f"<img>DTTabShot/train/a.png</img> {PAPER_INSTRUCTION}Which? Answer: "),
    ("qwen-vl-v1", "answer", "Picture 1: <img>DTTabShot/train/a.png</img>\nWhich? Answer:"),
]


@pytest.mark.parametrize(("name", "prompt", "text"), PROMPTED)
def test_prompt_is_around_every_question(
    name: str, prompt: str, text: str, own_home: Path, tmp_path: Path
) -> None:
    record = conversation("DTTabShot/train/a.png", ("Which?", "x"), ("Which?", "y"))
    make_train_file(own_home, "DTTabShot_train", [record])
    path = exported(tmp_path / "out", name, subsets=("DTTabShot",), prompt=prompt, image_root="")
    turns = rows(path)[0].get("messages") or rows(path)[0]["conversations"]
    asked = [turn.get("content", turn.get("value")) for turn in turns[::2]]
    assert asked[0] == text
    assert asked[1].strip() == text.rpartition("</img>")[2].removeprefix("<image>").strip()


def test_all_prompts_are_accepted(train_home: Path, tmp_path: Path) -> None:
    for prompt in PROMPTS:
        exported(tmp_path / prompt, "messages", prompt=prompt)


@pytest.mark.parametrize("name", ["ms-swift", "messages"])
def test_embedded_images_are_the_files_bytes(name: str, train_home: Path, tmp_path: Path) -> None:
    path = exported(tmp_path / "out", name, embed=True, subsets=("DTTabShot",))
    plain = exported(tmp_path / "plain", name, subsets=("DTTabShot",))
    for row, by_path in zip(rows(path), rows(plain), strict=True):
        kind, _, data = image_of(row).partition(",")
        content = base64.b64decode(data, validate=True)
        assert kind == "data:image/jpeg;base64"
        assert content == Path(image_of(by_path)).read_bytes()
        assert Image.open(io.BytesIO(content)).size == (320, 240)


LEFT_OUT = [
    ({"conversations": None}, {"null-conversations": 1}, 0),
    ({"conversations": []}, {"empty-conversations": 1}, 0),
    (conversation("DTTabShot/train/b.png", ("Q?", " "), ("R?", "r")), {"blank-answer": 1}, 1),
    (conversation("DTTabShot/train/b.png", (" ", "a"), ("R?", "r")), {"blank-question": 1}, 1),
]


@pytest.mark.parametrize(("record", "counts", "kept"), LEFT_OUT)
def test_unusable_records_are_left_out_and_counted(
    record: dict[str, Any],
    counts: dict[str, int],
    kept: int,
    own_home: Path,
    tmp_path: Path,
) -> None:
    good = conversation("DTTabShot/train/a.png", ("Q?", "a"))
    faulty = {"id": "./image/DTTabShot/train/b.png", **record}
    make_train_file(own_home, "DTTabShot_train", [good, faulty])
    report = export(tmp_path / "out", ExportOptions(format="messages", subsets=("DTTabShot",)))
    assert dict(report.faulty) == counts
    assert report.pairs == 1 + kept
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["left_out"]["unusable"] == counts


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("llava", "<image>", 1),
        ("ms-swift", "<image>", 1),
        ("monkey", "<img>", 1),
        ("messages", "<image>", 2),
    ],
)
def test_text_that_holds_the_image_mark_cannot_shift_the_image(
    name: str, text: str, kept: int, own_home: Path, tmp_path: Path
) -> None:
    record = conversation("DTTabShot/train/a.png", ("Q?", "a"), (f"What does {text} mean?", "b"))
    make_train_file(own_home, "DTTabShot_train", [record])
    report = export(tmp_path / "out", ExportOptions(format=name, subsets=("DTTabShot",)))
    assert (report.pairs, report.marked) == (kept, 2 - kept)


def test_mini_is_exported_with_its_first_answer(tmp_path: Path) -> None:
    path = exported(tmp_path / "out", "messages", splits=("mini",), turns="one")
    found = rows(path)
    assert len(found) == 64
    assert all(Path(image_of(row)).is_file() for row in found)
    assert ("How much is the sourdough?", "£4.20") in [pairs_of(row)[0] for row in found]
