"""Reading record by record: the same records as `read_train`, the same faults as whole files."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtvqa_plugin.benchmark.annotations import parse_list
from dtvqa_plugin.data import read_train
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.source import ListReader, TrainSource
from dtvqa_plugin.utils.json_list import JsonList

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    items=st.lists(VALUES, max_size=8),
    blank=st.text(alphabet=" \t\r\n", max_size=3),
    ascii_only=st.booleans(),
    bom=st.booleans(),
    chunk=st.integers(1, 40),
)
def test_elements_and_places_of_any_list(
    items: list[object],
    blank: str,
    ascii_only: bool,
    bom: bool,
    chunk: int,
) -> None:
    texts = [json.dumps(item, ensure_ascii=ascii_only) for item in items]
    text = blank + "[" + blank + f"{blank},{blank}".join(texts) + blank + "]" + blank
    content = ("\ufeff" if bom else "").encode() + text.encode("utf-8", "replace")
    found = list(JsonList(io.BytesIO(content).read, chunk=chunk))
    assert [value for *_, value in found] == parse_list(content, Path("list.json"))
    assert [json.loads(content[o : o + n]) for o, n, _ in found] == [v for *_, v in found]


BROKEN = [
    b"",
    b"  \n",
    b"[",
    b"[1, 2",
    b"[1, 2,]",
    b"[,1]",
    b"[1 2]",
    b"[1]]",
    b"[] []",
    b"[1] x",
    b'{"a": 1}',
    b'[{"a": 1}, {"a": ]',
    b'[{"a": "cut',
    b'["\xff"]',
    b"<html></html>",
    b"version https://git-lfs.github.com/spec/v1\n",
    b"12",
    b"[" * 100_000,
]


@pytest.mark.parametrize("content", BROKEN, ids=lambda content: ascii(content[:20]))
def test_faulty_files_are_the_same_error_as_when_read_whole(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "DTScene_train.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as whole:
        parse_list(content, path)
    with pytest.raises(DataError) as streamed:
        list(ListReader(path))
    assert str(streamed.value) == str(whole.value)


FILES = ["DTNutrCap_train_val", "DTProdCap_train_val", "DTScene_val", "DTTabShot_val"]


@pytest.mark.parametrize("file", FILES)
def test_released_files_read_record_by_record_are_those_read_whole(
    file: str, shared_dir: Path
) -> None:
    path = shared_dir / "hub/DT-VQA/train" / f"{file}.json"
    whole = read_train(path)
    streamed = TrainSource(path)
    places = [record for record, _ in streamed.scan()]
    again = [turn for place in places for turn in streamed.read(place).turns]
    streamed.close()
    assert again == list(whole.records)
    assert (streamed.sha256, streamed.total) == (whole.sha256, whole.total)
    assert dict(streamed.counts) == whole.counts()


def test_an_image_that_comes_again_gets_the_key_that_read_train_gives(tmp_path: Path) -> None:
    turn = [{"from": "user", "value": "Q?"}, {"from": "assistant", "value": "a"}]
    names = ["a", "b", "a", "a~2", "a", "../x", "b"]
    path = tmp_path / "DTScene_train.json"
    path.write_text(
        json.dumps([{"id": f"./image/DTScene/train/{n}.jpg", "conversations": turn} for n in names])
    )
    streamed = TrainSource(path)
    places = [record for record, _ in streamed.scan()]
    keys = [streamed.read(place).turns[0].question_id for place in places]
    streamed.close()
    assert keys == [record.question_id for record in read_train(path).records]
    assert len(set(keys)) == len(keys) == 6


def test_a_file_that_changes_meanwhile_is_one_error(tmp_path: Path) -> None:
    turn = [{"from": "user", "value": "Q?"}, {"from": "assistant", "value": "a"}]
    path = tmp_path / "DTScene_train.json"
    path.write_text(json.dumps([{"id": "image/DTScene/train/a.jpg", "conversations": turn}]))
    streamed = TrainSource(path)
    list(streamed.scan())
    path.write_text("[]")
    with pytest.raises(DataError, match="changed while it was read"):
        streamed.read(0)
    streamed.close()
