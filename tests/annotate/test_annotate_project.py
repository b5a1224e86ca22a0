"""Projects: config, styles, moved and edited folders."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from annotate.annotate_server import Endpoint
from annotate.conftest import ANSWER, MakeProject, draw, fill
from click.testing import CliRunner

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.init import BUILT_IN, Wish, make_project
from dtvqa_plugin.annotate.project.inventory import ImageIndex
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.run import Bounds, run
from dtvqa_plugin.annotate.status import overview
from dtvqa_plugin.cli import cli

# --- init ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", BUILT_IN)
def test_init_makes_a_commented_config_and_the_style(
    tmp_path: Path, images: Path, style: str
) -> None:
    folder = tmp_path / "mine"
    done = CliRunner().invoke(
        cli, ["annotate", "init", str(folder), "--images", str(images), "--style", style]
    )
    assert done.exit_code == 0, done.output
    project = Project.open(folder)
    assert project.config.name == "mine"
    assert project.config.rounds[0].pairs == 5
    assert project.styles[style].title
    text = (folder / "config.yaml").read_text()
    assert text.count("#") > 15
    assert project.config.sources[0].images == "../images", "both can move together"


def test_init_takes_a_custom_style(tmp_path: Path, images: Path) -> None:
    own = tmp_path / "till receipts.yaml"
    own.write_text("title: receipts\ninstruction: 'ask {pairs}'\nwith_ocr: 'text {ocr}'\n")
    project = make_project(tmp_path / "p", Wish("Receipts", images, str(own)))
    assert project.styles["till-receipts"].instruction == "ask {pairs}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "DT-VQA"}, "must not be mistaken for DT-VQA"),
        ({"name": "dtvqa_test"}, "must not be mistaken for DT-VQA"),
        ({"name": "DTScene"}, "must not be mistaken for DT-VQA"),
        ({"name": "my set"}, "1 to 40 letters|should match"),
        ({"style": "scenery"}, "none of scene, nutrition, product, table and no file"),
        ({"images": Path("/nonexistent")}, "no such folder of images"),
        ({"key_env": "sk-12345"}, "NAME of an environment variable"),
        ({"base_url": "api.example.org"}, "must begin with http"),
        ({"base_url": "https://me:secret@api.example.org"}, "hold no user or key"),
        ({"ocr": "icdar"}, "needs --ocr-file"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_init_refuses(tmp_path: Path, images: Path, change: dict[str, Any], said: str) -> None:
    wish = Wish(**{"name": "Mine", "images": images, "style": "scene", **change})
    with pytest.raises(AnnotateError, match=said) as caught:
        make_project(tmp_path / "p", wish)
    assert not (tmp_path / "p" / "config.yaml").exists()
    assert "sk-12345" not in str(caught.value), "a key given by mistake is not repeated"
    assert "secret" not in str(caught.value)


def test_init_touches_no_project_that_is_there(make: MakeProject, images: Path) -> None:
    project = make()
    before = (project.root / "config.yaml").read_bytes()
    with pytest.raises(AnnotateError, match="the folder already holds a project"):
        make_project(project.root, Wish("Other", images, "table"))
    assert (project.root / "config.yaml").read_bytes() == before


def test_init_refuses_a_folder_without_images(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(AnnotateError, match="holds no image"):
        make_project(tmp_path / "p", Wish("Mine", tmp_path / "empty", "scene"))


# --- the config ----------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(sorces=[]), r"unknown field 'sorces'; did you mean 'sources'"),
        (
            lambda c: c["rounds"][0].update(pirce=1),
            r"unknown field 'rounds\[0\]\.pirce'; did you mean 'price'",
        ),
        (lambda c: c["rounds"][0].update(api_key="sk-9"), r"unknown field 'rounds\[0\]\.api_key'"),
        (
            lambda c: c["sources"][0]["ocr"].update(form="none"),
            r"unknown field 'sources\[0\]\.ocr\.form'; did you mean 'format'",
        ),
        (lambda c: c["check"].update(colour=1), r"'check\.colour'; known here: ocr_threshold"),
        (lambda c: c["rounds"][0].pop("model"), r"field 'rounds\[0\]\.model' is missing"),
        (lambda c: c["rounds"][0].update(pairs=0), r"'rounds\[0\]\.pairs': .*greater than"),
        (lambda c: c.update(schema=2), r"field 'schema'"),
        (lambda c: c.update(name="DT_VQA"), r"field 'name': is taken"),
        (lambda c: c.update(rounds=[]), r"field 'rounds'"),
        (lambda c: c["rounds"].append(dict(c["rounds"][0])), r"two rounds are named 'first'"),
        (
            lambda c: c["rounds"][0].update(styles=["table"]),
            r"names style 'table', which no source",
        ),
        (lambda c: c["sources"][0]["ocr"].update({"from": "file"}), r"needs 'file' and 'format'"),
    ],
)
def test_faulty_config_is_one_error_naming_the_field(
    make: MakeProject, change: Change, said: str
) -> None:
    project = make()
    path = project.root / "config.yaml"
    values = yaml.safe_load(path.read_text())
    change(values)
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(AnnotateError, match=said) as caught:
        Project.open(project.root)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-9" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected 'field: value' lines"),
        ("- a\n", "expected 'field: value' lines"),
        ("name: a\nname: b\n", "line 2: field 'name' is given twice"),
        ("name: [a\n", "line 2"),
        ("name: !!python/object/apply:os.system ['true']\n", "line 1"),
        ("\x00", "config.yaml"),
    ],
)
def test_what_is_no_config_is_one_error(make: MakeProject, text: str, said: str) -> None:
    project = make()
    (project.root / "config.yaml").write_text(text)
    with pytest.raises(AnnotateError, match=said):
        Project.open(project.root)


@pytest.mark.parametrize("missing", ["folder", "config", "style"])
def test_missing_parts_are_one_error(make: MakeProject, missing: str) -> None:
    project = make()
    if missing == "folder":
        shutil.rmtree(project.root)
    else:
        name = "config.yaml" if missing == "config" else "styles/scene.yaml"
        (project.root / name).unlink()
    said = {
        "folder": "no such folder",
        "config": "annotate init",
        "style": "scene.yaml is not there",
    }
    with pytest.raises(AnnotateError, match=said[missing]):
        assert Project.open(project.root).styles


def test_a_style_without_its_places_is_one_error(make: MakeProject) -> None:
    project = make()
    (project.root / "styles" / "scene.yaml").write_text(
        "title: t\ninstruction: ask five\nwith_ocr: '{ocr}'\n"
    )
    with pytest.raises(AnnotateError, match=r"'instruction' lacks \{pairs\}"):
        assert project.styles


def test_command_shows_the_error_without_a_traceback(make: MakeProject) -> None:
    project = make()
    (project.root / "config.yaml").write_text("nonsense: 1\n")
    from dtvqa_plugin.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["annotate", "status", str(project.root)])
    assert ended.value.code == 1


# --- moved and edited by hand --------------------------------------------------------------------


def test_project_and_images_move_together(make: MakeProject, images: Path, tmp_path: Path) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url)
        run(project, Bounds())
        new = tmp_path / "elsewhere"
        new.mkdir()
        shutil.move(project.root, new / "project")
        shutil.move(images, new / "images")
        moved = Project.open(new / "project")
        assert run(moved, Bounds()).known == 4
        assert server.count == 4
    extract(moved)
    entry = next(entry for _, entry in moved.pairs.read())
    assert ImageIndex(moved).find(entry["image"]).path.is_file()


def test_images_moved_alone_are_one_error_with_the_cure(
    make: MakeProject, images: Path, tmp_path: Path
) -> None:
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url)
        run(project, Bounds())
        shutil.move(images, tmp_path / "photos")
        with pytest.raises(AnnotateError, match=r"source 'images'.*set 'images' to where they are"):
            run(project, Bounds())
        path = project.root / "config.yaml"
        path.write_text(path.read_text().replace("../images", "../photos"))
        assert run(Project.open(project.root), Bounds()).known == 4


def test_status_reports_every_damaged_line(make: MakeProject) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    extract(project)
    for journal in (project.raw, project.pairs, project.images):
        with journal.path.open("ab") as handle:
            handle.write(b'{"half": ')
    found = overview(project)
    assert found.answers.total() == 4
    assert len(found.damage) == 3
    shown = CliRunner().invoke(cli, ["annotate", "status", str(project.root)]).output
    assert "raw.jsonl: 1 line is no record" in shown
    assert "scene: 0 of 3 accepted" in shown


# --- two at a time -------------------------------------------------------------------------------


def test_second_run_at_the_same_time_is_one_error(make: MakeProject) -> None:
    project = make()
    command = "from dtvqa_plugin.cli import main; main()"
    with project.working("run"):
        # In a separate process: lmms-eval makes the locks of its process let each other pass.
        done = subprocess.run(
            [sys.executable, "-c", command, "annotate", "run", str(project.root)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "another 'dtvqa annotate run' is running here" in done.stderr
    assert "Traceback" not in done.stderr


def test_images_of_two_sources_and_styles(make: MakeProject, tmp_path: Path) -> None:
    draw(tmp_path / "tables" / "t.png", "YEAR 1998")

    def two(values: dict[str, Any]) -> None:
        source = values["sources"][0]
        values["sources"].append({**source, "name": "t", "images": "../tables", "style": "table"})
        values["rounds"][0]["styles"] = ["table"]

    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=two)
        shutil.copy(project.root / "styles" / "scene.yaml", project.root / "styles" / "table.yaml")
        report = run(project, Bounds())
    assert (report.answered, server.count) == (1, 1)
    (entry,) = [entry for _, entry in project.raw.read()]
    assert (entry["source"], entry["style"], entry["file"]) == ("t", "table", "t.png")
