"""The annotation readers: what they yield, what they report, what they refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from data_releases import conversation, write_json
from data_releases import sound_record as record
from hypothesis import given
from hypothesis import strategies as st

from dtvqa_plugin.benchmark.annotations import parse_test, parse_train
from dtvqa_plugin.benchmark.release import COMBINED_TEST, FILES, TEST_FILES
from dtvqa_plugin.data import Record, read_test, read_train
from dtvqa_plugin.errors import DataError

IMAGE = "./image/DTScene/val/a.jpg"


class TestTestFormat:
    def test_a_sound_record_is_kept_verbatim(self, tmp_path: Path) -> None:
        given_record = record(
            number=7,
            question=" Wie viel?  ",
            answers=["１２ｇ", "12 g"],
            type="Scene From Hiertext",
        )
        reading = read_test(write_json(tmp_path / "DTScene.json", [given_record]))
        assert reading.records == (
            Record(
                question_id="DTScene/7",
                subset="DTScene",
                image="DTScene/test/7.png",
                question=" Wie viel?  ",
                answers=("１２ｇ", "12 g"),
                source="Scene From Hiertext",
            ),
        )
        assert (reading.total, reading.problems) == (1, ())

    @pytest.mark.parametrize(
        ("item", "code", "words"),
        [
            (record(dataset_name=...), "missing-field", "'dataset_name'"),
            (record(id=...), "missing-field", "'id'"),
            (record(image_path=...), "missing-field", "'image_path'"),
            (record(question=...), "missing-field", "'question'"),
            (record(answers=...), "missing-field", "'answers'"),
            (record(type=...), "missing-field", "'type'"),
            (record(question=None), "not-a-string", "null"),
            (record(question=3), "not-a-string", "a number"),
            (record(question=" \n"), "blank-question", "blank"),
            (record(id=True), "not-a-string", "true/false"),
            (record(id=1.5), "not-a-string", "a number"),
            (record(answers="12g"), "answers-not-a-list", "a string"),
            (record(answers="['12g']"), "answers-not-a-list", "a string"),
            (record(answers=None), "answers-not-a-list", "null"),
            (record(answers={"0": "12g"}), "answers-not-a-list", "an object"),
            (record(answers=[]), "no-answers", "empty"),
            (record(answers=["12g", ""]), "blank-answer", "blank"),
            (record(answers=["　"]), "blank-answer", "blank"),
            (record(answers=[12]), "not-a-string", "a number"),
            (record(answers=[["12g"]]), "not-a-string", "a list"),
            (record(answers=["\ud83c"]), "bad-unicode", "surrogate"),
            (record(image_path="./image/DTScene/test/../../../x.png"), "unsafe-path", "'..'"),
            (record(image_path="/image/DTScene/test/x.png"), "unsafe-path", "absolute"),
            (record(image_path="C:\\image\\DTScene\\test\\x.png"), "unsafe-path", "drive"),
            (record(image_path="image/DTScene/test/x\0.png"), "unsafe-path", "NUL"),
            (record(image_path="x.png"), "unsafe-path", "SUBSET/SPLIT/FILE"),
            (record(image_path="image/DTScene/test/" + "x" * 256), "unsafe-path", "255"),
            (None, "not-an-object", "null"),
            ([], "not-an-object", "a list"),
            ("{}", "not-an-object", "a string"),
        ],
    )
    def test_an_unusable_record_is_reported_and_the_rest_is_read(
        self, tmp_path: Path, item: object, code: str, words: str
    ) -> None:
        path = tmp_path / "DTScene.json"
        path.write_text(json.dumps([record(number=1), item, record(number=2)]))
        reading = read_test(path)
        assert [r.question_id for r in reading.records] == ["DTScene/1", "DTScene/2"]
        (problem,) = reading.problems
        assert (problem.file, problem.index, problem.code) == ("DTScene.json", 1, code)
        assert words in problem.reason
        assert str(problem).startswith("DTScene.json: record 1")
        assert reading.counts() == {code: 1}
        assert reading.total == 3
        with pytest.raises(DataError, match=r"DTScene\.json: 1 unusable; the first is record 1"):
            read_test(path, strict=True)

    def test_the_key_is_subset_and_id_together(self, tmp_path: Path) -> None:
        items = [record("DTScene", 1), record("DTTabShot", 1), record("DTScene", 1, id="1")]
        reading = read_test(write_json(tmp_path / "x.json", items))
        assert [r.question_id for r in reading.records] == ["DTScene/1", "DTTabShot/1"]
        assert [(p.index, p.code) for p in reading.problems] == [(2, "duplicate")]

    def test_a_subset_that_is_none_is_reported_not_dropped(self, tmp_path: Path) -> None:
        path = write_json(tmp_path / "x.json", [record("DTScene"), record("Other")])
        assert [p.code for p in read_test(path, subsets={"DTScene"}).problems] == ["unknown-subset"]
        assert read_test(path).problems == ()

    def test_an_images_own_subset_need_not_be_the_records(self, tmp_path: Path) -> None:
        path = write_json(
            tmp_path / "x.json", [record("DTScene", image_path="p/DTTabShot/test/x.png")]
        )
        assert read_test(path).records[0].image == "DTTabShot/test/x.png"

    @given(
        st.lists(
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=4),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(
                        st.sampled_from(
                            ["dataset_name", "id", "image_path", "question", "answers", "type"]
                        ),
                        inner
                        | st.sampled_from(["DTScene", "a/b/c.png", "../a/b/c"])
                        | st.lists(st.text(), max_size=2),
                        max_size=6,
                    )
                ),
                max_leaves=8,
            ),
            max_size=4,
        )
    )
    def test_each_record_is_read_or_reported(self, items: list[Any]) -> None:
        reading = parse_test(json.dumps(items).encode(), Path("x.json"))
        assert len(reading.records) + len(reading.problems) == reading.total == len(items)


class TestTrainingFormat:
    def test_turns_are_paired_and_their_wrapping_stripped(self, tmp_path: Path) -> None:
        item = conversation(IMAGE, ("What is it?", "LS-14"), ("How much?", " $200 "))
        reading = read_train(write_json(tmp_path / "DTScene_val.json", [item]))
        first, second = reading.records
        assert first.question_id == "DTScene_val/a#1"
        assert (first.subset, first.source) == ("DTScene", "DTScene_val")
        assert (first.image, first.turn) == ("DTScene/val/a.jpg", 1)
        assert (first.question, first.answer) == ("What is it?", "LS-14")
        assert (second.question_id, second.question, second.answer) == (
            "DTScene_val/a#2",
            "How much?",
            " $200 ",
        )
        assert first.as_record().answers == ("LS-14",)

    @pytest.mark.parametrize(
        ("said", "question"),
        [
            ("<img>./image/DTScene/val/a.jpg</img> Who? Answer: ", "Who?"),
            ("<img>image/DTScene/val/a.jpg</img> Who? Answer:", "Who?"),
            ("Who? Answer: ", "Who?"),
            ("Who?", "Who?"),
            (
                "Who?\nAnswer: x\n\n5. Question: When? Answer: ",
                "Who?\nAnswer: x\n\n5. Question: When?",
            ),
        ],
    )
    def test_only_the_image_tag_and_the_final_cue_are_stripped(
        self, said: str, question: str
    ) -> None:
        item = {
            "id": IMAGE,
            "conversations": [
                {"from": "user", "value": said},
                {"from": "assistant", "value": "x"},
            ],
        }
        (found,) = parse_train(json.dumps([item]).encode(), Path("x.json")).records
        assert found.question == question

    @pytest.mark.parametrize(
        ("item", "code"),
        [
            ({"id": IMAGE, "conversations": None}, "null-conversations"),
            ({"id": IMAGE, "conversations": []}, "empty-conversations"),
            ({"id": IMAGE, "conversations": "hello"}, "conversations-not-a-list"),
            ({"id": IMAGE}, "missing-field"),
            ({"conversations": []}, "missing-field"),
            ({"id": 5, "conversations": []}, "not-a-string"),
            ({"id": "../../a/b/c.jpg", "conversations": []}, "unsafe-path"),
            (conversation("./image/DTTabShot/val/a.png", ("q", "a")), "wrong-subset"),
            (7, "not-an-object"),
        ],
    )
    def test_an_unusable_record_is_reported(self, item: object, code: str) -> None:
        content = json.dumps([item, conversation(IMAGE, ("q", "a"))]).encode()
        reading = parse_train(content, Path("DTScene_val.json"))
        assert [(p.index, p.code, p.turn) for p in reading.problems] == [(0, code, None)]
        assert len(reading.records) == 1
        with pytest.raises(DataError, match="1 unusable; the first is record 0"):
            parse_train(content, Path("DTScene_val.json"), strict=True)

    @pytest.mark.parametrize(
        ("turns", "codes", "kept"),
        [
            ([("user", "q"), ("assistant", "")], ["blank-answer"], []),
            ([("user", "q"), ("assistant", None)], ["not-a-string"], []),
            ([("user", " Answer: "), ("assistant", "a")], ["blank-question"], []),
            ([("user", "q")], ["unanswered"], []),
            ([("assistant", "a")], ["unasked"], []),
            ([("system", "be kind"), ("user", "q"), ("assistant", "a")], ["unknown-role"], [2]),
            ([("user", "q"), ("user", "r"), ("assistant", "a")], ["unanswered"], [2]),
            ([("user", "q"), ("assistant", "a"), ("assistant", "b")], ["unasked"], [1]),
            (
                [("user", "<img>image/DTScene/val/b.jpg</img> q"), ("assistant", "a")],
                ["image-mismatch"],
                [],
            ),
            (
                [("user", "q"), ("assistant", ""), ("user", "r"), ("assistant", "b")],
                ["blank-answer"],
                [2],
            ),
        ],
    )
    def test_a_faulty_turn_costs_only_itself_and_keeps_its_number(
        self, turns: list[tuple[str, Any]], codes: list[str], kept: list[int]
    ) -> None:
        item = {
            "id": IMAGE,
            "conversations": [{"from": role, "value": value} for role, value in turns],
        }
        reading = parse_train(json.dumps([item]).encode(), Path("DTScene_val.json"))
        assert [p.code for p in reading.problems] == codes
        assert [r.turn for r in reading.records] == kept
        assert all(p.turn is not None and f"turn {p.turn}" in str(p) for p in reading.problems)

    def test_keys_stay_unique_when_images_or_their_stems_come_again(self) -> None:
        names = ["a.jpg", "a.png", "a.jpg", "a~2.jpg", "a.jpg", "a~2.jpg", "b#1.jpg", "b.jpg"]
        items = [conversation(f"./image/DTScene/val/{name}", ("q", "a")) for name in names]
        content = json.dumps(items).encode()
        keys = [r.question_id for r in parse_train(content, Path("F.json")).records]
        assert keys == [
            "F/a#1",
            "F/a~3#1",
            "F/a~4#1",
            "F/a~2#1",
            "F/a~5#1",
            "F/a~2~2#1",
            "F/b#1#1",
            "F/b#1",
        ]
        assert keys == [r.question_id for r in parse_train(content, Path("F.json")).records]

    @given(st.lists(st.sampled_from(["a", "a~2", "a~3", "a~2~2", "b", "b#1"]), max_size=9))
    def test_keys_are_unique_for_any_sequence_of_stems(self, stems: list[str]) -> None:
        items = [
            conversation(f"image/DTScene/val/{stem}.jpg", ("q", "a"), ("r", "b")) for stem in stems
        ]
        reading = parse_train(json.dumps(items).encode(), Path("F.json"))
        assert len({r.question_id for r in reading.records}) == 2 * len(stems)


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


class TestFilesThatAreNotWhatTheyClaim:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", ["line 1", "empty"]),
            (b" \n ", ["line 1", "empty"]),
            (LFS.encode(), ["line 1", "git-LFS pointer", "git lfs pull"]),
            (b"<!DOCTYPE html>\n<html>", ["line 1", "web page"]),
            (b'{"a": 1}', ["line 1", "an object"]),
            (b"null", ["line 1", "null"]),
            (b'[\n{"a": 1},\n{"a"', ["line 3", "cut off"]),
            (b'[\n{"a": 1}\n{"b": 2}]', ["line 3", "not valid JSON"]),
            (b'[\n"\xff"]', ["line 2", "UTF-8"]),
            (b"[" * 100_000, ["not annotation JSON"]),
            (b"[" + b"9" * 5000 + b"]", ["not annotation JSON"]),
        ],
    )
    @pytest.mark.parametrize("read", [read_test, read_train])
    def test_one_error_names_file_line_and_cure(
        self, tmp_path: Path, read: Any, content: bytes, words: list[str]
    ) -> None:
        path = tmp_path / "DTScene.json"
        path.write_bytes(content)
        with pytest.raises(DataError) as caught:
            read(path)
        for word in [str(path), *words]:
            assert word in str(caught.value)
        assert "get the file again" in str(caught.value) or "git lfs pull" in str(caught.value)

    def test_a_missing_file_and_a_folder_in_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no such annotation file"):
            read_test(tmp_path / "x.json")
        with pytest.raises(DataError, match="this is a folder, not an annotation file"):
            read_test(tmp_path)

    def test_a_byte_order_mark_does_no_harm(self, tmp_path: Path) -> None:
        path = tmp_path / "x.json"
        path.write_bytes(b"\xef\xbb\xbf" + json.dumps([record()]).encode())
        assert len(read_test(path).records) == 1


class TestReleasedFiles:
    """Exactly the released records and faults."""

    @pytest.mark.parametrize("name", ["DTNutrCap", "DTProdCap", "DTScene", "DTTabShot"])
    def test_test_files(self, shared_dir: Path, name: str) -> None:
        reading = read_test(shared_dir / f"hub/DT-VQA/test/{name}.json", strict=True)
        assert (len(reading.records), reading.total) == (300, 300)
        assert {r.subset for r in reading.records} == {name}

    def test_the_joined_file_is_the_four_in_the_order_known_here(self, shared_dir: Path) -> None:
        folder = shared_dir / "hub/DT-VQA/test"
        joined = read_test(folder / "DT_test.json", strict=True)
        parts = [r for f in TEST_FILES for r in read_test(folder / f"{f.name}.json").records]
        assert list(joined.records) == parts
        assert len({r.question_id for r in parts}) == 1200
        assert len({r.question_id.split("/")[1] for r in parts}) == 1071
        assert len({r.image for r in parts}) == 940

    @pytest.mark.parametrize(
        ("name", "records", "pairs", "faults"),
        [
            ("DTNutrCap_train_val", 2250, 11250, {}),
            ("DTProdCap_train_val", 1036, 5148, {}),
            ("DTScene_val", 1724, 8556, {"null-conversations": 16, "blank-answer": 3}),
            (
                "DTTabShot_val",
                1000,
                4945,
                {"null-conversations": 3, "empty-conversations": 1, "blank-answer": 34},
            ),
        ],
    )
    def test_training_files(
        self, shared_dir: Path, name: str, records: int, pairs: int, faults: dict[str, int]
    ) -> None:
        reading = read_train(shared_dir / f"hub/DT-VQA/train/{name}.json")
        assert (reading.total, len(reading.records), reading.counts()) == (records, pairs, faults)
        assert len({r.question_id for r in reading.records}) == pairs
        assert all("<img>" not in r.question for r in reading.records)
        assert not any(r.question.endswith("Answer:") for r in reading.records)

    def test_the_record_with_38_turns_is_fine(self, shared_dir: Path) -> None:
        reading = read_train(shared_dir / "hub/DT-VQA/train/DTScene_val.json")
        assert max(r.turn for r in reading.records) == 38 // 2

    def test_hashes_known_here_are_those_of_the_released_files(self, shared_dir: Path) -> None:
        for file in FILES:
            path = shared_dir / "hub/DT-VQA" / file.path
            if path.exists():
                read = read_test if file.kind == "test" else read_train
                assert read(path).sha256 == file.sha256, file.path
            else:
                assert file.sha256 is None, file.path
        assert COMBINED_TEST.sha256 is not None

    def test_reading_does_not_depend_on_the_folder(self, shared_dir: Path, tmp_path: Path) -> None:
        source = shared_dir / "hub/DT-VQA/train/DTTabShot_val.json"
        copy = Path(shutil.copy(source, tmp_path))
        assert read_train(copy).records == read_train(source).records
