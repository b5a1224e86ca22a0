"""Decisions, the exported set, and its import."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from annotate.conftest import ANSWER, MakeProject, draw, entries, fill
from click.testing import CliRunner

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.export import export
from dtvqa_plugin.annotate.extract import extract, pair_id
from dtvqa_plugin.annotate.project.config import Check
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions
from dtvqa_plugin.cli import cli
from dtvqa_plugin.data import data_signature, load_split, read_test
from dtvqa_plugin.data.splits.custom import read_custom
from dtvqa_plugin.errors import DataError

LIMITS = Check.model_validate({})


# --- export --------------------------------------------------------------------------------------


def accept_all(project: Project, who: str = "Ada") -> None:
    decisions = Decisions(project)
    for pair in entries(project.pairs):
        decisions.record(pair, who, "accept", pair["question"], [*pair["answers"], "variant"])


@pytest.fixture
def exported(
    reviewed: tuple[Project, Decisions, list[dict[str, Any]]], tmp_path: Path
) -> tuple[Project, Path]:
    project = reviewed[0]
    accept_all(project)
    export(project, tmp_path / "out")
    return project, tmp_path / "out"


def test_export_is_in_the_released_format_with_everything_about_it(
    exported: tuple[Project, Path],
) -> None:
    project, folder = exported
    reading = read_test(folder / "test" / "DT_custom.json", strict=True)
    assert len(reading.records) == 8
    record = reading.records[0]
    assert record.subset == "Shops-scene"
    assert record.answers[-1] == "variant"
    assert (folder / "image" / record.image).is_file()
    raw = json.loads((folder / "test" / "DT_custom.json").read_text())[0]
    assert list(raw) == ["dataset_name", "id", "image_path", "question", "answers", "type"]
    assert raw["image_path"].startswith("./image/Shops-scene/test/shop")
    numbers = json.loads((folder / "statistics.json").read_text())
    assert numbers["subsets"]["Shops-scene"]["questions"] == 8
    assert numbers["stages"]["accepted"] == {"scene": 8}
    card = (folder / "DATA_CARD.md").read_text()
    for text in ("# Shops", "not DT-VQA", "gpt-loop-2026", "accepted pairs | 8", "2026-01-02"):
        assert text in card
    info = json.loads((folder / "custom.json").read_text())
    assert info["sha256"] == reading.sha256
    assert project.config.name == info["name"]


def test_same_decisions_give_the_same_bytes_and_hash(
    exported: tuple[Project, Path], tmp_path: Path
) -> None:
    project, folder = exported
    time.sleep(1.1)  # a time of the export, in seconds, would differ
    again = export(project, tmp_path / "again")
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert Path("custom.json") in files
    assert Path("DATA_CARD.md") in files
    for name in files:
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name
    decisions = Decisions(project)
    decisions.undo("Ada")
    assert export(project, tmp_path / "again").sha256 != again.sha256


def test_export_replaces_an_export_and_nothing_else(
    exported: tuple[Project, Path], tmp_path: Path
) -> None:
    project, folder = exported
    (folder / "left.txt").write_text("old")
    export(project, folder)
    assert not (folder / "left.txt").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("keep me")
    with pytest.raises(AnnotateError, match="holds other files than an export"):
        export(project, tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "keep me"


def test_disputed_pairs_and_missing_images_are_left_out_and_reported(
    reviewed: tuple[Project, Decisions, list[dict[str, Any]]], images: Path, tmp_path: Path
) -> None:
    project, decisions, pairs = reviewed
    accept_all(project)
    by_image = {pair["image"]: pair["file"] for pair in pairs}
    gone, changed = list(by_image)[:2]
    (images / by_image[gone]).unlink()
    path = images / by_image[changed]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    last = [pair for pair in pairs if pair["image"] not in (gone, changed)]
    decisions.record(last[0], "Ben", "reject", last[0]["question"], ["x"])
    command = ["annotate", "export", str(project.root), "--to", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 1
    assert "3 questions over 2 images" in done.output
    assert "1 disputed, left out" in done.output
    assert done.output.count("left out: image") == 2 + 2
    settled = CliRunner().invoke(cli, [*command, "--adjudicator", "Ada"])
    assert "4 questions over 2 images" in settled.output
    with pytest.raises(AnnotateError, match="no reviewer 'Eve'; there are Ada, Ben"):
        export(project, tmp_path / "x", adjudicator="Eve")


def test_nothing_accepted_is_one_error(make: MakeProject, tmp_path: Path) -> None:
    with pytest.raises(AnnotateError, match="no pair is accepted yet"):
        export(make(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_file_names_are_made_safe(make: MakeProject, images: Path, tmp_path: Path) -> None:
    for path in images.iterdir():
        path.unlink()
    draw(images / "sub" / "my shöp (1)'.png", "SHOP")
    project = make()
    fill(project, [ANSWER])
    extract(project)
    accept_all(project)
    export(project, tmp_path / "out")
    (name,) = [path.name for path in (tmp_path / "out" / "image").rglob("*.png")]
    assert name.startswith("my-sh-p-1-")
    read_test(tmp_path / "out" / "test" / "DT_custom.json", strict=True)


def test_data_card_takes_model_text_for_text(make: MakeProject, tmp_path: Path) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    first = entries(project.raw)[0]
    project.raw.append({**first, "round": "x", "model": "a|b<script>*`"})
    extract(project)
    accept_all(project)
    export(project, tmp_path / "out")
    card = (tmp_path / "out" / "DATA_CARD.md").read_text()
    assert "a\\|b\\<script\\>\\*\\`" in card


# --- the split custom ----------------------------------------------------------------------------


def test_exported_set_is_the_split_custom(
    exported: tuple[Project, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = exported
    monkeypatch.setenv("DTVQA_CUSTOM", str(folder))
    loaded = load_split("custom")
    assert loaded.num_rows == 8
    assert set(loaded["subset"]) == {"Shops-scene"}
    assert loaded[0]["image"].size == (160, 120)
    signature = data_signature("custom")
    assert signature["custom"]["name"] == "Shops"
    assert signature["custom"]["as_exported"] is True
    assert signature["custom"]["sha256"] == signature["files"]["test/DT_custom.json"]["sha256"]


def test_set_edited_after_its_export_says_so(
    exported: tuple[Project, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = exported
    path = folder / "test" / "DT_custom.json"
    before = read_custom(folder)
    path.write_text(path.read_text().replace("variant", "another"))
    after = read_custom(folder)
    assert (before.as_exported, after.as_exported) == (True, False)
    assert before.sha256 != after.sha256


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("custom.json", '{"name": "DT-VQA"}', "must not be mistaken for DT-VQA"),
        ("custom.json", '{"name": "dtvqa 2"}', "1 to 40 letters"),
        ("custom.json", "{", "export again"),
        ("custom.json", None, "no exported question set there"),
        (
            "test/DT_custom.json",
            '[{"dataset_name": "DTScene", "id": 1, "image_path": "./image/a/b/c.png", '
            '"question": "q", "answers": ["a"], "type": "t"}]',
            "dataset_name 'DTScene' is taken",
        ),
        ("test/DT_custom.json", None, "no such annotation file"),
    ],
)
def test_faulty_set_is_one_error(
    exported: tuple[Project, Path],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str | None,
    said: str,
) -> None:
    _, folder = exported
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    monkeypatch.setenv("DTVQA_CUSTOM", str(folder))
    with pytest.raises(DataError, match=said):
        load_split("custom")


def test_unset_variable_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DTVQA_CUSTOM", raising=False)
    with pytest.raises(DataError, match="DTVQA_CUSTOM is not set"):
        load_split("custom")


def test_data_import_takes_the_export(
    exported: tuple[Project, Path], dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    _, folder = exported
    sha256 = read_custom(folder).sha256
    done = CliRunner().invoke(cli, ["data", "import", str(folder)])
    assert done.exit_code == 0, done.output
    assert "imported Shops (custom set" in done.output
    shutil.rmtree(folder)
    monkeypatch.setenv("DTVQA_CUSTOM", "Shops")
    assert load_split("custom").num_rows == 8
    assert read_custom().sha256 == sha256
    assert (dtvqa_home / "custom" / "Shops" / "DATA_CARD.md").is_file()


def test_faulty_record_of_a_set_is_left_out_counted_and_listed(
    exported: tuple[Project, Path], dtvqa_home: Path
) -> None:
    _, folder = exported
    path = folder / "test" / "DT_custom.json"
    records = json.loads(path.read_text())
    records[2]["answers"] = [None]
    path.write_text(json.dumps(records))
    runner = CliRunner()
    strict = runner.invoke(cli, ["data", "import", str(folder), "--strict"])
    assert strict.exit_code == 1
    assert not (dtvqa_home / "custom").exists()
    done = runner.invoke(cli, ["data", "import", str(folder)])
    assert done.exit_code == 0, done.output
    assert "left out" in done.output
    listed = runner.invoke(cli, ["data", "status", "--problems"]).output
    assert records[2]["id"] in listed


def test_import_of_a_damaged_export_brings_nothing(
    exported: tuple[Project, Path], dtvqa_home: Path
) -> None:
    _, folder = exported
    image = next((folder / "image").rglob("*.png"))
    image.write_bytes(image.read_bytes()[:40])
    done = CliRunner().invoke(cli, ["data", "import", str(folder)])
    assert done.exit_code == 1
    assert not (dtvqa_home / "custom").exists()


def test_pair_id_depends_on_content_alone() -> None:
    assert pair_id("i", "q", ("a",)) == pair_id("i", "q", ("a",))
    others = {pair_id("j", "q", ("a",)), pair_id("i", "r", ("a",)), pair_id("i", "q", ("a", "b"))}
    assert len(others | {pair_id("i", "q", ("a",))}) == 4


def test_whole_command_line_from_answers_to_export(
    make: MakeProject, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    project = make()
    fill(project, [ANSWER] * 4)
    runner = CliRunner()
    for stage in ("extract", "check", "expand", "status"):
        for flags in ([], ["--json"]):
            done = runner.invoke(cli, ["annotate", stage, str(project.root), *flags])
            assert done.exit_code == 0, done.output
            if flags:
                assert isinstance(json.loads(done.stdout), dict)
    accept_all(project)
    done = runner.invoke(cli, ["annotate", "export", str(project.root)])
    assert done.exit_code == 0, done.output
    assert f"DTVQA_CUSTOM={project.root / 'export'} lmms-eval --tasks dtvqa_custom" in done.output
