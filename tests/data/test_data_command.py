"""``dtvqa data``: what it prints and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from data_releases import conversation, make_test_release, sound_record, write_json

from dtvqa_plugin.cli import main
from dtvqa_plugin.data.transfer.import_release import import_release


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["data", *map(str, arguments)])
    out, err = capsys.readouterr()
    code = left.value.code
    return (code if isinstance(code, int) else int(code is not None)), out, err


def test_path(capsys: pytest.CaptureFixture[str], dtvqa_home: Path) -> None:
    assert run(capsys, "path") == (0, f"{dtvqa_home}\n", "")
    status, out, _ = run(capsys, "path", "--json")
    assert (status, json.loads(out)["images"]) == (0, str(dtvqa_home / "image"))


def test_import_tells_what_came_and_what_is_missing(
    tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = make_test_release(tmp_path / "release")
    (release / "image/DTScene/test/1.png").unlink()
    (release / "test/DTTabShot.json").unlink()
    status, out, err = run(capsys, "import", release)
    assert status == 1
    assert "test/DTScene.json: 3 questions, DIFFERS from the released file" in out
    assert "test/DTTabShot.json: not found" in out
    assert "test: 8 of 9 images (8 added, 0 replaced)" in out
    assert "DTScene: 2 of 3, 1 missing" in out
    assert "DTVQA_ALLOW_PARTIAL=1" in out
    assert "Traceback" not in err
    status, out, _ = run(capsys, "import", release, "--json", "--subset", "DTScene")
    assert json.loads(out)["images"] == [
        {
            "split": "test",
            "subset": "DTScene",
            "expected": 3,
            "present": 2,
            "added": 0,
            "replaced": 0,
        }
    ]


def test_import_names_faults_and_strict_refuses_them(
    tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [{"id": f"./image/DTScene/val/{n}.jpg", "conversations": None} for n in range(5)]
    good = conversation("./image/DTScene/val/x.jpg", ("q", "a"))
    write_json(tmp_path / "train/DTScene_val.json", [*bad, good])
    arguments = ("import", tmp_path, "--split", "val", "--subset", "DTScene")
    status, out, err = run(capsys, *arguments, "--strict")
    assert (status, out) == (1, "")
    assert err.startswith("dtvqa: error: ")
    assert "5 unusable" in err
    assert not dtvqa_home.exists()
    status, out, _ = run(capsys, *arguments)
    assert status == 1, "its image is missing"
    assert "1 questions" in out
    assert "5 unusable" in out
    assert "and 2 more" in out
    _, out, _ = run(capsys, "status", "--problems")
    assert out.count("'conversations' is null") == 5


def test_skip_bad_leaves_out_and_exits_with_1(
    tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = make_test_release(tmp_path / "release", {"DTScene": 2})
    (release / "image/DTScene/test/1.png").write_bytes(b"no image")
    arguments = ("import", release, "--subset", "DTScene")
    status, _, err = run(capsys, *arguments)
    assert (status, "--skip-bad" in err) == (1, True)
    status, out, _ = run(capsys, *arguments, "--skip-bad")
    assert status == 1
    assert "left out: " in out
    assert "test: 1 of 2 images" in out


def test_a_folder_without_a_release_says_what_to_name(
    tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong").mkdir()
    status, _, err = run(capsys, "import", tmp_path / "wrong")
    assert status == 1
    assert "looked for test/DTNutrCap.json" in err
    assert "Name the folder that has test/, train/ and image/ or image.zip in it" in err
    assert "'dtvqa data fetch'" in err


class TestStatus:
    def test_nothing_there(self, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, _ = run(capsys, "status")
        assert status == 1
        assert "nothing of the release is in the store; run 'dtvqa data import" in out
        assert "embedded sample (split mini): 64 of 64 questions" in out
        assert "test: not downloaded: test/DTNutrCap.json, test/DTProdCap.json" in out
        assert "not imported" not in out

    def test_a_whole_subset(
        self, tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        import_release(make_test_release(tmp_path / "r", {"DTScene": 3}), subsets=["DTScene"])
        status, out, _ = run(capsys, "status")
        assert status == 0
        (row,) = [line.split() for line in out.splitlines() if line.startswith("test ")]
        assert row == ["test", "DTScene", "test/DTScene.json", "differs", "3", "0", "3", "of", "3"]
        assert "may not compare with published" in out

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            ("image", "test: 1 images missing; run 'dtvqa data import FOLDER --split test"),
            ("annotations", "expected a list of records"),
        ],
    )
    def test_faults_and_their_exit_status(
        self,
        tmp_path: Path,
        dtvqa_home: Path,
        capsys: pytest.CaptureFixture[str],
        damage: str,
        words: str,
    ) -> None:
        import_release(make_test_release(tmp_path / "r", {"DTScene": 3}), subsets=["DTScene"])
        if damage == "image":
            (dtvqa_home / "image/DTScene/test/1.png").unlink()
        else:
            (dtvqa_home / "test/DTScene.json").write_text("{}")
        status, out, _ = run(capsys, "status")
        assert status == 1
        assert words in out

    def test_a_file_changed_since_its_import(
        self, tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        import_release(make_test_release(tmp_path / "r", {"DTScene": 3}), subsets=["DTScene"])
        write_json(dtvqa_home / "test/DTScene.json", [sound_record("DTScene", 0)])
        status, out, _ = run(capsys, "status")
        assert "differs, changed" in out
        assert "changed since it was imported" in out
        assert status == 0

    def test_a_file_without_a_usable_question_is_not_well(
        self, tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_json(dtvqa_home / "test/DTScene.json", [])
        status, out, _ = run(capsys, "status")
        assert "test/DTScene.json: holds no usable question of DTScene" in out
        assert status == 1

    def test_json(
        self, tmp_path: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        import_release(make_test_release(tmp_path / "r", {"DTScene": 3}), subsets=["DTScene"])
        status, out, _ = run(capsys, "status", "--json")
        found = json.loads(out)
        assert (status, found["ok"], found["home"]) == (0, True, str(dtvqa_home))
        row = next(row for row in found["files"] if row["file"] == "test/DTScene.json")
        assert (row["state"], row["questions"], row["images_present"]) == ("differs", 3, 3)

    def test_the_release_at_hand(
        self, shared_dir: Path, dtvqa_home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = [part for split in ("test", "val", "train") for part in ("--split", split)]
        assert run(capsys, "import", shared_dir / "hub/DT-VQA", *arguments)[0] == 1
        status, out, _ = run(capsys, "status")
        rows = {
            (line.split()[0], line.split()[1]): line.split()[3:]
            for line in out.splitlines()
            if line.startswith(("test ", "val ", "train "))
        }
        assert status == 1
        assert rows["test", "DTTabShot"] == ["released", "300", "0", "130", "of", "260"]
        assert rows["val", "DTScene"] == ["released", "8556", "19", "0", "of", "1708"]
        assert rows["val", "DTTabShot"] == ["released", "4945", "38", "0", "of", "996"]
        lacking = next(line for line in out.splitlines() if "not downloaded" in line)
        assert lacking.startswith("train: ")
        assert "train/DTScene_train_gpt-4v.json" in lacking


@pytest.mark.parametrize(
    "arguments", [("import",), ("import", "x", "--split", "mini"), ("import", "x", "--subset", "Y")]
)
def test_usage_errors(
    capsys: pytest.CaptureFixture[str], dtvqa_home: Path, arguments: tuple[str, ...]
) -> None:
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert "Usage" in err
