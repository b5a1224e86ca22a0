"""CPU time of the report page and the diagnosis: 4 runs x 1,200 questions, 940 images.

    python benchmarks/page.py [--lines N] [--rounds N]

A release with made-up tables of text is written to a temporary folder, with recognised text of N
lines for each image. The commands run in processes of their own, without thumbnails; start-up is
included. Peers, in the same run, on the same outputs: pandas' Styler writes the questions as one
HTML table and difflib compares each output with its first reference; a plain loop asks rapidfuzz
for the place of each output and reference in the text of its image. CPU time is taken, the fastest
round counts.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from PIL import Image
from rapidfuzz import fuzz

from dtvqa_plugin.data import Record, records
from dtvqa_plugin.ocr.recognised import (
    Line,
    RecognisedText,
    image_key,
    recognised_folder,
    write_text,
)

SUBSETS = ("DTScene", "DTNutrCap", "DTProdCap", "DTTabShot")
QUESTIONS, IMAGES, RUNS = 1_200, 940, 4
SIZE = (1_000, 720)
LOOP = "plain rapidfuzz loop"
MAIN = "from dtvqa_plugin.cli import main; main()"


def word(rng: random.Random) -> str:
    """A made-up word."""
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(4, 9)))


def table(rng: random.Random, lines: int) -> RecognisedText:
    """Words and numbers in five columns."""
    found = []
    for number in range(lines):
        text = f"{rng.randint(1, 99_999):,}" if number % 3 == 0 else f"{word(rng)} {word(rng)}"
        left, top = 200.0 * (number % 5), 30.0 * (number // 5)
        found.append(Line(text, (left, top, left + 150, top + 20), 0.9))
    return RecognisedText(*SIZE, tuple(found))


def write_release(home: Path, lines: int) -> dict[str, RecognisedText]:
    """A store with annotations and images; the text on each image by its name."""
    rng = random.Random(0)
    texts: dict[str, RecognisedText] = {}
    (home / "test").mkdir(parents=True)
    for subset in SUBSETS:
        names = [f"{subset}/test/{number}.jpg" for number in range(IMAGES // len(SUBSETS))]
        for name in names:
            path = home / "image" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", SIZE, tuple(rng.randint(0, 255) for _ in range(3))).save(path)
            texts[name] = table(rng, lines)
        rows = []
        for number in range(QUESTIONS // len(SUBSETS)):
            name = names[number % len(names)]
            answer = rng.choice(texts[name].lines).text
            rows.append(
                {
                    "dataset_name": subset,
                    "id": number,
                    "image_path": f"./image/{name}",
                    "question": f"What is label {number}?",
                    "answers": [answer, answer + "."],
                    "type": "made",
                }
            )
        (home / "test" / f"{subset}.json").write_text(json.dumps(rows), encoding="utf-8")
    return texts


def keep_texts(home: Path, texts: dict[str, RecognisedText]) -> None:
    """Put the recognised text of all images into the store."""
    for name, text in texts.items():
        key = image_key(home / "image" / name)
        write_text(recognised_folder(home) / "made-1" / f"{key}.json", text)


def output(record: Record, text: RecognisedText, rng: random.Random) -> str:
    """Right, right in a sentence, misread, from another place, invented, refused or hedged."""
    answer = record.answers[0]
    return rng.choice(
        [answer, answer, f"The answer is {answer}.", answer[:-1] + "x", rng.choice(text.lines).text,
         word(rng), "I cannot tell", f"{answer} or {word(rng)}", ""]
    )  # fmt: skip


def write_runs(
    folder: Path, questions: list[Record], texts: dict[str, RecognisedText]
) -> tuple[list[Path], list[list[str]]]:
    """Prediction files, and the outputs in them."""
    rng = random.Random(1)
    said = [[output(r, texts[r.image], rng) for r in questions] for _ in range(RUNS)]
    paths = [folder / f"run{number}.jsonl" for number in range(RUNS)]
    for path, outputs in zip(paths, said, strict=True):
        rows = (
            json.dumps({"question_id": record.question_id, "prediction": text})
            for record, text in zip(questions, outputs, strict=True)
        )
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return paths, said


def command(*arguments: object) -> Callable[[], float]:
    """CPU seconds of the command line in a process of its own, workers included."""

    def run() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        line = [sys.executable, "-c", MAIN, *map(str, arguments)]
        environment = {**os.environ}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
        done = subprocess.run(line, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise click.ClickException(done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return run


def inside(work: Callable[[], object]) -> Callable[[], float]:
    """CPU seconds of a function in this process."""

    def run() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return run


def by_pandas(questions: list[Record], said: list[list[str]]) -> None:
    """One styled HTML table and one difflib comparison for each wrong output."""
    import pandas as pd

    columns = {f"run{number}": outputs for number, outputs in enumerate(said)}
    frame = pd.DataFrame({"question": [r.question for r in questions], **columns})
    frame.style.to_html()
    for outputs in said:
        for record, text in zip(questions, outputs, strict=True):
            difflib.SequenceMatcher(None, record.answers[0], text, autojunk=False).get_opcodes()


def by_loop(
    questions: list[Record], said: list[list[str]], texts: dict[str, RecognisedText]
) -> None:
    """The most similar line of the image for each output and each reference."""
    for outputs in said:
        for record, text in zip(questions, outputs, strict=True):
            for wanted in (text, *record.answers):
                for line in texts[record.image].lines:
                    fuzz.partial_ratio(wanted.lower(), line.text.lower())


@click.command()
@click.option("--lines", default=120, show_default=True, help="Lines of text on an image.")
@click.option("--rounds", default=2, show_default=True)
def main(lines: int, rounds: int) -> None:
    """Print one line a contestant: CPU seconds, and times the plain loop."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = write_release(folder / "home", lines)
        questions = list(records("test", home=folder / "home"))
        paths, said = write_runs(folder, questions, texts)
        data = ("--data", folder / "home")
        page = ("report", *paths, *data, "-o", folder / "report.html")
        bare = command(*page, "--no-thumbnails")
        times = {"dtvqa report, no recognised text": min(bare() for _ in range(rounds))}
        keep_texts(folder / "home", texts)
        contestants = {
            "dtvqa --help": command("--help"),
            "dtvqa report, recognised text": bare,
            "dtvqa diagnose": command("diagnose", *paths, *data, "-o", folder / "why.json"),
            "pandas Styler and difflib": inside(lambda: by_pandas(questions, said)),
            LOOP: inside(lambda: by_loop(questions, said, texts)),
        }
        for label, run in contestants.items():
            times[label] = min(run() for _ in range(rounds))
    for label, seconds in times.items():
        ratio = seconds / times[LOOP]
        click.echo(f"{label:34} {seconds:6.2f} CPU s {ratio:6.2f} x the plain loop")


if __name__ == "__main__":
    main()
