"""What each split is: one table of files, subsets, titles, cures, messages and signature fields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from data_releases import sound_record, write_json

from dtvqa_plugin.data import SPLITS, Store, data_signature, get_split, load_split, sample_dir
from dtvqa_plugin.data.splits import benchmark_title
from dtvqa_plugin.errors import DataError

ALL_FOUR = ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot")
CUSTOM_CURE = "run 'dtvqa annotate export' again, or set DTVQA_CUSTOM to a complete export"
FIELDS = {
    "split",
    "subsets",
    "questions",
    "files",
    "records_sha256",
    "images_sha256",
    "coverage",
}


def hub_cure(split: str, more: str = "") -> str:
    return (
        f"run 'dtvqa data import FOLDER --split {split}{more}' on a folder that holds the release, "
        f"or 'dtvqa data fetch --split {split}{more}' to get it from shuozhang2/DT-VQA on the "
        "Hugging Face hub"
    )


@dataclass(frozen=True)
class Row:
    files: tuple[str, ...]
    subsets: tuple[str, ...]
    benchmark: str
    heading: str
    caption: str
    signed_as: str
    missing: str
    more_fields: frozenset[str] = frozenset()
    released: bool = True


def released(split: str, files: tuple[str, ...], subsets: tuple[str, ...], heading: str) -> Row:
    return Row(
        files=files,
        subsets=subsets,
        benchmark="DT-VQA",
        heading=heading,
        caption=f"DT-VQA {split}",
        signed_as="DTVQA",
        missing=f"the {split} annotations are missing ({', '.join(files)}); {hub_cure(split)}",
    )


TABLE = {
    "test": released(
        "test",
        ("test/DTNutrCap.json", "test/DTProdCap.json", "test/DTScene.json", "test/DTTabShot.json"),
        ALL_FOUR,
        "DT-VQA test",
    ),
    "val": released(
        "val",
        ("train/DTScene_val.json", "train/DTTabShot_val.json"),
        ("DTScene", "DTTabShot"),
        "DT-VQA validation (machine-made questions)",
    ),
    "train": released(
        "train",
        (
            "train/DTNutrCap_train_val.json",
            "train/DTProdCap_train_val.json",
            "train/DTScene_train.json",
            "train/DTScene_train_gpt-4v.json",
            "train/DTTabShot_train.json",
        ),
        ALL_FOUR,
        "DT-VQA training (machine-made questions)",
    ),
    "mini": Row(
        files=("test/DT_mini.json",),
        subsets=("MiniScene", "MiniNutrCap", "MiniProdCap", "MiniTabShot"),
        benchmark="embedded sample (not DT-VQA)",
        heading="Embedded sample: not DT-VQA, its figures do not compare with DT-VQA figures",
        caption="Embedded sample (not DT-VQA)",
        signed_as="DTVQA-SAMPLE",
        missing="the embedded sample lacks test/DT_mini.json; reinstall dtvqa-plugin",
        released=False,
    ),
    "custom": Row(
        files=("test/DT_custom.json",),
        subsets=("Signs-street",),
        benchmark="Signs (custom set 75e3eb310359b9c9, not DT-VQA)",
        heading="your own question set: not DT-VQA, its figures compare only within the set",
        caption="Your own question set (not DT-VQA)",
        signed_as="DTVQA-CUSTOM",
        missing=f"test/DT_custom.json is missing; {CUSTOM_CURE}",
        more_fields=frozenset({"custom"}),
        released=False,
    ),
}


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cures name HF_HUB_OFFLINE where it is set, and some test environments set it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def custom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set of one question, its image missing."""
    return make_set(tmp_path / "set", "Signs", monkeypatch)


def make_set(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_json(folder / "test/DT_custom.json", [sound_record(f"{name}-street", 0)])
    write_json(folder / "custom.json", {"name": name})
    monkeypatch.setenv("DTVQA_CUSTOM", str(folder))
    return folder


def test_the_table_has_every_split() -> None:
    assert tuple(TABLE) == SPLITS


@pytest.mark.usefixtures("custom")
@pytest.mark.parametrize("name", TABLE)
def test_what_a_split_is(name: str) -> None:
    split, row = get_split(name), TABLE[name]
    assert tuple(file.path for file in split.files) == row.files
    assert split.subsets == row.subsets
    assert (split.heading, split.caption) == (row.heading, row.caption)
    assert (split.signed_as, split.released) == (row.signed_as, row.released)
    assert benchmark_title(name) == row.benchmark
    missing = split.missing(Store("/S"), split.files)
    assert str(missing) == f"/S: {row.missing}"


@pytest.mark.usefixtures("custom")
@pytest.mark.parametrize("name", ["test", "val", "train"])
def test_the_cure_names_the_chosen_subsets(name: str) -> None:
    assert get_split(name).cure(["A", "B"]) == hub_cure(name, " --subset A --subset B")


def test_the_cure_names_the_variable_that_forbids_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "or unset HF_HUB_OFFLINE and run 'dtvqa data fetch" in get_split("test").cure()


@pytest.mark.parametrize("name", ["test", "val", "train"])
def test_missing_annotations_of_a_released_split(name: str, tmp_path: Path) -> None:
    for subset in (None, TABLE[name].subsets[0]):
        with pytest.raises(DataError) as caught:
            load_split(name, subset, home=tmp_path)
        assert str(caught.value).startswith(f"{tmp_path}: the {name} annotations are missing (")
        assert str(caught.value).endswith(hub_cure(name))


def test_missing_images_of_a_custom_set(custom: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_split("custom")
    assert str(caught.value) == (
        f"{custom}/image: images of the custom split are missing "
        f"(Signs-street: 1 of 1 images); {CUSTOM_CURE}"
    )


def test_missing_images_of_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged installation: the hub has no such split, so that no fetch can help."""
    home = tmp_path / "sample"
    (home / "test").mkdir(parents=True)
    annotations = sample_dir() / "test/DT_mini.json"
    (home / "test/DT_mini.json").write_bytes(annotations.read_bytes())
    monkeypatch.setattr("dtvqa_plugin.data.splits.sample.sample_dir", lambda: home)
    with pytest.raises(DataError, match=r"images of the mini split .*; reinstall dtvqa-plugin$"):
        load_split("mini")


@pytest.mark.usefixtures("custom")
@pytest.mark.parametrize("name", TABLE)
def test_signature_fields(name: str, tmp_path: Path) -> None:
    for subset in TABLE[name].subsets if TABLE[name].released else ():
        for file in get_split(name).files:
            if file.subset == subset and file.kind == "test":
                write_json(tmp_path / file.path, [sound_record(subset)])
            elif file.subset == subset:
                write_json(tmp_path / file.path, [])
    found = data_signature(name, home=tmp_path)
    assert set(found) == FIELDS | TABLE[name].more_fields
    assert (found["split"], tuple(found["files"])) == (name, TABLE[name].files)


class TestWhatACustomSetFollows:
    def test_the_variable_when_it_is_asked_and_not_when_it_is_imported(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("Signs", "Menus"):
            folder = make_set(tmp_path / name, name, monkeypatch)
            assert get_split("custom").subsets == (f"{name}-street",)
            assert get_split("custom").store().home == folder

    def test_without_it_the_error_says_what_to_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DTVQA_CUSTOM", raising=False)
        with pytest.raises(DataError, match="DTVQA_CUSTOM is not set"):
            load_split("custom")

    def test_it_is_looked_up_once_an_operation(
        self, custom: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another set put in its place half way is not mixed in."""
        split = get_split("custom")
        assert split.subsets == ("Signs-street",)
        make_set(tmp_path / "other", "Menus", monkeypatch)
        assert split.store().home == custom
        assert split.benchmark.startswith("Signs ")

    @pytest.mark.parametrize("name", ["DTScene", "MiniScene", "dt-vqa", "DTScene_val", "DT_test"])
    def test_no_set_may_use_a_name_that_released_question_ids_begin_with(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        folder = make_set(tmp_path / "set", "Signs", monkeypatch)
        write_json(folder / "test/DT_custom.json", [sound_record(name, 0)])
        with pytest.raises(DataError, match=f"dataset_name '{name}' is taken"):
            get_split("custom").subsets  # noqa: B018  # the look-up is what raises
