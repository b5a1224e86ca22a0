"""What others read: rows a question, Hugging Face results, model-index, Every Eval Ever, W&B."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import pandas
import pytest
import yaml
from click.testing import CliRunner, Result
from huggingface_hub.repocard_data import model_index_to_eval_results
from pyarrow import parquet
from report_runs import SAMPLE, first_answer, plain_run, write_lines

from dtvqa_plugin.analysis.failures.outcomes import OUTCOMES
from dtvqa_plugin.cli import cli
from dtvqa_plugin.data import Record, records
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.predictions.rows import escaped, unescaped
from dtvqa_plugin.report import (
    References,
    Run,
    RunError,
    questions_frame,
    read_run,
    read_runs,
)
from dtvqa_plugin.report.questions import COLUMNS

AWKWARD = (
    *("=1+2", "-5%", "+3", "@x", "＝1", "'=1", "''-2", "'quoted'", "a\n=b", "\r\n", "x\r\ny"),
    *('a "b", c', "007", "N/A", "null", "1e5", "nul\0l", "тест 模型 😀", "x" * 5_000, "tab\tx"),
)


def output(record: Record) -> str | None:
    """Right, awkward, none."""
    place = SAMPLE.index(record)
    return (first_answer(record), AWKWARD[place // 3 % len(AWKWARD)], None)[place % 3]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plain_run(tmp_path_factory.mktemp("publish") / "run.jsonl", output)


def publish(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["publish", *map(str, arguments), "--resamples", "100"])


def texts(run: Run) -> list[tuple[str, str, float, float, float]]:
    return [(a.question_id, a.text, a.anls, a.acc, a.accanls) for a in run.answers]


@pytest.mark.parametrize("text", [*AWKWARD, "", "'", "''", " =x", "'plain", "\t=x"])
def test_marking_a_formula_can_be_undone(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert escaped(text).lstrip()[:1] not in ("=", "+", "-", "@", "＝")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_questions_are_read_back_with_the_same_scores(
    tmp_path: Path, awkward: Path, suffix: str
) -> None:
    path = tmp_path / f"run.{suffix}"
    done = publish(awkward, "-o", path)
    assert done.exit_code == 0, done.output
    run = read_run(path)
    whole = read_run(awkward)
    assert texts(run) == texts(whole)
    assert not run.faults.differences
    frame = (
        pandas.read_csv(path, keep_default_na=False)
        if suffix == "csv"
        else parquet.read_table(path).to_pandas()
    )
    assert tuple(frame.columns) == COLUMNS
    assert set(frame["outcome"]) <= set(OUTCOMES)
    assert (frame["outcome"] == "failed").sum() == whole.failed
    lengths = frame["prediction"].fillna("").map(len).max()
    assert lengths == 5_000, "outputs are whole, not cut"
    if suffix == "parquet":
        assert frame["prediction"].isna().sum() == whole.failed


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_several_runs_in_one_file_are_read_back_as_the_runs_that_they_are(
    tmp_path: Path, suffix: str
) -> None:
    names = {("m", "none"): 1, ("m", "paper"): 2, ("=SUM(1)", "none"): 1, ('模型, "b"', "none"): 3}
    paths = [
        write_lines(
            tmp_path / f"{place}.jsonl",
            (
                {
                    "question_id": r.question_id,
                    "prediction": output(r) if (place + n) % 2 else f"{place} {n}",
                    "repeat": n,
                    "model": model,
                    "condition": condition,
                }
                for n in range(1, repeats + 1)
                for r in SAMPLE
            ),
        )
        for place, ((model, condition), repeats) in enumerate(names.items())
    ]
    together = tmp_path / f"questions.{suffix}"
    assert publish(*paths, "-o", together).exit_code == 0
    found = {(run.name, run.condition): run for run in read_runs(together)}
    assert found.keys() == names.keys()
    for path in paths:
        whole = read_run(path)
        run = found[whole.name, whole.condition]
        assert texts(run) == texts(whole)
        assert (len(run.repeats), run.missing) == (len(whole.repeats), ())
        assert not run.faults.differences
        assert not run.faults.doubled
    done = CliRunner().invoke(cli, ["score", str(together), "--resamples", "100"])
    assert done.exit_code == 0, done.output
    with pytest.raises(RunError, match="holds 4 runs; write the one to a file of its own"):
        read_run(together)


def test_files_of_others_with_two_models_are_still_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    lines = [f"{SAMPLE[n].question_id},x,m{n},none" for n in (0, 1)]
    path.write_text("\n".join(["question_id,prediction,model,condition", *lines]) + "\n")
    with pytest.raises(RunError, match="mixes several values of model"):
        read_run(path)


def test_a_row_holds_what_its_columns_say(awkward: Path) -> None:
    frame = questions_frame([read_run(awkward)])
    first = dict(frame.iloc[0])
    record = SAMPLE[0]
    assert first == {
        "model": "run",
        "condition": "unknown",
        "split": "mini",
        "repeat": 1,
        "question_id": record.question_id,
        "subset": record.subset,
        "question": record.question,
        "prediction": first_answer(record),
        "anls": 1.0,
        "acc": 1.0,
        "accanls": 1.0,
        "outcome": "right",
    }
    assert len(frame) == len(SAMPLE)


def test_each_repeat_is_a_row(tmp_path: Path) -> None:
    rows = [{"question_id": r.question_id, "prediction": ["a", "b"]} for r in SAMPLE]
    path = write_lines(tmp_path / "run.jsonl", rows)
    assert publish(path, "-o", tmp_path / "rows.csv").exit_code == 0
    assert len(read_run(tmp_path / "rows.csv").repeats) == 2


def test_published_rows_beside_the_predictions_are_not_a_second_run(tmp_path: Path) -> None:
    path = plain_run(tmp_path / "run.jsonl")
    publish(path, "-o", tmp_path / "rows.csv")
    assert read_run(tmp_path).paths == (path,)


def test_half_a_character_pair_is_replaced_and_counted(tmp_path: Path) -> None:
    rows = [{"question_id": r.question_id, "prediction": "x\ud83d"} for r in SAMPLE[:2]]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = publish(path, "-o", tmp_path / "rows.parquet")
    assert "2 rows held half of a character pair" in done.output
    assert read_run(tmp_path / "rows.parquet").answers[0].text == "x\ufffd"


def test_csv_is_valid_for_the_standard_reader(tmp_path: Path, awkward: Path) -> None:
    path = tmp_path / "rows.csv"
    publish(awkward, "-o", path)
    with path.open(encoding="utf-8", newline="") as handle:
        # Through a stand-in: the csv reader of Python 3.10 refuses NUL.
        rows = list(csv.DictReader(line.replace("\0", "\ue000") for line in handle))
    found = [unescaped(row["prediction"]).replace("\ue000", "\0") for row in rows]
    assert found == [answer.text for answer in read_run(awkward, text_kept=sys.maxsize).answers]


# --- results of the whole benchmark -----------------------------------------------------------


@pytest.fixture
def paper_run(tmp_path: Path, shared_dir: Path) -> tuple[Path, Path]:
    """Two conditions over the 1,200 questions, and the folder of the release."""
    home = shared_dir / "hub" / "DT-VQA"
    questions = records("test", home=home)
    for condition, right in (("none", 3), ("paper", 2)):
        rows = [
            {
                "question_id": record.question_id,
                "prediction": record.answers[0] if place % right == 0 else "zzzzzz",
                "model": "Lab/model",
                "condition": condition,
            }
            for place, record in enumerate(questions)
        ]
        write_lines(tmp_path / "runs" / f"{condition}.jsonl", rows)
    return tmp_path / "runs", home


def test_hugging_face_results_hold_one_entry_a_condition(
    tmp_path: Path, paper_run: tuple[Path, Path]
) -> None:
    runs, home = paper_run
    done = publish(runs, "--data", home, "--as", "eval-results", "-o", tmp_path)
    assert done.exit_code == 0, done.output
    text = (tmp_path / ".eval_results" / "dtvqa.yaml").read_text(encoding="utf-8")
    entries = huggingface_hub.parse_eval_result_entries(yaml.safe_load(text))
    assert [(e.dataset_id, e.task_id) for e in entries] == [
        ("shuozhang2/DT-VQA", "dtvqa"),
        ("shuozhang2/DT-VQA", "dtvqa_prompted"),
    ]
    for entry, condition in zip(entries, ("none", "paper"), strict=True):
        run = read_run(runs / f"{condition}.jsonl", References(home))
        assert entry.value == pytest.approx(100 * run.values[:, 2].mean(), abs=0.005)
        assert str(run.signature()) in entry.notes


def test_model_index_is_read_back_by_huggingface_hub(
    tmp_path: Path, paper_run: tuple[Path, Path]
) -> None:
    runs, home = paper_run
    path = tmp_path / "index.yaml"
    assert publish(runs, "--data", home, "--as", "model-index", "-o", path).exit_code == 0
    index = yaml.safe_load(path.read_text(encoding="utf-8"))["model-index"]
    name, results = model_index_to_eval_results(index)
    assert name == "Lab/model"
    assert len(results) == 2 * 5 * 3
    assert {result.metric_name for result in results} == {"ANLS", "Acc", "AccANLS"}
    card = huggingface_hub.ModelCardData(model_name=name, eval_results=results)
    assert card.to_dict()["model-index"][0]["name"] == "Lab/model"


REQUIRED = {
    *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata"),
    *("model_info", "eval_library", "evaluation_results"),
}


def test_every_eval_ever_documents_are_valid(tmp_path: Path, paper_run: tuple[Path, Path]) -> None:
    """Validated by the package's own command where it is on the path (it needs Python 3.12)."""
    runs, home = paper_run
    arguments = ["--data", home, "--as", "every-eval-ever", "-o", tmp_path, "--organization", "Lab"]
    assert publish(runs, *arguments).exit_code == 0
    paths = sorted((tmp_path / "data" / "dtvqa" / "Lab" / "model").glob("*.json"))
    assert len(paths) == 2
    for path in paths:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document.keys() >= REQUIRED
        assert len(document["evaluation_results"]) == 5 * 3
    validator = shutil.which("every_eval_ever")
    if validator is None:
        pytest.skip("the command every_eval_ever is not installed; the rest was checked")
    done = subprocess.run(
        [validator, "validate", *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed, 0 warning-only, 0 failed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--as", "eval-results"], "name the dataset that they belong to with --dataset-id"),
        (["--as", "model-index"], "name the dataset that they belong to with --dataset-id"),
        (["--as", "eval-results", "--dataset-id", "a/b", "--tau", "0.3"], "scored with tau 0.3"),
    ],
)
def test_figures_are_not_published_under_the_benchmarks_name(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    path = plain_run(tmp_path / "run.jsonl")
    with pytest.raises(DTVQAError, match=said):
        CliRunner().invoke(
            cli,
            ["publish", str(path), "-o", str(tmp_path / "out"), *arguments],
            catch_exceptions=False,
        )
    assert not (tmp_path / "out").exists()


def test_a_partial_run_is_not_published(tmp_path: Path) -> None:
    path = plain_run(tmp_path / "run.jsonl", chosen=SAMPLE[:-1])
    done = publish(path, "--as", "eval-results", "--dataset-id", "a/b", "-o", tmp_path / "out")
    assert "answers only part of the questions" in str(done.exception)


@pytest.mark.parametrize("form", ["eval-results", "model-index"])
def test_two_runs_of_one_condition_are_refused(tmp_path: Path, form: str) -> None:
    paths = [plain_run(tmp_path / f"{name}.jsonl", model="m") for name in "ab"]
    done = publish(*paths, "--as", form, "--dataset-id", "a/b", "-o", tmp_path / "out")
    assert "two runs in condition 'unknown'" in str(done.exception)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["wandb", "trackio"])
def test_the_recipe_logs_a_run(tmp_path: Path, library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    recipe = Path(__file__).resolve().parents[2] / "docs" / "recipes" / "log_run.py"
    run = plain_run(tmp_path / "run.jsonl")
    done = subprocess.run(
        [sys.executable, str(recipe), str(run), "dtvqa", library],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "WANDB_MODE": "offline", "TRACKIO_DIR": str(tmp_path / "trackio")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    folder = tmp_path / ("wandb" if library == "wandb" else "trackio")
    assert any(file.is_file() and file.stat().st_size for file in folder.rglob("*"))
