"""Projects: config, styles, recognised text from files, moved and edited folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from annotate.annotate_server import Endpoint, prompt_of
from annotate.conftest import ANSWER, MakeProject, draw, fill
from click.testing import CliRunner

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.init import BUILT_IN, Wish, make_project
from dtvqa_plugin.annotate.project.inventory import ImageIndex
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.run import Bounds, run
from dtvqa_plugin.annotate.status import overview
from dtvqa_plugin.annotate.text.ocr_files import read_ocr_file
from dtvqa_plugin.annotate.text.reader import describe
from dtvqa_plugin.cli import cli
from dtvqa_plugin.ocr import TextBox

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


def test_init_takes_a_style_of_ones_own(tmp_path: Path, images: Path) -> None:
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


def test_status_tells_of_every_spoilt_line(make: MakeProject) -> None:
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


# --- recognised text -----------------------------------------------------------------------------

QUAD = [[10, 10], [90, 10], [90, 30], [10, 30]]
FLAT = [10, 10, 90, 10, 90, 30, 10, 30]


def hiertext(names: list[str]) -> str:
    line = {"text": "BLUE BIRD", "vertices": QUAD, "legible": True, "words": []}
    bad = {"text": "smudge", "vertices": QUAD, "legible": False, "words": []}
    return json.dumps(
        {
            "info": {},
            "annotations": [
                {
                    "image_id": name.removesuffix(".png"),
                    "image_width": 160,
                    "image_height": 120,
                    "paragraphs": [{"vertices": QUAD, "legible": True, "lines": [line, bad]}],
                }
                for name in names
            ],
        }
    )


def poie(names: list[str]) -> str:
    parts = [{"polygon": FLAT, "text": "BLUE BIRD"}, {"polygon": FLAT, "text": "###"}]
    return "\n".join(
        json.dumps({"file_name": f"images/{n}", "height": 1, "width": 1, "annotations": parts})
        for n in names
    )


def plain(names: list[str]) -> str:
    return json.dumps({name: [{"text": "BLUE BIRD", "polygon": QUAD}] for name in names}, indent=1)


def plain_lines(names: list[str]) -> str:
    line = {"text": "BLUE BIRD", "box": [10, 10, 90, 30]}
    return "\n".join(json.dumps({"image": name, "lines": [line]}) for name in names)


FORMS = {
    "hiertext": ("hiertext", hiertext),
    "poie": ("poie", poie),
    "json": ("json", plain),
    "json lines": ("json", plain_lines),
}


def write_form(form: str, folder: Path, names: list[str]) -> tuple[str, Path]:
    if form.startswith("icdar"):
        folder = folder / form
        folder.mkdir()
        for name in names:
            stem = name.removesuffix(".png")
            path = folder / (f"gt_{stem}.txt" if form == "icdar" else f"{stem}.txt")
            path.write_text('\ufeff10,10,90,10,90,30,10,30,"BLUE BIRD"\n1,1,2,1,2,2,1,2,###\n')
        return "icdar", folder
    format, text = FORMS[form]
    path = folder / "text.json"
    path.write_text(text(names))
    return format, path


@pytest.mark.parametrize("form", [*FORMS, "icdar", "icdar without gt"])
def test_text_of_a_file_reaches_the_prompt_with_its_place(
    make: MakeProject, images: Path, tmp_path: Path, form: str
) -> None:
    format, path = write_form(form, tmp_path, [path.name for path in images.iterdir()])

    def with_text(values: dict[str, Any]) -> None:
        values["sources"][0]["ocr"] = {"from": "file", "format": format, "file": str(path)}

    with Endpoint(lambda number, request: ANSWER) as server:
        report = run(make(server.url, config=with_text), Bounds())
    assert report.answered == 4
    assert "text of 4 images" in report.notes[0]
    # 10 of 160 is 62 thousandths, 30 of 120 is 250.
    assert "[62, 83, 562, 250] BLUE BIRD" in prompt_of(server.requests[0])
    assert "smudge" not in prompt_of(server.requests[0])
    assert "###" not in prompt_of(server.requests[0])


def test_text_can_be_kept_out_of_the_prompt(
    make: MakeProject, images: Path, tmp_path: Path
) -> None:
    format, path = write_form("json", tmp_path, [path.name for path in images.iterdir()])
    ocr = {"from": "file", "format": format, "file": str(path), "in_prompt": False}
    with Endpoint(lambda number, request: ANSWER) as server:
        run(make(server.url, config=lambda v: v["sources"][0].update(ocr=ocr)), Bounds())
    assert "BLUE BIRD" not in prompt_of(server.requests[0])


def test_text_of_other_images_is_one_error_before_anything_is_paid(
    make: MakeProject, tmp_path: Path
) -> None:
    format, path = write_form("json", tmp_path, ["other1.png", "other2.png"])
    ocr = {"from": "file", "format": format, "file": str(path)}
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=lambda v: v["sources"][0].update(ocr=ocr))
        with pytest.raises(AnnotateError, match=r"OCR file of other images.*'other1'.*'shop0.png'"):
            run(project, Bounds())
    assert server.count == 0


def test_images_without_text_in_the_file_are_counted(make: MakeProject, tmp_path: Path) -> None:
    format, path = write_form("json", tmp_path, ["shop0.png", "shop1.png"])
    ocr = {"from": "file", "format": format, "file": str(path)}
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(server.url, config=lambda v: v["sources"][0].update(ocr=ocr))
        report = run(project, Bounds())
        assert report.answered == 4
        assert "it lacks 2 images" in report.notes[0]
        path.write_text(plain([f"shop{n}.png" for n in range(4)]))
        again = run(Project.open(project.root), Bounds())
    assert "lacks" not in again.notes[0], "a changed file is read anew"


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("hiertext", "{}", "expected an object with 'annotations'"),
        ("hiertext", "{", "not JSON"),
        ("hiertext", '{"annotations": [{"paragraphs": []}]}', "annotation 1: without 'image_id'"),
        ("hiertext", '{"annotations": [{"image_id": "a"}]}', "list of objects in 'paragraphs'"),
        ("poie", '{"file_name": "a.jpg", "annotations": []}\nnonsense', "line 2: not JSON"),
        (
            "poie",
            '{"file_name": "a", "annotations": [{"text": "x", "polygon": [1, 2]}]}',
            "line 1: 'x': .* no polygon",
        ),
        ("json", "[]", "expected an object of image names"),
        ("json", '{"a.jpg": [{"box": [1, 2, 3, 4]}]}', "a line without 'text'"),
        ("json", '{"a.jpg": [{"text": "x", "polygon": "y"}]}', "no polygon"),
        ("json", '{"a.jpg": [{"text": "x", "box": [1, 2, NaN, 4, 5, 6]}]}', "no polygon"),
    ],
)
def test_faulty_text_file_is_one_error_with_its_place(
    tmp_path: Path, format: str, text: str, said: str
) -> None:
    path = tmp_path / "text.json"
    path.write_text(text)
    with pytest.raises(AnnotateError, match=said) as caught:
        list(read_ocr_file(format, path))
    assert str(path) in str(caught.value)


def test_faulty_icdar_line_is_one_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1,2,3,4,5,6,7,8,fine\nonly words\n")
    with pytest.raises(AnnotateError, match=r"a\.txt: line 2: expected x1,y1"):
        list(read_ocr_file("icdar", tmp_path))


def test_long_texts_are_shortened_and_say_so() -> None:
    boxes = [TextBox.upright(f"line {n}", 0, n, 10, n + 1) for n in range(5)]
    assert describe(boxes, 10, 10, 2) == (
        "[0, 0, 1000, 100] line 0\n[0, 100, 1000, 200] line 1\n(and 3 more lines)"
    )


def test_text_is_recognised_by_rapidocr(make: MakeProject, images: Path) -> None:
    pytest.importorskip("rapidocr")
    for path in images.iterdir():
        path.unlink()
    from PIL import ImageFont

    font = ImageFont.load_default(36)
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (360, 140), "white")
    ImageDraw.Draw(picture).text((20, 40), "BLUE BIRD", font=font, fill="black")
    picture.save(images / "sign.png")
    with Endpoint(lambda number, request: ANSWER) as server:
        project = make(
            server.url, config=lambda v: v["sources"][0].update(ocr={"from": "rapidocr"})
        )
        run(project, Bounds())
    assert "BLUE BIRD" in prompt_of(server.requests[0]).upper()


def test_second_run_at_the_same_time_is_one_error(make: MakeProject) -> None:
    project = make()
    command = "from dtvqa_plugin.cli import main; main()"
    with project.working("run"):
        # In a process of its own: lmms-eval makes the locks of its process let each other pass.
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
