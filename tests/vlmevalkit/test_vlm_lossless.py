"""Predictions go through the host's files and come back as the model wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vlmeval")

from awkward import LONG, PREDICTIONS
from canned import CannedModel
from vlm_host import prediction_file
from vlm_release import write_release
from vlmeval.inference import infer_data_job

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.hosts.vlmevalkit import register
from dtvqa_plugin.hosts.vlmevalkit.dataset import DTVQADataset
from dtvqa_plugin.hosts.vlmevalkit.host import need_host

register()


FORMATS = ["tsv", "xlsx", "json"] if need_host().honours_pred_format else ["xlsx"]
LINK = next(text for text in LONG if text.startswith("https"))
CUT = {text for text in LONG if len(text) > 32_767}
TRACELESS = {"=a}"}
"""What xlsx changes without leaving a sign of it; newer hosts keep it intact."""
DESTROYED = CUT | {LINK}
FILE_LINK = {"file:///etc/passwd"}
"""Newer releases of the xlsx writer make a link of it and change its slashes; older ones do not."""
ANSWERS = [[text.strip() or "word"] for text in PREDICTIONS]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_release(tmp_path_factory.mktemp("awkward") / "DT-VQA", ANSWERS)


@pytest.fixture(autouse=True)
def _home(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTVQA_HOME", str(release))


def run(folder: Path, dataset: DTVQADataset) -> tuple[CannedModel, Path]:
    model = CannedModel({f"Question {n}?": text for n, text in enumerate(PREDICTIONS)})
    folder.mkdir(exist_ok=True)
    infer_data_job(model, str(folder), "canned", dataset)
    return model, prediction_file(folder, "canned", "DTVQA")


def evaluated(dataset: DTVQADataset, path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    dataset.evaluate(str(path))
    summary = json.loads(path.with_name(f"{path.stem}_summary.json").read_text(encoding="utf-8"))
    lines = path.with_name(f"{path.stem}_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return summary, [json.loads(line) for line in lines]


@pytest.mark.parametrize("suffix", FORMATS)
def test_fresh_run_and_rerun(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRED_FORMAT", suffix)
    dataset = DTVQADataset("DTVQA")
    model, path = run(tmp_path, dataset)
    assert path.suffix == f".{suffix}"
    assert len(model.asked) == len(PREDICTIONS)

    summary, questions = evaluated(dataset, path)
    assert [question["raw_prediction"] for question in questions] == PREDICTIONS
    recovered = summary["file"]["recovered"]
    if suffix == "xlsx":
        assert len(DESTROYED) <= recovered <= len(DESTROYED | TRACELESS | FILE_LINK)
    else:
        assert recovered == 0
    assert summary["scores"]["Overall"]["failed"] == 2

    again = DTVQADataset("DTVQA")
    model, path = run(tmp_path, again)
    assert [message[-1]["value"] for message in model.asked] == retried()
    summary, questions = evaluated(again, path)
    back = [question["raw_prediction"] for question in questions]
    changed = {text for text, raw in zip(PREDICTIONS, back, strict=True) if text != raw}
    if suffix != "xlsx":
        assert changed == set()
        return
    assert changed - FILE_LINK - TRACELESS == DESTROYED
    assert summary["file"]["losses"] >= len(CUT)
    assert summary["file"]["blank_cells"] == len({LINK, ""})


def retried() -> list[str]:
    """The host asks again where a call had failed, in its own words for that."""
    marker = "Failed to obtain answer via API."
    return [f"Question {n}?" for n, text in enumerate(PREDICTIONS) if marker in text]


@pytest.mark.parametrize("suffix", FORMATS)
def test_file_alone(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring a file that another process wrote: what the format destroyed is counted."""
    monkeypatch.setenv("PRED_FORMAT", suffix)
    _, path = run(tmp_path, DTVQADataset("DTVQA"))
    summary, questions = evaluated(DTVQADataset("DTVQA"), path)
    lost = {
        text
        for text, question in zip(PREDICTIONS, questions, strict=True)
        if text != question["raw_prediction"]
    }
    counted = {
        text
        for text, question in zip(PREDICTIONS, questions, strict=True)
        if question["loss"] is not None
    }
    if suffix != "xlsx":
        assert (lost, counted) == (set(), set())
        reused, missing = summary["remarks"]
        n = len(PREDICTIONS)
        assert reused.startswith(f"{n} of {n} answers are from the run of ")
        assert missing.startswith(f"8 of {n} questions got no answer")
        return
    assert lost - FILE_LINK - TRACELESS == DESTROYED
    assert counted >= CUT
    assert summary["file"]["losses"] == len(counted)
    assert summary["file"]["blank_cells"] == len({LINK, ""})
    assert any("PRED_FORMAT=tsv" in remark for remark in summary["remarks"])


@pytest.mark.parametrize("suffix", FORMATS)
def test_all_numeric_predictions_keep_their_zeros(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRED_FORMAT", suffix)
    dataset = DTVQADataset("DTVQA_DTScene")
    numbers = [f"{n:03}" for n in range(len(dataset))]
    answers = dict(zip(dataset.data["question"], numbers, strict=True))
    for _ in range(2):
        dataset = DTVQADataset("DTVQA_DTScene")
        infer_data_job(CannedModel(answers), str(tmp_path), "canned", dataset)
        path = prediction_file(tmp_path, "canned", "DTVQA_DTScene")
        _, questions = evaluated(dataset, path)
        assert [question["raw_prediction"] for question in questions] == numbers


def test_structured_predictions_of_a_json_file(tmp_path: Path) -> None:
    dataset = DTVQADataset("DTVQA_DTScene")
    given: list[Any] = [["word"], {"answer": "a"}, None, 7, True]
    rows = [
        {"index": name, "prediction": given[n] if n < len(given) else "x"}
        for n, name in enumerate(dataset.data["index"])
    ]
    path = tmp_path / "m_DTVQA_DTScene.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    _, questions = evaluated(dataset, path)
    assert [question["prediction"] for question in questions[: len(given)]] == [
        "word",
        '{"answer": "a"}',
        "",
        "7",
        "true",
    ]
    assert [question["failed"] for question in questions[: len(given)]] == [
        False,
        False,
        True,
        False,
        False,
    ]


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "m_DTVQA.tsv"
    path.with_suffix(".pkl").write_bytes(b"cos\nsystem\n(S'touch hacked'\ntR.")
    with pytest.raises(DataError, match=r"never opened.*PRED_FORMAT=json"):
        DTVQADataset("DTVQA").evaluate(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("index\tanswer\n1\tx\n", "no column 'prediction'"),
        ("", "not a readable table"),
    ],
)
def test_damaged_file_is_one_error(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m_DTVQA.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        DTVQADataset("DTVQA").evaluate(str(path))


def test_interrupted_local_run_continues_after_the_last_ten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_off = CannedModel({f"Question {n}?": text for n, text in enumerate(PREDICTIONS)})
    ask = broken_off.generate_inner

    def interrupted(message: list[dict[str, Any]], dataset: str | None = None) -> str:
        if len(broken_off.asked) == 11:
            raise KeyboardInterrupt
        return ask(message, dataset)

    monkeypatch.setattr(broken_off, "generate_inner", interrupted)
    with pytest.raises(KeyboardInterrupt):
        infer_data_job(broken_off, str(tmp_path), "canned", DTVQADataset("DTVQA"))
    dataset = DTVQADataset("DTVQA")
    model, path = run(tmp_path, dataset)
    assert len(model.asked) == len(PREDICTIONS) - 10
    _, questions = evaluated(dataset, path)
    assert [question["raw_prediction"] for question in questions] == PREDICTIONS
