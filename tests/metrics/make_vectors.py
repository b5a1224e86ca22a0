"""Make ``golden/vectors.jsonl.gz``: predictions with the scores of the slow scorer.

Run from the repository root: ``PYTHONPATH=tests python tests/metrics/make_vectors.py``.
The predictions are made from the embedded sample's reference answers and from synthetic strings.
The scores come from `reference_scorer`, which shares no code with the package and which
``test_metric_golden`` holds against the released scorer's own vectors where those are present.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

from reference_scorer import slow_score

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "dtvqa_plugin" / "data" / "sample" / "test" / "DT_mini.json"
VECTORS = Path(__file__).with_name("golden") / "vectors.jsonl.gz"
SEED = 20260511
SYNTHETIC = 1_500

# Letters whose lower case has another length or meets another letter's, marks, wide and
# right-to-left text, white space of several kinds, characters outside the first plane.
ALPHABET = (
    "abcABC012 .,-%$€İıßẞΣσςÅÅéẹ\u0301ＡＢ１２ｇ净含量克ア한글ابג\u00a0\u3000\t\n\u200b\u202e🍞𝟙"
)
LONG = "The label on the package says, among other things, that it holds {} in all. "


def edited(text: str, count: int, rng: random.Random) -> str:
    """``count`` random insertions, deletions and substitutions."""
    chars = list(text)
    for _ in range(count):
        place = rng.randint(0, len(chars))
        action = rng.choice("isd")
        if action == "i" or not chars:
            chars.insert(place, rng.choice(ALPHABET))
        elif action == "s":
            chars[place % len(chars)] = rng.choice(ALPHABET)
        else:
            del chars[place % len(chars)]
    return "".join(chars)


def around_the_threshold(answer: str) -> Iterator[str]:
    """Predictions whose normalised distance is just below, at and just above 0.5."""
    half = len(answer) // 2
    for replaced in {max(0, half - 1), half, half + 1}:
        yield answer[: len(answer) - replaced] + "\x7f" * replaced
    yield answer + "\x7f" * len(answer)
    yield answer + "\x7f" * max(0, len(answer) - 1)


def predictions(answers: list[str], others: list[str], rng: random.Random) -> Iterator[str]:
    """Predictions of every kind for one question."""
    answer = rng.choice(answers)
    yield from (answer, answer.upper(), answer.title(), answer.swapcase(), f" {answer}\n", "")
    yield from (f"{answer}.", f"not {answer}", f"{answer} or {rng.choice(others)}")
    yield from (rng.choice(others), answer[:-1], answer[1:], answer[::-1], answer * 2)
    yield LONG.format(answer)
    yield LONG.format(rng.choice(others)) * rng.randint(1, 6)
    yield from around_the_threshold(answer)
    for _ in range(6):
        yield edited(answer, rng.randint(1, max(2, len(answer) // 2 + 1)), rng)


def questions(rng: random.Random) -> Iterator[tuple[list[str], Iterator[str]]]:
    """Each question's reference answers with the predictions to score."""
    records = json.loads(SAMPLE.read_text("utf-8"))
    every = [answer for record in records for answer in record["answers"]]
    for record in records:
        yield record["answers"], predictions(record["answers"], every, rng)
    for _ in range(SYNTHETIC):
        count = rng.randint(1, 4)
        answers = [
            "".join(rng.choices(ALPHABET, k=rng.choice((1, 2, 3, 7, 20, 63, 64, 65, 130))))
            for _ in range(count)
        ]
        usable = [answer for answer in answers if answer.strip()] or ["x"]
        base = rng.choice(usable)
        made = (edited(base, rng.randint(0, len(base)), rng) for _ in range(2))
        yield usable, made


def main() -> None:
    """Write the vectors; the same seed gives the same bytes."""
    rng = random.Random(SEED)
    lines = []
    for answers, made in questions(rng):
        for prediction in made:
            anls, acc, accanls = slow_score(prediction, answers)
            lines.append(
                json.dumps(
                    {
                        "answers": answers,
                        "prediction": prediction,
                        "anls": anls,
                        "acc": acc,
                        "accanls": accanls,
                    }
                )
            )
    VECTORS.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))
    print(f"{VECTORS.relative_to(ROOT)}: {len(lines):,} vectors")


if __name__ == "__main__":
    main()
