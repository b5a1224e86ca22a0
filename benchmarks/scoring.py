"""Time of scoring a corpus: ours, the released scorer's algorithm, the hosts' metrics, a peer.

    python benchmarks/scoring.py [--annotations FILE] [--questions N] [--rounds N]

One run prints ratios, which hold on a busy machine where wall times do not: CPU time is taken,
rounds go through all contestants in turn, and the fastest run of each counts. Peers that are not
installed are named.
"""

from __future__ import annotations

import importlib
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from dtvqa_plugin.metrics import DEFAULT_TAU, CorpusScores, References, score_corpus

Values = tuple[Sequence[float] | NDArray[np.float64], ...]
"""ANLS, Acc and AccANLS of every question (ALL_THREE), or ANLS alone."""
Distance = Callable[[str, str], int]
LONG = 500
ALL_THREE = "all 3"
REPEATS = 5
SLOW_SECONDS = 0.5
SEED = 20240501


class Corpus(NamedTuple):
    name: str
    predictions: list[str]
    answers: list[list[str]]


@dataclass(frozen=True)
class Contestant:
    """`run` gives the values of every question; its means are taken in the timed part too."""

    name: str
    metrics: str
    run: Callable[[list[str], list[list[str]]], Values]


# --- contestants -----------------------------------------------------------------------------


def ours(predictions: list[str], answers: list[list[str]]) -> Values:
    return with_means_of(score_corpus(predictions, answers))


def ours_prepared(references: References) -> Contestant:
    """Answers checked once, as when many models are scored on the same questions."""

    def run(predictions: list[str], _: list[list[str]]) -> Values:
        return with_means_of(score_corpus(predictions, references))

    return Contestant("score_corpus, References", ALL_THREE, run)


def with_means_of(scores: CorpusScores) -> Values:
    _ = scores.overall
    return scores.anls, scores.acc, scores.accanls


def plain_loop(predictions: list[str], answers: list[list[str]]) -> Values:
    """What one writes first over rapidfuzz: one pass, no bound, no cut-off."""
    distance = Levenshtein.distance
    anls_values, acc_values, accanls_values = [], [], []
    for prediction, references in zip(predictions, answers, strict=True):
        text = prediction.lower()
        anls = acc = 0.0
        for reference in references:
            lowered = reference.lower()
            if lowered in text:
                acc = 1.0
            nl = distance(lowered, text) / max(len(reference), len(prediction))
            if nl < DEFAULT_TAU and 1 - nl > anls:
                anls = 1 - nl
        anls_values.append(anls)
        acc_values.append(acc)
        accanls_values.append(acc or anls)
    return with_means(anls_values, acc_values, accanls_values)


def released(distance: Distance) -> Callable[[list[str], list[list[str]]], Values]:
    """The released scorer's steps: three functions a question, the third calls the other two."""

    def anls_of(references: list[str], prediction: str) -> float:
        best: float = 0
        for reference in references:
            edits = distance(reference.lower(), prediction.lower())
            longest = max(len(reference), len(prediction))
            nl = edits / longest if longest else 1.0
            similarity = 1 - nl if nl < DEFAULT_TAU else 0
            if similarity > best:
                best = similarity
        return best

    def acc_of(references: list[str], prediction: str) -> float:
        for reference in references:
            if reference.lower() in prediction.lower():
                return 1.0
        return 0.0

    def accanls_of(references: list[str], prediction: str) -> float:
        if acc_of(references, prediction) > 0:
            return acc_of(references, prediction)
        return anls_of(references, prediction)

    def run(predictions: list[str], answers: list[list[str]]) -> Values:
        anls_values, acc_values, accanls_values = [], [], []
        for prediction, references in zip(predictions, answers, strict=True):
            anls_values.append(anls_of(references, prediction))
            acc_values.append(acc_of(references, prediction))
            accanls_values.append(accanls_of(references, prediction))
        return with_means(anls_values, acc_values, accanls_values)

    return run


def with_means(*columns: list[float]) -> Values:
    for column in columns:
        _ = sum(column) / len(column)
    return columns


def textdistance_contestant() -> Contestant:
    distance = importlib.import_module("textdistance").levenshtein.distance
    return Contestant("released, textdistance", ALL_THREE, released(distance))


def lmms_eval_contestant() -> Contestant:
    anls = importlib.import_module("lmms_eval.api.metrics").anls

    def run(predictions: list[str], answers: list[list[str]]) -> Values:
        pairs = zip(answers, predictions, strict=True)
        return with_means([float(anls(refs, [text])["anls"]) for refs, text in pairs])

    return Contestant("lmms-eval anls", "its ANLS", run)


def vlmevalkit_contestant() -> Contestant:
    distance = importlib.import_module("vlmeval.dataset.utils.vqa_eval").anls_compute

    def run(predictions: list[str], answers: list[list[str]]) -> Values:
        values = []
        for text, references in zip(predictions, answers, strict=True):
            similarity = 1 - min(distance(reference, text) for reference in references)
            values.append(similarity if similarity >= DEFAULT_TAU else 0.0)
        return with_means(values)

    return Contestant("VLMEvalKit anls_compute", "its ANLS", run)


def anls_package_contestant() -> Contestant:
    anls_score = importlib.import_module("anls").anls_score

    def run(predictions: list[str], answers: list[list[str]]) -> Values:
        pairs = zip(predictions, answers, strict=True)
        return with_means([anls_score(text, references) for text, references in pairs])

    return Contestant("anls package", "its ANLS", run)


PEERS = {
    "textdistance": textdistance_contestant,
    "lmms-eval": lmms_eval_contestant,
    "VLMEvalKit (ms-vlmeval)": vlmevalkit_contestant,
    "anls": anls_package_contestant,
}


def peers(console: Console) -> list[Contestant]:
    found = []
    for name, load in PEERS.items():
        try:
            found.append(load())
        except ImportError as error:
            console.print(f"{name} is not installed, left out ({error})")
    return found


# --- corpora ---------------------------------------------------------------------------------

WORDS = re.findall(
    r"\w+",
    """protein sodium energy total sugar fibre best before store in a cool dry place open daily exit
    platform north gate market street coffee season points rank team date opponent result score
    attendance record home away the of and for value per serving net weight produced lot number""",
)
CHINESE = re.findall(r"\w+", "净含量 生产日期 保质期 贮存条件 产品标准号 配料 原味 阴凉干燥处 热量")


def made_answers(count: int, generator: random.Random) -> list[list[str]]:
    """Answer lists in the benchmark's four styles, with its kinds of variants."""

    def scene() -> list[str]:
        return [" ".join(generator.sample(WORDS, generator.randint(1, 3))).title()]

    def nutrition() -> list[str]:
        number = f"{generator.uniform(0, 99):.1f}"
        return [f"{number}g", f"{number} g", number]

    def product() -> list[str]:
        months = generator.randint(1, 36)
        return [f"{months}个月", f"{months} months"] if months % 2 else [generator.choice(CHINESE)]

    def table() -> list[str]:
        return [f"{generator.choice(WORDS).title()} {generator.randint(1, 2999)}"]

    styles = (scene, nutrition, product, table)
    return [styles[index * len(styles) // count]() for index in range(count)]


def read_answers(path: Path) -> list[list[str]]:
    records = json.loads(path.read_text(encoding="utf-8"))
    return [record["answers"] for record in records]


def short_output(right: list[str], wrong: list[str], generator: random.Random) -> str:
    """A model's short answer: right, nearly right, or another question's answer."""
    kind = generator.random()
    answer = generator.choice(right if kind < 0.6 else wrong)
    if kind < 0.3 or kind >= 0.6:
        return answer
    place = generator.randrange(len(answer) + 1)
    return answer[:place] + generator.choice("abc 127.") + answer[place + 1 :]


def long_output(right: list[str], generator: random.Random) -> str:
    """A talkative answer of 500 characters, with the right one inside in three cases of ten."""
    words: list[str] = []
    while sum(map(len, words)) + len(words) < LONG:
        words.append(generator.choice(WORDS))
    if generator.random() < 0.3:
        words.insert(generator.randrange(20), right[0])
    return " ".join(words)[:LONG]


def corpora(answers: list[list[str]]) -> list[Corpus]:
    generator = random.Random(SEED)
    others = [generator.choice(answers) for _ in answers]
    pairs = list(zip(answers, others, strict=True))
    return [
        Corpus("short outputs, mixed", [short_output(a, o, generator) for a, o in pairs], answers),
        Corpus("short outputs, all wrong", [generator.choice(o) for o in others], answers),
        Corpus("500-character outputs", [long_output(a, generator) for a in answers], answers),
    ]


# --- timing ----------------------------------------------------------------------------------


def timed(contestant: Contestant, corpus: Corpus) -> float:
    """CPU seconds of the fastest of a few runs in a row; of the only one if that is slow."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        contestant.run(corpus.predictions, corpus.answers)
        best = min(best, time.process_time() - start)
        if best > SLOW_SECONDS:
            break
    return best


def fastest(contestants: list[Contestant], corpus: Corpus, rounds: int) -> list[float]:
    """Seconds of each contestant's fastest run; rounds go through all of them in turn."""
    best = [timed(contestant, corpus) for contestant in contestants]
    for _ in range(rounds - 1):
        for index, contestant in enumerate(contestants):
            if best[index] < SLOW_SECONDS:
                best[index] = min(best[index], timed(contestant, corpus))
    return best


def agreement(contestant: Contestant, corpus: Corpus, expected: Values) -> str:
    """How many questions have other values than ours; the three metrics must have none."""
    values = contestant.run(corpus.predictions, corpus.answers)
    columns = zip(values, expected, strict=False)
    rows = [[a != b for a, b in zip(x, y, strict=True)] for x, y in columns]
    different = sum(any(row) for row in zip(*rows, strict=True))
    if contestant.metrics == ALL_THREE and different:
        raise SystemExit(f"{contestant.name} differs from ours on {different} questions")
    return str(different)


def report(corpus: Corpus, rounds: int, others: list[Contestant], console: Console) -> None:
    mine = Contestant("score_corpus", ALL_THREE, ours)
    contestants = [
        mine,
        ours_prepared(References(corpus.answers)),
        Contestant("rapidfuzz loop", ALL_THREE, plain_loop),
        *others,
    ]
    expected = mine.run(corpus.predictions, corpus.answers)
    seconds = fastest(contestants, corpus, rounds)
    base = next(
        (s for c, s in zip(contestants, seconds, strict=True) if c.name.startswith("released")),
        None,
    )
    count = len(corpus.predictions)
    table = Table(
        title=f"{corpus.name}, {count} questions", title_justify="left", box=SIMPLE, pad_edge=False
    )
    table.add_column("scorer", no_wrap=True)
    table.add_column("metrics", no_wrap=True)
    for column in ("µs/question", "x ours", "released/it", "differ"):
        table.add_column(column, justify="right", no_wrap=True)
    for contestant, spent in zip(contestants, seconds, strict=True):
        table.add_row(
            contestant.name,
            contestant.metrics,
            f"{spent / count * 1e6:.2f}",
            f"{spent / seconds[0]:.2f}",
            "-" if base is None else f"{base / spent:.2f}",
            agreement(contestant, corpus, expected),
        )
    console.print(table)


@click.command(help=__doc__)
@click.option(
    "--annotations",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Released test annotations to take the answers from, in place of made ones.",
)
@click.option("--questions", default=1_200, show_default=True, help="Made questions.")
@click.option("--rounds", default=10, show_default=True)
def main(annotations: Path | None, questions: int, rounds: int) -> None:
    console = Console(width=100)
    others = peers(console)
    if annotations is None:
        answers = made_answers(questions, random.Random(SEED))
    else:
        answers = read_answers(annotations)
    for corpus in corpora(answers):
        report(corpus, rounds, others, console)
    console.print(
        "x ours: time over that of score_corpus. released/it: times faster than the released "
        "algorithm. differ: questions whose values are not equal to ours; the hosts and the anls "
        "package define ANLS otherwise (white space, NL of exactly 0.5)."
    )


if __name__ == "__main__":
    main()
