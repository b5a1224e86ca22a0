"""Shards of one run, as array jobs leave them, are joined; files that are no shards are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from host_files import SAMPLE, lmms_run, right, vlmevalkit_run, write_lines

from dtvqa_plugin.cli import main
from dtvqa_plugin.data import Record
from dtvqa_plugin.runs import Run, RunError, join_runs, read_run

EIGHTH = [SAMPLE[place::8] for place in range(8)]


def plain(path: Path, chosen: Sequence[Record], **more: object) -> Path:
    rows = ({"question_id": r.question_id, "prediction": right(r), **more} for r in chosen)
    return write_lines(path, rows)


def lmms(folder: Path, number: int, chosen: Sequence[Record]) -> Path:
    return lmms_run(folder / f"job{number}", chosen=chosen, stamp=f"20261130_10000{number}")


def vlmevalkit(folder: Path, number: int, chosen: Sequence[Record]) -> Path:
    answers = {"total": len(chosen), "reused": number, "asked": len(chosen) - number}
    summary = {"answers": {**answers, "record": "agrees"}}
    return vlmevalkit_run(folder / f"job{number}", chosen=chosen, summary=summary)


def named(folder: Path, number: int, chosen: Sequence[Record]) -> Path:
    return plain(folder / f"{number}.jsonl", chosen, model="m", condition="none")


def nameless(folder: Path, number: int, chosen: Sequence[Record]) -> Path:
    return plain(folder / f"tuned-shard_{number}.jsonl", chosen)


WRITERS: dict[str, tuple[Callable[[Path, int, Sequence[Record]], Path], str]] = {
    "lmms-eval": (lmms, "qwen2_5_vl(Qwen/Qwen2.5-VL-7B-Instruct)"),
    "vlmevalkit": (vlmevalkit, "m"),
    "named": (named, "m"),
    "nameless": (nameless, "tuned-shard"),
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("as_folder", [False, True])
def test_eight_shards_are_one_whole_run(tmp_path: Path, kind: str, as_folder: bool) -> None:
    write, name = WRITERS[kind]
    paths = [write(tmp_path / "shards", i, chosen) for i, chosen in enumerate(EIGHTH)]
    whole: Run = read_run(write(tmp_path / "whole", 0, SAMPLE))
    (run,) = join_runs([tmp_path / "shards"] if as_folder else [*paths, paths[0]])
    assert run.name == name
    assert run.signature().model == name
    assert (run.answers, run.missing) == (whole.answers, ())
    assert run.paths == tuple(sorted(paths))
    fields = [str(found.signature()).split("|") for found in (run, whole)]
    differing = {a.partition(":")[0] for a, b in zip(*fields, strict=True) if a != b}
    assert differing <= {"model", "answers"}
    if kind == "vlmevalkit":
        assert "answers:reused=28,asked=36,record=agrees" in str(run.signature()).replace(
            "%3D", "="
        )


def test_shards_that_lack_questions_are_a_partial_run(tmp_path: Path) -> None:
    paths = [named(tmp_path, number, EIGHTH[number]) for number in (0, 1, 2)]
    (run,) = join_runs(paths)
    assert len(run.answers) + len(run.missing) == len(SAMPLE)
    assert len(run.answers) == 24


def test_models_and_conditions_are_joined_by_themselves(tmp_path: Path) -> None:
    halves = (SAMPLE[:32], SAMPLE[32:])
    for model in ("a", "b"):
        for condition in ("none", "paper"):
            for number, chosen in enumerate(halves):
                path = tmp_path / model / condition / f"{number}.jsonl"
                plain(path, chosen, model=model, condition=condition)
    runs = join_runs([tmp_path])
    assert sorted((run.name, run.condition, len(run.answers)) for run in runs) == [
        (model, condition, 64) for model in ("a", "b") for condition in ("none", "paper")
    ]


def overlapping(folder: Path) -> tuple[Path, Path]:
    return named(folder, 1, SAMPLE[:33]), named(folder, 2, SAMPLE[32:])


def other_pixels(folder: Path) -> tuple[Path, Path]:
    arguments = "pretrained=Q/q,max_pixels="
    return (
        lmms_run(folder / "1", chosen=SAMPLE[:32], model_args=f"{arguments}100"),
        lmms_run(folder / "2", chosen=SAMPLE[32:], model_args=f"{arguments}200"),
    )


def other_generation(folder: Path) -> tuple[Path, Path]:
    return (
        lmms_run(folder / "1", chosen=SAMPLE[:32]),
        lmms_run(folder / "2", chosen=SAMPLE[32:], generation={"max_new_tokens": 4096}),
    )


def other_seeds(folder: Path) -> tuple[Path, Path]:
    return (
        lmms_run(folder / "1", chosen=SAMPLE[:32], model_args="pretrained=Q/q,seed=1"),
        lmms_run(folder / "2", chosen=SAMPLE[32:], model_args="pretrained=Q/q,seed=2"),
    )


def test_other_seeds_are_other_runs_and_pointed_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other_seeds(tmp_path)
    status, _, err = dtvqa(capsys, "score", tmp_path, "--join", "--resamples", "100")
    assert status == 0
    assert "were not joined: seed is 1 in the first and 2 in the second" in err


def other_host(folder: Path) -> tuple[Path, Path]:
    return (
        lmms_run(folder / "1", chosen=SAMPLE[:32], lmms_eval_version="0.7.0"),
        lmms_run(folder / "2", chosen=SAMPLE[32:], lmms_eval_version="0.7.3"),
    )


def more_responses(folder: Path) -> tuple[Path, Path]:
    twice = [{"question_id": r.question_id, "prediction": ["a", "b"]} for r in SAMPLE[32:]]
    return plain(folder / "s1.jsonl", SAMPLE[:32]), write_lines(folder / "s2.jsonl", twice)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (overlapping, f"both answer 1 question ({SAMPLE[32].question_id} is one)"),
        (other_pixels, "max_pixels is 100 in the first and 200 in the second"),
        (other_generation, "max_new_tokens is 100 in the first and 4096 in the second"),
        (other_host, "host is lmms-eval 0.7.0 in the first and lmms-eval 0.7.3 in the second"),
        (more_responses, "number of responses is 1 in the first and 2 in the second"),
    ],
)
def test_what_is_no_shard_is_one_error_that_names_both_files(
    tmp_path: Path, write: Callable[[Path], tuple[Path, Path]], said: str
) -> None:
    first, second = write(tmp_path)
    with pytest.raises(RunError) as caught:
        join_runs([tmp_path])
    assert said in str(caught.value)
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    assert "eave out" in str(caught.value)


def dtvqa(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_every_command_over_runs_joins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = [named(tmp_path / "m", number, chosen) for number, chosen in enumerate(EIGHTH)]
    other = plain(tmp_path / "other.jsonl", SAMPLE, model="other", condition="none")
    options = ("--join", "--resamples", "100")
    status, out, _ = dtvqa(capsys, "score", *shards, *options, "--format", "json")
    (row,) = json.loads(out)["tables"][0]["rows"]
    assert (status, row["name"], row["missing"]) == (0, "m", 0)
    assert dtvqa(capsys, "gate", *shards, *options, "--complete", "--min", "acc=100")[0] == 0
    assert dtvqa(capsys, "gate", other, "--baseline", tmp_path / "m", *options)[0] == 0
    assert dtvqa(capsys, "rank", tmp_path, *options)[0] == 0
    assert dtvqa(capsys, "compare", tmp_path / "m", other, *options)[0] == 0
    page = tmp_path / "page.html"
    assert dtvqa(capsys, "report", tmp_path, *options, "--no-thumbnails", "-o", page)[0] == 0
    assert dtvqa(capsys, "diagnose", tmp_path, *options)[0] == 0
    status, _, err = dtvqa(capsys, "gate", *shards)
    assert (status, "gate judges one run, got 8 paths" in err) == (64, True)


def test_shards_that_are_not_joined_are_pointed_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = [nameless(tmp_path, number, chosen) for number, chosen in enumerate(EIGHTH)]
    _, _, err = dtvqa(capsys, "score", *shards, "--resamples", "100")
    assert "and 5 more answer different questions" in err
    assert "--join" in err
    several = [named(tmp_path / "n", number, SAMPLE[1:]) for number in (1, 2)]
    assert "--join" not in dtvqa(capsys, "score", *several, "--resamples", "100")[2]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"model": "m"}, {}, "only {0} names a model (m)"),
        (
            {"model": "m"},
            {"model": "m", "condition": "paper"},
            "only {1} names a condition",
        ),
        (
            {"condition": "none"},
            {"model": "m"},
            "{1} names a model (m); only {0} names a cond",
        ),
        (
            {"model": "m", "condition": "none"},
            {"model": "m", "condition": "paper"},
            "condition is none in the first and paper in the second",
        ),
        (
            {"condition": "none"},
            {"condition": "paper"},
            "condition is none in the first and paper in the second",
        ),
        (
            {"condition": "none"},
            {"model": "m", "condition": "paper"},
            "only {1} names a model (m); condition is none in the first and paper in the second",
        ),
        ({"model": "m"}, {"model": "other"}, ""),
        ({"model": "m", "condition": "none"}, {"model": "other", "condition": "paper"}, ""),
        ({"model": "m"}, {"model": "m"}, ""),
    ],
)
def test_shards_of_which_one_names_more_are_said_not_to_be_joined(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    first: dict[str, str],
    second: dict[str, str],
    said: str,
) -> None:
    halves = ((first, SAMPLE[:32]), (second, SAMPLE[32:]))
    paths = [
        plain(tmp_path / f"{n}.jsonl", chosen, **more) for n, (more, chosen) in enumerate(halves)
    ]
    status, _, err = dtvqa(capsys, "score", *paths, "--join", "--resamples", "100")
    assert (status, "were not joined" in err) == (0, bool(said))
    assert said.format(*paths) in err
    gated, _, err = dtvqa(capsys, "gate", *paths, "--join", "--complete")
    assert (gated, "were not joined" in err) == (0 if first == second else 2, bool(said))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (
            ((0, 1), (2, 3)),
            "{1} has the repeats 2, 3, {0} has 0, 1: files of one run have the same",
        ),
        (((0, 1), (0, 1, 2)), "number of responses is 2 in the first and 3 in the second"),
    ],
)
def test_shards_with_other_repeats_are_refused_and_the_repeats_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    numbers: Sequence[Sequence[int]],
    said: str,
) -> None:
    paths = [
        write_lines(
            tmp_path / f"{place}.jsonl",
            (
                {"question_id": r.question_id, "prediction": right(r), "model": "m", "repeat": n}
                for r in SAMPLE[place::2]
                for n in of_file
            ),
        )
        for place, of_file in enumerate(numbers)
    ]
    status, _, err = dtvqa(capsys, "score", *paths, "--join")
    assert (status, said.format(*paths) in err) == (1, True), err
