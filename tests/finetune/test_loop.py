"""Export, train, evaluate base and tuned, compare: the whole loop on real parts.

A test of plumbing: the model has random weights and is trained on the very questions that it is
then asked, which only a test may do. The rise says that every joint holds, and nothing else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval", reason="needs the extra: pip install 'dtvqa-plugin[lmms]'")
pytest.importorskip("torchmetrics", reason="needs the extra: pip install 'dtvqa-plugin[train]'")

from click.testing import CliRunner
from lmms_host import command
from tiny_training import MAX_PIXELS, MIN_PIXELS, Tuning, tune

from dtvqa_plugin.cli import cli

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tuning(tiny_qwen2_5_vl: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuning:
    folder = tmp_path_factory.mktemp("loop")
    arguments = ["export", "--to", "messages", "--split", "mini", "--turns", "one", "--seed", "0"]
    done = CliRunner().invoke(cli, [*arguments, "-o", str(folder / "set")])
    assert done.exit_code == 0, done.output
    return tune(tiny_qwen2_5_vl, folder / "set" / "train.jsonl", folder, steps=150, rate=3e-3)


def test_the_loss_plainly_falls_and_the_metric_in_training_rises(tuning: Tuning) -> None:
    assert tuning.losses[-1] < 0.05 * tuning.losses[0]
    for name in ("eval_accanls", "eval_anls", "eval_acc"):
        assert tuning.before[name] < 0.1
        assert tuning.after[name] > 0.9


def test_lmms_eval_and_compare_show_the_rise(
    tuning: Tuning, tiny_qwen2_5_vl: Path, tmp_path: Path
) -> None:
    for name, checkpoint in (("base", tiny_qwen2_5_vl), ("tuned", tuning.checkpoint)):
        model = f"pretrained={checkpoint},device=cpu,device_map=cpu"
        run = command(
            [
                *("--model", "qwen2_5_vl", "--tasks", "dtvqa_mini"),
                *("--model_args", f"{model},min_pixels={MIN_PIXELS},max_pixels={MAX_PIXELS}"),
                *("--batch_size", "16", "--gen_kwargs", "max_new_tokens=32"),
            ],
            tmp_path / name,
        )
        assert run.results, run.output
        assert len(run.samples["dtvqa_mini"]) == 64
    done = CliRunner().invoke(
        cli,
        ["compare", str(tmp_path / "base"), str(tmp_path / "tuned"), "--format", "json"],
    )
    assert done.exit_code == 0, done.output
    (comparison,) = json.loads(done.stdout)["comparisons"]
    (row,) = [
        row
        for row in comparison["differences"]
        if row["part"] == "overall" and row["metric"] == "accanls"
    ]
    assert row["a"] < 0.1 < 0.6 < row["b"]
    assert row["p_value"] < 0.001
