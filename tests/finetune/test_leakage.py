"""No test image is exported, and other people's training sets are checked for test material."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from finetune_release import (
    conversation,
    image_of,
    make_train_file,
    picture,
    plain_records,
    rows,
    save,
    write_json,
)
from PIL import Image

from dtvqa_plugin.cli import cli
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.finetune import FORMATS, ExportOptions, export, find_leakage

VICTIM = "image/DTScene/test/dtscene-0001.jpg"


def scaled(factor: float) -> Callable[[Image.Image], Image.Image]:
    return lambda im: im.resize((round(im.width * factor), round(im.height * factor)))


def turned(image: Image.Image) -> Image.Image:
    """The pixels lie on their side and the EXIF orientation says so."""
    lying = image.transpose(Image.Transpose.ROTATE_90)
    lying.getexif()[0x0112] = 6
    return lying


COPIES: list[tuple[str, Callable[[Image.Image], Image.Image], str, dict[str, Any]]] = [
    ("as it is", lambda im: im, "jpg", {"quality": 95}),
    ("half the size", scaled(0.5), "jpg", {"quality": 90}),
    ("a quarter, poor", scaled(0.25), "jpg", {"quality": 40}),
    ("three times the size", scaled(3), "png", {}),
    ("recompressed hard", lambda im: im, "jpg", {"quality": 15}),
    ("another format", scaled(0.8), "webp", {"quality": 50}),
    ("squashed", lambda im: im.resize((224, 224)), "jpg", {"quality": 80}),
    ("grey", lambda im: im.convert("L"), "jpg", {"quality": 80}),
    ("few colours", lambda im: im.quantize(24), "png", {}),
    ("brighter", lambda im: im.point(lambda v: min(255, round(v * 1.15))), "jpg", {"quality": 85}),
    ("on its side by EXIF", turned, "jpg", {"quality": 90}),
]


@pytest.mark.parametrize(("how", "change", "suffix", "saved"), COPIES, ids=[c[0] for c in COPIES])
def test_planted_copy_is_found_and_not_exported(
    how: str,
    change: Callable[[Image.Image], Image.Image],
    suffix: str,
    saved: dict[str, Any],
    own_home: Path,
    tmp_path: Path,
) -> None:
    copy = change(Image.open(own_home / VICTIM).convert("RGB"))
    planted = f"DTTabShot/train/planted.{suffix}"
    exif = {"exif": copy.getexif()} if how.endswith("EXIF") else {}
    save(copy, own_home / "image" / planted, **saved, **exif)
    records = [*plain_records("DTTabShot", "train", 2), conversation(planted, ("Q?", "a"))]
    make_train_file(own_home, "DTTabShot_train", records)
    report = export(tmp_path / "out", ExportOptions(format="messages", subsets=("DTTabShot",)))
    assert [(m.image, m.test_image, m.how) for m in report.leaks] == [
        (planted, VICTIM.removeprefix("image/"), "picture")
    ]
    assert (report.leaked_pairs, report.pairs) == (1, 6)
    written = [image_of(row) for row in rows(tmp_path / "out" / "train.jsonl")]
    assert not any(image.endswith(planted) for image in written)
    found = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["left_out"]
    assert found["leaked_images"][0]["test_image"] == VICTIM.removeprefix("image/")


def test_same_file_name_is_left_out_whatever_the_picture(own_home: Path, tmp_path: Path) -> None:
    name = f"DTScene/train/{Path(VICTIM).stem.upper()}.png"
    records = [*plain_records("DTScene", "train", 1), conversation(name, ("Q?", "a"))]
    make_train_file(own_home, "DTScene_train", records)
    options = ExportOptions(format="llava", subsets=("DTScene",), gpt4v=False, check="names")
    report = export(tmp_path / "out", options)
    assert [(m.image, m.how) for m in report.leaks] == [(name, "name")]
    assert report.images == 1


def test_other_pictures_are_not_taken_for_test_images(own_home: Path, tmp_path: Path) -> None:
    for seed in range(60):
        save(picture(50_000 + seed), tmp_path / "set" / f"{seed}.jpg")
    found = find_leakage(tmp_path / "set")
    assert (found.compared, found.images) == (60, [])


WRITTEN = [(name, False) for name in FORMATS]
WRITTEN += [(name, True) for name, form in FORMATS.items() if form.embeds]


@pytest.mark.parametrize(("name", "embed"), WRITTEN)
def test_find_leakage_reads_every_format_that_export_writes(
    name: str, embed: bool, own_home: Path, tmp_path: Path
) -> None:
    make_train_file(own_home, "DTTabShot_train", plain_records("DTTabShot", "train", 3))
    export(tmp_path / "out", ExportOptions(format=name, subsets=("DTTabShot",), embed=embed))
    clean = find_leakage(tmp_path / "out")
    assert (clean.records, clean.pairs, clean.compared, clean.named) == (3, 9, 3, 0)
    assert clean.images == []
    # The same file is a leak once one of its pictures is a test image.
    test_copy = scaled(0.5)(Image.open(own_home / VICTIM))
    file = next(p for p in (tmp_path / "out").iterdir() if p.stem == "train")
    if embed:
        buffer = io.BytesIO()
        test_copy.save(buffer, "JPEG", quality=50)
        data = "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
        text = file.read_text("utf-8")
        file.write_text(text.replace(image_of(rows(file)[1]), data), encoding="utf-8")
    else:
        save(test_copy, Path(image_of(rows(file)[1])), quality=50)
    found = find_leakage(file)
    assert [match.test_image for match in found.images] == [VICTIM.removeprefix("image/")]


FOREIGN: list[tuple[str, dict[str, Any]]] = [
    ("question and answer", {"image": "pics/a.jpg", "question": "Q?", "answer": "x"}),
    ("a list of images", {"images": ["pics/a.jpg"], "query": "Q?", "response": "x"}),
    ("dicts of images", {"images": [{"path": "pics/a.jpg"}], "prompt": "Q?", "output": "x"}),
    (
        "image parts with a path",
        {"messages": [{"role": "user", "content": [{"type": "image", "path": "pics/a.jpg"}]}]},
    ),
    (
        "OpenAI image_url",
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": "pics/a.jpg"}},
                        {"type": "text", "text": "Q?"},
                    ],
                }
            ]
        },
    ),
]


@pytest.mark.parametrize(("form", "record"), FOREIGN, ids=[form for form, _ in FOREIGN])
@pytest.mark.parametrize("lines", [True, False])
def test_find_leakage_reads_foreign_records(
    form: str, record: dict[str, Any], lines: bool, own_home: Path, tmp_path: Path
) -> None:
    save(Image.open(own_home / VICTIM), tmp_path / "pics" / "a.jpg", quality=60)
    file = tmp_path / ("set.jsonl" if lines else "set.json")
    file.write_text(json.dumps(record if lines else [record]) + "\n", encoding="utf-8")
    found = find_leakage(file)
    assert (found.records, found.pairs, found.compared) == (1, 1, 1)
    assert [match.test_image for match in found.images] == [VICTIM.removeprefix("image/")]


def test_of_images_that_are_not_there_the_name_is_compared(own_home: Path, tmp_path: Path) -> None:
    lines = [
        {"image": "https://example.org/x/DTSCENE-0001.png?size=3", "question": "Q?"},
        {"image": "elsewhere/other.png", "question": "Q?"},
    ]
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = find_leakage(file)
    assert (found.named, found.compared) == (2, 0)
    assert [match.how for match in found.images] == ["name"]


def test_command_says_clean_or_leaking_by_its_exit_status(own_home: Path, tmp_path: Path) -> None:
    save(picture(99_999), tmp_path / "clean" / "a.png")
    save(Image.open(own_home / VICTIM), tmp_path / "dirty" / "b.png")
    copied = [
        {
            "question": f"Which word stands in line {n} of the DTScene picture?",
            "answer": f"word {n}",
        }
        for n in (0, 1)
    ]
    write_json(tmp_path / "text" / "set.json", copied)
    runs = {
        name: CliRunner().invoke(cli, ["data", "leakage", str(tmp_path / name)])
        for name in ("clean", "dirty", "text")
    }
    assert {name: run.exit_code for name, run in runs.items()} == {
        "clean": 0,
        "dirty": 1,
        "text": 1,
    }
    assert "images that are or look like a test image: 0" in runs["clean"].output
    assert "looks like the test image DTScene/test/dtscene-0001.jpg" in runs["dirty"].output
    assert "DTScene: 2 of 3  COPIED" in runs["text"].output
    as_json = CliRunner().invoke(cli, ["data", "leakage", str(tmp_path / "dirty"), "--json"])
    assert json.loads(as_json.stdout)["images"][0]["how"] == "picture"


def test_the_released_training_files_name_no_test_image(
    shared_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(shared_dir / "hub/DT-VQA"))
    found = find_leakage(shared_dir / "hub/DT-VQA/train", names_only=True)
    assert (found.records, found.images, found.copied) == (6010, [], [])
    assert found.answered == {"DTNutrCap": 61, "DTProdCap": 78, "DTScene": 1, "DTTabShot": 16}


def test_what_cannot_be_read_is_counted_or_one_error(own_home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    save(picture(1), folder / "a.png")
    (folder / "b.png").write_bytes(b"not an image")
    write_json(folder / "notes.json", {"a": 1})
    write_json(
        folder / "list.json", ["text", {"question": "Q?", "image": "data:image/png;base64,!"}]
    )
    found = find_leakage(folder)
    assert found.compared == 1
    assert len(found.unreadable) == 2
    assert len(found.skipped) == 2
    (folder / "bad.jsonl").write_text('{"question": "Q?"}\n{"question":\n', encoding="utf-8")
    with pytest.raises(DTVQAError, match=r"bad\.jsonl: line 2: not JSON"):
        find_leakage(folder)
    with pytest.raises(DTVQAError, match="no such file or folder"):
        find_leakage(tmp_path / "nowhere")


HOSTILE = [
    b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n",
    b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
    b"",
]


@pytest.mark.parametrize("content", HOSTILE, ids=["EPS", "broken PNG", "empty"])
def test_embedded_rubbish_is_named_and_goes_no_further(
    content: bytes, own_home: Path, tmp_path: Path
) -> None:
    data = "data:image/png;base64," + base64.b64encode(content).decode()
    write_json(tmp_path / "set.json", [{"question": "Q?"}, {"question": "Q?", "image": data}])
    found = find_leakage(tmp_path / "set.json")
    assert (found.compared, len(found.unreadable)) == (0, 1)
    assert found.unreadable[0].startswith("set.json, record 1, embedded image: ")
