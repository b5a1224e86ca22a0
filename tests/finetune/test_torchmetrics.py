"""The metric in training: the corpus scorer's values, also gathered from two processes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchmetrics", reason="needs the extra: pip install 'dtvqa-plugin[train]'")

import torch

from dtvqa_plugin.metrics import prepare, score_corpus
from dtvqa_plugin.torchmetrics import DTVQAScore, argmax_logits, make_compute_metrics

SUBSETS = ("DTScene", "DTNutrCap", "DTTabShot")
WORDS = ["1725 kJ", "Ribe HK", "£4.20", "İstanbul", "第一行", "a", "Pennywhistle Books"]


def corpus(seed: int, n: int) -> tuple[list[Any], list[list[str]], list[str]]:
    """Outputs right, near, wrong, wordy, failed and wrapped in reasoning."""
    draw = random.Random(seed)
    answers = [[w + str(i) for w in draw.sample(WORDS, draw.randint(1, 3))] for i in range(n)]
    outputs: list[Any] = []
    for references in answers:
        text = draw.choice(references)
        at = draw.randrange(len(text))
        outputs.append(
            draw.choice(
                [
                    text,
                    f"It is {text}.",
                    text[:at] + "~" + text[at + 1 :],
                    text[: at + 1],
                    "no",
                    "",
                    None,
                    f"<think>hm</think> {text.upper()} ",
                ]
            )
        )
    return outputs, answers, [draw.choice(SUBSETS) for _ in range(n)]


def expected(outputs: list[Any], answers: list[list[str]], subsets: list[str]) -> dict[str, float]:
    scores = score_corpus([prepare(o) for o in outputs], answers, subsets)
    parts = {"": scores.overall, **{f"{k}/": v for k, v in scores.by_subset.items()}}
    keys = ("accanls", "anls", "acc", "n", "failed")
    return {f"{p}{key}": getattr(part, key) for p, part in parts.items() for key in keys}


def plain(values: dict[str, Any]) -> dict[str, float]:
    return {key: value.item() for key, value in values.items()}


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_corpus_scorer_to_the_last_bit(seed: int) -> None:
    outputs, answers, subsets = corpus(seed, 157)
    metric = DTVQAScore()
    for start in range(0, 157, 10):
        part = slice(start, start + 10)
        metric.update(outputs[part], answers[part], subsets[part])
    assert plain(metric.compute()) == expected(outputs, answers, subsets)
    assert all(v.dtype == torch.float64 for k, v in metric.compute().items() if "anls" in k)


def test_indices_restore_the_order_and_drop_repetitions() -> None:
    outputs, answers, subsets = corpus(9, 50)
    metric = DTVQAScore()
    order = random.Random(0).sample(range(50), 50)
    for i in (*order, 3, 3, 17):
        metric.update([outputs[i]], [answers[i]], [subsets[i]], torch.tensor([i]))
    assert plain(metric.compute()) == expected(outputs, answers, subsets)


def test_reset_forward_and_state_between_epochs() -> None:
    metric = DTVQAScore()
    batch = metric(["Ribe"], [["Ribe"]], ["DTScene"])
    assert plain(batch)["DTScene/acc"] == 1.0
    metric(["no"], [["Ribe"]], ["DTScene"])
    assert plain(metric.compute())["acc"] == 0.5
    metric.reset()
    with pytest.raises(ValueError, match="no questions"):
        metric.aggregates()
    metric.update(["no"], [["Ribe"]])
    assert plain(metric.compute()) == {"accanls": 0, "anls": 0, "acc": 0, "n": 1, "failed": 0}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"subsets": ["DTMenu"]}, "no subset 'DTMenu'"),
    ({"indices": [-2]}, "index -2 is below 0"),
    ({"indices": [0, 1]}, "1 preds, 1 target, 1 subsets and 2 indices"),
    ({"target": [[]]}, "answers"),
    ({"target": ["Ribe"]}, "answers"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_wrong_arguments_are_one_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DTVQAScore().update(**{"preds": ["x"], "target": [["x"]], **arguments})


def test_tau_is_checked_and_used() -> None:
    with pytest.raises(ValueError, match="tau"):
        DTVQAScore(tau=0.0)
    strict, lax = DTVQAScore(tau=0.1), DTVQAScore(tau=0.5)
    for metric in (strict, lax):
        metric.update(["Rib~"], [["Ribe"]])
    assert strict.compute()["anls"] == 0.0
    assert lax.compute()["anls"] == 0.75


RANK = """
import json, os, sys
import torch.distributed as dist
sys.path.insert(0, sys.argv[1])
from test_torchmetrics import corpus, plain
from dtvqa_plugin.torchmetrics import DTVQAScore

rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
outputs, answers, subsets = corpus(5, 101)
places = list(range(101))
shares = {
    "sampler": [*places, 0][rank::2],  # as DistributedSampler: the first again to fill up
    "no indices": places[:7] if rank else places[7:],
    "one is empty": [] if rank else places,
}
found = {}
for mode, mine in shares.items():
    metric = DTVQAScore()
    for start in range(0, len(mine), 8):
        part = mine[start : start + 8]
        metric.update(
            [outputs[i] for i in part], [answers[i] for i in part], [subsets[i] for i in part],
            part if mode != "no indices" else None,
        )
    values = plain(metric.compute())
    found[mode] = [values, metric.aggregates()["overall"].n if mine else 0, len(mine)]
print(json.dumps(found))
dist.destroy_process_group()
"""


def test_two_gloo_processes(tmp_path: Path) -> None:
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(Path(__file__).parent), str(tmp_path / "store")],
            env={**os.environ, "RANK": str(rank), "CUDA_VISIBLE_DEVICES": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    outs = [process.communicate(timeout=240) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], outs
    one, other = (json.loads(out.splitlines()[-1]) for out, _ in outs)
    want = expected(*corpus(5, 101))
    for mode in ("sampler", "no indices", "one is empty"):
        (first, alone_0, mine_0), (second, alone_1, mine_1) = one[mode], other[mode]
        assert first == second, mode
        assert (alone_0, alone_1) == (mine_0, mine_1), mode  # each has its own state back
        if mode == "no indices":  # rank order, so only counts and Acc are bit-equal
            assert {k: v for k, v in first.items() if "anls" not in k} == {
                k: v for k, v in want.items() if "anls" not in k
            }
            assert first == pytest.approx(want, abs=1e-14, rel=0)
        else:
            assert first == want, mode


# --- the helper for Trainer and TRL ----------------------------------------------------------


class Bytes:
    """A tokenizer of bytes; ids from 256 are special."""

    def batch_decode(self, ids: list[list[int]], skip_special_tokens: bool) -> list[str]:
        assert skip_special_tokens
        return [bytes(i for i in row if i < 256).decode("utf-8", "replace") for row in ids]


def labelled(*parts: tuple[str, bool]) -> list[int]:
    """Label ids of a text whose parts count (True) or are masked (False)."""
    return [i if keep else -100 for text, keep in parts for i in text.encode()]


def shifted(text: str) -> list[int]:
    """Ids predicted under teacher forcing for ``text``: each stands one place earlier."""
    return [*text.encode()[1:], 256]


def test_teacher_forced_answers_of_several_turns() -> None:
    labels = [
        labelled(("Q: ", False), ("Ribe", True), (" R: ", False), ("4.20", True)),
        labelled(("Question ", False), ("Pennywhistle", True), ("..", False)),
    ]
    texts = ["Q: Ribe R: 4.29", "Question no match he.."]
    assert len(shifted(texts[0])) == len(labels[0])
    width = max(map(len, labels))
    ids = np.array([(shifted(t) + [256] * width)[:width] for t in texts])
    padded = np.array([(row + [-100] * width)[:width] for row in labels])
    compute = make_compute_metrics(Bytes(), subsets=["DTScene", "DTTabShot", "DTScene"])
    found = compute(SimpleNamespace(predictions=ids, label_ids=padded))
    scores = score_corpus(
        ["Ribe", "4.29", "no match he.."[:12]],
        [["Ribe"], ["4.20"], ["Pennywhistle"]],
        ["DTScene", "DTTabShot", "DTScene"],
    )
    assert found["accanls"] == scores.overall.accanls
    assert found["DTTabShot_anls"] == 0.75
    assert found["DTScene_acc"] == 0.5
    logits = np.eye(257)[ids]
    as_logits = SimpleNamespace(predictions=(logits,), label_ids=padded)
    assert compute(as_logits) == found
    kept = argmax_logits((torch.from_numpy(logits), None), None)
    assert torch.equal(kept, torch.from_numpy(ids))


def test_generated_answers_against_all_references() -> None:
    texts = ["The answer is 4.20", "<think>x</think>Ribe HK"]
    width = max(map(len, texts))
    ids = np.array([[*t.encode(), *[-100] * width][:width] for t in texts])
    compute = make_compute_metrics(
        SimpleNamespace(tokenizer=Bytes()),
        answers=[["£4.20", "4.20"], ["ribe hk"]],
        generated=True,
    )
    found = compute(SimpleNamespace(predictions=ids, label_ids=None))
    assert found == {"accanls": 1.0, "anls": 0.5, "acc": 1.0}


def test_labels_without_text_are_an_error_not_a_score() -> None:
    compute = make_compute_metrics(Bytes())
    labels = np.array([[-100, 32, 32]])
    with pytest.raises(ValueError, match="answer 0 is blank"):
        compute(SimpleNamespace(predictions=np.array([[1, 2, 3]]), label_ids=labels))
