"""Whole runs of the host as a user starts them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vlmeval")

from loopback import LoopbackOpenAI, text_of
from released_layout import SIZES, answers_of
from vlm_host import (
    HostRun,
    command,
    environment,
    prediction_file,
    results,
    wait_for,
    write_config,
)

from dtvqa_plugin.benchmark.prompts import PAPER_INSTRUCTION
from dtvqa_plugin.data import records
from dtvqa_plugin.hosts.task_configs import task_configs_dir
from dtvqa_plugin.hosts.vlmevalkit.host import need_host

HOST = need_host()
MODELS = (sys.executable, str(Path(__file__).with_name("host_models.py")))
DTVQA = (str(Path(sys.executable).with_name("dtvqa")),)
QUESTIONS = sum(SIZES.values())
QUESTION = re.compile(r"What does label (\d+) of (\w+) say\?")
SPECIAL = {1: "N/A", 3: "  None "}


def reply(request: dict[str, Any]) -> str:
    """Right for most labels; for some a word that file formats take for nothing; once an error."""
    found = QUESTION.search(text_of(request))
    assert found is not None
    number, subset = int(found[1]), found[2]
    if (number, subset) == (4, "DTScene"):
        raise RuntimeError("this server fails now and then")
    answer = answers_of(subset, number)[0]
    thoughts = "<think>Word1 or Word3?</think> " if number == 2 else ""
    return SPECIAL.get(number, thoughts + answer)


@pytest.fixture
def server() -> Iterator[LoopbackOpenAI]:
    with LoopbackOpenAI(reply) as running:
        yield running


def check_scores(summary: dict[str, Any], subsets: list[str]) -> None:
    """Labels 0 and 2 are right; 1 and 3 are not; label 4 of DTScene failed."""
    right = {name: len({0, 2} & set(range(SIZES[name]))) for name in subsets}
    for name in subsets:
        row = summary["scores"][name]
        assert row["n"] == SIZES[name]
        assert row["failed"] == (name == "DTScene")
        assert row["AccANLS"] == right[name] / SIZES[name] * 100
    overall = summary["scores"]["Overall"]
    total = sum(SIZES[name] for name in subsets)
    assert overall["n"] == total
    assert overall["AccANLS"] == sum(right.values()) / total * 100


def test_data_option_then_a_rerun(
    server: LoopbackOpenAI, small_release: Path, tmp_path: Path
) -> None:
    arguments = ["--data", "DTVQA", "DTVQA_DTScene", "--model", "loopback", "--work-dir", "out"]
    extra = {"LOOPBACK_URL": server.url}
    run = command(arguments, tmp_path, small_release, start=MODELS, extra=extra)
    assert run.status == 0, run.output
    asked = QUESTIONS + SIZES["DTScene"]
    assert server.count >= asked
    for dataset, subsets in (("DTVQA", list(SIZES)), ("DTVQA_DTScene", ["DTScene"])):
        summary, questions = results(tmp_path / "out", "loopback", dataset)
        check_scores(summary, subsets)
        raw = {question["question_id"]: question["raw_prediction"] for question in questions}
        assert raw["DTScene/1"] == "N/A"
        assert raw["DTScene/3"] == "None"  # the host's API class strips white space
        assert raw["DTScene/2"].startswith("<think>")
        assert summary["host"] == HOST.identity
        path = prediction_file(tmp_path / "out", "loopback", dataset)
        assert path.suffix == (".tsv" if HOST.honours_pred_format else ".xlsx")
    assert re.search(r"Overall +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d +14 +1\b", run.output)
    if HOST.honours_pred_format:  # the distribution with a run report
        assert re.search(r"DTVQA +7\.14% \(1/14\) +- +Subset=Overall\|AccANLS", run.output)

    before, first = server.count, results(tmp_path / "out", "loopback", "DTVQA")
    run = command([*arguments, "--reuse"], tmp_path, small_release, start=MODELS, extra=extra)
    assert run.status == 0, run.output
    again = server.requests[before:]
    assert {text_of(request) for request in again} == {"What does label 4 of DTScene say?"}
    assert results(tmp_path / "out", "loopback", "DTVQA")[1] == first[1]


def test_shipped_config_through_the_command(
    server: LoopbackOpenAI, small_release: Path, tmp_path: Path
) -> None:
    shipped = (task_configs_dir("vlmevalkit") / "dtvqa.json").read_text(encoding="utf-8")
    config = json.loads(shipped.replace("http://127.0.0.1:8000/v1", server.url))
    config["model"]["local-server"].update(retry=2, wait=1)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    arguments = ["vlmeval", "--config", str(path), "--work-dir", "out"]
    run = command(arguments, tmp_path, small_release, start=DTVQA)
    assert run.status == 0, run.output
    texts = {text_of(request) for request in server.requests}
    assert len(texts) == 2 * QUESTIONS
    assert sum(text.startswith(PAPER_INSTRUCTION) for text in texts) == QUESTIONS
    for dataset, prompt in (("DTVQA", "none"), ("DTVQA_PROMPTED", "paper")):
        summary, questions = results(tmp_path / "out", "local-server", dataset)
        check_scores(summary, list(SIZES))
        assert summary["condition"] == prompt
        assert {question["condition"] for question in questions} == {prompt}

    path = prediction_file(tmp_path / "out", "local-server", "DTVQA")
    for name in path.parent.glob("*DTVQA_*s*.json*"):
        name.unlink()
    if shutil.which("dtvqa", path=str(Path(sys.executable).parent)):
        run = command(["vlmutil", "eval", path.name], path.parent, small_release, start=DTVQA)
        assert run.status == 0, run.output
        check_scores(results(path.parent, "local-server", "DTVQA")[0], list(SIZES))


def test_api_mode_says_that_the_prompt_is_not_enforced(
    server: LoopbackOpenAI, small_release: Path, tmp_path: Path
) -> None:
    if not (HOST.package / "inference_api.py").is_file():
        pytest.skip(f"{HOST.distribution} {HOST.version} has no --api-mode")
    arguments = ["--data", "DTVQA_PROMPTED", "--model", "loopback", "--base-url", server.url]
    arguments += ["--api-mode", "--retry", "1", "--work-dir", "out", "--monitor-interval", "1"]
    run = command(arguments, tmp_path, small_release)
    assert run.status == 0, run.output
    assert "--api-mode does not ask the dataset for its prompt first" in run.output
    summary, questions = results(tmp_path / "out", "loopback", "DTVQA_PROMPTED")
    check_scores(summary, list(SIZES))
    assert summary["prompt_enforced"] is False
    assert summary["prompt_note"].startswith("--api-mode")
    assert {q["question_id"]: q["raw_prediction"] for q in questions}["DTScene/1"] == "N/A"
    assert all(text_of(request).startswith(PAPER_INSTRUCTION) for request in server.requests)


def killed_half_way(
    start: list[str], folder: Path, home: Path, extra: dict[str, str], half: Callable[[], bool]
) -> None:
    """Start a run and kill -9 its whole process group once ``half()`` holds."""
    with (folder / "killed.log").open("wb") as log:
        process = subprocess.Popen(
            start,
            cwd=folder,
            env=environment(home, extra),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            wait_for(half)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_killed_run_resumes(small_release: Path, tmp_path: Path) -> None:
    def slow(request: dict[str, Any]) -> str:
        time.sleep(0.3)
        return "Word0"

    with LoopbackOpenAI(slow) as server:
        extra = {"LOOPBACK_URL": server.url}
        arguments = ["--data", "DTVQA", "--model", "loopback", "--work-dir", "out"]
        arguments += ["--api-nproc", "1", "--reuse"]
        start = [*MODELS, *arguments]
        killed_half_way(start, tmp_path, small_release, extra, lambda: server.count > 6)
        asked = server.count
        assert asked < QUESTIONS
        (record,) = (tmp_path / "out").rglob("*_asked.json")
        assert json.loads(record.read_text(encoding="utf-8"))["answers"] is None
        run = command(arguments, tmp_path, small_release, start=MODELS, extra=extra)
        assert run.status == 0, run.output
        # The host keeps answers as they come; the one under way and the last ones may be lost.
        assert server.count <= QUESTIONS + 4
    summary, questions = results(tmp_path / "out", "loopback", "DTVQA")
    assert summary["scores"]["Overall"]["n"] == len(questions) == QUESTIONS
    assert {question["raw_prediction"] for question in questions} == {"Word0"}
    answers = summary["answers"]
    assert answers["reused"] >= 1
    assert answers["reused"] + answers["asked"] == QUESTIONS
    assert answers["record"] == "agrees"


def tiny_run(
    arguments: list[str], start: list[str], model: Path, folder: Path, home: Path
) -> tuple[HostRun, list[dict[str, Any]]]:
    extra = {"TINY_MODEL": str(model), "TINY_LOG": str(folder / "asked.jsonl")}
    run = command(
        ["--model", "tiny", "--work-dir", "out", *arguments],
        folder,
        home,
        start=start,
        extra=extra,
    )
    lines = (folder / "asked.jsonl").read_text(encoding="utf-8").splitlines()
    return run, [json.loads(line) for line in lines]


def test_tiny_weights_in_one_process_and_in_two(
    tiny_qwen2_5_vl: Path, small_release: Path, tmp_path: Path
) -> None:
    predictions = {}
    launchers = {
        1: list(MODELS),
        2: [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", MODELS[1]],
    }
    for ranks, start in launchers.items():
        folder = tmp_path / str(ranks)
        folder.mkdir()
        names = ["DTVQA_PROMPTED"] if ranks == 2 else ["DTVQA_PROMPTED", "DTVQA_NATIVE"]
        arguments = ["--reuse", "--data", *names]
        run, asked = tiny_run(arguments, start, tiny_qwen2_5_vl, folder, small_release)
        assert run.status == 0, run.output
        ours = [item for item in asked if item["dataset"] == "DTVQA_PROMPTED"]
        assert len(ours) == QUESTIONS
        assert {item["rank"] for item in ours} == set(range(ranks))
        for item in ours:
            image, text = item["message"]
            assert (image["type"], text["type"]) == ("image", "text")
            assert re.fullmatch(re.escape(PAPER_INSTRUCTION) + QUESTION.pattern, text["value"])
        for item in asked:
            if item["dataset"] == "DTVQA_NATIVE":
                assert item["message"][-1]["value"].endswith("short words or phrases if possible.")
        summary, questions = results(folder / "out", "tiny", "DTVQA_PROMPTED")
        assert summary["scores"]["Overall"]["n"] == QUESTIONS
        assert summary["prompt_enforced"] is HOST.honours_dataset_prompt
        predictions[ranks] = [question["raw_prediction"] for question in questions]
        assert len(set(predictions[ranks])) > QUESTIONS // 3, "a model that answers"
        leftovers = [path.name for path in (folder / "out").rglob("*.pkl")]
        assert [name for name in leftovers if not name.endswith("_PREV.pkl")] == []
        (record,) = real_files(folder / "out", "tiny_DTVQA_PROMPTED_asked.json")
        content = json.loads(record.read_text(encoding="utf-8"))
        assert len(content["runs"]) == 1
        assert len(content["questions"]) == QUESTIONS
    assert predictions[1] == predictions[2]

    other = tmp_path / "other weights"
    shutil.copytree(tiny_qwen2_5_vl, other)
    (other / "chat_template.jinja").write_text("", encoding="utf-8")
    run, asked = tiny_run(arguments, start, other, folder, small_release)
    assert run.status != 0
    assert run.output.count("these answers (run of ") == 1, run.output
    assert "weights model_path: " in run.output
    assert len(asked) == QUESTIONS, "no rank asked a question again"


def real_files(folder: Path, name: str) -> list[Path]:
    """Files of that name, links left out."""
    return [path for path in folder.rglob(name) if not path.is_symlink()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out like a git checkout: ``run.py`` beside the package, not in it."""
    folder = tmp_path_factory.mktemp("checkout")
    package = folder / "vlmeval"
    package.mkdir()
    for path in HOST.package.iterdir():
        if path.name not in ("run.py", "dataset", "__pycache__"):
            (package / path.name).symlink_to(path)
    (package / "dataset").mkdir()
    for path in (HOST.package / "dataset").iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            (package / "dataset" / path.name).symlink_to(path)
    shutil.copy(HOST.package / "dataset" / "__init__.py", package / "dataset")
    scripts = [place / "run.py" for place in (HOST.package, HOST.package.parent)]
    shutil.copy(next(script for script in scripts if script.is_file()), folder)
    return folder


def test_checkout_named_by_its_run_script(
    checkout: Path, server: LoopbackOpenAI, small_release: Path, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "config.json", server, "DTVQA_DTProdCap")
    arguments = ["--run-py", str(checkout / "run.py"), "--config", str(config)]
    run = command([*arguments, "--work-dir", "out"], tmp_path, small_release)
    assert run.status == 0, run.output
    summary, _ = results(tmp_path / "out", "loopback", "DTVQA_DTProdCap")
    check_scores(summary, ["DTProdCap"])


FOUND = "from dtvqa_plugin.hosts.vlmevalkit.launcher import _run_script as s; print('at', s(None))"


@pytest.mark.parametrize("where", ["installed", "current folder"])
def test_run_script_of_a_checkout_is_found(where: str, checkout: Path, tmp_path: Path) -> None:
    folder = checkout if where == "current folder" else tmp_path
    extra = {"PYTHONPATH": str(checkout)} if where == "installed" else {}
    run = command([], folder, tmp_path, start=[sys.executable, "-c", FOUND], extra=extra)
    assert f"at {checkout / 'run.py'}" in run.output, run.output


def test_installed_package_without_run_script_asks_for_it(
    checkout: Path, small_release: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(checkout / "vlmeval", alone / "vlmeval", symlinks=True)
    run = command(["--data", "DTVQA"], tmp_path, small_release, extra={"PYTHONPATH": str(alone)})
    assert run.status == 1
    assert run.output.count("error:") == 1
    assert "--run-py PATH" in run.output


def test_vlmutil_scores_a_file_by_its_bare_name(small_release: Path, tmp_path: Path) -> None:
    """The host's tool hands ``evaluate`` the name as it was typed."""
    lines = [f"{record.question_id}\t{record.answers[0]}\n" for record in records("mini")]
    path = tmp_path / "a model_DTVQA_MINI.tsv"
    path.write_text("index\tprediction\n" + "".join(lines), encoding="utf-8")
    run = command(["vlmutil", "eval", path.name], tmp_path, small_release, start=DTVQA)
    assert run.status == 0, run.output
    assert "Summary: a model_DTVQA_MINI_summary.json" in run.output
    summary = json.loads((tmp_path / "a model_DTVQA_MINI_summary.json").read_text("utf-8"))
    assert summary["model"] == "a model"
    assert summary["scores"]["Overall"]["Acc"] == 100.0


def enabled(action: str, checkout: Path, home: Path) -> HostRun:
    extra = {"PYTHONPATH": str(checkout)}
    return command([f"vlmeval-{action}"], home, home, start=DTVQA, extra=extra)


def test_enable_plain_run_and_disable(
    checkout: Path, server: LoopbackOpenAI, small_release: Path, tmp_path: Path
) -> None:
    module = checkout / "vlmeval" / "dataset" / "__init__.py"
    original = module.read_bytes()
    first = enabled("enable", checkout, small_release)
    assert first.status == 0, first.output
    assert "+    _dtvqa_register()" in first.output
    changed = module.read_bytes()
    assert changed.startswith(original)
    second = enabled("enable", checkout, small_release)
    assert "nothing to do" in second.output
    assert module.read_bytes() == changed

    config = write_config(tmp_path / "config.json", server, "DTVQA_DTProdCap")
    plain = [sys.executable, str(checkout / "run.py")]
    arguments = ["--config", str(config), "--work-dir", str(tmp_path / "out")]
    run = command(arguments, tmp_path, small_release, start=plain)
    assert run.status == 0, run.output
    check_scores(results(tmp_path / "out", "loopback", "DTVQA_DTProdCap")[0], ["DTProdCap"])
    asked = server.count
    write_config(tmp_path / "config.json", server, "DTVQA_DTProdCap", max_tokens=4096)
    run = command([*arguments, "--reuse"], tmp_path, small_release, start=plain)
    assert run.status == 1, run.output
    assert "max_tokens: 100 -> 4096" in run.output
    assert server.count == asked

    broken = tmp_path / "broken" / "dtvqa_plugin"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise RuntimeError('out of order')", encoding="utf-8")
    listing = [sys.executable, "-c", "import vlmeval.dataset as d; print(len(d.DATASET_CLASSES))"]
    path = os.pathsep.join([str(checkout), str(broken.parent)])
    run = command([], tmp_path, small_release, start=listing, extra={"PYTHONPATH": path})
    assert run.status == 0, run.output
    assert run.output.count("DT-VQA is not available: RuntimeError: out of order") == 1

    last = enabled("disable", checkout, small_release)
    assert "original bytes again" in last.output
    assert module.read_bytes() == original
    assert "nothing to do" in enabled("disable", checkout, small_release).output
    assert sorted(p.name for p in module.parent.glob(".*")) == []
