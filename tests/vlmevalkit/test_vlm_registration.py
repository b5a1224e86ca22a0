"""Registration in this process: in place, once, harmless; and the dataset the host then builds."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pandas
import pytest

pytest.importorskip("vlmeval")

import vlmeval.dataset
import vlmeval.smp
import vlmeval.smp.file
import vlmeval.tools
from PIL import Image
from released_layout import SIZES
from vlm_host import command
from vlm_release import write_release

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS
from dtvqa_plugin.data import sample_dir
from dtvqa_plugin.errors import DataError, HostError
from dtvqa_plugin.hosts.vlmevalkit import register
from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset, DTVQANativeDataset
from dtvqa_plugin.hosts.vlmevalkit.names import DATASETS
from dtvqa_plugin.utils.images import load_rgb

BEFORE = {
    "classes": list(vlmeval.dataset.DATASET_CLASSES),
    "lists": {
        name: id(getattr(vlmeval.dataset, name))
        for name in ("DATASET_CLASSES", "IMAGE_DATASET", "SUPPORTED_DATASETS")
    },
    "names": [name for name in vlmeval.dataset.SUPPORTED_DATASETS if "DTVQA" not in name],
}

register()


def test_lists_are_changed_in_place_and_once() -> None:
    register()
    register()
    for name, identity in BEFORE["lists"].items():
        assert id(getattr(vlmeval.dataset, name)) == identity
    assert vlmeval.tools.SUPPORTED_DATASETS is vlmeval.dataset.SUPPORTED_DATASETS
    for name in DATASETS:
        assert vlmeval.dataset.SUPPORTED_DATASETS.count(name) == 1
    for known in (vlmeval.dataset.DATASET_CLASSES, vlmeval.dataset.IMAGE_DATASET):
        assert known.count(DTVQADataset) == known.count(DTVQANativeDataset) == 1
    assert vlmeval.dataset.DTVQADataset is DTVQADataset  # what a config entry looks up


def test_other_datasets_are_untouched(tmp_path: Path) -> None:
    ours = len(DATASETS)
    assert vlmeval.dataset.SUPPORTED_DATASETS[:-ours] == BEFORE["names"]
    others = [c for c in vlmeval.dataset.DATASET_CLASSES if not issubclass(c, DTVQADataset)]
    assert others == [c for c in BEFORE["classes"] if "DTVQA" not in c.__name__]
    assert vlmeval.dataset.DATASET_TYPE("MMBench_DEV_EN") == "MCQ"

    path = str(tmp_path / "model_MMBench_DEV_EN.tsv")
    vlmeval.smp.dump(pandas.DataFrame({"index": [1], "prediction": ["N/A"]}), path)
    assert vlmeval.smp.load(path)["prediction"].isna().all()  # the host's own way, left alone


@pytest.mark.parametrize("name", list(DATASETS))
def test_host_knows_type_and_modality(name: str) -> None:
    kind = vlmeval.dataset.DATASET_TYPE(name)
    assert kind == ("VQA" if DATASETS[name].native else "DTQA")
    assert vlmeval.dataset.DATASET_MODALITY(name) == "IMAGE"


@pytest.mark.parametrize(
    "name",
    [n for n, entry in DATASETS.items() if entry.given is None and entry.split != "custom"],
)
def test_host_builds_each_dataset(name: str, small_home: Path) -> None:
    """The conditions of this plugin (resolution, text given) are tested in tests/conditions."""
    dataset = vlmeval.dataset.build_dataset(name)
    entry = DATASETS[name]
    if entry.split == "test":
        wanted = sum(SIZES.values()) if entry.subset is None else SIZES[entry.subset]
        assert len(dataset) == wanted
    else:
        assert set(dataset.data["subset"]) == set(SAMPLE_SUBSETS)
    row = dataset.data.iloc[0]
    assert "image" not in dataset.data  # no base64
    image, text = dataset.build_prompt(row)
    assert image == {"type": "image", "value": row["image_path"]}
    home = small_home if entry.split == "test" else sample_dir()
    assert Path(image["value"]).is_relative_to(home)
    question = dataset._records[row["index"]].question
    prompt = PAPER_INSTRUCTION if entry.prompt == "paper" else ""
    assert text == {"type": "text", "value": prompt + question}
    assert dataset.build_prompt(0) == dataset.build_prompt(dict(row)) == [image, text]
    assert dataset[0]["question"] == row["question"]


def test_a_custom_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own subsets, its own title; never taken for DT-VQA."""
    release = write_release(tmp_path / "mine", [["a"], ["b"], ["c"], ["d"]])
    rows = json.loads((release / "test" / "DTScene.json").read_text(encoding="utf-8"))
    own = [{**rows[0], "dataset_name": name, "id": n} for n, name in enumerate(["Menu", "Bill"])]
    (release / "test" / "DT_custom.json").write_text(json.dumps(own), encoding="utf-8")
    (release / "custom.json").write_text('{"name": "shops"}', encoding="utf-8")
    monkeypatch.setenv("DTVQA_CUSTOM", str(release))
    dataset = vlmeval.dataset.build_dataset("DTVQA_CUSTOM_PROMPTED")
    assert list(dataset.data["index"]) == ["Menu/0", "Bill/1"]
    path = tmp_path / "m_DTVQA_CUSTOM_PROMPTED.tsv"
    path.write_text("index\tprediction\nMenu/0\tc\nBill/1\tx\n", encoding="utf-8")
    frame = dataset.evaluate(str(path))
    assert list(frame["Subset"]) == ["Menu", "Bill", "Overall"]
    assert list(frame["Acc"]) == [100.0, 0.0, 50.0]
    summary = json.loads(path.with_name(f"{path.stem}_summary.json").read_text(encoding="utf-8"))
    assert summary["benchmark"].startswith("shops (custom set")


def test_dataset_travels_to_another_process(small_home: Path) -> None:
    dataset = pickle.loads(pickle.dumps(DTVQADataset("DTVQA")))  # noqa: S301  # our own bytes
    assert dataset.build_prompt(0) == DTVQADataset("DTVQA").build_prompt(0)


def test_ids_are_not_run_as_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's own base class evaluates every index as Python."""
    release = write_release(tmp_path / "DT-VQA", [["a"]] * 4)
    mark = tmp_path / "hacked"
    path = release / "test" / "DTScene.json"
    evil = f"1 if __import__('pathlib').Path({str(mark)!r}).touch() else 1"
    text = path.read_text(encoding="utf-8").replace('"id": 2', f'"id": "{evil}"')
    assert evil in text
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("DTVQA_HOME", str(release))
    dataset = DTVQADataset("DTVQA")
    dataset.build_prompt(2)
    assert f"DTScene/{evil}" in set(dataset.data["index"])
    assert not mark.exists()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: DTVQADataset("DTVQA_Scene"), HostError, "did you mean"),
        (lambda: DTVQADataset("DTVQA_NATIVE"), HostError, '"class": "DTVQANativeDataset"'),
        (lambda: DTVQANativeDataset("DTVQA"), HostError, '"class": "DTVQADataset"'),
    ],
)
def test_wrong_name_is_one_error(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_missing_data_is_the_error_that_load_split_gives(dtvqa_home: Path) -> None:
    from dtvqa_plugin.data import load_split

    with pytest.raises(DataError) as there:
        load_split("test", "DTScene")
    with pytest.raises(DataError) as here:
        DTVQADataset("DTVQA_DTScene")
    assert str(here.value) == str(there.value)
    assert "dtvqa data" in str(here.value)


@pytest.mark.parametrize("kind", ["rotated", "transparent", "palette", "grey"])
def test_every_reader_sees_the_pixels_that_lmms_eval_shows(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = write_release(tmp_path / "DT-VQA", [["a"]] * 4)
    monkeypatch.setenv("DTVQA_HOME", str(release))
    path = release / "image" / "DTScene" / "test" / "all.png"
    picture = Image.effect_noise((40, 24), 80).convert("RGB")
    if kind == "rotated":
        exif = Image.Exif()
        exif[0x0112] = 6
        picture.save(path, exif=exif)
    elif kind == "transparent":
        picture.putalpha(Image.linear_gradient("L").resize(picture.size))
        picture.save(path)
    elif kind == "palette":
        picture.quantize(8).save(path, transparency=0)
    else:
        picture.convert("L").save(path)
    given = DTVQADataset("DTVQA_DTScene").build_prompt(0)[0]["value"]
    with Image.open(given) as seen:
        assert seen.convert("RGB").tobytes() == load_rgb(path).tobytes()
    assert (given == str(path)) is (kind == "grey")


def test_run_report_shows_overall_accanls(small_home: Path, tmp_path: Path) -> None:
    dataset = DTVQADataset("DTVQA")
    path = tmp_path / "m_DTVQA.tsv"
    rows = [
        {"index": name, "prediction": "Word0" if n % 2 else "Failed to obtain answer via API."}
        for n, name in enumerate(dataset.data["index"])
    ]
    vlmeval.smp.dump(pandas.DataFrame(rows), str(path))
    frame = dataset.evaluate(str(path))
    overall = frame[frame["Subset"] == "Overall"].iloc[0]
    reports = pytest.importorskip(
        "vlmeval.smp.status_report", reason="this distribution has no run report"
    )
    metrics = reports.flatten_summary_metrics(frame)
    (primary,) = dataset.report_primary_metric(metrics).items()
    assert primary == ("Subset=Overall|AccANLS", overall["AccANLS"])
    assert dataset.report_infer_err(path) == {"failed": 7, "total": 14}
    judged = dataset.report_judge_err(path, total_samples=14, error_message="x")
    assert judged == {"failed": None, "total": None}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"__init__.py": "", "dataset/__init__.py": "dataset_URLs = {}"}, "too old"),
        ({"__init__.py": "", "dataset/__init__.py": "DATASET_CLASSES = ()"}, "too old"),
    ],
    ids=["without the lists", "lists of another kind"],
)
def test_host_too_old_is_one_error(files: dict[str, str], message: str, tmp_path: Path) -> None:
    for name, text in files.items():
        path = tmp_path / "vlmeval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "run.py").write_text("import vlmeval", encoding="utf-8")
    run = command([], tmp_path, tmp_path, extra={"PYTHONPATH": str(tmp_path)})
    assert (run.status, run.output.count("error:")) == (1, 1), run.output
    assert message in run.output
