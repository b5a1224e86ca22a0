"""Time of `dtvqa score` on many runs, against reading and scoring each run by a plain loop.

    python benchmarks/runs.py [--runs N] [--data FOLDER]

Runs are made up over the test annotations, or over the embedded sample without ``--data``. The peer
does for every run what a script of a few lines does: it parses annotations and predictions, scores
each question with rapidfuzz, and draws its own bootstrap of images for 15 figures. CPU time of one
process each, start-up included, of the command the better of two; the ratio is what to compare.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from dtvqa_plugin.data import Record, records

RESAMPLES = 10_000


def make_runs(folder: Path, asked: list[Record], count: int) -> None:
    """Plain prediction files of models that are right more and more often."""
    words = [
        "the",
        "sign",
        "says",
        "open",
        "total",
        "fat",
        "protein",
        "row",
        "answer",
        "12g",
        "35%",
        "北京",
        "maybe",
        "sure",
    ]
    for number in range(count):
        rng = random.Random(number)
        rows = []
        for record in asked:
            answer = rng.choice(record.answers)
            drawn = rng.random() - 0.2 - 0.6 * number / max(1, count)
            said = answer if drawn < 0 else f"The answer is {answer}."
            if drawn > 0.1:
                said = " ".join(rng.choices(words, k=80 if drawn > 0.6 else 4))
            row = {"question_id": record.question_id, "prediction": said, "model": f"m{number}"}
            rows.append(json.dumps(row, ensure_ascii=False))
        (folder / f"m{number}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


def peer(folder: Path, split: str, home: str | None) -> None:
    """Everything anew for each run."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein

    for path in sorted(folder.glob("*.jsonl")):
        asked = {record.question_id: record for record in records(split, home=home)}
        scores, images = [], []
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            record, text = asked[row["question_id"]], row["prediction"].strip().lower()
            acc = float(any(answer.lower() in text for answer in record.answers))
            nearest = min(
                Levenshtein.distance(answer.lower(), text) / max(len(answer), len(text), 1)
                for answer in record.answers
            )
            anls = 1 - nearest if nearest < 0.5 else 0.0
            scores.append((anls, acc, acc or anls))
            images.append((record.subset, record.image))
        values, rng = np.asarray(scores), np.random.default_rng(0)
        parts = [None, *dict.fromkeys(subset for subset, _ in images)]
        for part in parts:
            names = list(dict.fromkeys(image for image in images if part in (None, image[0])))
            place = {name: number for number, name in enumerate(names)}
            rows = [number for number, image in enumerate(images) if image in place]
            sums = np.zeros((len(names), 4))
            columns = np.column_stack([values, np.ones(len(values))])
            np.add.at(sums, [place[images[row]] for row in rows], columns[rows])
            counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
            drawn = counts @ sums
            np.quantile(drawn[:, :3] / drawn[:, 3:], [0.025, 0.975], axis=0)


def seconds(arguments: list[str]) -> float:
    """CPU seconds of a process."""
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, *arguments]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@click.command()
@click.option("--runs", default=100, show_default=True)
@click.option("--data", help="A folder in the published layout.")
@click.option("--peer-of", hidden=True, type=click.Path(path_type=Path))
def main(runs: int, data: str | None, peer_of: Path | None) -> None:
    """Print CPU seconds of both for one run and for many, and their ratios."""
    split = "test" if data else "mini"
    if peer_of is not None:
        peer(peer_of, split, data)
        return
    home = ["--data", data] if data else []
    command = ["-c", "from dtvqa_plugin.cli import main; main()", "score"]
    for count in (1, runs):
        with tempfile.TemporaryDirectory() as name:
            make_runs(Path(name), records(split, home=data), count)
            ours = min(seconds([*command, name, *home]) for _ in range(2))
            theirs = seconds([__file__, "--peer-of", name, *home])
        click.echo(
            f"{count} runs: dtvqa score {ours:.2f} CPU s, plain loop {theirs:.2f} CPU s, "
            f"ratio {ours / theirs:.2f}"
        )


if __name__ == "__main__":
    main()
