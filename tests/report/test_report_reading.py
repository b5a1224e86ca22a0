"""Runs are recognised by content and read completely; irregularities are counted, never dropped."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from report_runs import BY_ID, SAMPLE, dump, first_answer, plain_run, write_lines

from dtvqa_plugin.data import Record, records
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.predictions.kinds import Kind, sniff
from dtvqa_plugin.report import References, Run, RunError, read_run, read_runs
from dtvqa_plugin.runs.remarks import remarks

LAST = len(SAMPLE) - 1


def lmms_sample(record: Record, number: int, **changes: object) -> dict[str, object]:
    scores = {"accanls": 1.0, "anls": 1.0, "acc": 1.0}
    ours = {"question_id": record.question_id, "prompt": "none"}
    sample = {"doc_id": number, "filtered_resps": first_answer(record), **scores, "dtvqa": ours}
    return {**sample, **changes}


def as_lmms(path: Path) -> Path:
    return write_lines(path, (lmms_sample(r, i) for i, r in enumerate(SAMPLE)))


def as_lmms_without_our_record(path: Path) -> Path:
    rows = (
        {"doc_id": i, "doc": {"question_id": r.question_id}, "resps": [[first_answer(r)]]}
        for i, r in enumerate(SAMPLE)
    )
    return write_lines(path, rows)


def as_tsv(path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, "excel-tab", quoting=csv.QUOTE_ALL)
        writer.writerow(["index", "question", "prediction"])
        writer.writerows([r.question_id, r.question, first_answer(r)] for r in SAMPLE)
    return path


def as_released(path: Path) -> Path:
    """The paper's result files: the annotation records with ``predict`` added."""
    rows = []
    for record in SAMPLE:
        name, _, number = record.question_id.partition("/")
        rows.append({"dataset_name": name, "id": int(number), "predict": first_answer(record)})
    path.write_text(json.dumps(rows, indent=4), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "make", "kind"),
    [
        ("x.jsonl", as_lmms, Kind.LMMS_EVAL),
        ("x.jsonl", as_lmms_without_our_record, Kind.LMMS_EVAL),
        ("x.tsv", as_tsv, Kind.VLMEVALKIT),
        ("x.json", as_released, Kind.RELEASED),
        ("x.jsonl", plain_run, Kind.PLAIN),
    ],
    ids=["lmms-eval", "lmms-eval-doc", "vlmevalkit", "released", "plain"],
)
def test_each_kind_is_recognised_by_its_content(
    tmp_path: Path, name: str, make: Callable[[Path], Path], kind: Kind
) -> None:
    path = make(tmp_path / name)
    assert sniff(path) is kind
    run = read_run(path)
    assert [answer.question_id for answer in run.answers] == list(BY_ID)
    assert (run.values[:, 1] == 1.0).all()
    assert run.is_sample
    assert run.missing == ()
    assert remarks(run) == []


def test_raw_output_is_scored_without_reasoning_and_with_its_own_length(tmp_path: Path) -> None:
    long = "<think>" + "hm " * 4000 + "</think> " + "word " * 2000
    run = read_run(plain_run(tmp_path / "r.jsonl", lambda record: f"{long}{record.answers[0]} "))
    answer = run.answers[0]
    assert answer.acc == 1.0
    assert answer.length == 10_000 + len(SAMPLE[0].answers[0])
    assert len(answer.text) == 4000


def joined(tmp_path: Path, *lines: object) -> Run:
    """The plain run of the whole sample with lines added after it."""
    path = plain_run(tmp_path / "run.jsonl")
    with path.open("a", encoding="utf-8") as handle:
        for line in lines:
            handle.write(line if isinstance(line, str) else json.dumps(line) + "\n")
    return read_run(path)


FIRST = SAMPLE[0].question_id


@pytest.mark.parametrize(
    ("lines", "remark"),
    [
        (
            [{"question_id": FIRST, "prediction": "other"}],
            "1 question answered more than once (1 time w",
        ),
        ([{"question_id": FIRST, "prediction": None}], "1 question failed (no output)"),
        ([{"question_id": "MiniScene/999", "prediction": ""}], "1 answer to questions that"),
        ([{"question_id": "TextVQA/1", "prediction": ""}], "TextVQA/1"),
        ([{"prediction": "whose?"}], "line 65: has no question"),
        (['{"question_id": "MiniSc'], "line 65: not valid JSON"),
        (["[1]\n"], "line 65: a list where a record is expected"),
    ],
    ids=["doubled", "failed", "unknown", "other-id", "nameless", "cut-line", "no-record"],
)
def test_an_irregularity_is_counted_and_reported(
    tmp_path: Path, lines: list[object], remark: str
) -> None:
    run = joined(tmp_path, *lines)
    assert len(run.answers) == len(SAMPLE)
    assert any(remark in said for said in remarks(run)), remarks(run)


def test_missing_questions_are_named_by_subset_and_make_the_run_partial(tmp_path: Path) -> None:
    run = read_run(plain_run(tmp_path / "r.jsonl", chosen=SAMPLE[3:20]))
    assert [record.question_id for record in run.missing] == [
        r.question_id for r in SAMPLE if r.subset in run.subsets and r not in SAMPLE[3:20]
    ]
    assert remarks(run)[0].startswith("partial: 17 of 32 questions (MiniScene lacks 3, Mini")
    assert run.oddities()["missing"] == tuple(record.question_id for record in run.missing)
    assert str(run.signature()).endswith("|partial:missing=15")


def test_the_last_of_two_answers_counts(tmp_path: Path) -> None:
    run = joined(tmp_path, {"question_id": FIRST, "prediction": "other"})
    assert run.answers[0].text == "other"


def test_a_stored_score_that_differs_is_reported_and_the_new_one_shown(tmp_path: Path) -> None:
    rows = [lmms_sample(record, i) for i, record in enumerate(SAMPLE)]
    rows[5] = lmms_sample(SAMPLE[5], 5, filtered_resps="wrong")
    run = read_run(write_lines(tmp_path / "s.jsonl", rows))
    assert {item.question_id for item in run.faults.differences} == {SAMPLE[5].question_id}
    (remark,) = remarks(run)
    assert "differ from the recomputed ones for 1 question" in remark
    assert "stored 1.0000, recomputed 0.0000" in remark
    assert run.answers[5].accanls == 0.0
    # Another threshold gives other scores: nothing to compare then.
    assert remarks(read_run(tmp_path / "s.jsonl", tau=0.3)) == []


def write_bytes(content: bytes) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return make


def as_mixed_models(path: Path) -> Path:
    half = len(SAMPLE) // 2
    rows = (
        {"question_id": r.question_id, "prediction": "", "model": "one" if i < half else "two"}
        for i, r in enumerate(SAMPLE)
    )
    return write_lines(path, rows)


def as_two_runs_joined(path: Path) -> Path:
    rows = [{"question_id": r.question_id, "prediction": first_answer(r)} for r in SAMPLE]
    rows += [{"question_id": r.question_id, "prediction": "other"} for r in SAMPLE]
    return write_lines(path, rows)


def as_two_conditions(path: Path) -> Path:
    rows = (
        {"question_id": r.question_id, "prediction": "", "prompt": "none" if i % 2 else "paper"}
        for i, r in enumerate(SAMPLE)
    )
    return write_lines(path, rows)


def as_other_benchmark(path: Path) -> Path:
    return write_lines(path, ({"question_id": f"TextVQA/{i}", "prediction": ""} for i in range(9)))


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("empty.jsonl", write_bytes(b""), "the file is empty"),
        ("blank.jsonl", write_bytes(b"\n\n"), "holds no records"),
        ("text.json", write_bytes(b"hello"), "record 1: not valid JSON"),
        ("deep.jsonl", write_bytes(b'{"a":' * 100_000), "nested too deeply"),
        ("cut.jsonl", write_bytes(b'{"question_id": "Mini'), "not valid JSON"),
        ("turned.csv", write_bytes("index,prediction".encode("utf-16")), "holds no records"),
        ("list.json", write_bytes(b"[]"), "holds no records"),
        ("model.pkl", write_bytes(b"\x80\x04"), "holds no predictions"),
        ("damaged.xlsx", write_bytes(b"PK\x03\x04"), "not a readable xlsx"),
        ("mixed.jsonl", as_mixed_models, r"several values of model \(one, two\).*split it"),
        ("both.jsonl", as_two_conditions, r"several values of condition \(none, paper\)"),
        ("joined.jsonl", as_two_runs_joined, "64 of 64 questions are answered more than once"),
        ("other.jsonl", as_other_benchmark, "none of its 9 predictions .*TextVQA/0"),
        (
            "nameless.jsonl",
            lambda path: write_lines(path, [{"doc_id": 0, "filtered_resps": "x"}]),
            "has no question",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_bad_input_is_one_clear_error(
    tmp_path: Path, name: str, make: Callable[[Path], Path], message: str
) -> None:
    path = make(tmp_path / name)
    with pytest.raises(RunError, match=message) as caught:
        read_runs(path)
    assert str(caught.value).startswith(str(path))


def test_a_name_that_no_disk_takes(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot be opened .*too long"):
        read_runs(tmp_path / ("x" * 5_000))


def test_a_damaged_file_in_a_folder_is_named_and_the_others_count(tmp_path: Path) -> None:
    plain_run(tmp_path / "m.jsonl")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "cut_DTVQA_MINI.xlsx").write_bytes(b"PK")
    (tmp_path / "notes.json").write_text('{"a": 1}')
    (run,) = read_runs(tmp_path)
    assert sorted(line.split(":")[1].split("/")[-1] for line in remarks(run)) == [
        "cut_DTVQA_MINI.xlsx",
        "empty.jsonl",
        "notes.json",
    ]


def test_a_run_over_an_unnamed_custom_set_names_the_variable_to_set(tmp_path: Path) -> None:
    path = tmp_path / "m_DTVQA_CUSTOM_PROMPTED.tsv"
    path.write_text("index\tprediction\nMenu/0\tx\n")
    with pytest.raises(RunError, match="set DTVQA_CUSTOM"):
        read_runs(path)


def test_a_stored_score_beyond_all_numbers_is_one_that_differs(tmp_path: Path) -> None:
    rows = [{"question_id": r.question_id, "prediction": "x", "accanls": 10**400} for r in SAMPLE]
    (remark,) = remarks(read_run(write_lines(tmp_path / "r.jsonl", rows)))
    assert "accanls stored inf" in remark


@pytest.mark.parametrize("name", ["absent", "absent.jsonl"])
def test_a_path_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match="no such file or folder"):
        read_runs(tmp_path / name)


def test_a_folder_without_predictions(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"a": 1}')
    with pytest.raises(RunError, match="no answers to this benchmark's questions found"):
        read_runs(tmp_path)


def test_a_folder_with_several_runs_gives_each_a_name_and_compare_asks_which(
    tmp_path: Path,
) -> None:
    plain_run(tmp_path / "a.jsonl", model="m")
    plain_run(tmp_path / "deeper" / "b.jsonl", dump, model="m")
    as_other_benchmark(tmp_path / "other.jsonl")
    runs = read_runs(tmp_path)
    assert [run.name for run in runs] == ["m (a)", "m (b)"]
    assert all(any("other.jsonl" in said for said in remarks(run)) for run in runs)
    with pytest.raises(RunError, match=r"holds 2 runs; pass one of their files") as caught:
        read_run(tmp_path)
    assert "a.jsonl" in str(caught.value)
    assert "b.jsonl" in str(caught.value)


def test_files_of_one_run_join_and_conditions_stay_apart(tmp_path: Path) -> None:
    """Two tasks of one lmms-eval command are one run; its prompted task is another."""
    halves = SAMPLE[:32], SAMPLE[32:]
    for number, half in enumerate(halves):
        rows = [lmms_sample(record, i) for i, record in enumerate(half)]
        write_lines(tmp_path / f"20260101_samples_part{number}.jsonl", rows)
    prompted = {"prompt": "paper"}
    rows = [
        lmms_sample(r, i, dtvqa={"question_id": r.question_id, **prompted})
        for i, r in enumerate(SAMPLE)
    ]
    write_lines(tmp_path / "20260101_samples_prompted.jsonl", rows)
    runs = read_runs(tmp_path)
    assert [(run.condition, len(run.answers), len(run.paths)) for run in runs] == [
        ("none", 64, 2),
        ("paper", 64, 1),
    ]


@pytest.mark.parametrize(
    ("model", "top", "prompt"),
    [
        ("openai", {"prompt": "none"}, "none"),
        ("qwen_vl", {}, "answer"),  # the host leaves the dict as it is where it takes an entry
        ("my_model", {"prompt": "answer"}, "answer"),
    ],
)
def test_the_signature_names_the_prompt_of_the_exact_model(
    tmp_path: Path, model: str, top: dict[str, str], prompt: str
) -> None:
    by_model = {"default": {"prompt": "none"}, "qwen_vl": {"prompt": "answer"}, **top}
    config = {"lmms_eval_specific_kwargs": by_model, "metadata": {"prompt": "none"}}
    results = {"configs": {"dtvqa_mini": config}, "config": {"model": model}}
    (tmp_path / "20260101_results.json").write_text(json.dumps(results))
    as_lmms(tmp_path / "20260101_samples_dtvqa_mini.jsonl")
    run = read_run(tmp_path)
    assert (run.condition, run.signature().prompt) == ("none", prompt)


def test_the_latest_vlmevalkit_evaluation_counts_and_earlier_ones_are_named(
    tmp_path: Path,
) -> None:
    """The host links the newest file into the model's folder, dated folders keep the others."""
    model = tmp_path / "m"
    for day, make in (("T1", as_tsv), ("T2", as_tsv)):
        (model / day).mkdir(parents=True)
        make(model / day / "m_DTVQA_MINI.tsv")
    (model / "m_DTVQA_MINI.tsv").symlink_to(Path("T2") / "m_DTVQA_MINI.tsv")
    (run,) = read_runs(tmp_path)
    assert (run.name, run.condition, run.context.host) == ("m", "none", "VLMEvalKit")
    (remark,) = remarks(run)
    assert "T1" in remark
    assert "an earlier run of" in remark


def test_predictions_of_a_split_whose_annotations_are_absent(
    tmp_path: Path, dtvqa_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    path = write_lines(tmp_path / "r.jsonl", [{"question_id": "DTScene/1", "prediction": "x"}])
    with pytest.raises(DataError, match=r"annotations are missing.*DTScene\.json.*dtvqa data"):
        read_runs(path)


@pytest.mark.parametrize("split", ["test", "val"])
def test_the_released_questions(tmp_path: Path, shared_dir: Path, split: str) -> None:
    home = shared_dir / "hub" / "DT-VQA"
    known = records(split, home=home)
    path = plain_run(tmp_path / "r.jsonl", chosen=known)
    run = read_run(path, References(home))
    assert (run.split, len(run.answers), run.missing) == (split, len(known), ())
    assert run.values.min() == 1.0
    assert str(run.signature()).startswith(f"DTVQA|v:0.1.0|split:{split}|")
    if split == "test":
        assert run.subsets == ("DTScene", "DTNutrCap", "DTProdCap", "DTTabShot")
