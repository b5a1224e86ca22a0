"""Other commands and circumstances of lmms-eval: where our tasks are known, several machines."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

from lmms_host import read_run
from reference_scorer import slow_score

from dtvqa_plugin.data import Record, records
from dtvqa_plugin.hosts.task_configs import task_configs_dir
from dtvqa_plugin.metrics import prepare

SCRIPT = Path(sys.executable).with_name("lmms-eval")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_folder_named_like_the_task_is_reported_before_the_host_finds_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "dtvqa_mini").mkdir()
    command = [sys.executable, "-m", "lmms_eval", "--model", "dtvqa_ocr", "--tasks", "dtvqa_mini"]
    done = subprocess.run(
        [*command, "--output_path", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    output = " ".join((done.stdout + done.stderr).split())
    assert f"takes --tasks dtvqa_mini for the folder {tmp_path / 'dtvqa_mini'}" in output
    assert "Start it from another directory." in output
    assert not list(tmp_path.rglob("*_results.json"))


def test_tasks_list_knows_our_tasks_with_the_flag_of_the_docs() -> None:
    folder = str(task_configs_dir("lmms_eval"))
    done = subprocess.run(
        [str(SCRIPT), "tasks", "list", "--include-path", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert {"dtvqa", "dtvqa_mini"} <= {line.strip() for line in done.stdout.splitlines()}


def test_the_server_lists_our_tasks_once_its_models_were_asked_for() -> None:
    pytest.importorskip("uvicorn", reason="needs the host's extra: pip install 'lmms-eval[server]'")
    port = free_port()
    code = (
        "import uvicorn; from lmms_eval.entrypoints.http_server import app;"
        f"uvicorn.run(app, host='127.0.0.1', port={port}, log_level='warning')"
    )
    server = subprocess.Popen([sys.executable, "-c", code])
    try:
        ask(server, port, "models")
        assert "dtvqa_mini" in ask(server, port, "tasks")
    finally:
        server.terminate()
        server.wait()


def ask(server: subprocess.Popen[bytes], port: int, what: str, seconds: float = 300) -> list[str]:
    """The list that the server gives; waits until it answers."""
    ends = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{what}", timeout=120) as answer:
                return list(json.loads(answer.read())[what])
        except ConnectionError:
            refused = "the server did not start"
        except OSError as error:
            refused = str(error)
        assert server.poll() is None, "the server ended"
        assert time.monotonic() < ends, refused
        time.sleep(0.5)


@pytest.mark.slow
def test_two_machines_with_a_store_each_give_one_right_table(
    small_release: Path, tmp_path: Path
) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra: pip install 'dtvqa-plugin[ocr]'")
    port = free_port()
    nodes = []
    for rank in (0, 1):
        node = tmp_path / f"node{rank}"
        shutil.copytree(small_release, node / "store", ignore=shutil.ignore_patterns("tables"))
        command = [
            *(sys.executable, "-m", "torch.distributed.run", "--nnodes", "2"),
            *("--nproc_per_node", "1", "--node_rank", str(rank)),
            *("--master_addr", "127.0.0.1", "--master_port", str(port)),
            *("-m", "lmms_eval", "--model", "dtvqa_ocr", "--model_args", "mode=dump,threads=1"),
            *("--tasks", "dtvqa_scene", "--output_path", "out", "--log_samples"),
        ]
        env = {
            **os.environ,
            "DTVQA_HOME": str(node / "store"),
            "XDG_CACHE_HOME": str(node / "cache"),
            "CUDA_VISIBLE_DEVICES": "",
        }
        log = (node / "log").open("w")
        nodes.append(
            subprocess.Popen(command, cwd=node, env=env, stdout=log, stderr=subprocess.STDOUT)
        )
    assert [node.wait(timeout=900) for node in nodes] == [0, 0]
    log = (tmp_path / "node0/log").read_text()
    results, samples = read_run(tmp_path / "node0")
    assert results, log
    assert not list((tmp_path / "node1").rglob("*_results.json"))
    assert "dtvqa-plugin: 2 processes share the questions" in log
    answers = {record.question_id: list(record.answers) for record in records_of(small_release)}
    logged = samples["dtvqa_scene"]
    assert [sample["dtvqa"]["question_id"] for sample in logged] == list(answers)
    means = []
    for sample in logged:
        raw = sample["filtered_resps"]
        slow = slow_score(prepare(raw).text, answers[sample["dtvqa"]["question_id"]])
        assert (sample["anls"], sample["acc"], sample["accanls"]) == slow
        means.append(slow[2])
    assert results["results"]["dtvqa_scene"]["accanls,none"] == sum(means) / len(means)


def records_of(release: Path) -> list[Record]:
    return list(records("test", "DTScene", home=release))
