"""Which records are exported, in what order, into which files; the target folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from finetune_release import (
    image_of,
    make_test_part,
    make_train_file,
    pairs_of,
    plain_records,
    rows,
    save,
    tree,
)
from PIL import Image

from dtvqa_plugin.cli import cli, main
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.finetune import ExportOptions, ExportReport, export


def run(folder: Path, **options: Any) -> ExportReport:
    return export(folder, ExportOptions(format="ms-swift", **options))


def subsets_in(folder: Path) -> Counter[str]:
    root = os.environ["DTVQA_HOME"] + "/image/"
    images = [image_of(row).removeprefix(root) for row in rows(folder / "train.jsonl")]
    return Counter("/".join(image.split("/")[:2]) for image in images)


CHOICES: list[tuple[dict[str, Any], dict[str, int]]] = [
    ({}, {"DTNutrCap/train_val": 6, "DTScene/train": 12, "DTTabShot/train": 6}),
    ({"gpt4v": False}, {"DTNutrCap/train_val": 6, "DTScene/train": 6, "DTTabShot/train": 6}),
    ({"subsets": ("DTProdCap",)}, {"DTProdCap/train_val": 6}),
    ({"subsets": ("DTScene", "DTProdCap")}, {"DTProdCap/train_val": 6, "DTScene/train": 12}),
    ({"splits": ("val",)}, {"DTScene/val": 6, "DTTabShot/val": 6}),
    (
        {"splits": ("train", "val"), "subsets": ("DTTabShot",)},
        {"DTTabShot/train": 6, "DTTabShot/val": 6},
    ),
    (
        {"subsets": ("DTTabShot",), "turns": "one"},
        {"DTTabShot/train": 18},
    ),
]


@pytest.mark.parametrize(("options", "samples"), CHOICES)
def test_choice(
    options: dict[str, Any], samples: dict[str, int], train_home: Path, tmp_path: Path
) -> None:
    report = run(tmp_path / "out", **options)
    assert subsets_in(tmp_path / "out") == samples
    assert report.samples == sum(samples.values())


@pytest.mark.parametrize("turns", ["all", "one"])
def test_shuffle_is_a_permutation_fixed_by_its_seed(
    turns: str, train_home: Path, tmp_path: Path
) -> None:
    orders = {}
    for name, seed in (("none", None), ("a", 1), ("again", 1), ("b", 2)):
        run(tmp_path / name, seed=seed, turns=turns)
        orders[name] = (tmp_path / name / "train.jsonl").read_text("utf-8").splitlines()
    assert orders["a"] == orders["again"]
    assert len({tuple(orders[name]) for name in ("none", "a", "b")}) == 3
    assert sorted(orders["none"]) == sorted(orders["a"]) == sorted(orders["b"])


@pytest.mark.parametrize(("share", "images"), [(0.5, 9), (0.1, 2), (0.9, 16)])
def test_held_out_share_is_of_images_and_shares_none_with_the_rest(
    share: float, images: int, train_home: Path, tmp_path: Path
) -> None:
    run(tmp_path / "out", held_out=share, turns="one", seed=3)
    run(tmp_path / "whole", turns="one")
    train, held = (rows(tmp_path / "out" / f"{part}.jsonl") for part in ("train", "held_out"))
    in_train, in_held = ({image_of(row) for row in part} for part in (train, held))
    assert len(in_held) == images
    assert not in_train & in_held
    both = sorted(row["id"] for row in train + held)
    assert both == sorted(row["id"] for row in rows(tmp_path / "whole" / "train.jsonl"))


def test_shards_hold_the_same_lines_in_the_same_order(train_home: Path, tmp_path: Path) -> None:
    run(tmp_path / "one", seed=1)
    report = run(tmp_path / "many", seed=1, shard_size=10)
    shards = sorted((tmp_path / "many" / "train").iterdir())
    assert [path.name for path in shards] == ["00000.jsonl", "00001.jsonl", "00002.jsonl"]
    assert [entry["samples"] for entry in report.files] == [10, 10, 4]
    joined = b"".join(path.read_bytes() for path in shards)
    assert joined == (tmp_path / "one" / "train.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["llava", "ms-swift", "messages"])
def test_running_again_gives_the_same_bytes(name: str, train_home: Path, tmp_path: Path) -> None:
    options = ExportOptions(format=name, seed=7, held_out=0.25, shard_size=5)
    for folder in ("first", "second"):
        export(tmp_path / folder, options)
    assert tree(tmp_path / "first") == tree(tmp_path / "second")


def test_manifest_describes_every_file(train_home: Path, tmp_path: Path) -> None:
    report = run(tmp_path / "out", held_out=0.25)
    files = tree(tmp_path / "out")
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest == json.loads(json.dumps(report.as_json()))
    assert {entry["file"]: entry["sha256"] for entry in manifest["files"]} == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items()
    }
    assert manifest["written"]["pairs"] == sum(
        len(pairs_of(row)) for name in files for row in rows(tmp_path / "out" / name)
    )
    assert {entry["file"]: entry["sha256"] for entry in manifest["sources"]} == {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (train_home / "train").glob("*_train*.json")
        if not path.name.startswith("DTProdCap")
    }


def test_missing_and_unreadable_images_are_left_out_and_counted(
    own_home: Path, tmp_path: Path
) -> None:
    make_train_file(own_home, "DTTabShot_train", plain_records("DTTabShot", "train", 5))
    images = sorted((own_home / "image/DTTabShot/train").iterdir())
    images[1].unlink()
    images[3].write_bytes(images[3].read_bytes()[:200])
    report = run(tmp_path / "out", subsets=("DTTabShot",))
    assert dict(report.missing) == {"DTTabShot": 1}
    assert (report.missing_pairs, report.unreadable_pairs, report.pairs) == (3, 3, 9)
    assert str(images[3]) in report.unreadable[0]
    kept = [image_of(row) for row in rows(tmp_path / "out" / "train.jsonl")]
    assert kept == [str(images[n]) for n in (0, 2, 4)]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"format": "parquet"}, "no format 'parquet'; there are llava, ms-swift"),
    ({"splits": ("test",)}, "'test' is not for training"),
    ({"splits": ("mini", "train")}, "the sample .mini. is exported on its own"),
    ({"subsets": ("DTMenu",)}, "no subset DTMenu"),
    ({"splits": ("val",), "subsets": ("DTNutrCap",)}, "none of DTNutrCap has questions in val"),
    ({"held_out": 1.0}, "not from 0 to below 1"),
    ({"held_out": 0.01}, "leaves one side empty"),
    ({"format": "llava", "embed": True}, "llava holds paths of images only"),
    ({"embed": True, "image_root": "x"}, "embedded images have no paths"),
    ({"format": "monkey", "shard_size": 5}, "--shard-size 5 does not fit monkey"),
    ({"shard_size": 0}, "is not a number of samples"),
    ({"turns": "some"}, "turns are all or one"),
    ({"check": "none"}, "checks full or names"),
    ({"prompt": "polite"}, "unknown prompt 'polite'"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_options_that_do_not_fit_are_one_error(
    options: dict[str, Any], message: str, train_home: Path, tmp_path: Path
) -> None:
    with pytest.raises(DTVQAError, match=message):
        export(tmp_path / "out", ExportOptions(**{"format": "ms-swift", **options}))
    assert list(tmp_path.iterdir()) == []


def test_missing_annotations_and_images_name_the_cure(own_home: Path, tmp_path: Path) -> None:
    with pytest.raises(DTVQAError, match=r"train/DTTabShot_train\.json.*dtvqa data fetch"):
        run(tmp_path / "out", subsets=("DTTabShot",))
    records = plain_records("DTTabShot", "train", 2)
    make_train_file(own_home, "DTTabShot_train", records, images=False)
    with pytest.raises(DTVQAError, match=r"2 images are missing.*--split train"):
        run(tmp_path / "out", subsets=("DTTabShot",))


def test_only_an_earlier_export_is_replaced_and_only_when_asked(
    train_home: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    run(out)  # an empty folder is taken
    with pytest.raises(DTVQAError, match="--force replaces it"):
        run(out)
    export(out, ExportOptions(format="monkey"), force=True)
    assert sorted(tree(out)) == ["manifest.json", "train.json"]
    foreign = tmp_path / "photos"
    save(Image.new("RGB", (8, 8)), foreign / "holiday.png")
    with pytest.raises(DTVQAError, match="holds other files than an export"):
        export(foreign, ExportOptions(format="monkey"), force=True)
    assert list(tree(foreign)) == ["holiday.png"]


def test_a_run_that_fails_half_way_leaves_nothing(train_home: Path, tmp_path: Path) -> None:
    @contextmanager
    def failing(what: str, unit: str = "") -> Iterator[Any]:
        def advance(done: int, total: int) -> None:
            if what == "samples written":
                raise KeyboardInterrupt

        yield advance

    run(tmp_path / "out")
    before = tree(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        export(
            tmp_path / "out",
            ExportOptions(format="monkey"),
            force=True,
            progresses=failing,
        )
    assert tree(tmp_path) == before


def test_command(train_home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["export", "--to", "llava", "-o", str(out), "--subset", "DTScene", "--seed", "1"]
    result = CliRunner().invoke(cli, [*arguments, "--held-out", "0.5", "--prompt", "paper"])
    assert result.exit_code == 0, result.output
    assert "24 pairs in 12 samples over 6 images (DTScene 24)" in result.output
    assert "compared with 12 test images by name, with 12 of them by picture" in result.output
    as_json = CliRunner().invoke(cli, [*arguments, "--force", "--json"])
    assert json.loads(as_json.stdout) == json.loads((out / "manifest.json").read_text("utf-8"))


def test_command_faults_are_one_line(
    train_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["export", "--to", "llava", "-o", str(tmp_path / "out"), "--embed"])
    assert capsys.readouterr().err.startswith("dtvqa: error: format llava holds paths")


def test_progress_is_shown_where_it_is_wanted(train_home: Path, tmp_path: Path) -> None:
    code = "from dtvqa_plugin.cli import main; main()"
    arguments = ["export", "--to", "llava", "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert "samples written: 100%" in done.stderr
    assert "samples" not in done.stdout.partition("pairs in")[0]


def test_memory_grows_by_numbers_not_by_texts(own_home: Path, tmp_path: Path) -> None:
    """Ten times the pairs: the growth is far below the text that more of them hold."""
    peaks, sizes = [], []
    one = save(Image.new("RGB", (8, 8)), own_home / "image/DTTabShot/train/t-0.png")
    for number in (150, 1500):
        records = plain_records("DTTabShot", "train", number)
        for n, record in enumerate(records):
            record["id"] = f"./image/DTTabShot/train/t-{n}.png"
            record["conversations"] = record["conversations"][2:]
            record["conversations"] *= 10
            target = one.with_name(f"t-{n}.png")
            if not target.exists():
                os.link(one, target)
        make_train_file(own_home, "DTTabShot_train", records, images=False)
        sizes.append((own_home / "train/DTTabShot_train.json").stat().st_size)
        options = ExportOptions(format="ms-swift", subsets=("DTTabShot",), check="names", seed=1)
        tracemalloc.start()
        export(tmp_path / str(number), options)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    shutil.rmtree(own_home / "image/DTTabShot/train")
    assert peaks[1] - peaks[0] < 0.3 * (sizes[1] - sizes[0])


def test_no_torch_and_no_host_is_imported() -> None:
    code = (
        "import sys, dtvqa_plugin.finetune, dtvqa_plugin.cli.finetune; "
        "print([m for m in ('torch', 'transformers', 'lmms_eval', 'vlmeval', 'scipy') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_check_needs_no_test_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "store"
    make_test_part(home)
    make_train_file(home, "DTTabShot_train", plain_records("DTTabShot", "train", 2))
    shutil.rmtree(home / "image/DTScene")
    monkeypatch.setenv("DTVQA_HOME", str(home))
    with pytest.raises(DTVQAError, match=r"3 of 12 test images are missing.*--check names"):
        run(tmp_path / "out", subsets=("DTTabShot",))
    report = run(tmp_path / "out", subsets=("DTTabShot",), check="names")
    assert (report.test_images, report.compared) == (12, 0)
    monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", "1")
    report = run(tmp_path / "partial", subsets=("DTTabShot",))
    assert (report.test_images, report.compared) == (12, 9)


def test_a_missing_annotation_file_is_left_out_where_partial_data_are_allowed(
    train_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "store"
    shutil.copytree(train_home, home)
    (home / "train/DTScene_val.json").unlink()
    monkeypatch.setenv("DTVQA_HOME", str(home))
    chosen = {"splits": ("train", "val"), "subsets": ("DTScene", "DTTabShot"), "check": "names"}
    with pytest.raises(DTVQAError, match=r"val annotations .*DTScene_val.*DTVQA_ALLOW_PARTIAL=1"):
        run(tmp_path / "out", **chosen)
    monkeypatch.setenv("DTVQA_ALLOW_PARTIAL", "1")
    report = run(tmp_path / "out", **chosen)
    assert report.absent == ["train/DTScene_val.json"]
    assert report.as_json()["left_out"]["missing_files"] == report.absent
    assert [entry["file"] for entry in report.sources] == [
        "DTScene_train",
        "DTScene_train_gpt-4v",
        "DTTabShot_train",
        "DTTabShot_val",
    ]
    with pytest.raises(DTVQAError, match=r"DTScene_val\.json"):
        run(tmp_path / "none", **{**chosen, "splits": ("val",), "subsets": ("DTScene",)})


def test_when_the_last_rename_fails_the_earlier_export_is_back(
    train_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run(out, subsets=("DTScene",), check="names")
    before = tree(out)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == out and self.suffix == ".partial":
            raise PermissionError(13, "Permission denied", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(DTVQAError, match="cannot write it: no permission"):
        export(out, ExportOptions(format="monkey", check="names"), force=True)
    assert tree(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
