"""The host's own statistics: clustered standard error, ``--baseline``, ``--repeats``."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lmms_eval.api", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")

from lmms_host import ONLY_SIMPLE_OPENAI, CommandRun, command, evaluate
from loopback import LoopbackOpenAI, image_of, text_of
from PIL import Image
from released_layout import make_release

from dtvqa_plugin.hosts.lmms_eval.host_arguments import ENCODER
from dtvqa_plugin.hosts.lmms_eval.scores import HostRow, ImageScore
from dtvqa_plugin.metrics.names import HEADLINE_FIRST
from dtvqa_plugin.predictions.record import score_output

TASK = "dtvqa_scene"
IMAGES = (0, 0, 0, 1, 1)
"""The image of each of the five questions: two clusters."""


@pytest.fixture(scope="module")
def clustered_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose five scene questions share two images."""
    release = make_release(tmp_path_factory.mktemp("clustered") / "DT-VQA")
    path = release / "test/DTScene.json"
    rows = json.loads(path.read_text())
    for row, image in zip(rows, IMAGES, strict=True):
        row["image_path"] = f"./image/DTScene/test/{image}.png"
    path.write_text(json.dumps(rows))
    return release


@pytest.fixture
def clustered_home(clustered_release: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DTVQA_HOME", str(clustered_release))
    return clustered_release


def label(request: dict[str, Any]) -> int:
    return int(text_of(request).split("label ")[1].split()[0])


def openai(server: LoopbackOpenAI, *more: str) -> list[str]:
    model = f"model_version=loopback,base_url={server.url},api_key=none"
    flags = ["--force_simple"] if ONLY_SIMPLE_OPENAI else []
    return ["--model", "openai", "--model_args", model, "--tasks", TASK, *flags, *more]


def clustered_error(scores: list[float], clusters: tuple[int, ...]) -> float:
    """Sums of deviations by cluster, with the host's factor n / (n - 1) on the diagonal alone."""
    n, mean = len(scores), sum(scores) / len(scores)
    sums: defaultdict[int, float] = defaultdict(float)
    for score, cluster in zip(scores, clusters, strict=True):
        sums[cluster] += score - mean
    own = sum((score - mean) ** 2 for score in scores)
    across = sum(total**2 for total in sums.values()) - own
    return math.sqrt(own / (n - 1) / n + across / n**2)


def test_the_clustered_column_is_filled_and_rows_and_logs_stay_as_they_were(
    clustered_home: Path,
) -> None:
    outputs = ["Word0", "Word1", "Wor", "x", "y"]
    with LoopbackOpenAI(lambda request: outputs[label(request)]) as server:
        results = evaluate(server, ["dtvqa"], log_samples=True)
    row, samples = results["results"][TASK], results["samples"][TASK]
    for metric in HEADLINE_FIRST:
        scores = [sample[metric] for sample in samples]
        assert all(type(score) is float for score in scores)
        assert row[f"{metric},none"] == sum(scores) / 5
        expected = clustered_error(scores, IMAGES)
        assert row[f"{metric}_stderr_clustered,none"] == pytest.approx(expected, rel=1e-12)
        naive = math.sqrt(sum((s - sum(scores) / 5) ** 2 for s in scores) / 4 / 5)
        assert row[f"{metric}_stderr,none"] == pytest.approx(naive, rel=1e-12)
        assert row[f"{metric}_stderr_clt,none"] == pytest.approx(naive, rel=1e-12)
        assert math.isfinite(results["results"]["dtvqa"][f"{metric}_stderr,none"])
    assert row["accanls_stderr_clustered,none"] > 1.2 * row["accanls_stderr,none"]
    assert "dtvqa,none" not in row
    assert "score,none" not in row


@pytest.mark.parametrize("seed", range(5))
def test_the_hosts_mean_of_scores_with_images_is_that_of_floats_to_the_last_bit(seed: int) -> None:
    import random

    from lmms_eval.api.metrics import mean, mean_stderr

    rng = random.Random(seed)
    floats = [rng.random() for _ in range(1000)]
    scores = [ImageScore(value, f"{n % 7}") for n, value in enumerate(floats)]
    sent = pickle.loads(pickle.dumps(scores))  # noqa: S301  (ranks send their scores so)
    assert mean(scores) == mean(sent) == mean(floats)
    assert mean_stderr(scores) == mean_stderr(sent) == mean_stderr(floats)


def test_a_row_is_logged_as_numbers_and_averaged_with_its_image() -> None:
    record = score_output("DTScene/1", "DTScene", ["cat"], "a cat", "none")
    row = HostRow(record, "DTScene/test/1.png")
    logged: dict[str, Any] = {}
    logged.update(row)
    assert logged == {**record, "score": record["accanls"]}
    assert dict(row.items()) == {
        **{key: {"score": record[key], "image": "DTScene/test/1.png"} for key in HEADLINE_FIRST},
        "unanswered": None,
    }


@pytest.fixture(scope="module")
def first_server() -> Iterator[LoopbackOpenAI]:
    """Answers one question with null."""
    outputs: list[Any] = ["Word0", "Word1", "x", None, "Word~"]
    with LoopbackOpenAI(lambda request: outputs[label(request)]) as server:
        yield server


@pytest.fixture(scope="module")
def first_run(
    clustered_release: Path,
    first_server: LoopbackOpenAI,
    tmp_path_factory: pytest.TempPathFactory,
) -> CommandRun:
    """A run against it, with the variable for JPEG pictures set."""
    env = {"DTVQA_HOME": str(clustered_release), "LMMS_IMAGE_ENCODE_FORMAT": "jpeg"}
    return command(openai(first_server), tmp_path_factory.mktemp("first"), env)


def test_a_null_answer_is_recorded_as_empty(first_run: CommandRun) -> None:
    assert first_run.results, first_run.output
    assert [s["unanswered"] for s in first_run.samples[TASK]] == [None, None, None, "empty", None]
    assert first_run.samples[TASK][3]["dtvqa"]["prediction"] == ""
    assert first_run.results["results"][TASK]["unanswered,none"] == 1


def test_the_results_record_how_the_picture_was_sent(
    first_run: CommandRun, first_server: LoopbackOpenAI
) -> None:
    obeys = find_spec(ENCODER) is not None  # 0.6.0 and 0.6.1 do not
    sent = {Image.open(BytesIO(image_of(request))).format for request in first_server.requests}
    assert sent == {"JPEG" if obeys else "PNG"}
    metadata = first_run.results["configs"][TASK]["metadata"]
    set_so = {"encode_format": "JPEG", "encode_quality": "85"}
    assert metadata["image_path_to_model"] == (set_so if obeys else {})


def test_baseline_finds_our_scores_and_gives_the_difference_of_compare(
    first_run: CommandRun, clustered_release: Path, tmp_path: Path
) -> None:
    (baseline,) = first_run.folder.rglob(f"*_samples_{TASK}.jsonl")
    with LoopbackOpenAI(lambda request: f"Word{label(request)}") as server:
        env = {"DTVQA_HOME": str(clustered_release)}
        run = command(openai(server, "--baseline", str(baseline)), tmp_path / "second", env)
    row = run.results["results"][TASK]
    scores = [sample["accanls"] for sample in first_run.samples[TASK]]
    assert row["paired_baseline_score"] == pytest.approx(100 * sum(scores) / 5)
    difference = 100 * row["accanls,none"] - row["paired_baseline_score"]
    assert run.results["configs"][TASK]["metadata"]["image_path_to_model"] == {}
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from dtvqa_plugin.cli import main; main()", "compare"),
            *(str(baseline.parent), str(tmp_path / "second"), "--format", "json"),
        ],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert difference > 10
    (found,) = [
        part["difference"]["value"]
        for part in json.loads(done.stdout)["comparisons"][0]["differences"]
        if (part["part"], part["metric"]) == ("overall", "accanls")
    ]
    assert -100 * found == pytest.approx(difference)


def test_repeats_are_scored_one_by_one_and_averaged(clustered_home: Path) -> None:
    asked: defaultdict[int, int] = defaultdict(int)

    def reply(request: dict[str, Any]) -> str:
        number = label(request)
        asked[number] += 1
        return f"Word{number}" if asked[number] <= number else ""

    with LoopbackOpenAI(reply) as server:
        results = evaluate(server, [TASK], log_samples=True, repeats=4)
    samples = results["samples"][TASK]
    assert [sample["accanls"] for sample in samples] == [0, 0.25, 0.5, 0.75, 1.0]
    assert [sample["unanswered"] for sample in samples] == ["empty"] * 4 + [None]
    for number, sample in enumerate(samples):
        texts = sorted([f"Word{number}"] * number + [""] * (4 - number))
        assert [sorted(found) for found in sample["filtered_resps"]] == [texts]
        assert sorted(part["prediction"] for part in sample["dtvqa"]["repeats"]) == texts
    row = results["results"][TASK]
    assert row["accanls,none"] == 0.5
    scores = [sample["accanls"] for sample in samples]
    expected = clustered_error(scores, IMAGES)
    assert row["accanls_stderr_clustered,none"] == pytest.approx(expected)
